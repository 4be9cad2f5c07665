// Optimizers and schedules against their papers' formulas, written out here in double.
#include "engine/optim/optimizer.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "engine/optim/matrix.h"
#include "engine/optim/schedule.h"

namespace radl::engine {
namespace {

const std::vector<ParameterInfo> kLayout{
    {"w", {40, 10}, 0, 400, true}, {"b", {40}, 400, 40, false}, {"v", {100}, 440, 100, true}};
constexpr size_t kSize = 540;

struct Problem {
  std::vector<float> w, g;
  explicit Problem(unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < kSize; ++i) w.push_back(normal(random)), g.push_back(normal(random));
  }
};

bool decays(size_t i) { return i < 400 || i >= 440; }

// Three steps with the same gradient, `expected` being one step of one element.
template <class Step>
void compare(const OptimizerConfig& config, Step&& expected) {
  Problem p(1);
  std::vector<double> w(p.w.begin(), p.w.end()), m(kSize), v(kSize);
  auto optimizer = Optimizer::make(config, kLayout);
  ASSERT_TRUE(optimizer.ok()) << optimizer.status().text();
  for (int t = 1; t <= 3; ++t) {
    for (size_t i = 0; i < kSize; ++i) expected(i, t, w[i], p.g[i] * 0.5, m[i], v[i]);
    (*optimizer)->step(p.w, p.g, 0.1f, 0.5f);
  }
  for (size_t i = 0; i < kSize; ++i) ASSERT_NEAR(p.w[i], w[i], 2e-6) << i;
}

TEST(Optimizer, SgdWithMomentum) {
  compare({.name = "sgd", .momentum = 0.8f, .weight_decay = 0.01f},
          [](size_t i, int, double& w, double g, double& m, double&) {
            m = 0.8f * m + g + (decays(i) ? 0.01f * w : 0);
            w -= 0.1f * m;
          });
}

TEST(Optimizer, Nesterov) {
  compare({.name = "sgd", .momentum = 0.8f, .nesterov = true, .weight_decay = 0.01f},
          [](size_t i, int, double& w, double g, double& m, double&) {
            const double d = g + (decays(i) ? 0.01f * w : 0);
            m = 0.8f * m + d;
            w -= 0.1f * (d + 0.8f * m);
          });
}

TEST(Optimizer, AdamW) {
  compare({.name = "adamw", .weight_decay = 0.1f},
          [](size_t i, int t, double& w, double g, double& m, double& v) {
            w -= decays(i) ? 0.1f * 0.1f * w : 0;
            m = 0.9f * m + (1 - 0.9f) * g, v = 0.999f * v + (1 - 0.999f) * g * g;
            const double m1 = m / (1 - std::pow(double(0.9f), t)), v1 = v / (1 - std::pow(double(0.999f), t));
            w -= 0.1f * m1 / (std::sqrt(v1) + 1e-8);
          });
}

TEST(Optimizer, LarsScalesEachTensor) {
  Problem p(3);
  const std::vector<float> before = p.w;
  auto optimizer =
      Optimizer::make({.name = "lars", .momentum = 0, .weight_decay = 0.02f, .trust = 0.01f}, kLayout);
  (*optimizer)->step(p.w, p.g, 0.5f);
  for (const ParameterInfo& info : kLayout) {
    double w2 = 0, g2 = 0;
    for (size_t i = info.offset; i < info.offset + info.size; ++i)
      w2 += before[i] * double(before[i]), g2 += p.g[i] * double(p.g[i]);
    const double local =
        info.decays ? 0.5 * 0.01f * std::sqrt(w2) / (std::sqrt(g2) + 0.02f * std::sqrt(w2)) : 0.5;
    for (size_t i = info.offset; i < info.offset + info.size; ++i)
      ASSERT_NEAR(p.w[i], before[i] - local * (p.g[i] + (info.decays ? 0.02f * before[i] : 0)), 1e-6);
  }
}

// The paper's update of one matrix of rows x columns in double: Newton-Schulz steps on the gradient, the
// weights at the norm sqrt(rows). `momentum` is of this matrix so far.
std::vector<double> muon_by_formula(const OptimizerConfig& c, size_t rows, size_t columns,
                                    std::vector<double> w, std::span<const float> g, double rate,
                                    std::vector<double>& momentum) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Matrix x(rows, columns);
  for (size_t i = 0; i < w.size(); ++i) {
    momentum[i] = c.momentum * momentum[i] + g[i];
    x.data()[i] = c.nesterov ? g[i] + c.momentum * momentum[i] : momentum[i];
  }
  x /= x.norm();
  for (int k = 0; k < c.iterations; ++k) {
    const Matrix gram = x * x.transpose();
    x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram * gram) * x;
  }
  double norm = 0;
  for (double v : w) norm += v * v;
  for (size_t i = 0; i < w.size(); ++i) w[i] = w[i] * std::sqrt(double(rows) / norm) - rate * x.data()[i];
  return w;
}

