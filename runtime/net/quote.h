// Text as one word of a POSIX shell.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// 'it'\''s'
std::string shell_quote(std::string_view text);

// A path on a node for the shell: `~/x` becomes "$HOME"/'x', and a relative one is below "$HOME" too.
std::string shell_path(std::string_view path);

// The same path for SFTP, whose relative paths are below the login user's home: `~/x` becomes `x`.
std::string sftp_path(std::string_view path);

// The folder that holds it: "." for a plain name.
std::string parent_path(std::string_view path);

}  // namespace radl
