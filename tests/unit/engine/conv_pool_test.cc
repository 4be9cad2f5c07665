// A convolution that pools its outputs gives the same bits as one without, followed by a maximum over 2x2.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
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

class PooledConv {
 public:
  PooledConv(const PoolCase& test, int threads) : g_(geometry(test)), random_(7) {
    for (const bool pool : {false, true}) {
      ConvRequest r{g_, Type::Bf16, threads, true, true, std::make_shared<Workspace>(threads), pool};
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
    const std::vector<bf16> x = separate_values();
    plain_->set_weights(w.data(), true), pooled_->set_weights(w.data(), true);
    y_.assign(size(g_.oh, g_.ow), {});
    std::vector<bf16> got(size(g_.oh / 2, g_.ow / 2));
    std::vector<double> sums(2 * g_.oc), want_sums(2 * g_.oc);
    plain_->forward(n, x.data(), bias.data(), y_.data(), nullptr);
    pooled_->forward(n, x.data(), bias.data(), got.data(), sums.data());
    for_windows(n, [&](size_t at, const size_t(&window)[4], int o) {
      const float largest = to_float(y_[window[best(window)]]);
      ASSERT_EQ(to_float(got[at]), largest) << at;
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
    std::vector<bf16> dy(size(g_.oh / 2, g_.ow / 2)), all(size(g_.oh, g_.ow)),
        x(static_cast<size_t>(g_.n) * g_.h * g_.w * g_.c);
    for (bf16& v : dy) v = to_bf16(normal());
    for (bf16& v : x) v = to_bf16(normal());
    for_windows(n, [&](size_t at, const size_t(&window)[4], int) {
      if (separate(window))
        all[window[best(window)]] = dy[at];
      else
        dy[at] = {};
    });
    for (const bool add : {false, true}) {
      std::vector<bf16> dx = x, want = x;
      pooled_->backward_data(n, dy.data(), dx.data(), add),
          plain_->backward_data(n, all.data(), want.data(), add);
      for (size_t i = 0; i < dx.size(); ++i) ASSERT_EQ(dx[i].bits, want[i].bits) << "dx " << i;
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
      if (to_float(y_[window[i]]) > to_float(y_[window[k]])) k = i;
    return k;
  }
  // Not so where a window reaches into the padding.
  bool separate(const size_t (&window)[4]) const {
    const size_t k = window[best(window)];
    return std::ranges::all_of(window,
                               [&](size_t i) { return i == k || to_float(y_[k]) - to_float(y_[i]) > 0.5f; });
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
  std::vector<bf16> separate_values() {
    std::vector<bf16> x(static_cast<size_t>(g_.n) * g_.h * g_.w * g_.c);
    const auto value = [&](int p, int y, int column, int c) -> bf16& {
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
                value(p, row, at, c) = to_bf16(static_cast<float>(level[k] - 1) + 0.02f * normal());
            }
          }
    return x;
  }

  ConvGeometry g_;
  std::mt19937 random_;
  std::unique_ptr<ConvKernel> plain_, pooled_;
  std::vector<bf16> y_;
};

TEST(PooledConv, EqualsAConvolutionAndAMaximum) {
  if (!cpu().avx512_bf16) GTEST_SKIP() << "pooling convolutions need avx512_bf16";
  const ScopedWinogradProducts products(WinogradProducts::Avx512);
  for (const PoolCase& test : kPoolCases)
    for (const int threads : {1, 2})
      for (const int n : {test.n, test.n - 1}) {
        SCOPED_TRACE(std::string(test.what) + ", pictures " + std::to_string(n));
        PooledConv conv(test, threads);
        conv.forward(n);
        conv.backward(n);
      }
}

TEST(PooledConv, IsRefusedWhereNoKernelPools) {
  const ConvGeometry g = geometry({"", 2, 16, 16, 16, 16, 1});
  const auto workspace = std::make_shared<Workspace>(1);
  EXPECT_FALSE(conv_pools({g, Type::F32, 1, true, true, workspace, true}, "auto"));
  EXPECT_FALSE(conv_pools({g, Type::Bf16, 1, true, true, workspace, true}, "onednn"));
  EXPECT_FALSE(conv_pools({g, Type::Bf16, 1, true, true, workspace, true}, "accurate"));
}

}  // namespace
}  // namespace radl::engine
