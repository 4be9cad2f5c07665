// A machine's console, as EC2 keeps it: there cloud-init writes the host keys that the machine has made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace radl {

// The OpenSSH public key lines of the last whole block between cloud-init's "BEGIN SSH HOST KEY KEYS" and
// "END"; empty where there is none (yet).
std::vector<std::string> host_keys_in(std::string_view console);

}  // namespace radl
