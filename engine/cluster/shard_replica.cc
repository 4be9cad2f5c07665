// How a shard is copied: what a primary records, and how its replica follows and takes over.
#include <algorithm>
#include <cstring>

#include "engine/cluster/shard.h"

namespace radl::engine::cluster {
namespace {

// Of the bits of the numbers, in their order; never 0.
uint64_t digest_of(std::span<const float> values) {
  uint64_t sum = 0xcbf29ce484222325;
  for (float value : values) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    sum = (sum ^ bits) * 0x100000001b3;
  }
  return sum | 1;
}

}  // namespace

bool Shard::has_unapplied(uint32_t worker, uint64_t incarnation) const {
  return std::any_of(rounds_.begin(), rounds_.end(), [&](const auto& round) {
    const auto part = round.second.parts.find(worker);
    return part != round.second.parts.end() && part->second.incarnation == incarnation;
  });
}

// A part of a round that is not applied yet is still its worker's, which sends it again to a new primary.
Book Shard::book() const {
  Book out{.version = version_,
           .next_round = next_round_,
           .rounds_applied = rounds_applied_,
           .has_squares = closed_squares_.has_value(),
           .squares = closed_squares_.value_or(0),
           .sums = sums_,
           .next = tickets_.next()};
  std::set<uint64_t> open = tickets_.open();
  for (const auto& [worker, member] : members_) {
    WorkerBook& one = out.workers.emplace_back();
    one = {.worker = worker,
           .incarnation = member.incarnation,
           .sequence = member.sequence,
           .clock = member.clock,
           .asked = member.asked,
           .waiting = member.waiting,
           .assigned = member.present && (member.holds || member.assigned),
           .assignment = member.assignment,
           .report = member.report};
    if (const std::optional<uint64_t> next = tickets_.reserved_for(worker)) one.reserved = {*next};
    if (one.assigned) open.erase(member.assignment.ticket);
    if (!has_unapplied(worker, member.incarnation)) continue;
    --one.clock;
    --one.report.steps;
  }
  for (const auto& [number, round] : rounds_) {
    if (welcome_.shard != 0) break;  // only shard 0 sums up (account())
    for (const auto& [worker, part] : round.parts) {
      --out.sums.steps;
      out.sums.loss_sum -= part.loss;
      out.sums.correct -= part.correct;
      out.sums.images -= part.images;
      out.sums.staleness_sum -= part.staleness;
    }
  }
  out.free.assign(open.begin(), open.end());
  return out;
}

void Shard::take(const Book& book) {
  version_ = book.version;
  next_round_ = book.next_round;
  rounds_applied_ = book.rounds_applied;
  closed_squares_ = book.has_squares ? std::optional(book.squares) : std::nullopt;
  sums_ = book.sums;
  tickets_.restore(book.next, book.free);
  for (const WorkerBook& one : book.workers) {
    Member& member = members_[one.worker];
    member.incarnation = one.incarnation;
    member.sequence = one.sequence;
    member.clock = one.clock;
    member.asked = one.asked;
    member.waiting = one.waiting;
    member.holds = one.assigned;
    member.assignment = one.assignment;
    member.report = one.report;
    member.present = member.awaited = one.report.state == 0;
    if (welcome_.shard != 0) continue;
    if (one.assigned) tickets_.give(one.worker, one.assignment.ticket);
    for (uint64_t ticket : one.reserved) tickets_.keep_for(one.worker, ticket);
  }
}

Init Shard::described() const {
  const Welcome& w = welcome_;
  return {.shard = w.shard,
          .shards = w.shards,
          .first = w.first,
          .count = w.count,
          .parameters = w.parameters,
          .batches = tickets_.total(),
          .optimizer = plan_,
          .average = average_config_,
          .keep = keep_};
}

Message Shard::begin_copy(uint64_t& copy) {
  std::lock_guard lock(mutex_);
  Init init = described();
  init.state = trainee().capture();
  init.state.version = version_;
  tickets_.store(init.state);
  recorded_.clear();
  replica_ = Replica::Copying;
  copy = ++copy_;
  record({});
  copy_begin_ = number_;
  changed_.notify_all();
  return encode(init);
}

