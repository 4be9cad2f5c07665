// The password for sudo that is given for a run (RADL_SUDO_PASSWORD, --ask-sudo-password), among its secrets.
#pragma once

namespace radl {

// Never in a state, not even as a fingerprint: a password of a person, and nothing that a step is made of.
inline constexpr const char* kSudoSecret = "sudo.password";

}  // namespace radl
