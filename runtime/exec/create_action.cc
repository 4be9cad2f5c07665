// Create, and the second half of a replacement.
//
// While a thing is being made, what waits for it holds a token and the number of an offer: what is asked for
// stands in the plan, and the record is made of it anew whenever one is needed.
#include <algorithm>
#include <memory>
#include <utility>

#include "runtime/clouds/tags.h"
#include "runtime/exec/actions.h"
#include "runtime/exec/asking.h"
#include "runtime/exec/retry.h"
#include "runtime/plan/protect.h"
#include "runtime/state/writes.h"

namespace radl {

namespace {

// The intent as it stands in the journal, and in it the record as far as it is known.
Intent intent_of(Execution& execution, const Action& action, const OpenCreation& open) {
  Intent intent;
  intent.id = open.intent;
  intent.kind = Intent::Kind::Create;
  intent.address = action.id;
  intent.token = open.token;
  intent.resource = wanted_record(execution, action, open.offer);
  intent.resource.token = open.token;
  return intent;
}

Watch watch_for_made(Execution& execution, const Cloud& cloud, const Action& action, const OpenCreation& open,
                     bool accepted) {
  return {Watch::For::There,
          open.token,
          "",
          action.id,
          execution.in(cloud.settles_after()),
          execution.in(std::max(execution.options().create_deadline, cloud.settles_after())),
          accepted};
}

Status not_known(const Status& asked, const Status& found) {
  Code code = found.code() == Code::Cancelled ? Code::Cancelled : Code::Internal;
  if (asked.ok() && code != Code::Cancelled) code = found.code();
  if (may_work_later(code)) code = Code::Internal;
  std::string text = asked.ok() ? "" : asked.message() + "; ";
  return Status(code, text + "whether it was created is unknown: " + found.message())
      .with_hint(asked.hint().empty() ? found.hint() : asked.hint());
}

// Opens the intent. The creation is the execution's from then on until its intent is closed.
Async<Status> open_intent(Execution& execution, Park& park, const Action& action, size_t offer) {
  OpenCreation open{0, random_token(execution.world().random), offer};
  if (execution.node(action.id)) tell_node_phase(execution, action.id, "creating");
  Async<Recorder::Written> writing =
      park.written([&] { return opening_of(intent_of(execution, action, open)); });
  co_await writing.finished();
  const Recorder::Written begun = writing.take();
  if (!begun.ok()) co_return begun.status();
  open.intent = begun->front();
  execution.put_open_creation(action.id, std::move(open));
  co_return Status();
}

// Closes the intent with what has come of it. The record is made when it is written.
Async<Status> record_made(Execution& execution, Park& park, const Action& action, const OpenCreation& open,
                          std::unique_ptr<Seen> made, bool unfinished) {
  std::unique_ptr<ResourceRecord> record;
  Async<Status> writing = park.write([&] {
    record = std::make_unique<ResourceRecord>(intent_of(execution, action, open).resource);
    record->id = std::move(made->id);
    record->attributes = std::move(made->attributes);
    if (unfinished) record->spec = laid_over(record->spec, with_tags_of(record->spec, made->spec));
    record->created_at = execution.world().clock.wall_seconds();
    return closing_of(open.intent, record.get());
  });
  co_await writing.finished();
  Status recorded = writing.take();
  if (!recorded.ok()) {
    co_return std::move(recorded).at(action.id +
                                     " was created and is in the journal, but could not be recorded");
  }
  (void)execution.take_open_creation(action.id);
  execution.put(*record);
  co_return Status();
}

// One resource being made, from one wait to the next: requests are repeated, what came to nothing is asked
// for anew with another token, and where the cloud has none of an offer the next one is taken.
class Creating {
 public:
  // `action` must outlive this object. `open`: a request of an earlier round of this run with unknown
  // outcome; nullptr if none.
  Creating(Execution& execution, Cloud& cloud, const Action& action, const OpenCreation* open)
      : execution_(execution), cloud_(cloud), action_(action), open_(open), offer_(action.chosen) {}

  enum class Next { Open, Ask, Look, Remove, Close, Pause, Made, Recorded, Over };
  std::chrono::milliseconds pause{};  // for Pause

  Next begin() { return open_ ? Next::Look : Next::Open; }

  // For Open, Remove, Close and Made.
  Async<Status> work(Next what, Park& park) {
    if (what == Next::Open) return open_intent(execution_, park, action_, offer_);
    if (what == Next::Remove) return remove(park);
    return what == Next::Close ? close(park) : record(park);
  }
  Next worked(Next what, Status status) {
    if (what == Next::Open) return opened(std::move(status));
    if (what == Next::Remove) return removed(status);
    if (what == Next::Close) return closed(std::move(status));
    return status.ok() ? Next::Recorded : end(std::move(status));
  }

