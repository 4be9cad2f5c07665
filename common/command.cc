#include "common/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "common/files.h"

namespace radl {
namespace {

constexpr size_t kKept = size_t{64} << 10;

struct Pipe {
  int read = -1, write = -1;
  ~Pipe() {
    close_read();
    close_write();
  }
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read = ends[0], write = ends[1];
    return true;
  }
  void close_read() {
    if (read >= 0) ::close(read);
    read = -1;
  }
  void close_write() {
    if (write >= 0) ::close(write);
    write = -1;
  }
};

// In the child, between fork and exec: system calls only.
[[noreturn]] void become(char* const* argv, const char* folder, int out, int err, int report) {
  ::setpgid(0, 0);
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  int error = 0;
  if (*folder && ::chdir(folder) != 0) error = errno;
  if (error == 0) {
    ::execvp(argv[0], argv);
    error = errno;
  }
  (void)!::write(report, &error, sizeof error);
  ::_exit(127);
}

void drain(Pipe& pipe, std::string& text) {
  char buffer[8192];
  const ssize_t n = ::read(pipe.read, buffer, sizeof buffer);
  if (n > 0) {
    text.append(buffer, size_t(n));
    if (text.size() > 2 * kKept) text.erase(0, text.size() - kKept);
  } else if (n == 0 || errno != EINTR) {
    pipe.close_read();
  }
}

}  // namespace

Result<CommandResult> run_command(const std::vector<std::string>& argv, const std::string& folder,
                                  double seconds, const Stop& stop) {
  std::vector<char*> arguments;
  for (const auto& a : argv) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  Pipe out, err, report;
  if (!out.open() || !err.open() || !report.open()) return errno_status(errno, argv[0]);
  const pid_t child = ::fork();
  if (child < 0) return errno_status(errno, argv[0]);
  if (child == 0) become(arguments.data(), folder.c_str(), out.write, err.write, report.write);
  out.close_write();
  err.close_write();
  report.close_write();
  int error = 0;
  const bool failed = ::read(report.read, &error, sizeof error) == sizeof error;

  CommandResult result;
  Status stopped;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(int64_t(seconds * 1000));
  while (!failed && (out.read >= 0 || err.read >= 0)) {
    pollfd waits[2] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
    ::poll(waits, 2, 100);
    if (waits[0].revents) drain(out, result.out);
    if (waits[1].revents) drain(err, result.err);
    const bool late = std::chrono::steady_clock::now() > end, asked = !stop.check().ok();
    if (late || asked) {
      ::kill(-child, SIGTERM);
      stopped =
          asked ? stop.check().at(argv[0])
                : Status(Code::Timeout, argv[0] + ": not done after " + std::to_string(int(seconds)) + " s");
      for (int i = 0; i < 20 && ::waitpid(child, nullptr, WNOHANG) == 0; ++i) ::usleep(100'000);
      ::kill(-child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      return stopped;
    }
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (failed) return errno_status(error, argv[0]);
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace radl
