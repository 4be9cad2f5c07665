#include "runtime/cli/signals.h"

#include <atomic>
#include <csignal>

namespace radl::cli {
namespace {

// A signal handler can reach nothing but statics: the one place in the program that has them.
std::atomic<Cancellation*> current{nullptr};
std::atomic<StopSource*> hung_up_source{nullptr};

void on_signal(int signal) {
  if (StopSource* hung_up = hung_up_source.load(std::memory_order_relaxed); hung_up && signal == SIGHUP)
    return hung_up->request();
  if (Cancellation* cancellation = current.load(std::memory_order_relaxed)) cancellation->request();
}

bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

SignalGuard::SignalGuard(Cancellation& cancellation)
    : cancellation_(cancellation),
      outer_(current.exchange(&cancellation)),
      outer_hung_up_(hung_up_source.exchange(nullptr)) {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  if (!is_ignored(SIGHUP)) ::sigaction(SIGHUP, &action, nullptr);  // ignored: nohup
}

void SignalGuard::on_hang_up(StopSource& hung_up) { hung_up_source.store(&hung_up); }

SignalGuard::~SignalGuard() {
  if (!outer_)
    for (int signal : {SIGINT, SIGTERM, SIGHUP})
      if (!is_ignored(signal)) std::signal(signal, SIG_DFL);
  current.store(outer_);
  hung_up_source.store(outer_hung_up_);
  if (outer_ && cancellation_.stop_starting()) outer_->request();
}

}  // namespace radl::cli
