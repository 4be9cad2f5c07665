#include "runtime/driver/slurm_jobs.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace radl::driver {

namespace {

std::string value_of(const std::map<std::string, std::string>& fields, const char* name) {
  auto found = fields.find(name);
  return found == fields.end() || found->second == "(null)" || found->second == "N/A" ? "" : found->second;
}

bool is_end(const std::string& state) {
  static const char* const kEnds[] = {"COMPLETED", "FAILED",    "CANCELLED",     "TIMEOUT",  "NODE_FAIL",
                                      "BOOT_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "DEADLINE", "REVOKED"};
  return std::any_of(std::begin(kEnds), std::end(kEnds), [&](const char* end) { return state == end; });
}

bool is_waiting(const std::string& state) {
  return state == "PENDING" || state == "CONFIGURING" || state.starts_with("REQUEUE") ||
         state == "SPECIAL_EXIT";
}

bool is_whole_number(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

// "worker-[0-1,4],front" -> worker-0, worker-1, worker-4, front. Keeps any other notation
// unchanged.
std::vector<std::string> hosts_in(const std::string& list) {
  std::vector<std::string> hosts;
  for (size_t at = 0; at < list.size();) {
    const size_t open = list.find_first_of("[,", at);
    if (open == std::string::npos || list[open] == ',') {
      hosts.push_back(list.substr(at, open - at));
      at = open == std::string::npos ? list.size() : open + 1;
      continue;
    }
    const size_t close = std::min(list.find(']', open), list.size());
    std::istringstream ranges(list.substr(open + 1, close - open - 1));
    for (std::string range; std::getline(ranges, range, ',');) {
      const size_t dash = range.find('-');
      const std::string first = range.substr(0, dash), last = range.substr(dash + 1);
      if (dash == std::string::npos || !is_whole_number(first) || !is_whole_number(last) || last.size() > 6) {
        hosts.push_back(list.substr(at, open - at) + range);
        continue;
      }
      for (int i = std::stoi(first); i <= std::stoi(last); ++i)
        hosts.push_back(list.substr(at, open - at) + std::to_string(i));
    }
    at = std::min(close + 2, list.size());
  }
  return hosts;
}

}  // namespace

bool SlurmTask::waits() const { return is_waiting(state); }

bool SlurmTask::held() const { return state == "PENDING" && reason == "launch_failed_requeued_held"; }

bool SlurmTask::ended() const { return held() || is_end(state); }

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

bool is_slurm_job(const std::string& word) {
  const size_t underscore = word.find('_');
  return is_whole_number(word.substr(0, underscore)) &&
         (underscore == std::string::npos || is_whole_number(word.substr(underscore + 1)));
}

bool QueuedTask::waits() const { return is_waiting(state); }
bool QueuedTask::ended() const { return is_end(state); }

// The name is last: it may hold anything but a newline.
const char* const kQueueFormat = "%i|%F|%T|%N|%r|%j";

std::vector<QueuedTask> read_slurm_queue(const std::string& text) {
  std::vector<QueuedTask> tasks;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    QueuedTask task;
    std::string hosts;
    for (std::string* field : {&task.id, &task.job, &task.state, &hosts, &task.reason})
      std::getline(fields, *field, '|');
    if (!std::getline(fields, task.name)) continue;
    task.hosts = hosts_in(hosts);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

namespace {

// True if a node runs jobs or will, by sinfo's short state: a suffix means that it does not respond, is
// powered down or is about to be.
bool takes_jobs(const std::string& state) {
  static const char* const kStates[] = {"idle", "mix", "alloc", "comp", "plnd", "resv"};
  return std::any_of(std::begin(kStates), std::end(kStates), [&](const char* one) { return state == one; });
}

constexpr long long kWatchedWithin = 60;

}  // namespace

bool SlurmService::is_watched() const { return watched && *watched <= kWatchedWithin; }

SlurmService read_slurm_service(const std::string& text) {
  SlurmService service;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, first, second;
    words >> kind >> first >> second;
    if (kind == "node") service.usable |= takes_jobs(first);
    if (kind == "idle") service.elastic = is_whole_number(first);  // else NONE, INFINITE or -1
    if (kind == "seen") service.seen = true;
    if (kind == "served" && first.size() < 18) service.watched = std::atoll(first.c_str());
    if (kind == "wish" && is_whole_number(first) && second != "remove")
      service.wished.push_back(std::atoi(first.c_str()));
  }
  return service;
}

}  // namespace radl::driver
