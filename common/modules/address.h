// Addresses of modules from elsewhere, as `use` writes them:
//
//   git::https://HOST/REPOSITORY.git//MODULE@REF    also git::ssh://, git::file:///, git::/FOLDER,
//   git::./FOLDER https://HOST/ARCHIVE.tar.gz//MODULE             also file:///, /PATH, ./PATH; .tar, .tgz,
//   .tar.xz, .zip, ...
//
// The part before `//MODULE`, with REF, is the package: a file tree that is fetched as a whole. MODULE is a
// path in it without `.radl`. REF is a tag, a branch or a full commit hash; without it, the repository's
// default branch.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::vendored {

struct Address {
  bool git = false;      // else an archive
  bool local = false;    // a path on this computer, or file://
  std::string package;   // its name in the lock file: "git::https://host/repo.git@v1"
  std::string location;  // argument for git or HTTP: a URL, or a path relative to the project's folder
  std::string ref;       // "": the default branch
  std::string module;    // "web/server"
};

// True if the text can only be an address; any other text is the path of a module in a folder.
bool is_address(std::string_view text);

// Resolves relative paths from `folder`, the folder of the file with the `use`, and returns them relative to
// `project`. Errors omit the address. Auth: the address may contain a secret and must not be shown.
Result<Address> parse_address(std::string_view text, const std::string& folder, const std::string& project);

// The address of one module of a package.
std::string address_of(std::string_view package, std::string_view module);

// A short display name: the last part of the location without `.git` or `.tar.gz`.
std::string short_name(std::string_view package);

// True for a tag, branch or commit that git cannot mistake for an option or range.
bool is_reference(std::string_view text);
// 40 or 64 hex digits.
bool is_commit(std::string_view text);

}  // namespace radl::vendored
