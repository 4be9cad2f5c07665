// The name of the run's sudo password (RADL_SUDO_PASSWORD, --ask-sudo-password) among its secrets.
#pragma once

namespace radl {

// Never stored in a state, not even as a digest: it is a person's password and not an input of any step.
inline constexpr const char* kSudoSecret = "sudo.password";

}  // namespace radl
