#include <algorithm>

#include "runtime/exec/actions.h"
#include "runtime/exec/retry.h"

namespace radl {

namespace {

using std::chrono::milliseconds;
using TimePoint = std::chrono::steady_clock::time_point;

constexpr milliseconds kAskDeadline = std::chrono::minutes(2);
constexpr milliseconds kDestroyDeadline = std::chrono::minutes(10);
// Between two logins at a machine that boots.
constexpr milliseconds kFirstLogin{50}, kLongestLogin{2000};

void phase(Session& session, const ResourceRecord& record, const char* name) {
  if (!record.is_node()) return;
  Event event;
  event.kind = EventKind::NodePhase;
  event.id = record.address;
  event.node = record.address;
  event.data = {{"phase", name}};
  session.events.emit(std::move(event));
}

void tell(Session& session, const std::string& id, std::string message) {
  Event event;
  event.id = id;
  event.message = std::move(message);
  session.events.emit(std::move(event));
}

}  // namespace

ResourceRecord wanted_record(Session& session, const Action& action) {
  ResourceRecord record;
  record.address = action.id;
  record.type = action.type;
  record.cloud = action.cloud;
  record.spec = action.spec;
  record.price_per_hour = action.price_per_hour;
  if (const ir::Node* node = session.node(action.id)) {
    record.system = node->system;
    record.ordinal = node->ordinal;
    record.number = node->number;
  }
  record.needs = action.uses;
  return record;
}

namespace {

Order order_for(Session& session, const ResourceRecord& record) {
  Order order;
  order.address = record.address;
  order.type = record.type;
  order.spec = record.spec;
  order.token = record.token;
  order.id = record.id;
  for (const std::string& need : record.needs) {
    if (std::optional<ResourceRecord> needed = session.resource(need))
      order.references[need] = {needed->type, needed->id, needed->attributes};
  }
  return order;
}

Context asking(Session& session, const std::string& address) {
  return session.context(address, session.in(kAskDeadline));
}

// Counts the attempts of one call, waits between them.
class Attempts {
 public:
  Attempts(Session& session, Park& park, std::string id)
      : session_(session), park_(park), id_(std::move(id)) {}
  // False: not worth another, or the run stops.
  Async<bool> again(Status error) {
    if (!may_work_later(error.code()) || attempt_ >= session_.options().attempts) co_return false;
    milliseconds wait = backoff(session_.options(), attempt_, session_.world().random);
    tell_retry(session_, id_, error, attempt_, wait);
    ++attempt_;
    bool waited = co_await park_.during(wait);
    co_return waited;
  }

