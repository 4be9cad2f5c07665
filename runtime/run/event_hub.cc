#include "runtime/run/event_hub.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <thread>
#include <utility>

#include "common/guarded.h"

namespace radl {

namespace event_parts {

// Shared by the hub and the listener's thread: whoever is last frees it, so that a listener that never
// returns can be left behind.
struct Listener {
  Listener(std::shared_ptr<EventSink> given, ListenerOptions how, std::string of_run)
      : sink(std::move(given)), options(std::move(how)), run(std::move(of_run)) {}

  std::shared_ptr<EventSink> sink;
  const ListenerOptions options;
  const std::string run;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<const Event>> waiting;
  unsigned long long gap_from = 0, gap_to = 0;  // 0: there is none
  unsigned long long lost = 0;
  bool closed = false, ended = false;
  Status status;
  std::thread thread;

  // With the mutex.
  void close_gap() {
    if (gap_from == 0) return;
    auto gap = std::make_shared<Event>();
    gap->kind = EventKind::EventsLost;
    gap->run = run;
    gap->data = {{"from", gap_from}, {"to", gap_to}};
    waiting.push_back(std::move(gap));
    gap_from = gap_to = 0;
  }

  void offer(const std::shared_ptr<const Event>& event) {
    std::lock_guard guard(mutex);
    if (closed || !status.ok()) {
      ++lost;
      return;
    }
    const bool frames = event->kind == EventKind::RunStarted || event->kind == EventKind::RunFinished;
    if (waiting.size() >= options.most_waiting && !frames) {
      if (gap_from == 0) gap_from = event->sequence;
      gap_to = event->sequence;
      ++lost;
      return;
    }
    close_gap();
    waiting.push_back(event);
    changed.notify_one();
  }

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return closed || !waiting.empty(); });
      if (waiting.empty()) break;
      std::shared_ptr<const Event> event = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      Status heard = guarded([&]() -> Status { return sink->emit(*event), Status(); });
      lock.lock();
      if (heard.ok()) continue;
      status = std::move(heard);
      lost += waiting.size();
      waiting.clear();
      break;
    }
    ended = true;
    changed.notify_all();
  }

  void close() {
    std::lock_guard guard(mutex);
    close_gap();
    closed = true;
    changed.notify_all();
  }

  ListenerEnd end(const Stop& stop) {
    close();
    std::unique_lock lock(mutex);
    while (!ended && stop.check().ok())
      changed.wait_for(lock, std::min(stop.left(), std::chrono::milliseconds(50)));
    if (ended) {
      lock.unlock();
      thread.join();
      return {options.name, lost, status};
    }
    lost += waiting.size();
    waiting.clear();  // it ends after the event that it has before it, if ever
    thread.detach();
    return {options.name, lost, stop.check()};
  }
};

}  // namespace event_parts

using event_parts::Listener;

EventHub::~EventHub() {
  StopSource now;
  now.request();
  (void)close(now.token());
}

Result<ListenerId> EventHub::listen(std::shared_ptr<EventSink> listener, ListenerOptions options) {
  auto made = std::make_shared<Listener>(std::move(listener), std::move(options), run_);
  Status started = guarded([&]() -> Status {
    made->thread = std::thread([made] { made->work(); });
    return {};
  });
  if (!started.ok()) return started;
  std::lock_guard guard(mutex_);
  listeners_.push_back(made);
  return ListenerId(made.get());
}

void EventHub::note(EventSink& listener) {
  std::lock_guard guard(mutex_);
  notes_.push_back(&listener);
}

void EventHub::emit(const Event& event) {
  std::lock_guard guard(mutex_);  // the numbers are the order in which everybody hears them
  auto numbered = std::make_shared<Event>(event);
  numbered->run = run_;
  numbered->sequence = ++last_;
  for (EventSink* note : notes_) note->emit(*numbered);
  for (const std::shared_ptr<Listener>& listener : listeners_) listener->offer(numbered);
}

unsigned long long EventHub::last() const {
  std::lock_guard guard(mutex_);
  return last_;
}

ListenerEnd EventHub::let_go(ListenerId id, const Stop& stop) {
  std::shared_ptr<Listener> listener;
  {
    std::lock_guard guard(mutex_);
    auto found = std::find_if(listeners_.begin(), listeners_.end(),
                              [id](const auto& each) { return each.get() == id; });
    if (found == listeners_.end()) return {"", 0, internal_error("no such listener")};
    listener = std::move(*found);
    listeners_.erase(found);
  }
  return listener->end(stop);
}

std::vector<ListenerEnd> EventHub::close(const Stop& stop) {
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    std::lock_guard guard(mutex_);
    listeners.swap(listeners_);
  }
  for (const auto& listener : listeners) listener->close();  // all at once, before any is waited for
  std::vector<ListenerEnd> ends;
  for (const auto& listener : listeners) ends.push_back(listener->end(stop));
  return ends;
}

}  // namespace radl
