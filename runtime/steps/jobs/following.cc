#include "runtime/steps/jobs/following.h"

#include <algorithm>
#include <atomic>

#include "runtime/steps/jobs/for_all.h"

namespace radl::jobs {

using std::chrono::milliseconds;
using FollowClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kForLastLines{60};

Following::Following(const std::vector<std::unique_ptr<Member>>& members,
                     const std::vector<Process>& processes, Rules rules)
    : members_(members), processes_(processes), rules_(std::move(rules)) {}

std::vector<std::string> Following::names_on(size_t node) const {
  std::vector<std::string> names;
  for (const Process& process : processes_) {
    if (process.node == node) names.push_back(process.name);
  }
  return names;
}

const Process* Following::find(const std::string& name) const {
  for (const Process& process : processes_) {
    if (process.name == name) return &process;
  }
  return nullptr;
}

Status Following::run() {
  std::atomic<bool> over{false};
  Threads followers;
  for (size_t node = 0; node < members_.size(); ++node) {
    if (names_on(node).empty() || is_lost(node)) continue;
    Status started = followers.start([&, node] { follow(node, [&] { return over.load(); }); });
    if (!started.ok()) give_up(node, std::move(started));
  }
  Status result = guarded([&] { return wait_for_verdict(); });
  if (result.code() == kLeftRunning) {
    over = true;
    followers.join();
    return result;
  }
  const Ending ending = rules_.ending(result);
  if (ending.signal) signal_all(ending.signal);
  if (ending.patience.count() > 0) wait_for_all(ending.patience);
  wait_for_last_lines();
  over = true;
  followers.join();
  end_all();
  return result;
}

void Following::follow(size_t node, const std::function<bool()>& over) {
  auto on_end = [&](const std::string& name, int exit) {
    const Process* process = find(name);
    if (process == nullptr) return false;
    if (rules_.again(*process, exit)) return true;
    std::lock_guard lock(mutex_);
    ends_[name] = exit;
    news_.notify_all();
    return false;
  };
  auto restart = [&](const std::vector<std::string>& names) {
    Status started = rules_.start_again(node, names);
    if (started.ok()) return started;
    std::lock_guard lock(mutex_);
    for (const std::string& name : names) ends_[name] = -1;
    news_.notify_all();
    return started;
  };
  Status lost = guarded([&] {
    Member::Follower follower;
    follower.before = rules_.before;
    follower.behind = rules_.behind;
    follower.bound = rules_.bound;
    follower.whose = rules_.whose;
    follower.on_line = [&](const std::string& line) { rules_.on_line(node, line); };
    follower.on_end = on_end;
    follower.on_usage = rules_.on_usage;
    if (rules_.on_notice)
      follower.on_notice = [&](const EvictionNotice& notice) { rules_.on_notice(node, notice); };
    if (rules_.cannot_hear) follower.cannot_hear = [&] { rules_.cannot_hear(node); };
    if (rules_.services) follower.services = rules_.services(node);
    if (rules_.on_service)
      follower.on_service = [&](const std::string& what) { rules_.on_service(node, what); };
    if (rules_.on_silence) follower.on_silence = [&](bool silent) { rules_.on_silence(node, silent); };
    follower.restart = restart;
    follower.stop = over;
    follower.unreachable = [&](const Status& why) {
      if (rules_.unreachable) rules_.unreachable(node, why);
    };
    return members_[node]->follow(names_on(node), follower);
  });
  if (!lost.ok()) {
    give_up(node, std::move(lost));
    if (rules_.on_lost) rules_.on_lost(node);
  }
  std::lock_guard lock(mutex_);
  followed_.insert(node);
  news_.notify_all();
}

// A node that is not followed any more: its processes count as ended.
void Following::give_up(size_t node, Status why) {
  std::lock_guard lock(mutex_);
  for (const std::string& name : names_on(node)) ends_.try_emplace(name, -1);
  lost_.emplace(node, std::move(why));
  news_.notify_all();
}

Status Following::wait_for_verdict() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const Ends ends = ends_;
    lock.unlock();
    if (std::optional<Status> verdict = rules_.verdict(ends)) return std::move(*verdict);
    lock.lock();
    if (ends.size() == ends_.size()) news_.wait_for(lock, milliseconds(200));
  }
}

void Following::wait_for_all(milliseconds patience) {
  const auto until = FollowClock::now() + patience;
  std::unique_lock lock(mutex_);
  while (ends_.size() < processes_.size() && FollowClock::now() < until)
    news_.wait_for(lock, milliseconds(100));
}

void Following::wait_for_last_lines() {
  const auto until = FollowClock::now() + kForLastLines;
  std::unique_lock lock(mutex_);
  auto is_whole = [&](size_t node) {
    const std::vector<std::string> names = names_on(node);
    return followed_.contains(node) || lost_.contains(node) ||
           std::any_of(names.begin(), names.end(), [&](const auto& name) { return !ends_.contains(name); });
  };
  for (size_t node = 0; node < members_.size(); ++node) {
    while (!names_on(node).empty() && !is_whole(node) && FollowClock::now() < until)
      news_.wait_for(lock, milliseconds(100));
  }
}

void Following::signal_all(const char* signal) {
  (void)for_all(members_.size(), [&](size_t node) {
    const std::vector<std::string> names = names_on(node);
    // A node that is lost would be waited for; what it runs ends when it is there again, or is gone.
    return names.empty() || is_lost(node) ? Status() : members_[node]->signal(names, signal);
  });
}

void Following::end_all() {
  (void)for_all(members_.size(), [&](size_t node) -> Status {
    if (is_lost(node)) return {};
    const std::vector<std::string> names = names_on(node);
    Status killed = names.empty() ? Status() : members_[node]->signal(names, "KILL");
    std::lock_guard lock(mutex_);
    if (killed.ok()) ended_.insert(node);
    return killed;
  });
}

bool Following::has_ended(size_t node) const {
  std::lock_guard lock(mutex_);
  return ended_.contains(node);
}

void Following::wake() {
  std::lock_guard lock(mutex_);
  news_.notify_all();
}

void Following::wait(milliseconds time) {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, time);
}

Ends Following::ends() const {
  std::lock_guard lock(mutex_);
  return ends_;
}

Status Following::lost() const {
  std::lock_guard lock(mutex_);
  return lost_.empty() ? Status() : lost_.begin()->second;
}

bool Following::is_lost(size_t node) const {
  std::lock_guard lock(mutex_);
  return lost_.contains(node);
}

}  // namespace radl::jobs
