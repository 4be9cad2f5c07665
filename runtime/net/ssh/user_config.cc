// Which ssh_config file is the user's.
#include <pwd.h>
#include <unistd.h>

#include "runtime/net/ssh/target.h"

namespace radl::ssh {

std::string ssh_config_of_user(const Environment& environment) {
  if (std::string chosen = environment("RADL_SSH_CONFIG"); !chosen.empty()) return chosen;
  // OpenSSH uses the home folder of the password file and ignores $HOME.
  const passwd* entry = getpwuid(geteuid());
  const std::string home = entry && entry->pw_dir ? entry->pw_dir : "/root";
  for (const std::string& path : {home + "/.ssh/config", std::string("/etc/ssh/ssh_config")}) {
    if (::access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

std::string ssh_config_file(const Environment& environment, const std::string& path_or_users) {
  return path_or_users == kUsersSshConfig ? ssh_config_of_user(environment) : path_or_users;
}

}  // namespace radl::ssh
