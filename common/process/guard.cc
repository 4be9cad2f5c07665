#include "common/process/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace radl {
namespace {

constexpr long kPatienceMs = 2000, kRoundMs = 20;

void on_child(int) {}

// Sends it to every child: those of children that have ended become children of this process.
void signal_children(int number) {
  int fd = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char text[4096];
  pid_t pid = 0;
  for (ssize_t n; (n = ::read(fd, text, sizeof text)) > 0;) {
    for (ssize_t i = 0; i < n; ++i) {
      if (text[i] >= '0' && text[i] <= '9') {
        pid = pid * 10 + (text[i] - '0');
      } else {
        if (pid > 0) ::kill(pid, number);
        pid = 0;
      }
    }
  }
  ::close(fd);
}

// False if no child is left.
bool reap_all() {
  pid_t pid;
  do pid = ::waitpid(-1, nullptr, WNOHANG);
  while (pid > 0 || (pid < 0 && errno == EINTR));
  return pid == 0;
}

[[noreturn]] void end_all(pid_t program) {
  ::kill(-program, SIGTERM);
  for (long waited = 0; reap_all() && waited < 3 * kPatienceMs; waited += kRoundMs) {
    if (waited >= kPatienceMs) ::kill(-program, SIGKILL);
    signal_children(waited < kPatienceMs ? SIGTERM : SIGKILL);
    timespec round{0, kRoundMs * 1000000};
    ::nanosleep(&round, nullptr);
  }
  ::_exit(128 + SIGTERM);
}

[[noreturn]] void watch(int lifeline, pid_t program) {
  close_descriptors_but(lifeline, lifeline);
  for (int fd : {0, 1, 2}) ::close(fd);
  sigset_t none;
  sigemptyset(&none);
  for (;;) {
    int status = 0;
    pid_t ended = ::waitpid(-1, &status, WNOHANG);
    if (ended == program) ::_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    if (ended > 0) continue;
    pollfd fd{lifeline, POLLIN, 0};
    if (::ppoll(&fd, 1, nullptr, &none) > 0) end_all(program);
  }
}

}  // namespace

void set_core_filter(std::string_view mask) {
  const int fd = ::open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!::write(fd, mask.data(), mask.size());
  ::close(fd);
}

void close_descriptors_but(int one, int other) {
  unsigned low = static_cast<unsigned>(std::min(one, other)),
           high = static_cast<unsigned>(std::max(one, other));
  auto close_between = [](unsigned first, unsigned last) {
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
    for (unsigned fd = first; fd <= std::min(last, 65536U); ++fd) ::close(static_cast<int>(fd));
  };
  close_between(3, low - 1);
  close_between(low + 1, high - 1);
  close_between(high + 1, ~0U);
}

void become_guarded(int lifeline) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, nullptr);  // it ends the wait below, and nothing else
  for (int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = on_child;
  ::sigaction(SIGCHLD, &action, nullptr);
  pid_t guard = ::getpid(), program = ::fork();
  if (program < 0) ::_exit(127);
  if (program > 0) {
    ::setpgid(program, program);
    watch(lifeline, program);
  }
  ::setpgid(0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guard) ::_exit(127);
  for (int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGCHLD}) ::signal(number, SIG_DFL);
}

}  // namespace radl
