// Routes of the own API, for internal use.
#pragma once

#include "common/text.h"
#include "runtime/serve/own_api.h"

namespace radl::serve {

struct OwnApi::Route {
  std::string_view method, path;  // below /api/v1; "{path}" matches the rest
  Scope scope;
  httpd::Answer (OwnApi::*handler)(OwnCall&);  // null: an upload, whose body is not kept in memory
};

}  // namespace radl::serve
