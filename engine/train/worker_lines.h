// A worker's own progress lines: what it did since the last one.
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
  // `traffic`: what this worker's links have carried so far; `exchange`: how long it has waited for
  // exchanges.
  WorkerLines(const Job& job, const Setup& setup, Progress& progress,
              std::function<cluster::Traffic()> traffic, std::function<double()> exchange)
      : job_(job),
        setup_(setup),
        progress_(progress),
        traffic_(std::move(traffic)),
        exchange_(std::move(exchange)) {}
  // One more batch is computed. Writes a line for the first and then about once a second.
  void add(uint64_t ticket, const StepResult& result, int images);
  uint64_t steps() const { return total_steps_; }
  // What the links carried in the mean of all steps, when each step's exchange is done and they still stand.
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
  std::optional<cluster::Traffic> first_;  // with the first step: what is handed out before it is no step's
  Clock::time_point last_ = Clock::now();
  uint64_t steps_ = 0, correct_ = 0, images_ = 0, total_steps_ = 0;
  double loss_ = 0;
};

}  // namespace radl::engine
