// A convolution that pools its outputs gives the same bits as one without, followed by a maximum over 2x2.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>
#include <vector>

#include "engine/kernels/conv.h"
#include "engine/kernels/cpu.h"
#include "engine/kernels/own/conv.h"

namespace radl::engine {
namespace {

struct PoolCase {
  const char* what;
  int n, h, w, c, oc, pad;
};

const PoolCase kPoolCases[] = {
    {"whole tiles", 5, 16, 16, 16, 32, 1},
    {"trimmed tiles", 9, 15, 15, 32, 48, 1},
    {"one trimmed tile each way", 7, 7, 7, 64, 32, 1},
    {"a single window", 21, 3, 3, 40, 24, 1},
    {"odd and wide", 3, 31, 29, 24, 72, 1},
    {"low tiles", 5, 11, 16, 16, 40, 1},
    {"without padding", 4, 10, 13, 16, 32, 0},
    {"padded by two", 4, 8, 9, 32, 16, 2},
    {"one row of windows", 4, 2, 9, 16, 16, 1},
};

ConvGeometry geometry(const PoolCase& c) {
  ConvGeometry g{c.n, c.h, c.w, c.c, 0, 0, c.oc, 3, 3, 1, 1, c.pad, c.pad, c.pad, c.pad, 1, 1, 1};
  g.oh = c.h + 2 * c.pad - 2, g.ow = c.w + 2 * c.pad - 2;
  return g;
}

float number(bf16 v) { return to_float(v); }
float number(float v) { return v; }
void set(bf16& to, float v) { to = to_bf16(v); }
void set(float& to, float v) { to = v; }
template <class T>
constexpr Type kType = std::is_same_v<T, bf16> ? Type::Bf16 : Type::F32;

// Of values of type T.
template <class T>
class PooledConv {
 public:
  PooledConv(const PoolCase& test, int threads) : g_(geometry(test)), random_(7) {
    for (const bool pool : {false, true}) {
      ConvRequest r{g_, kType<T>, threads, true, true, std::make_shared<Workspace>(threads), pool};
      EXPECT_TRUE(!pool || conv_pools(r, "winograd4"));
      Result<ChosenConv> made = make_conv(r, "winograd4");
      (pool ? pooled_ : plain_) = std::move(made->kernel);
    }
  }

  // Filters that pass a channel on, so that rounding cannot make two outputs of a window change places.
  void forward(int n) {
    const size_t filter = 9 * static_cast<size_t>(g_.c);
    std::vector<float> w(filter * g_.oc), bias(g_.oc);
    for (int o = 0; o < g_.oc; ++o) w[o * filter + o % g_.c * 9 + 4] = 1;
    for (float& b : bias) b = normal();
    const std::vector<T> x = separate_values();
    plain_->set_weights(w.data(), true), pooled_->set_weights(w.data(), true);
    y_.assign(size(g_.oh, g_.ow), {});
    std::vector<T> got(size(g_.oh / 2, g_.ow / 2));
    std::vector<double> sums(2 * g_.oc), want_sums(2 * g_.oc);
    plain_->forward(n, x.data(), bias.data(), y_.data(), nullptr);
    pooled_->forward(n, x.data(), bias.data(), got.data(), sums.data());
    for_windows(n, [&](size_t at, const size_t(&window)[4], int o) {
      const float largest = number(y_[window[best(window)]]);
      ASSERT_EQ(number(got[at]), largest) << at;
      want_sums[o] += largest, want_sums[g_.oc + o] += largest * largest;
    });
    for (int i = 0; i < 2 * g_.oc; ++i)
      EXPECT_NEAR(sums[i], want_sums[i], 1e-2 * std::abs(want_sums[i]) + 0.5) << i;
  }

  // With other weights, over the windows of forward().
  void backward(int n) {
    std::vector<float> w(9 * static_cast<size_t>(g_.c) * g_.oc);
    for (float& v : w) v = normal();
    plain_->set_weights(w.data(), true), pooled_->set_weights(w.data(), true);
    std::vector<T> dy(size(g_.oh / 2, g_.ow / 2)), all(size(g_.oh, g_.ow)),
        x(static_cast<size_t>(g_.n) * g_.h * g_.w * g_.c);
    for (T& v : dy) set(v, normal());
    for (T& v : x) set(v, normal());
    for_windows(n, [&](size_t at, const size_t(&window)[4], int) {
      if (separate(window))
        all[window[best(window)]] = dy[at];
      else
        dy[at] = {};
    });
    for (const bool add : {false, true}) {
      std::vector<T> dx = x, want = x;
      pooled_->backward_data(n, dy.data(), dx.data(), add),
          plain_->backward_data(n, all.data(), want.data(), add);
      for (size_t i = 0; i < dx.size(); ++i) ASSERT_EQ(number(dx[i]), number(want[i])) << "dx " << i;
    }
    std::vector<float> dw(w.size()), want(w.size()), bias(g_.oc), want_bias(g_.oc);
    pooled_->backward_weights(n, x.data(), dy.data(), dw.data(), bias.data());
    plain_->backward_weights(n, x.data(), all.data(), want.data(), want_bias.data());
    EXPECT_EQ(dw, want);
    for (int o = 0; o < g_.oc; ++o) EXPECT_NEAR(bias[o], want_bias[o], 1e-3) << o;
  }

