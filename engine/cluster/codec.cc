#include "engine/cluster/codec.h"

namespace radl::engine::cluster {
namespace {

// Of int8, each piece of a sum is rounded once by each member, which keeps what it lost for this piece of the
// next sum. The finer formats need no such care.
class Rounded : public Codec {
 public:
  explicit Rounded(Numbers numbers) : numbers_(numbers) {}

  Status add(Exchange& exchange, Contribution& own) override {
    if (numbers_ != Numbers::Int8) return exchange.add(numbers_, own, {});
    next_.assign(residue_.begin(), residue_.end());
    next_.resize(own.numbers().size(), 0.0f);
    return exchange.add(numbers_, own, next_);
  }

  std::vector<std::vector<float>> state() const override {
    std::vector<std::vector<float>> out;
    if (!residue_.empty()) out.push_back(residue_);
    return out;
  }
  void swap() override { residue_.swap(next_); }
  void take(std::span<const std::vector<float>> state, bool own) override {
    residue_.clear();
    if (own && numbers_ == Numbers::Int8 && state.size() == 1) residue_ = state[0];
  }

 private:
  const Numbers numbers_;
  std::vector<float> residue_, next_;
};

}  // namespace

std::unique_ptr<Codec> Codec::make(const CodecOptions& options) {
  switch (options.kind) {
    case CodecOptions::Kind::TopK:
      return make_top_k(options);
    case CodecOptions::Kind::PowerSgd:
      return make_power_sgd(options);
    case CodecOptions::Kind::Rounded:
      break;
  }
  return std::make_unique<Rounded>(options.numbers);
}

}  // namespace radl::engine::cluster
