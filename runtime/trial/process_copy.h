// A copy of this process that does one piece of work, reports it through a pipe and ends. It runs C++ after
// fork() without exec(): its input (a compiled program, secrets, closures) has no form that an exec could
// pass. That is safe because the process has one thread when it forks, which is checked
// (docs/decisions/0031-copies-of-the-process.md).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>

#include "common/status.h"

namespace radl {

struct ProcessCopy {
  pid_t process = 0;
  int answers = -1;  // read end of the pipe; both are the caller's to wait for and to close
};

// The copy calls `work` with the write end, then exits with 0; it is killed when this process ends. Internal:
// this process still has a second thread after `settle` (the kernel lists joined threads for a moment). Quota
// and others: the system refuses a pipe or a process.
Result<ProcessCopy> copy_process(const std::function<void(int answers)>& work,
                                 std::chrono::milliseconds settle = std::chrono::seconds(10));

}  // namespace radl
