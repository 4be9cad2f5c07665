// The batches of a run, numbered from 0, each given to one worker at a time until it is done.
//
// Ticket t stands for batch t % batches_per_epoch of epoch t / batches_per_epoch, whoever computes it: every
// image is seen once an epoch by however many workers there are, faster ones take more, and a lost worker's
// batches are given to others. Pure; the caller locks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "engine/optim/training_state.h"

namespace radl::engine::cluster {

class Tickets {
 public:
  // Of `total` batches, those done that `state` says.
  explicit Tickets(uint64_t total, const TrainingState& state = {});

  // The ticket that is reserved for this worker, or a lower one that was given back; without either the
  // lowest that nobody has, and what is reserved for others when nothing else is left. Nothing when all are
  // given out.
  std::optional<uint64_t> take(uint32_t worker);
  // A ticket that this worker will probably take next, so that it can prepare for it; nothing when none is
  // left.
  std::optional<uint64_t> reserve(uint32_t worker);
  // The worker has done its part of it: it stays out of others' hands even when the worker is lost, and is
  // done with complete(). False when this worker does not hold it.
  bool hand_in(uint32_t worker, uint64_t ticket);
  void complete(uint64_t ticket);
  // It was handed in and came to nothing: it is free again.
  void reopen(uint64_t ticket);
  // hand_in() and complete() at once.
  bool finish(uint32_t worker, uint64_t ticket);
  // Marks a ticket as done, whichever worker computed it. For shards that hand out no batches and learn of
  // them from pushes.
  void count(uint64_t ticket);
  bool is_done(uint64_t ticket) const;
  // Takes back what this worker holds and has not handed in.
  void give_back(uint32_t worker);

  uint64_t total() const { return total_; }
  uint64_t done() const { return done_; }
  bool finished() const { return done_ == total_; }
  // Which batches are done; what is held or handed in counts as not done.
  void store(TrainingState& out) const;
  // Batches below this one were given out at some time,
  uint64_t next() const { return next_; }
  // and these of them are not done.
  std::set<uint64_t> open() const;
  std::optional<uint64_t> reserved_for(uint32_t worker) const;  // unless another took it
  // In another copy of these tickets: the open ones are `free`, but for those that give() gives to a worker.
  void restore(uint64_t next, std::span<const uint64_t> free);
  void give(uint32_t worker, uint64_t ticket);
  void keep_for(uint32_t worker, uint64_t ticket);

 private:
  bool is_reserved(uint64_t ticket) const;
  std::optional<uint64_t> lowest_free(bool unreserved) const;
  std::optional<uint64_t> never_given();  // the next one, which is in free_ then

  uint64_t total_, next_, done_;
  std::set<uint64_t> free_;                // below next_
  std::map<uint32_t, uint64_t> reserved_;  // by worker: one of free_, or one that was taken since
  std::map<uint32_t, std::set<uint64_t>> held_;
  std::set<uint64_t> handed_in_;
};

}  // namespace radl::engine::cluster
