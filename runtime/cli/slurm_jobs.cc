#include "runtime/cli/slurm_jobs.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace radl::cli {

namespace {

std::string value_of(const std::map<std::string, std::string>& fields, const char* name) {
  auto found = fields.find(name);
  return found == fields.end() || found->second == "(null)" || found->second == "N/A" ? "" : found->second;
}

}  // namespace

bool SlurmTask::waits() const {
  return state == "PENDING" || state == "CONFIGURING" || state.starts_with("REQUEUE") ||
         state == "SPECIAL_EXIT";
}

bool SlurmTask::held() const { return state == "PENDING" && reason == "launch_failed_requeued_held"; }

bool SlurmTask::ended() const {
  static const char* const kEnds[] = {"COMPLETED", "FAILED",    "CANCELLED",     "TIMEOUT",  "NODE_FAIL",
                                      "BOOT_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "DEADLINE", "REVOKED"};
  return held() ||
         std::any_of(std::begin(kEnds), std::end(kEnds), [&](const char* end) { return state == end; });
}

std::vector<SlurmTask> read_slurm_tasks(const std::string& text) {
  std::vector<SlurmTask> tasks;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("JobId=")) continue;
    std::map<std::string, std::string> fields;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      if (equals != std::string::npos) fields.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
    SlurmTask task;
    task.task = value_of(fields, "ArrayTaskId");
    task.state = value_of(fields, "JobState");
    task.host = value_of(fields, "BatchHost");
    task.output = value_of(fields, "StdOut");
    task.reason = value_of(fields, "Reason");
    task.exit_status = std::atoi(value_of(fields, "ExitCode").c_str());
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace radl::cli
