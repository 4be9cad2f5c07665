// The Resource Manager as this cloud calls it, and requests by what came of them (runtime/clouds/cloud.h,
// Asked). Ids are paths behind the subscription, in lower case where people choose the letters:
// "resourceGroups/g/providers/Microsoft.Network/networkInterfaces/n".
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/azure/client.h"
#include "common/json_values.h"
#include "runtime/clouds/azure/memory.h"
#include "runtime/clouds/cloud.h"
#include "runtime/clouds/marks.h"
#include "runtime/clouds/waiting.h"

namespace radl::azure {

using json::flag_of;
using json::list_of;
using json::member;
using json::number_of;
using json::text_of;

// Versions of the services' APIs.
inline constexpr const char* kCompute = "2024-11-01";
inline constexpr const char* kDisks = "2024-03-02";
inline constexpr const char* kSkus = "2021-07-01";
inline constexpr const char* kNetwork = "2024-05-01";
inline constexpr const char* kResources = "2022-09-01";
inline constexpr const char* kSubscriptions = "2022-12-01";

inline constexpr double kGiB = 1024.0 * 1024 * 1024;

// What every call is given.
struct Asking {
  const Context& context;
  Manager& manager;
  Memory& memory;
  const CloudId& cloud;
  const std::string subscription;
  // The address that this computer is seen under from outside, as a CIDR.
  const std::function<Result<std::string>(const Stop&)>& caller;
  std::map<std::string, std::vector<Json>> listed;  // by path: what one look asks for once
  // By machine: "/subscriptions/S/.../virtualNetworks/V" of its primary interface, of machines that this call
  // showed.
  std::map<std::string, std::string> networks = {};

  std::string root() const { return "subscriptions/" + subscription + "/"; }
  // "/subscriptions/S/resourceGroups/..": as bodies name what else there is.
  std::string full(const std::string& id) const { return "/" + root() + id; }
};

// What came of a request that changes something.
struct Posted {
  Asked asked;  // Accepted without an id
  Accepted accepted_as;
  bool accepted() const { return asked.answer == Asked::Answer::Accepted; }
};

Posted send(Asking& call, const std::string& method, const std::string& id, const char* version, Json body,
            Parameters headers = {});
Result<Json> read(Asking& call, const std::string& id, const char* version, const Parameters& query = {});
// A list, once for each Asking. Empty where the resource group is not there.
Result<const std::vector<Json>*> list(Asking& call, const std::string& path, const char* version,
                                      const Parameters& query = {});

// The resource group of an infrastructure in a region: "resourceGroups/radlc-0123456789".
std::string group_id(const Context& context, const CloudId& cloud);
// An id as above of what the service calls it, whatever its letters and subscription; "" where it is none.
std::string id_in(const std::string& arm_id);
// Behind the last '/'.
std::string last_part(const std::string& id);

// Asks how those operations stand that `wanted` takes.
Status poll_operations(Asking& call, const Operations::Wanted& wanted);

inline constexpr const char* kInfrastructureTag = "radlc-infrastructure";
inline constexpr const char* kAddressTag = "radlc-address";
inline constexpr const char* kTokenTag = "radlc-token";
inline constexpr const char* kReleasedTag = "radlc-released";  // radlc has let go of it
// Tags: Cloud::marks_of(), the same with the user's own, and those alone.
Json marks_of(const Context& context, const Order& order);
Json tags_for(const Context& context, const Order& order);
Json own_tags(const Json& tags);
Mark mark_in(const Json& item);

}  // namespace radl::azure
