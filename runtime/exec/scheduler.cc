#include "runtime/exec/scheduler.h"

#include <algorithm>

#include "common/guarded.h"

namespace radl {

namespace {

// A signal handler cannot wake anybody: whoever waits looks up this often.
constexpr std::chrono::milliseconds kGlance{100};

}  // namespace

Scheduler::Scheduler(const Schedule& schedule)
    : schedule_(schedule), queue_(schedule.dag, schedule.tolerant), vertices_(schedule.dag.size()) {
  open_barriers_ = static_cast<size_t>(std::count(schedule.barrier.begin(), schedule.barrier.end(), true));
}

Scheduled Scheduler::run() {
  Scheduled result;
  if (schedule_.dag.size() == 0) return result;
  const bool alone = !schedule_.clock.passes_by_itself();
  size_t wanted = std::min<size_t>(std::max(schedule_.parallelism, 1), schedule_.dag.size()) +
                  (alone ? 0 : static_cast<size_t>(std::max(schedule_.services, 0)));
  {
    std::lock_guard guard(mutex_);
    pass_barriers();
  }
  {
    Threads threads;
    for (size_t i = 1; i < wanted; ++i) {
      if (!threads.start([this] { work(); }).ok()) break;
    }
    work();
  }
  result.status = std::move(broken_);
  for (Dag::Id id = 0; id < vertices_.size(); ++id) {
    if (vertices_[id].mark == Mark::Unseen) result.never.push_back(id);
  }
  return result;
}

void Scheduler::work() {
  std::unique_lock lock(mutex_);
  // An exception here comes from the scheduling itself: nothing more starts.
  Status worked = guarded([&]() -> Status { return work(lock); });
  if (!lock.owns_lock()) lock.lock();
  if (!worked.ok() && broken_.ok()) broken_ = std::move(worked);
  changed_.notify_all();
}

Status Scheduler::work(std::unique_lock<std::mutex>& lock) {
  const size_t width = static_cast<size_t>(std::max(schedule_.parallelism, 1));
  while (true) {
    see_to_stop();
    if (over()) break;
    ring_timers();
    Dag::Id id = 0;
    if (!services_.empty()) {
      serve(lock, services_, serving_);
    } else if (broken_.ok() && running_ < width && !woken_.empty()) {
      id = woken_.front();
      woken_.pop_front();
      take_turn(lock, id);
    } else if (broken_.ok() && stop_level_ == 0 && running_ < width && take_next(id)) {
      take_turn(lock, id);
    } else if (!last_services_.empty()) {
      serve(lock, last_services_, serving_last_);
    } else {
      wait(lock);
    }
  }
  changed_.notify_all();
  return {};
}

bool Scheduler::over() const {
  if (running_ > 0) return false;
  if (!broken_.ok()) return true;  // parked vertices stay unfinished; the journal has them
  if (parked_ > 0 || !woken_.empty()) return false;
  return queue_.done() || stop_level_ > 0;
}

void Scheduler::see_to_stop() {
  int level = schedule_.stop_level();
  if (level <= stop_level_) return;
  stop_level_ = level;
  for (Dag::Id id = 0; id < vertices_.size(); ++id) wake(id);
}

void Scheduler::ring_timers() {
  if (timers_.empty()) return;
  const TimePoint now = schedule_.clock.now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Timer timer = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    if (timer.service) {
      services_.push_back(std::move(timer.service));
    } else if (vertices_[timer.ticket.vertex].turn == timer.ticket.turn) {
      wake(timer.ticket.vertex);
    }
  }
}

void Scheduler::wake(Dag::Id id) {
  Vertex& vertex = vertices_[id];
  if (vertex.mark == Mark::Running) {
    vertex.resumed = true;
  } else if (vertex.mark == Mark::Parked) {
    vertex.mark = Mark::Woken;
    --parked_;
    woken_.push_back(id);
    changed_.notify_one();
  }
}

bool Scheduler::take_next(Dag::Id& id) {
  if (schedule_.has_room && !schedule_.has_room()) return false;
  for (Dag::Id candidate : queue_.ready()) {
    std::vector<std::string> names = schedule_.exclusive(candidate);
    bool free =
        std::none_of(names.begin(), names.end(), [&](const std::string& name) { return held_.count(name); });
    if (!free) continue;
    held_.insert(names.begin(), names.end());
    queue_.take(candidate);
    id = candidate;
    return true;
  }
  return false;
}

