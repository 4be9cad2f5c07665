// What both ways of adding have in common. Only *_collective.cc include this header.
#pragma once

#include <algorithm>
#include <atomic>
#include <future>

#include "engine/cluster/collective.h"
#include "engine/cluster/expect.h"

namespace radl::engine::cluster {

struct Neighbor {
  uint32_t rank = 0;
  std::unique_ptr<Session> session;
};

// Runs a sum with two threads: one feeds the others with this member's numbers as they become final, the
// other one takes what they send.
class LinkedCollective : public Collective, protected Exchange {
 public:
  LinkedCollective(const RingOptions& options, std::vector<Neighbor> neighbors)
      : options_(options),
        codec_(options.codec ? options.codec : Codec::make({})),
        neighbors_(std::move(neighbors)) {}

  Result<std::vector<RingNote>> sum(Contribution& own) override;
  Traffic traffic() const override;
  void stop(const Status& reason) override;
  void cut() override;
  std::optional<uint32_t> silent_rank() const override;

 protected:
  Status add(Numbers encoding, Contribution& own, std::span<float> residue) override;

  // Sends this member's numbers of a bucket.
  virtual Status feed(size_t bucket) = 0;
  // Takes everything that the others send for this sum, and passes on what they need of it.
  virtual Status take_all() = 0;
  // Those whom stop() tells.
  virtual std::vector<Session*> told() const = 0;

  bool alone() const { return neighbors_.empty(); }
  size_t members() const { return options_.size; }
  // The piece whose sum this member owns.
  size_t own_piece() const { return (options_.rank + 1) % members(); }

  // The numbers of a piece of a bucket; bucket 0 has the last ones.
  std::span<float> numbers_of(size_t bucket, size_t piece) { return part(own_->numbers(), bucket, piece); }
  // The statistics travel with the last bucket.
  std::span<float> statistics_of(size_t bucket, size_t piece) {
    return is_last(bucket) ? piece_of(own_->statistics(), piece, members()) : std::span<float>();
  }
  bool is_last(size_t bucket) const { return bucket + 1 == buckets_; }
  // Notes travel with the last bucket, too.
  RingNote own_note(size_t bucket) const;
  // Waits until this member's numbers of a bucket are final.
  void wait_for(size_t bucket) const;
  // Sends a piece of a bucket to a neighbor.
  Status send(Session& to, size_t bucket, uint32_t hop, size_t piece, const RingNote& note, Message& buffer);
  // The next block of this sum.
  Status hear(Session& from, Block& block);
  Status hear(Session& from, MessageType type);
  // Adds a block to the numbers of a piece, or replaces them. Corrupt: it is of another size.
  Status put(const Block& block, const Session& from, size_t piece, bool add);
  // With a residue: adds what this member left out of the piece before, and keeps what rounding leaves out
  // now.
  void correct(size_t bucket, size_t piece);
  // The others get the encoded sum; its owner must not keep a more exact one.
  void round_own(size_t bucket) { round(numbers_of(bucket, own_piece())); }
  // Lets the others know why this member cannot continue, unless the links are all that failed.
  Status tell_all(Status status);
  Status check_state(Session& from, const TrainingState& state) const;

  const RingOptions options_;
  const std::shared_ptr<Codec> codec_;
  const std::vector<Neighbor> neighbors_;
  uint64_t exchange_ = 0;
  size_t buckets_ = 1;
  Numbers encoding_ = Numbers::Fp32;
  std::vector<RingNote> notes_;
  Message in_, out_;  // of the thread that takes

 private:
  std::span<float> part(std::span<float> all, size_t bucket, size_t piece) const;
  Status feed_all();
  void round(std::span<float> numbers) const { round_numbers(encoding_, numbers); }
  void close_links();

  bool stopped_ = false;
  std::atomic<bool> cut_ = false, failed_ = false, told_ = false;
  Contribution* sum_ = nullptr;  // of the member
  Contribution* own_ = nullptr;  // of the addition under way, which may be one of several in a sum
  std::span<float> residue_;
  std::vector<float> scratch_;  // of the thread that takes
};

}  // namespace radl::engine::cluster
