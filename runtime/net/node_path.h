// Paths on a node.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// For the shell, as one word: `~/x` becomes "$HOME"/'x', and a relative one is below "$HOME" too.
std::string shell_path(std::string_view path);

// The same path for SFTP, whose relative paths are below the login user's home: `~/x` becomes `x`.
std::string sftp_path(std::string_view path);

// The folder that holds it: "." for a plain name.
std::string parent_path(std::string_view path);

}  // namespace radl
