// Calls to Compute Engine by this cloud, and the outcome of requests (runtime/clouds/cloud.h, Asked).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/google/client.h"
#include "common/json_values.h"
#include "runtime/clouds/caller.h"
#include "runtime/clouds/cloud.h"
#include "runtime/clouds/gce/memory.h"
#include "runtime/clouds/waiting.h"

namespace radl::gce {

using google::Parameters;
using json::flag_of;
using json::list_of;
using json::member;
using json::number_of;
using json::text_of;

// The facts that decide which firewall rules apply to a machine.
struct Exposed {
  std::vector<std::string> networks;  // of each interface: "projects/p/global/networks/n"
  std::vector<std::string> tags, accounts;
};

// The arguments of every call.
struct Asking {
  const Context& context;
  google::Service& service;
  Memory& memory;
  const CloudId& cloud;
  const std::string project;
  // This computer's public address, as a CIDR.
  const CallerSource& caller;
  std::map<std::string, Exposed> machines = {};  // machines inspected by this call, by ID
  std::string root() const { return "projects/" + project + "/"; }
};

// The outcome of a request that changes something.
struct Posted {
  Asked asked;            // Accepted without an ID
  std::string operation;  // if accepted: "zones/z/operations/operation-1"
  bool accepted() const { return asked.answer == Asked::Answer::Accepted; }
};

// `path` follows the project: "zones/z/instances"; "" is the project itself. A repeated request has no
// further effect.
Posted post(Asking& call, const std::string& path, Json body, const std::string& method = "POST",
            Parameters query = {});
Posted remove(Asking& call, const std::string& path);
Result<Json> read(Asking& call, const std::string& path, const Parameters& query = {});

// "zones/z/instances/n" from a resource's URL; "" if it is not one.
std::string partial_of(const std::string& url);
// "projects/p/global/images/n" of a URL.
std::string project_path_of(const std::string& url);
// The part after the last '/'.
std::string last_part(const std::string& url);
// A number that the API writes as a string ("int64") or as a number.
double count_of(const Json& object, const std::string& name);

}  // namespace radl::gce
