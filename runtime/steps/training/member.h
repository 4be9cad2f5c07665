// One node of a training: its folder, the processes in it, what they write.
//
//   ~/.radl/jobs/<job>/  job-<task>.json  job.key (0600)  run.json  checkpoint/  events/  model/
//                        progress-<task>.jsonl  <task>.log  <task>.pid  <task>.exit
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/steps/training/engine_bundle.h"
#include "runtime/steps/training/tasks.h"

namespace radl::training {

struct TaskState {
  enum class Phase { Absent, Running, Ended } phase = Phase::Absent;  // Ended without exit: was killed
  int exit = -1;
};

struct NodeFile {
  std::string name;  // below the folder that was listed
  uint64_t size = 0;
};

class Member {
 public:
  Member(const NodeHandle& node, const Context& context, std::string job)
      : node_(node), context_(context), job_(std::move(job)) {}

  const std::string& address() const { return node_.address; }
  std::string folder() const { return "~/.radl/jobs/" + job_; }
  // The digest of the run that the folder belongs to, empty if none; `home` and used ports come with it.
  struct Look {
    std::string run, home;
    std::vector<int> ports;
    std::vector<std::pair<std::string, TaskState>> tasks;  // by Task::file()
    TaskState of(const std::string& file) const {
      for (const auto& [name, state] : tasks) {
        if (name == file) return state;
      }
      return {};
    }
  };
  Result<Look> look();
  // Ends what runs; with `fresh` removes checkpoints and all else that was written.
  Status clear(bool fresh);
  // True if the dataset has to be brought.
  Result<bool> lacks_data(const std::string& directory);
  Status write_job(const Task& task, const Json& job, const std::string& key);
  Status write_run(const std::string& run);
  // Starts tasks in sessions of their own: they outlive the connection. What an earlier start of a task left
  // (its end, not its progress) is removed.
  Status start(const Engine& engine, const std::vector<Task>& tasks);
  // Asks tasks to end (they write a checkpoint), or kills them.
  Status signal(const std::vector<std::string>& files, const char* name);
  struct Follower {
    std::function<void(const std::string& line)> on_line;  // each JSON line
    // A process has ended with this status (-1: killed without one). True: restart() it.
    std::function<bool(const std::string& file, int exit)> on_end;
    std::function<Status(const std::vector<std::string>& files)> restart;
    std::function<bool()> stop;
  };
  // Follows progress files and ends of processes until `stop`. Lost when the node cannot be reached any more.
  Status follow(const std::vector<Task>& tasks, const Follower& follower);
  Result<std::string> log_tail(const std::string& file, int lines);
  // Brings a folder of the job to this machine. The number of files.
  Result<size_t> fetch(const std::string& below, const std::string& local_folder);
  // One file of the job's folder to this machine, and the other way; NotFound where there is none.
  Status fetch_file(const std::string& below, const std::string& local_path, const Stop& stop);
  Result<std::string> read(const std::string& below, size_t most);
  Status put_file(const std::string& local_path, const std::string& below, const Stop& stop);
  Status put_bytes(std::string_view content, const std::string& below, const Stop& stop);
  // The files below a folder of the job that are whole: names that end in ".part" are left out.
  Result<std::vector<NodeFile>> files(const std::string& below);

 private:
  Result<ExecResult> exec(const std::string& command);
  Status make_folder_of(const std::string& below);
  // Lines "DIGEST  ./PATH" of the files in a folder of the job.
  Result<std::string> list(const std::string& below);

  const NodeHandle& node_;
  const Context& context_;
  std::string job_;
};

}  // namespace radl::training
