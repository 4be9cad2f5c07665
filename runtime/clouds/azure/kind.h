// A resource type of Azure: how to create, inspect and change it. One file per type; azure_cloud.cc combines
// them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/clouds/azure/api.h"
#include "runtime/clouds/impact.h"

namespace radl::azure {

class Kind {
 public:
  virtual ~Kind() = default;
  virtual const char* type() const = 0;
  virtual const char* provider() const { return "Microsoft.Network"; }
  virtual const char* collection() const = 0;  // part of IDs: "networkInterfaces"
  virtual const char* version() const { return kNetwork; }

  virtual Asked create(Asking& call, const Order& order) const;
  virtual Asked update(Asking& call, const Order& order) const;  // Refused: never changed
  virtual Asked destroy(Asking& call, const Order& order) const;
  virtual Asked power(Asking& call, const Order& order, Power power) const;  // Refused: not a machine
  virtual Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const;
  virtual Impact impact(const Json& before, const Json& after) const;  // Replace

  virtual std::string id_of(Asking& call, const Order& order) const;
  virtual bool has_id(const std::string& id) const;
  // The path of all resources of this type in an infrastructure.
  std::string folder(Asking& call) const;

 protected:
  // The request body, without location and tags.
  virtual Result<Json> body(Asking& call, const Order& order) const = 0;
  // Sets spec, attributes and detail of an observed resource; its phase is already set.
  virtual Status fill(Asking& call, const Json& item, Seen& seen) const = 0;
  // What may lack capacity: "Standard_D2s_v5 in westeurope"; "" if another offer would not help.
  virtual std::string room(Asking&, const Order&) const { return ""; }
  virtual Parameters list_query() const { return {}; }
  // Headers of the creation request.
  virtual Parameters create_headers() const { return {}; }

  // Sends a change to an existing resource. Accepted has `again`, since more changes may follow.
  Asked change(Asking& call, const Order& order, const std::string& method, const std::string& action,
               Json body, Parameters headers = {}) const;
  // State of an earlier change: in progress or failed; nullopt: neither.
  std::optional<Asked> earlier_change(Asking& call, const Order& order) const;
  // The outcome of creating something that may already exist.
  Asked made_before(Asking& call, const std::string& id, const Order& order, Asked refused) const;
  // Repeats the complete PUT with the current spec.
  Asked put_again(Asking& call, const Order& order) const;
};

std::unique_ptr<Kind> make_resource_group();
std::unique_ptr<Kind> make_network();
std::unique_ptr<Kind> make_nat_gateway();
std::unique_ptr<Kind> make_group();
std::unique_ptr<Kind> make_security_group();
std::unique_ptr<Kind> make_address();
std::unique_ptr<Kind> make_interface();
std::unique_ptr<Kind> make_disk();
std::unique_ptr<Kind> make_placement();
std::unique_ptr<Kind> make_image();
std::unique_ptr<Kind> make_machine();

// Maps a "provisioningState".
ResourcePhase phase_of(const std::string& provisioning_state);
// The ID of the resource that a spec field names by address. Invalid: it does not exist.
Result<std::string> id_of_reference(const Order& order, const std::string& address);
// {"id": full ID}, the form for references in bodies.
Result<Json> link_to(Asking& call, const Order& order, const std::string& address);

}  // namespace radl::azure
