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
constexpr milliseconds kProbe{1000};

// Starts a connection to the first address; -1: there is none, and `answers` is set to the result.
int begin_connection(const Target& target, bool& answers) {
  answers = true;
  if (!target.jump.empty() || !target.ssh_config.empty()) return -1;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &found) != 0) return -1;
  int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS) {
    answers = false;
    close(fd);
    fd = -1;
  }
  freeaddrinfo(found);
  return fd;
}

bool is_connected(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

std::vector<bool> ports_answer(const std::vector<Target>& targets, const Stop& stop) {
  std::vector<bool> answers(targets.size());
  std::vector<pollfd> waiting;
  std::vector<size_t> of;  // waiting[i] is of targets[of[i]]
  for (size_t i = 0; i < targets.size(); ++i) {
    bool now = false;
    int fd = begin_connection(targets[i], now);
    answers[i] = now && fd < 0;
    if (fd < 0) continue;
    waiting.push_back({fd, POLLOUT, 0});
    of.push_back(i);
  }
  const auto end = std::chrono::steady_clock::now() + kProbe;
  for (size_t open = waiting.size(); open > 0;) {
    auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || stop.asked()) break;
    if (poll(waiting.data(), waiting.size(), static_cast<int>(std::min<long long>(left.count(), 100))) < 0)
      break;
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      answers[of[i]] = is_connected(waiting[i].fd);
      close(waiting[i].fd);
      waiting[i].fd = -1;
      --open;
    }
  }
  for (const pollfd& left : waiting) {
    if (left.fd >= 0) close(left.fd);
  }
  return answers;
}

Status Logins::attempt(Remote& remote, const Target& target, bool booting, const Stop& stop) {
  const auto now = std::chrono::steady_clock::now();
  {
    std::lock_guard guard(mutex_);
    auto before = refused_.find(target.name());
    if (before != refused_.end() && now < before->second.until) return {Code::Retry, before->second.why};
  }
  ExecOptions options;
  // An attempt has its own time limit, so that a caller that allows no retries gets one full attempt.
  options.stop = Stop::when([&stop] { return stop.asked(); });
  options.deadline = kOneAttempt;
  auto result = remote.exec(":", options);
  if (result && result->exit_status == 0) return {};
  if (result)
    return {Code::Invalid,
            fmt::format("the login works, but the node cannot run a command: {}", result->err)};
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
