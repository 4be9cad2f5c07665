#include "runtime/clouds/openstack/networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/text.h"

namespace radl::openstack {
namespace {

std::string names_of(const std::vector<NetworkNow>& networks) {
  std::vector<std::string> names;
  for (const NetworkNow& one : networks) names.push_back(one.name.empty() ? one.id : one.name);
  std::sort(names.begin(), names.end());
  return join(names, ", ");
}

template <class Keeps>
std::vector<NetworkNow> those(const std::vector<NetworkNow>& networks, Keeps keeps) {
  std::vector<NetworkNow> kept;
  std::copy_if(networks.begin(), networks.end(), std::back_inserter(kept), keeps);
  return kept;
}

// Networks all of whose subnets are seen, and are for IPv6. Those of others may be hidden.
Status find_ipv6_only(Asking& call, std::vector<NetworkNow>& networks) {
  std::map<std::string, size_t> subnets;  // of IPv6, by network
  Status asked =
      call.services.network.each("/subnets", "subnets", {}, waits(call.context), [&](const Json& item) {
        if (number_of(item, "ip_version") == 6) ++subnets[text_of(item, "network_id")];
      });
  if (!asked.ok()) return asked;
  for (NetworkNow& one : networks)
    one.only_ipv6 = !one.subnets.empty() && subnets[one.id] == one.subnets.size();
  return {};
}

}  // namespace

Result<std::vector<NetworkNow>> networks_there(Asking& call) {
  return call.memory.networks.get("", [&]() -> Result<std::vector<NetworkNow>> {
    std::vector<NetworkNow> networks;
    Status asked =
        call.services.network.each("/networks", "networks", {}, waits(call.context), [&](const Json& item) {
          NetworkNow one{text_of(item, "id"), text_of(item, "name"), text_of(item, "project_id")};
          if (one.project.empty()) one.project = text_of(item, "tenant_id");
          one.external = flag_of(item, "router:external");
          one.shared = flag_of(item, "shared");
          one.takes_groups = flag_of(item, "port_security_enabled", true);
          one.of_radlc = !from_line(text_of(item, "description")).token.empty();
          for (const Json& subnet : list_of(item, "subnets"))
            if (subnet.is_string()) one.subnets.push_back(subnet.get<std::string>());
          if (!one.id.empty()) networks.push_back(std::move(one));
        });
    if (asked.ok()) asked = find_ipv6_only(call, networks);
    if (!asked.ok()) return asked;
    return networks;
  });
}

Status has_ipv4(const NetworkNow& network) {
  if (!network.only_ipv6) return {};
  return invalid(fmt::format("network {} has only IPv6 addresses, but radlc reaches machines by IPv4",
                             network.name.empty() ? network.id : network.name))
      .with_hint("name another network: provider_id = 'NAME', or create = 'yes'");
}

Result<NetworkNow> network_named(Asking& call, const std::string& name) {
  auto all = networks_there(call);
  if (!all.ok()) return all.status();
  auto found = those(*all, [&](const NetworkNow& one) { return one.id == name; });
  if (found.empty()) found = those(*all, [&](const NetworkNow& one) { return one.name == name; });
  if (found.size() == 1) return found.front();
  if (found.size() > 1)
    return invalid(fmt::format("provider_id = '{}': {} networks have this name", name, found.size()))
        .with_hint("use its ID: `openstack network list`");
  return not_found(fmt::format("provider_id = '{}': network not found; available: {}", name, names_of(*all)));
}

Result<NetworkNow> default_network(Asking& call) {
  auto all = networks_there(call);
  if (!all.ok()) return all.status();
  auto token = call.services.session.token(call.context.stop);
  if (!token.ok()) return token.status();
  const auto usable = those(*all, [](const NetworkNow& one) {
    return !one.external && !one.of_radlc && !one.subnets.empty() && !one.only_ipv6;
  });
  auto own = those(usable, [&](const NetworkNow& one) { return one.project == (*token)->project_id; });
  const auto& found = own.empty() ? usable : own;
  if (found.size() == 1) return found.front();
  if (found.empty())
    return invalid("the project has no network for machines")
        .with_hint("let radlc create one: create = 'yes' for the network");
  return invalid(fmt::format("the project has several networks: {}", names_of(found)))
      .with_hint("name one: provider_id = 'NAME' for the network, or create = 'yes'");
}

Result<NetworkNow> external_network(Asking& call, const std::string& name) {
  auto all = networks_there(call);
  if (!all.ok()) return all.status();
  const auto external = those(*all, [](const NetworkNow& one) { return one.external; });
  if (!name.empty()) {
    auto named = network_named(call, name);
    if (!named.ok() || named->external) return named;
    return invalid(
               fmt::format("provider_id = '{}': the network is not external, so it has no floating addresses",
                           name))
        .with_hint("elastic_ip = 'no' for the system attaches its machines to the network itself");
  }
  if (external.size() == 1) return external.front();
  if (external.empty())
    return not_found("the cloud has no external network, so there are no floating addresses")
        .with_hint(
            "set elastic_ip = 'no' for the system, and provider_id to a network with public addresses");
  return invalid(fmt::format("the cloud has several external networks: {}", names_of(external)))
      .with_hint("name one: provider_id = 'NAME' for the public network");
}

}  // namespace radl::openstack
