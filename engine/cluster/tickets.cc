#include "engine/cluster/tickets.h"

#include <algorithm>

namespace radl::engine::cluster {

Tickets::Tickets(const TicketState& state)
    : total_(state.total),
      next_(std::min(state.next, state.total)),
      again_(state.again.begin(), state.again.end()) {
  again_.erase(again_.lower_bound(next_), again_.end());
  done_ = next_ - again_.size();
}

std::optional<uint64_t> Tickets::take(uint32_t worker) {
  uint64_t ticket;
  if (!again_.empty()) {
    ticket = *again_.begin();
    again_.erase(again_.begin());
  } else if (next_ < total_) {
    ticket = next_++;
  } else {
    return std::nullopt;
  }
  held_[worker].insert(ticket);
  return ticket;
}

bool Tickets::finish(uint32_t worker, uint64_t ticket) {
  auto found = held_.find(worker);
  if (found == held_.end() || found->second.erase(ticket) == 0) return false;
  ++done_;
  return true;
}

void Tickets::give_back(uint32_t worker) {
  auto found = held_.find(worker);
  if (found == held_.end()) return;
  again_.insert(found->second.begin(), found->second.end());
  held_.erase(found);
}

TicketState Tickets::state() const {
  TicketState out{total_, next_, {}};
  std::set<uint64_t> again = again_;
  for (const auto& [worker, tickets] : held_) again.insert(tickets.begin(), tickets.end());
  out.again.assign(again.begin(), again.end());
  return out;
}

}  // namespace radl::engine::cluster
