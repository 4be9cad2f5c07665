// The server's counters in Prometheus' text format (prometheus.io/docs/instrumenting/exposition_formats).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "engine/serve/batcher.h"

namespace radl::engine::serve {

class Metrics {
 public:
  void request(const std::string& path, int status, double seconds);
  std::string text(const Batcher::Counts& batches) const;

 private:
  static constexpr std::array<double, 10> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025,
                                                     0.05,  0.1,    0.25,  1,    5};
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::array<uint64_t, kBounds.size() + 1> buckets_{};  // /predict requests by duration in seconds
  double seconds_ = 0;
};

}  // namespace radl::engine::serve
