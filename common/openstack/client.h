// Calls of OpenStack's services: JSON over HTTP, with a token that is renewed, the version that both sides
// know, and what came of a call that may have acted.
// Source: OpenStack API documentation; API Special Interest Group's guidelines on microversions, pagination,
// errors.
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

using Parameters = std::vector<std::pair<std::string, std::string>>;  // of a query

using http::Effect;

struct Call {
  std::string method = "GET";
  std::string path;  // after the endpoint: "/servers/detail"
  Parameters query;
  nlohmann::json body;  // null: none
  Effect effect = Effect::Reads;
};

// A failure's status: Auth for what is not allowed, NotFound, Conflict, Quota, Invalid, Retry, Lost (Unknown
// of a call that is Once), Timeout, Cancelled.
using http::Answer;
using http::Failure;

// Whether the message reports missing capacity (no host, no address).
bool tells_of_no_room(const std::string& message);

// One service of the cloud. Thread-safe.
class Service {
 public:
  // `type`: "compute"; `newest`: the newest microversion that we know, "" for a service without.
  Service(Session& session, std::string type, std::string newest = {});

  Answer call(const Call& call, const http::Waits& waits);
  // Every element of `key` ("servers"), page after page: by the `KEY_links` of an answer, a `next` in it, or
  // with the last one's id as marker where a page is as long as was asked for.
  Status each(const std::string& path, const std::string& key, Parameters query, const http::Waits& waits,
              const std::function<void(const nlohmann::json& item)>& take);
  // Whether the service knows this microversion; asked once.
  Result<bool> knows(const std::string& microversion, const Stop& stop);

  // NotFound: the catalogue has no such service.
  Status present(const Stop& stop);
  const std::string& type() const { return type_; }

 private:
  struct Version {
    std::string root;       // URL that paths are appended to
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

// -1, 0, 1: "2.9" < "2.53". A part that is not a number counts as 0.
int compare_versions(const std::string& a, const std::string& b);
// The message of an error document of any service: {"itemNotFound": {"message": ..}}, {"NeutronError": ..},
// {"error": ..}, {"badRequest": ..}; "" when there is none. One line.
std::string error_message(std::string_view body);

}  // namespace radl::openstack
