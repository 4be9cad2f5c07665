// Threads that do what may wait, with a bounded queue before them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace radl::httpd {

class Workers {
 public:
  // `threads` at once; `queue` more may wait for one.
  Workers(size_t threads, size_t queue);
  ~Workers();  // as stop()

  // False: the queue is full, or stop() was called. The task must not throw.
  [[nodiscard]] bool submit(std::function<void()> task);
  // Finishes what was taken. Called once more, it does nothing.
  void stop();

 private:
  void work();

  const size_t queue_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  size_t idle_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace radl::httpd
