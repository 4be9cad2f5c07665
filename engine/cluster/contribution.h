// A member's part of a sum that may begin before the part is complete.
//
// One thread announces which numbers are final, from the last to the first (as a backward pass finds them).
// Other threads wait for them, and replace them by the sums.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <span>

#include "engine/cluster/link.h"
#include "engine/cluster/message.h"

namespace radl::engine::cluster {

// Number of buckets for these numbers; at least one.
size_t buckets_of(size_t numbers, size_t members);

// Piece `i` of n of a span.
template <class T>
std::span<T> piece_of(std::span<T> all, size_t i, size_t n) {
  const size_t first = all.size() * i / n, end = all.size() * (i + 1) / n;
  return all.subspan(first, end - first);
}

// Bucket 0 has the last numbers.
template <class T>
std::span<T> bucket_of(std::span<T> all, size_t bucket, size_t buckets) {
  return piece_of(all, buckets - 1 - bucket, buckets);
}

// The numbers become what their receiver unpacks.
void round_numbers(Numbers encoding, std::span<float> numbers);
// The same. First adds what was omitted from them before; `residue` is what rounding omits now. Does nothing
// if it is empty.
void round_with_residue(Numbers encoding, std::span<float> numbers, std::span<float> residue);

class Contribution {
 public:
  // Not complete.
  explicit Contribution(std::span<float> numbers) : numbers_(numbers), final_from_(numbers.size()) {}
  Contribution(std::span<float> numbers, std::span<float> statistics, const RingNote& note = {})
      : Contribution(numbers) {
    complete(statistics, note);
  }
  Contribution(const Contribution&) = delete;

  // The numbers [begin, end) are final.
  void announce(size_t begin, size_t end);
  // All numbers are final, and so are these.
  void complete(std::span<float> statistics, const RingNote& note);

  // The member failed before the contribution was complete: sums of it fail, and no thread waits for it any
  // more.
  void abandon();
  Status status() const;  // Internal if it is abandoned

  // Waits until all numbers from `begin` on are final, or the contribution is abandoned.
  void wait_from(size_t begin) const;
  // Waits until the contribution is complete or abandoned.
  void wait() const;
  bool is_complete() const;

  std::span<float> numbers() const { return numbers_; }
  // Of a complete contribution.
  std::span<float> statistics() const { return statistics_; }
  const RingNote& note() const { return note_; }
  Clock::time_point completed_at() const { return completed_at_; }

 private:
  const std::span<float> numbers_;
  std::span<float> statistics_;
  RingNote note_;
  Clock::time_point completed_at_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  size_t final_from_;
  bool complete_ = false, abandoned_ = false;
  std::map<size_t, size_t> ahead_;  // final ranges by their end, below numbers that are not final
};

}  // namespace radl::engine::cluster