 private:
  Session& session_;
  Park& park_;
  std::string id_;
  int attempt_ = 1;
};

struct Creation {
  Status status;
  std::optional<Seen> made;
  bool certain = true;  // of a failure: nothing of it exists
  bool spent = false;   // of a failure: something was made for the token and is gone; another takes a new one
};

Async<Creation> create(Session& session, Park& park, Cloud& cloud, ResourceRecord record) {
  Attempts attempts(session, park, record.address);
  while (true) {
    Asked asked = cloud.ask_create(asking(session, record.address), order_for(session, record));
    Creation result;
    result.status = asked.status;
    if (asked.answer != Asked::Answer::Refused) {
      Watch watch{Watch::For::There,
                  record.token,
                  "",
                  record.address,
                  session.in(cloud.settles_after()),
                  session.in(std::max(session.options().create_deadline, cloud.settles_after())),
                  asked.answer == Asked::Answer::Accepted};
      Found found = co_await wait_for_made(session, park, cloud, record, watch);
      if (!found.status.ok()) {
        std::string text = asked.status.ok() ? "" : asked.status.message() + "; ";
        Code code = found.status.code() == Code::Cancelled ? Code::Cancelled : Code::Internal;
        if (asked.status.ok() && code != Code::Cancelled) code = found.status.code();
        if (may_work_later(code)) code = Code::Internal;
        result.status = Status(code, text + "what became of it is not known: " + found.status.message());
        result.certain = false;
        co_return result;
      }
      if (found.seen) {
        result.status = {};
        result.made = std::move(found.seen);
        co_return result;
      }
      result.spent = !found.why.empty() || asked.answer == Asked::Answer::Accepted;
      if (result.spent) {
        std::string why = found.why.empty() ? "it was accepted and has vanished" : found.why;
        result.status = Status(Code::Retry, why);
        co_return result;
      }
    }
    bool again = co_await attempts.again(result.status);
    if (!again) co_return result;
  }
}

// From made to reachable: logins are tried, and no thread is held in between. A machine that never answers is
// marked, and replaced by the next run.
Async<Status> wait_until_reachable(Session& session, Park& park, ResourceRecord record) {
  const ir::Node* node = session.node(record.address);
  bool wanted = node && node->configured && session.run.program->contextualize && session.run.connect;
  if (!record.is_node() || !wanted) co_return Status();
  phase(session, record, "waiting");
  const TimePoint end = session.in(session.options().boot_deadline);
  Status reached;
  std::string told;
  // Until something listens there a login is of no use, and would hold a thread until it is given up.
  bool answers = co_await park.answers(record.attributes, end);
  if (!answers && session.stop_starting())
    co_return Status(Code::Cancelled, "stopped while waiting for " + record.address);
  for (milliseconds wait = kFirstLogin;; wait = std::min(wait * 2, kLongestLogin)) {
    reached = session.connect_once(record.address, end);
    if (reached.ok() || !(may_work_later(reached.code()) || reached.code() == Code::NotFound)) break;
    if (reached.message() != told) tell(session, record.address, reached.message());
    told = reached.message();
    if (session.world().clock.now() + wait >= end) {
      reached = Status(Code::Timeout, record.address + " did not become reachable: " + reached.message());
      break;
    }
    bool waited = co_await park.during(wait);
    if (!waited) co_return Status(Code::Cancelled, "stopped while waiting for " + record.address);
  }
  if (reached.code() == Code::Cancelled) co_return reached;
  record.reachable = reached.ok();
  if (!reached.ok()) record.status = ResourceStatus::Tainted;
  if (Status put = session.store().put_resource(record); !put.ok()) co_return put;
  session.put(record);
  if (reached.ok()) phase(session, record, "reachable");
  co_return reached;
}

Async<Status> record_made(Session& session, Park& park, Intent intent, Seen made) {
  ResourceRecord record = intent.resource;
  record.id = std::move(made.id);
  record.attributes = std::move(made.attributes);
  record.created_at = session.world().clock.wall_seconds();
  if (Status recorded = session.store().finish(intent, &record); !recorded.ok()) {
    co_return std::move(recorded).at(intent.address +
                                     " was made, and the journal knows of it, but it could not be recorded");
  }
  (void)session.take_unresolved(intent.address);
  session.put(record);
  Status reached = co_await wait_until_reachable(session, park, record);
  co_return reached;
}

// What an earlier round of this run asked for, and nobody knows what came of it. True: it is there, and
// `status` says how its reaching went.
struct Earlier {
  bool there = false;
  Status status;
};

Async<Earlier> take_up_earlier(Session& session, Park& park, Cloud& cloud, std::string address) {
  Earlier earlier;
  std::optional<Intent> left = session.take_unresolved(address);
  if (!left) co_return earlier;
  session.put_unresolved(*left);
  Watch watch{Watch::For::There,
              left->token,
              "",
              address,
              session.in(cloud.settles_after()),
              session.in(session.options().create_deadline),
              false};
  Found found = co_await wait_for_made(session, park, cloud, left->resource, watch);
  earlier.status = found.status;
  if (!earlier.status.ok()) co_return earlier;
  if (found.seen) {
    earlier.there = true;
    Seen seen = std::move(*found.seen);
    earlier.status = co_await record_made(session, park, *left, std::move(seen));
    co_return earlier;
  }
  (void)session.take_unresolved(address);
  earlier.status = session.store().finish(*left, nullptr);
  co_return earlier;
}

// One offer, from the journal's first word to its last.
struct Making {
  Status status;
  bool not_to_be_had = false;  // the cloud has none: another offer may do
  bool spent = false;          // it came to nothing: another try takes a new token
};

Async<Making> make_as(Session& session, Park& park, Cloud& cloud, ResourceRecord record) {
  Making making;
  Intent intent;
  intent.kind = Intent::Kind::Create;
  intent.address = record.address;
  intent.token = random_token(session.world().random);
  record.token = intent.token;
  intent.resource = record;
  phase(session, record, "creating");
  Result<Intent> begun = session.store().begin(std::move(intent));
  if (!begun.ok()) {
    making.status = begun.status();
    co_return making;
  }
  session.put_unresolved(*begun);
  Creation created = co_await create(session, park, cloud, record);
  making.status = created.status;
  if (created.made) {
    Seen made = std::move(*created.made);
    making.status = co_await record_made(session, park, *begun, std::move(made));
    co_return making;
  }
  // It stays open: whoever makes this address next, in this run or the next one, looks it up first.
  if (!created.certain) co_return making;
  (void)session.take_unresolved(record.address);
  Status closed = session.store().finish(*begun, nullptr);
  if (!closed.ok()) making.status = closed;
  making.spent = closed.ok() && created.spent;
  making.not_to_be_had = closed.ok() && created.status.code() == Code::Quota;
  co_return making;
}

std::vector<std::string> united(std::vector<std::string> names, const std::vector<std::string>& more) {
  for (const std::string& name : more) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

struct Changing {
  Status status;
  std::optional<Seen> seen;
  bool certain = true;  // of a failure: it is as it was
};

Async<Changing> change(Session& session, Park& park, Cloud& cloud, ResourceRecord record) {
  Attempts attempts(session, park, record.address);
  Changing result;
  while (true) {
    Asked asked = cloud.ask_update(asking(session, record.address), order_for(session, record));
    result.status = asked.status;
    if (asked.answer == Asked::Answer::Accepted) break;
    if (asked.answer == Asked::Answer::Unknown) result.certain = false;
    bool again = co_await attempts.again(result.status);
    if (!again) co_return result;
  }
  Watch watch{Watch::For::Changed,
              "",
              record.id,
              record.address,
              session.in(cloud.settles_after()),
              session.in(std::max(session.options().create_deadline, cloud.settles_after())),
              true,
              record.spec};
  Sight sight = co_await park.sight(cloud, watch);
  result.status = sight.status;
  result.certain = sight.status.ok();
  if (!result.certain) co_return result;
  if (!sight.seen) {
    result.status = Status(Code::NotFound, record.address + " is gone");
  } else if (sight.seen->phase == ResourcePhase::Broken) {
    result.status = invalid(sight.seen->detail);
  }
  result.seen = std::move(sight.seen);
  co_return result;
}

}  // namespace

Result<Cloud*> cloud_of(Session& session, const std::string& id) {
  if (Cloud* cloud = session.run.clouds->find(id)) return cloud;
  return Status(Code::Unsupported, "there is no cloud '" + id + "' in this run");
}

void tell_retry(Session& session, const std::string& id, const Status& error, int attempt,
                milliseconds wait) {
  Event event;
  event.kind = EventKind::ActionRetry;
  event.id = id;
  event.message = error.message();
  event.data = {{"attempt", attempt},
                {"wait_seconds", static_cast<double>(wait.count()) / 1000},
                {"code", code_name(error.code())}};
  session.events.emit(std::move(event));
}

RetryHooks retry_hooks(Session& session, const std::string& id) {
  RetryHooks hooks;
  hooks.stop = [&session] { return session.stop_starting(); };
  hooks.on_retry = [&session, id](const Status& error, int attempt, milliseconds wait) {
    tell_retry(session, id, error, attempt, wait);
  };
  return hooks;
}

Async<Status> destroy_and_wait(Session& session, Park& park, Cloud& cloud, ResourceRecord record) {
  Attempts attempts(session, park, record.address);
  while (true) {
    Asked asked = cloud.ask_destroy(asking(session, record.address), order_for(session, record));
    Status why = asked.status;
    if (asked.answer == Asked::Answer::Accepted) {
      Watch watch{Watch::For::Gone, "", record.id, record.address, {}, session.in(kDestroyDeadline)};
      Sight sight = co_await park.sight(cloud, watch);
      co_return sight.status;
    }
    bool again = co_await attempts.again(why);
    if (!again) co_return why;
  }
}

Async<Found> wait_for_made(Session& session, Park& park, Cloud& cloud, ResourceRecord record, Watch watch) {
  Found found;
  Sight sight = co_await park.sight(cloud, watch);
  found.status = sight.status;
  if (!sight.status.ok() || !sight.seen) co_return found;
  ResourcePhase phase = sight.seen->phase;
  if (phase == ResourcePhase::Ready || phase == ResourcePhase::Stopped) {
    found.seen = std::move(sight.seen);
    co_return found;
  }
  found.why = sight.seen->detail.empty() ? "it is " + std::string(phase_name(phase)) : sight.seen->detail;
  record.id = sight.seen->id;
  found.status = co_await destroy_and_wait(session, park, cloud, record);
  co_return found;
}

Async<Status> make_resource(Session& session, Park& park, const Action& action) {
  Result<Cloud*> cloud = cloud_of(session, action.cloud);
  if (!cloud.ok()) co_return cloud.status();
  if (session.resource(action.id)) {
    Status gone = co_await remove_resource(session, park, action.id, true);
    if (!gone.ok()) co_return gone;
  }
  Earlier earlier = co_await take_up_earlier(session, park, **cloud, action.id);
  if (earlier.there || !earlier.status.ok()) co_return earlier.status;
  ResourceRecord record = wanted_record(session, action);
  Attempts attempts(session, park, action.id);
  size_t offer = action.chosen;
  while (true) {
    Making making = co_await make_as(session, park, **cloud, record);
    if (making.spent) {
      bool again = co_await attempts.again(making.status);
      if (again) continue;
    }
    bool another = making.not_to_be_had && offer + 1 < action.offers.size() && !session.stop_starting();
    if (!another) co_return making.status;
    const Offer& next = action.offers[++offer];
    record.spec = offered_spec(action.base_spec, next);
    record.price_per_hour = next.price_per_hour;
    tell(session, action.id,
         making.status.message() + ": trying " + next.name + (next.zone.empty() ? "" : " in " + next.zone));
  }
}

Async<Status> update_resource(Session& session, Park& park, const Action& action) {
  Result<Cloud*> cloud = cloud_of(session, action.cloud);
  if (!cloud.ok()) co_return cloud.status();
  std::optional<ResourceRecord> before = session.resource(action.id);
  if (!before) co_return Status(Code::NotFound, action.id + " is not in the state");
  // In an earlier round of this run it was asked for, and nobody knows what came of it: one intent for both.
  std::optional<Intent> left = session.take_unresolved(action.id);
  if (!left) {
    Intent intent;
    intent.kind = Intent::Kind::Update;
    intent.address = action.id;
    intent.resource = *before;
    // Until it is known which of both holds, it may use what it used before and what it is to use.
    intent.resource.needs = united(before->needs, action.uses);
    Result<Intent> begun = session.store().begin(std::move(intent));
    if (!begun.ok()) co_return begun.status();
    left = std::move(*begun);
  }
  const Intent intent = std::move(*left);
  ResourceRecord record = *before;
  record.spec = action.spec;
  record.needs = action.uses;
  bool was_stopped = std::any_of(action.changes.begin(), action.changes.end(),
                                 [](const FieldChange& change) { return change.field == "state"; });
  bool restarts = std::any_of(action.changes.begin(), action.changes.end(),
                              [](const FieldChange& change) { return change.forces_restart; });
  Changing changed = co_await change(session, park, **cloud, record);
  // It stays open where nobody knows what came of it: the next run takes over what the cloud shows.
  if (!changed.certain) {
    session.put_unresolved(intent);
    if (Status put = session.store().put_resource(intent.resource); !put.ok()) co_return put;
    session.put(intent.resource);
    co_return changed.status;
  }
  if (changed.status.ok()) {
    record.attributes = std::move(changed.seen->attributes);
    record.price_per_hour = action.price_per_hour;
  }
  Status closed = session.store().finish(intent, changed.status.ok() ? &record : nullptr);
  if (!closed.ok()) co_return closed;
  if (!changed.status.ok()) co_return changed.status;
  session.put(record);
  if (!was_stopped && !restarts) co_return Status();
  session.drop_connection(action.id);
  Status reached = co_await wait_until_reachable(session, park, record);
  co_return reached;
}

Async<Status> remove_resource(Session& session, Park& park, std::string address, bool keep_steps) {
  std::optional<ResourceRecord> record = session.resource(address);
  if (!record) co_return Status();
  Result<Cloud*> cloud = cloud_of(session, record->cloud);
  if (!cloud.ok()) co_return cloud.status();
  session.drop_connection(address);
  Intent intent;
  intent.kind = Intent::Kind::Destroy;
  intent.address = address;
  intent.resource = *record;
  phase(session, *record, "destroying");
  Result<Intent> begun = session.store().begin(std::move(intent));
  if (!begun.ok()) co_return begun.status();
  record->status = ResourceStatus::Deleting;
  session.put(*record);
  Status status = co_await destroy_and_wait(session, park, **cloud, *record);
  if (!status.ok()) {
    // The record says that its removal was begun: the next plan goes on with it.
    Status closed = session.store().finish(*begun, nullptr);
    co_return closed.ok() ? status : closed;
  }
  if (Status done = session.store().finish_destroy(*begun, keep_steps); !done.ok()) co_return done;
  session.remove_resource(address, keep_steps);
  co_return Status();
}

}  // namespace radl
