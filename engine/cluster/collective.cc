#include "engine/cluster/collective.h"

#include <fmt/format.h>

#include "engine/cluster/linked_collective.h"

namespace radl::engine::cluster {
namespace {

constexpr Milliseconds kGoodbye{2000}, kEcho{200};
// Numbers of the largest sum: weights and up to two vectors of an optimizer.
size_t most_numbers(const RingOptions& options) { return 3 * options.parameters; }

}  // namespace

std::unique_ptr<Session> ring_session(const RingOptions& options, std::unique_ptr<Link> link) {
  // State is the largest message: weights, optimizer state (at most twice as much), averaged weights, and a
  // velocity (train/outer_step.h) or the two vectors of a codec.
  link->set_limit((options.parameters * 6 + options.statistics) * sizeof(float) + kSmallMessage);
  // A fast member is at most a sum and its part of the next one ahead. A ring of n passes each bucket on in
  // 2 (n - 1) messages, a direct exchange in 2.
  const size_t inbox = 3 * options.size * buckets_of(most_numbers(options), options.size);
  return std::make_unique<Session>(std::move(link), options.peer_timeout, Session::LostCall(), inbox + 4);
}

Result<std::vector<RingNote>> LinkedCollective::sum(Contribution& own) {
  sum_ = &own;
  notes_.assign(options_.size, {});
  if (Status done = codec_->sum(*this, own); !done.ok()) {
    own.wait();
    return tell_all(std::move(done));
  }
  own.wait();
  notes_[options_.rank] = own.note();
  notes_[options_.rank].rank = options_.rank;
  return notes_;
}

Status LinkedCollective::add(Numbers encoding, Contribution& own, std::span<float> residue) {
  own_ = &own;
  encoding_ = encoding;
  residue_ = residue;
  if (alone()) return own.wait(), Status();
  buckets_ = buckets_of(own.numbers().size(), members());
  failed_ = false;
  const bool at_once = buckets_ == 1 && own.is_complete();  // needs no second thread
  std::future<Status> feeding =
      std::async(at_once ? std::launch::deferred : std::launch::async, [this] { return feed_all(); });
  Status fed = at_once ? feeding.get() : Status();
  Status taken = fed.ok() ? take_all() : fed;
  if (!taken.ok()) {
    const bool by_feeder = taken.code() == Code::Cancelled && failed_;
    failed_ = true;
    if (taken.code() == Code::Lost) close_links();
    if (!at_once) fed = feeding.get();
    // What a member said before it ended matters more than the loss of its link.
    return by_feeder && !told_ ? fed : taken;
  }
  if (!at_once) fed = feeding.get();
  ++exchange_;
  return fed;
}

Status LinkedCollective::feed_all() {
  for (size_t bucket = 0; bucket < buckets_ && !failed_; ++bucket) {
    wait_for(bucket);
    if (Status fed = feed(bucket); !fed.ok()) {
      failed_ = true;
      return fed;
    }
  }
  return {};
}

void LinkedCollective::wait_for(size_t bucket) const {
  if (is_last(bucket))
    own_->wait();
  else
    own_->wait_from(own_->numbers().size() * (buckets_ - 1 - bucket) / buckets_);
}

std::span<float> LinkedCollective::part(std::span<float> all, size_t bucket, size_t piece) const {
  return piece_of(bucket_of(all, bucket, buckets_), piece, members());
}

RingNote LinkedCollective::own_note(size_t bucket) const {
  RingNote note = is_last(bucket) ? sum_->note() : RingNote();
  note.rank = options_.rank;
  return note;
}

Status LinkedCollective::send(Session& to, size_t bucket, uint32_t hop, size_t piece, const RingNote& note,
                              Message& buffer) {
  if (Status own = sum_->status(); !own.ok()) return own;
  const Block block{.exchange = exchange_,
                    .bucket = static_cast<uint32_t>(bucket),
                    .hop = hop,
                    .note = note,
                    .encoding = encoding_};
  encode(block, numbers_of(bucket, piece), statistics_of(bucket, piece), buffer);
  return to.send(buffer);
}

Status LinkedCollective::hear(Session& from, MessageType type) {
  in_.type = MessageType::Heartbeat;
  Status got = expect(from, type, in_, radl::Stop::when([this] { return failed_.load(); }));
  if (in_.type == MessageType::Stop) told_ = true;
  if (got.code() != Code::Lost) return got;
  // Who ended the job told it to all, and closed its links: that reason matters more.
  for (const Neighbor& neighbor : neighbors_) {
    Message last;
    while (neighbor.session->receive(last, Milliseconds(0)).ok()) {
      if (last.type != MessageType::Stop) continue;
      told_ = true;
      return ended_by(last, neighbor.session->name());
    }
  }
  return got;
}

Status LinkedCollective::hear(Session& from, Block& block) {
  if (Status got = hear(from, MessageType::Block); !got.ok()) return got;
  if (Status bad = decode(in_, block); !bad.ok()) return bad;
  if (block.exchange == exchange_ && block.bucket < buckets_ && block.encoding == encoding_ &&
      block.note.rank < options_.size)
    return {};
  return {Code::Corrupt, from.name() + ": sent a piece that does not belong to this sum"};
}

Status LinkedCollective::put(const Block& block, const Session& from, size_t piece, bool add) {
  if (Status own = sum_->status(); !own.ok()) return own;
  const std::span<float> numbers = numbers_of(block.bucket, piece),
                         statistics = statistics_of(block.bucket, piece);
  if (block.numbers.size() != bytes_of(block.encoding, numbers.size()) ||
      block.statistics.size() != statistics.size_bytes())
    return {Code::Corrupt, from.name() + ": sent a piece of another size"};
  const auto take = [&](Numbers encoding, std::string_view bytes, std::span<float> to) {
    if (!add) return unpack_numbers(encoding, bytes.data(), to);
    scratch_.resize(std::max(scratch_.size(), to.size()));
    const std::span<float> values = std::span(scratch_).first(to.size());
    unpack_numbers(encoding, bytes.data(), values);
    for (size_t i = 0; i < to.size(); ++i) to[i] += values[i];
  };
  take(block.encoding, block.numbers, numbers);
  take(Numbers::Fp32, block.statistics, statistics);
  return {};
}

void LinkedCollective::correct(size_t bucket, size_t piece) {
  if (!residue_.empty())
    round_with_residue(encoding_, numbers_of(bucket, piece), part(residue_, bucket, piece));
}

Status LinkedCollective::check_state(Session& from, const TrainingState& state) const {
  if (state.weights.size() == options_.parameters && state.statistics.size() == options_.statistics)
    return {};
  return {Code::Corrupt, from.name() + ": handed over the state of another model"};
}

Status LinkedCollective::tell_all(Status status) {
  if (status.ok()) return status;
  if (status.code() != Code::Lost && !cut_)
    stop(status);
  else if (!cut_)
    close_links();
  return status;
}

Traffic LinkedCollective::traffic() const {
  Traffic out;
  for (const Neighbor& neighbor : neighbors_) out = together(out, neighbor.session->traffic());
  return out;
}

void LinkedCollective::stop(const Status& reason) {
  if (alone() || stopped_) return;
  stopped_ = true;
  const Message message = encode(Stop{static_cast<uint8_t>(reason.code()), reason.message()});
  for (Session* session : told()) (void)session->send(message);
  // They hang up when they have read it. One that only repeats it waits for less.
  const Clock::time_point end = Clock::now() + (told_ ? kEcho : kGoodbye);
  Message rest;
  for (Session* session : told())
    while (Clock::now() < end && session->health().ok()) (void)session->receive(rest, Milliseconds(50));
}

void LinkedCollective::close_links() {
  for (const Neighbor& neighbor : neighbors_) neighbor.session->close();
}

void LinkedCollective::cut() {
  cut_ = true;
  close_links();
}

std::optional<uint32_t> LinkedCollective::silent_rank() const {
  const double silence = static_cast<double>(options_.peer_timeout.count()) / 2000;
  for (const Neighbor& neighbor : neighbors_)
    if (!cut_ && !neighbor.session->health().ok() && neighbor.session->silent_seconds() > silence)
      return neighbor.rank;
  return std::nullopt;
}

}  // namespace radl::engine::cluster
