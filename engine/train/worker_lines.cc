#include "engine/train/worker_lines.h"

#include <nlohmann/json.hpp>

namespace radl::engine {

void WorkerLines::add(uint64_t ticket, const StepResult& result, int images) {
  ++steps_;
  loss_ += result.loss;
  correct_ += static_cast<uint64_t>(result.correct);
  images_ += static_cast<uint64_t>(images);
  bool first = total_steps_++ == 0;
  double seconds = std::chrono::duration<double>(Clock::now() - last_).count();
  if (!first && seconds < 1.0) return;
  progress_.emit("step", {{"step", ticket + 1},
                          {"steps", setup_.length.total},
                          {"epoch", setup_.length.epoch_of(ticket + 1)},
                          {"epochs", job_.epochs},
                          {"loss", loss_ / static_cast<double>(steps_)},
                          {"accuracy", static_cast<double>(correct_) / static_cast<double>(images_)},
                          {"images_per_second", static_cast<double>(images_) / seconds}});
  last_ = Clock::now();
  steps_ = correct_ = images_ = 0;
  loss_ = 0;
}

}  // namespace radl::engine
