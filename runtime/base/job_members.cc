#include "runtime/base/job_members.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace radl {
namespace {

using Json = nlohmann::json;

Json members_of(const Json& training, const char* role) {
  return training.value("cluster", Json::object()).value(role, Json::array());
}

bool mode_without_servers(const Json& training) {
  const Json sync = training.value("job", Json::object()).value("sync", Json::object());
  const std::string mode = sync.value("mode", "");
  return mode == "allreduce" || mode == "auto";
}

bool has(const Json& members, const std::string& node) {
  return std::find(members.begin(), members.end(), Json(node)) != members.end();
}

}  // namespace

bool has_workers_only(const Json& training, const std::string& node) {
  const Json chief = members_of(training, "chief"), servers = members_of(training, "ps"),
             workers = members_of(training, "worker");
  if (mode_without_servers(training) && has_succession(training)) return has(workers, node);
  const bool has_server = !chief.empty() || !servers.empty();
  return has(workers, node) && !has(chief, node) && !has(servers, node) &&
         (has_server || workers.front() != node);
}

bool has_succession(const Json& training) {
  return members_of(training, mode_without_servers(training) ? "worker" : "ps").size() > 1;
}

bool continues_without(const Json& training, const std::vector<std::string>& nodes) {
  const Json workers = members_of(training, "worker");
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](const std::string& node) { return has_workers_only(training, node); }) &&
         std::any_of(workers.begin(), workers.end(), [&](const Json& worker) {
           return std::find(nodes.begin(), nodes.end(), worker) == nodes.end();
         });
}

Json common_to_workers(Json training) {
  for (const char* key : {"result", "identity"}) training.erase(key);
  if (auto cluster = training.find("cluster"); cluster != training.end()) {
    cluster->erase("worker");
    if (mode_without_servers(training)) cluster->erase("chief");  // the first of these workers
  }
  if (auto data = training.find("data"); data != training.end()) {
    data->erase("shown");
    if (data->contains("path_sha256")) data->erase("path");
  }
  return training;
}

}  // namespace radl
