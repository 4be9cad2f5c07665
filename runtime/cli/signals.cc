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

SignalGuard::SignalGuard(Cancellation& cancellation)
    : cancellation_(cancellation), outer_(current.exchange(&cancellation)) {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

SignalGuard::~SignalGuard() {
  if (!outer_)
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  current.store(outer_);
  if (outer_ && cancellation_.stop_starting()) outer_->request();
}

}  // namespace radl::cli
