// Root on a node by sudo with a password (sudo(8): -S reads it from standard input, -k asks again each time).
// The password travels as bytes of standard input: never in an argument, a file or the environment of a node.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace radl {

// The password of a node's login for sudo: `written` is what the file says ({"$secret": NAME}, or null),
// otherwise that of the run (kSudoSecret). Empty: none is given.
std::string sudo_password(const nlohmann::json& written, const std::map<std::string, std::string>* secrets);

// Shell text: `sudo_state` prints what sudo does for a login that is not root. One of "passwordless",
// "password" (it asks for one), "tty" (it runs from a terminal alone: requiretty), "no" (there is none),
// "refused WORDS" (its own words).
extern const char* const kSudoState;
// The same as part of a sentence: "sudo asks user 'ann' for a password"; "" for "passwordless". With the way
// out.
std::string sudo_refusal(const std::string& state, const std::string& user);

// Shell text for a script's body: exit status 0 when sudo takes the password. Asks once.
std::string sudo_takes(const std::string& password);

// A shell of root that reads its script from standard input, as `sudo -n /bin/sh -s` does.
struct SudoShell {
  std::string command;      // for the login's shell
  std::string stdin_begin;  // before the script
};
// `home`: HOME of the root shell. The login could not end what runs as root: a watcher of root's ends it as
// soon as the login's own shell is gone.
SudoShell sudo_shell(const std::string& password, const std::string& home);

}  // namespace radl
