// Which environment variables a program gets that radlc starts: those that it needs, never all of ours. The
// operator's credentials and inputs stay out of processes that others can read, or that live on.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/environment.h"

namespace radl {

// Name -> value; nullopt: the program does not have it.
using EnvironmentChanges = std::map<std::string, std::optional<std::string>>;

// What every program gets: where programs, homes, temporary files, proxies, certificates and the ssh-agent
// are. LC_ALL is C.UTF-8: what programs print can be parsed.
extern const std::vector<std::string> kBasicVariables;

// For programs that a user names and that may need anything (a credential helper): all of ours but radlc's
// own secrets, RADL_INPUT_* and RADL_SUDO_PASSWORD. Not for what lives on.
extern const std::vector<std::string> kUsersVariables;

// For radl-train, which reads object stores: the variables of their credentials and endpoints.
extern const std::vector<std::string> kStoreVariables;

// PATH and then the sbin folders, which a user's PATH often lacks: where programs are looked for, and the
// PATH of the programs that radlc starts.
std::string program_path(const Environment& environment);

// "NAME=VALUE" of the user's variables that one of `allowed` names (a name, or a beginning with `*` after
// it), less radlc's own secrets, with the changes.
std::vector<std::string> environment_of(const Environment& environment,
                                        const std::vector<std::string>& allowed,
                                        const EnvironmentChanges& changes);

// What exec needs, made before fork: after it only async-signal-safe calls are allowed.
struct ProcessImage {
  std::string file;
  std::vector<std::string> argv_text, environment_text;
  std::vector<char*> argv, environment;  // into the texts, with a nullptr at the end

  ProcessImage(std::string path, std::vector<std::string> arguments, std::vector<std::string> variables);
  ProcessImage(const ProcessImage&) = delete;
  ProcessImage& operator=(const ProcessImage&) = delete;
};

}  // namespace radl
