// Create, and the second half of a replacement.
#include <algorithm>

#include "runtime/exec/actions.h"
#include "runtime/exec/asking.h"
#include "runtime/exec/retry.h"
#include "runtime/plan/protect.h"

namespace radl {

namespace {

struct Creation {
  Status status;
  std::optional<Seen> made;
  bool unfinished = false;  // of `made`: it may lack what only ask_update() gives
  bool certain = true;      // of a failure: nothing of it exists
  bool spent = false;  // of a failure: something was made for the token and is gone; another takes a new one
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
        result.unfinished =
            asked.answer == Asked::Answer::Accepted ? asked.again : !shows(*result.made, record.spec);
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

// What creating alone could not give. Until it is there the record tells what is: a run that ends in between
// leaves the rest to the next plan.
Async<Status> finish_making(Session& session, Park& park, Cloud& cloud, ResourceRecord& record, Json wanted) {
  ResourceRecord whole = record;
  whole.spec = std::move(wanted);
  Changing changed = co_await change_resource(session, park, cloud, whole);
  if (!changed.status.ok()) co_return changed.status;
  whole.attributes = attributes_now(whole, std::move(changed.seen->attributes));
  if (Status put = session.store().put_resource(whole); !put.ok()) co_return put;
  session.put(whole);
  record = std::move(whole);
  co_return Status();
}

Async<Status> record_made(Session& session, Park& park, Cloud& cloud, Intent intent, Seen made,
                          bool unfinished) {
  ResourceRecord record = intent.resource;
  record.id = std::move(made.id);
  record.attributes = std::move(made.attributes);
  if (unfinished) record.spec = laid_over(record.spec, made.spec);
  record.created_at = session.world().clock.wall_seconds();
  if (Status recorded = session.store().finish(intent, &record); !recorded.ok()) {
    co_return std::move(recorded).at(intent.address +
                                     " was made, and the journal knows of it, but it could not be recorded");
  }
  (void)session.take_unresolved(intent.address);
  session.put(record);
  if (unfinished) {
    Status finished = co_await finish_making(session, park, cloud, record, intent.resource.spec);
    if (!finished.ok()) co_return finished;
  }
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
    const bool unfinished = !shows(seen, left->resource.spec);
    earlier.status = co_await record_made(session, park, cloud, *left, std::move(seen), unfinished);
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
  tell_phase(session, record, "creating");
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
    making.status = co_await record_made(session, park, cloud, *begun, std::move(made), created.unfinished);
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

Async<Status> make_wanted(Session& session, Park& park, const Action& action) {
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
    record.protected_by = protection_of(*node);
  }
  record.needs = action.uses;
  return record;
}

Async<Status> make_resource(Session& session, Park& park, const Action& action) {
  Status made = co_await make_wanted(session, park, action);
  if (!made.ok()) session.note_failed(action.id);
  co_return made;
}

}  // namespace radl
