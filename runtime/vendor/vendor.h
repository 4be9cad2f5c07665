// `radlc vendor`: brings the packages of modules that a program names by addresses, and keeps radl.lock.json.
//
// In: the addresses that are used, asked for again after each package, since modules use modules. Out: whole
// folders in modules/vendored/, and the lock file. Killed at any moment it leaves the old or the new lock
// file, with folders that fit it.
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
  std::string project;  // folder of the program; "": this one
  // All addresses that can be seen with what is vendored so far.
  std::function<Result<std::vector<Address>>()> used;
  bool update = false;             // takes tags and branches as they are now
  std::vector<std::string> names;  // only these packages: address, or short name; empty: all
  std::function<void(const std::string& line)> say;
  Stop stop;
};

struct Summary {
  size_t packages = 0, brought = 0, removed = 0;
};

// Errors name the package. Conflict: what is locked is not there any more, or is not what it was. Invalid:
// none of the packages has one of the names.
Result<Summary> vendor(const Request& request, http::Client& http);

// What `vendor` would bring, a line each; writes nothing and asks nobody.
Result<std::vector<std::string>> find_missing(const std::string& project, const std::vector<Address>& used);

}  // namespace radl::vendored
