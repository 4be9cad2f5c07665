// A resource type of OpenStack: how to create, inspect and change it. One file per type; openstack_cloud.cc
// combines them.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/clouds/caller.h"
#include "runtime/clouds/impact.h"
#include "runtime/clouds/openstack/api.h"
#include "runtime/clouds/openstack/marks.h"
#include "runtime/clouds/openstack/memory.h"

namespace radl::openstack {

// The arguments of every call.
struct Asking {
  const Context& context;
  Services& services;
  Memory& memory;
  const CloudId& cloud;
  // This computer's public address, as a CIDR.
  const CallerSource& caller;
};

// The selection of a look. Lists cannot be filtered by marks, so all of a type are read and filtered here.
struct Wish {
  std::set<std::string> ids, tokens;
  bool everything = false;
  bool wants(const Context& context, const std::string& id, const Mark& mark) const {
    if (ids.count(id)) return true;
    return mark.ours(context) && (everything || tokens.count(mark.token));
  }
  // True if the few known IDs should be fetched individually.
  bool only_few_ids() const { return tokens.empty() && !everything && ids.size() <= 2; }
};

class Kind {
 public:
  virtual ~Kind() = default;
  virtual const char* type() const = 0;
  // True if its service may be missing in a cloud.
  virtual bool may_be_missing() const { return false; }

  virtual Asked create(Asking& call, const Order& order) const = 0;
  virtual Asked update(Asking& call, const Order& order) const;  // Refused: never changed
  virtual Asked destroy(Asking& call, const Order& order) const = 0;
  virtual Asked power(Asking& call, const Order& order, Power power) const;  // Refused: not a machine
  virtual Asked image(Asking& call, const Order& order, const std::string& name) const;  // same
  virtual Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const = 0;
  virtual Impact impact(const Json& before, const Json& after) const;  // Replace
  // Writes radlc's marks to a foreign resource; for an order without a token, removes them. No effect if the
  // mark is in the name, which never changes.
  virtual Status mark(Asking&, const Order&) const { return {}; }
  // What mark() writes, by name.
  virtual Json marks(const Context&, const Order&) const { return Json::object(); }
  virtual bool is_marked_by_name() const { return false; }
};

std::unique_ptr<Kind> make_key_pair();
std::unique_ptr<Kind> make_security_group();
std::unique_ptr<Kind> make_network();
std::unique_ptr<Kind> make_subnet();
std::unique_ptr<Kind> make_router();
std::unique_ptr<Kind> make_floating_ip();
std::unique_ptr<Kind> make_server_group();
std::unique_ptr<Kind> make_volume();
std::unique_ptr<Kind> make_server();

// The ID of the resource that a spec field names by address. Invalid: it does not exist.
Result<std::string> id_of_reference(const Order& order, const std::string& address);
// Its name in the cloud: the spec's own, or one with infrastructure and address.
std::string name_for(const Context& context, const Order& order);

// Kind::marks() for Neutron resources: the description. Seen::marks of a Neutron item.
Json marks_in_network(const Context& context, const Order& order);
// Kind::marks() for resources with metadata. Includes the login data, if recorded.
Json marks_in_metadata(const Context& context, const Order& order);

// Kind::mark() for Neutron resources: sets the description. `key`: the key of its body, "network".
Status mark_in_network(Asking& call, const Order& order, const std::string& path, const std::string& key);

// Same for resources with metadata. `path`: "/servers". `marks`: as in Kind::marks().
Status mark_in_metadata(Asking& call, Service& service, const std::string& path, const Order& order,
                        Json marks);

// Reads one of Neutron's lists with the marks in the descriptions, and keeps the requested resources. `fill`
// sets the remaining fields.
Status look_in_network(Asking& call, const Wish& wish, const char* type, const std::string& path,
                       const std::string& key, const std::function<void(const Json& item, Seen& seen)>& fill,
                       std::vector<Seen>& seen);

}  // namespace radl::openstack
