// The logs of an infrastructure's steps, trainings and programs, as `radlc logs` and the service show them.
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
  std::string label;  // path below the folder of logs, without its extension
};

// Of a step, by its ID, or of a part of that.
std::string log_label(const std::string& id);

// Which logs are meant: those of a node, system, step or training, and of the jobs that it takes part in.
struct LogFilter {
  std::string name;  // empty: all
  std::vector<std::string> jobs;
  bool has(const std::string& label) const;
};
LogFilter log_filter(const std::string& name, const Snapshot& state);

// The logs below Store::log_directory(), the oldest first.
std::vector<LogFile> log_files(const std::string& directory, const LogFilter& filter);

// Steps that a living run is at now. The state has them as interrupted, which they are if the run dies.
std::set<std::string> running_steps(const Host& host, const std::string& directory, const std::string& name);

}  // namespace radl::driver
