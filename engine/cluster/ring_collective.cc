#include "engine/cluster/ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "engine/cluster/expect.h"

namespace radl::engine::cluster {
namespace {

constexpr Milliseconds kGoodbye{2000};

// Piece `i` of n of a span.
template <class T>
std::span<T> piece(std::span<T> all, size_t i, size_t n) {
  size_t first = all.size() * i / n, end = all.size() * (i + 1) / n;
  return all.subspan(first, end - first);
}

class LinkedRing : public Ring, private Exchange {
 public:
  LinkedRing(const RingOptions& options, std::unique_ptr<Session> previous, std::unique_ptr<Session> next)
      : options_(options),
        codec_(options.codec ? options.codec : Codec::make({})),
        previous_(std::move(previous)),
        next_(std::move(next)) {}

  Status start(TrainingState& state, uint32_t source) override {
    if (!previous_) return {};
    if (options_.rank == source) return tell_all(next_->send(encode(state)));
    Message message;
    Status got = expect(*previous_, MessageType::State, message, options_.stop);
    if (got.ok()) got = decode(message, state);
    if (got.ok() &&
        (state.weights.size() != options_.parameters || state.statistics.size() != options_.statistics))
      got = Status(Code::Corrupt, previous_->name() + ": handed around the state of another model");
    if (got.ok() && (options_.rank + 1) % options_.size != source) got = next_->send(message);
    return tell_all(std::move(got));
  }

  Result<std::vector<RingNote>> sum(std::span<float> numbers, std::span<float> statistics,
                                    RingNote own) override {
    own.rank = options_.rank;
    notes_.assign(options_.size, own);
    if (Status done = codec_->sum(*this, numbers, statistics); !done.ok()) return tell_all(std::move(done));
    return notes_;
  }

  Traffic traffic() const override {
    return previous_ ? together(previous_->traffic(), next_->traffic()) : Traffic();
  }

  void stop(const Status& reason) override {
    if (!previous_ || stopped_) return;
    stopped_ = true;
    (void)next_->send(encode(Stop{static_cast<uint8_t>(reason.code()), reason.message()}));
    Message message;
    const Clock::time_point end = Clock::now() + kGoodbye;  // it hangs up when it has read that
    while (Clock::now() < end && next_->health().ok()) (void)next_->receive(message, Milliseconds(50));
  }

  void cut() override {
    cut_ = true;
    for (Session* session : {previous_.get(), next_.get()})
      if (session != nullptr) session->close();
  }

  int silent_neighbor() const override {
    const double silence = static_cast<double>(options_.peer_timeout.count()) / 2000;
    if (!previous_ || cut_) return 0;
    if (!previous_->health().ok() && previous_->silent_seconds() > silence) return -1;
    return !next_->health().ok() && next_->silent_seconds() > silence ? 1 : 0;
  }

 private:
  Status add(Numbers encoding, std::span<float> numbers, std::span<float> statistics,
             std::span<float> residue) override {
    if (!previous_) return {};
    encoding_ = encoding;
    numbers_ = numbers;
    statistics_ = statistics;
    residue_ = residue;
    Status done = go_around();
    ++exchange_;
    return done;
  }

  // At hop h, each member passes on the bytes of rank - h.
  Result<std::vector<std::string>> gather(std::string_view own) override {
    const uint32_t n = options_.size, rank = options_.rank;
    std::vector<std::string> all(n);
    all[rank] = own;
    for (uint32_t h = 0; previous_ && h + 1 < n; ++h) {
      out_ = encode(Piece{exchange_, h, all[(rank + n - h) % n]});
      if (Status sent = send_out(); !sent.ok()) return sent;
      Piece piece;
      if (Status got = expect(*previous_, MessageType::Piece, in_, {}); !got.ok()) return got;
      if (Status bad = decode(in_, piece); !bad.ok()) return bad;
      if (piece.exchange != exchange_ || piece.hop != h)
        return Status(Code::Corrupt, previous_->name() + ": sent a piece of another exchange");
      all[(rank + 2 * n - h - 1) % n] = std::move(piece.bytes);
    }
    ++exchange_;
    return all;
  }

  // Lets the others know that this one cannot go on: why, unless the links are all that is wrong.
  Status tell_all(Status status) {
    if (status.ok()) return status;
    if (status.code() != Code::Lost && !cut_) {
      stop(status);
    } else if (!cut_) {
      for (Session* session : {previous_.get(), next_.get()}) session->close();
    }
    return status;
  }

