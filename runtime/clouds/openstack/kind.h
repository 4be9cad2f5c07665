// A type of resource of OpenStack: how it is asked for, how it is seen, and what a change of it takes. One
// file each; openstack_cloud.cc puts them together.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/clouds/impact.h"
#include "runtime/clouds/openstack/api.h"
#include "runtime/clouds/openstack/marks.h"
#include "runtime/clouds/openstack/memory.h"

namespace radl::openstack {

// What every call of a kind is given.
struct Asking {
  const Context& context;
  Services& services;
  Memory& memory;
  const CloudId& cloud;
  // The address that this computer is seen under from outside, as a CIDR.
  const std::function<Result<std::string>(const Stop&)>& caller;
};

// What a look is for. Lists cannot be asked for what is marked, so all of a type are read, and these kept.
struct Wish {
  std::set<std::string> ids, tokens;
  bool everything = false;
  bool wants(const Context& context, const std::string& id, const Mark& mark) const {
    if (ids.count(id)) return true;
    return mark.ours(context) && (everything || tokens.count(mark.token));
  }
  // Few of which the ids are known are asked for one by one.
  bool only_few_ids() const { return tokens.empty() && !everything && ids.size() <= 2; }
};

class Kind {
 public:
  virtual ~Kind() = default;
  virtual const char* type() const = 0;
  // A service that a cloud may lack makes it.
  virtual bool may_be_missing() const { return false; }

  virtual Asked create(Asking& call, const Order& order) const = 0;
  virtual Asked update(Asking& call, const Order& order) const;  // Refused: it is never changed
  virtual Asked destroy(Asking& call, const Order& order) const = 0;
  virtual Asked power(Asking& call, const Order& order, Power power) const;  // Refused: it is not a machine
  virtual Asked image(Asking& call, const Order& order, const std::string& name) const;  // likewise
  virtual Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const = 0;
  virtual Impact impact(const Json& before, const Json& after) const;  // Replace
  // Writes our marks on what somebody else made; of an order without a token: takes them off. Nothing where
  // they are in the name, which stays.
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

// The id of what a spec's field names by its address; Invalid: it is not there.
Result<std::string> id_of_reference(const Order& order, const std::string& address);
// What the cloud is to call it: the spec's own name, or one with infrastructure and address.
std::string name_for(const Context& context, const Order& order);

// Kind::marks() of what Neutron has: its description. Seen::marks of an item of Neutron's.
Json marks_in_network(const Context& context, const Order& order);
// Kind::marks() of what has metadata. With what a login needs, as far as that is recorded.
Json marks_in_metadata(const Context& context, const Order& order);

// Kind::mark() of what Neutron has: a description. `key` is the word of its body: "network".
Status mark_in_network(Asking& call, const Order& order, const std::string& path, const std::string& key);

// The same of what has metadata. `path`: "/servers". `marks`: as Kind::marks() has them.
Status mark_in_metadata(Asking& call, Service& service, const std::string& path, const Order& order,
                        Json marks);

// Reads a list of Neutron's with what is marked in the description, and keeps what is wished. `fill` sets the
// rest of what is seen.
Status look_in_network(Asking& call, const Wish& wish, const char* type, const std::string& path,
                       const std::string& key, const std::function<void(const Json& item, Seen& seen)>& fill,
                       std::vector<Seen>& seen);

}  // namespace radl::openstack
