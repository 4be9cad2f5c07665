// Muon (Jordan et al. 2024, "Muon: an optimizer for hidden layers"): Newton-Schulz steps make the momentum of
// a weight matrix nearly orthogonal before it is applied, so that all directions move equally. A
// convolution's weights are the matrix filters x rest. Each matrix keeps the norm sqrt(rows), as in the
// author's CIFAR-10 recipe. Other parameters, and the last layer, are updated by SGD with their own momentum
// and rates.
#include <algorithm>
#include <cmath>

#include "engine/kernels/parallel.h"
#include "engine/optim/base.h"
#include "engine/optim/matrix.h"

namespace radl::engine {

namespace {

// The quintic iteration's coefficients: its slope at 0 is as large as it can be.
constexpr float kLinear = 3.4445f, kCubic = -4.7750f, kQuintic = 2.0315f;

class Muon : public OptimizerBase {
 public:
  explicit Muon(const OptimizerPlan& plan) : OptimizerBase(plan, 1) {
    size_t largest = 0, square = 0;
    for (const Run& run : runs_) {
      if (run.rows == 0) continue;
      const Shape s = shape_of(run);
      largest = std::max(largest, s.rows * s.columns);
      square = std::max(square, s.rows * s.rows);
    }
    for (std::vector<float>* v : {&update_, &next_, &turned_}) v->resize(largest);
    gram_.resize(square);
    square_.resize(square);
  }

  void step(std::span<float> w, std::span<const float> g, float rate, float scale) override {
    const float factor = gradient_factor(g, scale);
    ++steps_;
    for (const Run& run : runs_) {
      if (run.rows > 0)
        step_matrix(run, w.data() + run.begin, g.data() + run.begin, rate * run.rate, factor);
      else
        step_rest(run, w.data() + run.begin, g.data() + run.begin, rate * run.rate, factor);
    }
  }

 private:
  // As it is multiplied: never more rows than columns.
  struct Shape {
    size_t rows, columns;
    bool turned;
  };
  static Shape shape_of(const Run& run) {
    const size_t rows = static_cast<size_t>(run.rows), columns = (run.end - run.begin) / rows;
    return rows > columns ? Shape{columns, rows, true} : Shape{rows, columns, false};
  }

  void step_rest(const Run& run, float* w, const float* g, float rate, float factor) {
    float* v = state_.data() + run.begin;
    const float momentum = static_cast<float>(config_.rest_momentum);
    for (size_t i = 0; i < run.end - run.begin; ++i) {
      const float d = g[i] * factor + run.decay * w[i];
      v[i] = momentum * v[i] + d;
      w[i] -= rate * (config_.nesterov ? d + momentum * v[i] : v[i]);
    }
  }

  void step_matrix(const Run& run, float* w, const float* g, float rate, float factor) {
    const size_t n = run.end - run.begin;
    const Shape s = shape_of(run);
    float* v = state_.data() + run.begin;
    const float momentum = static_cast<float>(config_.momentum);
    const bool nesterov = config_.nesterov;
    for_each(n, [=, to = s.turned ? turned_.data() : update_.data()](size_t i) {
      const float d = g[i] * factor;
      v[i] = momentum * v[i] + d;
      to[i] = nesterov ? d + momentum * v[i] : v[i];
    });
    if (s.turned) transpose(turned_.data(), s.columns, s.rows, update_.data());
    orthogonalise(s);
    if (s.turned) transpose(update_.data(), s.rows, s.columns, turned_.data());
    const double norm = norm2({w, n});
    const float keep = norm > 0 ? static_cast<float>(std::sqrt(static_cast<double>(run.rows)) / norm) *
                                      (1 - rate * run.decay)
                                : 1;
    for_each(n, [=, x = s.turned ? turned_.data() : update_.data()](size_t i) {
      w[i] = w[i] * keep - rate * x[i];
    });
  }

  // Element by element, so that the number of threads changes nothing.
  template <class F>
  void for_each(size_t count, F&& f) {
    parallel_for(std::max(1, config_.threads), count, 4096, [&](size_t begin, size_t end, int) {
      for (size_t i = begin; i < end; ++i) f(i);
    });
  }

  // update_ becomes nearly the nearest matrix with orthogonal rows: singular values go to about 1.
  void orthogonalise(const Shape& s) {
    const size_t n = s.rows * s.columns, m = s.rows;
    const double norm = norm2({update_.data(), n});
    if (!(norm > 0)) return;
    const float unit = static_cast<float>(1 / norm);
    for_each(n, [unit, x = update_.data()](size_t i) { x[i] *= unit; });
    for (int k = 0; k < config_.iterations; ++k) {
      multiply_by_own_transpose(m, s.columns, update_.data(), gram_.data(), config_.threads);
      square_symmetric(m, gram_.data(), square_.data(), config_.threads);
      for (size_t i = 0; i < m * m; ++i) square_[i] = kCubic * gram_[i] + kQuintic * square_[i];
      for (size_t i = 0; i < m; ++i) square_[i * m + i] += kLinear;
      multiply({m, m, s.columns}, square_.data(), update_.data(), next_.data(), config_.threads);
      update_.swap(next_);
    }
  }

  // Allocated once, for the largest matrix.
  std::vector<float> update_, next_, turned_, gram_, square_;
};

}  // namespace

std::unique_ptr<Optimizer> make_muon(const OptimizerPlan& plan) { return std::make_unique<Muon>(plan); }

}  // namespace radl::engine
