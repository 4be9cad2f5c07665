// External modules: maps an address in `use` to the file that `radlc vendor` fetched. Fetches nothing itself.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/modules/address.h"
#include "common/modules/lock_file.h"
#include "common/status.h"

namespace radl {

// The program folder for a file in `folder`: the parent of `modules/`, if that is one of its parents and has
// a lock file beside it; else the folder itself.
std::string project_of(const std::string& folder);

class VendoredModules {
 public:
  // PROJECT as in SearchPath::project. Without `verify`, packages are not compared with the lock
  // file.
  VendoredModules(const std::string& project, bool verify);

  // Parses an address used in a file. Auth: it contains credentials and must not be shown. Else Invalid.
  Result<vendored::Address> address(std::string_view text, const std::string& importing_file) const;
  // The module's file. Conflict: not vendored, or different from the locked version; the one-line message
  // says what to run. Corrupt: the lock file is unreadable. NotFound: the package lacks the module.
  Result<std::string> find(const vendored::Address& address);
  // The folder of the package that contains the file; nullopt for the user's own files.
  std::optional<std::string> package_folder(const std::string& file) const;
  // All modules of all packages, by the names for `use`.
  std::vector<std::string> list() const;

 private:
  std::string folder_of(const vendored::Package& package) const;
  Status verified(const vendored::Package& package);

  std::string project_;
  bool verify_;
  Result<vendored::LockFile> lock_;
  std::map<std::string, Status> verified_;  // by address
};

}  // namespace radl
