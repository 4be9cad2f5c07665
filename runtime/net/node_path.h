// Paths on a node.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// For the shell, as one word: `~/x` becomes "$HOME"/'x', and a relative one is below "$HOME" too.
std::string shell_path(std::string_view path);

// The same path for SFTP, whose relative paths are below the login user's home: `~/x` becomes `x`.
std::string sftp_path(std::string_view path);

// The folders below ~/.radl on a node that steps keep things in. Whoever takes a node's traces away removes
// these and nothing else: in a user's home, ~/.radl may be the state of an infrastructure as well.
inline constexpr const char* kNodeFolderParts[] = {"cache", "datasets", "engine", "jobs",
                                                   "lease", "stage",    "trees",  "wireguard"};

// The folder that holds it: "." for a plain name.
std::string parent_path(std::string_view path);

}  // namespace radl
