// Deep gradient compression (Lin et al., ICLR 2018): each member sends the largest of what it has
// accumulated.
//
// A member's bytes are pairs of an index (uint32) and a number (float), rising by index. All members add them
// up in the order of ranks, and so get the same bits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/cluster/codec.h"

namespace radl::engine::cluster {
namespace {

struct SentNumber {
  uint32_t at;
  float value;
};
static_assert(sizeof(SentNumber) == 8);

// In the first epochs more is sent, since gradients change quickly then: 25%, 6.25%, 1.6%, ...
constexpr double kFirstDensity = 0.25;

class TopK : public Codec {
 public:
  explicit TopK(const CodecOptions& options) : options_(options) {}

  void at(double epoch) override {
    density_ = std::max(options_.density, std::pow(kFirstDensity, 1 + std::floor(epoch)));
  }

  Status add(Exchange& exchange, Contribution& own) override {
    own.wait();
    if (Status final = own.status(); !final.ok()) return final;
    const std::span<float> numbers = own.numbers();
    accumulate(numbers);
    choose();
    Result<std::vector<std::string>> all =
        exchange.gather({reinterpret_cast<const char*>(chosen_.data()), chosen_.size() * sizeof(SentNumber)});
    if (!all) return std::move(all).status();
    Contribution statistics({}, own.statistics());
    if (Status added = exchange.add(Numbers::Fp32, statistics, {}); !added.ok()) return added;
    std::ranges::fill(numbers, 0.0f);
    for (const std::string& bytes : *all)
      if (Status bad = add_sent(bytes, numbers); !bad.ok()) return bad;
    return {};
  }

  std::vector<std::vector<float>> state() const override {
    return left_.empty() ? std::vector<std::vector<float>>() : std::vector{momenta_, left_};
  }
  void swap() override { momenta_.swap(next_momenta_), left_.swap(next_left_); }
  void take(std::span<const std::vector<float>> state, bool own) override {
    momenta_.clear(), left_.clear();
    if (!own || state.size() != 2 || state[0].size() != state[1].size()) return;
    momenta_ = state[0], left_ = state[1];
  }

 private:
  void accumulate(std::span<const float> gradient) {
    momenta_.resize(gradient.size(), 0.0f);
    left_.resize(gradient.size(), 0.0f);
    next_momenta_.resize(gradient.size());
    next_left_.resize(gradient.size());
    const float m = options_.momentum;
    for (size_t i = 0; i < gradient.size(); ++i) {
      const float u = m * momenta_[i] + gradient[i];
      next_momenta_[i] = u;
      next_left_[i] = left_[i] + (options_.nesterov ? gradient[i] + m * u : u);
    }
  }

  void choose() {
    chosen_.clear();
    if (!all_finite(next_left_)) {  // all members see it
      chosen_.push_back({0, std::numeric_limits<float>::quiet_NaN()});
      return;
    }
    for (const ParameterInfo& p : options_.layout) choose_of(p.offset, p.offset + p.size);
  }

  // The largest of the tensor [begin, end); at least one number that is not 0, if there is any.
  void choose_of(size_t begin, size_t end) {
    const size_t size = end - begin;
    const auto wanted = static_cast<size_t>(std::ceil(density_ * static_cast<double>(size)));
    if (size == 0) return;
    const size_t left = std::clamp<size_t>(wanted, 1, size);
    sizes_.resize(size);
    for (size_t i = 0; i < size; ++i) sizes_[i] = std::fabs(next_left_[begin + i]);
    const auto border = sizes_.begin() + static_cast<long>(left - 1);
    std::nth_element(sizes_.begin(), border, sizes_.end(), std::greater<float>());
    const float least = *border;
    // Of those as large as the last one, the first: all larger ones are sent.
    const auto larger = std::count_if(sizes_.begin(), border, [&](float one) { return one > least; });
    size_t alike = left - static_cast<size_t>(larger);
    for (size_t i = begin; i < end; ++i) {
      const float value = next_left_[i];
      if (value == 0 || std::fabs(value) < least) continue;
      const bool is_last = std::fabs(value) == least;
      if (is_last && alike == 0) continue;
      alike -= is_last ? 1 : 0;
      chosen_.push_back({static_cast<uint32_t>(i), value});
      next_left_[i] = next_momenta_[i] = 0;
    }
  }

  static Status add_sent(std::string_view bytes, std::span<float> numbers) {
    const Status corrupt(Code::Corrupt, "a member sent numbers that do not belong to this sum");
    if (bytes.size() % sizeof(SentNumber) != 0) return corrupt;
    for (size_t at = 0; at < bytes.size(); at += sizeof(SentNumber)) {
      SentNumber entry;
      std::memcpy(&entry, bytes.data() + at, sizeof entry);
      if (entry.at >= numbers.size()) return corrupt;
      numbers[entry.at] += entry.value;
    }
    return {};
  }

  const CodecOptions options_;
  double density_ = kFirstDensity;
  std::vector<float> momenta_, left_;            // u and v
  std::vector<float> next_momenta_, next_left_;  // after the sum under way
  std::vector<float> sizes_;
  std::vector<SentNumber> chosen_;
};

}  // namespace

std::unique_ptr<Codec> make_top_k(const CodecOptions& options) { return std::make_unique<TopK>(options); }

}  // namespace radl::engine::cluster
