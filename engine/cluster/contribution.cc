#include "engine/cluster/contribution.h"

#include <algorithm>
#include <string>

namespace radl::engine::cluster {
namespace {

// Minimum numbers of a piece and of a bucket, except in small sums: a message costs as much as about 4,000
// numbers.
constexpr size_t kLeastPiece = size_t{1} << 14, kLeastBucket = size_t{1} << 16;

}  // namespace

size_t buckets_of(size_t numbers, size_t members) {
  const size_t bucket = std::max(kLeastBucket, kLeastPiece * members);
  return std::max<size_t>(1, (numbers + bucket - 1) / bucket);
}

void round_numbers(Numbers encoding, std::span<float> numbers) {
  if (encoding == Numbers::Fp32) return;
  thread_local std::string packed;  // several threads send numbers
  packed.resize(bytes_of(encoding, numbers.size()));
  pack_numbers(encoding, numbers, packed.data());
  unpack_numbers(encoding, packed.data(), numbers);
}

void round_with_residue(Numbers encoding, std::span<float> numbers, std::span<float> residue) {
  if (residue.empty()) return;
  for (size_t i = 0; i < numbers.size(); ++i) residue[i] += numbers[i];
  std::copy(residue.begin(), residue.end(), numbers.begin());
  round_numbers(encoding, numbers);
  for (size_t i = 0; i < numbers.size(); ++i) residue[i] -= numbers[i];
}

void Contribution::announce(size_t begin, size_t end) {
  std::lock_guard lock(mutex_);
  ahead_[end] = begin;
  const size_t before = final_from_;
  for (auto next = ahead_.find(final_from_); next != ahead_.end(); next = ahead_.find(final_from_)) {
    if (next->first == next->second) break;
    final_from_ = next->second;
    ahead_.erase(next);
  }
  if (final_from_ < before) changed_.notify_all();
}

void Contribution::complete(std::span<float> statistics, const RingNote& note) {
  std::lock_guard lock(mutex_);
  statistics_ = statistics;
  note_ = note;
  completed_at_ = Clock::now();
  final_from_ = 0;
  complete_ = true;
  changed_.notify_all();
}

void Contribution::abandon() {
  std::lock_guard lock(mutex_);
  abandoned_ = !complete_;
  changed_.notify_all();
}

Status Contribution::status() const {
  std::lock_guard lock(mutex_);
  return abandoned_ ? internal_error("a step ended before its gradients were complete") : Status();
}

void Contribution::wait_from(size_t begin) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return final_from_ <= begin || abandoned_; });
}

void Contribution::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return complete_ || abandoned_; });
}

bool Contribution::is_complete() const {
  std::lock_guard lock(mutex_);
  return complete_;
}

}  // namespace radl::engine::cluster
