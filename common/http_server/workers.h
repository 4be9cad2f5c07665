// A thread pool for blocking tasks, with a bounded queue.
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
  // Runs up to `threads` tasks at a time; up to `queue` more may wait.
  Workers(size_t threads, size_t queue);
  ~Workers();  // calls stop()

  // False if the queue is full or stop() was called. The task must not throw.
  [[nodiscard]] bool submit(std::function<void()> task);
  // Finishes the accepted tasks. Further calls have no effect.
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
