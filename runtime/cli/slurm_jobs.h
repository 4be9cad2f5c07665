// What Slurm's commands print, read: pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace radl::cli {

struct SlurmTask {
  std::string task;    // of an array; empty: the job is not an array. A range ("2-4") waits as a whole
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

// Before the number of a job where trainings and programs have names too: "slurm/12".
inline constexpr const char* kSlurmJobs = "slurm/";
// "12" or, of an array, "12_3".
bool is_slurm_job(const std::string& word);

struct QueuedTask {
  std::string id;      // "12", "12_3"; "12_[2-4]" waits as a whole
  std::string job;     // "12"
  std::string state;   // as of a SlurmTask
  std::string reason;  // why it waits; "None"
  std::string name;
  std::vector<std::string> hosts;  // that run it, or are about to

  // Of this job, or this task of it. A range is of its job alone.
  bool is_of(const std::string& wanted) const { return id == wanted || job == wanted; }
  bool waits() const;
  bool ended() const;
};

// For `squeue -o`, what read_slurm_queue() reads. Names of hosts are written out one by one there.
extern const char* const kQueueFormat;
std::vector<QueuedTask> read_slurm_queue(const std::string& text);

// Whether waiting jobs will get a node.
struct SlurmService {
  bool usable = false;               // a node runs jobs, or takes the next ones
  bool elastic = false;              // Slurm's power saving asks for nodes
  std::vector<int> wished;           // ordinals that it has asked for and not got
  std::optional<long long> watched;  // seconds since `radlc autoscale` read the wishes
  bool seen = false;                 // the folder of wishes could be read
  bool is_watched() const;
};
// Of lines "node STATE" (sinfo's %t), "wish ORDINAL WHAT", "served SECONDS", "seen" and "idle SuspendTime".
SlurmService read_slurm_service(const std::string& text);

}  // namespace radl::cli
