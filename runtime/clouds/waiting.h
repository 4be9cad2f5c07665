// Limits the waits of a call to a cloud service, and reports waits that the service requests in the run's
// log.
#pragma once

#include "common/http/waits.h"
#include "runtime/base/context.h"

namespace radl {

inline http::Waits waits(const Context& context) { return {context.stop, context.log}; }

}  // namespace radl
