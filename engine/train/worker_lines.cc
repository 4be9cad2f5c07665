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
  nlohmann::ordered_json line = {{"step", ticket + 1},
                                 {"steps", setup_.length.total},
                                 {"epoch", setup_.length.epoch_of(ticket + 1)},
                                 {"epochs", job_.epochs},
                                 {"loss", loss_ / static_cast<double>(steps_)},
                                 {"accuracy", static_cast<double>(correct_) / static_cast<double>(images_)},
                                 {"images_per_second", static_cast<double>(images_) / seconds}};
  const NodeUse use = meter_.take(exchange_());
  line["waiting_share"] = use.waiting_share;
  line["cores"] = use.cores;
  line["memory_bytes"] = use.memory_bytes;
  if (!first_) first_ = traffic_();
  // There is one exchange between two computed batches.
  add_links(line, total_steps_ - 1);
  progress_.emit("step", line);
  last_ = Clock::now();
  steps_ = correct_ = images_ = 0;
  loss_ = 0;
}

void WorkerLines::add_links(nlohmann::ordered_json& line, uint64_t exchanges) const {
  const cluster::Traffic now = traffic_();
  if (exchanges == 0 || !first_ || now.sent <= first_->sent) return;
  line["sent_bytes_per_step"] = (now.sent - first_->sent) / exchanges;
  line["received_bytes_per_step"] = (now.received - first_->received) / exchanges;
  if (now.round_trip_seconds > 0) line["round_trip_seconds"] = now.round_trip_seconds;
  if (now.bytes_per_second > 0) line["link_bytes_per_second"] = now.bytes_per_second;
}

}  // namespace radl::engine
