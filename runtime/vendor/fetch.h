// Fetches a package's files from their source. Internal to runtime/vendor.
#pragma once

#include <string>
#include <vector>

#include "common/environment.h"
#include "common/http/http.h"
#include "common/modules/address.h"
#include "common/modules/content.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::vendored {

struct Fetched {
  Content content;
  std::string commit;              // "" for an archive
  std::vector<std::string> notes;  // omitted files, one line each
};

// Size limit of a packed repository or archive in bytes; Quota above it.
inline constexpr uint64_t kMostPacked = uint64_t{512} << 20;

struct Source {
  Address address;
  std::string project;    // base of local paths
  std::string temporary;  // an empty folder for temporary files
  Stop stop;
  Environment environment;
};

// Uses the `git` program without hooks, filters, submodules or a work tree: reads objects individually. With
// `commit`, fetches exactly that one even if REF has moved. NotFound: no such tag, branch or commit. Auth,
// Retry: with git's message, without credentials. Unsupported: git is not installed.
Result<Fetched> fetch_git(const Source& source, const std::string& commit);
// Corrupt: not an archive, or damaged.
Result<Fetched> fetch_archive(const Source& source, http::Client& http);

// A repository's commit as files (git_tree.cc).
struct Git {
  std::string repository;  // a bare one
  bool local = false;      // the source is on this computer
  Stop stop;
  Environment environment;  // of the user

  // The output of a git command; its message as an error if it failed.
  Result<std::string> run(std::vector<std::string> arguments, const std::string& input = {},
                          size_t largest = size_t{64} << 20) const;
};
Result<Fetched> read_commit(const Git& git, const std::string& commit);

}  // namespace radl::vendored