 private:
  float normal() { return std::normal_distribution<float>()(random_); }
  size_t size(int h, int w) const { return static_cast<size_t>(g_.n) * h * w * g_.oc; }
  // The first of equals, which there are none of.
  int best(const size_t (&window)[4]) const {
    int k = 0;
    for (int i = 1; i < 4; ++i)
      if (number(y_[window[i]]) > number(y_[window[k]])) k = i;
    return k;
  }
  // Not so where a window reaches into the padding.
  bool separate(const size_t (&window)[4]) const {
    const size_t k = window[best(window)];
    return std::ranges::all_of(window,
                               [&](size_t i) { return i == k || number(y_[k]) - number(y_[i]) > 0.5f; });
  }
  // f(index of the window's value, indices of its outputs, channel)
  template <class F>
  void for_windows(int n, F&& f) const {
    size_t at = 0;
    for (int p = 0; p < n; ++p)
      for (int row = 0; row < g_.oh / 2; ++row)
        for (int column = 0; column < g_.ow / 2; ++column)
          for (int o = 0; o < g_.oc; ++o, ++at) {
            const size_t first =
                ((static_cast<size_t>(p) * g_.oh + 2 * row) * g_.ow + 2 * column) * g_.oc + o;
            const size_t down = static_cast<size_t>(g_.ow) * g_.oc, right = g_.oc;
            f(at, {first, first + right, first + down, first + down + right}, o);
          }
  }
  // Inputs whose outputs differ by one at least within each window.
  std::vector<T> separate_values() {
    std::vector<T> x(static_cast<size_t>(g_.n) * g_.h * g_.w * g_.c);
    const auto value = [&](int p, int y, int column, int c) -> T& {
      return x[((static_cast<size_t>(p) * g_.h + y) * g_.w + column) * g_.c + c];
    };
    int level[4] = {0, 1, 2, 3};
    for (int p = 0; p < g_.n; ++p)
      for (int c = 0; c < g_.c; ++c)
        for (int y = -2; y < g_.oh; y += 2)
          for (int column = -2; column < g_.ow; column += 2) {
            std::shuffle(level, level + 4, random_);
            for (int k = 0; k < 4; ++k) {
              const int row = y + k / 2 + 1 - g_.pt, at = column + k % 2 + 1 - g_.pl;
              if (row >= 0 && row < g_.h && at >= 0 && at < g_.w)
                set(value(p, row, at, c), static_cast<float>(level[k] - 1) + 0.02f * normal());
            }
          }
    return x;
  }

  ConvGeometry g_;
  std::mt19937 random_;
  std::unique_ptr<ConvKernel> plain_, pooled_;
  std::vector<T> y_;
};

template <class T>
void check_pooling() {
  for (const PoolCase& test : kPoolCases)
    for (const int threads : {1, 2})
      for (const int n : {test.n, test.n - 1}) {
        SCOPED_TRACE(std::string(test.what) + ", images " + std::to_string(n));
        PooledConv<T> conv(test, threads);
        conv.forward(n);
        conv.backward(n);
      }
}

TEST(PooledConv, EqualsAConvolutionAndAMaximum) {
  if (!cpu().avx512_bf16) GTEST_SKIP() << "pooling convolutions in bf16 need avx512_bf16";
  for (const auto kind : {WinogradProducts::Avx512, WinogradProducts::Avx512Fp32}) {
    const ScopedWinogradProducts products(kind);
    check_pooling<bf16>();
  }
}

TEST(PooledConv, EqualsAConvolutionAndAMaximumInFp32) {
  if (!cpu().avx2) GTEST_SKIP() << "pooling convolutions in fp32 need avx2";
  check_pooling<float>();
}

// As PyTorch's maximum does: a window with a NaN is one, wherever it stands.
TEST(PooledConv, AWindowWithANanIsOne) {
  if (!cpu().avx2) GTEST_SKIP() << "pooling convolutions in fp32 need avx2";
  const ConvGeometry g = geometry({"", 1, 8, 8, 16, 16, 1});
  ConvRequest r{g, Type::F32, 1, false, false, std::make_shared<Workspace>(1), true};
  Result<ChosenConv> made = make_conv(r, "winograd4");
  ASSERT_TRUE(made.ok());
  std::vector<float> w(9 * 16 * 16, 0.25f), y(4 * 4 * 16);
  made->kernel->set_weights(w.data(), false);
  for (int at = 0; at < 64; ++at) {
    std::vector<float> x(8 * 8 * 16, 1.0f);
    x[at * 16 + at % 16] = std::nanf("");
    made->kernel->forward(1, x.data(), nullptr, y.data(), nullptr);
    const int window = at / 16 * 4 + at % 8 / 2;
    for (int o = 0; o < 16; ++o) EXPECT_TRUE(std::isnan(y[window * 16 + o])) << at << " " << o;
  }
}

TEST(PooledConv, IsRefusedWhereNoKernelPools) {
  const ConvGeometry g = geometry({"", 2, 16, 16, 16, 16, 1});
  const auto workspace = std::make_shared<Workspace>(1);
  for (const Type type : {Type::F32, Type::Bf16})
    for (const char* kernels : {"onednn", "accurate", "direct"})
      EXPECT_FALSE(conv_pools({g, type, 1, true, true, workspace, true}, kernels)) << kernels;
}

}  // namespace
}  // namespace radl::engine
