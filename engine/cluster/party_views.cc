// From one view to the next: a member stands at a border, waits for the decision, and links up with the
// others.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/cluster/linked_party.h"

namespace radl::engine::cluster {

Status LinkedParty::stand(uint64_t done, bool fresh, int32_t silent) {
  std::unique_lock lock(mutex_);
  const Border border = attendance_.stand(done, fresh, silent);
  if (leads_) {
    stands(seat_, border);
    return {};
  }
  lock.unlock();
  (void)chief_->send(encode(border));  // its reader finds out if the chief is lost
  return {};
}

// Locked.
void LinkedParty::stands(const Seat& seat, const Border& border) {
  double longest = 0;
  for (const auto& [index, session] : controls_)
    longest = std::max(longest, session->traffic().round_trip_seconds);
  membership_->set_far(longest > kFarSeconds);
  membership_->stands(seat, border);
  carry_out();
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

// Direct: connects to the members after it, and waits for those before it. In a ring, to and for its
// neighbors.
Status LinkedParty::form(int32_t& silent) {
  const View& view = attendance_.view();
  const auto size = static_cast<uint32_t>(view.members.size()), own = rank();
  RingOptions ring = options_.ring;
  ring.rank = own;
  ring.size = size;
  std::vector<uint32_t> after, before;
  for (uint32_t other = 0; view.direct && other < size; ++other)
    if (other != own) (other > own ? after : before).push_back(other);
  if (!view.direct) after = {(own + 1) % size}, before = {(own + size - 1) % size};
  const radl::Stop stop = options_.ring.stop.or_when(radl::Stop::when([this] { return is_frozen(); }));
  std::vector<std::future<Result<std::unique_ptr<Session>>>> links;
  for (uint32_t other : after)
    links.push_back(std::async(std::launch::async, [&, other] {
      return connect(view.members[other], view.epoch, options_.ring.peer_timeout, stop);
    }));
  std::vector<std::unique_ptr<Session>> connected(size), accepted(size);
  Status formed = await(before, accepted, silent);
  for (size_t i = 0; i < after.size(); ++i) {
    Result<std::unique_ptr<Session>> link = links[i].get();
    if (link) {
      connected[after[i]] = std::move(*link);
    } else if (formed.ok()) {
      if (!is_frozen()) silent = static_cast<int32_t>(view.members[after[i]].index);
      formed = {Code::Lost, link.status().message()};
    }
  }
  if (!formed.ok()) return formed;
  if (!view.direct)
    return keep_ring(Collective::ring(ring, std::move(accepted[before[0]]), std::move(connected[after[0]])));
  for (uint32_t other : before) connected[other] = std::move(accepted[other]);
  return keep_ring(Collective::direct(ring, std::move(connected)));
}

Status LinkedParty::await(const std::vector<uint32_t>& ranks, std::vector<std::unique_ptr<Session>>& sessions,
                          int32_t& silent) {
  const View& view = attendance_.view();
  const Clock::time_point end = Clock::now() + options_.ring.peer_timeout;
  std::unique_lock lock(mutex_);
  parked_.erase(parked_.begin(), parked_.lower_bound({view.epoch, 0}));
  for (uint32_t rank : ranks) {
    const uint32_t index = view.members[rank].index;
    for (;;) {
      if (auto found = parked_.find({view.epoch, index}); found != parked_.end()) {
        sessions[rank] = std::move(found->second);
        parked_.erase(found);
        break;
      }
      if (ended_ || finished_ || attendance_.frozen()) return {Code::Lost, "the members change"};
      if (options_.ring.stop.asked()) return {Code::Cancelled, "interrupted"};
      if (Clock::now() >= end) {
        silent = static_cast<int32_t>(index);
        return {Code::Timeout, fmt::format("worker/{} does not link up", index)};
      }
      changed_.wait_for(lock, kTick);
    }
  }
  return {};
}

Status LinkedParty::keep_ring(std::unique_ptr<Collective> ring) {
  std::lock_guard lock(mutex_);
  ring_ = std::move(ring);
  if (attendance_.frozen()) ring_->cut();
  return {};
}

void LinkedParty::drop_ring() {
  std::unique_ptr<Collective> ring;
  {
    std::lock_guard lock(mutex_);
    ring = std::move(ring_);
  }
  if (!ring) return;
  past_ = together(past_, ring->traffic());
  ring->cut();
}

Status LinkedParty::hand_over(TrainingState& state, bool& fresh, int32_t& silent) {
  const uint32_t source = *Attendance::rank_of(attendance_.view(), attendance_.view().source);
  Status got = ring_->start(state, source);
  if (got.ok()) fresh = false;
  if (!got.ok()) silent = silent_neighbor();
  return got;
}

int32_t LinkedParty::silent_neighbor() const {
  const std::optional<uint32_t> silent = ring_ ? ring_->silent_rank() : std::nullopt;
  return silent ? static_cast<int32_t>(view().members[*silent].index) : -1;
}

}  // namespace radl::engine::cluster
