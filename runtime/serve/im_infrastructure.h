// Requests about one infrastructure.
#pragma once

#include "runtime/serve/access.h"
#include "runtime/serve/im_call.h"
#include "runtime/serve/registry.h"

namespace radl::serve {

// What the requests need besides the infrastructure; must outlive them.
struct ImParts {
  Access& access;
  Registry& registry;
};

// The caller must have been authorized for the infrastructure and the required scope.
httpd::Answer with_infrastructure(ImCall& call, const ImParts& parts,
                                  const std::shared_ptr<Infrastructure>& inf);

// Waits for the result of a request. Timeout: longer than a request may take.
Status wait_for(const std::shared_future<Status>& future);

}  // namespace radl::serve
