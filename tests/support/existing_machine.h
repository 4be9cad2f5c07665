// Machines that exist already, for tests: SSH servers on loopback with a home of their own, and a user who
// has a key, an ssh_config and a known_hosts file for them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "common/process/process.h"
#include "runtime/clouds/local/node_directory.h"
#include "runtime/net/ssh/keys.h"
#include "tests/support/test_nodes.h"
#include "tests/support/wait_until.h"

namespace radl::test {

class ExistingMachine {
 public:
  // `settings` as in sshd_config; they win over those below.
  explicit ExistingMachine(const std::string& user_key, const std::vector<std::string>& settings = {})
      : settings_(settings) {
    std::filesystem::create_directories(home(".ssh"));
    std::filesystem::permissions(home(".ssh"), std::filesystem::perms::owner_all);
    // Without a line end: it is the user's, and must come back as it was.
    EXPECT_TRUE(write_file_atomic(home(".ssh/authorized_keys"), "# by hand\n" + user_key, 0640).ok());
    host_key = *ssh::ensure_key_file(folder_.path("host_key"), "machine");
    host = local::loopback_address(folder_.path(), "machine", {});
    port = *local::free_port(host);
    start();
  }

  std::string home(const std::string& below = "") const {
    return folder_.path("home") + (below.empty() ? "" : "/" + below);
  }
  // Programs that are found before the machine's own.
  std::string programs() const { return folder_.path("programs"); }
  std::string user() const { return local::login_name(); }
  std::string address() const { return "[" + host + "]:" + std::to_string(port); }

  void start() {
    std::string config;
    for (const std::string& one : settings_) config += one + "\n";
    config += "ListenAddress " + host + ":" + std::to_string(port) + "\nHostKey " + folder_.path("host_key") +
              "\nPidFile none\nAuthorizedKeysFile " + home(".ssh/authorized_keys") +
              "\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
              "PermitRootLogin prohibit-password\nMaxStartups 200\nUseDNS no\nPrintMotd no\n"
              "SetEnv HOME=" +
              home() + " \"PATH=" + programs() +
              ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\"\n"
              "Subsystem sftp /usr/lib/openssh/sftp-server\n"
              "ForceCommand cd \"$HOME\" && exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"\n";
    ASSERT_TRUE(write_file_atomic(folder_.path("sshd_config"), config, 0600).ok());
    std::filesystem::remove(folder_.path("log"));
    auto started = KeptProcess::start(environment_of_process(),
                                      {find_program(environment_of_process(), "sshd"), "-D", "-f",
                                       folder_.path("sshd_config"), "-E", folder_.path("log")});
    ASSERT_TRUE(started.ok()) << started.status().text();
    server_ = std::move(*started);
    ASSERT_TRUE(wait_until([&] {
      auto log = read_file(folder_.path("log"));
      return log && log->find("Server listening") != std::string::npos;
    })) << *read_file(folder_.path("log"));
  }
  void stop() { server_.reset(); }

  // Something of a login is still going on.
  bool is_busy() const {
    const std::string mark = std::string(1, '\0') + "HOME=" + home() + std::string(1, '\0');
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      auto environment = read_file(entry.path().string() + "/environ", 1 << 20);
      if (environment && (std::string(1, '\0') + *environment).find(mark) != std::string::npos) return true;
    }
    return false;
  }

  // Every file of the home: mode and content.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(home())) {
      auto text = entry.is_regular_file() ? read_file(entry.path().string()) : std::string();
      all[std::filesystem::relative(entry.path(), home()).string()] =
          std::to_string(static_cast<unsigned>(entry.status().permissions())) + " " + (text ? *text : "");
    }
    return all;
  }

  std::string host, host_key;
  int port = 0;

 private:
  std::vector<std::string> settings_;
  TemporaryFolder folder_;
  std::unique_ptr<KeptProcess> server_;
};

// Who has logged in to those machines before.
class SshUser {
 public:
  SshUser() : public_key(*ssh::ensure_key_file(folder_.path("id"), "user")) {}

  // A name of the ssh_config file; `more` are lines of it.
  void knows(const std::string& name, const ExistingMachine& machine, const std::string& more = "") {
    config_ += "Host " + name + "\n  HostName " + machine.host + "\n  Port " + std::to_string(machine.port) +
               "\n  User " + machine.user() + "\n" + more;
    trusts(machine.address(), machine.host_key);
  }
  void trusts(const std::string& address, const std::string& host_key) {
    known_ += address + " " + host_key + "\n";
    write();
  }
  void forgets_host_keys() {
    known_.clear();
    write();
  }
  // Off: no key of the user's is offered.
  void has_key(bool has) {
    has_key_ = has;
    write();
  }

  std::string config() const { return folder_.path("config"); }
  std::string private_key() const { return *read_file(folder_.path("id")); }

 private:
  void write() const {
    const std::string all = "Host *\n  IdentitiesOnly yes\n  IdentityAgent none\n  UserKnownHostsFile " +
                            folder_.path("known_hosts") +
                            "\n  GlobalKnownHostsFile /dev/null\n  IdentityFile " +
                            (has_key_ ? folder_.path("id") : "none") + "\n";
    EXPECT_TRUE(write_file_atomic(config(), config_ + all, 0600).ok());
    EXPECT_TRUE(write_file_atomic(folder_.path("known_hosts"), known_, 0600).ok());
  }

  TemporaryFolder folder_;
  std::string config_, known_;
  bool has_key_ = true;

 public:
  std::string public_key;
};

}  // namespace radl::test
