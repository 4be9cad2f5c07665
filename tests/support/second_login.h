// A second SSH server inside an isolated node, with an ordinary user: passwords, sudo. It goes with the node.
#pragma once

#include <string>

#include "tests/support/test_nodes.h"
#include "tests/support/test_target.h"

namespace radl::test {

struct SecondLogin {
  std::string user = "bob", password = "Tr0ub4dor&3";
  bool sudo = false;
  std::string shell = "/bin/bash";
  std::string more;  // shell text that root runs in the user's home
};

// Attributes of the node as that user sees it; the infrastructure's key and the password are accepted.
inline Json second_login(const Seen& node, const SecondLogin& login) {
  auto remote = ssh::make_remote(*test::target_of(node.attributes));
  const std::string folder = node.attributes.at("local_directory");
  std::string script =
      "set -e\nuseradd -m -s " + login.shell + " " + login.user + "\necho '" + login.user + ":" +
      login.password + "' | chpasswd\nmkdir -p /home/" + login.user + "/.ssh\ncp " + folder +
      "/etc/authorized_keys /home/" + login.user + "/.ssh/authorized_keys\nchown -R " + login.user +
      ": /home/" + login.user + "/.ssh\nchmod 700 /home/" + login.user + "/.ssh\n" +
      (login.sudo
           ? "mkdir -p /etc/sudoers.d\necho '" + login.user + " ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/" +
                 login.user + "\nchmod 440 /etc/sudoers.d/" + login.user + "\n"
           : "") +
      (login.more.empty() ? "" : "( cd /home/" + login.user + "\n" + login.more + "\n)\n") +
      "cat > /etc/ssh/second_config <<'E'\nListenAddress 0.0.0.0:2222\nHostKey " + folder +
      "/etc/ssh_host_ed25519_key\nPidFile /etc/ssh/second.pid\nUsePAM no\nPasswordAuthentication "
      "yes\nStrictModes no\n"
      "Subsystem sftp internal-sftp\nE\n" +
      "$(command -v sshd || echo /usr/sbin/sshd) -f /etc/ssh/second_config\n"
      // It is in the background before it listens, and writes this file after.
      "for i in $(seq 300); do [ -s /etc/ssh/second.pid ] && exit 0; sleep 0.1; done\nexit 1\n";
  ExecOptions options;
  options.stdin_bytes = script;
  auto made = remote->exec("/bin/sh -s", options);
  if (!made || made->exit_status != 0)
    ADD_FAILURE() << "second login: " << (made ? made->out + made->err : made.status().text());
  Json attributes = node.attributes;
  attributes["port"] = 2222;
  attributes["user"] = login.user;
  attributes["home"] = "/home/" + login.user;
  attributes["keys_of"] = work_directory_of(attributes);  // for target_of() alone
  attributes.erase("local_directory");                    // nothing past the login
  return attributes;
}

}  // namespace radl::test
