#include "runtime/net/ssh/connections.h"

#include <fmt/format.h>

#include <atomic>
#include <vector>

namespace radl::ssh {

struct Connections::Shared {
  std::unique_ptr<Remote> remote;
  std::atomic<bool> proven{false}, failed{false};

  // Messages of the connection go to the next caller, because the first one may be gone.
  void keep(const std::string& line) {
    std::lock_guard guard(mutex);
    unsaid.push_back(line);
  }
  std::vector<std::string> take_unsaid() {
    std::lock_guard guard(mutex);
    return std::exchange(unsaid, {});
  }

 private:
  std::mutex mutex;
  std::vector<std::string> unsaid;
};

namespace {

// One holder's view of a shared connection.
class SharedRemote : public Remote {
 public:
  SharedRemote(std::shared_ptr<Connections::Shared> shared, Connections::Log log)
      : shared_(std::move(shared)), log_(std::move(log)) {
    say();
  }

  Result<ExecResult> exec(const std::string& shell_command, const ExecOptions& options) override {
    Result<ExecResult> result = shared_->remote->exec(shell_command, options);
    if (result.ok()) shared_->proven = true;
    return noted(std::move(result));
  }
  Result<bool> put_file(const std::string& local_path, const std::string& remote_path, unsigned mode,
                        const Stop& stop) override {
    return noted(shared_->remote->put_file(local_path, remote_path, mode, stop));
  }
  Result<bool> put_bytes(std::string_view content, const std::string& remote_path, unsigned mode,
                         const Stop& stop) override {
    return noted(shared_->remote->put_bytes(content, remote_path, mode, stop));
  }
  Status get_file(const std::string& remote_path, const std::string& local_path, const Stop& stop) override {
    Status got = shared_->remote->get_file(remote_path, local_path, stop);
    note(got);
    return got;
  }
  Result<RemoteFile> stat(const std::string& remote_path, const Stop& stop) override {
    return noted(shared_->remote->stat(remote_path, stop));
  }
  void abandon() override { shared_->failed = true; }

 private:
  template <class T>
  Result<T> noted(Result<T> result) {
    note(result.status());
    return result;
  }
  // Errors of the connection, as opposed to those of a request.
  void note(const Status& status) {
    say();
    switch (status.code()) {
      case Code::Lost:
      case Code::Retry:
      case Code::Timeout:
      case Code::Cancelled:
      case Code::Auth:
        shared_->failed = true;
        break;
      default:
        break;
    }
  }
  void say() {
    for (const std::string& line : shared_->take_unsaid()) {
      if (log_) log_(line);
    }
  }

  std::shared_ptr<Connections::Shared> shared_;
  Connections::Log log_;
};

// Everything that distinguishes one login from another.
std::string name_of(const Target& target) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", target.name(), target.host_key, target.key_file,
                     target.password, target.use_agent, target.jump, target.ssh_config,
                     target.known_hosts_file, target.ssh_name);
}

}  // namespace

std::unique_ptr<Remote> Connections::to(const Target& target, Log log) {
  std::lock_guard guard(mutex_);
  std::shared_ptr<Shared>& shared = shared_[name_of(target)];
  if (!shared || shared->failed) {
    auto made = std::make_shared<Shared>();
    made->remote = make_remote(target, [kept = std::weak_ptr(made)](const std::string& line) {
      if (auto alive = kept.lock()) alive->keep(line);
    });
    shared = std::move(made);
  }
  return std::make_unique<SharedRemote>(shared, std::move(log));
}

bool Connections::is_proven(const Target& target) {
  std::lock_guard guard(mutex_);
  auto found = shared_.find(name_of(target));
  return found != shared_.end() && found->second->proven && !found->second->failed;
}

}  // namespace radl::ssh
