// From one view to the next: a member stands at a border, waits for the decision, and links up with its
// neighbors.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/cluster/linked_party.h"

namespace radl::engine::cluster {

Status LinkedParty::stand(uint64_t done, bool fresh, int32_t silent) {
  std::unique_lock lock(mutex_);
  const Border border = attendance_.stand(done, fresh, silent);
  if (leads_) {
    membership_->stands(seat_, border);
    carry_out();
    return {};
  }
  lock.unlock();
  (void)chief_->send(encode(border));  // its reader finds out if the chief is lost
  return {};
}

// False: the job is finished. Retry: the chief is lost.
Result<bool> LinkedParty::wait_for_view(Clock::time_point end) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (finished_) return false;
    if (ended_) return *ended_;
    if (chief_lost_) return Status(Code::Retry, "the chief is lost");
    if (attendance_.take_view()) return true;
    if (options_.ring.stop.asked()) return Status(Code::Cancelled, "interrupted");
    if (leads_ && membership_->view().epoch == 0 && Clock::now() >= end) return nobody_appeared();
    if (leads_ && membership_->has_no_state())
      return Status(Code::Lost, "the chief was lost before another worker had its state");
    if (leads_ && waits_until_ && Clock::now() >= *waits_until_) {
      waits_until_.reset();
      membership_->stop_waiting();
      carry_out();
      continue;
    }
    if (const std::vector<Seat> needed = leads_ ? membership_->needed() : std::vector<Seat>();
        !needed.empty()) {
      lock.unlock();
      if (Status asked = look_for(needed); !asked.ok()) return asked;
      if (Clock::now() >= end)
        return Status(Code::Lost, fmt::format("too few workers of the last view answer; {} is missing",
                                              "worker/" + std::to_string(needed.front().index)));
      lock.lock();
      if (attendance_.take_view()) return true;
    }
    changed_.wait_for(lock, kTick);
  }
}

Status LinkedParty::nobody_appeared() const {
  uint32_t missing = 1;
  while (controls_.contains(missing)) ++missing;
  return {Code::Timeout, fmt::format("worker/{} did not appear within {:.0f} s", missing,
                                     static_cast<double>(options_.start_timeout.count()) / 1000)};
}

// Links up with both neighbors. On failure `silent` is the one that could not be reached, or -1.
Status LinkedParty::form(int32_t& silent) {
  const View& view = attendance_.view();
  const auto size = static_cast<uint32_t>(view.members.size()), own = rank();
  RingOptions ring = options_.ring;
  ring.rank = own;
  ring.size = size;
  if (size == 1) return keep_ring(Ring::make(ring, nullptr, nullptr));
  const Clock::time_point end = Clock::now() + options_.ring.peer_timeout;
  const Seat& after = view.members[(own + 1) % size];
  const uint32_t before = view.members[(own + size - 1) % size].index;
  const radl::Stop stop = options_.ring.stop.or_when(radl::Stop::when([this] { return is_frozen(); }));
  Result<std::unique_ptr<Session>> next = connect(after, view.epoch, options_.ring.peer_timeout, stop);
  if (!next) {
    if (!is_frozen()) silent = static_cast<int32_t>(after.index);
    return {Code::Lost, next.status().message()};
  }
  std::unique_lock lock(mutex_);
  parked_.erase(parked_.begin(), parked_.lower_bound({view.epoch, 0}));
  for (;;) {
    if (auto found = parked_.find({view.epoch, before}); found != parked_.end()) {
      std::unique_ptr<Session> previous = std::move(found->second);
      parked_.erase(found);
      lock.unlock();
      return keep_ring(Ring::make(ring, std::move(previous), std::move(*next)));
    }
    if (ended_ || finished_ || attendance_.frozen()) return {Code::Lost, "the members change"};
    if (options_.ring.stop.asked()) return {Code::Cancelled, "interrupted"};
    if (Clock::now() >= end) {
      silent = static_cast<int32_t>(before);
      return {Code::Timeout, fmt::format("worker/{} does not link up", before)};
    }
    changed_.wait_for(lock, kTick);
  }
}

Status LinkedParty::keep_ring(std::unique_ptr<Ring> ring) {
  std::lock_guard lock(mutex_);
  ring_ = std::move(ring);
  if (attendance_.frozen()) ring_->cut();
  return {};
}

void LinkedParty::drop_ring() {
  std::unique_ptr<Ring> ring;
  {
    std::lock_guard lock(mutex_);
    ring = std::move(ring_);
  }
  if (!ring) return;
  past_ = together(past_, ring->traffic());
  ring->cut();
}

// From the source, around the ring.
Status LinkedParty::hand_over(TrainingState& state, bool& fresh, int32_t& silent) {
  const uint32_t source = *Attendance::rank_of(attendance_.view(), attendance_.view().source);
  Status got = ring_->start(state, source);
  if (got.ok()) fresh = false;
  if (!got.ok()) silent = silent_neighbor();
  return got;
}

int32_t LinkedParty::silent_neighbor() const {
  const auto size = static_cast<int>(view().members.size());
  const int step = ring_ ? ring_->silent_neighbor() : 0;
  if (step == 0) return -1;
  return static_cast<int32_t>(
      view().members[static_cast<size_t>((static_cast<int>(rank()) + step + size) % size)].index);
}

}  // namespace radl::engine::cluster
