// Runs a program from an argument vector (never through a shell), with pipes and a deadline.
// radlc starts all programs here that it waits for; see detached.h for those that outlive
// it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/process/environment.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl {

struct ProcessRequest {
  std::vector<std::string> argv;  // argv[0] is searched in PATH unless it has a '/'
  std::string stdin_bytes;
  // Supplies input after stdin_bytes whenever the program reads. "": none yet; nullopt: end of input. Must
  // not block.
  std::function<std::optional<std::string>()> more_stdin;
  std::string directory;           // "": the current directory
  EnvironmentChanges environment;  // set for the program; nullopt removes
  // The user's variables to pass besides kBasicVariables: names, or prefixes followed by `*`.
  std::vector<std::string> inherited;
  std::chrono::milliseconds deadline{std::chrono::minutes(10)};  // counted from the call
  Stop stop;                                                     // checked in addition to the deadline
  std::function<void(std::string_view piece, bool is_stderr)> on_output;
  size_t keep_bytes = size_t{1} << 20;  // the result keeps this many last bytes of each stream
};

struct ProcessResult {
  int exit_status = 0;  // 128+n if signal n ended it
  std::string out, err;
  bool out_cut = false, err_cut = false;  // earlier output was dropped
};

// Runs a program and waits for it. It ends with all its descendants, also those in their own session, when
// this process ends (even by kill -9), at the deadline (Timeout) or at a stop (Timeout, Cancelled): TERM,
// then KILL after 2 s. Processes left behind by a program that exits keep running and do not delay the call.
// `environment`: the user's. NotFound: the program does not exist. Any exit status is Ok.
Result<ProcessResult> run_process(const Environment& environment, const ProcessRequest& request);

// A running program with closed streams. It ends with all its descendants when this object is destroyed or
// this process ends, even by kill -9.
class KeptProcess {
 public:
  static Result<std::unique_ptr<KeptProcess>> start(const Environment& environment,
                                                    const std::vector<std::string>& argv);
  ~KeptProcess();
  KeptProcess(const KeptProcess&) = delete;
  KeptProcess& operator=(const KeptProcess&) = delete;
  bool runs();

 private:
  KeptProcess(int pid, int lifeline) : pid_(pid), lifeline_(lifeline) {}
  int pid_, lifeline_;
};

// Full path of a program, searched in PATH and then in the sbin folders; empty if not found.
std::string find_program(const Environment& environment, const std::string& name);

// Start time of process `pid` in clock ticks since boot; together they identify a process uniquely. 0: not
// alive.
unsigned long long process_start_time(int pid);
std::string boot_id();  // of the running kernel; "" if unreadable
std::string host_name();

// Call in a process that holds secrets. Disables core files (RLIMIT_CORE) and excludes all memory from dumps
// by a kernel handler (core(5), coredump_filter). Child programs inherit both; a detached one gets the
// kernel's filter back.
void forbid_core_dumps();
// Denies this user's debuggers access and restricts /proc to root (PR_SET_DUMPABLE). Not for processes of a
// job, which are found by their environment in /proc.
void forbid_inspection();

}  // namespace radl
