#include "runtime/exec/sweep.h"

#include <algorithm>
#include <map>

#include "common/guarded.h"
#include "runtime/exec/retry.h"

namespace radl {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience = std::chrono::minutes(5);
constexpr milliseconds kFirstWait{500}, kLongestWait{10000};

void tell_leftover(Session& session, std::vector<std::string>& leftovers, const std::string& what,
                   const std::string& why) {
  leftovers.push_back(session.events.mask(what + ": " + why));
  Event event;
  event.kind = EventKind::Leftover;
  event.id = what;
  event.message = why;
  session.events.emit(std::move(event));
}

// One cloud. Nothing is known of what references what: whatever is refused because of something else is asked
// again after that has gone.
class Sweep {
 public:
  Sweep(Session& session, Cloud& cloud, std::vector<std::string>& leftovers)
      : session_(session), cloud_(cloud), leftovers_(leftovers) {}

  void run() {
    const auto end = session_.in(std::max(kPatience, cloud_.settles_after()));
    for (milliseconds wait = kFirstWait;; wait = std::min(wait * 2, kLongestWait)) {
      Query query;
      query.everything = true;
      Result<std::vector<Seen>> seen = cloud_.look(context(), query);
      std::string why;
      bool again = false;
      if (seen.ok()) {
        again = destroy(*seen);
        if (!again) return;
      } else {
        why = "it could not be asked what is left: " + seen.status().text();
        again = may_work_later(seen.status().code());
      }
      bool waited = again && session_.world().clock.now() + wait < end &&
                    sleep_unless(session_.world().clock, wait, session_.now());
      if (waited) continue;
      if (!why.empty()) leftover(cloud_.id().text(), why);
      for (const auto& [id, reason] : waiting_) leftover(id + " (" + cloud_.id().text() + ")", reason);
      return;
    }
  }

 private:
  // True when something is still there that may go.
  bool destroy(const std::vector<Seen>& seen) {
    waiting_.clear();
    for (const Seen& one : seen) {
      if (refused_.count(one.id)) continue;
      waiting_[one.id] = "it does not go";
      if (one.phase == ResourcePhase::Leaving) continue;
      Order order;
      order.address = one.address;
      order.type = one.type;
      order.id = one.id;
      order.token = one.token;
      order.spec = one.spec;
      Asked asked = cloud_.ask_destroy(context(), order);
      if (asked.answer == Asked::Answer::Accepted) continue;
      waiting_[one.id] = asked.status.text();
      // It was in the list a moment ago: the next one tells which of both holds.
      if (asked.status.code() == Code::NotFound) continue;
      bool final = asked.answer == Asked::Answer::Refused && !may_work_later(asked.status.code());
      if (!final) continue;
      waiting_.erase(one.id);
      refused_.insert(one.id);
      leftover(one.id + " (" + cloud_.id().text() + ")", asked.status.text());
    }
    return !waiting_.empty();
  }

  Context context() { return session_.context("", session_.in(kPatience)); }

  void leftover(const std::string& what, const std::string& why) {
    tell_leftover(session_, leftovers_, what, why);
  }

  Session& session_;
  Cloud& cloud_;
  std::vector<std::string>& leftovers_;
  std::map<std::string, std::string> waiting_;  // id -> why it is still there
  std::set<std::string> refused_;               // for good
};

}  // namespace

void sweep(Session& session, const std::set<std::string>& clouds, std::vector<std::string>& leftovers) {
  for (const std::string& id : clouds) {
    Cloud* cloud = session.run.clouds->find(id);
    if (!cloud) {
      tell_leftover(session, leftovers, id,
                    "there is no cloud of that name in this run: it could not be asked what is left");
      continue;
    }
    Status swept = guarded([&]() -> Status { return Sweep(session, *cloud, leftovers).run(), Status(); });
    if (!swept.ok()) tell_leftover(session, leftovers, id, swept.message());
  }
}

}  // namespace radl
