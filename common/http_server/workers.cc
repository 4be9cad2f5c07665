#include "common/http_server/workers.h"

namespace radl::httpd {

Workers::Workers(size_t threads, size_t queue) : queue_(queue), idle_(threads) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Workers::~Workers() { stop(); }

bool Workers::submit(std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_ || waiting_.size() >= idle_ + queue_) return false;
    waiting_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

void Workers::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  threads_.clear();
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    --idle_;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    ++idle_;
  }
}

}  // namespace radl::httpd
