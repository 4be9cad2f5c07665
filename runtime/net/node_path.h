// Paths on a node.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// One shell word: `~/x` becomes "$HOME"/'x'; relative paths are below "$HOME" too.
std::string shell_path(std::string_view path);

// The path for SFTP, whose relative paths start at the login's home: `~/x` becomes `x`.
std::string sftp_path(std::string_view path);

// Folders below ~/.radl on a node that steps use. Cleaning up a node removes only these: in a user's home,
// ~/.radl may also hold an infrastructure's state.
inline constexpr const char* kNodeFolderParts[] = {"cache", "datasets", "engine", "jobs",
                                                   "lease", "stage",    "trees",  "wireguard"};

// The parent folder: "." for a plain name.
std::string parent_path(std::string_view path);

}  // namespace radl
