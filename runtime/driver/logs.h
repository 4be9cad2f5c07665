// Logs of an infrastructure's steps, trainings and programs, for `radlc logs` and the service.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "runtime/driver/host.h"
#include "runtime/state/snapshot.h"

namespace radl::driver {

struct LogFile {
  std::filesystem::path path;
  std::string label;  // path below the log folder, without extension
};

// The label for a step's ID or a part of it.
std::string log_label(const std::string& id);

// Selects the logs of a node, system, step or training, and of the jobs that it takes part in.
struct LogFilter {
  std::string name;  // empty: all
  std::vector<std::string> jobs;
  bool has(const std::string& label) const;
};
LogFilter log_filter(const std::string& name, const Snapshot& state);

// The logs below Store::log_directory(), oldest first.
std::vector<LogFile> log_files(const std::string& directory, const LogFilter& filter);

// Steps executed now by a live run. In the state they are interrupted, which is correct if the run dies.
std::set<std::string> running_steps(const Host& host, const std::string& directory, const std::string& name);

}  // namespace radl::driver
