// The Remote over libssh2.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/net/ssh/connection.h"
#include "runtime/net/ssh/node_files.h"

namespace radl::ssh {

class SshRemote : public RemoteByCommands {
 public:
  SshRemote(Target target, std::function<void(const std::string&)> log)
      : target_(std::move(target)), log_(std::move(log)) {}
  Result<ExecResult> exec(const std::string& shell_command, const ExecOptions& options) override;

 private:
  // The current connection, or a new one; nullptr if the system's client serves this target: see `other`.
  Result<std::shared_ptr<Connection>> connection(const Stop& stop);
  Remote* other();

  Target target_;
  std::function<void(const std::string&)> log_;
  std::mutex mutex_;
  std::shared_ptr<Connection> connection_;
  std::unique_ptr<Remote> other_;  // set if libssh2 and the server could not agree
};

}  // namespace radl::ssh
