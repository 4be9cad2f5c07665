// A resource type of Compute Engine: how to create, inspect and change it. One file per type;
// gce_cloud.cc combines them. IDs are paths after the project:
// "zones/europe-west1-b/instances/NAME".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/clouds/gce/api.h"
#include "runtime/clouds/gce/marks.h"
#include "runtime/clouds/impact.h"

namespace radl::gce {

enum class Scope { Global, Region, Zone };

class Kind {
 public:
  virtual ~Kind() = default;
  virtual const char* type() const = 0;
  virtual const char* collection() const = 0;  // in paths: "firewalls"
  virtual Scope scope() const = 0;
  virtual bool has_labels() const { return false; }

  virtual Asked create(Asking& call, const Order& order) const;
  virtual Asked update(Asking& call, const Order& order) const;              // Refused: never changed
  virtual Asked power(Asking& call, const Order& order, Power power) const;  // Refused: not a machine
  Asked destroy(Asking& call, const Order& order) const;
  Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const;
  virtual Impact impact(const Json& before, const Json& after) const;  // Replace

  // Cloud::marks_of(): what update() rewrites.
  virtual Json marks(const Context&, const Order&) const { return Json::object(); }

  // "zones/z/instances" for an order or a cloud; the ID of the resource that an order creates.
  std::string place(Asking& call, const Order& order) const;
  std::string id_of(Asking& call, const Order& order) const;
  bool has_id(const std::string& id) const;

 protected:
  // The request body, without name and description.
  virtual Result<Json> body(Asking& call, const Order& order) const = 0;
  // Sets phase, spec, attributes and detail of an observed resource; false if it is practically gone.
  virtual bool fill(Asking& call, const Json& item, Seen& seen) const = 0;
  // What may lack capacity: "n2-standard-2 in europe-west1-b"; "" if another offer would not help.
  virtual std::string room(const Order&) const { return ""; }

  // Operations::earlier_change(), refreshed.
  std::optional<Asked> earlier_change(Asking& call, const Order& order) const;
  // Sends a change to an existing resource. Accepted has `again`, since more changes may follow.
  Asked change(Asking& call, const Order& order, const std::string& action, Json body,
               const std::string& method = "POST", Parameters query = {}) const;
  // Same for a related resource with this `path`.
  Asked change_other(Asking& call, const Order& order, const std::string& path, Json body,
                     const std::string& method, Parameters query = {}) const;
};

std::unique_ptr<Kind> make_network();
std::unique_ptr<Kind> make_subnet();
std::unique_ptr<Kind> make_router();
std::unique_ptr<Kind> make_firewall();
std::unique_ptr<Kind> make_address();
std::unique_ptr<Kind> make_disk();
std::unique_ptr<Kind> make_placement();
std::unique_ptr<Kind> make_instance();

// The ID of the resource that a spec field names by address. Invalid: it does not exist.
Result<std::string> id_of_reference(const Order& order, const std::string& address);
// The path of the network in a spec field: {"made": address}, {"provider": name}, or {} for the project's
// default.
Result<std::string> network_path(Asking& call, const Order& order, const Json& wanted);

}  // namespace radl::gce
