// What Nova and Neutron tell of a machine.
#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "runtime/clouds/openstack/networks.h"
#include "runtime/clouds/openstack/server.h"
#include "runtime/clouds/rules_of_others.h"

namespace radl::openstack {
namespace {

constexpr size_t kDevicesInAQuery = 20;
constexpr const char* kPublicNetwork = "public_network";  // attribute: what kPublicKey says

std::string first_address(const ServerNow& now, const std::string& network, bool of_it) {
  for (const PortNow& port : now.ports) {
    if ((port.network == network) != of_it) continue;
    for (const std::string& address : port.addresses)
      if (address.find(':') == address.npos) return address;
  }
  return "";
}

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json attributes_of(Asking& call, const ServerNow& now) {
  const std::string public_network = text_of(now.metadata, kPublicKey);
  std::string private_ip = first_address(now, public_network, false), public_ip = now.floating_ip;
  if (public_ip.empty() && !public_network.empty()) public_ip = first_address(now, public_network, true);
  if (private_ip.empty()) private_ip = public_ip;
  auto token = call.services.session.token(call.context.stop);
  Json attributes = {{"host", public_ip.empty() ? private_ip : public_ip},
                     {"port", 22},
                     {"user", text_of(now.metadata, kUserKey)},
                     {"private_ip", or_null(private_ip)},
                     {"public_ip", or_null(public_ip)},
                     {"vm_id", now.id},
                     {"instance_type", now.flavor},
                     {"zone", now.zone},
                     {"vpc", or_null(token.ok() ? (*token)->project_id : "")},
                     {"state", phase_of_server(now) == ResourcePhase::Stopped ? "stopped" : "running"}};
  if (!public_network.empty()) attributes[kPublicNetwork] = public_network;
  for (const auto& [name, value] : now.metadata.items())
    if (name.starts_with(kVolumeKeys) && value.is_string())
      attributes["volumes"][name.substr(name.size() - 1)] = value;
  if (std::string key = text_of(now.metadata, kKeyKey); !key.empty()) attributes["key"] = key;
  return attributes;
}

void take_floating(const Json& item, std::vector<ServerNow>& servers) {
  const std::string port = text_of(item, "port_id");
  if (port.empty()) return;
  for (ServerNow& server : servers) {
    for (const PortNow& one : server.ports) {
      if (one.id != port) continue;
      server.floating_id = text_of(item, "id");
      server.floating_ip = text_of(item, "floating_ip_address");
    }
  }
}

}  // namespace

Json server_marks(const Context& context, const Order& order) {
  Json marks = marks_in_metadata(context, order);
  if (order.token.empty()) return marks;
  for (const auto& [letter, volume] : member(order.attributes, "volumes").items())
    marks[kVolumeKeys + letter] = volume;
  if (std::string network = text_of(order.attributes, kPublicNetwork); !network.empty())
    marks[kPublicKey] = std::move(network);
  if (order.spec.contains("public_ip")) marks[kAddressOfOthersKey] = order.spec["public_ip"];
  return marks;
}

std::vector<std::string> ServerNow::groups() const {
  std::set<std::string> all;
  for (const PortNow& port : ports) all.insert(port.groups.begin(), port.groups.end());
  return {all.begin(), all.end()};
}

ServerNow server_in(const Json& item, const std::vector<Flavor>& flavors) {
  ServerNow now;
  now.id = text_of(item, "id");
  now.name = text_of(item, "name");
  now.status = text_of(item, "status");
  now.task = text_of(item, "OS-EXT-STS:task_state");
  now.zone = text_of(item, "OS-EXT-AZ:availability_zone");
  now.fault = trim(text_of(member(item, "fault"), "message"));
  const Json& flavor = member(item, "flavor");
  now.flavor = text_of(flavor, "original_name");
  for (const Flavor& one : flavors)
    if (now.flavor.empty() && one.id == text_of(flavor, "id")) now.flavor = one.type.name;
  if (member(item, "metadata").is_object()) now.metadata = member(item, "metadata");
  return now;
}

PortNow port_in(const Json& item) {
  PortNow port{text_of(item, "id"), text_of(item, "network_id"), {}, {}};
  for (const Json& fixed : list_of(item, "fixed_ips")) {
    const std::string address = text_of(fixed, "ip_address");
    if (!address.empty()) port.addresses.push_back(address);
  }
  for (const Json& group : list_of(item, "security_groups"))
    if (group.is_string()) port.groups.push_back(group.get<std::string>());
  std::sort(port.groups.begin(), port.groups.end());
  port.takes_groups = flag_of(item, "port_security_enabled", true);
  return port;
}

Result<Opened> opened(Asking& call, const PortNow& port) {
  if (port.takes_groups) return Opened::No;
  auto networks = networks_there(call);
  if (!networks.ok()) return networks.status();
  auto found = std::find_if(networks->begin(), networks->end(),
                            [&](const NetworkNow& one) { return one.id == port.network; });
  return found != networks->end() && found->takes_groups ? Opened::ByHand : Opened::ByNetwork;
}

Status add_addresses(Asking& call, std::vector<ServerNow>& servers) {
  Parameters query;
  if (servers.size() <= kDevicesInAQuery)
    for (const ServerNow& server : servers) query.emplace_back("device_id", server.id);
  std::map<std::string, ServerNow*> by_id;
  for (ServerNow& server : servers) by_id[server.id] = &server;
  Status asked =
      call.services.network.each("/ports", "ports", query, waits(call.context), [&](const Json& item) {
        auto owner = by_id.find(text_of(item, "device_id"));
        if (owner != by_id.end()) owner->second->ports.push_back(port_in(item));
      });
  if (!asked.ok()) return asked;
  // In a fixed order, whatever the service's is.
  for (ServerNow& server : servers)
    std::sort(server.ports.begin(), server.ports.end(),
              [](const PortNow& a, const PortNow& b) { return a.id < b.id; });
  return call.services.network.each("/floatingips", "floatingips", {}, waits(call.context),
                                    [&](const Json& item) { take_floating(item, servers); });
}

ResourcePhase phase_of_server(const ServerNow& now) {
  if (now.task == "deleting" || now.status == "DELETED" || now.status == "SOFT_DELETED")
    return ResourcePhase::Leaving;
  if (now.status == "ERROR") return ResourcePhase::Broken;
  // A change of flavor that waits to be confirmed: the machine runs.
  if (now.status == "VERIFY_RESIZE" && now.task.empty()) return ResourcePhase::Ready;
  if (!now.task.empty()) return ResourcePhase::Pending;
  if (now.status == "ACTIVE") return ResourcePhase::Ready;
  for (const char* stopped : {"SHUTOFF", "SUSPENDED", "PAUSED", "SHELVED", "SHELVED_OFFLOADED"})
    if (now.status == stopped) return ResourcePhase::Stopped;
  return ResourcePhase::Pending;
}

// A port that somebody opened is shown among the groups, which an update puts back.
void show_openings(Asking& call, const ServerNow& now, Seen& seen) {
  for (const PortNow& port : now.ports) {
    auto how = opened(call, port);
    const std::string why = how.ok() ? "" : ": " + how.status().message();
    if (how.ok() && *how == Opened::No) continue;
    if (how.ok() && *how == Opened::ByHand && seen.spec.contains("groups"))
      seen.spec["groups"].push_back("port " + port.id + " without port security");
    else
      add_rule_of_others(
          seen, fmt::format("everything reaches it in network {}, where its port has no port security{}",
                            port.network, why));
  }
}

// Where the file names no flavor, the next attempt takes another one that fits.
void say_what_broke(Asking& call, const ServerNow& now, Seen& seen) {
  seen.detail = fmt::format("Nova says: {}", now.fault.empty() ? "the server is in error" : now.fault);
  const bool chosen = !text_of(now.metadata, kFlavorKey).empty(), full = tells_of_no_room(now.fault);
  if (full && chosen) call.memory.note_full(now.flavor, now.zone);
  if (full)
    seen.detail += fmt::format(" (flavor {}{})", now.flavor, now.zone.empty() ? "" : ", zone " + now.zone);
  seen.no_room = (full && !chosen) || to_lower(now.fault).find("quota") != std::string::npos;
}

std::optional<Seen> seen_server(Asking& call, const ServerNow& now) {
  if (now.status == "DELETED") return std::nullopt;
  Seen seen;
  take_mark(call.context, from_metadata(now.metadata), seen);
  seen.marks = now.metadata;
  seen.type = "server";
  seen.id = now.id;
  seen.phase = phase_of_server(now);
  if (seen.phase == ResourcePhase::Broken) say_what_broke(call, now, seen);
  seen.spec = {{"tags", own_metadata(now.metadata)}};
  // A flavor chosen by requirements is not one named by the user.
  const std::string chosen = text_of(now.metadata, kFlavorKey);
  if (chosen != now.flavor) seen.spec["type"] = now.flavor;
  const bool may_take_groups = std::any_of(now.ports.begin(), now.ports.end(), [&](const PortNow& port) {
    auto how = opened(call, port);
    return how.ok() && *how != Opened::ByNetwork;
  });
  if (Json groups = call.memory.group_names(now.groups()); !groups.is_null() && may_take_groups)
    seen.spec["groups"] = groups;
  show_openings(call, now, seen);
  auto address = call.memory.name_of(now.floating_ip);
  seen.spec["address"] = address ? Json(*address) : Json();
  if (now.metadata.contains(kAddressOfOthersKey))
    seen.spec["public_ip"] = address || now.floating_ip.empty() ? Json() : Json(now.floating_ip);
  seen.attributes = attributes_of(call, now);
  return seen;
}

}  // namespace radl::openstack
