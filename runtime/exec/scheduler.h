// Executes a graph on several threads: starts free vertices, up to the limit, never two that need the same
// exclusive name. A vertex that waits for something external is parked and uses no thread. Independent of
// what vertices mean. Internal to runtime/exec.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/base/world.h"
#include "runtime/graph/dag.h"

namespace radl {

enum class Turn {
  Done,
  Failed,
  Parked,  // it will be resumed; its names stay held
};

struct Schedule {
  const Dag& dag;
  Clock& clock;
  std::vector<bool> tolerant;  // see ReadyQueue
  std::vector<bool> barrier;   // end as soon as they are free; `run` is not called for them
  int parallelism = 1;         // concurrently running vertices, without parked ones
  std::function<std::vector<std::string>(Dag::Id)>
      exclusive;                                        // names that only one vertex at a time may hold
  std::function<Turn(Dag::Id)> run;                     // called on some thread for each turn of the vertex
  std::function<void(Dag::Id, Dag::Id cause)> skipped;  // given up because `cause` failed; one call at a time
  // 0: continue. From 1 on, nothing new starts; at each increase, all parked vertices get a turn to react.
  std::function<int()> stop_level;
  std::function<bool()> has_room = {};  // false: start nothing now; empty: always true
  int services = 0;                     // additional threads for serve_at()
};

struct Scheduled {
  std::vector<Dag::Id> never;  // not started, because of the stop or `status`
  Status status;               // Quota: out of memory; running vertices were waited for
};

class Scheduler {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit Scheduler(const Schedule& schedule);

  // True if a vertex has its turn or waits for a serve_last() service; false while all unfinished vertices
  // wait for something external.
  bool is_busy() const;

  // Returns when nothing is running or parked and nothing more can start. An exception from `run` counts as
  // the vertex's failure; `run` should catch its own to report details. Uses fewer threads than requested if
  // the system has no more. On a virtual clock, time advances when nothing runs; with `parallelism` 1
  // everything then runs on one thread, in the same order each time.
  Scheduled run();

  // Identifies one wait of a vertex; taken in the turn that parks. Resuming an earlier wait has no effect.
  struct Ticket {
    Dag::Id vertex = 0;
    uint64_t turn = 0;
  };
  Ticket ticket(Dag::Id vertex) const;
  // Thread-safe, also while that turn still runs.
  void resume(Ticket ticket);
  void resume_at(Ticket ticket, TimePoint when);
  // Calls `service` on some thread at or after that time; dropped if not begun when run() returns.
  void serve_at(TimePoint when, std::function<void()> service);
  // Same, but when no vertex can get a turn, so that all their submissions can be handled together.
  void serve_last(std::function<void()> service);

 private:
  enum class Mark : char { Unseen, Running, Parked, Woken, Over };
  struct Vertex {
    Mark mark = Mark::Unseen;
    bool resumed = false;  // during its run
    uint64_t turn = 0;
  };
  struct Timer {
    Ticket ticket;
    std::function<void()> service;  // empty: resume the ticket's vertex
  };

  void work();
  Status work(std::unique_lock<std::mutex>& lock);
  bool over() const;
  void see_to_stop();
  void ring_timers();
  bool take_next(Dag::Id& id);
  void take_turn(std::unique_lock<std::mutex>& lock, Dag::Id id);
  void serve(std::unique_lock<std::mutex>& lock, std::deque<std::function<void()>>& services,
             size_t& serving);
  void wait(std::unique_lock<std::mutex>& lock);
  void finish(Dag::Id id, bool ok);
  void pass_barriers();
  void wake(Dag::Id id);

  const Schedule& schedule_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Status broken_;
  ReadyQueue queue_;
  std::vector<Vertex> vertices_;
  std::set<std::string> held_;
  std::deque<Dag::Id> woken_;
  std::deque<std::function<void()>> services_, last_services_;
  std::multimap<TimePoint, Timer> timers_;
  size_t running_ = 0, serving_ = 0, serving_last_ = 0, parked_ = 0, open_barriers_ = 0;
  int stop_level_ = 0;
};

}  // namespace radl
