// Parses a machine's console log, to which cloud-init writes the machine's new host keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace radl {

// The OpenSSH public keys of the last complete block between cloud-init's "BEGIN SSH HOST KEY KEYS" and
// "END"; empty if there is none (yet).
std::vector<std::string> host_keys_in(std::string_view console);

}  // namespace radl
