// Finds the private half of a key on this computer. A state identifies a key by the fingerprint of its public
// half (SHA256:..., as printed by `ssh-keygen -l`) and never by a file, so that anyone with the state and the
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
  Environment environment;           // of the key's user
};

// $XDG_DATA_HOME/radlc/keys, else ~/.local/share/radlc/keys; "" without a home. For keys received from a
// colleague.
std::string user_key_folder(const Environment& environment);

// The infrastructure's work directory and its subfolders, user_key_folder(), ~/.ssh, and the agent of
// SSH_AUTH_SOCK. `work_directory` may be empty.
KeyPlaces key_places(const Environment& environment, const std::string& work_directory);

struct FoundKey {
  std::string file;  // the private key; empty: only in the agent
  bool in_agent = false;
};

// Searches the folders' public key files (*.pub) and private keys in OpenSSH's format, which contain the
// public half in clear text. NotFound names the fingerprint and the searched places.
Result<FoundKey> find_key(const std::string& fingerprint, const KeyPlaces& places);

}  // namespace radl::ssh
