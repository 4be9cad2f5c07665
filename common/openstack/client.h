// Client for OpenStack services: JSON over HTTP with renewed tokens, negotiated
// microversions, and failures that say whether the call may have taken effect. Source:
// OpenStack API documentation; API Special Interest Group's guidelines on microversions,
// pagination, errors.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/http/answer.h"
#include "common/http/waits.h"
#include "common/openstack/session.h"

namespace radl::openstack {

using Parameters = std::vector<std::pair<std::string, std::string>>;  // query parameters

using http::Effect;

struct Call {
  std::string method = "GET";
  std::string path;  // relative to the endpoint: "/servers/detail"
  Parameters query;
  nlohmann::json body;  // null: none
  Effect effect = Effect::Reads;
};

// A failure's code is Auth (not permitted), NotFound, Conflict, Quota, Invalid, Retry, Lost (Unknown, for a
// call that is Once), Timeout or Cancelled.
using http::Answer;
using http::Failure;

// Whether the message reports missing capacity (no host, no address).
bool tells_of_no_room(const std::string& message);

// One service of the cloud. Thread-safe.
class Service {
 public:
  // `type`: "compute"; `newest`: the newest microversion that radlc supports, "" if the service has none.
  Service(Session& session, std::string type, std::string newest = {});

  Answer call(const Call& call, const http::Waits& waits);
  // Calls `take` for every element of `key` ("servers"), on all pages. Follows `KEY_links` or `next` in the
  // response; otherwise, if a page is as long as requested, continues with the last ID as marker.
  Status each(const std::string& path, const std::string& key, Parameters query, const http::Waits& waits,
              const std::function<void(const nlohmann::json& item)>& take);
  // True if the service supports this microversion. Queries the service once.
  Result<bool> knows(const std::string& microversion, const Stop& stop);

  // NotFound: the catalogue lacks the service.
  Status present(const Stop& stop);
  const std::string& type() const { return type_; }

 private:
  struct Version {
    std::string root;       // base URL of all paths
    std::string requested;  // microversion; "" for none
  };
  Result<Version> version(const Stop& stop);
  http::Request request_of(const Call& call, const Version& version) const;  // without its token
  std::string shown(const Call& call) const;

  Session& session_;
  const std::string type_, newest_;
  std::mutex mutex_;
  std::optional<Version> version_;
};

// Returns -1, 0 or 1: "2.9" < "2.53". Non-numeric parts count as 0.
int compare_versions(const std::string& a, const std::string& b);
// Returns the message of any service's error document: {"itemNotFound": {"message": ..}}, {"NeutronError":
// ..}, {"error": ..}, {"badRequest": ..}. One line; "" if missing.
std::string error_message(std::string_view body);

}  // namespace radl::openstack
