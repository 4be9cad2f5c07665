#include "runtime/cli/signals.h"

#include <atomic>
#include <csignal>

namespace radl::cli {
namespace {

// A signal handler can reach nothing but a static: the one place in the program that has one.
std::atomic<Cancellation*> current{nullptr};

void on_signal(int) {
  if (Cancellation* cancellation = current.load(std::memory_order_relaxed)) cancellation->request();
}

}  // namespace

SignalGuard::SignalGuard(Cancellation& cancellation) {
  current.store(&cancellation);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGHUP, &action, nullptr);
}

SignalGuard::~SignalGuard() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  current.store(nullptr);
}

}  // namespace radl::cli
