#include "runtime/trial/process_copy.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

namespace radl {
namespace {

// A lock that another thread holds at the moment of the fork stays locked in the copy for ever.
bool has_one_thread() {
  std::error_code failed;
  std::filesystem::directory_iterator threads("/proc/self/task", failed);
  return !failed && std::distance(begin(threads), end(threads)) == 1;
}

bool becomes_single_threaded(std::chrono::milliseconds settle) {
  const auto begun = std::chrono::steady_clock::now();
  while (!has_one_thread()) {
    if (std::chrono::steady_clock::now() - begun > settle) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace

Result<ProcessCopy> copy_process(const std::function<void(int answers)>& work,
                                 std::chrono::milliseconds settle) {
  if (!becomes_single_threaded(settle))
    return internal_error("a process with several threads cannot be copied for a simulated run");
  int ends[2];
  if (::pipe(ends) != 0) return errno_status(errno, "pipe");
  const pid_t process = ::fork();
  if (process < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return errno_status(error, "fork");
  }
  if (process == 0) {
    ::close(ends[0]);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    work(ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  return ProcessCopy{process, ends[0]};
}

}  // namespace radl
