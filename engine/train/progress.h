// Progress lines (docs/progress-lines.md): JSON objects, one per line, for the job's progress file and the
// caller.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/train/job.h"
#include "engine/train/member_metrics.h"
#include "engine/train/run.h"

namespace radl::engine {

class Progress {
 public:
  // Opens job.progress (appends) and serves Prometheus at job.metrics. Conflict: that address is in
  // use.
  static Result<std::unique_ptr<Progress>> open(const Job& job, const RunHooks& hooks);
  ~Progress();

  // Writes {"event": kind, "task": ..., fields...}. Thread-safe. Failures to write the file (a full disk) are
  // recorded, not fatal.
  void emit(const char* kind, const nlohmann::ordered_json& fields);
  Status status() const;

 private:
  Progress(const Job& job, const RunHooks& hooks) : task_(job.task.name()), hooks_(hooks) {}
  std::string task_, path_;
  RunHooks hooks_;
  std::unique_ptr<MemberMetrics> metrics_;  // null without job.metrics
  mutable std::mutex mutex_;
  int file_ = -1;
  Status status_;
};

// Seconds since the epoch, for "time" in progress lines.
double wall_seconds();

}  // namespace radl::engine
