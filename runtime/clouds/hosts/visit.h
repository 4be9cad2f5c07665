// Operations on a machine: three POSIX shell scripts, each in one login and each repeatable.
//
//   ~/.radl/taken-by          the marker: the owner's token; created and removed last, atomically
//   ~/.ssh/authorized_keys    radlc's line, as the first one; other lines are kept
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/status.h"
#include "common/stop.h"
#include "runtime/net/remote.h"

namespace radl::hosts {

struct Marker {
  std::string infrastructure, token, address;  // empty: the machine is free
};

struct Visit {
  nlohmann::json facts;  // runtime/clouds/machine_facts.h
  Marker marker;
  bool has_key = false;  // the requested key is in ~/.ssh/authorized_keys
};

// Read-only. `key_line`: a public key to look for; may be empty. Unsupported: not Linux.
Result<Visit> visit(Remote& remote, const Stop& stop, const std::string& key_line = "");

// Conflict: it is taken; nothing was done. Lost, Timeout, Cancelled: it may have been taken.
Status take(Remote& remote, const Marker& marker, const std::string& key_line, const Stop& stop);

// Removes radlc's key, the data of its steps, everything created for them and, last, the marker. If the
// machine is not, or no longer, taken with this token, succeeds and removes only the key. `password`: for
// sudo if it asks; may be empty.
Status give_back(Remote& remote, const std::string& token, const std::string& key_line,
                 const std::string& password, const Stop& stop);

// Removes only the marker. Succeeds if it is not taken with this token.
Status unmark(Remote& remote, const std::string& token, const Stop& stop);

// True if sudo accepts the password of the login. Tries once.
Result<bool> takes_for_sudo(Remote& remote, const std::string& password, const Stop& stop);

}  // namespace radl::hosts
