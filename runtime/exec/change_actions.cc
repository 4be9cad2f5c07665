// Update, delete, and the first half of a replacement.
#include <algorithm>
#include <memory>

#include "runtime/exec/actions.h"
#include "runtime/exec/asking.h"

namespace radl {

namespace {

std::vector<std::string> united(std::vector<std::string> names, const std::vector<std::string>& more) {
  for (const std::string& name : more) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

Watch watch_of(Session& session, const Cloud& cloud, const ResourceRecord& record, Watch::For what) {
  return {what,
          "",
          record.id,
          record.address,
          session.in(cloud.settles_after()),
          session.in(std::max(session.options().create_deadline, cloud.settles_after())),
          true,
          record.spec};
}

// Until the cloud has taken the last request that it takes: of a change in several parts each waits for what
// the one before it has begun.
Async<Changing> ask_for_change(Session& session, Park& park, Cloud& cloud, ResourceRecord record) {
  Attempts attempts(session, park, record.address);
  const auto shown = shows_by(session, cloud, record);
  Changing result;
  while (true) {
    Asked asked = cloud.ask_update(asking(session, record.address), order_for(session, record));
    result.status = asked.status;
    if (asked.answer == Asked::Answer::Accepted) {
      if (!asked.again) co_return result;
      result.certain = false;  // a part of it is done
      Watch watch = watch_of(session, cloud, record, Watch::For::There);
      std::unique_ptr<Sight> sight = co_await park.sight(cloud, watch);
      result.status = sight->status;
      if (!sight->status.ok()) co_return result;
      if (!sight->seen) {
        result.status = Status(Code::NotFound, record.address + " is gone");
        co_return result;
      }
      continue;
    }
    if (asked.answer == Asked::Answer::Unknown) result.certain = false;
    if (result.status.code() == Code::NotFound && session.world().clock.now() < shown) {
      bool waited = co_await park.until(std::min(shown, session.in(cloud.pace().longest)));
      if (!waited) co_return result;
      continue;
    }
    bool again = co_await attempts.again(result.status);
    if (!again) co_return result;
  }
}

}  // namespace

Async<Changing> change_resource(Session& session, Park& park, Cloud& cloud, ResourceRecord record) {
  Changing result = co_await ask_for_change(session, park, cloud, record);
  if (!result.status.ok()) co_return result;
  Watch watch = watch_of(session, cloud, record, Watch::For::Changed);
  std::unique_ptr<Sight> sight = co_await park.sight(cloud, watch);
  result.status = sight->status;
  result.certain = sight->status.ok();
  if (!result.certain) co_return result;
  if (!sight->seen) {
    result.status = Status(Code::NotFound, record.address + " is gone");
  } else if (sight->seen->phase == ResourcePhase::Broken) {
    result.status = invalid(sight->seen->detail);
  }
  result.seen = std::move(sight->seen);
  co_return result;
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
  Changing changed = co_await change_resource(session, park, **cloud, record);
  // It stays open where nobody knows what came of it: the next run takes over what the cloud shows.
  if (!changed.certain) {
    session.put_unresolved(intent);
    if (Status put = session.store().put_resource(intent.resource); !put.ok()) co_return put;
    session.put(intent.resource);
    co_return changed.status;
  }
  if (changed.status.ok()) {
    record.attributes = attributes_now(record, std::move(changed.seen->attributes));
    record.price_per_hour = action.price_per_hour;
  }
  Status closed = session.store().finish(intent, changed.status.ok() ? &record : nullptr);
  if (!closed.ok()) co_return closed;
  if (!changed.status.ok()) co_return changed.status;
  session.put(record);
  if (!was_stopped && !restarts) co_return Status();
  session.drop_connection(action.id);
  Status reached = co_await wait_until_reachable(session, park, action.id);
  co_return reached;
}

namespace {

// One resource being removed, from one wait to the next. Its record stays in the session: what waits holds no
// copy of it.
class Removing {
 public:
  // `address` outlives this.
  Removing(Session& session, const std::string& address) : session_(session), address_(address) {}

  enum class Next { Look, Pause, Over };

  // Opens the intent, and marks the record. Over: it is not recorded (any more), or that could not be done.
  Next begin() {
    std::optional<ResourceRecord> record = session_.resource(address_);
    if (!record) return Next::Over;
    Result<Cloud*> cloud = cloud_of(session_, record->cloud);
    if (!cloud.ok()) return end(cloud.status());
    cloud_ = *cloud;
    session_.drop_connection(address_);
    Intent intent = this->intent();
    intent.resource = *record;
    tell_phase(session_, *record, "destroying");
    Result<Intent> begun = session_.store().begin(std::move(intent));
    if (!begun.ok()) return end(begun.status());
    intent_ = begun->id;
    record->status = ResourceStatus::Deleting;
    session_.put(*record);
    return ask();
  }

  Next ask() {
    Asked asked = ask_to_destroy(session_, *cloud_, record());
    if (asked.answer == Asked::Answer::Accepted) return Next::Look;
    if (asked.status.code() == Code::NotFound) return wait_until_shown();
    const auto wait = next_attempt(session_, address_, asked.status, attempt_);
    end(std::move(asked.status));
    if (!wait) return Next::Over;
    pause = *wait;
    return Next::Pause;
  }
  std::chrono::milliseconds pause{};

  Async<std::unique_ptr<Sight>> look(Park& park) { return look_for_gone(session_, park, *cloud_, record()); }
  Next take(std::unique_ptr<Sight> sight) { return end(std::move(sight->status)); }

  Status close(bool keep_steps) {
    Status status = why_ ? std::move(*why_) : Status();
    if (intent_ == 0) return status;
    if (!status.ok()) {
      // The record says that its removal was begun: the next plan goes on with it.
      Status closed = session_.store().finish(intent(), nullptr);
      return closed.ok() ? status : closed;
    }
    if (Status done = session_.store().finish_destroy(intent(), keep_steps); !done.ok()) return done;
    session_.remove_resource(address_, keep_steps);
    return {};
  }

 private:
  ResourceRecord record() const { return session_.resource(address_).value_or(ResourceRecord()); }
  // It may only not show yet: gone for good when it is old enough to show.
  Next wait_until_shown() {
    const auto wait = until_shown(session_, *cloud_, shows_by(session_, *cloud_, record()));
    if (!wait) return end(Status());
    end(stopped_before_it_showed(address_));
    pause = *wait;
    return Next::Pause;
  }
  Next end(Status why) {
    why_ = why.ok() ? nullptr : std::make_unique<Status>(std::move(why));
    return Next::Over;
  }
  Intent intent() const {
    Intent intent;
    intent.id = intent_;
    intent.kind = Intent::Kind::Destroy;
    intent.address = address_;
    return intent;
  }

  Session& session_;
  const std::string& address_;
  Cloud* cloud_ = nullptr;
  long long intent_ = 0;  // 0: none was opened
  int attempt_ = 1;
  std::unique_ptr<Status> why_;  // what it failed of
};

}  // namespace

Async<Status> remove_resource(Session& session, Park& park, std::string address, bool keep_steps) {
  Removing removing(session, address);
  Removing::Next next = removing.begin();
  while (next != Removing::Next::Over) {
    if (next == Removing::Next::Look) {
      std::unique_ptr<Sight> sight = co_await removing.look(park);
      next = removing.take(std::move(sight));
    } else {
      bool waited = co_await park.during(removing.pause);
      next = waited ? removing.ask() : Removing::Next::Over;
    }
  }
  co_return removing.close(keep_steps);
}

}  // namespace radl
