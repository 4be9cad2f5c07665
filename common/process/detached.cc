#include "common/process/detached.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/fd.h"
#include "common/files.h"
#include "common/no_pipe_signal.h"
#include "common/process/guard.h"

namespace radl {
namespace {

// In the child: waits for permission to start; false if the parent is gone.
bool may_start(int go) {
  char word = 0;
  ssize_t n;
  do n = read(go, &word, 1);
  while (n < 0 && errno == EINTR);
  return n == 1;
}

// In the child: never returns. `report` gets errno when exec fails; `go` one byte when it may begin.
[[noreturn]] void become(const ProcessImage& image, const std::string& directory, int in, int out, int report,
                         int go) {
  for (int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  set_core_filter("0x33");  // the kernel's own: see forbid_core_dumps()
  dup2(in, 0);
  dup2(out, 1);
  dup2(out, 2);
  // Also the other ends of pipes, ours and those of children that are started meanwhile: only so does a wait
  // end when we die.
  close_descriptors_but(report, go);
  if (!may_start(go)) _exit(127);
  if (directory.empty() || chdir(directory.c_str()) == 0) {
    execve(image.file.c_str(), image.argv.data(), image.environment.data());
  }
  int error = errno;
  (void)!write(report, &error, sizeof error);
  _exit(127);
}

void wait_for_end(int pid) {
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<int> start_detached(const Environment& environment, const std::vector<std::string>& argv,
                           const DetachOptions& options) {
  const std::string file = find_program(environment, argv.at(0));
  if (file.empty()) return not_found(fmt::format("program '{}' is not installed on this computer", argv[0]));
  EnvironmentChanges variables = options.environment;
  variables.try_emplace("LC_ALL", "C.UTF-8");
  const ProcessImage image(file, argv, environment_of(environment, {"PATH"}, variables));
  int report_ends[2], told_ends[2], go_ends[2];
  if (pipe2(report_ends, O_CLOEXEC) != 0) return errno_status(errno, "cannot make a pipe");
  Fd report(report_ends[0]), report_write(report_ends[1]);
  if (pipe2(told_ends, O_CLOEXEC) != 0) return errno_status(errno, "cannot make a pipe");
  Fd told(told_ends[0]), told_write(told_ends[1]);
  if (pipe2(go_ends, O_CLOEXEC) != 0) return errno_status(errno, "cannot make a pipe");
  Fd go(go_ends[0]), go_write(go_ends[1]);
  Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  Fd log(open(options.output_path.empty() ? "/dev/null" : options.output_path.c_str(),
              O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (log.get() < 0) return errno_status(errno, options.output_path);

  int middle = fork();
  if (middle < 0) return errno_status(errno, "cannot start a process");
  if (middle == 0) {  // its end makes the grandchild init's child, so that nobody has to wait for it
    setsid();
    int pid = fork();
    if (pid == 0) {
      if (options.adopt_orphans) prctl(PR_SET_CHILD_SUBREAPER, 1);
      become(image, options.directory, null.get(), log.get(), report_write.get(), go.get());
    }
    (void)!write(told_write.get(), &pid, sizeof pid);
    _exit(0);
  }
  report_write.reset();
  told_write.reset();
  wait_for_end(middle);
  int pid = -1, error = 0;
  if (read(told.get(), &pid, sizeof pid) != sizeof pid || pid < 0) {
    return Status(Code::Quota, "cannot start a process");
  }
  if (options.before_start) {
    if (Status s = options.before_start(pid); !s.ok()) return s;
  }
  {
    NoPipeSignal guard;  // it may be gone already
    (void)!write(go_write.get(), "g", 1);
  }
  go_write.reset();
  if (read(report.get(), &error, sizeof error) == sizeof error) {
    return errno_status(error, fmt::format("cannot run '{}'", argv[0]));
  }
  return pid;
}

}  // namespace radl
