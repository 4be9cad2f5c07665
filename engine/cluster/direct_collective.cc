// Sums in two steps: each member sends its numbers of a piece to the owner of the piece, and the owner sends
// the sum to all.
#include "engine/cluster/linked_collective.h"

namespace radl::engine::cluster {
namespace {

constexpr uint32_t kPartHop = 0, kSumHop = 1;  // hops

class DirectCollective : public LinkedCollective {
 public:
  using LinkedCollective::LinkedCollective;

  Status start(TrainingState& state, uint32_t source) override {
    Status got;
    if (alone()) return got;
    Message message;
    if (options_.rank == source) {
      message = encode(state);
      for (size_t i = 0; got.ok() && i < neighbors_.size(); ++i) got = neighbors_[i].session->send(message);
      return tell_all(std::move(got));
    }
    Session& from = *neighbor(source).session;
    got = expect(from, MessageType::State, message, options_.stop);
    if (got.ok()) got = decode(message, state);
    if (got.ok()) got = check_state(from, state);
    return tell_all(std::move(got));
  }

 private:
  std::vector<Session*> told() const override {
    std::vector<Session*> out;
    for (const Neighbor& one : neighbors_) out.push_back(one.session.get());
    return out;
  }
  const Neighbor& neighbor(size_t rank) const { return neighbors_[rank < options_.rank ? rank : rank - 1]; }
  size_t piece_owned_by(size_t rank) const { return (rank + 1) % members(); }

  // All members begin with the one after them, so that they do not all send to the same one.
  Status feed(size_t bucket) override {
    for (size_t step = 1; step < members(); ++step) {
      const Neighbor& owner = neighbor((options_.rank + step) % members());
      const size_t piece = piece_owned_by(owner.rank);
      correct(bucket, piece);
      if (Status sent = send(*owner.session, bucket, kPartHop, piece, own_note(bucket), fed_); !sent.ok())
        return sent;
    }
    return {};
  }

  Status take_all() override {
    sums_.assign(members(), 0);
    for (size_t bucket = 0; bucket < buckets_; ++bucket) {
      if (Status added = add_up(bucket); !added.ok()) return added;
      for (const Neighbor& one : neighbors_)
        if (Status sent = send(*one.session, bucket, kSumHop, own_piece(), own_note(bucket), out_);
            !sent.ok())
          return sent;
    }
    for (const Neighbor& one : neighbors_)
      while (sums_[one.rank] < buckets_)
        if (Status got = take_sum(one); !got.ok()) return got;
    return {};
  }

  // The sum of this member's piece: first those of rank+1, rank+2, ..., then its own.
  Status add_up(size_t bucket) {
    wait_for(bucket);
    const std::span<float> numbers = numbers_of(bucket, own_piece()),
                           statistics = statistics_of(bucket, own_piece());
    own_numbers_.assign(numbers.begin(), numbers.end());
    own_statistics_.assign(statistics.begin(), statistics.end());
    for (size_t step = 1; step < members(); ++step) {
      const Neighbor& from = neighbor((options_.rank + step) % members());
      if (Status got = take_part(from, bucket, step > 1); !got.ok()) return got;
    }
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] += own_numbers_[i];
    for (size_t i = 0; i < statistics.size(); ++i) statistics[i] += own_statistics_[i];
    correct(bucket, own_piece());
    round_own(bucket);
    return {};
  }

  // The next part from a member; sums that come before it are put in their places.
  Status take_part(const Neighbor& from, size_t bucket, bool add) {
    for (;;) {
      Block block;
      if (Status got = hear(*from.session, block); !got.ok()) return got;
      if (block.hop == kSumHop) {
        if (Status taken = put_sum(from, block); !taken.ok()) return taken;
        continue;
      }
      if (block.hop != kPartHop || block.bucket != bucket) return misplaced(from);
      if (is_last(bucket)) {
        notes_[from.rank] = block.note;
        notes_[from.rank].rank = from.rank;
      }
      return put(block, *from.session, own_piece(), add);
    }
  }

  Status take_sum(const Neighbor& from) {
    Block block;
    if (Status got = hear(*from.session, block); !got.ok()) return got;
    return block.hop == kSumHop ? put_sum(from, block) : misplaced(from);
  }

  // Its owner has this member's part, so nothing reads the place any more.
  Status put_sum(const Neighbor& from, const Block& block) {
    if (block.bucket != sums_[from.rank]) return misplaced(from);
    ++sums_[from.rank];
    return put(block, *from.session, piece_owned_by(from.rank), false);
  }

  static Status misplaced(const Neighbor& from) {
    return {Code::Corrupt, from.session->name() + ": sent a piece that does not belong to this sum"};
  }

  Result<std::vector<std::string>> gather(std::string_view own) override {
    std::vector<std::string> all(members());
    all[options_.rank] = own;
    const Message message = alone() ? Message() : encode(Piece{exchange_, 0, std::string(own)});
    for (const Neighbor& one : neighbors_)
      if (Status sent = one.session->send(message); !sent.ok()) return sent;
    for (const Neighbor& one : neighbors_) {
      Piece piece;
      if (Status got = hear(*one.session, MessageType::Piece); !got.ok()) return got;
      if (Status bad = decode(in_, piece); !bad.ok()) return bad;
      if (piece.exchange != exchange_) return misplaced(one);
      all[one.rank] = std::move(piece.bytes);
    }
    ++exchange_;
    return all;
  }

  std::vector<size_t> sums_;  // taken so far, by rank
  std::vector<float> own_numbers_, own_statistics_;
  Message fed_;  // of the thread that feeds
};

}  // namespace

std::unique_ptr<Collective> Collective::direct(const RingOptions& options,
                                               std::vector<std::unique_ptr<Session>> sessions) {
  std::vector<Neighbor> neighbors;
  for (uint32_t rank = 0; rank < sessions.size(); ++rank)
    if (sessions[rank]) neighbors.push_back({rank, std::move(sessions[rank])});
  return std::make_unique<DirectCollective>(options, std::move(neighbors));
}

}  // namespace radl::engine::cluster
