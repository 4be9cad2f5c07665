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
//
// A shard is a primary, or follows one as its replica: it takes the primary's entries, and can take its place
// at any time (promote()). A primary records entries from begin_copy() on. Nobody may hear of a step of the
// primary that its complete replica does not have: wait_copied() before each answer.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
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
  // dies with leave() or with the next join() of the same number: calls with a dead pass give Lost. After
  // promote() a worker of the lost primary keeps what it held.
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
  // Returns the number of the last entry that is in them.
  uint64_t read(const Assignment& assignment, Numbers encoding, Message& out, bool averaged = false);

  TrainingState snapshot();
  Report report();
  // Wakes everybody who waits; they get this status.
  void stop(Status status);
  bool finished();

  // Begins to record for a new replica, in place of any former one: returns what it starts from, the message
  // Init. `copy` is the name of the recording in the calls below, which are void once it has ended.
  Message begin_copy(uint64_t& copy);
  // The next entry for the replica, and the time to wait for one; Timeout if there is none. Cancelled: the
  // recording has ended.
  Status next_entry(uint64_t copy, Milliseconds patience, Message& out);
  void copied(uint64_t copy, uint64_t number);
  // The replica is lost. If it was complete, wait_copied() waits until begin_copy() or without_replica().
  void end_copy(uint64_t copy);
  // The chief knows that this shard has no replica.
  void without_replica();
  // Until the complete replica has the entry. Lost: `pass` is dead.
  Status wait_copied(uint32_t worker, uint64_t pass, uint64_t number);

  // The replica's half. Corrupt: the entry does not fit, or its digest shows that the weights differ. Lost:
  // it has been promoted.
  Status follow(const Entry& entry);
  // Takes the place of the lost primary; its workers have options.gather to come. False: it is not complete.
  bool promote();

  Numbers weights_encoding() const { return options_.weights; }
  Welcome welcome() const { return welcome_; }

 private:
  struct Member {
    uint64_t pass = 0, incarnation = 0;
    bool present = false, waiting = false, asked = false, assigned = false;
    bool awaited = false;   // it was a worker of the lost primary, and has not come yet
    bool resumed = false;   // it has come, and may not know its assignment
    bool holds = false;     // the assignment is its own, and not in the weights
    uint64_t clock = 0;     // steps in step with the others (stale)
    uint64_t sequence = 0;  // of its last push in the weights
    Assignment assignment;  // when assigned, or held
    MemberReport report;
  };
  // A worker's part of a round.
  struct Part {
    std::vector<float> gradients, statistics;
    uint64_t incarnation = 0, ticket = 0;  // which is done when the round is applied, not before
    uint32_t updates = 0, images = 0;
    float rate = 0;
    uint64_t sequence = 0, staleness = 0;
    uint32_t correct = 0;
    double loss = 0;
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
  void account(Member& member, Part& part, uint64_t version);
  static void settle(Member& member, const Part& part);
  void apply_now(const Part& part, const Push& push);
  static float kept(float keep, uint32_t updates);
  bool try_next(uint32_t worker, Member& member, Assignment& out);
  void hand_out(Member& member, const Assignment& assignment);
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
  Entry apply_round(const Round& round, float scale);

  // shard_replica.cc
  Book book() const;
  void take(const Book& book);
  Init described() const;
  void record(Entry entry, size_t count = 0);
  void drop_missing();
  bool has_unapplied(uint32_t worker, uint64_t incarnation) const;
  std::optional<double> norm_of_applied() const;

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
  // Of replication. No entry is recorded with `replica_` None or Lost.
  static constexpr size_t kMostRecorded = 64;  // entries that wait while a copy is made
  static constexpr uint64_t kDigestEvery = 32;
  OptimizerPlan plan_;
  AverageConfig average_config_;
  Replica replica_ = Replica::None;
  uint64_t copy_ = 0, number_ = 0, copied_ = 0, copy_begin_ = 0;
  std::deque<std::pair<uint64_t, Message>> recorded_;
  bool complete_ = false, promoted_ = false;
  Book followed_;
  std::optional<Clock::time_point> missing_until_;

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