TEST(Optimizer, MuonIsThePapersFormula) {
  const std::vector<ParameterInfo> layout{{"a", {10, 4, 3, 3}, 0, 360, true},
                                          {"tall", {30, 10}, 360, 300, true},
                                          {"head", {10, 10}, 660, 100, true}};
  for (int iterations : {1, 2, 3, 5}) {
    OptimizerConfig config{.name = "muon", .momentum = 0.6f, .nesterov = iterations != 2, .threads = 2};
    config.iterations = iterations;
    auto optimizer = Optimizer::make(config, layout);
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().text();
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> w(760), g(760);
    for (float& x : w) x = normal(random);
    std::vector<double> wide(w.begin(), w.begin() + 360), tall(w.begin() + 360, w.begin() + 660);
    std::vector<double> wide_momentum(360), tall_momentum(300);
    for (int step = 0; step < 3; ++step) {
      for (float& x : g) x = normal(random);
      (*optimizer)->step(w, g, 0.1f);
      wide = muon_by_formula(config, 10, 36, wide, std::span(g).first(360), 0.1, wide_momentum);
      tall = muon_by_formula(config, 30, 10, tall, std::span(g).subspan(360, 300), 0.1, tall_momentum);
      for (size_t i = 0; i < 360; ++i)
        ASSERT_NEAR(w[i], wide[i], 1e-5) << iterations << ' ' << step << ' ' << i;
      for (size_t i = 0; i < 300; ++i)
        ASSERT_NEAR(w[360 + i], tall[i], 1e-5) << iterations << ' ' << step << ' ' << i;
    }
  }
}

// Ten rows of forty: after enough steps the update is U V^T of the gradient, so its rows are orthonormal to
// what the iteration gives (singular values about 0.7 to 1.2).
TEST(Optimizer, MuonMovesEveryDirectionAlike) {
  const std::vector<ParameterInfo> layout{{"a", {10, 4, 3, 3}, 0, 360, true},
                                          {"b", {10}, 360, 10, false},
                                          {"tall", {30, 10}, 370, 300, true},
                                          {"head", {10, 10}, 670, 100, true}};
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> w(770), g(770);
  for (float& x : w) x = normal(random);
  for (float& x : g) x = normal(random);
  const std::vector<float> before = w;
  auto optimizer = Optimizer::make(
      {.name = "muon", .momentum = 0, .iterations = 5, .rest_momentum = 0, .bias_rate = 4, .head_rate = 2},
      layout);
  ASSERT_TRUE(optimizer.ok()) << optimizer.status().text();
  (*optimizer)->step(w, g, 0.1f, 0.5f);
  const auto check = [&](size_t at, size_t rows, size_t columns) {
    double norm = 0;
    for (size_t i = at; i < at + rows * columns; ++i) norm += before[i] * double(before[i]);
    const double keep = std::sqrt(double(rows) / norm);
    std::vector<double> u(rows * columns);
    for (size_t i = 0; i < u.size(); ++i) u[i] = (before[at + i] * keep - w[at + i]) / 0.1;
    // The trace of U^T G is the sum of singular values, each times about one; and |U| is about sqrt(rank).
    double size = 0, along = 0, g2 = 0;
    for (size_t i = 0; i < u.size(); ++i)
      size += u[i] * u[i], along += u[i] * g[at + i], g2 += g[at + i] * double(g[at + i]);
    const double rank = double(std::min(rows, columns));
    EXPECT_NEAR(size / rank, 0.95, 0.45);  // the mean square
    EXPECT_GT(along, 0.9 * std::sqrt(g2));
    const bool wide = rows <= columns;
    for (size_t i = 0; i < size_t(rank); ++i)
      for (size_t j = 0; j < i; ++j) {
        double dot = 0;
        for (size_t k = 0; k < std::max(rows, columns); ++k)
          dot += wide ? u[i * columns + k] * u[j * columns + k] : u[k * columns + i] * u[k * columns + j];
        EXPECT_NEAR(dot, 0, 0.35) << i << ' ' << j;
      }
  };
  check(0, 10, 36);
  check(370, 30, 10);
  for (size_t i = 360; i < 370; ++i) EXPECT_NEAR(w[i], before[i] - 0.1 * 4 * 0.5 * g[i], 1e-6);
  for (size_t i = 670; i < 770; ++i) EXPECT_NEAR(w[i], before[i] - 0.1 * 2 * 0.5 * g[i], 1e-6);
  EXPECT_FALSE(Optimizer::make({.name = "muon"}, layout, 0, 300).ok()) << "a part of a matrix";
}

