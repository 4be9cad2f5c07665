#include "runtime/exec/watcher.h"

#include <algorithm>
#include <unordered_map>

#include "common/guarded.h"
#include "runtime/clouds/tags.h"
#include "runtime/exec/asking.h"
#include "runtime/exec/retry.h"

namespace radl {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kOneLook = std::chrono::minutes(2);
// While something is still being asked for, the cloud is left in peace so many times as long as a look takes.
constexpr int kPeace = 4;
// Of how many things one call is to tell: its answer is held as a whole.
constexpr size_t kAtOnce = 1000;

bool is_decided(const Watch& watch, const Seen& seen, Scheduler::TimePoint asked_at) {
  switch (watch.what) {
    case Watch::For::There:
      return seen.phase != ResourcePhase::Pending;
    case Watch::For::Changed:
      if (seen.phase == ResourcePhase::Broken) return true;
      if (seen.phase == ResourcePhase::Leaving && !seen.detail.empty()) return true;  // it has ended
      if (seen.phase != ResourcePhase::Ready) return false;
      return shows(seen, watch.spec) || asked_at >= watch.settled_at;
    case Watch::For::Settled:
      return seen.phase != ResourcePhase::Pending && asked_at >= watch.settled_at;
    case Watch::For::Gone:
      return false;
  }
  return false;
}

}  // namespace

bool shows(const Seen& seen, const Json& spec) {
  const Json shown = with_tags_of(spec, seen.spec);
  for (const auto& [field, value] : spec.items()) {
    if (shown.contains(field) && shown[field] != value) return false;
  }
  return true;
}

std::shared_ptr<Watcher::Slot> Watcher::add(Watch watch) {
  auto slot = std::make_shared<Slot>();
  slot->watch = std::move(watch);
  std::lock_guard guard(mutex_);
  slots_.push_back(slot);
  wait_ = cloud_.pace().first;
  plan_look();
  return slot;
}

milliseconds Watcher::expected() const {
  if (of_ == 0) return milliseconds(0);
  return took_ * static_cast<long>(std::min(slots_.size(), of_)) / static_cast<long>(of_);
}

void Watcher::plan_look() {
  Scheduler::TimePoint when = execution_.in(std::max(wait_, expected()));
  // Do not wait for a deadline that has passed and was postponed for the cloud's sake: it would fire at once.
  if (due_ && *due_ > execution_.world().clock.now()) when = std::min(when, *due_);
  if (next_look_ && *next_look_ <= when) return;
  next_look_ = when;
  scheduler_.serve_at(when, [this, when] {
    const bool busy = scheduler_.is_busy();
    {
      std::lock_guard guard(mutex_);
      if (next_look_ != when) return;  // an earlier one has been planned since
      if (busy && execution_.world().clock.now() < peace_until_) {
        next_look_.reset();
        return plan_look();
      }
    }
    look();
  });
}

void Watcher::look() {
  // A query does not judge slots that were added during it, because it may have started before the resource
  // existed.
  std::vector<std::shared_ptr<Slot>> asked;
  {
    std::lock_guard guard(mutex_);
    asked = slots_;
  }
  const auto begun = execution_.world().clock.now();
  for (size_t first = 0; first < asked.size(); first += kAtOnce)
    look_for(std::span(asked).subspan(first, std::min(kAtOnce, asked.size() - first)));
  const auto took = std::chrono::duration_cast<milliseconds>(execution_.world().clock.now() - begun);
  std::lock_guard guard(mutex_);
  took_ = std::min(took, cloud_.pace().longest);
  of_ = asked.size();
  peace_until_ = execution_.in(kPeace * took_);
  next_look_.reset();
  std::erase_if(slots_, [](const auto& slot) { return slot->settled || slot->sight; });
  if (slots_.empty()) return;
  // Changes in what is awaited take effect at once, not at the end of a pause. Settled slots may be seen a
  // little later, because each of many machines settles at its own time.
  const auto now = execution_.world().clock.now();
  due_.reset();
  for (const auto& slot : slots_)
    if (slot->watch.deadline > now && (!due_ || slot->watch.deadline < *due_)) due_ = slot->watch.deadline;
  wait_ = std::min(std::max(wait_, milliseconds(1)) * 2, cloud_.pace().longest);
  plan_look();
}

