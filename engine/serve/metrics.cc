#include "engine/serve/metrics.h"

#include <fmt/format.h>

namespace radl::engine::serve {

void Metrics::request(const std::string& path, int status, double seconds) {
  std::lock_guard lock(mutex_);
  // Only known paths are labels: others would let a client make as many series as it likes.
  const bool known = path == "/predict" || path == "/health" || path == "/metrics";
  ++requests_[{known ? path : "other", status}];
  if (path != "/predict") return;
  size_t b = 0;
  while (b < kBounds.size() && seconds > kBounds[b]) ++b;
  ++buckets_[b];
  seconds_ += seconds;
}

std::string Metrics::text(const Batcher::Counts& c) const {
  std::lock_guard lock(mutex_);
  std::string out = "# HELP radl_requests_total Requests answered.\n# TYPE radl_requests_total counter\n";
  for (const auto& [key, count] : requests_) {
    out += fmt::format("radl_requests_total{{path=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  }
  out +=
      "# HELP radl_predict_seconds Time from a request's last byte to its answer.\n# TYPE "
      "radl_predict_seconds histogram\n";
  uint64_t total = 0;
  for (size_t b = 0; b < kBounds.size(); ++b) {
    total += buckets_[b];
    out += fmt::format("radl_predict_seconds_bucket{{le=\"{:g}\"}} {}\n", kBounds[b], total);
  }
  total += buckets_.back();
  out += fmt::format(
      "radl_predict_seconds_bucket{{le=\"+Inf\"}} {}\nradl_predict_seconds_sum "
      "{:.6f}\nradl_predict_seconds_count {}\n",
      total, seconds_, total);
  out += fmt::format(
      "# HELP radl_images_total Images predicted.\n# TYPE radl_images_total "
      "counter\nradl_images_total {}\n",
      c.images);
  out += fmt::format(
      "# HELP radl_batches_total Batches run.\n# TYPE radl_batches_total counter\nradl_batches_total {}\n",
      c.batches);
  out += fmt::format(
      "# HELP radl_compute_seconds_total Time in the network.\n# TYPE radl_compute_seconds_total "
      "counter\nradl_compute_seconds_total {:.6f}\n",
      c.compute_seconds);
  out += fmt::format(
      "# HELP radl_waiting_images Images waiting for a batch.\n# TYPE radl_waiting_images "
      "gauge\nradl_waiting_images {}\n",
      c.waiting);
  return out;
}

}  // namespace radl::engine::serve
