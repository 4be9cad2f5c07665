#include "common/stop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <vector>

namespace radl {
namespace stop_parts {

// One of: a function to poll, a flag with a descriptor that becomes readable with it, two others.
struct Asked {
  Asked() = default;
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  ~Asked() {
    if (wake >= 0) ::close(wake);
  }

  bool holds() const {
    return flag.load(std::memory_order_relaxed) || (poll && poll()) || (one && one->holds()) ||
           (other && other->holds());
  }
  // What can be waited for; true: something of it can only be polled.
  bool sources(std::vector<pollfd>& fds) const {
    if (wake >= 0) fds.push_back({wake, POLLIN, 0});
    bool polled = poll || (wake < 0 && !one && !other);
    if (one) polled |= one->sources(fds);
    if (other) polled |= other->sources(fds);
    return polled;
  }

  std::function<bool()> poll;
  std::atomic<bool> flag{false};
  int wake = -1;
  std::shared_ptr<const Asked> one, other;
};

}  // namespace stop_parts

namespace {

constexpr std::chrono::milliseconds kSlice{50};

// What can be added to `now`. In milliseconds: a comparison in the clock's own unit would overflow.
std::chrono::milliseconds longest_after(Stop::TimePoint now) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Stop::TimePoint::max() - now);
}

std::chrono::milliseconds rest_of(Stop::TimePoint end) {
  auto now = std::chrono::steady_clock::now();
  if (end <= now) return std::chrono::milliseconds(0);
  if (end - now > std::chrono::hours(24)) return std::chrono::hours(24);
  return std::chrono::ceil<std::chrono::milliseconds>(end - now);
}

}  // namespace

Stop Stop::when(std::function<bool()> asked) {
  Stop made;
  if (!asked) return made;
  auto part = std::make_shared<stop_parts::Asked>();
  part->poll = std::move(asked);
  made.asked_ = std::move(part);
  return made;
}

Stop Stop::until(TimePoint deadline) const {
  Stop made = *this;
  made.deadline_ = std::min(deadline_, deadline);
  return made;
}

Stop Stop::within(std::chrono::milliseconds time) const {
  auto now = std::chrono::steady_clock::now();
  return time < longest_after(now) ? until(now + time) : *this;
}

Stop Stop::or_when(const Stop& other) const {
  Stop made = until(other.deadline_);
  if (!asked_ || !other.asked_) {
    made.asked_ = asked_ ? asked_ : other.asked_;
    return made;
  }
  auto both = std::make_shared<stop_parts::Asked>();
  both->one = asked_;
  both->other = other.asked_;
  made.asked_ = std::move(both);
  return made;
}

bool Stop::asked() const { return asked_ && asked_->holds(); }

std::chrono::milliseconds Stop::left() const { return rest_of(deadline_); }

Status Stop::check() const {
  if (asked()) return {Code::Cancelled, "cancelled"};
  if (std::chrono::steady_clock::now() >= deadline_) return {Code::Timeout, "the time allowed is over"};
  return {};
}

bool Stop::sleep(std::chrono::milliseconds time) const {
  std::vector<pollfd> fds;
  bool polled = asked_ && asked_->sources(fds);
  TimePoint now = std::chrono::steady_clock::now();
  TimePoint wake = time < longest_after(now) ? now + time : TimePoint::max();
  for (;;) {
    if (!check().ok()) return false;
    std::chrono::milliseconds rest = rest_of(std::min(wake, deadline_));
    if (rest.count() == 0) return check().ok();
    if (polled) rest = std::min(rest, kSlice);
    ::poll(fds.data(), fds.size(), static_cast<int>(rest.count()));
  }
}

StopSource::StopSource() : flag_(std::make_shared<stop_parts::Asked>()) {
  flag_->wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);  // without one, tokens are still checked
}

void StopSource::request() noexcept {
  int before = errno;
  flag_->flag.store(true, std::memory_order_relaxed);
  uint64_t one = 1;
  if (flag_->wake >= 0) (void)!::write(flag_->wake, &one, sizeof one);
  errno = before;
}

bool StopSource::requested() const noexcept { return flag_->flag.load(std::memory_order_relaxed); }

Stop StopSource::token() const {
  Stop made;
  made.asked_ = flag_;
  return made;
}

}  // namespace radl
