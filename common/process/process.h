// Starts a program with an argument vector (never through a shell), talks to it over pipes, and does not
// outwait its deadline. The one place where radlc starts programs that it waits for; see detached.h for those
// that outlive it.
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
  // What follows stdin_bytes, asked for as the program reads: "": nothing yet, nullopt: the end. It must not
  // wait.
  std::function<std::optional<std::string>()> more_stdin;
  std::string directory;           // empty: this process's
  EnvironmentChanges environment;  // set for it; nullopt removes
  // Which variables of the user's it gets besides kBasicVariables: names, or a beginning with `*` after it.
  std::vector<std::string> inherited;
  std::chrono::milliseconds deadline{std::chrono::minutes(10)};  // from the call on
  Stop stop;                                                     // besides the deadline
  std::function<void(std::string_view piece, bool is_stderr)> on_output;
  size_t keep_bytes = size_t{1} << 20;  // the last so many of each stream are kept in the result
};

struct ProcessResult {
  int exit_status = 0;  // 128+n when signal n ended it
  std::string out, err;
  bool out_cut = false, err_cut = false;  // there was more before it
};

// The program ends with this process, even a killed one, with all that descends from it, also what has made a
// session of its own. So it does (TERM, after 2 s KILL) when the deadline passes (Timeout) or it is to stop
// (Timeout, Cancelled). What it leaves running when it ends by itself stays, and does not hold the call up.
// `environment`: of the user whom it runs for. NotFound: the program does not exist. Any exit status is ok.
Result<ProcessResult> run_process(const Environment& environment, const ProcessRequest& request);

// A program that runs, its streams closed, until this object goes or this process ends, even by kill -9; then
// it ends with all that descends from it.
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

// When process `pid` started, in clock ticks since boot: with the pid it names one process for good. 0: not
// alive.
unsigned long long process_start_time(int pid);
std::string boot_id();  // of the running kernel; empty when it cannot be read
std::string host_name();

// For a process that holds secrets: no core file (RLIMIT_CORE), and nothing of its memory in one that a
// kernel's handler takes all the same (core(5), coredump_filter). Programs that it starts inherit both; a
// detached one has the kernel's filter again.
void forbid_core_dumps();
// No debugger of this user, and /proc shows this process to root alone (PR_SET_DUMPABLE). Not for processes
// of a job, which are found by their environment in /proc.
void forbid_inspection();

}  // namespace radl
