// The requests about one infrastructure.
#pragma once

#include "runtime/serve/access.h"
#include "runtime/serve/im_call.h"
#include "runtime/serve/registry.h"

namespace radl::serve {

// What the requests use beside the infrastructure; outlives them.
struct ImParts {
  Access& access;
  Registry& registry;
};

// The caller may touch it, and has the scope that the request needs.
httpd::Answer with_infrastructure(ImCall& call, const ImParts& parts,
                                  const std::shared_ptr<Infrastructure>& inf);

// Waits for what a request asked for. Timeout: it takes longer than a request may.
Status wait_for(const std::shared_future<Status>& future);

}  // namespace radl::serve
