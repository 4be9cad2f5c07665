// radl.lock.json, beside the program: the packages that `radlc vendor` fetched, with their digests.
//
//   {"version": 1, "packages": [{"address": "git::https://host/repo.git@v1.2", "commit": "8c1f..",
//     "sha256": "..", "folder": "modules/vendored/repo-3fa9c21b7d04", "fetched": "2026-01-31T09:00:00Z"}]}
//
// `commit` is absent for archives. The folder's name ends in the first digits of the content's digest, so new
// content never replaces content that another process is reading.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl::vendored {

inline constexpr std::string_view kLockFile = "radl.lock.json";
inline constexpr std::string_view kFolder = "modules/vendored";

struct Package {
  std::string address;  // Address::package
  std::string commit;   // git only: 40 or 64 hex digits
  std::string sha256;   // content_digest()
  std::string fetched;  // UTC, RFC 3339

  // Relative to the project's folder.
  std::string folder() const;
};

struct LockFile {
  std::vector<Package> packages;  // sorted by address

  const Package* find(std::string_view address) const;
  void put(Package package);
};

// True for PROJECT/modules/vendored if PROJECT has a lock file. `check` and `fmt` skip its content, which is
// not the user's own.
bool is_vendored_folder(const std::string& path);

// PROJECT/radl.lock.json.
std::string lock_path(const std::string& project);
// Empty if missing. Corrupt: it is unreadable, or has content that `radlc vendor` never writes.
Result<LockFile> read_lock_file(const std::string& project);
std::string lock_text(const LockFile& lock);

}  // namespace radl::vendored
