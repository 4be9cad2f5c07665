// Networks and ansible hosts.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/text.h"
#include "compiler/check/outports.h"
#include "compiler/check/wireguard_range.h"
#include "compiler/passes/build.h"
#include "compiler/passes/requirements.h"

namespace radl::passes {

namespace {

// What can be read of `outports`; spaces after commas are accepted. What cannot, and ports that there are
// not, the check has reported.
void add_ports(ir::Network& network, const hir::Value& outports) {
  for (const sema::OutportsItem& item : sema::outports_items(outports.text().value_or(""))) {
    const auto source = item.source();
    if (item.possible() && source)
      network.ports.push_back(
          {std::string(item.protocol), *source, item.remote, item.remote_end, item.local, item.local_end});
  }
}

void add_ports(ir::Network& network, const sema::FeatureSet& features) {
  const sema::Merged* merged = features.find("outports");
  if (merged == nullptr) return;
  if (merged->value != nullptr) add_ports(network, *merged->value);
  for (const hir::Feature* one : merged->set) add_ports(network, one->value);  // EC3: a set of them
}

// Peers call from any address.
void open_wireguard(ir::Network& network) {
  const auto wanted = network.features->find("wireguard");
  if (wanted == network.features->end() || !wanted->is_string() ||
      !equal_ignoring_case(wanted->get<std::string>(), "yes"))
    return;
  ir::PortRule rule;
  rule.protocol = "udp";
  const auto port = network.features->find("wireguard_port");
  const bool given = port != network.features->end() && port->is_number();
  rule.remote = rule.remote_end = rule.local = rule.local_end =
      given ? port->get<int>() : sema::kUsualWireguardPort;
  for (const ir::PortRule& other : network.ports) {
    if (other.protocol == "udp" && other.cidr == rule.cidr && other.remote <= rule.remote &&
        rule.remote <= other.remote_end)
      return;
  }
  network.ports.push_back(std::move(rule));
}

void add_network(Build& build, const sema::Definition& definition) {
  ir::Network network;
  network.name = std::string(definition.block->name.text);
  network.address = "network." + network.name;
  network.reference = definition.reference;
  network.origin = build.origin(definition.block->name.span);
  network.is_public = definition.features.text("outbound") == "yes";
  for (auto& [name, requirement] :
       requirements_of(build, sema::Scope::Network, definition.features, network.address)) {
    if (requirement.equals)
      network.features[name] = *requirement.equals;
    else if (requirement.min || requirement.max)
      network.features[name] = requirement.min ? *requirement.min : *requirement.max;
  }
  add_ports(network, definition.features);
  open_wireguard(network);
  build.program.networks.push_back(std::move(network));
}

void add_ansible_host(Build& build, const sema::Definition& definition) {
  ir::AnsibleHost host;
  host.name = std::string(definition.block->name.text);
  host.origin = build.origin(definition.block->name.span);
  host.host = std::string(definition.features.text("host"));
  host.user = std::string(definition.features.text("credentials.username"));
  constexpr std::string_view kCredentials = "credentials.";
  for (const auto& [name, requirement] :
       requirements_of(build, sema::Scope::Ansible, definition.features, "ansible." + host.name)) {
    if (name.starts_with(kCredentials) && requirement.equals && ir::is_secret(*requirement.equals))
      host.secrets[name.substr(kCredentials.size())] = *requirement.equals;
  }
  build.program.ansible_hosts.push_back(std::move(host));
}

}  // namespace

void networks(Build& build) {
  for (const sema::Definition& network : build.document.networks.list) add_network(build, network);
  for (const sema::Definition& host : build.document.ansibles.list) add_ansible_host(build, host);
}

}  // namespace radl::passes
