// Machines: builds Nova's request from a spec, and parses the descriptions by Nova and Neutron. Internal to
// this folder; server.cc sends the requests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

// The body of POST /servers. Looks up image, flavor and networks unless cached. Invalid and NotFound name
// what is unavailable.
Result<Json> launch_of(Asking& call, const Order& order);

struct PortNow {
  std::string id, network;
  std::vector<std::string> addresses, groups;  // IDs of groups, sorted
  bool takes_groups = true;
};

struct ServerNow {
  std::string id, name, status, task, flavor, zone, fault;
  Json metadata = Json::object();
  std::vector<PortNow> ports;
  std::string floating_id, floating_ip;
  std::vector<std::string> groups() const;  // of all its ports, sorted, without duplicates
};
// Parses an element of /servers. `flavors`: for responses that contain only the flavor's ID.
ServerNow server_in(const Json& item, const std::vector<Flavor>& flavors);
PortNow port_in(const Json& item);
// A port without port security allows all traffic. The cause:
enum class Opened {
  No,         // it has port security
  ByNetwork,  // the network has none
  ByHand,     // someone disabled it for this port
};
Result<Opened> opened(Asking& call, const PortNow& port);
// Adds ports and floating addresses to servers.
Status add_addresses(Asking& call, std::vector<ServerNow>& servers);

// Kind::marks(), plus its volumes and the network of public addresses.
Json server_marks(const Context& context, const Order& order);
std::optional<Seen> seen_server(Asking& call, const ServerNow& now);
ResourcePhase phase_of_server(const ServerNow& now);

// Applies the differences from the spec, one request at a time.
Asked change_server(Asking& call, const Order& order, const ServerNow& now);
Asked power_server(Asking& call, const Order& order, const ServerNow& now, Power power);

}  // namespace radl::openstack