void Scheduler::take_turn(std::unique_lock<std::mutex>& lock, Dag::Id id) {
  Vertex& vertex = vertices_[id];
  vertex.mark = Mark::Running;
  vertex.resumed = false;
  ++vertex.turn;
  ++running_;
  lock.unlock();
  Turn turn = Turn::Failed;
  (void)guarded([&]() -> Status { return turn = schedule_.run(id), Status(); });
  lock.lock();
  --running_;
  if (turn == Turn::Parked) {
    vertex.mark = Mark::Parked;
    ++parked_;
    if (vertex.resumed) wake(id);
  } else {
    vertex.mark = Mark::Over;
    finish(id, turn == Turn::Done);
  }
  changed_.notify_all();
}

void Scheduler::serve(std::unique_lock<std::mutex>& lock, std::deque<std::function<void()>>& services,
                      size_t& serving) {
  std::function<void()> service = std::move(services.front());
  services.pop_front();
  ++serving;
  lock.unlock();
  Status served = guarded([&]() -> Status { return service(), Status(); });
  lock.lock();
  --serving;
  if (!served.ok() && broken_.ok()) broken_ = std::move(served);
  changed_.notify_all();
}

void Scheduler::wait(std::unique_lock<std::mutex>& lock) {
  const TimePoint now = schedule_.clock.now();
  const bool idle = running_ == 0 && serving_ == 0 && serving_last_ == 0;
  if (idle && !timers_.empty() && !schedule_.clock.passes_by_itself()) {
    const TimePoint next = timers_.begin()->first;
    if (next > now) schedule_.clock.sleep(std::chrono::ceil<std::chrono::milliseconds>(next - now));
    return;
  }
  std::chrono::steady_clock::duration time = kGlance;
  if (schedule_.clock.passes_by_itself() && !timers_.empty())
    time = std::clamp(timers_.begin()->first - now, std::chrono::steady_clock::duration(0), time);
  changed_.wait_for(lock, time);
}

void Scheduler::finish(Dag::Id id, bool ok) {
  for (const std::string& name : schedule_.exclusive(id)) held_.erase(name);
  if (ok) {
    queue_.finished(id);
  } else {
    for (Dag::Id given_up : queue_.failed(id)) {
      vertices_[given_up].mark = Mark::Over;
      schedule_.skipped(given_up, id);
    }
  }
  pass_barriers();
}

void Scheduler::pass_barriers() {
  for (bool again = open_barriers_ > 0; again;) {
    again = false;
    for (Dag::Id id : queue_.ready()) {
      if (!schedule_.barrier[id]) continue;
      queue_.take(id);
      queue_.finished(id);
      vertices_[id].mark = Mark::Over;
      --open_barriers_;
      again = true;
      break;
    }
  }
}

bool Scheduler::is_busy() const {
  std::lock_guard guard(mutex_);
  return running_ > 0 || serving_last_ > 0 || !last_services_.empty();
}

Scheduler::Ticket Scheduler::ticket(Dag::Id vertex) const {
  std::lock_guard guard(mutex_);
  return {vertex, vertices_[vertex].turn};
}

void Scheduler::resume(Ticket ticket) {
  std::lock_guard guard(mutex_);
  if (vertices_[ticket.vertex].turn == ticket.turn) wake(ticket.vertex);
}

void Scheduler::resume_at(Ticket ticket, TimePoint when) {
  std::lock_guard guard(mutex_);
  timers_.emplace(when, Timer{ticket, {}});
  changed_.notify_one();
}

void Scheduler::serve_at(TimePoint when, std::function<void()> service) {
  std::lock_guard guard(mutex_);
  timers_.emplace(when, Timer{{}, std::move(service)});
  changed_.notify_one();
}

void Scheduler::serve_last(std::function<void()> service) {
  std::lock_guard guard(mutex_);
  last_services_.push_back(std::move(service));
  changed_.notify_one();
}

}  // namespace radl
