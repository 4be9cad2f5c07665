// Modules from elsewhere: from an address in `use` to the file that `radlc vendor` brought. Fetches nothing.
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

// The folder of the program that a folder's files belong to: beside `modules/` where that is one of its
// parents and there is a lock file beside it, else the folder itself.
std::string project_of(const std::string& folder);

class VendoredModules {
 public:
  // PROJECT as SearchPath::project. Without `verify` what the packages hold is not compared with the lock
  // file.
  VendoredModules(const std::string& project, bool verify);

  // What an address means in a file. Auth: it holds credentials, and is not to be shown. Invalid otherwise.
  Result<vendored::Address> address(std::string_view text, const std::string& importing_file) const;
  // The module's file. Conflict: not vendored, or not what is locked (said in one line with what to run);
  // Corrupt: the lock file cannot be read. NotFound: the package has no such module.
  Result<std::string> find(const vendored::Address& address);
  // The folder of the package that a file is part of; nullopt for the user's own files.
  std::optional<std::string> package_folder(const std::string& file) const;
  // All modules of all packages, as `use` names them.
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
