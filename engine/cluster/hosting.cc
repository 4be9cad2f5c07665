#include "engine/cluster/hosting.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "engine/cluster/expect.h"

namespace radl::engine::cluster {

namespace {

// To the chief: done, or why not.
Status answer_chief(Session& chief, const Status& done) {
  if (done.ok()) return chief.send(Message{MessageType::Ready, {}});
  (void)chief.send(refusal(done));
  return done;
}

}  // namespace

Status Hosting::obey(Session& chief, const Message& message) {
  if (message.type == MessageType::Init) {
    Init init;
    if (Status bad = decode(message, init); !bad.ok()) return bad;
    return answer_chief(chief, take_init(init));
  }
  if (message.type == MessageType::Map) {
    ShardMap map;
    if (Status bad = decode(message, map); !bad.ok()) return bad;
    return answer_chief(chief, take_map(map));
  }
  Fetch fetch;
  if (Status bad = decode(message, fetch); !bad.ok()) return bad;
  const std::shared_ptr<Shard> shard = primary(fetch.shard);
  if (!shard) return {Code::Corrupt, "a Fetch of a shard that is not here"};
  if (fetch.flags & kFetchReport) return chief.send(encode(shard->report()));
  if (fetch.flags & kFetchSnapshot) return chief.send(encode(shard->snapshot()));
  Message out;
  (void)shard->read({}, Numbers::Fp32, out, (fetch.flags & kFetchAverage) != 0);
  return chief.send(out);
}

Status Hosting::take_init(const Init& init) {
  Result<std::unique_ptr<Shard>> made = Shard::make(init, options_.shard);
  if (!made) return std::move(made).status();
  std::lock_guard lock(mutex_);
  Held& held = held_[init.shard];
  if (held.shard) return {Code::Corrupt, "a second Init"};
  held.shard = std::move(*made);
  held.leads = true;
  return {};
}

ShardMap Hosting::map() const {
  std::lock_guard lock(mutex_);
  return map_;
}

std::shared_ptr<Shard> Hosting::primary(uint32_t shard) const {
  std::lock_guard lock(mutex_);
  const auto found = held_.find(shard);
  return found != held_.end() && found->second.leads && map_.epoch > 0 ? found->second.shard : nullptr;
}

Status Hosting::take_map(const ShardMap& map) {
  std::vector<Held> ended;  // their threads are joined without the lock
  std::lock_guard once(taking_);
  std::unique_lock lock(mutex_);
  if (map.epoch <= map_.epoch || stopped_) return {};
  const ShardMap old = std::exchange(map_, map);
  Status taken;
  for (uint32_t s = 0; s < map.places.size() && taken.ok(); ++s)
    taken = take_place(s, s < old.places.size() ? old.places[s] : Place(), map.places[s], ended);
  changed_.notify_all();
  lock.unlock();
  return taken;
}

// Locked.
Status Hosting::take_place(uint32_t shard, const Place& old, const Place& place, std::vector<Held>& ended) {
  const auto self = static_cast<int32_t>(options_.index);
  Held& held = held_[shard];
  const bool same = old == place;
  if (place.primary != self) {
    if (same && place.replica == self) return {};
    if (held.primary != nullptr) held.primary->close();
    ended.push_back(std::exchange(held, {}));
    return {};
  }
  if (!held.leads) {
    if (!held.shard || !held.shard->promote())
      return {Code::Lost, fmt::format("ps/{} has no complete copy of shard {}", options_.index, shard)};
    held.leads = true;
    if (held.primary != nullptr) held.primary->close();
  }
  if (same && held.replicator) return {};
  Held former;
  former.replicator = std::move(held.replicator);
  if (former.replicator) former.replicator->stop();
  ended.push_back(std::move(former));
  held.shard->without_replica();
  if (place.replica < 0) return {};
  const auto replica = static_cast<uint32_t>(place.replica);
  held.replicator = Replicator::start(
      held.shard,
      {.self = options_.index,
       .replica = replica,
       .epoch = map_.epoch,
       .job_digest = options_.job_digest,
       .peer_timeout = options_.peer_timeout,
       .connect = [dial = options_.dial, replica](Milliseconds patience) -> Result<std::unique_ptr<Link>> {
         if (!dial) return Status(Code::Lost, "no way to other servers");
         return dial(replica, patience);
       }});
  return {};
}

// Locked. Whether the pair of the primary that said Hello is still one.
bool Hosting::is_replica(const Hello& hello) const {
  if (hello.shard >= map_.places.size() || stopped_) return false;
  const Place& place = map_.places[hello.shard];
  return place.primary == static_cast<int32_t>(hello.index) &&
         place.replica == static_cast<int32_t>(options_.index) && place.since <= hello.epoch;
}

Status Hosting::follow(Session& session, const Hello& hello) {
  {
    std::unique_lock lock(mutex_);
    // The primary may have had the map first.
    changed_.wait_for(lock, options_.peer_timeout, [&] { return map_.epoch >= hello.epoch || stopped_; });
    if (!is_replica(hello)) return {Code::Conflict, "is not the primary of this replica"};
    Held& held = held_[hello.shard];
    if (held.primary != nullptr) held.primary->close();
    held.primary = &session;
    held.shard = nullptr;
  }
  Status status = session.send(Message{MessageType::Ready, {}});
  Message message;
  while (status.ok()) {
    status = session.receive(message, radl::Stop());
    if (status.ok()) status = take_entry(session, hello, message);
  }
  std::lock_guard lock(mutex_);
  Held& held = held_[hello.shard];
  if (held.primary == &session) held.primary = nullptr;
  return status;
}

Status Hosting::take_entry(Session& session, const Hello& hello, const Message& message) {
  if (message.type == MessageType::Init) {
    Init init;
    if (Status bad = decode(message, init); !bad.ok()) return bad;
    Result<std::unique_ptr<Shard>> made = Shard::make(init, options_.shard);
    if (!made) return std::move(made).status();
    std::lock_guard lock(mutex_);
    Held& held = held_[hello.shard];
    if (!is_replica(hello) || held.primary != &session || init.shard != hello.shard)
      return {Code::Lost, "the copy belongs to an earlier map"};
    held.shard = std::move(*made);
    return {};
  }
  Entry entry;
  if (Status bad = decode(message, entry); !bad.ok()) return bad;
  std::shared_ptr<Shard> shard;
  {
    std::lock_guard lock(mutex_);
    const Held& held = held_[hello.shard];
    if (held.primary != &session || held.leads || !held.shard)
      return {Code::Lost, "the copy belongs to an earlier map"};
    shard = held.shard;
  }
  if (Status followed = shard->follow(entry); !followed.ok()) return followed;
  return session.send(encode(Copied{entry.number}));
}

void Hosting::stop(const Status& status) {
  std::vector<Held> ended;
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    for (auto& [shard, held] : held_) {
      if (held.shard) held.shard->stop(status);
      if (held.primary != nullptr) held.primary->close();
      if (held.replicator) held.replicator->stop();
      Held& gone = ended.emplace_back();
      gone.replicator = std::move(held.replicator);
    }
    changed_.notify_all();
  }
}

}  // namespace radl::engine::cluster