// After a step of a primary. `count`: of the entry's numbers.
void Shard::record(Entry entry, size_t count) {
  entry.number = ++number_;
  if (replica_ != Replica::Copying && replica_ != Replica::Complete) return;
  entry.book = book();
  if (entry.applies && version_ % kDigestEvery == 0) entry.digest = digest_of(weights_);
  encode(entry, count, entry.applies ? std::span<const float>(statistics_) : std::span<const float>(),
         recorded_.emplace_back());
  changed_.notify_all();
}

Status Shard::next_entry(uint64_t copy, Milliseconds patience, Message& out) {
  Lock lock(mutex_);
  const auto over = [&] { return copy != copy_ || replica_ == Replica::None || replica_ == Replica::Lost; };
  const auto ready = [&] { return over() || !recorded_.empty(); };
  const bool some = ready() || (patience.count() > 0 && changed_.wait_for(lock, patience, ready));
  if (over()) return {Code::Cancelled, "the copy has ended"};
  if (!some) return {Code::Timeout, "no entry"};
  out = std::move(recorded_.front());
  recorded_.pop_front();
  changed_.notify_all();
  return {};
}

void Shard::copied(uint64_t copy, uint64_t number) {
  std::lock_guard lock(mutex_);
  if (copy != copy_) return;
  copied_ = std::max(copied_, number);
  if (replica_ == Replica::Copying && number >= copy_begin_) {
    replica_ = Replica::Complete;
    record({.complete = true});
  }
  changed_.notify_all();
}

void Shard::end_copy(uint64_t copy) {
  std::lock_guard lock(mutex_);
  if (copy != copy_) return;
  replica_ = replica_ == Replica::Complete ? Replica::Lost : Replica::None;
  recorded_.clear();
  changed_.notify_all();
}

void Shard::without_replica() {
  std::lock_guard lock(mutex_);
  ++copy_;
  replica_ = Replica::None;
  recorded_.clear();
  changed_.notify_all();
}

Status Shard::wait_copied(uint32_t worker, uint64_t pass, uint64_t number) {
  Lock lock(mutex_);
  for (;;) {
    const bool waits = replica_ == Replica::Complete || replica_ == Replica::Lost;
    const bool full = replica_ == Replica::Copying && recorded_.size() >= kMostRecorded;
    if ((!waits || copied_ >= number) && !full) return {};
    if (Status gone = check(worker, pass); !gone.ok()) return gone;
    changed_.wait_for(lock, kSlice);
  }
}

Status Shard::follow(const Entry& entry) {
  std::lock_guard lock(mutex_);
  if (promoted_) return {Code::Lost, "the replica has taken over"};
  if (entry.applies) {
    if (entry.numbers.size() != bytes_of(entry.encoding, weights_.size()) ||
        entry.statistics.size() != statistics_.size() * sizeof(float))
      return {Code::Corrupt, "an entry of another shard"};
    scratch_.resize(weights_.size());
    unpack_numbers(entry.encoding, entry.numbers.data(), scratch_);
    optimizer_->step(weights_, scratch_, entry.rate, entry.scale);
    average_.update(weights_, entry.newest);
    unpack_numbers(Numbers::Fp32, entry.statistics.data(), statistics_);
  }
  number_ = entry.number;
  followed_ = entry.book;
  complete_ |= entry.complete;
  if (entry.digest != 0 && entry.digest != digest_of(weights_)) {
    complete_ = false;
    return {Code::Corrupt, "the replica's weights differ from the primary's"};
  }
  return {};
}

bool Shard::promote() {
  std::lock_guard lock(mutex_);
  if (!complete_ || promoted_) return false;
  promoted_ = true;
  take(followed_);
  missing_until_ = Clock::now() + options_.gather;
  changed_.notify_all();
  return true;
}

// Workers of the lost primary that have not come in time are lost.
void Shard::drop_missing() {
  if (!missing_until_ || Clock::now() < *missing_until_) return;
  missing_until_.reset();
  for (auto& [worker, member] : members_) {
    if (!member.awaited) continue;
    drop(worker, member, 2, "did not come to the new primary");
  }
  go_on();
}

}  // namespace radl::engine::cluster
