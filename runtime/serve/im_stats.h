// GET /stats: statistics of the caller's infrastructures, past and present.
#pragma once

#include "runtime/serve/im_call.h"
#include "runtime/serve/registry.h"

namespace radl::serve {

httpd::Answer stats(ImCall& call, const Registry& registry);

}  // namespace radl::serve
