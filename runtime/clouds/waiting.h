// How long a call of a cloud's service may wait, and that the run's log tells of waits which the service asks
// for.
#pragma once

#include "common/http/waits.h"
#include "runtime/base/context.h"

namespace radl {

inline http::Waits waits(const Context& context) { return {context.stop, context.log}; }

}  // namespace radl
