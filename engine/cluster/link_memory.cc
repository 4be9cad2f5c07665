#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "engine/cluster/link.h"

namespace radl::engine::cluster {
namespace {

constexpr const char* kClosed = "closed the link without a reason";

// One direction. Holds a few messages, so that a sender feels a slow receiver as it would over a network.
class Pipe {
 public:
  Status send(const Message& message, Milliseconds timeout) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, timeout, [&] { return closed_ || held_.size() < 4; })) {
      return {Code::Timeout, "the other side does not take messages"};
    }
    if (closed_) return {Code::Lost, kClosed};
    held_.push_back(message);
    changed_.notify_all();
    return {};
  }

  Status receive(Message& message, const std::atomic<size_t>& limit, Milliseconds timeout) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, timeout, [&] { return closed_ || !held_.empty(); })) {
      return {Code::Timeout, "no message came"};
    }
    if (held_.empty()) return {Code::Lost, kClosed};
    if (held_.front().payload.size() > limit) return {Code::Corrupt, "a message above the limit"};
    message = std::move(held_.front());
    held_.pop_front();
    changed_.notify_all();
    return {};
  }

  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Message> held_;
  bool closed_ = false;
};

class MemoryLink : public Link {
 public:
  MemoryLink(std::shared_ptr<Pipe> out, std::shared_ptr<Pipe> in, Identity peer, bool watched)
      : out_(std::move(out)), in_(std::move(in)), peer_(peer), watched_(watched) {}
  ~MemoryLink() override { close(); }

  Status send(const Message& message, Milliseconds timeout) override {
    Status sent = out_->send(message, timeout).at(name());
    if (sent.ok()) sent_ += kHeaderSize + message.payload.size();
    return sent;
  }
  Status receive(Message& message, Milliseconds timeout) override {
    Status got = in_->receive(message, limit_, timeout).at(name());
    if (got.ok()) received_ += kHeaderSize + message.payload.size();
    return got;
  }
  bool may_fall_silent() const override { return watched_; }
  Traffic traffic() const override { return {sent_, received_, 0, 0}; }
  void close() override {
    out_->close();
    in_->close();
  }
  void set_limit(size_t bytes) override { limit_ = bytes; }
  Identity peer() const override { return peer_; }
  std::string name() const override {
    return std::string(role_name(peer_.role)) + "/" + std::to_string(peer_.index);
  }

 private:
  std::shared_ptr<Pipe> out_, in_;
  Identity peer_;
  const bool watched_;
  std::atomic<size_t> limit_ = kSmallMessage;
  std::atomic<uint64_t> sent_ = 0, received_ = 0;
};

}  // namespace

Traffic together(const Traffic& a, const Traffic& b) {
  const bool both = a.bytes_per_second > 0 && b.bytes_per_second > 0;
  return {a.sent + b.sent, a.received + b.received, std::max(a.round_trip_seconds, b.round_trip_seconds),
          both ? std::min(a.bytes_per_second, b.bytes_per_second) : a.bytes_per_second + b.bytes_per_second};
}

std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> make_memory_links(Identity a, Identity b,
                                                                          bool watched) {
  auto up = std::make_shared<Pipe>(), down = std::make_shared<Pipe>();
  return {std::make_unique<MemoryLink>(up, down, b, watched),
          std::make_unique<MemoryLink>(down, up, a, watched)};
}

}  // namespace radl::engine::cluster
