// Service calls by this cloud, and the outcome of requests (runtime/clouds/cloud.h, Asked).
#pragma once

#include <functional>
#include <string>

#include "common/openstack/client.h"
#include "common/openstack/values.h"
#include "runtime/clouds/cloud.h"
#include "runtime/clouds/waiting.h"

namespace radl::openstack {

// The outcome of a request that changes something.
struct Posted {
  Asked asked;  // Accepted without an ID
  Json answer;
  int http_status = 0;  // if not accepted; 0: no response
  std::string message;  // the service's message if not accepted
  bool accepted() const { return asked.answer == Asked::Answer::Accepted; }
};

struct Services {
  explicit Services(Session& session);
  Session& session;
  Service compute, network, image, volume;
};

// `again_is_harmless`: repeating the request has no further effect.
Posted post(Service& service, const Context& context, const std::string& path, Json body,
            bool again_is_harmless, const std::string& method = "POST");
Posted remove(Service& service, const Context& context, const std::string& path);
Result<Json> read(Service& service, const Context& context, const std::string& path,
                  const Parameters& query = {});

// Interprets the response to a removal; a missing resource counts as removed.
Asked gone_or(Posted posted);
// Adds the ID if accepted.
Asked with_id(Posted posted, const std::string& id);

}  // namespace radl::openstack
