// Lists the external packages that a program uses: what `radlc vendor` fetches.
#pragma once

#include <string>
#include <vector>

#include "compiler/eval/library.h"

namespace radl {

struct UsedAddress {
  vendored::Address address;
  std::string where;     // "file:line:column" of the first `use`
  bool missing = false;  // the package exists but lacks the module
};

struct UsedAddresses {
  std::vector<UsedAddress> all;  // in order of first use
  std::vector<Status> wrong;     // invalid addresses, with their position
};

// Scans the files and every module they use, also through packages already present and in blocks that `each`
// or `when` would leave out. Skips modules that are not found; the compiler reports those.
UsedAddresses used_addresses(const std::vector<std::string>& files, const SearchPath& search);

}  // namespace radl
