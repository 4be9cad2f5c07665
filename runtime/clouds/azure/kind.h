// A type of resource of Azure: what it is asked for with, how it is seen, and what a change of it takes. One
// file each; azure_cloud.cc puts them together.
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
  virtual const char* collection() const = 0;  // in ids: "networkInterfaces"
  virtual const char* version() const { return kNetwork; }

  virtual Asked create(Asking& call, const Order& order) const;
  virtual Asked update(Asking& call, const Order& order) const;  // Refused: it is never changed
  virtual Asked destroy(Asking& call, const Order& order) const;
  virtual Asked power(Asking& call, const Order& order, Power power) const;  // Refused: it is not a machine
  virtual Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const;
  virtual Impact impact(const Json& before, const Json& after) const;  // Replace

  virtual std::string id_of(Asking& call, const Order& order) const;
  virtual bool has_id(const std::string& id) const;
  // Where all of this type are that an infrastructure has.
  std::string folder(Asking& call) const;

 protected:
  // What is asked for, but for location and tags.
  virtual Result<Json> body(Asking& call, const Order& order) const = 0;
  // Sets spec, attributes and detail of what is seen, of which the phase is set already.
  virtual Status fill(Asking& call, const Json& item, Seen& seen) const = 0;
  // What may lack room: "Standard_D2s_v5 in westeurope"; "": nothing that another offer would help.
  virtual std::string room(Asking&, const Order&) const { return ""; }
  virtual Parameters list_query() const { return {}; }
  // Headers of the request that makes it.
  virtual Parameters create_headers() const { return {}; }

  // Sends a change of what there is. Accepted is `again`: more may be to do when it is done.
  Asked change(Asking& call, const Order& order, const std::string& method, const std::string& action,
               Json body, Parameters headers = {}) const;
  // Of a change that was asked for before: it is being done, or has failed; nullopt: neither.
  std::optional<Asked> earlier_change(Asking& call, const Order& order) const;
  // What came of a request to make what may be there already.
  Asked made_before(Asking& call, const std::string& id, const Order& order, Asked refused) const;
  // Asks for the whole of it once more, as a spec has it now.
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

// What a "provisioningState" means.
ResourcePhase phase_of(const std::string& provisioning_state);
// The id of what a spec's field names by its address; Invalid: it is not there.
Result<std::string> id_of_reference(const Order& order, const std::string& address);
// {"id": its whole id}, as bodies name what else there is.
Result<Json> link_to(Asking& call, const Order& order, const std::string& address);

}  // namespace radl::azure
