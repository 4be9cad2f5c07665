// Picks up after a run that was killed: each open intent is looked up and brought to an end, all of a cloud
// at once.
#include <algorithm>
#include <map>

#include "runtime/clouds/tags.h"
#include "runtime/exec/actions.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/operations.h"
#include "runtime/exec/owners.h"
#include "runtime/exec/retry.h"
#include "runtime/state/writes.h"

namespace radl {

namespace {

constexpr std::chrono::milliseconds kRecoverPatience = std::chrono::minutes(10);

class Recoverer {
 public:
  Recoverer(Execution& execution, const std::vector<Intent>& intents)
      : execution_(execution), intents_(intents) {}

  Status run() {
    for (const Intent& intent : intents_) (void)execution_.run.clouds->find(intent.resource.cloud);
    std::vector<Status> ended(intents_.size());
    const Dag dag = order();
    WorkGraph operations{dag, {}, {}};
    operations.begin = [&](Dag::Id id, Park& park) { return bring_to_an_end(park, intents_[id]); };
    operations.ended = [&](Dag::Id id, Status status) { return ended[id] = std::move(status); };
    OperationsOver over = run_operations(execution_, operations);
    for (size_t i = 0; i < intents_.size(); ++i) {
      if (ended[i].ok()) continue;
      return std::move(ended[i]).at("looking up what an interrupted run had begun: " + intents_[i].address);
    }
    if (!over.status.ok()) return over.status;
    if (!over.never.empty())
      return Status(Code::Cancelled, "stopped while looking up what an interrupted run had begun");
    return {};
  }

  Recovery recovery;

 private:
  // Intents of one address in the order in which they were opened.
  Dag order() const {
    Dag dag(intents_.size());
    std::map<std::string, size_t> last;
    for (size_t i = 0; i < intents_.size(); ++i) {
      auto [before, first] = last.try_emplace(intents_[i].address, i);
      if (first) continue;
      dag.add_edge(before->second, i);
      before->second = i;
    }
    return dag;
  }

  Async<Status> bring_to_an_end(Park& park, const Intent& intent) {
    if (intent.kind == Intent::Kind::Run) {
      // The state has had the step as interrupted since it started; it runs again.
      Async<Status> closing = close(park, intent, nullptr, "interrupted", &Recovery::closed);
      co_await closing.finished();
      co_return closing.take();
    }
    Result<Cloud*> cloud = cloud_of(execution_, intent.resource.cloud);
    if (!cloud.ok()) co_return cloud.status();
    Status ended;
    if (intent.kind == Intent::Kind::Create) {
      ended = co_await create(park, **cloud, intent);
    } else if (intent.kind == Intent::Kind::Update) {
      ended = co_await update(park, **cloud, intent);
    } else {
      ended = co_await destroy(park, **cloud, intent);
    }
    co_return ended;
  }

  Async<Status> create(Park& park, Cloud& cloud, const Intent& intent) {
    auto settled_at = settles_at(intent, cloud);
    Watch watch{Watch::For::There,
                intent.token,
                "",
                intent.address,
                settled_at,
                std::max(execution_.in(execution_.options().create_deadline), settled_at),
                false};
    Found found = co_await wait_for_made(execution_, park, cloud, intent.resource, watch);
    if (!found.status.ok()) co_return found.status;
    Async<Status> closing = found.seen ? adopt(park, intent, std::move(*found.seen))
                            : found.why.empty()
                                ? close(park, intent, nullptr, "never made", &Recovery::closed)
                                : close(park, intent, nullptr, "removed", &Recovery::removed);
    co_await closing.finished();
    co_return closing.take();
  }

  // The time of the last request is unknown. It is at most now, and at most the end of all attempts of a run.
  std::chrono::steady_clock::time_point settles_at(const Intent& intent, const Cloud& cloud) {
    using Seconds = std::chrono::duration<double>;
    const ApplyOptions& options = execution_.options();
    Seconds settle = cloud.settles_after();
    Seconds attempts = (options.create_deadline + options.longest_wait + settle) * options.attempts;
    Seconds since(execution_.world().clock.wall_seconds() - intent.opened_at - attempts.count());
    Seconds left = std::max(settle - std::max(since, Seconds(0)), Seconds(0));
    return execution_.in(std::chrono::ceil<std::chrono::milliseconds>(left));
  }

