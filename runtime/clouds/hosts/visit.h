// What is done on a machine: three scripts of POSIX shell, each in one login, each of which may be run again.
//
//   ~/.radl/taken-by          the marker: whose it is, by the token; made and removed last of all atomically
//   ~/.ssh/authorized_keys    our line, first of all; the rest stays as it is
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/status.h"
#include "common/stop.h"
#include "runtime/net/remote.h"

namespace radl::hosts {

struct Marker {
  std::string infrastructure, token, address;  // empty: nobody has taken the machine
};

struct Visit {
  nlohmann::json facts;  // runtime/clouds/machine_facts.h
  Marker marker;
  bool has_key = false;  // the key that was asked for stands in ~/.ssh/authorized_keys
};

// Changes nothing. `key_line`: a public key that is looked for; may be empty. Unsupported: no Linux.
Result<Visit> visit(Remote& remote, const Stop& stop, const std::string& key_line = "");

// Conflict: somebody else has it, and nothing was done. Lost, Timeout, Cancelled: it may have been done.
Status take(Remote& remote, const Marker& marker, const std::string& key_line, const Stop& stop);

// Removes our key, what our steps keep on a node, and the marker last; what was made for it goes as well. Ok
// when it is not, or no longer, taken with this token: then only the key goes. `password`: for sudo, where
// that asks for one; may be empty.
Status give_back(Remote& remote, const std::string& token, const std::string& key_line,
                 const std::string& password, const Stop& stop);

// Removes the marker alone: all else stays as it is. Ok when it is not taken with this token.
Status unmark(Remote& remote, const std::string& token, const Stop& stop);

// Whether sudo takes the password of the login. It is asked once.
Result<bool> takes_for_sudo(Remote& remote, const std::string& password, const Stop& stop);

}  // namespace radl::hosts