  // Hop h of the first half: piece rank-h goes out, piece rank-h-1 comes in and is added to. After it this
  // member has the sum of piece rank+1, which goes around in the second half.
  Status go_around() {
    const uint32_t n = options_.size, rank = options_.rank;
    for (uint32_t h = 0; h + 1 < n; ++h) {
      correct((rank + n - h) % n);
      if (Status sent = send(h, (rank + n - h) % n, notes_[(rank + n - h) % n]); !sent.ok()) return sent;
      if (Status got = take(h, (rank + 2 * n - h - 1) % n, true); !got.ok()) return got;
    }
    correct((rank + 1) % n);
    round_own((rank + 1) % n);
    for (uint32_t h = 0; h + 1 < n; ++h) {
      if (Status sent = send(n - 1 + h, (rank + 1 + n - h) % n, notes_[rank]); !sent.ok()) return sent;
      if (Status got = take(n - 1 + h, (rank + n - h) % n, false); !got.ok()) return got;
    }
    return {};
  }

  Status send(uint32_t hop, size_t at, const RingNote& note) {
    Block block{.exchange = exchange_, .hop = hop, .note = note, .encoding = encoding_};
    encode(block, piece(numbers_, at, options_.size), piece(statistics_, at, options_.size), out_);
    return send_out();
  }

  Status send_out() {
    Status sent = next_->send(out_);
    if (sent.ok()) return sent;
    // Who ended the job told it to all, and hung up: that reason is the better one.
    while (previous_->receive(in_, Milliseconds(100)).ok()) {
      if (in_.type == MessageType::Stop) return ended_by(in_, previous_->name());
    }
    return sent;
  }

  Status take(uint32_t hop, size_t at, bool add) {
    if (Status got = expect(*previous_, MessageType::Block, in_, {}); !got.ok()) return got;
    Block block;
    if (Status bad = decode(in_, block); !bad.ok()) return bad;
    std::span<float> numbers = piece(numbers_, at, options_.size),
                     statistics = piece(statistics_, at, options_.size);
    if (block.exchange != exchange_ || block.hop != hop || block.encoding != encoding_ ||
        block.note.rank >= options_.size ||
        block.numbers.size() != bytes_of(block.encoding, numbers.size()) ||
        block.statistics.size() != statistics.size_bytes()) {
      return {Code::Corrupt, previous_->name() + ": sent a piece that does not belong to this sum"};
    }
    if (add) notes_[block.note.rank] = block.note;
    put(block.encoding, block.numbers, numbers, add);
    put(Numbers::Fp32, block.statistics, statistics, add);
    return {};
  }

  void put(Numbers encoding, std::string_view from, std::span<float> to, bool add) {
    if (!add) return unpack_numbers(encoding, from.data(), to);
    scratch_.resize(std::max(scratch_.size(), to.size()));
    std::span<float> values = std::span(scratch_).first(to.size());
    unpack_numbers(encoding, from.data(), values);
    for (size_t i = 0; i < to.size(); ++i) to[i] += values[i];
  }

  // With a residue: adds what this member left out of the piece before, and keeps what rounding leaves out
  // now. Each piece of a sum is rounded once by each member.
  void correct(size_t at) {
    if (residue_.empty()) return;
    const std::span<float> own = piece(numbers_, at, options_.size),
                           residue = piece(residue_, at, options_.size);
    for (size_t i = 0; i < own.size(); ++i) residue[i] += own[i];
    std::copy(residue.begin(), residue.end(), own.begin());
    round_own(at);
    for (size_t i = 0; i < own.size(); ++i) residue[i] -= own[i];
  }

  // The others get the encoded sum; its owner must not keep a more exact one.
  void round_own(size_t at) {
    if (encoding_ == Numbers::Fp32) return;
    std::span<float> own = piece(numbers_, at, options_.size);
    packed_.resize(bytes_of(encoding_, own.size()));
    pack_numbers(encoding_, own, packed_.data());
    unpack_numbers(encoding_, packed_.data(), own);
  }

  RingOptions options_;
  std::shared_ptr<Codec> codec_;
  std::unique_ptr<Session> previous_, next_;
  uint64_t exchange_ = 0;
  bool stopped_ = false;
  std::atomic<bool> cut_ = false;
  Numbers encoding_ = Numbers::Fp32;
  std::span<float> numbers_, statistics_, residue_;  // of the addition under way
  std::vector<RingNote> notes_;
  std::vector<float> scratch_;
  std::string packed_;
  Message out_, in_;
};

}  // namespace

std::unique_ptr<Session> ring_session(const RingOptions& options, std::unique_ptr<Link> link) {
  // State is the largest message: weights, optimizer state (at most twice as much), averaged weights, and a
  // velocity (train/outer_step.h) or the two vectors of a codec.
  link->set_limit((options.parameters * 6 + options.statistics) * sizeof(float) + kSmallMessage);
  return std::make_unique<Session>(std::move(link), options.peer_timeout, Session::LostCall(),
                                   std::max<size_t>(4, 2 * options.size));
}

std::unique_ptr<Ring> Ring::make(const RingOptions& options, std::unique_ptr<Session> previous,
                                 std::unique_ptr<Session> next) {
  return std::make_unique<LinkedRing>(options, std::move(previous), std::move(next));
}

}  // namespace radl::engine::cluster
