// Calls to the Resource Manager by this cloud, and the outcome of requests (runtime/clouds/cloud.h, Asked).
// IDs are paths after the subscription, with user-chosen letters in lower case:
// "resourceGroups/g/providers/Microsoft.Network/networkInterfaces/n".
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/azure/client.h"
#include "common/json_values.h"
#include "runtime/clouds/azure/memory.h"
#include "runtime/clouds/caller.h"
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

// The arguments of every call.
struct Asking {
  const Context& context;
  Manager& manager;
  Memory& memory;
  const CloudId& cloud;
  const std::string subscription;
  // This computer's public address, as a CIDR.
  const CallerSource& caller;
  std::map<std::string, std::vector<Json>> listed;  // by path: lists fetched once per look
  // By machine: "/subscriptions/S/.../virtualNetworks/V" of its primary interface, for machines seen by this
  // call.
  std::map<std::string, std::string> networks = {};

  std::string root() const { return "subscriptions/" + subscription + "/"; }
  // "/subscriptions/S/resourceGroups/..": the form for references in bodies.
  std::string full(const std::string& id) const { return "/" + root() + id; }
};

// The outcome of a request that changes something.
struct Posted {
  Asked asked;  // Accepted without an ID
  Accepted accepted_as;
  bool accepted() const { return asked.answer == Asked::Answer::Accepted; }
};

Posted send(Asking& call, const std::string& method, const std::string& id, const char* version, Json body,
            Parameters headers = {});
Result<Json> read(Asking& call, const std::string& id, const char* version, const Parameters& query = {});
// A list, fetched once per Asking. Empty if the resource group does not exist.
Result<const std::vector<Json>*> list(Asking& call, const std::string& path, const char* version,
                                      const Parameters& query = {});

// The resource group of an infrastructure in a region: "resourceGroups/radlc-0123456789".
std::string group_id(const Context& context, const CloudId& cloud);
// Converts the service's ID of any case and subscription to the form above; "" if it is not an ID.
std::string id_in(const std::string& arm_id);
// The part after the last '/'.
std::string last_part(const std::string& id);

// Polls the operations selected by `wanted`.
Status poll_operations(Asking& call, const Operations::Wanted& wanted);

inline constexpr const char* kInfrastructureTag = "radlc-infrastructure";
inline constexpr const char* kAddressTag = "radlc-address";
inline constexpr const char* kTokenTag = "radlc-token";
inline constexpr const char* kReleasedTag = "radlc-released";  // marks a released resource
// Tags: Cloud::marks_of(); the same plus the user's own; only the user's own.
Json marks_of(const Context& context, const Order& order);
Json tags_for(const Context& context, const Order& order);
Json own_tags(const Json& tags);
Mark mark_in(const Json& item);

}  // namespace radl::azure
