#include "runtime/cli/im_takeover.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "common/json_values.h"
#include "common/text.h"
#include "compiler/check/document.h"
#include "compiler/compat/json/radl_json.h"
#include "compiler/diag/render.h"
#include "compiler/syntax/parser.h"
#include "runtime/cli/radl_from_json.h"

namespace radl::cli {
namespace {

constexpr const char* kType = "instance_type";
constexpr const char* kImage = "disk.0.image.url";

// RADL text to RADL-JSON, a list of objects.
Result<Json> to_json(const std::string& radl) {
  SourceMap sources;
  Diagnostics diagnostics;
  const SourceFile* source = &sources.add("infrastructure.radl", radl);
  auto trees = parse_all({source}, diagnostics);
  std::vector<const ast::Tree*> parts;
  for (const auto& tree : trees) parts.push_back(tree.get());
  const sema::Document document = sema::build_document(parts, diagnostics);
  if (diagnostics.has_errors())
    return invalid("the RADL of the IM has errors:\n" + render_text(diagnostics, sources, {}));
  return Json::parse(sema::to_radl_json(document));
}

Result<std::string> to_radl(const Json& document) {
  SourceMap sources;
  Diagnostics diagnostics;
  const SourceFile& source = sources.add("infrastructure.json", document.dump());
  auto text = radl_from_json(source, diagnostics);
  if (text) return std::move(*text);
  return invalid("the RADL of the IM cannot be written again:\n" + render_text(diagnostics, sources, {}));
}

Status check_machine(const CloudProviders& providers, const ImMachine& machine) {
  const std::string what = "VM " + machine.number, cloud = json::text_of(machine.system, "provider.type");
  std::vector<std::string> known;
  for (const CloudProvider* provider : providers)
    if (!provider->im_type.empty()) known.push_back(provider->im_type);
  if (std::ranges::find(known, cloud) == known.end())
    return invalid(fmt::format("{} is of a cloud of the type '{}'; radlc takes over machines of {}", what,
                               cloud, join(known, ", ")));
  const std::string state = json::text_of(machine.system, "state");
  if (json::text_of(machine.system, "instance_id").empty() || state == "failed" || state == "off" ||
      state == "deleting")
    return invalid(fmt::format("{} is {} in the IM", what, state.empty() ? "without a state" : state))
        .with_hint("wait until the IM has created it, or remove it there, and try again");
  return {};
}

// The id in its cloud: EC2's has its region before it.
std::string cloud_id(const Json& system) {
  const std::string id = json::text_of(system, "instance_id");
  return id.substr(id.rfind(';') + 1);
}

class Takeover {
 public:
  Takeover(const CloudProviders& providers, const ImInfrastructure& infrastructure)
      : providers_(providers), infrastructure_(infrastructure) {}

  Result<ImTakeover> make() {
    auto document = to_json(infrastructure_.radl);
    if (!document.ok()) return document.status();
    std::set<std::string> systems;
    for (const Json& one : *document)
      if (json::text_of(one, "class") == "system") systems.insert(json::text_of(one, "id"));
    for (const ImMachine& machine : infrastructure_.machines) {
      if (!systems.count(json::text_of(machine.system, "id")))  // it becomes a part of a path
        return invalid("VM " + machine.number + " is of a system that the IM's RADL does not have");
      if (Status fine = take(machine); !fine.ok()) return fine;
    }
    if (made_.nodes.empty()) return invalid("the infrastructure has no machines");
    Json written = Json::array();
    std::map<std::string, std::string> clouds;  // that a deploy names, by system
    for (Json& one : *document) {
      const std::string what = json::text_of(one, "class"), id = json::text_of(one, "id");
      if (what == "deploy") {
        if (one.contains("cloud")) clouds[json::text_of(one, "system")] = json::text_of(one, "cloud");
        continue;
      }
      if (what == "network") made_.networks.push_back(id);
      if (what == "system" && machines_.count(id)) pin(one);
      written.push_back(std::move(one));
    }
    for (const auto& [system, machines] : machines_) {
      Json deploy = {{"class", "deploy"}, {"system", system}, {"vm_number", machines.size()}};
      if (clouds.count(system)) deploy["cloud"] = clouds[system];
      written.push_back(std::move(deploy));
    }
    auto file = to_radl(written);
    if (!file.ok()) return file.status();
    made_.file = "# Infrastructure " + infrastructure_.id + " of the Infrastructure Manager\n" + *file;
    return made_;
  }

 private:
  Status take(const ImMachine& machine) {
    if (Status fine = check_machine(providers_, machine); !fine.ok()) return fine;
    const std::string system = json::text_of(machine.system, "id");
    std::vector<const Json*>& others = machines_[system];
    ImNode node;
    node.address = fmt::format("{}[{}]", system, others.size());
    node.id = cloud_id(machine.system);
    node.key = json::text_of(machine.system, "disk.0.os.credentials.private_key");
    if (node.key.empty())
      made_.notes.push_back(node.address +
                            ": the IM has no private key for it; radlc logs in with your own keys");
    made_.nodes.push_back(std::move(node));
    others.push_back(&machine.system);
    return {};
  }

  // What the IM chose is what the file asks for.
  void pin(Json& system) {
    const std::string name = json::text_of(system, "id");
    std::set<std::string> types, images;
    for (const Json* machine : machines_.at(name)) {
      types.insert(json::text_of(*machine, kType));
      images.insert(json::text_of(*machine, kImage));
    }
    if (types.size() == 1 && !types.begin()->empty())
      system[kType] = *types.begin();
    else
      made_.notes.push_back(
          fmt::format("the machines of {} are of several types ({}): a plan replaces those that "
                      "differ from the file",
                      name, join(std::vector<std::string>(types.begin(), types.end()), ", ")));
    if (!system.contains(kImage) && images.size() == 1 && !images.begin()->empty())
      system[kImage] = *images.begin();
  }

  const CloudProviders& providers_;
  const ImInfrastructure& infrastructure_;
  std::map<std::string, std::vector<const Json*>> machines_;  // by system
  ImTakeover made_;
};

}  // namespace

Result<ImTakeover> take_over(const CloudProviders& providers, const ImInfrastructure& infrastructure) {
  return Takeover(providers, infrastructure).make();
}

std::string im_group(const std::string& infrastructure, const std::string& network) {
  return "im-" + infrastructure + (network.empty() ? "" : "-" + network);
}

}  // namespace radl::cli
