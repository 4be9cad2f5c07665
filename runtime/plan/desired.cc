#include "runtime/plan/desired.h"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/plan/render.h"
#include "runtime/plan/softs.h"

namespace radl {

namespace {

class Builder {
 public:
  Builder(const ir::Program& program, const ProviderSet& providers)
      : program_(program), providers_(providers) {}

  Result<DesiredResources> build() {
    for (const ir::Node& node : program_.nodes) quote(node);
    if (!problems_.empty()) return invalid(problems_);
    note_divided_networks();
    for (const std::string& name : order_) add_shared(name);
    for (Desired& node : nodes_) add_node(std::move(node));
    return std::move(result_);
  }

 private:
  void quote(const ir::Node& node) {
    std::string name = providers_.name_for(node);
    const Provider* provider = providers_.find(name);
    if (!provider) {
      std::string from = node.cloud.empty() ? "" : ", which its `deploy` names as its cloud";
      problem(node, "there is no provider '" + name + "'" + from);
      return;
    }
    Result<Quote> quote = provider->quote(node, program_);
    if (!quote.ok()) {
      problem(node, quote.status().text());
      return;
    }
    const ir::Node* made = &node;
    if (!node.softs.empty()) {
      made = with_softs(node, *provider);
      quote = provider->quote(*made, program_);
    }
    if (std::find(order_.begin(), order_.end(), name) == order_.end()) order_.push_back(name);
    for (const ir::Interface& interface : node.interfaces) networks_[name].insert(interface.network);
    for (const std::string& note : quote->notes) add_note(note);
    Desired desired;
    desired.address = node.address;
    desired.provider = name;
    desired.spec = quote->spec;
    desired.node = made;
    desired.quote = std::move(*quote);
    nodes_.push_back(std::move(desired));
  }

  // The node with those of its soft features that it gets; what it does not get becomes a note of its system.
  const ir::Node* with_softs(const ir::Node& node, const Provider& provider) {
    SoftOutcome outcome = resolve_softs(
        node, [&](const ir::Node& wanted) { return provider.quote(wanted, program_).status(); });
    for (const std::string& why : outcome.dropped) {
      std::string text = why;
      std::string prefix = node.address + ": ";
      if (size_t at = text.find(prefix); at != text.npos) text.erase(at, prefix.size());
      add_note(node.system + ": soft features are not met, " + text);
    }
    result_.resolved.push_back(std::move(outcome.node));
    return &result_.resolved.back();
  }

  void problem(const ir::Node& node, const std::string& text) {
    if (!problems_.empty()) problems_ += "\n";
    std::string prefix = node.address + ": ";
    problems_ += text.starts_with(prefix) ? text : prefix + text;
  }

  void add_note(const std::string& note) {
    if (noted_.insert(note).second) result_.notes.push_back(note);
  }

  // Each provider has networks of its own. The plain names are of the one for nodes that name no cloud,
  // whatever stands in the file and in which order: another node must not make a network change hands.
  std::string network_address(const std::string& provider, const ir::Network& network) const {
    return provider == providers_.fallback ? network.address : network.address + "@" + provider;
  }

  void note_divided_networks() {
    for (const ir::Network& network : program_.networks) {
      std::vector<std::string> names;
      for (const std::string& provider : order_) {
        if (networks_[provider].count(network.name)) names.push_back(provider);
      }
      if (names.size() < 2 || network.reference) continue;
      std::sort(names.begin(), names.end());
      std::string list;
      for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
      add_note("network '" + network.name + "' is in several clouds (" + list +
               "): each gets one of its own, and nodes of different clouds do not meet in it");
    }
  }

  void add_shared(const std::string& provider) {
    Desired key;
    key.address = "key." + provider;
    key.kind = ResourceKind::Key;
    key.provider = provider;
    key.spec = {{"type", "ed25519"}};
    key.summary = "ed25519 key pair for SSH";
    result_.resources.push_back(std::move(key));
    for (const ir::Network& network : program_.networks) {
      if (network.reference || !networks_[provider].count(network.name)) continue;
      Desired desired;
      desired.address = network_address(provider, network);
      desired.kind = ResourceKind::Network;
      desired.provider = provider;
      desired.spec = network_spec(network);
      desired.needs = {"key." + provider};
      desired.summary = network.is_public ? "public network" : "private network";
      if (!network.ports.empty()) {
        desired.summary += ", " + std::to_string(network.ports.size()) +
                           (network.ports.size() == 1 ? " port rule" : " port rules");
      }
      result_.resources.push_back(std::move(desired));
    }
  }

  static Json network_spec(const ir::Network& network) {
    Json ports = Json::array();
    for (const ir::PortRule& rule : network.ports) {
      ports.push_back({{"protocol", rule.protocol},
                       {"cidr", rule.cidr},
                       {"remote", rule.remote},
                       {"remote_end", rule.remote_end},
                       {"local", rule.local},
                       {"local_end", rule.local_end}});
    }
    return {{"name", network.name},
            {"public", network.is_public},
            {"ports", ports},
            {"features", network.features}};
  }

  void add_node(Desired desired) {
    const ir::Node& node = *desired.node;
    desired.needs = {"key." + desired.provider};
    for (const ir::Interface& interface : node.interfaces) {
      auto network = std::find_if(program_.networks.begin(), program_.networks.end(),
                                  [&](const ir::Network& n) { return n.name == interface.network; });
      if (network == program_.networks.end() || network->reference) continue;
      std::string address = network_address(desired.provider, *network);
      if (std::find(desired.needs.begin(), desired.needs.end(), address) == desired.needs.end()) {
        desired.needs.push_back(address);
      }
    }
    desired.summary = node_summary(desired);
    result_.resources.push_back(std::move(desired));
  }

  // "local, 2 cpu, 4 GiB, in lan": the few requirements that everybody looks for.
  static std::string node_summary(const Desired& desired) {
    const ir::Node& node = *desired.node;
    std::string text = desired.provider;
    if (!desired.quote.instance_type.empty() && desired.quote.instance_type != desired.provider) {
      text += " " + desired.quote.instance_type;
    }
    auto amount = [&](const char* feature) -> std::optional<double> {
      auto want = node.requirements.find(feature);
      if (want == node.requirements.end()) return std::nullopt;
      return want->second.min ? want->second.min : want->second.max;
    };
    if (auto count = amount("cpu.count")) text += ", " + render_value(*count) + " cpu";
    if (auto size = amount("memory.size")) text += ", " + render_value(*size, "memory.size");
    if (auto count = amount("gpu.count"); count && *count > 0) text += ", " + render_value(*count) + " gpu";
    std::set<std::string> seen;
    for (const ir::Interface& interface : node.interfaces) {
      if (seen.insert(interface.network).second)
        text += (seen.size() == 1 ? ", in " : " and ") + interface.network;
    }
    return text;
  }

  const ir::Program& program_;
  const ProviderSet& providers_;
  std::vector<std::string> order_;  // providers, by first use
  std::map<std::string, std::set<std::string>> networks_;
  std::vector<Desired> nodes_;
  std::set<std::string> noted_;
  std::string problems_;
  DesiredResources result_;
};

}  // namespace

Result<DesiredResources> desired_resources(const ir::Program& program, const ProviderSet& providers) {
  return Builder(program, providers).build();
}

}  // namespace radl
