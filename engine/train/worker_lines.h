// A worker's own progress lines about the time since the last one.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "engine/cluster/link.h"
#include "engine/train/node_meter.h"
#include "engine/train/progress.h"
#include "engine/train/setup.h"

namespace radl::engine {

class WorkerLines {
 public:
  // `traffic`: total traffic of this worker's links so far. `exchange`: total wait for exchanges so
  // far.
  WorkerLines(const Job& job, const Setup& setup, Progress& progress,
              std::function<cluster::Traffic()> traffic, std::function<double()> exchange)
      : job_(job),
        setup_(setup),
        progress_(progress),
        traffic_(std::move(traffic)),
        exchange_(std::move(exchange)) {}
  // Records a computed batch. Writes a line for the first one and then about once a second.
  void add(uint64_t ticket, const StepResult& result, int images);
  uint64_t steps() const { return total_steps_; }
  // Adds the links' mean traffic per step. Call when each step's exchange is done and the links still exist.
  void add_links(nlohmann::ordered_json& line) const { add_links(line, total_steps_); }

 private:
  void add_links(nlohmann::ordered_json& line, uint64_t exchanges) const;
  using Clock = std::chrono::steady_clock;
  const Job& job_;
  const Setup& setup_;
  Progress& progress_;
  std::function<cluster::Traffic()> traffic_;
  std::function<double()> exchange_;
  NodeMeter meter_;
  std::optional<cluster::Traffic> first_;  // at the first step; excludes the initial distribution
  Clock::time_point last_ = Clock::now();
  uint64_t steps_ = 0, correct_ = 0, images_ = 0, total_steps_ = 0;
  double loss_ = 0;
};

}  // namespace radl::engine
