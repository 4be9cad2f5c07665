// What Slurm's controller says of a job, task by task.
#pragma once

#include <string>
#include <vector>

namespace radl::cli {

struct SlurmTask {
  std::string task;    // of an array; empty: the job is none. A range ("2-4") waits as a whole
  std::string state;   // "RUNNING": https://slurm.schedmd.com/squeue.html, JOB STATE CODES
  std::string host;    // whose slurmd runs it; empty: none yet
  std::string output;  // path there; empty: not known
  std::string reason;  // why it waits: "launch_failed_requeued_held"
  int exit_status = 0;

  bool waits() const;
  // Slurm could not start it, has queued it again, and starts it no more until somebody releases it.
  bool held() const;
  bool ended() const;
  bool well() const { return state == "COMPLETED"; }
};

// Of `scontrol -o show job ID`: a line a task.
std::vector<SlurmTask> read_slurm_tasks(const std::string& text);

}  // namespace radl::cli
