// Where the private half of a key is on this computer. A state names a key by the fingerprint of its public
// half (SHA256:..., as `ssh-keygen -l` prints it) and never by a file, so that whoever has the state and the
// key can log in.
#pragma once

#include <string>
#include <vector>

#include "common/environment.h"
#include "common/status.h"

namespace radl::ssh {

struct KeyPlaces {
  std::vector<std::string> folders;  // searched in this order
  std::string agent;                 // socket of the ssh-agent; empty: none
  Environment environment;           // that they are of
};

// $XDG_DATA_HOME/radlc/keys, else ~/.local/share/radlc/keys; "" where there is no home. For keys that a
// colleague gave.
std::string user_key_folder(const Environment& environment);

// The infrastructure's work directory with the folders in it, user_key_folder(), ~/.ssh, and the agent of
// SSH_AUTH_SOCK. `work_directory` may be empty.
KeyPlaces key_places(const Environment& environment, const std::string& work_directory);

struct FoundKey {
  std::string file;  // the private key; empty: only the agent has it
  bool in_agent = false;
};

// By the public key files (*.pub) of the folders and by private keys in OpenSSH's format, which hold the
// public half in clear. NotFound says which fingerprint was looked for, and where.
Result<FoundKey> find_key(const std::string& fingerprint, const KeyPlaces& places);

}  // namespace radl::ssh
