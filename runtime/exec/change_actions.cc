// Update, delete, and the first half of a replacement.
#include <algorithm>
#include <memory>

#include "runtime/clouds/shown.h"
#include "runtime/clouds/tags.h"
#include "runtime/clouds/takes_over.h"
#include "runtime/exec/actions.h"
#include "runtime/exec/asking.h"
#include "runtime/state/writes.h"

namespace radl {

namespace {

std::vector<std::string> united(std::vector<std::string> names, const std::vector<std::string>& more) {
  for (const std::string& name : more) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

Watch watch_of(Execution& execution, const Cloud& cloud, const ResourceRecord& record, Watch::For what) {
  return {what,
          "",
          record.id,
          record.address,
          execution.in(cloud.settles_after()),
          execution.in(std::max(execution.options().create_deadline, cloud.settles_after())),
          true,
          record.spec};
}

// Until the cloud has taken the last request that it takes: of a change in several parts each waits for what
// the one before it has begun.
Async<Changing> ask_for_change(Execution& execution, Park& park, Cloud& cloud, ResourceRecord record,
                               Json before, Json planned) {
  Attempts attempts(execution, park, record.address);
  const auto shown = shows_by(execution, cloud, record);
  Changing result;
  while (true) {
    Order order = order_for(execution, record);
    order.spec = with_tags_to_take_away(before, std::move(order.spec));
    if (!planned.is_null()) carry_shown(order, planned);
    if (Status held = execution.store().still_held(); !held.ok()) {
      result.status = std::move(held);
      co_return result;
    }
    Asked asked = cloud.ask_update(asking(execution, record.address), order);
    result.status = asked.status;
    if (asked.answer == Asked::Answer::Accepted) {
      if (!asked.again) co_return result;
      result.certain = false;  // partly done
      Watch watch = watch_of(execution, cloud, record, Watch::For::There);
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
    if (result.status.code() == Code::NotFound && execution.world().clock.now() < shown) {
      bool waited = co_await park.until(std::min(shown, execution.in(cloud.pace().longest)));
      if (!waited) co_return result;
      continue;
    }
    bool again = co_await attempts.again(result.status, asked.retry_after);
    if (!again) co_return result;
  }
}

// Writes radlc's own tags again. Unsupported: the change itself does.
Async<Status> write_marks(Execution& execution, Park& park, Cloud& cloud, ResourceRecord record) {
  auto* marking = dynamic_cast<TakesOver*>(&cloud);
  if (!marking) co_return Status(Code::Unsupported, record.cloud + " has no tags");
  Attempts attempts(execution, park, record.address);
  while (true) {
    if (Status held = execution.store().still_held(); !held.ok()) co_return held;
    Status marked = marking->write_marks(asking(execution, record.address), order_for(execution, record));
    if (marked.ok() || marked.code() == Code::Unsupported) co_return marked;
    bool again = co_await attempts.again(marked);
    if (!again) co_return marked;
  }
}

bool is_mark(const FieldChange& change) { return change.field.starts_with(kMarkField); }

// For carry_shown().
Json shown_in(const Action& action) {
  Json shown = Json::object();
  for (const FieldChange& change : action.changes)
    if (!is_mark(change)) shown[change.field] = change.before;
  return shown;
}

}  // namespace

Async<Changing> change_resource(Execution& execution, Park& park, Cloud& cloud, ResourceRecord record,
                                Json before, bool nothing_to_ask, Json shown) {
  Changing result;
  if (!nothing_to_ask)
    result = co_await ask_for_change(execution, park, cloud, record, std::move(before), std::move(shown));
  if (!result.status.ok()) co_return result;
  Watch watch = watch_of(execution, cloud, record, Watch::For::Changed);
  std::unique_ptr<Sight> sight = co_await park.sight(cloud, watch);
  result.status = sight->status;
  result.certain = sight->status.ok();
  if (!result.certain) co_return result;
  if (!sight->seen) {
    result.status = Status(Code::NotFound, record.address + " is gone");
  } else if (sight->seen->phase == ResourcePhase::Leaving) {
    result.status = Status(Code::NotFound, record.address + " is gone: " + sight->seen->detail);
  } else if (sight->seen->phase == ResourcePhase::Broken) {
    result.status = invalid(sight->seen->detail);
  }
  result.seen = std::move(sight->seen);
  co_return result;
}

Async<Status> update_resource(Execution& execution, Park& park, const Action& action) {
  Result<Cloud*> cloud = cloud_of(execution, action.cloud);
  if (!cloud.ok()) co_return cloud.status();
  std::optional<ResourceRecord> before = execution.resource(action.id);
  if (!before) co_return Status(Code::NotFound, action.id + " is not in the state");
  // An earlier round of this run requested the change with unknown outcome: both rounds share one intent.
  std::optional<Intent> left = execution.take_unresolved(action.id);
  if (!left) {
    Intent intent;
    intent.kind = Intent::Kind::Update;
    intent.address = action.id;
    intent.resource = *before;
    // Until the outcome is known, the resource may use both what it used before and what it is to use.
    intent.resource.needs = united(before->needs, action.uses);
    Async<Recorder::Written> opening = park.written([&intent] { return opening_of(intent); });
    co_await opening.finished();
    const Recorder::Written begun = opening.take();
    if (!begun.ok()) co_return begun.status();
    intent.id = begun->front();
    if (execution.stop_starting()) {
      Async<Status> undone = park.write([id = intent.id] { return closing_of(id, nullptr); });
      co_await undone.finished();
      Status closed = undone.take();
      co_return closed.ok() ? stopped_before_it_was_asked() : closed;
    }
    left = std::move(intent);
  }
  const Intent intent = std::move(*left);
  ResourceRecord record = *before;
  record.spec = action.spec;
  record.needs = action.uses;
  bool was_stopped = std::any_of(action.changes.begin(), action.changes.end(),
                                 [](const FieldChange& change) { return change.field == "state"; });
  bool restarts = std::any_of(action.changes.begin(), action.changes.end(),
                              [](const FieldChange& change) { return change.forces_restart; });
  Changing changed;
  bool marks_alone = false;  // true: nothing to request, and some resources are never changed
  const bool marked = std::any_of(action.changes.begin(), action.changes.end(), is_mark);
  if (marked) {
    Async<Status> marking = write_marks(execution, park, **cloud, record);
    co_await marking.finished();
    changed.status = marking.take();
    marks_alone = changed.status.ok() && std::all_of(action.changes.begin(), action.changes.end(), is_mark);
    if (changed.status.code() == Code::Unsupported) changed.status = Status();
  }
  Json shown = shown_in(action);
  if (changed.status.ok())
    changed = co_await change_resource(execution, park, **cloud, record, before->spec, marks_alone,
                                       std::move(shown));
  // The intent stays open if the outcome is unknown: the next run adopts what the cloud shows.
  if (!changed.certain) {
    execution.put_unresolved(intent);
    Async<Status> writing = park.write([&intent] { return putting_of(intent.resource); });
    co_await writing.finished();
    if (Status put = writing.take(); !put.ok()) co_return put;
    execution.put(intent.resource);
    co_return changed.status;
  }
  if (changed.status.ok()) {
    record.attributes = attributes_now(record, std::move(changed.seen->attributes));
    if (marked)
      record.attributes = with_marked_attributes(**cloud, execution.context(action.id, {}),
                                                 order_for(execution, *before), std::move(record.attributes));
    record.price_per_hour = action.price_per_hour;
  }
  const ResourceRecord* now = changed.status.ok() ? &record : nullptr;
  Async<Status> closing = park.write([&intent, now] { return closing_of(intent.id, now); });
  co_await closing.finished();
  if (Status closed = closing.take(); !closed.ok()) co_return closed;
  if (!changed.status.ok()) co_return changed.status;
  execution.put(record);
  if (!was_stopped && !restarts) co_return Status();
  execution.drop_connection(action.id);
  Status reached = co_await wait_until_reachable(execution, park, action.id);
  co_return reached;
}

namespace {

// One resource being removed, from one wait to the next. Its record stays in the execution: what waits holds
// no copy of it.
class Removing {
 public:
  // `address` must outlive this object.
  Removing(Execution& execution, const std::string& address) : execution_(execution), address_(address) {}

  enum class Next { Open, Ask, Look, Pause, Close, Over };
  std::chrono::milliseconds pause{};  // for Pause

  // Done: it is not recorded, or its cloud does not exist.
  Next begin() {
    std::optional<ResourceRecord> record = execution_.resource(address_);
    if (!record) return Next::Over;
    Result<Cloud*> cloud = cloud_of(execution_, record->cloud);
    if (!cloud.ok()) return end(cloud.status());
    cloud_ = *cloud;
    before_ = record->status;
    execution_.drop_connection(address_);
    tell_phase(execution_, *record, "destroying");
    return Next::Open;
  }

  // Opens the intent and marks the record.
  Async<Status> open(Park& park) {
    Async<Recorder::Written> writing = park.written([this] {
      Intent intent;
      intent.kind = Intent::Kind::Destroy;
      intent.address = address_;
      intent.resource = record();
      return opening_of(std::move(intent));
    });
    co_await writing.finished();
    const Recorder::Written begun = writing.take();
    if (begun.ok()) intent_ = begun->front();
    co_return begun.status();
  }
  Next opened(Status status) {
    if (!status.ok()) return end(std::move(status));
    put_status(ResourceStatus::Deleting);
    if (!execution_.stop_starting()) return Next::Ask;
    put_status(before_);
    untouched_ = true;
    return end(stopped_before_it_was_asked());
  }

  Next ask() {
    Asked asked = ask_to_destroy(execution_, *cloud_, record());
    if (asked.answer == Asked::Answer::Accepted) return Next::Look;
    if (asked.status.code() == Code::NotFound) return wait_until_shown();
    const auto wait = next_attempt(execution_, address_, asked.status, attempt_, asked.retry_after);
    end(std::move(asked.status));
    if (!wait) return Next::Close;
    pause = *wait;
    return Next::Pause;
  }

  Async<std::unique_ptr<Sight>> look(Park& park) {
    return look_for_gone(execution_, park, *cloud_, record());
  }
  Next take(std::unique_ptr<Sight> sight) { return end(std::move(sight->status)); }

  Async<Status> close(Park& park, bool keep_steps) {
    return park.write([this, keep_steps] {
      if (!why_) return closing_of_destroy(intent_, address_, keep_steps);
      if (!untouched_) {
        // The record shows that the removal was started, so the next plan continues it.
        return closing_of(intent_, nullptr);
      }
      const ResourceRecord as_before = record();
      return closing_of(intent_, &as_before);
    });
  }
  void closed(Status status, bool keep_steps) {
    if (!status.ok()) {
      why_ = std::make_unique<Status>(std::move(status));
    } else if (!why_) {
      execution_.remove_resource(address_, keep_steps);
    }
  }
  Status status() { return why_ ? std::move(*why_) : Status(); }

 private:
  ResourceRecord record() const { return execution_.resource(address_).value_or(ResourceRecord()); }
  // It may just not show yet. It is gone once it is old enough to show.
  Next wait_until_shown() {
    const auto wait = until_shown(execution_, *cloud_, shows_by(execution_, *cloud_, record()));
    if (!wait) return end(Status());
    end(stopped_before_it_showed(address_));
    pause = *wait;
    return Next::Pause;
  }
  Next end(Status why) {
    why_ = why.ok() ? nullptr : std::make_unique<Status>(std::move(why));
    return intent_ == 0 ? Next::Over : Next::Close;
  }
  void put_status(ResourceStatus status) {
    ResourceRecord marked = record();
    marked.status = status;
    execution_.put(marked);
  }

  Execution& execution_;
  const std::string& address_;
  Cloud* cloud_ = nullptr;
  long long intent_ = 0;  // 0: none is open
  int attempt_ = 1;
  ResourceStatus before_ = ResourceStatus::Ready;
  bool untouched_ = false;       // stopped before any request
  std::unique_ptr<Status> why_;  // cause of the failure
};

}  // namespace

Async<Status> remove_resource(Execution& execution, Park& park, std::string address, bool keep_steps) {
  using Next = Removing::Next;
  Removing removing(execution, address);
  Next next = removing.begin();
  while (next != Next::Over) {
    if (next == Next::Ask) {
      next = removing.ask();
    } else if (next == Next::Look) {
      std::unique_ptr<Sight> sight = co_await removing.look(park);
      next = removing.take(std::move(sight));
    } else if (next == Next::Pause) {
      bool waited = co_await park.during(removing.pause);
      next = waited ? Next::Ask : Next::Close;
    } else {
      Async<Status> writing = next == Next::Open ? removing.open(park) : removing.close(park, keep_steps);
      co_await writing.finished();
      if (next == Next::Open) {
        next = removing.opened(writing.take());
      } else {
        removing.closed(writing.take(), keep_steps);
        next = Next::Over;
      }
    }
  }
  co_return removing.status();
}

}  // namespace radl