TEST(Optimizer, ProductsAreTheSameBitsWithAnyNumberOfThreads) {
  const ProductShape s{37, 53, 71};
  std::mt19937 random(8);
  std::normal_distribution<float> normal;
  std::vector<float> a(s.rows * s.inner), b(s.inner * s.columns), c(s.rows * s.columns), d(c.size());
  for (float& x : a) x = normal(random);
  for (float& x : b) x = normal(random);
  multiply(s, a.data(), b.data(), c.data(), 1);
  multiply(s, a.data(), b.data(), d.data(), 3);
  EXPECT_EQ(c, d);
  for (size_t i = 0; i < s.rows; ++i)
    for (size_t j = 0; j < s.columns; ++j) {
      float sum = 0;  // in the same order, rounded in the same places
      for (size_t k = 0; k < s.inner; ++k) sum = std::fma(a[i * s.inner + k], b[k * s.columns + j], sum);
      ASSERT_EQ(c[i * s.columns + j], sum) << i << ' ' << j;
    }
}

TEST(Optimizer, SymmetricProductsAreTheWholeOnes) {
  const size_t n = 75, k = 40;
  std::mt19937 random(9);
  std::normal_distribution<float> normal;
  std::vector<float> a(n * k), turned(n * k), whole(n * n), half(n * n);
  for (float& x : a) x = normal(random);
  transpose(a.data(), n, k, turned.data());
  multiply({n, k, n}, a.data(), turned.data(), whole.data(), 1);
  multiply_by_own_transpose(n, k, a.data(), half.data(), 2);
  EXPECT_EQ(whole, half);
  const std::vector<float> gram = whole;
  multiply({n, n, n}, gram.data(), gram.data(), whole.data(), 1);
  square_symmetric(n, gram.data(), half.data(), 3);
  EXPECT_EQ(whole, half);
}

TEST(Optimizer, ShardsDoWhatTheWholeDoes) {
  for (const char* name : {"sgd", "adamw"}) {
    const OptimizerConfig config{.name = name, .weight_decay = 0.05f};
    Problem whole(4), cut(4);
    auto one = Optimizer::make(config, kLayout);
    auto low = Optimizer::make(config, kLayout, 0, 417), high = Optimizer::make(config, kLayout, 417, kSize);
    for (int t = 0; t < 3; ++t) {
      (*one)->step(whole.w, whole.g, 0.1f);
      (*low)->step(std::span(cut.w).first(417), std::span(cut.g).first(417), 0.1f);
      (*high)->step(std::span(cut.w).subspan(417), std::span(cut.g).subspan(417), 0.1f);
    }
    EXPECT_EQ(whole.w, cut.w) << name;
  }
}