  Next ask() {
    // Without the lock, another run may have closed the intent. A resource created now would then be unknown
    // to both.
    if (Status held = execution_.store().still_held(); !held.ok()) return end(std::move(held));
    Asked asked = cloud_.ask_create(asking(execution_, action_.id),
                                    order_for(execution_, intent_of(execution_, action_, *open_).resource));
    accepted_ = asked.answer == Asked::Answer::Accepted;
    more_ = asked.again;
    retry_after_ = asked.retry_after;
    keep(std::move(asked.status));
    if (!accepted_ && !why_) keep({Code::Lost, "no answer came"});
    return asked.answer == Asked::Answer::Refused ? ask_again() : Next::Look;
  }

  Async<std::unique_ptr<Sight>> look(Park& park) {
    return park.sight(cloud_, watch_for_made(execution_, cloud_, action_, *open_, accepted_));
  }
  Next take(std::unique_ptr<Sight> sight) {
    if (!sight->status.ok()) return end(not_known(why(), sight->status));
    if (!sight->seen) return nothing_there("");
    seen_ = std::move(sight->seen);
    return is_made(*seen_) ? Next::Made : Next::Remove;
  }

  Next paused(bool waited) {
    if (waited) return open_ ? Next::Ask : Next::Open;
    return open_ ? give_up() : Next::Over;
  }

  // For Recorded: completes the creation.
  Async<Status> settle(Park& park);
  Status status() { return why_ ? std::move(*why_) : Status(); }

 private:
  Next opened(Status status) {
    if (!status.ok()) return end(std::move(status));
    open_ = execution_.open_creation(action_.id);
    attempt_ = 1;
    if (!execution_.stop_starting()) return Next::Ask;
    keep(stopped_before_it_was_asked());
    return give_up();
  }

  // A resource that will never become ready.
  Async<Status> remove(Park& park) {
    ResourceRecord record = intent_of(execution_, action_, *open_).resource;
    record.id = seen_->id;
    record.created_at = execution_.world().clock.wall_seconds();
    return destroy_and_wait(execution_, park, cloud_, std::move(record));
  }
  Next removed(const Status& status) {
    if (!status.ok()) return end(not_known(why(), status));
    const auto unfit = std::exchange(seen_, nullptr);
    if (!unfit->no_room) return nothing_there(why_unfit(*unfit));
    keep({Code::Quota, why_unfit(*unfit)});
    return give_up();
  }

  Async<Status> record(Park& park) {
    offer_ = open_->offer;
    unfinished_ = accepted_ ? more_ : !shows(*seen_, wanted_record(execution_, action_, offer_).spec);
    return record_made(execution_, park, action_, *open_, std::move(seen_), unfinished_);
  }

  Next end(Status why) {
    keep(std::move(why));
    return Next::Over;
  }
  void keep(Status why) { why_ = why.ok() ? nullptr : std::make_unique<Status>(std::move(why)); }
  Status why() const { return why_ ? *why_ : Status(); }

  // `unfit`: why the existing resource had to be removed.
  Next nothing_there(const std::string& unfit) {
    // After a lost response: the same request again.
    if (unfit.empty() && !accepted_) return why_ ? ask_again() : give_up();
    keep({Code::Retry, unfit.empty() ? "it was accepted and has vanished" : unfit});
    anew_ = true;
    return Next::Close;
  }

  Next ask_again() {
    const auto wait = next_attempt(execution_, action_.id, why(), attempt_, retry_after_);
    if (!wait) return give_up();
    pause = *wait;
    return Next::Pause;
  }

  // Nothing exists.
  Next give_up() {
    anew_ = false;
    return Next::Close;
  }

  Async<Status> close(Park& park) {
    const long long intent = std::exchange(open_, nullptr)->intent;
    (void)execution_.take_open_creation(action_.id);
    return park.write([intent] { return closing_of(intent, nullptr); });
  }
  Next closed(Status status) {
    if (!status.ok()) return end(std::move(status));
    if (anew_) {
      const auto wait = next_attempt(execution_, action_.id, *why_, token_);
      if (!wait) return Next::Over;
      pause = *wait;
      return Next::Pause;
    }
    if (!why_) return Next::Open;  // of an earlier round: create it now
    const bool another =
        why_->code() == Code::Quota && offer_ + 1 < action_.offers.size() && !execution_.stop_starting();
    if (!another) return Next::Over;
    const Offer& next = action_.offers[++offer_];
    token_ = 1;  // count the attempts with another token from 1
    const std::string market = next.facts.market.empty() ? "" : " " + next.facts.market;
    std::string why = why_->message();  // clouds end it with or without a full stop
    while (why.ends_with('.')) why.pop_back();
    tell(execution_, action_.id,
         why + ": trying " + next.name + market + (next.zone.empty() ? "" : " in " + next.zone));
    return Next::Open;
  }

