// One server's part of the model: weights, optimizer state, and the rules by which workers' gradients change
// them.
//
// No I/O. The server calls it from one thread per member. A call waits at a barrier, for a worker that is too
// far ahead, or while others compute the last batches. It returns when the wait is over, when its member is
// lost, or after stop().
//
//   async   applies every gradient on arrival.
//   sync    a round: each participant pushes once, the mean over their images is applied once, at the
//           learning rate of the round's first batch. Parts are summed in the order of the workers' numbers,
//           so that the same seed gives the same bits. The round continues without lost participants.
//           If several servers clip, a round is first summed, then applied once a worker has sent the norm of
//           all servers' parts. If no worker is left that could send it, its batches are handed out again.
//   stale   as async, but a worker that is more than `staleness` steps ahead of the slowest waits (SSP, Ho et
//           al. 2013).
//
// A batch may be computed by two workers: one pushed it to some shards and was lost, or lost its link to
// shard 0, which gave the batch to the other. Shard 0 takes it from one of them; every other shard takes the
// first push of each batch and ignores the second. So each batch is in each shard once.
//
// A shard is a primary or a replica. A replica applies the entries of its primary, and can replace it at any
// time (promote()). A primary records entries from begin_copy() on. Before each answer, it calls
// wait_copied(): no answer may report a step that the complete replica does not have.
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
  size_t expected_workers = 1;      // sync: number of workers that the first round waits for,
  Milliseconds gather{10000};       // but at most this long after the first one
  size_t backups = 0;               // sync: participants that a round does not wait for (Chen et al. 2016)
  float compensation = 0;           // async, stale: g + c g g (w - w then) (DC-ASGD: Zheng et al. 2017)
  Numbers weights = Numbers::Fp32;  // their encoding in messages to workers
  int threads = 1;
};

class Shard {
 public:
  static Result<std::unique_ptr<Shard>> make(const Init& init, const ShardOptions& options);

  // Admits a worker. Batches of an earlier incarnation are handed out again; after promote(), a worker of the
  // lost primary keeps its own. Returns the worker's pass, which leave() and the next join() of the same
  // number invalidate: calls with an invalid pass return Lost.
  // `incarnation`: a random number, the same for all servers, by which rounds identify their participants.
  uint64_t join(uint32_t worker, uint64_t incarnation);
  // state: 1 left on purpose, 2 lost.
  void leave(uint32_t worker, uint64_t pass, uint8_t state, double silent, const std::string& text);

  // Applies a gradient, or adds it to its round and waits until that is applied or summed. If it was summed,
  // returns the squared norm of this server's part of the mean, and the worker must call norm() before
  // next().
  Result<std::optional<double>> push(uint32_t worker, uint64_t pass, const Push& push);
  // Takes the squared norm of all servers' parts of a round and applies the round, unless it is applied
  // already.
  Status norm(uint32_t worker, uint64_t pass, const Norm& norm);
  // Waits for an assignment. Only shard 0 hands out batches.
  Result<Assignment> next(uint32_t worker, uint64_t pass);
  // Encodes `assignment` with the current weights and statistics. `averaged`: the averaged weights, if the
  // job has them. `worker`: who computes its next gradient with them. Returns the number of the last entry
  // that they include.
  uint64_t read(const Assignment& assignment, Numbers encoding, Message& out, bool averaged = false,
                std::optional<uint32_t> worker = {});

  TrainingState snapshot();
  Report report();
  // Ends all waits with this status.
  void stop(Status status);
  bool finished();

  // Starts a recording for a new replica and ends any earlier one. Returns the Init message with which the
  // replica starts. `copy` identifies the recording below; calls for an ended one do nothing.
  Message begin_copy(uint64_t& copy);
  // Waits at most `patience` for the next entry. Timeout: no entry came. Cancelled: the recording has
  // ended.
  Status next_entry(uint64_t copy, Milliseconds patience, Message& out);
  void copied(uint64_t copy, uint64_t number);
  // Reports the loss of the replica. If it was complete, wait_copied() then waits for begin_copy() or
  // without_replica().
  void end_copy(uint64_t copy);
  // Continues without a replica, as the chief has decided.
  void without_replica();
  // Waits until the complete replica has the entry. Lost: `pass` is invalid.
  Status wait_copied(uint32_t worker, uint64_t pass, uint64_t number);

