// Starts a program with an argument vector (never through a shell), talks to it over pipes, and does not
// outwait its deadline.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl {

struct ProcessRequest {
  std::vector<std::string> argv;  // argv[0] is searched in PATH unless it has a '/'
  std::string stdin_bytes;
  std::string directory;                                          // empty: this process's
  std::map<std::string, std::optional<std::string>> environment;  // added to ours; nullopt removes
  std::chrono::milliseconds deadline{std::chrono::minutes(10)};
  std::function<bool()> cancelled;  // polled at least every 200 ms
  std::function<void(std::string_view piece, bool is_stderr)> on_output;
  size_t keep_bytes = size_t{1} << 20;  // the last so many of each stream are kept in the result
};

struct ProcessResult {
  int exit_status = 0;  // 128+n when signal n ended it
  std::string out, err;
};

// The program ends with this process, even a killed one. It and all that it started in its process group are
// ended (TERM, after 2 s KILL) when the deadline passes (Timeout) or it is cancelled (Cancelled). NotFound:
// there is no such program. Whatever exit status: ok.
Result<ProcessResult> run_process(const ProcessRequest& request);

// When process `pid` started, in clock ticks since boot: with the pid it names one process for good. 0: not
// alive.
unsigned long long process_start_time(int pid);
std::string boot_id();  // of the running kernel; empty when it cannot be read
std::string host_name();

}  // namespace radl
