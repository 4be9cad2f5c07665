#include "runtime/clouds/operations.h"

#include <algorithm>

namespace radl {
namespace {

// A place that reported a shortage is not tried again for this long.
constexpr std::chrono::minutes kFullFor{2};

Operations::Clock::time_point in_seconds(double seconds) {
  return Operations::Clock::now() +
         std::chrono::duration_cast<Operations::Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

void Operations::began(const std::string& id, Operation operation, double seconds) {
  std::lock_guard guard(mutex_);
  failed_.erase(id);
  not_before_.erase(id);
  if (operation.path.empty()) {
    pending_.erase(id);
    return;
  }
  if (seconds > 0) not_before_[id] = in_seconds(seconds);
  pending_[id] = std::move(operation);
}

std::map<std::string, std::string> Operations::open(const Wanted& wanted) const {
  std::lock_guard guard(mutex_);
  std::map<std::string, std::string> open;
  const auto now = Clock::now();
  for (const auto& [id, one] : pending_) {
    auto later = not_before_.find(id);
    if ((later == not_before_.end() || later->second <= now) && wanted(id, one)) open[id] = one.path;
  }
  return open;
}

void Operations::not_before(const std::string& id, const std::string& path, double seconds) {
  std::lock_guard guard(mutex_);
  auto found = pending_.find(id);
  if (found != pending_.end() && found->second.path == path && seconds > 0)
    not_before_[id] = in_seconds(seconds);
}

void Operations::done(const std::string& id, const std::string& path, Status failed) {
  std::lock_guard guard(mutex_);
  auto found = pending_.find(id);
  if (found == pending_.end() || found->second.path != path) return;  // another one has begun meanwhile
  Operation one = std::move(found->second);
  pending_.erase(found);
  not_before_.erase(id);
  one.failed = std::move(failed);
  if (one.failed.ok()) return;
  if (one.failed.code() == Code::Quota && !one.place.empty())
    full_.insert_or_assign(one.place, std::pair(Clock::now() + kFullFor, one.failed));
  failed_[id] = std::move(one);
}

std::optional<Operation> Operations::pending(const std::string& id) const {
  std::lock_guard guard(mutex_);
  auto found = pending_.find(id);
  return found == pending_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Operation> Operations::failed(const std::string& id) const {
  std::lock_guard guard(mutex_);
  auto found = failed_.find(id);
  return found == failed_.end() ? std::nullopt : std::optional(found->second);
}

void Operations::forget_failure(const std::string& id) {
  std::lock_guard guard(mutex_);
  failed_.erase(id);
}

std::map<std::string, Operation> Operations::all(bool failed) const {
  std::lock_guard guard(mutex_);
  return failed ? failed_ : pending_;
}

Status Operations::finish(const std::string& id, const std::function<Status()>& poll, Pace pace,
                          const Stop& stop) {
  while (true) {
    if (Status polled = poll(); !polled.ok()) return polled;
    if (!pending(id)) break;
    if (!stop.sleep(pace.first)) return stop.check();
    pace.first = std::min(pace.first * 2, pace.longest);
  }
  auto failed = this->failed(id);
  if (!failed) return {};
  forget_failure(id);
  return failed->failed;
}

std::optional<Asked> Operations::earlier_change(const std::string& id) {
  if (pending(id)) return Asked::accepted_so_far(id);
  auto failed = this->failed(id);
  if (!failed) return std::nullopt;
  forget_failure(id);
  return Asked::refused(failed->failed);
}

Status Operations::room_in(const std::string& place) const {
  std::lock_guard guard(mutex_);
  auto found = full_.find(place);
  return found == full_.end() || found->second.first < Clock::now() ? Status() : found->second.second;
}

void Operations::add_to(const Context& context, const Query& query,
                        std::map<std::string, Seen>& found) const {
  for (auto& [id, seen] : found) {
    if (auto pending = this->pending(id))
      seen.phase = pending->effect == Effect::Removes ? ResourcePhase::Leaving : ResourcePhase::Pending;
    else if (auto failed = this->failed(id); failed && seen.detail.empty())
      seen.detail = failed->failed.text();
  }
  for (bool has_failed : {false, true}) {
    for (const auto& [id, one] : all(has_failed)) {
      // The requested resource may not be in any list yet, or ever.
      if (one.effect != Effect::Makes || found.count(id) || !is_wanted(context, query, id, one)) continue;
      Seen seen;
      seen.address = one.address;
      seen.token = one.token;
      seen.type = one.type;
      seen.id = id;
      seen.phase = has_failed ? ResourcePhase::Broken : ResourcePhase::Pending;
      if (has_failed) seen.detail = one.failed.text();
      found.emplace(id, std::move(seen));
    }
  }
}

bool is_wanted(const Context& context, const Query& query, const std::string& id, const Operation& one) {
  if (one.infrastructure != context.infrastructure) return false;
  return query.everything || std::count(query.ids.begin(), query.ids.end(), id) > 0 ||
         (!one.token.empty() && std::count(query.tokens.begin(), query.tokens.end(), one.token) > 0);
}

}  // namespace radl
