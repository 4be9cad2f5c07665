// What threads do side by side: whoever takes a strip, and how many threads there are, the bits are the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/conv.h"
#include "engine/kernels/cpu.h"
#include "engine/kernels/own/conv.h"
#include "engine/kernels/own/winograd_tiling.h"
#include "engine/kernels/parallel.h"

namespace radl::engine {
namespace {

std::vector<size_t> all_of(ItemsLeft& items, int thread) {
  std::vector<size_t> taken;
  while (const auto item = items.take(thread)) taken.push_back(*item);
  return taken;
}

TEST(ItemsLeft, OwnOnesComeInOrderThenTheLastOfOthers) {
  ItemsLeft items(3);
  items.reset(9);
  EXPECT_EQ(items.take(1), 3u);
  EXPECT_EQ(all_of(items, 0), (std::vector<size_t>{0, 1, 2, 5, 4, 8, 7, 6}));
  for (int thread = 0; thread < 3; ++thread) EXPECT_EQ(items.take(thread), std::nullopt);
  items.reset(2);  // fewer than threads
  EXPECT_EQ(all_of(items, 0).size(), 2u);
  items.reset(0);
  EXPECT_EQ(items.take(2), std::nullopt);
}

TEST(ItemsLeft, EachIsTakenOnce) {
  constexpr size_t kCount = 50'000;
  constexpr int kThreads = 4;
  ItemsLeft items(kThreads);
  for (int round = 0; round < 3; ++round) {
    items.reset(kCount);
    std::vector<std::atomic<int>> taken(kCount);
    on_each_thread(kThreads, [&](int thread) {
      while (const auto item = items.take(thread)) taken[*item].fetch_add(1, std::memory_order_relaxed);
    });
    for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(taken[i], 1) << i;
  }
}

// A thread has as much to do as another, and no strip is larger than its scratch.
TEST(Strips, AreEven) {
  const ConvGeometry plain{1, 16, 16, 16, 16, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
      seven{1, 7, 7, 16, 7, 7, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (const ConvGeometry& g : {plain, seven}) {
    const own::Tiling tiling(g, own::winograd4_bf16(), false);
    for (const int wanted : {1, 6, 24, 48})
      for (const int images : {1, 3, 8, 31, 128})
        for (const int threads : {1, 2, 3, 16}) {
          const size_t strip = tiling.trimmed() ? own::whole_images(wanted, tiling.tile_rows) : wanted,
                       count = tiling.units(images), grain = own::strip_grain(tiling, strip);
          const int strips = static_cast<int>(own::even_strips(count, strip, threads));
          ASSERT_EQ(strips % threads, 0);
          size_t done = 0;
          for (int i = 0; i < strips; ++i) {
            const Share s = share_of(count, i, strips, grain);
            ASSERT_EQ(s.begin, done);
            ASSERT_LE(s.end - s.begin, strip);
            ASSERT_EQ(s.begin % (tiling.trimmed() ? tiling.tile_rows : 1), 0u);
            done = s.end;
          }
          ASSERT_EQ(done, count);
        }
  }
}

struct ThreadCase {
  const char* what;
  int n, h, w, c, oc, pad;
};

const ThreadCase kThreadCases[] = {
    {"sums of each thread, several strips", 24, 32, 32, 16, 16, 1},
    {"two blocks of channels", 16, 16, 16, 32, 32, 1},
    {"fewer strips than threads", 1, 8, 8, 16, 32, 1},
    {"trimmed tiles", 13, 15, 15, 16, 32, 1},
    {"one tile an image", 37, 4, 4, 32, 16, 1},
    {"without padding", 9, 12, 18, 16, 16, 0},
    {"padded by two", 9, 10, 9, 32, 16, 2},
    {"sums of all threads together", 9, 8, 8, 96, 80, 1},
};

// Everything that a convolution gives.
struct Given {
  std::vector<std::byte> y, dx;
  std::vector<double> sums;
  std::vector<float> dw, dbias;
};

class SameBits : public testing::TestWithParam<const char*> {
 protected:
  std::string kernels_ = GetParam();
  std::optional<ScopedWinogradProducts> products_;

  void SetUp() override {
    if (!kernels_.starts_with("emulated_amx_")) return;
    if (!cpu().avx512_bf16) GTEST_SKIP() << "the transforms need avx512_bf16";
    kernels_ = kernels_.substr(std::strlen("emulated_amx_"));
    products_.emplace(WinogradProducts::AmxEmulated);
  }

  std::unique_ptr<ConvKernel> make(const ThreadCase& test, Type type, int threads, bool pool) const {
    ConvGeometry g{test.n, test.h, test.w,   test.c,   0,        0,        test.oc, 3, 3,
                   1,      1,      test.pad, test.pad, test.pad, test.pad, 1,       1, 1};
    g.oh = test.h + 2 * test.pad - 2, g.ow = test.w + 2 * test.pad - 2;
    const ConvRequest request{g, type, threads, true, true, std::make_shared<Workspace>(threads), pool};
    if (pool && !conv_pools(request, kernels_)) return nullptr;
    Result<ChosenConv> made = make_conv(request, kernels_);
    return made ? std::move(made->kernel) : nullptr;
  }

  static Given run(ConvKernel& kernel, const ThreadCase& test, Type type, bool pool) {
    const int oh = (test.h + 2 * test.pad - 2) / (pool ? 2 : 1),
              ow = (test.w + 2 * test.pad - 2) / (pool ? 2 : 1);
    std::mt19937 random(11);
    const auto values = [&](size_t n) {
      std::normal_distribution<float> normal;
      std::vector<std::byte> out(n * size_of(type));
      for (size_t i = 0; i < n; ++i) {
        const float v = normal(random);
        const bf16 h = to_bf16(v);
        std::memcpy(out.data() + i * size_of(type), type == Type::Bf16 ? static_cast<const void*>(&h) : &v,
                    size_of(type));
      }
      return out;
    };
    const size_t inputs = size_t(test.n) * test.h * test.w * test.c,
                 outputs = size_t(test.n) * oh * ow * test.oc;
    const std::vector<std::byte> x = values(inputs), dy = values(outputs);
    std::vector<float> w(size_t(test.oc) * test.c * 9), bias(test.oc);
    for (float& v : w) v = std::normal_distribution<float>()(random);
    Given given{std::vector<std::byte>(dy.size()), values(inputs), std::vector<double>(2 * test.oc),
                std::vector<float>(w.size()), std::vector<float>(test.oc)};
    kernel.set_weights(w.data(), true);
    kernel.forward(test.n, x.data(), bias.data(), given.y.data(), given.sums.data());
    kernel.backward_weights(test.n, x.data(), dy.data(), given.dw.data(), given.dbias.data());
    kernel.backward_data(test.n, dy.data(), given.dx.data(), kernel.adds());
    return given;
  }

  template <class F>
  void for_cases(F&& f) const {
    for (const ThreadCase& test : kThreadCases)
      for (const Type type : {Type::F32, Type::Bf16})
        for (const bool pool : {false, true}) {
          SCOPED_TRACE(testing::Message() << test.what << (type == Type::Bf16 ? ", bf16" : ", fp32")
                                          << (pool ? ", pooled" : ""));
          f(test, type, pool);
        }
  }
};

// What does not sum over a batch.
TEST_P(SameBits, ForAnyNumberOfThreads) {
  for_cases([&](const ThreadCase& test, Type type, bool pool) {
    std::optional<Given> one;
    for (const int threads : {1, 2, 5}) {
      const auto kernel = make(test, type, threads, pool);
      // oneDNN and Eigen are given parts of the batch, and choose by their size.
      if (!kernel || !kernel->name().starts_with("own") || kernel->name().find("onednn") != std::string::npos)
        continue;
      const Given given = run(*kernel, test, type, pool);
      if (!one) one = given;
      EXPECT_EQ(one->y, given.y) << threads;
      EXPECT_EQ(one->dx, given.dx) << threads;
    }
  });
}

// More threads than cores, so that some fall behind and others do their strips.
TEST_P(SameBits, WhoeverDoesTheWork) {
  const int threads = 2 * usable_cores() + 1;
  for_cases([&](const ThreadCase& test, Type type, bool pool) {
    const auto kernel = make(test, type, threads, pool);
    if (!kernel) return;
    const Given first = run(*kernel, test, type, pool);
    for (int round = 0; round < 3; ++round) {
      const Given again = run(*kernel, test, type, pool);
      EXPECT_EQ(first.y, again.y);
      EXPECT_EQ(first.dx, again.dx);
      EXPECT_EQ(first.dw, again.dw);
      if (kernel->fuses_sums()) {
        EXPECT_EQ(first.sums, again.sums);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, SameBits,
                         testing::Values("auto", "direct", "winograd2", "winograd4", "emulated_amx_winograd2",
                                         "emulated_amx_winograd4"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace radl::engine
