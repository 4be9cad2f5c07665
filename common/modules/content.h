// The files of a package, and one digest over all of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::vendored {

// What a package may hold at most; more is Quota.
inline constexpr size_t kMostFiles = 20'000;
inline constexpr uint64_t kMostBytes = uint64_t{100} << 20;

struct File {
  enum class Kind { Plain, Program, Link };  // Program: may be executed
  Kind kind = Kind::Plain;
  std::string bytes;  // of a link: its target
};
using Content = std::map<std::string, File>;  // by path, with '/' between; folders without files do not count

// Parts of paths that say something to git about the repository that they came from (.git, .gitignore,
// .gitattributes, .github): they are left out of a package, or they would do so in the user's repository.
bool is_for_git(std::string_view path);

// Adds one file. Invalid: a path that is absolute or has a part '..', a link that may lead out of the
// package, a path twice. Quota: more than a package may hold.
Status add_file(Content& content, std::string path, File file);
// Bytes of all files so far.
uint64_t bytes_of(const Content& content);

// Lower-case hex of SHA-256 over one line a file, in the order of paths: KIND SP SHA-256 SP LENGTH-OF-PATH SP
// PATH LF. Owners, times and other permissions do not count.
std::string content_digest(const Content& content);

// What a folder holds. NotFound: it is not there. Invalid and Quota as add_file(), and for what is neither
// file, folder nor link.
Result<Content> read_content(const std::string& folder);
// Into a folder that does not exist yet, synced.
Status write_content(const std::string& folder, const Content& content);

}  // namespace radl::vendored
