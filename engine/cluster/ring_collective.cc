// Sums around a ring (Patarasuk and Yuan 2009).
//
// Hop h of the first half: piece rank-h goes out, piece rank-h-1 comes in and is added to. After it this
// member has the sum of piece rank+1, which goes around in the second half.
#include "engine/cluster/linked_collective.h"

namespace radl::engine::cluster {
namespace {

class RingCollective : public LinkedCollective {
 public:
  using LinkedCollective::LinkedCollective;

  Status start(TrainingState& state, uint32_t source) override {
    if (alone()) return {};
    if (options_.rank == source) return tell_all(next().send(encode(state)));
    Message message;
    Status got = expect(previous(), MessageType::State, message, options_.stop);
    if (got.ok()) got = decode(message, state);
    if (got.ok()) got = check_state(previous(), state);
    if (got.ok() && (options_.rank + 1) % options_.size != source) got = next().send(message);
    return tell_all(std::move(got));
  }

 private:
  Session& previous() const { return *neighbors_[0].session; }
  Session& next() const { return *neighbors_[1].session; }
  std::vector<Session*> told() const override { return {&next()}; }
  // Piece rank - steps.
  size_t back(size_t steps) const { return (options_.rank + 2 * members() - steps) % members(); }

  Status feed(size_t bucket) override {
    correct(bucket, options_.rank);
    return send(next(), bucket, 0, options_.rank, own_note(bucket), fed_);
  }

  Status take_all() override {
    const size_t hops = 2 * (members() - 1);
    std::vector<bool> seen(hops * buckets_, false);
    for (size_t i = 0; i < seen.size(); ++i) {
      Block block;
      if (Status got = hear(previous(), block); !got.ok()) return got;
      if (block.hop >= hops || seen[block.bucket * hops + block.hop])
        return {Code::Corrupt, previous().name() + ": sent a piece twice"};
      seen[block.bucket * hops + block.hop] = true;
      if (Status taken = take(block); !taken.ok()) return taken;
    }
    return {};
  }

  Status take(const Block& block) {
    const size_t bucket = block.bucket, half = members() - 1, piece = back(block.hop + 1);
    const RingNote note = block.note;  // the block's bytes are gone once it is passed on
    const uint32_t hop = block.hop;
    wait_for(bucket);
    if (hop >= half) {
      const size_t whole = back(hop - half);
      if (Status put_in = put(block, previous(), whole, false); !put_in.ok()) return put_in;
      return hop + 1 < 2 * half ? send(next(), bucket, hop + 1, whole, own_note(bucket), out_) : Status();
    }
    if (Status added = put(block, previous(), piece, true); !added.ok()) return added;
    if (is_last(bucket)) notes_[note.rank] = note;
    correct(bucket, piece);
    if (hop + 1 < half) return send(next(), bucket, hop + 1, piece, note, out_);
    round_own(bucket);
    return send(next(), bucket, hop + 1, piece, own_note(bucket), out_);
  }

  // At hop h, each member passes on the bytes of rank - h.
  Result<std::vector<std::string>> gather(std::string_view own) override {
    std::vector<std::string> all(members());
    all[options_.rank] = own;
    for (uint32_t h = 0; !alone() && h + 1 < members(); ++h) {
      if (Status sent = next().send(encode(Piece{exchange_, h, all[back(h)]})); !sent.ok()) return sent;
      Piece piece;
      if (Status got = hear(previous(), MessageType::Piece); !got.ok()) return got;
      if (Status bad = decode(in_, piece); !bad.ok()) return bad;
      if (piece.exchange != exchange_ || piece.hop != h)
        return Status(Code::Corrupt, previous().name() + ": sent a piece of another exchange");
      all[back(h + 1)] = std::move(piece.bytes);
    }
    ++exchange_;
    return all;
  }

  Message fed_;  // of the thread that feeds
};

}  // namespace

std::unique_ptr<Collective> Collective::ring(const RingOptions& options, std::unique_ptr<Session> previous,
                                             std::unique_ptr<Session> next) {
  std::vector<Neighbor> neighbors;
  if (previous) {
    neighbors.push_back({(options.rank + options.size - 1) % options.size, std::move(previous)});
    neighbors.push_back({(options.rank + 1) % options.size, std::move(next)});
  }
  return std::make_unique<RingCollective>(options, std::move(neighbors));
}

}  // namespace radl::engine::cluster
