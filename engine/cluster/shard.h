// One server's part of the model: weights, optimizer state, and the rules by which workers' gradients change
// them.
//
// No I/O: the server's threads call it, one per member. A call that must wait (a barrier, a worker too far
// ahead, no batch left while others still compute) returns when it may go on, when its member is gone, or
// after stop().
//
//   async   every gradient is applied when it comes.
//   sync    a round: each participant pushes once, the mean over their images is applied once, at the
//           learning rate of the round's first batch. Parts are summed in the order of the workers' numbers,
//           so that the same seed gives the same bits. A lost participant is left out; the round goes on.
//           Where several servers clip, a round is first summed up, and applied when a worker has brought the
//           norm of all servers' parts. If all who could bring it are lost, its batches are given out again.
//   stale   as async, but a worker that is more than `staleness` steps ahead of the slowest waits (SSP, Ho et
//           al. 2013).
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/link.h"
#include "engine/cluster/message.h"
#include "engine/cluster/tickets.h"
#include "engine/optim/optimizer.h"

namespace radl::engine::cluster {

enum class Mode { Async, Sync, Stale };

struct ShardOptions {
  Mode mode = Mode::Async;
  int staleness = 0;
  size_t expected_workers = 1;      // sync: the first round waits for so many,
  Milliseconds gather{10000};       // but no longer than this after the first
  Numbers weights = Numbers::Fp32;  // how they travel to workers
  int threads = 1;
};

class Shard {
 public:
  static Result<std::unique_ptr<Shard>> make(const Init& init, const ShardOptions& options);

  // A worker is here; what it held before (an earlier incarnation) is taken back. Returns its pass, which
  // dies with leave() or with the next join() of the same number: calls with a dead pass give Lost.
  // `incarnation`: random, the same at all servers; rounds name their participants by it.
  uint64_t join(uint32_t worker, uint64_t incarnation);
  // state: 1 left on purpose, 2 lost.
  void leave(uint32_t worker, uint64_t pass, uint8_t state, double silent, const std::string& text);

  // Applies a gradient, or hands it to its round and waits until that is applied, or summed up: then it gives
  // the squared norm of this server's part of the mean, and the worker must call norm() before next().
  Result<std::optional<double>> push(uint32_t worker, uint64_t pass, const Push& push);
  // The squared norm of all servers' parts of a round: applies the round, unless another worker was faster.
  Status norm(uint32_t worker, uint64_t pass, const Norm& norm);
  // Waits for work. Only shard 0 gives any.
  Result<Assignment> next(uint32_t worker, uint64_t pass);
  // Weights and statistics as they are now, with `assignment`. `averaged`: the mean of weights, if there is
  // one.
  void read(const Assignment& assignment, Numbers encoding, Message& out, bool averaged = false);

  TrainingState snapshot();
  Report report();
  // Wakes everybody who waits; they get this status.
  void stop(Status status);
  bool finished();

  Numbers weights_encoding() const { return options_.weights; }
  Welcome welcome() const { return welcome_; }

 private:
  struct Member {
    uint64_t pass = 0, incarnation = 0;
    bool present = false, waiting = false, asked = false, assigned = false;
    uint64_t clock = 0;     // steps in step with the others (stale)
    Assignment assignment;  // when assigned
    MemberReport report;
  };
  // A worker's part of a round.
  struct Part {
    std::vector<float> gradients, statistics;
    uint64_t incarnation = 0, ticket = 0;  // which is done when the round is applied, not before
    uint32_t updates = 0, images = 0;
    float rate = 0;
  };
  struct Round {
    std::vector<uint64_t> participants;
    std::map<uint32_t, Part> parts;  // by worker: the order in which they are summed
    float weight = 0;                // of all parts, once their sum is in scratch_;
    std::optional<double> squares;   // with Norms::OfRound the squared norm of their mean then, too
  };
  using Lock = std::unique_lock<std::mutex>;

  Shard(const Init& init, const ShardOptions& options);
  Trainee trainee() { return {weights_, statistics_, *optimizer_, average_}; }
  Status check(uint32_t worker, uint64_t pass) const;
  Status check_push(const Push& push) const;
  Part unpack(const Push& push);
  void fail(const std::string& what, uint64_t ticket);
  void account(Member& member, const Push& push);
  void apply_now(const Part& part, const Push& push);
  static float kept(float keep, uint32_t updates);
  bool try_next(uint32_t worker, Member& member, Assignment& out);
  uint64_t slowest() const;

  // shard_rounds.cc
  bool may_form() const;
  void form_round();
  Result<std::optional<double>> push_round(Lock& lock, uint32_t worker, uint64_t pass, const Push& push,
                                           Part part);
  bool awaits(const Round& round) const;
  bool has_messenger(const Round& round) const;
  void close_rounds();
  void close_first(bool apply, float scale);
  void sum_up(Round& round);
  void apply_round(const Round& round, float scale);

  static constexpr Milliseconds kSlice{100};  // between two looks at whether a member that waits is still one

  ShardOptions options_;
  Welcome welcome_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<float> weights_, statistics_, keep_, scratch_;
  std::unique_ptr<Optimizer> optimizer_;
  WeightAverage average_;
  Tickets tickets_;
  std::map<uint32_t, Member> members_;
  std::map<uint64_t, Round> rounds_;
  std::vector<Part> spare_;  // whose buffers are used again
  double clip_ = 0;          // where the optimizer does not
  uint64_t version_ = 0, next_pass_ = 1, next_round_ = 1, rounds_applied_ = 0;
  std::optional<double> closed_squares_;  // of round rounds_applied_: who wakes late hears it as well
  std::optional<Clock::time_point> gather_until_;
  Report sums_;
  Status stopped_;
};

// The shards' parts of a flat layout, [first, end) each: contiguous, equal to some numbers, none empty. With
// `whole`, for an optimizer that takes a tensor as a whole, on the borders of tensors and as equal as these
// allow. Invalid when there are more shards than numbers, or tensors.
using Borders = std::vector<std::pair<uint64_t, uint64_t>>;
Result<Borders> split_layout(const std::vector<ParameterInfo>& layout, size_t shards, bool whole = false);
// What server `shard` starts from, of what the whole model does.
Result<Init> part_of(const Init& whole, uint32_t shard, const Borders& borders);

}  // namespace radl::engine::cluster
