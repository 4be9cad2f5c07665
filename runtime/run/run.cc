#include "runtime/run/run.h"

#include <atomic>

#include "common/guarded.h"
#include "runtime/plan/measured.h"
#include "runtime/run/bucket_log.h"

namespace radl {

namespace {

// More events than a run emits while a disk may stall; those beyond are reported as lost.
constexpr size_t kMostUnwritten = 1 << 16;

constexpr std::chrono::seconds kForListeners{2};  // for a run that was not closed

// Tells of each request to stop while it lives, at once: what runs may be far from looking.
class StopTeller {
 public:
  StopTeller(EventHub& hub, World& world, const Cancellation& cancellation)
      : hub_(hub), world_(world), cancellation_(cancellation) {
    (void)threads_.start([this] { work(); });
  }
  ~StopTeller() { over_.request(); }  // and then its thread is joined

 private:
  void work() {
    const Stop levels[] = {cancellation_.finishing(), cancellation_.now()};
    for (int level = 1; level <= 2; ++level) {
      const Stop asked = levels[level - 1];
      const Stop either = asked.or_when(over_.token());
      while (either.sleep(std::chrono::hours(1))) {
      }
      if (!asked.asked()) return;
      Event event;
      event.kind = EventKind::Cancelled;
      event.time = world_.clock.wall_seconds();
      event.data = {{"level", level}};
      hub_.emit(event);
    }
  }

  EventHub& hub_;
  World& world_;
  const Cancellation& cancellation_;
  StopSource over_;
  Threads threads_;
};

// If the state is in a bucket, the events are stored there too.
struct Logs : EventLog {
  using EventLog::EventLog;
  void emit(const Event& event) override {
    EventLog::emit(event);
    if (bucket) bucket->emit(event);
  }
  std::unique_ptr<BucketLog> bucket;
};

}  // namespace

Result<std::unique_ptr<Store>> open_locked(const RunStart& start, World& world, const Stop& stop,
                                           const Stop& waits) {
  const auto end = world.clock.now() + start.lock_timeout;
  while (true) {
    auto store = Store::open(start.directory, start.name, start.mode, world, waits);
    if (!store.ok()) return store;
    (*store)->act_for(start.principal);
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - world.clock.now());
    Status locked =
        (*store)->lock(start.command, std::max(left, std::chrono::milliseconds(0)), start.waiting, stop);
    if (locked.ok()) return store;
    if (locked.code() != Code::Lost) return locked;
  }
}

ActiveRun::ActiveRun(Run parts, std::string id) : run_(std::move(parts)), hub_(std::move(id)) {
  hub_.note(clock_);
  run_.sinks = {&hub_};
}

Result<std::unique_ptr<ActiveRun>> ActiveRun::begin(Run parts, const RunStart& start,
                                                    Cancellation& cancellation) {
  parts.cancellation = &cancellation;
  parts.options.command = start.command;
  // Until the lock is held nothing has begun, and one request ends the wait. Later the second one does.
  auto begun = std::make_shared<std::atomic<bool>>(false);
  const Stop first = cancellation.finishing(), second = cancellation.now();
  const Stop waits = Stop::when([=] { return *begun ? second.asked() : first.asked(); });
  auto store = open_locked(start, *parts.world, first, waits);
  *begun = true;
  if (!store.ok()) return store.status();
  std::string id = new_run_id(*parts.world, start.command);
  std::unique_ptr<ActiveRun> made(new ActiveRun(std::move(parts), std::move(id)));
  made->store_ = std::move(*store);
  made->run_.store = made->store_.get();
  auto logs = std::make_shared<Logs>(made->store_->run_directory(), made->id());
  if (is_bucket_place(start.directory)) {
    auto objects = RunObjects::open(start.directory, start.name, made->run_.world->environment);
    if (!objects.ok()) return objects.status();
    logs->bucket = std::make_unique<BucketLog>(std::move(*objects), made->id());
  }
  made->log_ = std::move(logs);
  auto kept = made->hub_.listen(made->log_, {"the log of this run's events", kMostUnwritten});
  if (!kept.ok()) return kept.status();
  return made;
}

ActiveRun::~ActiveRun() { (void)close(Stop().within(kForListeners)); }

Result<Recovery> ActiveRun::recover() { return radl::recover(run_); }

Result<Observed> ActiveRun::look(bool everything) {
  Result<Snapshot> before = snapshot();
  if (!before.ok()) return before.status();
  Result<Observed> observed = everything ? refresh(run_, *before) : radl::glance(run_, *before);
  if (!observed.ok()) return observed;
  if (Status kept = accept_observed(run_, *before, *observed); !kept.ok()) return kept;
  return observed;
}

Result<Observed> ActiveRun::glance() {
  Result<Snapshot> now = snapshot();
  return now.ok() ? radl::glance(run_, *now) : Result<Observed>(now.status());
}

Result<Plan> ActiveRun::plan(const PlanQuestion& question) {
  Result<Observed> observed = look(question.refresh);
  if (!observed.ok()) return observed.status();
  Result<Snapshot> now = snapshot();
  if (!now.ok()) return now.status();
  PlanQuestion stoppable = question;
  stoppable.world = run_.world;
  stoppable.stop = question.stop.or_when(run_.cancellation->finishing());
  return make_plan_of(stoppable, *now, &*observed, store_->work_directory());
}

Status ActiveRun::pause(std::chrono::milliseconds time,
                        const std::function<void(const LockInfo& holder)>& waiting) {
  constexpr std::chrono::hours kAsLongAsItTakes{24 * 365};
  const Stop stop = run_.cancellation->finishing();
  store_->unlock();
  if (!sleep_unless(run_.world->clock, time, stop)) return stop.check();
  return store_->lock(run_.options.command, kAsLongAsItTakes, waiting, stop);
}

RunReport ActiveRun::execute(const Plan& plan, RunReport (*how)(const Run&, const Plan&)) {
  clock_ = RunClock(run_.world->clock.wall_seconds());
  StopTeller teller(hub_, *run_.world, *run_.cancellation);
  return how(run_, plan);
}

RunReport ActiveRun::apply(const Plan& plan) { return execute(plan, &radl::apply); }
RunReport ActiveRun::destroy(const Plan& plan) { return execute(plan, &radl::destroy); }

RunFigures ActiveRun::figures(const Plan& plan, const RunReport& report) const {
  return figures_of(plan, report, clock_,
                    run_.program ? staging_steps(*run_.program) : std::set<std::string>());
}

double ActiveRun::ended() const { return clock_.ended(); }

std::vector<ListenerEnd> ActiveRun::close(const Stop& stop) {
  if (closed_) return {};
  closed_ = true;
  store_->unlock();
  std::vector<ListenerEnd> ends = hub_.close(stop);
  if (!ends.empty() && ends.front().status.ok()) ends.front().status = log_->status();
  if (BucketLog* bucket = log_ ? static_cast<Logs&>(*log_).bucket.get() : nullptr)
    ends.push_back({"the events of this run in its bucket", 0, bucket->end(stop)});
  log_.reset();
  return ends;
}

}  // namespace radl
