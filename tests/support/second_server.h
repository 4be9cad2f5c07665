// Another SSH server for a local node that is not isolated, with settings of its own; it ends with the
// object.
#pragma once

#include <memory>

#include "common/process/detached.h"
#include "runtime/clouds/local/network.h"
#include "tests/support/test_nodes.h"
#include "tests/support/test_target.h"
#include "tests/support/wait_until.h"

namespace radl::test {

class SecondServer {
 public:
  // `settings` as in sshd_config ("Ciphers=..."); they win over the node's own.
  SecondServer(const Seen& node, const std::vector<std::string>& settings) {
    const std::string folder = node.attributes.at("local_directory");
    target = *test::target_of(node.attributes);
    target.port = *local::free_port(target.host);
    auto text = read_file(folder + "/etc/sshd_config");
    std::string config;
    for (const std::string& one : settings) config += one + "\n";
    std::istringstream lines(text ? *text : "");
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("ListenAddress "))
        line = "ListenAddress " + target.host + ":" + std::to_string(target.port);
      config += line + "\n";
    }
    std::string path = folder + "/etc/second_config";
    EXPECT_TRUE(write_file_atomic(path, config, 0600).ok());
    auto started = KeptProcess::start(
        environment_of_process(),
        {find_program(environment_of_process(), "sshd"), "-D", "-f", path, "-E", folder + "/etc/second.log"});
    EXPECT_TRUE(started.ok()) << started.status().text();
    if (started) process_ = std::move(*started);
    EXPECT_TRUE(wait_until([&] {
      auto log = read_file(folder + "/etc/second.log");
      return log && log->find("Server listening") != std::string::npos;
    }));
  }

  ssh::Target target;

 private:
  std::unique_ptr<KeptProcess> process_;
};

}  // namespace radl::test
