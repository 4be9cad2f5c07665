// Members of a toy job as processes of their own.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <new>
#include <thread>
#include <utility>

#include "engine/cluster/link.h"

namespace radl::engine::cluster::toy {

// A child that runs `body` and exits with 0 when that is true.
class Process {
 public:
  explicit Process(const std::function<bool()>& body) : pid_(::fork()) {
    if (pid_ == 0) ::_exit(body() ? 0 : 1);
  }
  ~Process() { end(); }
  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Process& operator=(Process&& other) noexcept {
    end();
    pid_ = std::exchange(other.pid_, -1);
    return *this;
  }
  void signal(int number) const { ::kill(pid_, number); }
  // The exit status within that time, or -1.
  int wait(Milliseconds patience) {
    for (auto end = Clock::now() + patience; Clock::now() < end;
         std::this_thread::sleep_for(Milliseconds(5))) {
      int status;
      if (::waitpid(pid_, &status, WNOHANG) != pid_) continue;
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return -1;
  }

 private:
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid_;
};

// Counts the steps of processes that were forked after it was made.
class SharedCount {
 public:
  SharedCount()
      : page_(::mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        count_(new (page_) Count(0)) {}
  ~SharedCount() { ::munmap(page_, sizeof(Count)); }
  SharedCount(const SharedCount&) = delete;
  void add() { ++*count_; }
  int value() const { return *count_; }

 private:
  using Count = std::atomic<int>;
  void* page_;
  Count* count_;
};

}  // namespace radl::engine::cluster::toy
