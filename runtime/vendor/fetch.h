// A package's files from where they are. Internal to runtime/vendor.
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
  std::vector<std::string> notes;  // what was left out, a line each
};

// Most bytes that a repository's or archive's packed form may have; more is Quota.
inline constexpr uint64_t kMostPacked = uint64_t{512} << 20;

struct Source {
  Address address;
  std::string project;    // what local paths are relative to
  std::string temporary;  // an empty folder for what is needed on the way
  Stop stop;
  Environment environment;
};

// By the `git` program, without hooks, filters, submodules, or a work tree: objects are read one by one. With
// `commit` exactly that one, also where REF has moved. NotFound: no such tag, branch or commit. Auth, Retry:
// with what git said, without credentials. Unsupported: there is no git here.
Result<Fetched> fetch_git(const Source& source, const std::string& commit);
// Corrupt: no archive, or damaged.
Result<Fetched> fetch_archive(const Source& source, http::Client& http);

// A repository's commit as files (git_tree.cc).
struct Git {
  std::string repository;  // a bare one
  bool local = false;      // it is brought from this computer
  Stop stop;
  Environment environment;  // of the user

  // What a command of git gave; its words as an error where it failed.
  Result<std::string> run(std::vector<std::string> arguments, const std::string& input = {},
                          size_t largest = size_t{64} << 20) const;
};
Result<Fetched> read_commit(const Git& git, const std::string& commit);

}  // namespace radl::vendored