void Watcher::look_for(std::span<const std::shared_ptr<Slot>> asked) {
  Query query;
  for (const auto& slot : asked) {
    const Watch& watch = slot->watch;
    (watch.id.empty() ? query.tokens : query.ids).push_back(watch.id.empty() ? watch.token : watch.id);
  }
  const auto asked_at = execution_.world().clock.now();
  Result<std::vector<Seen>> seen = std::vector<Seen>();
  Status told = guarded([&]() -> Status {
    seen = cloud_.look(execution_.context("", execution_.in(kOneLook)), query);
    return seen.ok() ? Status() : seen.status();
  });
  std::lock_guard guard(mutex_);
  if (!told.ok()) return fail(asked, told, asked_at);
  failed_ = false;
  std::unordered_map<std::string_view, const Seen*> by_token, by_id;
  for (const Seen& one : *seen) {
    if (!one.token.empty()) by_token.emplace(one.token, &one);
    by_id.emplace(one.id, &one);
  }
  for (const auto& slot : asked) {
    const auto& index = slot->watch.id.empty() ? by_token : by_id;
    auto found = index.find(slot->watch.id.empty() ? slot->watch.token : slot->watch.id);
    judge(*slot, found == index.end() ? nullptr : found->second, asked_at);
  }
}

void Watcher::judge(Slot& slot, const Seen* seen, Scheduler::TimePoint asked_at) {
  const Watch& watch = slot.watch;
  if (seen) slot.last = seen->phase;
  bool decided = seen ? is_decided(watch, *seen, asked_at)
                      : watch.what == Watch::For::Gone || asked_at >= watch.settled_at;
  if (decided) return settle(slot, {{}, seen ? std::make_unique<Seen>(*seen) : nullptr});
  if (asked_at >= watch.deadline) {
    std::string state = slot.last ? "it is still " + std::string(phase_name(*slot.last)) : "it does not show";
    return settle(slot, {Status(Code::Timeout, "no longer waited for: " + state), nullptr});
  }
  if (!seen && !watch.accepted && !slot.told) tell_waiting(slot, asked_at);
}

// Passing faults are outwaited up to the deadlines; anything else is final for all that is waited for.
void Watcher::fail(std::span<const std::shared_ptr<Slot>> asked, const Status& why,
                   Scheduler::TimePoint asked_at) {
  bool passes = may_work_later(why.code());
  for (const auto& slot : asked) {
    if (!passes || asked_at >= slot->watch.deadline) settle(*slot, {why, nullptr});
  }
  if (passes && !failed_) {
    tell(execution_, "", cloud_.id().text() + " cannot be asked: " + why.message() + "; trying again");
  }
  failed_ = true;
}

void Watcher::settle(Slot& slot, Sight sight) {
  slot.sight = std::make_unique<Sight>(std::move(sight));
  if (slot.ticket) scheduler_.resume(*slot.ticket);
}

void Watcher::tell_waiting(Slot& slot, Scheduler::TimePoint asked_at) {
  slot.told = true;
  auto left = std::chrono::ceil<std::chrono::seconds>(slot.watch.settled_at - asked_at);
  tell(execution_, slot.watch.address,
       "whether it was created is not known yet; searching for up to " + std::to_string(left.count()) + " s");
}

bool Watcher::is_settled(const Slot& slot) const {
  std::lock_guard guard(mutex_);
  return slot.sight != nullptr;
}

std::unique_ptr<Sight> Watcher::take(Slot& slot) {
  std::lock_guard guard(mutex_);
  slot.settled = true;
  return std::move(slot.sight);
}

bool Watcher::wait(const std::shared_ptr<Slot>& slot, Scheduler::Ticket ticket) {
  std::lock_guard guard(mutex_);
  if (slot->sight) return false;
  slot->ticket = ticket;
  return true;
}

void Watcher::drop(const std::shared_ptr<Slot>& slot) {
  std::lock_guard guard(mutex_);
  std::erase(slots_, slot);
}

Watcher& Watchers::of(Cloud& cloud) {
  std::lock_guard guard(mutex_);
  std::unique_ptr<Watcher>& watcher = watchers_[&cloud];
  if (!watcher) watcher = std::make_unique<Watcher>(execution_, cloud, scheduler_);
  return *watcher;
}

}  // namespace radl
