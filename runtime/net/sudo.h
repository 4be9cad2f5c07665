// Root on a node by sudo with a password (sudo(8): -S reads it from standard input, -k asks again each time).
// The password is sent only on standard input: never in an argument, a file or the environment of a node.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace radl {

// The sudo password of a node's login: the file's `written` ({"$secret": NAME}, or null), else the run's
// (kSudoSecret). Empty: none.
std::string sudo_password(const nlohmann::json& written, const std::map<std::string, std::string>* secrets);

// Shell text: `sudo_state` prints how sudo treats a login other than root: "passwordless", "password" (it
// asks), "tty" (it requires a terminal: requiretty), "no" (not installed), or "refused WORDS" (its own
// message).
extern const char* const kSudoState;
// Same as a phrase with the remedy: "sudo asks user 'ann' for a password"; "" for
// "passwordless".
std::string sudo_refusal(const std::string& state, const std::string& user);

// Shell text for a script's body: exit status 0 if sudo accepts the password. Tries once.
std::string sudo_takes(const std::string& password);

// A root shell that reads its script from standard input, like `sudo -n /bin/sh -s`.
struct SudoShell {
  std::string command;      // for the login shell
  std::string stdin_begin;  // precedes the script
};
// `home`: HOME of the root shell. The login cannot end processes of root, so a root watcher ends them as soon
// as the login's shell is gone.
SudoShell sudo_shell(const std::string& password, const std::string& home);

}  // namespace radl