  Execution& execution_;
  Cloud& cloud_;
  const Action& action_;
  const OpenCreation* open_;  // the execution's
  size_t offer_;
  int attempt_ = 1, token_ = 1;           // attempts with this token; number of tokens
  bool accepted_ = false, more_ = false;  // of the last request
  double retry_after_ = 0;                // seconds, of the last request
  bool anew_ = false;                     // for Close: retry with another token
  bool unfinished_ = false;               // the record is incomplete
  std::unique_ptr<Status> why_;           // cause of the failure
  std::unique_ptr<Seen> seen_;
};

// What creating alone could not give. Until it is there the record tells what is: a run that ends in between
// leaves the rest to the next plan.
Async<Status> finish_making(Execution& execution, Park& park, Cloud& cloud, const Action& action,
                            size_t offer) {
  ResourceRecord whole = execution.resource(action.id).value_or(ResourceRecord());
  whole.spec = wanted_record(execution, action, offer).spec;
  Changing changed = co_await change_resource(execution, park, cloud, whole);
  if (!changed.status.ok()) co_return changed.status;
  whole.attributes = attributes_now(whole, std::move(changed.seen->attributes));
  Async<Status> writing = park.write([&whole] { return putting_of(whole); });
  co_await writing.finished();
  if (Status put = writing.take(); !put.ok()) co_return put;
  execution.put(whole);
  Status reached = co_await wait_until_reachable(execution, park, action.id);
  co_return reached;
}

Async<Status> over(Status status) { co_return status; }

Async<Status> Creating::settle(Park& park) {
  return unfinished_ ? finish_making(execution_, park, cloud_, action_, offer_)
                     : wait_until_reachable(execution_, park, action_.id);
}

Async<Status> make(Execution& execution, Park& park, Cloud& cloud, const Action& action) {
  using Next = Creating::Next;
  Creating creating(execution, cloud, action, execution.open_creation(action.id));
  Next next = creating.begin();
  while (next != Next::Recorded && next != Next::Over) {
    if (next == Next::Ask) {
      next = creating.ask();
    } else if (next == Next::Look) {
      std::unique_ptr<Sight> sight = co_await creating.look(park);
      next = creating.take(std::move(sight));
    } else if (next == Next::Pause) {
      bool waited = co_await park.during(creating.pause);
      next = creating.paused(waited);
    } else {
      Async<Status> work = creating.work(next, park);
      co_await work.finished();
      next = creating.worked(next, work.take());
    }
  }
  if (next == Next::Over) co_return creating.status();
  Async<Status> rest = creating.settle(park);
  co_await rest.finished();
  co_return rest.take();
}

Async<Status> make_in_place_of(Execution& execution, Park& park, Cloud& cloud, const Action& action) {
  Status gone = co_await remove_resource(execution, park, action.id, true);
  if (!gone.ok()) co_return gone;
  Status made = co_await make(execution, park, cloud, action);
  co_return made;
}

}  // namespace

ResourceRecord wanted_record(Execution& execution, const Action& action, size_t offer) {
  ResourceRecord record;
  record.address = action.id;
  record.type = action.type;
  record.cloud = action.cloud;
  const bool chosen = offer == action.chosen || offer >= action.offers.size();
  record.spec = chosen ? action.spec : offered_spec(action.base_spec, action.offers[offer]);
  record.price_per_hour = chosen ? action.price_per_hour : action.offers[offer].price_per_hour;
  if (const ir::Node* node = execution.node(action.id)) {
    record.system = node->system;
    record.ordinal = node->ordinal;
    record.number = node->number;
    record.protected_by = protection_of(*node);
  }
  record.needs = action.uses;
  return record;
}

Async<Status> make_resource(Execution& execution, Park& park, const Action& action) {
  Result<Cloud*> cloud = cloud_of(execution, action.cloud);
  if (!cloud.ok()) return over(cloud.status());
  const bool is_there = execution.resource(action.id).has_value();
  return is_there ? make_in_place_of(execution, park, **cloud, action)
                  : make(execution, park, **cloud, action);
}

}  // namespace radl
