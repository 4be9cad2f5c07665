// One node for each deployed instance: systems expanded by their deploys, numbers given, names filled in.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/ir/derive.h"
#include "compiler/passes/build.h"
#include "compiler/passes/requirements.h"

namespace radl::passes {

namespace {

std::string text_of(const ir::Requirement& requirement) {
  return requirement.equals && requirement.equals->is_string() ? requirement.equals->get<std::string>()
                                                               : std::string();
}

// What all nodes of a system have in common. Host names still hold #N#.
class Template {
 public:
  Template(Build& build, const sema::Definition& definition) : build_(build) {
    node_.system = std::string(definition.block->name.text);
    node_.origin = build.origin(definition.block->name.span);
    node_.requirements = requirements_of(build, sema::Scope::System, definition.features, node_.system);
    add_softs(definition.features);
    for (const auto& [name, requirement] : node_.requirements) {
      if (auto at = ir::indexed_feature(name, "net_interface.")) interface(*at, requirement);
      if (is_secret_feature(name) && requirement.equals) secret(name, *requirement.equals);
    }
    ir::derive_disks(node_);
    for (auto& [index, made] : interfaces_) {
      if (index == 0 && made.host_name.empty()) made.host_name = "vnode-#N#";
      // A part of a cluster may leave its networks to other files.
      bool there = !build_.document.partial || build_.document.networks.find(made.network) != nullptr;
      if (!made.network.empty() && there) node_.interfaces.push_back(std::move(made));
    }
  }

  // Moves the template's content into the node, since no further node is made from it.
  ir::Node make_last(int ordinal, int number, const std::string& cloud) {
    return finished(std::move(node_), ordinal, number, cloud);
  }
  ir::Node make(int ordinal, int number, const std::string& cloud) const {
    return finished(node_, ordinal, number, cloud);
  }

 private:
  static ir::Node finished(ir::Node node, int ordinal, int number, const std::string& cloud) {
    node.ordinal = ordinal;
    node.number = number;
    node.cloud = cloud;
    node.address = fmt::format("{}[{}]", node.system, ordinal);
    for (ir::Interface& interface : node.interfaces) {
      interface.host_name = numbered(interface.host_name, number);
      interface.domain = numbered(interface.domain, number);
    }
    return node;
  }

  static std::string numbered(std::string text, int number) {
    for (size_t at = text.find("#N#"); at != text.npos; at = text.find("#N#", at))
      text.replace(at, 3, std::to_string(number));
    return text;
  }

  void add_softs(const sema::FeatureSet& features) {
    for (const sema::Soft& soft : features.softs) {
      const hir::Number* number = soft.from->weight.number();
      double weight = number == nullptr ? 0 : number->real;
      node_.softs.push_back(
          {weight, requirements_of(build_, sema::Scope::System, soft.features, node_.system)});
    }
    std::stable_sort(node_.softs.begin(), node_.softs.end(),
                     [](const ir::Soft& a, const ir::Soft& b) { return a.weight > b.weight; });
  }

  void interface(const ir::IndexedFeature& at, const ir::Requirement& requirement) {
    ir::Interface& made = interfaces_[at.index];
    made.index = at.index;
    if (made.domain.empty()) made.domain = "localdomain";
    if (at.rest == "connection") made.network = text_of(requirement);
    if (at.rest == "ip") made.fixed_ip = text_of(requirement);
    if (at.rest == "dns_name") {
      std::string name = text_of(requirement);
      size_t dot = name.find('.');
      made.host_name = name.substr(0, dot);
      if (dot != name.npos && dot + 1 < name.size()) made.domain = name.substr(dot + 1);
    }
  }

  void secret(std::string_view name, const ir::Json& value) {
    constexpr std::string_view kDisk = "disk.0.os.credentials.";
    std::string key(name.starts_with(kDisk) ? name.substr(kDisk.size()) : name);
    if (ir::is_secret(value)) node_.secrets[key] = value;
  }

  Build& build_;
  ir::Node node_;
  std::map<int, ir::Interface> interfaces_;
};

// #N#: nodes that exist keep theirs, new ones get the smallest that are free.
class Numbers {
 public:
  explicit Numbers(const std::map<std::string, int>& kept) : kept_(kept) {
    for (const auto& [address, number] : kept) taken_.insert(number);
  }
  int give(const std::string& address) {
    if (auto found = kept_.find(address); found != kept_.end()) return found->second;
    while (taken_.contains(next_)) next_++;
    return next_++;
  }

