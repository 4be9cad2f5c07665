#include "engine/train/progress.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "common/json_values.h"

namespace radl::engine {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Result<std::unique_ptr<Progress>> Progress::open(const Job& job, const RunHooks& hooks) {
  std::unique_ptr<Progress> out(new Progress(job, hooks));
  if (!job.metrics.empty()) {
    Result<std::unique_ptr<MemberMetrics>> metrics = MemberMetrics::start(job);
    if (!metrics) return std::move(metrics).status().at("metrics");
    out->metrics_ = std::move(*metrics);
  }
  if (job.progress.empty()) return out;
  out->path_ = job.progress;
  std::string folder = std::filesystem::path(job.progress).parent_path();
  if (Status made = make_directories(folder); !made.ok()) return made;
  out->file_ = ::open(job.progress.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (out->file_ < 0) return errno_status(errno, job.progress);
  return out;
}

Progress::~Progress() {
  if (file_ >= 0) ::close(file_);
}

void Progress::emit(const char* kind, const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json line = {{"event", kind}, {"task", task_}};
  for (const auto& [key, value] : fields.items()) line[key] = value;
  if (metrics_) metrics_->note(kind, line);
  json::spell_non_finite(line);
  std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::lock_guard lock(mutex_);
  if (hooks_.progress) hooks_.progress(text);
  if (file_ < 0) return;
  text += '\n';  // one write a line: a reader never sees a part of one from two writers
  ssize_t n = ::write(file_, text.data(), text.size());
  if (n != static_cast<ssize_t>(text.size()) && status_.ok())
    status_ = errno_status(n < 0 ? errno : ENOSPC, path_);
}

Status Progress::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace radl::engine
