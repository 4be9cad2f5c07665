#include "engine/cluster/replicator.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/cluster/expect.h"
#include "engine/cluster/session.h"

namespace radl::engine::cluster {
namespace {

constexpr Milliseconds kConnectReplica{1000}, kBetweenCopies{250}, kLookAtCopy{100};

class LinkedReplicator : public Replicator {
 public:
  LinkedReplicator(std::shared_ptr<Shard> shard, ReplicatorOptions options)
      : shard_(std::move(shard)), options_(std::move(options)), thread_([this] { run(); }) {}

  ~LinkedReplicator() override {
    stop();
    thread_.join();
  }

  void stop() override {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    if (session_) session_->close();
    changed_.notify_all();
  }

 private:
  void run() {
    while (!stopped()) {
      copy_to_replica();
      if (shard_->report().replica == Replica::Lost) return;
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kBetweenCopies, [this] { return stopped_; });
    }
  }

  bool stopped() {
    std::lock_guard lock(mutex_);
    return stopped_;
  }

  // Until the link is lost.
  void copy_to_replica() {
    Result<std::unique_ptr<Link>> link = options_.connect(kConnectReplica);
    if (!link) return;
    auto session = std::make_shared<Session>(std::move(*link), options_.peer_timeout);
    {
      std::lock_guard lock(mutex_);
      if (stopped_) return;
      session_ = session;
    }
    const Hello hello{.role = Role::Server,
                      .index = options_.self,
                      .job_digest = options_.job_digest,
                      .epoch = options_.epoch,
                      .shard = shard_->welcome().shard};
    Message message;
    if (!session->send(encode(hello)).ok()) return;
    if (!expect(*session, MessageType::Ready, message, {}).ok()) return;
    uint64_t copy = 0;
    Status sent = session->send(shard_->begin_copy(copy));
    std::thread heard([&] { hear(*session, copy); });
    while (sent.ok()) {
      const Status next = shard_->next_entry(copy, kLookAtCopy, message);
      sent = next.ok() ? session->send(message) : next.code() == Code::Timeout ? session->health() : next;
    }
    session->close();
    heard.join();
    shard_->end_copy(copy);
  }

  void hear(Session& session, uint64_t copy) {
    Message message;
    Copied copied;
    while (session.receive(message, radl::Stop()).ok() && decode(message, copied).ok())
      shard_->copied(copy, copied.number);
    session.close();
  }

  const std::shared_ptr<Shard> shard_;
  const ReplicatorOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Session> session_;
  bool stopped_ = false;
  std::thread thread_;  // last: uses what is above
};

}  // namespace

std::unique_ptr<Replicator> Replicator::start(std::shared_ptr<Shard> shard, ReplicatorOptions options) {
  return std::make_unique<LinkedReplicator>(std::move(shard), std::move(options));
}

}  // namespace radl::engine::cluster
