// PowerSGD (Vogels et al., NeurIPS 2019): a matrix M travels as P and Q with P Q^T close to it.
//
// One step of the power method a sum, from the last sum's Q (warm start): P = sum of M Q; its columns are
// made orthonormal; Q = sum of M^T P. All members compute with the sums, in one order and in plain C++, and
// so have the same P and Q bit for bit.
#include <algorithm>
#include <cmath>

#include "common/split_mix.h"
#include "engine/cluster/codec.h"

namespace radl::engine::cluster {
namespace {

// A tensor as a matrix, and where its factors begin.
struct Matrix {
  size_t offset, rows, columns;
  size_t p, q;
};

// A column shorter than this share of what it was holds rounding errors only.
constexpr double kVanished = 1e-6;

class PowerSgd : public Codec {
 public:
  explicit PowerSgd(const CodecOptions& options) : rank_(static_cast<size_t>(options.rank)) {
    size_t p = 0;
    for (const ParameterInfo& tensor : options.layout) {
      size_ = std::max(size_, tensor.offset + tensor.size);
      const size_t rows = tensor.shape.size() < 2 ? 1 : static_cast<size_t>(tensor.shape[0]);
      const size_t columns = tensor.size / rows;
      if (rank_ * (rows + columns) >= tensor.size) {
        whole_.push_back({tensor.offset, 1, tensor.size, 0, 0});
        continue;
      }
      matrices_.push_back({tensor.offset, rows, columns, p, q_size_});
      p += rank_ * rows;
      q_size_ += rank_ * columns;
    }
    for (Matrix& tensor : whole_) {  // behind the factors, in the first of the two exchanges
      tensor.p = p;
      p += tensor.columns;
    }
    p_.resize(p);
    q_.assign(q_size_, 0.0f);
    for (const Matrix& m : matrices_) normalize(m, q_);
  }

  Status add(Exchange& exchange, Contribution& own) override {
    own.wait();
    if (Status final = own.status(); !final.ok()) return final;
    const std::span<float> numbers = own.numbers();
    residue_.resize(numbers.size(), 0.0f);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] += residue_[i];
    std::ranges::fill(p_, 0.0f);
    for (const Matrix& m : matrices_) project(m, numbers);
    for (const Matrix& t : whole_)
      std::copy_n(numbers.begin() + at(t.offset), t.columns, p_.begin() + at(t.p));
    Contribution first(p_, own.statistics());
    if (Status added = exchange.add(Numbers::Fp32, first, {}); !added.ok()) return added;
    next_q_.assign(q_size_, 0.0f);
    next_residue_.assign(numbers.size(), 0.0f);
    for (const Matrix& m : matrices_) {
      orthonormalize(m);
      project_back(m, numbers);
      leave_out(m, numbers);
    }
    Contribution second(next_q_, {});
    if (Status added = exchange.add(Numbers::Fp32, second, {}); !added.ok()) return added;
    for (const Matrix& m : matrices_) multiply(m, numbers);
    for (const Matrix& t : whole_)
      std::copy_n(p_.begin() + at(t.p), t.columns, numbers.begin() + at(t.offset));
    for (const Matrix& m : matrices_) normalize(m, next_q_);
    return {};
  }

  std::vector<std::vector<float>> state() const override {
    if (residue_.empty()) return {};
    // The vectors of a state are as long as the numbers; all Q together are shorter.
    std::vector<float> shared = q_;
    shared.resize(size_, 0.0f);
    return {residue_, std::move(shared)};
  }
  void swap() override { residue_.swap(next_residue_), q_.swap(next_q_); }
  void take(std::span<const std::vector<float>> state, bool own) override {
    const bool fits = state.size() == 2 && state[0].size() == size_ && state[1].size() == size_;
    residue_.clear();
    if (fits && own) residue_ = state[0];
    std::ranges::fill(q_, 0.0f);
    if (fits) std::copy_n(state[1].begin(), q_size_, q_.begin());  // bit for bit
    if (!fits)
      for (const Matrix& m : matrices_) normalize(m, q_);
  }

 private:
  static long at(size_t offset) { return static_cast<long>(offset); }

