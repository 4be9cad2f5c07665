// Suppresses SIGPIPE in one thread.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <ctime>

namespace radl {

// While an instance exists, writing to a pipe or socket whose other end is closed fails with EPIPE
// instead of ending the process. The signal is blocked for this thread; the destructor discards a pending
// one.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    timespec none{0, 0};
    while (::sigtimedwait(&pipe_, nullptr, &none) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
};

}  // namespace radl
