// Parses the output of Slurm's commands. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace radl::driver {

struct SlurmTask {
  std::string task;    // index in an array; empty: the job is not an array. A range ("2-4") waits as a whole
  std::string state;   // "RUNNING": https://slurm.schedmd.com/squeue.html, JOB STATE CODES
  std::string host;    // node that runs it; empty: none yet
  std::string output;  // path on that node; empty: unknown
  std::string reason;  // why it waits: "launch_failed_requeued_held"
  int exit_status = 0;

  bool waits() const;
  // Slurm could not start it, has requeued it, and will not start it until someone releases it.
  bool held() const;
  bool ended() const;
  bool well() const { return state == "COMPLETED"; }
};

// Parses `scontrol -o show job ID`: one line per task.
std::vector<SlurmTask> read_slurm_tasks(const std::string& text);

// Prefix of job numbers where trainings and programs also have names: "slurm/12".
inline constexpr const char* kSlurmJobs = "slurm/";
// True for "12" or, for an array, "12_3".
bool is_slurm_job(const std::string& word);

struct QueuedTask {
  std::string id;      // "12", "12_3"; "12_[2-4]" waits as a whole
  std::string job;     // "12"
  std::string state;   // as in SlurmTask
  std::string reason;  // why it waits; "None"
  std::string name;
  std::vector<std::string> hosts;  // nodes that run it, or are about to

  // True if it belongs to this job or task. A range belongs only to its job.
  bool is_of(const std::string& wanted) const { return id == wanted || job == wanted; }
  bool waits() const;
  bool ended() const;
};

// The format for `squeue -o` that read_slurm_queue() parses. It lists host names individually.
extern const char* const kQueueFormat;
std::vector<QueuedTask> read_slurm_queue(const std::string& text);

// Whether waiting jobs will get a node.
struct SlurmService {
  bool usable = false;               // a node runs jobs, or accepts the next ones
  bool elastic = false;              // Slurm's power saving requests nodes
  std::vector<int> wished;           // ordinals that it has requested but not received
  std::optional<long long> watched;  // seconds since `radlc autoscale` read the requests
  bool seen = false;                 // the folder of requests is readable
  bool is_watched() const;
};
// Parses "node STATE" (sinfo's %t), "wish ORDINAL WHAT", "served SECONDS", "seen", "idle SuspendTime".
SlurmService read_slurm_service(const std::string& text);

}  // namespace radl::driver
