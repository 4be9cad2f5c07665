// A type of resource of Compute Engine: what it is asked for with, how it is seen, and what a change of it
// takes. One file each; gce_cloud.cc puts them together. Ids are paths behind the project:
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
  virtual Asked update(Asking& call, const Order& order) const;              // Refused: it is never changed
  virtual Asked power(Asking& call, const Order& order, Power power) const;  // Refused: it is not a machine
  Asked destroy(Asking& call, const Order& order) const;
  Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const;
  virtual Impact impact(const Json& before, const Json& after) const;  // Replace

  // Cloud::marks_of(): what update() writes again.
  virtual Json marks(const Context&, const Order&) const { return Json::object(); }

  // "zones/z/instances" for an order or a cloud; the id of what an order makes.
  std::string place(Asking& call, const Order& order) const;
  std::string id_of(Asking& call, const Order& order) const;
  bool has_id(const std::string& id) const;

 protected:
  // What is asked for, but for name and description.
  virtual Result<Json> body(Asking& call, const Order& order) const = 0;
  // Sets phase, spec, attributes and detail of what is seen; false: it is as good as gone.
  virtual bool fill(Asking& call, const Json& item, Seen& seen) const = 0;
  // What may lack room: "n2-standard-2 in europe-west1-b"; "": nothing that another offer would help.
  virtual std::string room(const Order&) const { return ""; }

  // Operations::earlier_change() as it stands now.
  std::optional<Asked> earlier_change(Asking& call, const Order& order) const;
  // Sends a change of what there is; Accepted is `again`: more may be to do when it is done.
  Asked change(Asking& call, const Order& order, const std::string& action, Json body,
               const std::string& method = "POST", Parameters query = {}) const;
  // Of something that belongs to it: `path` is the other's.
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

// The id of what a spec's field names by its address; Invalid: it is not there.
Result<std::string> id_of_reference(const Order& order, const std::string& address);
// The path of the network that a spec's field means: {"made": address}, {"provider": name} or {}: the
// project's default one.
Result<std::string> network_path(Asking& call, const Order& order, const Json& wanted);

}  // namespace radl::gce
