#include "runtime/clouds/openstack/creations.h"

namespace radl::openstack {

Asked Creations::once(const std::string& token, std::chrono::milliseconds settles_after,
                      const std::function<Asked()>& create,
                      const std::function<Result<std::optional<std::string>>()>& find) {
  std::optional<Asked> earlier;
  Clock::time_point settled_at{};
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return !entries_[token].busy; });
    Entry& entry = entries_[token];
    if (entry.last && entry.last->answer == Asked::Answer::Accepted) return *entry.last;
    entry.busy = true;
    earlier = entry.last;
    settled_at = entry.settled_at;
  }
  Asked asked;
  bool sends = true;
  if (earlier && earlier->answer == Asked::Answer::Unknown) {
    const Clock::time_point looked_at = Clock::now();
    auto found = find();
    sends = found.ok() && !*found && looked_at >= settled_at;
    if (found.ok() && *found) {
      // It may lack what only ask_update() gives.
      asked = Asked::accepted_so_far(**found);
    } else if (!sends) {
      asked = *earlier;
    }
  }
  if (sends) {
    asked = create();
    settled_at = Clock::now() + settles_after;
  }
  std::lock_guard lock(mutex_);
  Entry& entry = entries_[token];
  entry.busy = false;
  entry.last = asked;
  entry.settled_at = settled_at;
  done_.notify_all();
  return asked;
}

void Creations::forget(const std::string& id) {
  std::lock_guard lock(mutex_);
  for (auto& [token, entry] : entries_)
    if (entry.last && entry.last->id == id) entry.last.reset();
}

}  // namespace radl::openstack
