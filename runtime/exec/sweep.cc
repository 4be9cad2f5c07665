#include "runtime/exec/sweep.h"

#include <algorithm>
#include <map>

#include "common/guarded.h"
#include "runtime/clouds/takes_over.h"
#include "runtime/exec/ownership.h"
#include "runtime/exec/retry.h"

namespace radl {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience = std::chrono::minutes(5);
constexpr milliseconds kFirstWait{500}, kLongestWait{10000};

void tell_leftover(Execution& execution, std::vector<std::string>& leftovers, const std::string& what,
                   const std::string& why) {
  leftovers.push_back(execution.events.mask(what + ": " + why));
  Event event;
  event.kind = EventKind::Leftover;
  event.id = what;
  event.message = why;
  execution.events.emit(std::move(event));
}

// One cloud. Nothing is known of what references what: whatever is refused because of something else is asked
// again after that has gone.
class Sweep {
 public:
  Sweep(Execution& execution, Cloud& cloud, const Ownership& ownership, RunReport& report)
      : execution_(execution), cloud_(cloud), ownership_(ownership), report_(report) {}

  // `named`: removes only what Run::also names, before anything else.
  void run(bool named) {
    named_ = named;
    const auto end = execution_.in(std::max(kPatience, cloud_.settles_after()));
    for (milliseconds wait = kFirstWait;; wait = std::min(wait * 2, kLongestWait)) {
      Query query = named_ ? Query() : ownership_.everything_of(cloud_.id().text());
      query.ids.insert(query.ids.end(), execution_.run.also.begin(), execution_.run.also.end());
      Result<std::vector<Seen>> seen = cloud_.look(context(), query);
      std::string why;
      bool again = false;
      if (seen.ok()) {
        again = destroy(*seen);
        if (!again) break;
      } else {
        why = "cannot list the remaining resources: " + seen.status().text();
        again = may_work_later(seen.status().code());
      }
      bool waited = again && execution_.world().clock.now() + wait < end &&
                    sleep_unless(execution_.world().clock, wait, execution_.now());
      if (waited) continue;
      if (!why.empty()) leftover(cloud_.id().text(), why);
      for (const auto& [id, reason] : waiting_) leftover(id + " (" + cloud_.id().text() + ")", reason);
      break;
    }
    for (auto& [id, one] : unowned_) tell_unowned(std::move(one));
  }

 private:
  // True while removable resources remain.
  bool destroy(const std::vector<Seen>& seen) {
    waiting_.clear();
    unowned_.clear();
    for (const Seen& one : seen) {
      if (refused_.count(one.id)) continue;
      const bool named = execution_.run.also.count(one.id) != 0;
      if (ownership_.is_kept(cloud_.id().text(), one.id)) continue;
      if (!named && ownership_.is_released(cloud_.id().text(), one.id)) {
        take_tags_off(one);
        continue;
      }
      std::string why = named ? "" : ownership_.why_foreign(cloud_, one);
      if (!why.empty()) {
        if (one.phase != ResourcePhase::Leaving)
          unowned_[one.id] = {cloud_.id().text(), one.id, one.type, one.address, std::move(why)};
        continue;
      }
      waiting_[one.id] = "it does not go";
      if (one.phase == ResourcePhase::Leaving) continue;
      Asked asked = cloud_.ask_destroy(context(), order_of(one));
      if (asked.answer == Asked::Answer::Accepted) continue;
      waiting_[one.id] = asked.status.text();
      // It was in the last list: the next list decides.
      if (asked.status.code() == Code::NotFound) continue;
      bool final = asked.answer == Asked::Answer::Refused && !may_work_later(asked.status.code());
      if (!final) continue;
      waiting_.erase(one.id);
      refused_.insert(one.id);
      leftover(one.id + " (" + cloud_.id().text() + ")", asked.status.text());
    }
    return !waiting_.empty();
  }

  static Order order_of(const Seen& seen) {
    Order order;
    order.address = seen.address;
    order.type = seen.type;
    order.id = seen.id;
    order.token = seen.token;
    order.spec = seen.spec;
    return order;
  }

  // Completes releases that were interrupted.
  void take_tags_off(const Seen& one) {
    auto* marking = dynamic_cast<TakesOver*>(&cloud_);
    if (!marking || one.token.empty() || one.phase == ResourcePhase::Leaving) return;
    Status released = marking->release(context(), order_of(one));
    const Code code = released.code();
    if (code == Code::NotFound || code == Code::Unsupported) return;
    waiting_[one.id] =
        "it was released, and its radlc tags stay" + (released.ok() ? "" : ": " + released.text());
  }

  Context context() { return execution_.context("", execution_.in(kPatience)); }

  void leftover(const std::string& what, const std::string& why) {
    tell_leftover(execution_, report_.leftovers, what, why);
  }

  void tell_unowned(Unowned one) {
    Event event;
    event.kind = EventKind::Unowned;
    event.id = one.id;
    event.message = one.why;
    event.data = {{"cloud", one.cloud}, {"type", one.type}, {"address", one.address}};
    execution_.events.emit(std::move(event));
    report_.unowned.push_back(std::move(one));
  }

  Execution& execution_;
  Cloud& cloud_;
  const Ownership& ownership_;
  RunReport& report_;
  std::map<std::string, std::string> waiting_;  // id -> why it still exists
  std::set<std::string> refused_;               // permanently
  std::map<std::string, Unowned> unowned_;      // by id
  bool named_ = false;
};

}  // namespace

void sweep(Execution& execution, const std::set<std::string>& clouds, const Ownership& ownership,
           RunReport& report, bool named) {
  for (const std::string& id : clouds) {
    Cloud* cloud = execution.run.clouds->find(id);
    if (!cloud) {
      tell_leftover(execution, report.leftovers, id,
                    "this run has no cloud of that name, so it cannot list the remaining resources");
      continue;
    }
    Status swept =
        guarded([&]() -> Status { return Sweep(execution, *cloud, ownership, report).run(named), Status(); });
    if (!swept.ok()) tell_leftover(execution, report.leftovers, id, swept.message());
  }
}

}  // namespace radl
