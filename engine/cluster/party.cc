// What a member calls: joining, views, sums, and the end.
#include "engine/cluster/party.h"

#include <algorithm>

#include "engine/cluster/linked_party.h"

namespace radl::engine::cluster {

Result<std::unique_ptr<Party>> Party::join(const PartyOptions& options) {
  auto party = std::make_unique<LinkedParty>(options);
  if (Status begun = party->begin(); !begun.ok()) return begun;
  return std::unique_ptr<Party>(std::move(party));
}

LinkedParty::~LinkedParty() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
    for (auto& session : sessions_)
      if (auto held = session.lock()) held->close();
    if (ring_) ring_->cut();
  }
  if (listener_) listener_->close();
  if (acceptor_.joinable()) acceptor_.join();
  if (reader_.joinable()) reader_.join();
  for (std::thread& t : greetings_) t.join();
}

Status LinkedParty::begin() {
  ListenOptions strangers;
  strangers.refused = options_.refused;
  Result<std::unique_ptr<Listener>> listener =
      listen_tcp(options_.listen.empty() ? seat_.address : options_.listen, options_.key,
                 {Role::Worker, seat_.index}, strangers);
  if (!listener) return std::move(listener).status();
  listener_ = std::move(*listener);
  acceptor_ = std::thread([this] { accept(); });
  return seat_.index == 0 ? begin_first() : reach_chief();
}

Status LinkedParty::next_view(TrainingState& state, bool fresh) {
  const Clock::time_point end = Clock::now() + options_.start_timeout;
  for (int32_t silent = std::exchange(silent_, -1);;) {
    broken_ = false;
    drop_ring();
    {
      std::lock_guard lock(mutex_);
      summed_ = false;
    }
    if (Status chief = has_lost_chief() ? succeed() : Status(); !chief.ok()) return chief;
    if (finished()) return {};
    if (Status sent = stand(state.done(), fresh, silent); !sent.ok()) return sent;
    Result<bool> decided = wait_for_view(end);
    if (decided.status().code() == Code::Retry) continue;
    if (!decided || !*decided) return decided.status();
    silent = -1;
    Status formed = form(silent);
    if (formed.ok() && attendance_.view().hand_over) formed = hand_over(state, fresh, silent);
    if (formed.ok()) return formed;
    if (std::optional<Status> why = over(); why) return *why;
    if (finished()) return {};
    if (formed.code() != Code::Lost && formed.code() != Code::Timeout && !is_frozen()) return formed;
  }
}

void LinkedParty::share(const std::string& duties) {
  std::lock_guard lock(mutex_);
  duties_ = duties;
  for (auto& [index, session] : controls_) (void)session->send(encode(Stop{0, duties_}, MessageType::Duties));
}

Result<std::vector<RingNote>> LinkedParty::sum(Contribution& own) {
  Result<std::vector<RingNote>> notes =
      is_frozen() ? Result<std::vector<RingNote>>(Status(Code::Lost, "the members change")) : ring_->sum(own);
  if (notes.ok()) {
    std::lock_guard lock(mutex_);
    attendance_.complete();
    summed_ = true;
    // Frames of one sum may have come while this was stopped, not of two.
    if (++sums_since_silence_ > 1) silent_seats_.clear();
    if (leads_) membership_->complete();
    return notes;
  }
  if (std::optional<Status> why = over(); why) return *why;
  broken_ = notes.status().code() == Code::Lost || is_frozen() || finished();
  silent_ = silent_neighbor();
  return notes;
}

Status LinkedParty::wait_for_end() {
  std::unique_lock lock(mutex_);
  while (!ended_ && !finished_ && !attendance_.frozen()) {
    if (options_.ring.stop.asked()) return {Code::Cancelled, "interrupted"};
    changed_.wait_for(lock, kTick);
  }
  if (finished_) return {};
  if (ended_) return *ended_;
  broken_ = true;
  return {Code::Lost, "the members change"};
}

void LinkedParty::stop(const Status& why) {
  const Message message = encode(Stop{static_cast<uint8_t>(why.code()), why.message()});
  if (!leads()) {
    if (chief_) (void)chief_->send(why.ok() ? encode(Stop{0, ""}, MessageType::Leave) : message);
    return;
  }
  std::unique_lock lock(mutex_);
  over_ = true;
  for (auto& [index, session] : controls_) (void)session->send(message);
  // They hang up when they have read it.
  changed_.wait_for(lock, kPartyFarewell, [this] { return controls_.empty(); });
}

}  // namespace radl::engine::cluster
