// Addresses of modules from elsewhere, as `use` writes them:
//
//   git::https://HOST/REPOSITORY.git//MODULE@REF    also git::ssh://, git::file:///, git::/FOLDER,
//   git::./FOLDER https://HOST/ARCHIVE.tar.gz//MODULE             also file:///, /PATH, ./PATH; .tar, .tgz,
//   .tar.xz, .zip, ...
//
// What stands before `//MODULE`, with REF, is the package: a tree of files that is brought as one. MODULE is
// a path in it without `.radl`. REF is a tag, a branch or a whole commit; without it the repository's own
// branch is meant.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::vendored {

struct Address {
  bool git = false;      // else an archive
  bool local = false;    // a path of this computer, or file://
  std::string package;   // what the lock file calls it: "git::https://host/repo.git@v1"
  std::string location;  // what git or HTTP is given: a URL, or a path relative to the project's folder
  std::string ref;       // "": the repository's own branch
  std::string module;    // "web/server"
};

// True for what can only be an address; any other text is a module's path in a folder.
bool is_address(std::string_view text);

// Relative paths are meant from `folder`, that of the file that says `use`, and become relative to `project`.
// Errors say what is wrong without the address; Auth: it holds what may be a secret, and is not to be shown.
Result<Address> parse_address(std::string_view text, const std::string& folder, const std::string& project);

// The address of one module of a package.
std::string address_of(std::string_view package, std::string_view module);

// The package as a person would call it: the last part of its location without `.git` or `.tar.gz`.
std::string short_name(std::string_view package);

// A tag, branch or commit that git takes for nothing else (no options, no ranges).
bool is_reference(std::string_view text);
// 40 or 64 hex digits.
bool is_commit(std::string_view text);

}  // namespace radl::vendored
