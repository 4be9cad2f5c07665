// What every infrastructure of the service is given.
#pragma once

#include <string>

#include "runtime/driver/host.h"

namespace radl::serve {

struct Settings {
  const driver::Host* host = nullptr;  // outlives the service
  std::string cloud, auth;             // where a client sends no accounts: as --cloud and --auth
};

}  // namespace radl::serve
