// The files of a package, and a digest of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::vendored {

// Limits on the size of a package; Quota above them.
inline constexpr size_t kMostFiles = 20'000;
inline constexpr uint64_t kMostBytes = uint64_t{100} << 20;

struct File {
  enum class Kind { Plain, Program, Link };  // Program: executable
  Kind kind = Kind::Plain;
  std::string bytes;  // a link's target for a link
};
using Content = std::map<std::string, File>;  // by path, with '/' as separator; empty folders are dropped

// True for path parts with a meaning for git or its hosts (.git, .gitignore, .gitattributes, .github).
// Packages omit them, since they would take effect in the user's repository.
bool is_for_git(std::string_view path);

// Adds a file. Invalid: a path that is absolute, contains '..' or is already present, or a link that may
// point outside the package. Quota: the package is too large.
Status add_file(Content& content, std::string path, File file);
// Total bytes of all files.
uint64_t bytes_of(const Content& content);

// Lower-case hex of the SHA-256 over one line per file, sorted by path: KIND SP SHA-256 SP LENGTH-OF-PATH SP
// PATH LF. Ignores owners, times and other permissions.
std::string content_digest(const Content& content);

// Reads a folder. NotFound: it does not exist. Invalid and Quota as for add_file(); also Invalid for anything
// but files, folders and links.
Result<Content> read_content(const std::string& folder);
// Writes to a new folder, synced. The folder must not exist.
Status write_content(const std::string& folder, const Content& content);

}  // namespace radl::vendored