  // P += M Q
  void project(const Matrix& m, std::span<const float> numbers) {
    for (size_t i = 0; i < m.rows; ++i) {
      const float* row = numbers.data() + m.offset + i * m.columns;
      float* p = p_.data() + m.p + i * rank_;
      for (size_t j = 0; j < m.columns; ++j)
        for (size_t k = 0; k < rank_; ++k) p[k] += row[j] * q_[m.q + j * rank_ + k];
    }
  }

  // The columns of P, one after the other (modified Gram-Schmidt). A column that the ones before it already
  // span becomes 0.
  void orthonormalize(const Matrix& m) {
    float* p = p_.data() + m.p;
    const auto dot = [&](size_t a, size_t b) {
      double sum = 0;
      for (size_t i = 0; i < m.rows; ++i)
        sum += static_cast<double>(p[i * rank_ + a]) * static_cast<double>(p[i * rank_ + b]);
      return sum;
    };
    for (size_t k = 0; k < rank_; ++k) {
      const double before = std::sqrt(dot(k, k));
      for (size_t other = 0; other < k; ++other) {
        const auto share = static_cast<float>(dot(other, k));
        for (size_t i = 0; i < m.rows; ++i) p[i * rank_ + k] -= share * p[i * rank_ + other];
      }
      const double length = std::sqrt(dot(k, k));
      const bool vanished = length <= kVanished * before;
      for (size_t i = 0; i < m.rows; ++i)
        p[i * rank_ + k] =
            vanished ? 0.0f : static_cast<float>(static_cast<double>(p[i * rank_ + k]) / length);
    }
  }

  // Q += M^T P
  void project_back(const Matrix& m, std::span<const float> numbers) {
    for (size_t i = 0; i < m.rows; ++i) {
      const float* row = numbers.data() + m.offset + i * m.columns;
      const float* p = p_.data() + m.p + i * rank_;
      for (size_t j = 0; j < m.columns; ++j)
        for (size_t k = 0; k < rank_; ++k) next_q_[m.q + j * rank_ + k] += row[j] * p[k];
    }
  }

  // Of this member's own matrix, what its own P Q^T lacks.
  void leave_out(const Matrix& m, std::span<const float> numbers) {
    for_each(m, [&](size_t i, float product) { next_residue_[i] = numbers[i] - product; });
  }
  void multiply(const Matrix& m, std::span<float> numbers) {
    for_each(m, [&](size_t i, float product) { numbers[i] = product; });
  }
  // The elements of P Q^T.
  template <class Do>
  void for_each(const Matrix& m, Do with) {
    for (size_t i = 0; i < m.rows; ++i) {
      const float* p = p_.data() + m.p + i * rank_;
      for (size_t j = 0; j < m.columns; ++j) {
        const float* q = next_q_.data() + m.q + j * rank_;
        float product = 0;
        for (size_t k = 0; k < rank_; ++k) product += p[k] * q[k];
        with(m.offset + i * m.columns + j, product);
      }
    }
  }

  // Columns of length 1, so that small gradients do not vanish in the next P. A column of zeros would stay
  // so: it begins anew, with the same numbers on all members.
  void normalize(const Matrix& m, std::vector<float>& q) const {
    for (size_t k = 0; k < rank_; ++k) {
      double squares = 0;
      for (size_t j = 0; j < m.columns; ++j)
        squares += std::pow(static_cast<double>(q[m.q + j * rank_ + k]), 2);
      for (size_t j = 0; j < m.columns; ++j) {
        float& number = q[m.q + j * rank_ + k];
        number = squares > 0 ? static_cast<float>(static_cast<double>(number) / std::sqrt(squares))
                             : random_number(m.q + j * rank_ + k);
      }
    }
  }
  // From -1 to 1.
  static float random_number(uint64_t number) {
    return static_cast<float>(static_cast<double>(split_mix64(number * kSplitMixStep) >> 11) * 0x1p-52 - 1);
  }

  const size_t rank_;
  size_t size_ = 0, q_size_ = 0;
  std::vector<Matrix> matrices_, whole_;  // whole_: tensors that travel as they are
  std::vector<float> p_;                  // factors, then the whole tensors
  std::vector<float> q_, next_q_;
  std::vector<float> residue_, next_residue_;
};

}  // namespace

std::unique_ptr<Codec> make_power_sgd(const CodecOptions& options) {
  return std::make_unique<PowerSgd>(options);
}

}  // namespace radl::engine::cluster
