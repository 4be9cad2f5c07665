// Selects the environment variables of a program that radlc starts. A program gets only the variables it
// needs, so that the operator's credentials and inputs stay out of readable or long-lived processes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/environment.h"

namespace radl {

// Name -> value; nullopt removes the variable.
using EnvironmentChanges = std::map<std::string, std::optional<std::string>>;

// Passed to every program: locations of programs, homes and temporary files, proxies, certificates and the
// ssh-agent. LC_ALL is C.UTF-8, so that output can be parsed.
extern const std::vector<std::string> kBasicVariables;

// For programs that a user names and that may need anything (a credential helper): all variables but radlc's
// own secrets, RADL_INPUT_* and RADL_SUDO_PASSWORD. Not for long-lived programs.
extern const std::vector<std::string> kUsersVariables;

// For radl-train, which reads object stores: variables of their credentials and endpoints.
extern const std::vector<std::string> kStoreVariables;

// PATH followed by the sbin folders, which a user's PATH often lacks. radlc searches it for programs and
// passes it to the programs that it starts.
std::string program_path(const Environment& environment);

// Returns "NAME=VALUE" for the user's variables that match `allowed` (a name, or a prefix followed by `*`),
// without radlc's own secrets, with the changes applied.
std::vector<std::string> environment_of(const Environment& environment,
                                        const std::vector<std::string>& allowed,
                                        const EnvironmentChanges& changes);

// Everything that exec needs, allocated before fork: after it, only async-signal-safe calls are allowed.
struct ProcessImage {
  std::string file;
  std::vector<std::string> argv_text, environment_text;
  std::vector<char*> argv, environment;  // point into the texts; end with a nullptr

  ProcessImage(std::string path, std::vector<std::string> arguments, std::vector<std::string> variables);
  ProcessImage(const ProcessImage&) = delete;
  ProcessImage& operator=(const ProcessImage&) = delete;
};

}  // namespace radl
