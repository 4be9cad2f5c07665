// `radlc vendor`: fetches the module packages that a program uses by address, and maintains radl.lock.json.
//
// In: the used addresses, queried again after each package, because modules use modules. Out: complete
// folders in modules/vendored/, and the lock file. If killed at any time, leaves the old or the new lock file
// with matching folders.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/http/http.h"
#include "common/modules/address.h"
#include "common/modules/lock_file.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::vendored {

struct Request {
  std::string project;  // folder of the program; "": the current one
  // All addresses visible with the packages vendored so far.
  std::function<Result<std::vector<Address>>()> used;
  bool update = false;             // use the current tags and branches
  std::vector<std::string> names;  // only these packages, by address or short name; empty: all
  std::function<void(const std::string& line)> say;
  Stop stop;
};

struct Summary {
  size_t packages = 0, brought = 0, removed = 0;
};

// Errors name the package. Conflict: a locked version no longer exists or has changed. Invalid: a name
// matches no package.
Result<Summary> vendor(const Request& request, http::Client& http);

// What `vendor` would fetch, one line each; writes nothing and contacts no server.
Result<std::vector<std::string>> find_missing(const std::string& project, const std::vector<Address>& used);

}  // namespace radl::vendored
