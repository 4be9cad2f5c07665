// Combines images of concurrent requests into batches for one predictor.
#pragma once

#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/serve/predictor.h"

namespace radl::engine::serve {

class Batcher {
 public:
  Batcher(std::unique_ptr<Predictor> predictor, double wait_seconds, size_t queue);
  ~Batcher();  // answers everything submitted first

  // Returns one future per image; empty if there is no room for all of them.
  std::vector<std::future<Prediction>> submit(std::vector<std::vector<uint8_t>> images);
  const Predictor& predictor() const { return *predictor_; }

  struct Counts {
    uint64_t images = 0, batches = 0, waiting = 0;
    double compute_seconds = 0;
  };
  Counts counts() const;

 private:
  struct Item {
    std::vector<uint8_t> image;
    std::promise<Prediction> promise;
  };
  void run();

  std::unique_ptr<Predictor> predictor_;
  const double wait_seconds_;
  const size_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Item> queue_;
  Counts counts_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace radl::engine::serve