TEST(Optimizer, ResumesToTheSameBits) {
  for (const char* name : {"sgd", "adamw", "lars", "muon"}) {
    const OptimizerConfig config{.name = name, .weight_decay = 0.05f};
    Problem a(5);
    auto first = Optimizer::make(config, kLayout);
    (*first)->step(a.w, a.g, 0.1f);
    Problem b(5);
    b.w = a.w;
    auto second = Optimizer::make(config, kLayout);
    std::copy((*first)->state().begin(), (*first)->state().end(), (*second)->state().begin());
    (*second)->set_steps((*first)->steps());
    (*first)->step(a.w, a.g, 0.1f), (*second)->step(b.w, b.g, 0.1f);
    EXPECT_EQ(a.w, b.w) << name;
  }
}

TEST(Optimizer, ThreadsDoNotChangeTheBits) {
  const std::vector<ParameterInfo> large{{"w", {300000}, 0, 300000, true}};
  std::vector<float> g(300000), first;
  for (size_t i = 0; i < g.size(); ++i) g[i] = static_cast<float>(std::sin(double(i)));
  for (int threads : {1, 2, 3}) {
    std::vector<float> w(300000, 1.0f);
    auto optimizer = Optimizer::make({.name = "adamw", .threads = threads}, large);
    for (int t = 0; t < 2; ++t) (*optimizer)->step(w, g, 0.01f);
    if (threads == 1) first = w;
    EXPECT_EQ(w, first) << threads;
  }
}

TEST(Optimizer, ClipsTheNorm) {
  Problem p(6), q(6);
  std::vector<float> small = q.g;
  const double norm = norm2(small);
  ASSERT_GT(norm, 1);
  for (float& x : small) x = static_cast<float>(x / norm);
  auto clipped = Optimizer::make({.name = "sgd", .clip = 1}, kLayout),
       plain = Optimizer::make({.name = "sgd"}, kLayout);
  (*clipped)->step(p.w, p.g, 0.1f), (*plain)->step(q.w, small, 0.1f);
  for (size_t i = 0; i < kSize; ++i) ASSERT_NEAR(p.w[i], q.w[i], 1e-6);
}

// Frozen weights keep their values, whatever their decay and gradient.
TEST(Optimizer, LeavesFrozenWeightsAlone) {
  const std::vector<ParameterInfo> layout{{"a.weight", {8, 4}, 0, 32, false, true},
                                          {"b.weight", {8, 4}, 32, 32, true, false},
                                          {"c.weight", {8, 4}, 64, 32, true, false}};
  for (const char* name : {"sgd", "adamw", "lars", "muon"}) {
    const auto optimizer = Optimizer::make({.name = name, .weight_decay = 0.1f, .bias_decay = 0.2f}, layout);
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().text();
    std::vector<float> w(96, 1.0f), g(96, 0.5f);
    (*optimizer)->step(w, g, 0.1f);
    EXPECT_EQ(std::vector<float>(w.begin(), w.begin() + 32), std::vector<float>(32, 1.0f)) << name;
    for (size_t i = 32; i < 96; ++i) EXPECT_NE(w[i], 1.0f) << name << " " << i;
  }
}

TEST(Optimizer, RefusesNonsense) {
  EXPECT_EQ(Optimizer::make({.name = "adam2"}, kLayout).status().code(), Code::Invalid);
  EXPECT_EQ(Optimizer::make({.momentum = 1.5f}, kLayout).status().code(), Code::Invalid);
  EXPECT_EQ(Optimizer::make({.momentum = NAN}, kLayout).status().code(), Code::Invalid);
  EXPECT_EQ(Optimizer::make({}, kLayout, 10, 9999).status().code(), Code::Invalid);
  EXPECT_EQ(Optimizer::make({}, {}).status().code(), Code::Invalid) << "nothing to train";
  // 0 in fp32
  EXPECT_EQ(Optimizer::make({.name = "adamw", .epsilon = 1e-50}, kLayout).status().code(), Code::Invalid);
  EXPECT_EQ(Optimizer::make({.name = "lars", .trust = 1e-50}, kLayout).status().code(), Code::Invalid);
}

TEST(Optimizer, ARangeWithoutAnEndGoesUpToTheEnd) {
  auto rest = Optimizer::make({}, kLayout, 417);
  ASSERT_TRUE(rest.ok()) << rest.status().text();
  EXPECT_EQ((*rest)->size(), kSize - 417);
}

