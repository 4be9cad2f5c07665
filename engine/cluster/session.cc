#include "engine/cluster/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace radl::engine::cluster {
namespace {

constexpr Milliseconds kUnreachable{2500}, kLongestBeat{1000};  // a heartbeat is sent at least so often

int64_t now_ms() { return std::chrono::duration_cast<Milliseconds>(Clock::now().time_since_epoch()).count(); }

}  // namespace

Milliseconds unreachable_after(Milliseconds peer_timeout) { return std::max(kUnreachable, peer_timeout / 4); }

Session::Session(std::unique_ptr<Link> link, Milliseconds peer_timeout, LostCall lost, size_t inbox)
    : link_(std::move(link)),
      timeout_(peer_timeout),
      most_waiting_(inbox),
      lost_(std::move(lost)),
      last_sent_(now_ms()),
      last_heard_(now_ms()) {
  reader_ = std::thread([this] { read(); });
  beater_ = std::thread([this] { beat(); });
}

Session::~Session() {
  close();
  reader_.join();
  beater_.join();
}

double Session::silent_seconds() const {
  std::lock_guard lock(mutex_);
  return silent_;
}

void Session::end(Status status, bool fell_silent) {
  bool tell;
  double silent;
  {
    std::lock_guard lock(mutex_);
    tell = health_.ok() && !closing_ && !left_;
    if (health_.ok()) {
      health_ = status;
      fell_silent_ = fell_silent;
      silent_ = static_cast<double>(now_ms() - last_heard_) / 1000;
    }
    silent = silent_;
    changed_.notify_all();
  }
  link_->close();
  if (tell && lost_) lost_(status, silent);
}

void Session::read() {
  const Milliseconds silence = timeout_ * 9 / 10;  // so that the whole timeout is kept, scheduling included
  Message message;
  for (;;) {
    Status got = link_->receive(message, silence);
    const bool silent = got.code() == Code::Timeout;
    if (silent && !link_->may_fall_silent()) continue;
    if (silent) {
      got = Status(Code::Lost, fmt::format("{}: nothing heard for {:.1f} s", link_->name(),
                                           static_cast<double>(silence.count()) / 1000));
    }
    if (!got.ok()) return end(std::move(got), silent);
    last_heard_ = now_ms();
    if (message.type == MessageType::Heartbeat) continue;
    std::unique_lock lock(mutex_);
    if (message.type == MessageType::Leave) left_ = true;
    changed_.wait(lock, [&] { return inbox_.size() < most_waiting_ || !health_.ok(); });
    if (!health_.ok()) return;
    inbox_.push_back(std::move(message));
    message = std::move(spare_);
    spare_ = Message();
    changed_.notify_all();
  }
}

void Session::beat() {
  const Milliseconds interval = std::clamp<Milliseconds>(timeout_ / 5, Milliseconds(5), kLongestBeat);
  std::optional<int64_t>
      unanswered;  // since when, as far as this thread has seen it: it may have been stopped
  std::unique_lock lock(mutex_);
  while (health_.ok()) {
    changed_.wait_for(lock, interval / 2, [&] { return !health_.ok(); });
    if (!health_.ok()) return;
    const int64_t now = now_ms(), waited = link_->unacknowledged().count();
    unanswered = waited == 0 ? std::nullopt : std::optional(std::max(unanswered.value_or(now), now - waited));
    if (unanswered && now - *unanswered >= unreachable_after(timeout_).count()) {
      lock.unlock();
      return end({Code::Lost, fmt::format("{}: its machine cannot be reached", link_->name())}, true);
    }
    if (now - last_sent_ < interval.count() / 2) continue;
    lock.unlock();
    Status sent = send(Message{MessageType::Heartbeat, {}});
    lock.lock();
    if (!sent.ok()) return;
  }
}

Status Session::send(const Message& message) {
  if (Status bad = health(); !bad.ok()) return bad;
  Status sent;
  do sent = link_->send(message, timeout_);
  while (sent.code() == Code::Timeout && !link_->may_fall_silent());
  if (sent.ok()) {
    last_sent_ = now_ms();
    return sent;
  }
  const bool silent = sent.code() == Code::Timeout;
  if (silent) sent = Status(Code::Lost, link_->name() + ": takes no messages any more");
  end(sent, silent);
  return health();
}

Status Session::receive(Message& message, Milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [&] { return !inbox_.empty() || !health_.ok(); })) {
    return {Code::Timeout, fmt::format("{}: no answer for {:.1f} s", link_->name(),
                                       static_cast<double>(patience.count()) / 1000)};
  }
  if (inbox_.empty()) return health_;  // what came before the end is still handed over
  spare_ = std::move(message);
  message = std::move(inbox_.front());
  inbox_.pop_front();
  changed_.notify_all();
  return {};
}

Status Session::receive(Message& message, const radl::Stop& stop) {
  for (;;) {
    Status got = receive(message, Milliseconds(100));
    if (got.code() != Code::Timeout) return got;
    if (stop.asked()) return {Code::Cancelled, "interrupted"};
  }
}

bool Session::fell_silent() const {
  std::lock_guard lock(mutex_);
  return fell_silent_;
}

Status Session::health() const {
  std::lock_guard lock(mutex_);
  return health_;
}

void Session::close() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  end(Status(Code::Cancelled, "the link was closed here"));
}

}  // namespace radl::engine::cluster