  // Applies an entry to this replica. Corrupt: the entry does not fit, or its digest shows that the weights
  // differ. Lost: this shard was promoted.
  Status follow(const Entry& entry);
  // Replaces the lost primary and waits up to options.gather for its workers. Returns false if this replica
  // is not complete.
  bool promote();

  Numbers weights_encoding() const { return options_.weights; }
  Welcome welcome() const { return welcome_; }

 private:
  struct Member {
    uint64_t pass = 0, incarnation = 0;
    bool present = false, waiting = false, asked = false, assigned = false;
    bool awaited = false;     // a worker of the lost primary that has not joined yet
    bool resumed = false;     // it has joined, and may not know its assignment
    bool holds = false;       // it owns the assignment, which is not in the weights
    uint64_t clock = 0;       // steps in step with the others (stale)
    uint64_t sequence = 0;    // of its last push in the weights
    Assignment assignment;    // when assigned, or held
    std::vector<float> read;  // with compensation: the weights that it has
    MemberReport report;
  };
  // A worker's part of a round.
  struct Part {
    std::vector<float> gradients, statistics;
    uint64_t incarnation = 0, ticket = 0;  // which is done when the round is applied, not before
    uint32_t updates = 0, images = 0;
    bool repeated = false;  // its batch is in the weights, from a worker that was lost or late
    float rate = 0;
    uint64_t sequence = 0, staleness = 0;
    uint32_t correct = 0;
    double loss = 0;
  };
  struct Round {
    std::vector<uint64_t> participants;
    std::map<uint32_t, Part> parts;  // by worker: the order in which they are summed
    bool summed = false;             // the sum of its parts is in scratch_,
    float weight = 0;                // and this is their weight;
    std::optional<double> squares;   // with Norms::OfRound the squared norm of their mean then, too
  };
  using Lock = std::unique_lock<std::mutex>;

  Shard(const Init& init, const ShardOptions& options);
  Trainee trainee() { return {weights_, statistics_, *optimizer_, average_}; }
  void drop(uint32_t worker, Member& member, uint8_t state, const std::string& text);
  void go_on();
  Status check(uint32_t worker, uint64_t pass) const;
  Status check_push(const Push& push) const;
  Part unpack(const Push& push);
  void fail(const std::string& what, uint64_t ticket);
  void account(Member& member, Part& part, uint64_t version);
  bool is_repeated(const Part& part) const;
  void complete(uint64_t ticket);
  static void settle(Member& member, const Part& part);
  void compensate(const Member& member, std::span<float> gradient) const;
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
  size_t needed() const;
  bool awaits(const Round& round) const;
  void leave_out_slow(const Round& round);
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

  static constexpr Milliseconds kSlice{
      100};  // between checks whether a waiting member still belongs to the job

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
  std::vector<Part> spare_;  // buffers for reuse
  double clip_ = 0;          // used if the optimizer does not clip
  uint64_t version_ = 0, next_pass_ = 1, next_round_ = 1, rounds_applied_ = 0;
  // Replication. The primary records nothing while `replica_` is None or Lost.
  static constexpr size_t kMostRecorded = 64;  // entries that wait while a copy is made
  static constexpr uint64_t kDigestEvery = 32;
  OptimizerPlan plan_;
  AverageConfig average_config_;
  Replica replica_ = Replica::None;
  uint64_t copy_ = 0, number_ = 0, copied_ = 0, copy_begin_ = 0;
  std::deque<Message> recorded_;  // entries that the replica has not got yet
  bool complete_ = false, promoted_ = false;
  Book followed_;
  std::optional<Clock::time_point> missing_until_;

  std::optional<double> closed_squares_;  // of round rounds_applied_, for members that wake late
  std::optional<Clock::time_point> gather_until_;
  Report sums_;
  Status stopped_;
};

// The shards' parts of a flat layout, each [first, end): contiguous, not empty, and of equal size to within a
// few numbers. With `whole`, for an optimizer that needs whole tensors, parts end where tensors end and are
// as equal as that allows. Invalid if there are more shards than numbers or tensors.
using Borders = std::vector<std::pair<uint64_t, uint64_t>>;
Result<Borders> split_layout(const std::vector<ParameterInfo>& layout, size_t shards, bool whole = false);
// The part of the whole model's initial state with which server `shard` starts.
Result<Init> part_of(const Init& whole, uint32_t shard, const Borders& borders);

}  // namespace radl::engine::cluster
