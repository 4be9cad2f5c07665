// Which packages from elsewhere a program uses: what `radlc vendor` brings.
#pragma once

#include <string>
#include <vector>

#include "compiler/eval/library.h"

namespace radl {

struct UsedAddress {
  vendored::Address address;
  std::string where;     // "file:line:column" of the first `use`
  bool missing = false;  // its package is there, and has no such module
};

struct UsedAddresses {
  std::vector<UsedAddress> all;  // in the order in which they are met
  std::vector<Status> wrong;     // addresses that mean nothing, with their place
};

// Of the files and of every module that they use, also through packages that are there already; whatever
// `each` or `when` would leave out. A module that is not found is not followed: compiling reports it.
UsedAddresses used_addresses(const std::vector<std::string>& files, const SearchPath& search);

}  // namespace radl
