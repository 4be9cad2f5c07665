// GET /stats: what the infrastructures of the caller were.
#pragma once

#include "runtime/serve/im_call.h"
#include "runtime/serve/registry.h"

namespace radl::serve {

httpd::Answer stats(ImCall& call, const Registry& registry);

}  // namespace radl::serve
