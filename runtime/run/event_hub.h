// Numbers the events of a run and passes them to its listeners, each at its own pace: a slow, stuck or broken
// listener delays neither the run nor the others.
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
  std::string name;            // for messages: "the screen"
  size_t most_waiting = 8192;  // limit of undelivered events; later ones are dropped
};

// The end of a listener.
struct ListenerEnd {
  std::string name;
  unsigned long long lost = 0;  // events that it never received
  Status status;  // ok; its exception; Timeout or Cancelled: given up before it had received everything
};

class EventHub : public EventSink {
 public:
  explicit EventHub(std::string run) : run_(std::move(run)) {}
  ~EventHub() override;  // gives up busy listeners
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;

  const std::string& run() const { return run_; }

  // Delivers every event from now on to `listener` on a thread of its own. If it was too slow, an EventsLost
  // replaces the events it missed; it always receives the begin and end of a run. After an exception it
  // receives nothing more. Quota: no thread available.
  Result<ListenerId> listen(std::shared_ptr<EventSink> listener, ListenerOptions options);
  // Receives everything immediately, on the run's thread, which waits: only for quick listeners. Must outlive
  // this object.
  void note(EventSink& listener);

  // Sets the run and the next number of the event. Thread-safe.
  void emit(const Event& event) override;
  unsigned long long last() const;  // number of the last event

  // Stops delivery and waits until the listener has received everything queued, or until `stop`: then it is
  // given up and its thread detached.
  ListenerEnd let_go(ListenerId listener, const Stop& stop);
  // Same for all listeners, in the order of their registration.
  std::vector<ListenerEnd> close(const Stop& stop);

 private:
  const std::string run_;
  mutable std::mutex mutex_;
  unsigned long long last_ = 0;
  std::vector<EventSink*> notes_;
  std::vector<std::shared_ptr<event_parts::Listener>> listeners_;
};

}  // namespace radl