TEST(Optimizer, TheSmallestSettingsTrainOnFiniteWeights) {
  const OptimizerConfig tiny{.epsilon = 1e-30, .trust = 1e-9};
  for (const char* name : {"adamw", "lars", "sgd"}) {
    OptimizerConfig config = tiny;
    config.name = name;
    config.clip = 1e-50;
    Problem p(6);
    const std::vector<float> before = p.w;
    auto optimizer = Optimizer::make(config, kLayout);
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().text();
    p.g[0] = 0;
    (*optimizer)->step(p.w, p.g, 0.1f);
    for (float w : p.w) ASSERT_TRUE(std::isfinite(w)) << name;
    EXPECT_NE(p.w, before) << name;
  }
}

TEST(Schedule, Shapes) {
  const auto at = [](ScheduleConfig c, double step) { return Schedule::make(c)->at(step, 100); };
  EXPECT_FLOAT_EQ(at({.name = "constant", .peak = 0.4f}, 70), 0.4f);
  EXPECT_FLOAT_EQ(at({.name = "constant", .peak = 0.4f, .warmup = 0.1f}, 5), 0.2f);
  EXPECT_FLOAT_EQ(at({.name = "step", .peak = 1, .milestones = {0.5f, 0.75f}}, 49), 1.0f);
  EXPECT_FLOAT_EQ(at({.name = "step", .peak = 1, .milestones = {0.5f, 0.75f}}, 50), 0.1f);
  EXPECT_NEAR(at({.name = "step", .peak = 1, .milestones = {0.5f, 0.75f}}, 80), 0.01f, 1e-7);
  EXPECT_FLOAT_EQ(at({.name = "cosine", .peak = 2}, 50), 1.0f);
  EXPECT_NEAR(at({.name = "cosine", .peak = 2}, 100), 0.0f, 1e-6);
  EXPECT_FLOAT_EQ(at({.name = "one_cycle", .peak = 1, .start = 0.2f, .warmup = 0.5f}, 25), 0.6f);
  EXPECT_FLOAT_EQ(at({.name = "one_cycle", .peak = 1, .final = 0.1f, .warmup = 0.5f}, 100), 0.1f);
  EXPECT_FLOAT_EQ(at({.name = "linear", .peak = 1}, 75), 0.25f);
  EXPECT_EQ(Schedule::make({.name = "cosin"}).status().code(), Code::Invalid);
  EXPECT_EQ(Schedule::make({.name = "step", .milestones = {0.7f, 0.5f}}).status().code(), Code::Invalid);
}

TEST(WeightAverage, ExponentialFromItsBatchOn) {
  WeightAverage average({AverageConfig::Kind::Ema, 0.75f, 2});
  average.update(std::vector<float>{100, 100}, 1);
  EXPECT_TRUE(average.values().empty());
  average.update(std::vector<float>{1, 2}, 2);
  average.update(std::vector<float>{3, 4}, 3);
  EXPECT_FLOAT_EQ(average.values()[0], 1.5f);
  EXPECT_FLOAT_EQ(average.values()[1], 2.5f);
  EXPECT_EQ(average.count(), 2u);
}

TEST(WeightAverage, EqualSharesAlsoAfterARestoration) {
  const AverageConfig config{AverageConfig::Kind::Mean, 0, 0};
  WeightAverage whole(config), first(config), second(config);
  for (uint64_t i = 0; i < 4; ++i) {
    std::vector<float> w{static_cast<float>(i), static_cast<float>(10 * i)};
    whole.update(w, i);
    if (i == 2) second.restore({first.values().begin(), first.values().end()}, first.count());
    (i < 2 ? first : second).update(w, i);
  }
  EXPECT_FLOAT_EQ(whole.values()[0], 1.5f);
  EXPECT_FLOAT_EQ(whole.values()[1], 15.0f);
  EXPECT_EQ(second.values()[0], whole.values()[0]);
  EXPECT_EQ(second.values()[1], whole.values()[1]);
}

}  // namespace
}  // namespace radl::engine
