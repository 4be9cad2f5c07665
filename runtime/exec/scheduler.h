// Runs a graph on several threads: what is free starts, as many as allowed, never two that need the same
// thing. A vertex that waits for the world is parked and holds no thread. Knows nothing of what a vertex is.
// Internal to runtime/exec.
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
  Parked,  // it has arranged for being resumed; its names stay held
};

struct Schedule {
  const Dag& dag;
  Clock& clock;
  std::vector<bool> tolerant;  // see ReadyQueue
  std::vector<bool> barrier;   // over as soon as they are free; `run` is not called for them
  int parallelism = 1;         // vertices that run at a time, parked ones apart
  std::function<std::vector<std::string>(Dag::Id)>
      exclusive;                                        // names that only one vertex at a time may hold
  std::function<Turn(Dag::Id)> run;                     // on some thread; each turn of the vertex
  std::function<void(Dag::Id, Dag::Id cause)> skipped;  // given up because `cause` failed; one call at a time
  // 0: go on. From 1 on nothing more is started; at each rise all that is parked gets a turn, to see to it.
  std::function<int()> stop_level;
  std::function<bool()> has_room = {};  // false: nothing more is begun now; empty: there always is
  int services = 0;                     // threads besides, for what serve_at() asks for
};

struct Scheduled {
  std::vector<Dag::Id> never;  // not started: because of the stop, or of `status`
  Status status;               // Quota: there was not even the memory to go on; what ran was waited for
};

class Scheduler {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit Scheduler(const Schedule& schedule);

  // Whether a vertex has its turn now, or waits for what serve_last() was given: false while all that is not
  // over waits for the world.
  bool is_busy() const;

  // Returns when nothing runs, nothing is parked and nothing more can be started. What `run` throws is taken
  // for its failure; it had better catch it itself, to tell which. Fewer threads than asked for are used
  // where no more can be had. On a clock that does not pass by itself time passes when nothing runs: then
  // everything is done on one thread, in the same order each time, if `parallelism` is 1.
  Scheduled run();

  // Of one wait of a vertex, taken in the turn that parks. What comes for an earlier wait does nothing.
  struct Ticket {
    Dag::Id vertex = 0;
    uint64_t turn = 0;
  };
  Ticket ticket(Dag::Id vertex) const;
  // From any thread, also while that turn still runs.
  void resume(Ticket ticket);
  void resume_at(Ticket ticket, TimePoint when);
  // Calls `service` on some thread, not earlier; what has not begun when run() returns is not called.
  void serve_at(TimePoint when, std::function<void()> service);
  // The same when no vertex can be given a turn: by then what vertices hand in meanwhile is there together.
  void serve_last(std::function<void()> service);

 private:
  enum class Mark : char { Unseen, Running, Parked, Woken, Over };
  struct Vertex {
    Mark mark = Mark::Unseen;
    bool resumed = false;  // while it ran
    uint64_t turn = 0;
  };
  struct Timer {
    Ticket ticket;
    std::function<void()> service;  // empty: the ticket's vertex is resumed
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
