// Explains a rejected login: which keys were tried, and the result of each.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::ssh {

// Options that make OpenSSH's client (8.5 and later) log each key that it tries, and nothing else.
inline constexpr const char* kLogKeys = "LogVerbose=sshconnect2.c:*";

// Auth, for a client log that ends with a rejected login. `who`: the target's name.
Status refused_login(std::string_view log, const std::string& who);

// Why a private key file is unusable, independently of the server: kHasPassphrase, "no such file", ...;
// empty: it is usable.
inline constexpr const char* kHasPassphrase = "has a passphrase";
std::string why_unusable(const std::string& key_file);

// The remedy if a key has a passphrase.
std::string passphrase_hint(const std::string& key_file);

}  // namespace radl::ssh
