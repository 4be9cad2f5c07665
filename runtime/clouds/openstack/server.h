// Machines: what Nova is given for a spec, and what Nova and Neutron tell of one. Internal to this folder;
// server.cc asks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

// The body of POST /servers. Asks for image, flavor and networks where they are not known. Invalid and
// NotFound name what cannot be had.
Result<Json> launch_of(Asking& call, const Order& order);

struct PortNow {
  std::string id, network;
  std::vector<std::string> addresses, groups;  // ids of groups, sorted
  bool takes_groups = true;
};

struct ServerNow {
  std::string id, name, status, task, flavor, zone, fault;
  Json metadata = Json::object();
  std::vector<PortNow> ports;
  std::string floating_id, floating_ip;
  std::vector<std::string> groups() const;  // of all of its ports, sorted, each once
};
// An element of /servers. `flavors`: for answers that name a flavor by its id alone.
ServerNow server_in(const Json& item, const std::vector<Flavor>& flavors);
PortNow port_in(const Json& item);
// A port without port security lets everything through. How it came to that:
enum class Opened {
  No,         // it has port security
  ByNetwork,  // its network has none
  ByHand,     // somebody switched it off for this port
};
Result<Opened> opened(Asking& call, const PortNow& port);
// Adds ports and floating addresses to servers.
Status add_addresses(Asking& call, std::vector<ServerNow>& servers);

// Kind::marks(): also which volumes it was given, and whose addresses are public.
Json server_marks(const Context& context, const Order& order);
std::optional<Seen> seen_server(Asking& call, const ServerNow& now);
ResourcePhase phase_of_server(const ServerNow& now);

// What differs from the spec, one request after the other.
Asked change_server(Asking& call, const Order& order, const ServerNow& now);
Asked power_server(Asking& call, const Order& order, const ServerNow& now, Power power);

}  // namespace radl::openstack
