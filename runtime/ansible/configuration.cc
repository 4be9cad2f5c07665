#include "runtime/ansible/configuration.h"

#include <fmt/format.h>

namespace radl::recipes {

const std::vector<std::string> kAnsibleVariables = {"ANSIBLE_*", "PYTHON*", "VIRTUAL_ENV", "GIT_SSH*",
                                                    "GIT_CONFIG*"};

std::string make_configuration(const ConfigurationPaths& paths) {
  return fmt::format(
      "[defaults]\n"
      "inventory = {0}/inventory.yml\n"
      "host_key_checking = True\n"
      "retry_files_enabled = False\n"
      "nocows = True\n"
      "stdout_callback = radl\n"
      "callback_plugins = {0}/callback\n"
      "roles_path = {1}/roles:{2}:~/.ansible/roles:/etc/ansible/roles\n"
      "collections_path = {1}/collections:~/.ansible/collections:/usr/share/ansible/collections\n"
      "local_tmp = {0}/tmp\n"
      "forks = 20\n"
      "timeout = 20\n"
      "fact_caching = jsonfile\n"
      "fact_caching_connection = {1}/facts\n"
      "fact_caching_timeout = 3600\n"
      "gathering = explicit\n"
      "deprecation_warnings = False\n"
      "interpreter_python = auto_silent\n"
      "inject_facts_as_vars = True\n"
      "remote_tmp = ~/.ansible/tmp\n"
      "[inventory]\n"
      "enable_plugins = yaml\n"
      "[ssh_connection]\n"
      "pipelining = True\n"
      "control_path_dir = {0}/sockets\n"
      "control_path = {3}/%%C\n"
      "ssh_executable = {0}/ssh\n"
      "ssh_args = -F none -o ControlMaster=auto -o ControlPersist=60s -o ServerAliveInterval=15 "
      "-o ServerAliveCountMax=3 -o StrictHostKeyChecking=yes -o UserKnownHostsFile={0}/known_hosts "
      "-o GlobalKnownHostsFile=/dev/null -o IdentitiesOnly=yes -o IdentityAgent=none\n",
      paths.own, paths.shared, paths.roles, paths.sockets);
}

}  // namespace radl::recipes
