// A command line that every login shell understands, for scripts that call `ssh`.
#pragma once

namespace radl {

// Shell text: `for_login SCRIPT` prints the line for ssh's last argument. Single quotes protect everything in
// sh, bash, zsh, fish, csh and tcsh except `\`, `!`, quotes and line ends, which become octal numbers.
inline constexpr const char* kForLogin = R"sh(
for_login() {
  printf '%s%s%s' "exec /bin/sh -c 'eval \"\$(printf %b \"\$1\")\"' sh '" "$(printf '%s' "$1" |
    sed -e ':a' -e '$!{N;ba' -e '}' -e 's/\\/\\0134/g' -e "s/'/\\\\047/g" -e 's/!/\\041/g' -e 's/\n/\\012/g')" "'"
}
)sh";

}  // namespace radl
