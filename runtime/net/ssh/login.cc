#include "runtime/net/ssh/login.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace radl::ssh {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kOneAttempt{20000}, kFirstPause{2000}, kLongestPause{8000};
// A machine that is not up yet often drops what is sent to it: no attempt is spent on that.
constexpr int kPortAnswersWithinMs = 1500;

// False where nothing takes a connection. True as well where that cannot be told from here.
bool port_answers(const Target& target) {
  if (!target.jump.empty() || !target.ssh_config.empty()) return true;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &found) != 0) return true;
  bool answers = false;
  for (const addrinfo* at = found; at && !answers; at = at->ai_next) {
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) continue;
    answers = connect(fd, at->ai_addr, at->ai_addrlen) == 0;
    pollfd wait{fd, POLLOUT, 0};
    if (!answers && errno == EINPROGRESS && poll(&wait, 1, kPortAnswersWithinMs) == 1) {
      int error = 0;
      socklen_t size = sizeof error;
      answers = getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
    }
    close(fd);
  }
  freeaddrinfo(found);
  return answers;
}

}  // namespace

Status Logins::attempt(Remote& remote, const Target& target, bool booting, const Stop& stop) {
  const auto now = std::chrono::steady_clock::now();
  {
    std::lock_guard guard(mutex_);
    auto before = refused_.find(target.name());
    if (before != refused_.end() && now < before->second.until) return {Code::Retry, before->second.why};
  }
  if (booting && !port_answers(target))
    return {Code::Retry, fmt::format("{} does not answer", target.name())};
  ExecOptions options;
  options.stop = stop;
  options.deadline = kOneAttempt;
  auto result = remote.exec(":", options);
  if (result && result->exit_status == 0) return {};
  if (result)
    return {Code::Invalid, fmt::format("the login works, but the node cannot run a command: {}", result->err)};
  Status why = std::move(result).status();
  if (!booting || !is_refused_login(why)) return why;
  std::lock_guard guard(mutex_);
  auto [entry, first] = refused_.try_emplace(target.name());
  entry->second.pause = first ? kFirstPause : std::min(entry->second.pause * 2, kLongestPause);
  entry->second.until = std::chrono::steady_clock::now() + entry->second.pause;
  entry->second.why = why.message();
  return {Code::Retry, why.message()};
}

}  // namespace radl::ssh
