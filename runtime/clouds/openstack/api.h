// The services as this cloud calls them, and requests by what came of them (runtime/clouds/cloud.h, Asked).
#pragma once

#include <functional>
#include <string>

#include "common/openstack/client.h"
#include "common/openstack/values.h"
#include "runtime/clouds/cloud.h"
#include "runtime/clouds/waiting.h"

namespace radl::openstack {

// What came of a request that changes something.
struct Posted {
  Asked asked;  // Accepted without an id
  Json answer;
  int http_status = 0;  // of what was not accepted; 0: no answer
  std::string message;  // the service's, of what was not accepted
  bool accepted() const { return asked.answer == Asked::Answer::Accepted; }
};

struct Services {
  explicit Services(Session& session);
  Session& session;
  Service compute, network, image, volume;
};

// `again_is_harmless`: the same request a second time changes nothing more.
Posted post(Service& service, const Context& context, const std::string& path, Json body,
            bool again_is_harmless, const std::string& method = "POST");
Posted remove(Service& service, const Context& context, const std::string& path);
Result<Json> read(Service& service, const Context& context, const std::string& path,
                  const Parameters& query = {});

// The answer to a request to remove what is there no more.
Asked gone_or(Posted posted);
// With the id where it was accepted.
Asked with_id(Posted posted, const std::string& id);

}  // namespace radl::openstack
