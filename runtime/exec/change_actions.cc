// Update, delete, and the first half of a replacement.
#include <algorithm>

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
      Sight sight = co_await park.sight(cloud, watch);
      result.status = sight.status;
      if (!sight.status.ok()) co_return result;
      if (!sight.seen) {
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
  tell_phase(session, *record, "destroying");
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
