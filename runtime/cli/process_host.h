// The Host implementation for this process.
#pragma once

#include "runtime/driver/host.h"

namespace radl::cli {

driver::Host process_host();

}  // namespace radl::cli