  Async<Status> adopt(Park& park, const Intent& intent, Seen made) {
    ResourceRecord record = intent.resource;
    record.id = made.id;
    record.spec =
        laid_over(record.spec, with_tags_of(record.spec, made.spec));  // the plan adds what is missing
    record.attributes = std::move(made.attributes);
    record.created_at = intent.opened_at;
    Async<Status> closing = close(park, intent, &record, "adopted", &Recovery::adopted);
    co_await closing.finished();
    Status closed = closing.take();
    if (closed.ok()) execution_.put(record);
    co_return closed;
  }

  Async<Status> update(Park& park, Cloud& cloud, const Intent& intent) {
    ResourceRecord record = intent.resource;
    // No longer recorded, or recorded as another resource: do not restore anything.
    std::optional<ResourceRecord> recorded = execution_.resource(record.address);
    if (!recorded || recorded->id != record.id) {
      Async<Status> closing = close(park, intent, nullptr, "forgotten", &Recovery::closed);
      co_await closing.finished();
      co_return closing.take();
    }
    Watch watch{Watch::For::Settled,
                "",
                record.id,
                record.address,
                settles_at(intent, cloud),
                execution_.in(kRecoverPatience),
                false};
    std::unique_ptr<Sight> sight = co_await park.sight(cloud, watch);
    if (!sight->status.ok()) co_return sight->status;
    // The plan compares with the current state, whether or not the change took place.
    if (sight->seen) {
      record.spec = laid_over(record.spec, with_tags_of(record.spec, sight->seen->spec));
      record.attributes = attributes_now(record, std::move(sight->seen->attributes));
    }
    Async<Status> closing = close(park, intent, &record, "looked up", &Recovery::closed);
    co_await closing.finished();
    co_return closing.take();
  }

  Async<Status> destroy(Park& park, Cloud& cloud, const Intent& intent) {
    Status gone = co_await destroy_and_wait(execution_, park, cloud, intent.resource);
    if (gone.code() == Code::Cancelled) co_return gone;
    if (!gone.ok()) {
      // It stays recorded as being removed: the plan continues that, and reports why it fails.
      Async<Status> closing =
          close(park, intent, nullptr, "still there: " + gone.message(), &Recovery::closed);
      co_await closing.finished();
      co_return closing.take();
    }
    // Its steps stay recorded until they run again, or the resource is no longer requested.
    Async<Status> writing =
        park.write([&intent] { return closing_of_destroy(intent.id, intent.address, true); });
    co_await writing.finished();
    if (Status done = writing.take(); !done.ok()) co_return done;
    execution_.remove_resource(intent.address, true);
    count(intent, "destroyed", &Recovery::repeated);
    co_return Status();
  }

  // `record` must outlive this object.
  Async<Status> close(Park& park, const Intent& intent, const ResourceRecord* record, std::string outcome,
                      size_t Recovery::*counter) {
    Async<Status> writing = park.write([&intent, record] { return closing_of(intent.id, record); });
    co_await writing.finished();
    Status closed = writing.take();
    if (closed.ok()) count(intent, outcome, counter);
    co_return closed;
  }

  void count(const Intent& intent, const std::string& outcome, size_t Recovery::*counter) {
    Event event;
    event.kind = EventKind::Recovered;
    event.id = intent.address;
    event.verb = intent_kind_name(intent.kind);
    event.data = {{"outcome", outcome}};
    execution_.events.emit(std::move(event));
    std::lock_guard guard(mutex_);
    ++(recovery.*counter);
  }

  Execution& execution_;
  const std::vector<Intent>& intents_;
  std::mutex mutex_;  // of the recovery's counters
};

}  // namespace

Result<Recovery> recover(const Run& run) {
  Result<std::vector<Intent>> intents = run.store->open_intents();
  if (!intents.ok()) return intents.status();
  if (intents->empty()) return Recovery();
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  Execution execution(run, std::move(*snapshot));
  std::set<std::string> clouds;
  for (const Intent& intent : *intents)
    if (intent.kind != Intent::Kind::Run) clouds.insert(intent.resource.cloud);
  if (Status ours = check_owners(execution, clouds, true); !ours.ok()) return ours;
  Recoverer recoverer(execution, *intents);
  if (Status ended = recoverer.run(); !ended.ok()) return execution.events.mask(ended);
  return recoverer.recovery;
}

}  // namespace radl