 private:
  const std::map<std::string, int>& kept_;
  std::set<int> taken_;
  int next_ = 0;
};

// A system with the same name as a `configure c ()` is excluded from contextualization.
std::set<std::string_view> left_out(const Build& build) {
  std::set<std::string_view> names;
  for (const sema::ConfigureDefinition& definition : build.document.configures.list) {
    const ast::Configure& configure = definition.written();
    if (configure.has_body && configure.recipe == nullptr && configure.resources.empty())
      names.insert(definition.block->name.text);
  }
  return names;
}

// Checks every deploy that has a number and a system before any node is
// created.
bool too_many(Build& build) {
  double machines = 0;
  for (const hir::Deploy* deploy : build.document.deploys)
    if (auto* count = deploy->count.number()) machines += std::floor(count->real);
  if (machines <= static_cast<double>(kMaxNodes)) return false;  // without looking up their systems
  machines = 0;
  for (const hir::Deploy* deploy : build.document.deploys) {
    auto* count = deploy->count.number();
    if (count == nullptr || build.document.systems.find(deploy->system.text) == nullptr) continue;
    if (count->real + machines > static_cast<double>(kMaxNodes)) {
      build.diagnostics.report(DiagCode::DeployCount, deploy->count.span(),
                               fmt::format("a program may have {} nodes in all", kMaxNodes));
      return true;
    }
    machines += std::floor(count->real);
  }
  return false;
}

// Publishes node facts for expressions.
void give_facts(Build& build) {
  build.scopes->set_node_facts([&build](const std::string& name,
                                        int64_t ordinal) -> std::optional<Scopes::NodeFacts> {
    auto found = build.nodes_of.find(name);
    // A recipe that runs on no node is checked as if there were one.
    if (found == build.nodes_of.end()) return Scopes::NodeFacts{0, "vnode-0", "localdomain"};
    const std::vector<size_t>& places = found->second;  // by ordinal, which may have gaps
    auto place = std::lower_bound(places.begin(), places.end(), ordinal, [&](size_t each, int64_t wanted) {
      return build.program.nodes[each].ordinal < wanted;
    });
    if (place == places.end() || build.program.nodes[*place].ordinal != ordinal)
      return Scopes::NodeFacts{0, "vnode-0", "localdomain"};
    const ir::Node& node = build.program.nodes[*place];
    Scopes::NodeFacts facts{node.number, fmt::format("vnode-{}", node.number), "localdomain"};
    if (!node.interfaces.empty()) {
      facts.host_name = node.interfaces.front().host_name;
      facts.domain = node.interfaces.front().domain;
    }
    return facts;
  });
}

// The ordinals of one deploy that starts at `first`. If `radlc scale` has chosen the system's nodes: the
// chosen ones in the deploy's range; the last deploy also gets all higher ones.
std::vector<int> ordinals_of(const Build& build, const std::string& system, int first, int count, bool last) {
  std::vector<int> ordinals;
  auto chosen = build.options.chosen_nodes.find(system);
  if (chosen == build.options.chosen_nodes.end()) {
    for (int i = 0; i < count; ++i) ordinals.push_back(first + i);
    return ordinals;
  }
  for (const int ordinal : chosen->second) {
    if (ordinal >= first && (last || ordinal < first + count)) ordinals.push_back(ordinal);
  }
  return ordinals;
}

}  // namespace

void nodes(Build& build) {
  give_facts(build);
  if (too_many(build)) return;
  std::unordered_map<std::string_view, size_t> left;  // deploys of a system that are still to come
  for (const hir::Deploy* deploy : build.document.deploys) ++left[deploy->system.text];
  std::map<std::string_view, Template> templates;  // of systems that have such
  std::set<std::string_view> unconfigured = left_out(build);
  Numbers numbers(build.options.node_numbers);
  for (const hir::Deploy* deploy : build.document.deploys) {
    auto* count = deploy->count.number();
    const sema::Definition* system = build.document.systems.find(deploy->system.text);
    if (count == nullptr || system == nullptr) continue;
    std::string name(deploy->system.text);
    Template& pattern = templates.try_emplace(deploy->system.text, build, *system).first->second;
    auto& places = build.nodes_of[name];
    const bool last_deploy = --left[deploy->system.text] == 0;
    const std::vector<int> ordinals =
        ordinals_of(build, name, build.deployed[name], static_cast<int>(count->real), last_deploy);
    build.deployed[name] += static_cast<int>(count->real);
    for (const int ordinal : ordinals) {
      int number = numbers.give(fmt::format("{}[{}]", name, ordinal));
      places.push_back(build.program.nodes.size());
      const bool last = last_deploy && ordinal == ordinals.back();
      std::string cloud(deploy->cloud.text);
      build.program.nodes.push_back(last ? pattern.make_last(ordinal, number, cloud)
                                         : pattern.make(ordinal, number, cloud));
      build.program.nodes.back().configured = !unconfigured.contains(deploy->system.text);
    }
    if (last_deploy) templates.erase(deploy->system.text);
  }
}

}  // namespace radl::passes
