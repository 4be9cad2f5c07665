#include "runtime/driver/logs.h"

#include <algorithm>

#include "runtime/driver/jobs.h"
#include "runtime/state/store.h"
#include "runtime/steps/step_log.h"

namespace radl::driver {

namespace fs = std::filesystem;

std::string log_label(const std::string& id) {
  const std::string name = log_file_name(id);
  return name.substr(0, name.rfind(".log"));
}

bool LogFilter::has(const std::string& label) const {
  return label.find(log_label(name)) != std::string::npos ||
         std::find(jobs.begin(), jobs.end(), label) != jobs.end();
}

// A job has one log, of all its nodes.
LogFilter log_filter(const std::string& name, const Snapshot& state) {
  LogFilter filter{name, {}};
  for (const StepRecord* job : jobs_of(state)) {
    const bool takes_part = std::any_of(job->nodes.begin(), job->nodes.end(), [&](const std::string& node) {
      return node == name || node.starts_with(name + "[");
    });
    if (takes_part && !name.empty()) filter.jobs.push_back(log_label(job->id));
  }
  return filter;
}

std::vector<LogFile> log_files(const std::string& directory, const LogFilter& filter) {
  std::vector<LogFile> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(directory, error)) {
    if (!entry.is_regular_file(error)) continue;
    std::string label = fs::relative(entry.path(), directory, error).replace_extension().string();
    if (filter.has(label)) files.push_back({entry.path(), std::move(label)});
  }
  std::sort(files.begin(), files.end(), [](const LogFile& a, const LogFile& b) {
    std::error_code none;
    auto left = fs::last_write_time(a.path, none), right = fs::last_write_time(b.path, none);
    return left != right ? left < right : a.label < b.label;
  });
  return files;
}

std::set<std::string> running_steps(const Host& host, const std::string& directory, const std::string& name) {
  auto store = Store::open(directory, name, OpenMode::Read, *host.world);
  if (!store.ok()) return {};
  auto holder = (*store)->lock_holder();
  auto intents = (*store)->open_intents();
  if (!holder.ok() || !*holder || !intents.ok()) return {};
  std::set<std::string> steps;
  for (const Intent& intent : *intents)
    if (intent.kind == Intent::Kind::Run) steps.insert(intent.address);
  return steps;
}

}  // namespace radl::driver
