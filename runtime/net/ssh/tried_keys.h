// Why a server refused a login: which keys were tried, and what became of each.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::ssh {

// Options that make OpenSSH's client (8.5 and later) log each key that it tries, and nothing else more.
inline constexpr const char* kLogKeys = "LogVerbose=sshconnect2.c:*";

// Auth, for a client whose log ends with a refused login. `who`: the target's name.
Status refused_login(std::string_view log, const std::string& who);

// Why the file of a private key cannot be used, whatever the server says: kHasPassphrase, "no such file",
// ...; empty: it can.
inline constexpr const char* kHasPassphrase = "has a passphrase";
std::string why_unusable(const std::string& key_file);

// The way out where a key has a passphrase.
std::string passphrase_hint(const std::string& key_file);

}  // namespace radl::ssh
