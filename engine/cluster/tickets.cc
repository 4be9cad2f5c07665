#include "engine/cluster/tickets.h"

#include <algorithm>

namespace radl::engine::cluster {

Tickets::Tickets(uint64_t total, const TrainingState& state)
    : total_(total), next_(std::min(state.next, total)), free_(state.again.begin(), state.again.end()) {
  free_.erase(free_.lower_bound(next_), free_.end());
  done_ = next_ - free_.size();
}

bool Tickets::is_reserved(uint64_t ticket) const {
  return std::any_of(reserved_.begin(), reserved_.end(), [&](const auto& r) { return r.second == ticket; });
}

std::optional<uint64_t> Tickets::reserved_for(uint32_t worker) const {
  auto own = reserved_.find(worker);
  if (own == reserved_.end() || !free_.contains(own->second)) return std::nullopt;
  return own->second;
}

std::optional<uint64_t> Tickets::lowest_free(bool unreserved) const {
  for (uint64_t ticket : free_) {
    if (!unreserved || !is_reserved(ticket)) return ticket;
  }
  return std::nullopt;
}

std::optional<uint64_t> Tickets::never_given() {
  if (next_ == total_) return std::nullopt;
  free_.insert(next_);
  return next_++;
}

std::optional<uint64_t> Tickets::take(uint32_t worker) {
  std::optional<uint64_t> ticket = reserved_for(worker), given_back = lowest_free(true);
  if (!ticket || (given_back && *given_back < *ticket)) ticket = given_back ? given_back : never_given();
  if (!ticket) ticket = lowest_free(false);
  if (!ticket) return std::nullopt;
  free_.erase(*ticket);
  held_[worker].insert(*ticket);
  return ticket;
}

std::optional<uint64_t> Tickets::reserve(uint32_t worker) {
  std::optional<uint64_t> ticket = reserved_for(worker);
  if (!ticket) ticket = lowest_free(true);
  if (!ticket) ticket = never_given();
  if (ticket) reserved_[worker] = *ticket;
  return ticket;
}

bool Tickets::hand_in(uint32_t worker, uint64_t ticket) {
  auto found = held_.find(worker);
  if (found == held_.end() || found->second.erase(ticket) == 0) return false;
  handed_in_.insert(ticket);
  return true;
}

void Tickets::complete(uint64_t ticket) { done_ += handed_in_.erase(ticket); }

void Tickets::reopen(uint64_t ticket) {
  if (handed_in_.erase(ticket) > 0) free_.insert(ticket);
}

void Tickets::count(uint64_t ticket) {
  if (ticket >= total_) return;
  while (next_ <= ticket) free_.insert(next_++);
  done_ += free_.erase(ticket);
}

bool Tickets::is_done(uint64_t ticket) const { return ticket < next_ && !open().contains(ticket); }

bool Tickets::finish(uint32_t worker, uint64_t ticket) {
  if (!hand_in(worker, ticket)) return false;
  complete(ticket);
  return true;
}

void Tickets::give_back(uint32_t worker) {
  reserved_.erase(worker);
  auto found = held_.find(worker);
  if (found == held_.end()) return;
  free_.insert(found->second.begin(), found->second.end());
  held_.erase(found);
}

std::set<uint64_t> Tickets::open() const {
  std::set<uint64_t> open = free_;
  for (const auto& [worker, tickets] : held_) open.insert(tickets.begin(), tickets.end());
  open.insert(handed_in_.begin(), handed_in_.end());
  return open;
}

void Tickets::restore(uint64_t next, std::span<const uint64_t> free) {
  next_ = std::min(next, total_);
  free_ = {free.begin(), free.end()};
  free_.erase(free_.lower_bound(next_), free_.end());
  done_ = next_ - free_.size();
  reserved_.clear(), held_.clear(), handed_in_.clear();
}

void Tickets::give(uint32_t worker, uint64_t ticket) {
  if (ticket >= next_) return;
  if (free_.erase(ticket) == 0) --done_;
  held_[worker].insert(ticket);
}

void Tickets::keep_for(uint32_t worker, uint64_t ticket) {
  if (free_.contains(ticket)) reserved_[worker] = ticket;
}

void Tickets::store(TrainingState& out) const {
  std::set<uint64_t> open = this->open();
  out.next = next_;
  for (; !open.empty() && *open.rbegin() + 1 == out.next; --out.next) open.erase(out.next - 1);
  out.again.assign(open.begin(), open.end());
}

}  // namespace radl::engine::cluster
