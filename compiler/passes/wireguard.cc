// Networks with `wireguard = 'yes'`: an address for each of their nodes, and the steps that join them.
//
// Of each node: NODE/network.LAN.key makes the node's keys, then NODE/network.LAN configures the interface by
// the public keys of all. The barrier `network.LAN/joined` waits for all of these, and everything else on the
// nodes for it.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/text.h"
#include "compiler/check/wireguard_range.h"
#include "compiler/passes/build.h"
#include "compiler/passes/recipes.h"

namespace radl::passes {

namespace {

// Every node knows every other one: what they hold grows with the square.
constexpr size_t kMostNodes = 250;

// Names of interfaces have 15 characters at most.
std::string interface_of(const std::string& network) {
  constexpr size_t kMost = 12;
  std::string name;
  for (char c : network) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
  if (name == network && name.size() <= kMost) return "wg-" + name;
  return "wg-" + name.substr(0, kMost - 5) + "-" + sha256_hex(network).substr(0, 4);
}

std::string label_of(std::string_view name) {
  std::string label = to_lower(name);
  for (char& c : label)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '-';
  return label;
}

struct Member {
  size_t node;       // place in program.nodes
  size_t interface;  // of the node
  std::string address, name;
};

struct Joined {
  const ir::Network* network = nullptr;
  sema::WireguardRange range;
  int port = sema::kUsualWireguardPort;
  std::vector<Member> members;
  std::string interface() const { return interface_of(network->name); }
};

class Joiner {
 public:
  explicit Joiner(Build& build) : build_(build) {}

  void run() {
    std::vector<Joined> all;
    for (const ir::Network& network : build_.program.networks) {
      if (auto joined = read(network)) all.push_back(std::move(*joined));
    }
    for (Joined& joined : all) {
      take_members(joined);
      if (!joined.members.empty() && !build_.diagnostics.has_errors()) add_steps(joined);
    }
  }

 private:
  std::optional<Joined> read(const ir::Network& network) {
    const std::string wanted = to_lower(text(network, "wireguard"));
    if (wanted.empty() || wanted == "no") return std::nullopt;
    Joined joined;
    joined.network = &network;
    // The check has already reported errors.
    const std::string cidr = text(network, "wireguard_cidr");
    const auto range = sema::wireguard_range(cidr.empty() ? sema::kUsualWireguardRange : cidr);
    if (wanted != "yes" || !range || network.reference) return std::nullopt;
    joined.range = *range;
    if (auto port = network.features->find("wireguard_port");
        port != network.features->end() && port->is_number())
      joined.port = port->get<int>();
    return joined;
  }

  static std::string text(const ir::Network& network, const char* feature) {
    auto found = network.features->find(feature);
    return found != network.features->end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  void wrong(const ir::Network& network, std::string_view feature, const std::string& message) {
    build_.diagnostics.report(DiagCode::WrongValue, span_of(network, feature), message);
  }

  Span span_of(const ir::Network& network, std::string_view feature) const {
    const sema::Definition* definition = build_.document.networks.find(network.name);
    if (definition == nullptr) return {};
    const sema::Merged* merged = definition->features.find(feature);
    return merged == nullptr ? definition->block->name.span : merged->first->value.span();
  }

  void take_members(Joined& joined) {
    std::vector<ir::Node>& nodes = build_.program.nodes;
    for (size_t i = 0; i < nodes.size(); i++) {
      if (!nodes[i].configured || build_.configuration_off) continue;
      for (size_t k = 0; k < nodes[i].interfaces.size(); k++) {
        ir::Interface& interface = nodes[i].interfaces[k];
        if (interface.network != joined.network->name) continue;
        const uint64_t place = static_cast<uint64_t>(nodes[i].number) + 1;
        if (place + 1 >= joined.range.size()) {
          wrong(*joined.network, "wireguard_cidr",
                fmt::format("`wireguard_cidr` has no address for {}", nodes[i].address));
          return;
        }
        interface.wireguard_ip = joined.range.address(place);
        const std::string& host =
            interface.host_name.empty() ? nodes[i].interfaces[0].host_name : interface.host_name;
        joined.members.push_back(
            {i, k, interface.wireguard_ip, fmt::format("{}.{}", host, label_of(joined.network->name))});
        break;
      }
    }
    if (joined.members.size() > kMostNodes)
      wrong(*joined.network, "wireguard",
            fmt::format("WireGuard joins at most {} nodes, and network '{}' has {}", kMostNodes,
                        joined.network->name, joined.members.size()));
  }

  const ir::Node& node(const Member& member) const { return build_.program.nodes[member.node]; }

  std::string key_step(const Joined& joined, const Member& member) const {
    return fmt::format("{}/{}.key", node(member).address, joined.network->address);
  }

  void add_steps(const Joined& joined) {
    // What a node's first step waits for: applications, and another network's members.
    std::map<std::string, std::string> last;
    for (const ir::Step& step : build_.program.steps) {
      for (const std::string& on : step.nodes) last[on] = step.id;
      if (step.kind != ir::StepKind::Barrier) continue;
      for (const ir::Edge& edge : step.after) last[edge.to.substr(0, edge.to.find('/'))] = step.id;
    }
    ir::Json keys, addresses, endpoints, names;
    for (const Member& member : joined.members) {
      const std::string& address = node(member).address;
      keys[address] = ir::unknown(key_step(joined, member) + ".public_key");
      addresses[address] = member.address;
      endpoints[address] = ir::unknown(address + ".ip");
      names[address] = member.name;
    }
    ir::Step barrier;
    barrier.id = joined.network->address + "/joined";
    barrier.kind = ir::StepKind::Barrier;
    barrier.needs_success = true;
    for (const Member& member : joined.members) {
      ir::Step key = step_of(joined, member, ".key");
      key.resources.push_back({"package", "wireguard-tools", ir::Json{{"state", "present"}}, key.origin});
      key.resources.push_back(
          {"wireguard_key", joined.interface(), ir::Json{{"network", joined.network->name}}, key.origin});
      if (auto before = last.find(key.nodes[0]); before != last.end())
        key.after.push_back({before->second, "same node"});
      ir::Step join = step_of(joined, member, "");
      join.resources.push_back(
          {"wireguard", joined.interface(),
           ir::Json{{"network", joined.network->name},
                    {"address", fmt::format("{}/{}", member.address, joined.range.prefix)},
                    {"port", joined.port},
                    {"keys", keys},
                    {"addresses", addresses},
                    {"endpoints", endpoints},
                    {"names", names}},
           join.origin});
      join.after.push_back({key.id, "same node"});
      barrier.after.push_back({join.id, fmt::format("part of {}", joined.network->address)});
      for (ir::Step* step : {&key, &join}) {
        step->digest = digest_of(*step);
        build_.program.steps.push_back(std::move(*step));
      }
    }
    build_.program.steps.push_back(std::move(barrier));
  }

  ir::Step step_of(const Joined& joined, const Member& member, const char* ending) const {
    ir::Step step;
    step.recipe = joined.network->address + ending;
    step.id = fmt::format("{}/{}", node(member).address, step.recipe);
    step.nodes = {node(member).address};
    step.origin = joined.network->origin;
    return step;
  }

  static std::string digest_of(const ir::Step& step) {
    ir::Json parts = ir::Json::array();
    for (const ir::Resource& resource : step.resources)
      parts.push_back({resource.type, resource.name, resource.properties});
    return json_digest(parts);
  }

  Build& build_;
};

}  // namespace

void wireguard(Build& build) { Joiner(build).run(); }

}  // namespace radl::passes
