// The batches of a run, numbered from 0, each given to one worker at a time until it is done.
//
// Ticket t stands for batch t % batches_per_epoch of epoch t / batches_per_epoch, whoever computes it: every
// picture is seen once an epoch by however many workers there are, faster ones take more, and a lost worker's
// batches are given to others. Pure; the caller locks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "engine/cluster/message.h"

namespace radl::engine::cluster {

class Tickets {
 public:
  explicit Tickets(const TicketState& state);

  // The lowest ticket that nobody has, or nothing when all are given out.
  std::optional<uint64_t> take(uint32_t worker);
  // False when this worker does not hold it (it was given to somebody else since).
  bool finish(uint32_t worker, uint64_t ticket);
  // Takes back what this worker holds.
  void give_back(uint32_t worker);

  uint64_t total() const { return total_; }
  uint64_t done() const { return done_; }
  bool finished() const { return done_ == total_; }
  TicketState state() const;  // what is held counts as not done

 private:
  uint64_t total_, next_, done_;
  std::set<uint64_t> again_;
  std::map<uint32_t, std::set<uint64_t>> held_;
};

}  // namespace radl::engine::cluster
