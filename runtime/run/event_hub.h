// Numbers the events of a run and hands them to whoever listens, each listener at its own pace: one that is
// slow, stuck or broken holds up neither the run nor the others.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/stop.h"
#include "runtime/exec/events.h"

namespace radl {

namespace event_parts {
struct Listener;
}

using ListenerId = const event_parts::Listener*;

struct ListenerOptions {
  std::string name;            // for what is said of it: "the screen"
  size_t most_waiting = 8192;  // events that it has yet to hear; what comes beyond that it does not hear
};

// What became of a listener.
struct ListenerEnd {
  std::string name;
  unsigned long long lost = 0;  // events that it never heard
  Status status;  // ok; what it threw; Timeout or Cancelled: it had not heard all when it was given up
};

class EventHub : public EventSink {
 public:
  explicit EventHub(std::string run) : run_(std::move(run)) {}
  ~EventHub() override;  // gives up whoever is still busy
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;

  const std::string& run() const { return run_; }

  // From now on `listener` is given every event in a thread of its own. Where it was too slow it is given an
  // EventsLost in the place of those that it did not hear; the begin and the end of a run it always hears.
  // After it has thrown it is given nothing more. Quota: there was no thread for it.
  Result<ListenerId> listen(std::shared_ptr<EventSink> listener, ListenerOptions options);
  // Hears everything, at once, in the thread of the run, which waits for it: for what only takes note.
  // Outlives this.
  void note(EventSink& listener);

  // Puts the run and the next number on the event. From any thread.
  void emit(const Event& event) override;
  unsigned long long last() const;  // number of the last one

  // Gives it nothing more, and waits until it has heard all that it was given, or `stop`: then it is given
  // up, and its thread left to itself.
  ListenerEnd let_go(ListenerId listener, const Stop& stop);
  // All of them, in the order in which they were added.
  std::vector<ListenerEnd> close(const Stop& stop);

 private:
  const std::string run_;
  mutable std::mutex mutex_;
  unsigned long long last_ = 0;
  std::vector<EventSink*> notes_;
  std::vector<std::shared_ptr<event_parts::Listener>> listeners_;
};

}  // namespace radl
