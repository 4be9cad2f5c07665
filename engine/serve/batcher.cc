#include "engine/serve/batcher.h"

#include "common/clock.h"

namespace radl::engine::serve {

Batcher::Batcher(std::unique_ptr<Predictor> predictor, double wait_seconds, size_t queue)
    : predictor_(std::move(predictor)),
      wait_seconds_(wait_seconds),
      limit_(queue),
      thread_([this] { run(); }) {}

Batcher::~Batcher() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
  thread_.join();
}

std::vector<std::future<Prediction>> Batcher::submit(std::vector<std::vector<uint8_t>> images) {
  std::vector<std::future<Prediction>> futures;
  {
    std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() + images.size() > limit_) return futures;
    for (auto& image : images) {
      queue_.push_back({std::move(image), {}});
      futures.push_back(queue_.back().promise.get_future());
    }
  }
  arrived_.notify_all();
  return futures;
}

Batcher::Counts Batcher::counts() const {
  std::lock_guard lock(mutex_);
  Counts c = counts_;
  c.waiting = queue_.size();
  return c;
}

void Batcher::run() {
  const size_t most = size_t(predictor_->batch_size());
  std::unique_lock lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const auto until = SteadyClock::now() + std::chrono::microseconds(int64_t(wait_seconds_ * 1e6));
    arrived_.wait_until(lock, until, [&] { return stopping_ || queue_.size() >= most; });
    std::vector<std::vector<uint8_t>> images;
    std::vector<std::promise<Prediction>> promises;
    while (!queue_.empty() && images.size() < most) {
      images.push_back(std::move(queue_.front().image));
      promises.push_back(std::move(queue_.front().promise));
      queue_.pop_front();
    }
    lock.unlock();
    const auto begin = SteadyClock::now();
    auto predictions = predictor_->predict(images);
    const double seconds = seconds_since(begin);
    for (size_t i = 0; i < promises.size(); ++i) promises[i].set_value(std::move(predictions[i]));
    lock.lock();
    counts_.images += images.size();
    ++counts_.batches;
    counts_.compute_seconds += seconds;
  }
}

}  // namespace radl::engine::serve
