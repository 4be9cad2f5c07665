// Every convolution kernel against plain loops in fp64, over geometries that reach their corners.
#include "engine/kernels/conv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "amx_trap.h"
#include "engine/kernels/cpu.h"
#include "engine/kernels/own/amx_emulation.h"
#include "engine/kernels/own/conv.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/ref/conv.h"

namespace radl::engine {
namespace {

struct Case {
  const char* what;
  ConvGeometry g;
};

ConvGeometry geometry(int n, int h, int w, int c, int oc, int k, int stride, int pad, int dilation = 1,
                      int groups = 1) {
  ConvGeometry g{n, h, w, c, 0, 0, oc, k, k, stride, stride, pad, pad, pad, pad, dilation, dilation, groups};
  g.oh = (h + 2 * pad - (k - 1) * dilation - 1) / stride + 1;
  g.ow = (w + 2 * pad - (k - 1) * dilation - 1) / stride + 1;
  return g;
}

ConvGeometry uneven() {
  ConvGeometry g = geometry(2, 9, 11, 8, 24, 2, 1, 0);
  g.pb = g.pr = 1, g.oh = 9, g.ow = 11;
  return g;
}

ConvGeometry flat(int kh, int kw) {
  ConvGeometry g{2, 9, 13, 16, 9, 13, 32, kh, kw};
  g.pt = g.pb = (kh - 1) / 2, g.pl = g.pr = (kw - 1) / 2;
  return g;
}

const Case kCases[] = {
    {"resnet stage 1", geometry(3, 32, 32, 16, 16, 3, 1, 1)},
    {"resnet stage 2", geometry(3, 16, 16, 32, 32, 3, 1, 1)},
    {"resnet stage 3", geometry(3, 8, 8, 64, 64, 3, 1, 1)},
    {"first layer", geometry(2, 32, 32, 3, 16, 3, 1, 1)},
    {"strided 3x3", geometry(2, 16, 16, 16, 32, 3, 2, 1)},
    {"strided 1x1", geometry(2, 16, 16, 16, 32, 1, 2, 0)},
    {"strided 7x7", geometry(1, 31, 29, 3, 64, 7, 2, 3)},
    {"2x2 without padding", geometry(2, 32, 32, 3, 24, 2, 1, 0)},
    {"2x2, padding after", uneven()},
    {"odd images, padded channels", geometry(3, 7, 9, 24, 40, 3, 1, 1)},
    {"3x3 without padding", geometry(2, 9, 10, 32, 16, 3, 1, 0)},
    {"3x3 padded by two", geometry(2, 6, 5, 16, 48, 3, 1, 2)},
    {"wide image", geometry(1, 6, 150, 16, 32, 3, 1, 1)},
    {"1x7", flat(1, 7)},
    {"7x1", flat(7, 1)},
    {"5x5, odd channels", geometry(2, 14, 14, 6, 17, 5, 1, 0)},
    {"channels a page apart", geometry(16, 16, 16, 6, 16, 5, 1, 0)},
    {"dilated", geometry(2, 12, 12, 16, 16, 3, 1, 2, 2)},
    {"dilated and strided", geometry(2, 13, 13, 16, 16, 3, 2, 2, 2)},
    {"one position", geometry(5, 1, 1, 37, 10, 1, 1, 0)},
    {"4x4 images", geometry(21, 4, 4, 32, 64, 3, 1, 1)},
    {"trimmed tiles, an odd number of images", geometry(19, 7, 7, 64, 32, 3, 1, 1)},
    {"trimmed tiles, several strips", geometry(10, 15, 15, 24, 48, 3, 1, 1)},
    {"low tiles alone", geometry(5, 11, 16, 16, 24, 3, 1, 1)},
    {"narrow tiles alone", geometry(5, 16, 7, 24, 16, 3, 1, 1)},
    {"low and narrow without padding", geometry(3, 9, 13, 16, 32, 3, 1, 0)},
    {"3x3 images, 48 filters", geometry(3, 3, 3, 40, 48, 3, 1, 1)},
    {"large image", geometry(1, 120, 121, 8, 20, 3, 1, 1)},
    {"large image strided", geometry(1, 121, 150, 24, 16, 3, 2, 0)},
    {"1x1 many positions", geometry(3, 23, 19, 20, 12, 1, 1, 0)},
    {"groups", geometry(2, 8, 8, 16, 32, 3, 1, 1, 1, 4)},
    {"depthwise", geometry(2, 8, 8, 16, 16, 3, 2, 1, 1, 16)},
};

class Data {
 public:
  Data(const ConvGeometry& g, Type type, unsigned seed) : type_(type), random_(seed) {
    x = values(size_t(g.n) * g.h * g.w * g.c);
    w = values(size_t(g.oc) * (g.c / g.groups) * g.kh * g.kw);
    dy = values(size_t(g.n) * g.oh * g.ow * g.oc);
    bias = values(g.oc);
    dx = values(x.size());
  }
  std::vector<float> x, w, dy, bias, dx;

  // In the kernel's type.
  std::vector<std::byte> typed(const std::vector<float>& v) const {
    std::vector<std::byte> out(v.size() * size_of(type_));
    for (size_t i = 0; i < v.size(); ++i) {
      const bf16 h = to_bf16(v[i]);
      if (type_ == Type::Bf16)
        std::memcpy(&out[2 * i], &h, 2);
      else
        std::memcpy(&out[4 * i], &v[i], 4);
    }
    return out;
  }
  std::vector<double> doubles(const std::vector<std::byte>& v) const {
    std::vector<double> out(v.size() / size_of(type_));
    for (size_t i = 0; i < out.size(); ++i) {
      bf16 h;
      float f;
      if (type_ == Type::Bf16)
        std::memcpy(&h, &v[2 * i], 2), out[i] = to_float(h);
      else
        std::memcpy(&f, &v[4 * i], 4), out[i] = f;
    }
    return out;
  }

 private:
  // Numbers that bf16 holds exactly, so that only sums and the result are rounded.
  std::vector<float> values(size_t n) {
    std::vector<float> v(n);
    std::normal_distribution<float> normal;
    for (float& f : v) f = to_float(to_bf16(normal(random_)));
    return v;
  }
  Type type_;
  std::mt19937 random_;
};

std::vector<double> widen(const std::vector<float>& v) { return {v.begin(), v.end()}; }

// Relative to the largest value: bf16 results are rounded to 8 bits, fp32 sums to about 1e-6.
void expect_near(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double scale = 0;
  for (double v : want) scale = std::max(scale, std::abs(v));
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance * scale) << what << " at " << i << " of " << got.size();
}

// What plain loops in fp64 make of a case's first n images. The numbers do not depend on a kernel's type.
struct Expected {
  std::vector<double> y, sums, dx, dw, dbias;
};

Expected by_plain_loops(const Data& data, const ConvGeometry& g, int n) {
  const size_t out = size_t(n) * g.oh * g.ow * g.oc, in = size_t(n) * g.h * g.w * g.c;
  const std::vector<double> x(data.x.begin(), data.x.begin() + in),
      w = widen(data.w), dy(data.dy.begin(), data.dy.begin() + out);
  Expected e{std::vector<double>(out), std::vector<double>(2 * g.oc), std::vector<double>(in),
             std::vector<double>(w.size()), std::vector<double>(g.oc)};
  ref::conv_forward<double>(g, n, x.data(), w.data(), widen(data.bias).data(), e.y.data());
  for (size_t i = 0; i < out; ++i) e.sums[i % g.oc] += e.y[i], e.sums[g.oc + i % g.oc] += e.y[i] * e.y[i];
  ref::conv_backward_data<double>(g, n, dy.data(), w.data(), e.dx.data());
  ref::conv_backward_weights<double>(g, n, x.data(), dy.data(), e.dw.data(), e.dbias.data());
  return e;
}

// Made once for all kernels: most of the time of these tests was in it.
const Expected& expected(const Case& test, const Data& data, int n) {
  static std::map<std::pair<std::string, int>, Expected> made;
  auto [found, is_new] = made.try_emplace({test.what, n});
  if (is_new) found->second = by_plain_loops(data, test.g, n);
  return found->second;
}

void compare(const Case& test, Type type, ConvKernel& kernel, int threads) {
  const ConvGeometry& g = test.g;
  const std::string what =
      std::string(test.what) + ", " + kernel.name() + ", threads " + std::to_string(threads);
  const Data data(g, type, 7);
  // Of the largest value. oneDNN rounds before a bias or an older gradient is added, Winograd before it
  // multiplies.
  const double inside = kernel.inner_rounding();
  const double typed = std::max((type == Type::Bf16 ? 4e-3 : 2e-6) *
                                    (kernel.name().find("onednn") != std::string::npos ? 2 : 1),
                                inside),
               sums = std::max(inside, 1e-5) + 2e-6 * std::sqrt(double(g.n) * g.oh * g.ow);
  // The second round runs a smaller batch through memory that the first one used.
  for (int n : {g.n, std::max(1, g.n - 1)}) {
    const Expected& want = expected(test, data, n);
    const size_t out = want.y.size(), in = want.dx.size();
    const std::vector<float> x(data.x.begin(), data.x.begin() + in),
        dy(data.dy.begin(), data.dy.begin() + out);
    kernel.set_weights(data.w.data(), true);

    std::vector<double> got_sums(2 * g.oc);
    std::vector<std::byte> y(out * size_of(type));
    const std::vector<std::byte> typed_x = data.typed(x), typed_dy = data.typed(dy);
    kernel.forward(n, typed_x.data(), data.bias.data(), y.data(), got_sums.data());
    expect_near(data.doubles(y), want.y, typed, what + " forward");
    if (kernel.fuses_sums()) expect_near(got_sums, want.sums, std::max(inside / 4, 1e-5), what + " sums");

    for (bool add : {false, true}) {
      if (add && !kernel.adds()) continue;
      const std::vector<float> before(data.dx.begin(), data.dx.begin() + in);
      std::vector<double> dx = want.dx;
      for (size_t i = 0; add && i < in; ++i) dx[i] += before[i];
      std::vector<std::byte> got = data.typed(before);
      kernel.backward_data(n, typed_dy.data(), got.data(), add);
      expect_near(data.doubles(got), dx, typed, what + (add ? " backward data, added" : " backward data"));
    }

    std::vector<float> got_dw(want.dw.size()), got_dbias(g.oc);
    kernel.backward_weights(n, typed_x.data(), typed_dy.data(), got_dw.data(), got_dbias.data());
    expect_near(widen(got_dw), want.dw, sums, what + " backward weights");
    expect_near(widen(got_dbias), want.dbias, sums, what + " bias");
  }
}

// Repeats the kernels' documented support (docs/engine.md), so that a kernel that no longer accepts a shape
// fails the test.
bool takes(const std::string& kernels, const ConvGeometry& g, Type type) {
  const bool bf16 = type == Type::Bf16, plain = g.dh == 1 && g.dw == 1 && g.groups == 1;
  if (kernels == "onednn") return !bf16 || cpu().avx512;
  if (kernels == "direct")
    return (bf16 ? cpu().avx512_bf16 : cpu().avx512) && g.groups == 1 && g.sh <= 2 && g.sw <= 2;
  if (kernels.starts_with("winograd")) {
    const bool processor = bf16 ? cpu().avx512_bf16 : cpu().avx2 && kernels == "winograd4";
    return processor && g.kh == 3 && g.kw == 3 && g.sh == 1 && g.sw == 1 && plain &&
           std::max(g.pt, g.pl) <= 2 && std::min(g.c, g.oc) >= 16;
  }
  return true;
}

// Compares all passes, or expects Unsupported where the kernels do not take the shape; true: compared.
bool check(const Case& test, Type type, const std::string& kernels, int threads) {
  const ConvRequest request{test.g, type, threads, true, true, std::make_shared<Workspace>(threads)};
  Result<ChosenConv> made = make_conv(request, kernels);
  const bool taken = takes(kernels, test.g, type);
  EXPECT_EQ(made.ok(), taken) << test.what << ", " << kernels << ": " << made.status().text();
  if (!made) {
    EXPECT_EQ(made.status().code(), Code::Unsupported) << test.what;
    return false;
  }
  compare(test, type, *made->kernel, threads);
  return true;
}

// "emulated_amx_winograd4" is winograd4 with emulated tile registers, "dots_" by bf16 dot products of
// AVX-512.
class ConvKernels : public testing::TestWithParam<const char*> {
 protected:
  std::string kernels_ = GetParam();
  std::optional<ScopedWinogradProducts> products_;

  void SetUp() override {
    constexpr std::pair<std::string_view, WinogradProducts> kForced[] = {
        {"emulated_amx_", WinogradProducts::AmxEmulated},
        {"dots_", WinogradProducts::Avx512},
        {"fp32_products_", WinogradProducts::Avx512Fp32}};
    for (const auto& [prefix, products] : kForced) {
      if (!kernels_.starts_with(prefix)) continue;
      if (!cpu().avx512_bf16) GTEST_SKIP() << "the transforms need avx512_bf16";
      kernels_ = kernels_.substr(prefix.size());
      products_.emplace(products);
    }
  }
};

class ConvKernelsInFp32 : public ConvKernels {};
class ConvKernelsInBf16 : public ConvKernels {};

TEST_P(ConvKernelsInFp32, MatchPlainLoops) {
  if ((kernels_ == "direct" && !cpu().avx512) || (kernels_ == "winograd4" && !cpu().avx2))
    GTEST_SKIP() << "this processor has no such kernels";
  int compared = 0;
  for (const Case& test : kCases) compared += check(test, Type::F32, kernels_, 2);
  EXPECT_GT(compared, 0);
}

TEST_P(ConvKernelsInBf16, MatchPlainLoops) {
  const bool own = kernels_ == "direct" || kernels_.starts_with("winograd");
  if ((own && !cpu().avx512_bf16) || (kernels_ == "onednn" && !cpu().avx512))
    GTEST_SKIP() << "this processor has no such kernels";
  int threads = 1, compared = 0;
  for (const Case& test : kCases) compared += check(test, Type::Bf16, kernels_, threads = 3 - threads);
  EXPECT_GT(compared, 0);
}

std::string name_of(const testing::TestParamInfo<const char*>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(All, ConvKernelsInFp32,
                         testing::Values("eigen", "onednn", "direct", "winograd4", "auto"), name_of);
INSTANTIATE_TEST_SUITE_P(All, ConvKernelsInBf16,
                         testing::Values("eigen", "onednn", "direct", "winograd2", "winograd4", "auto",
                                         "emulated_amx_winograd2", "emulated_amx_winograd4",
                                         "emulated_amx_auto", "dots_winograd2", "dots_winograd4",
                                         "fp32_products_winograd4", "fp32_products_accurate"),
                         name_of);

// Tiles of 2x2 are bf16 only, whatever the shape.
TEST(ConvKernels, SmallTilesRefuseFp32) {
  for (const Case& test : kCases) EXPECT_FALSE(check(test, Type::F32, "winograd2", 1));
}

// The gradient of the weights in three rounds, each by a kernel of its own.
void expect_same_bits(const ConvGeometry& g, Type type, const std::string& kernels) {
  const Data data(g, type, 3);
  const std::vector<std::byte> x = data.typed(data.x), dy = data.typed(data.dy);
  std::vector<float> first;
  for (int round = 0; round < 3; ++round) {
    Result<ChosenConv> made = make_conv({g, type, 2, true, true, std::make_shared<Workspace>(2)}, kernels);
    ASSERT_TRUE(made.ok()) << made.status().text();
    std::vector<float> dw(data.w.size());
    made->kernel->set_weights(data.w.data(), true);
    made->kernel->backward_weights(g.n, x.data(), dy.data(), dw.data(), nullptr);
    if (round == 0) first = dw;
    EXPECT_EQ(first, dw) << made->kernel->name();
  }
}

// What of tile products nothing else reaches: channels in an odd number of blocks or in part of one, groups
// of tiles with one register's rows or two, pairs in several chunks, sums of each thread and of all together.
const Case kTileCases[] = {
    {"one block", geometry(2, 12, 12, 16, 16, 3, 1, 1)},
    {"three blocks to one", geometry(3, 9, 13, 48, 16, 3, 1, 1)},
    {"part of a fifth block", geometry(3, 8, 8, 72, 40, 3, 1, 1)},
    {"one tile an image", geometry(37, 4, 4, 32, 64, 3, 1, 1)},
    {"sums of all threads together", geometry(9, 4, 4, 96, 80, 3, 1, 1)},
    {"many strips of those", geometry(130, 2, 2, 112, 80, 3, 1, 1)},
};

TEST(TileProducts, MatchPlainLoopsEmulated) {
  if (!cpu().avx512_bf16) GTEST_SKIP() << "the transforms need avx512_bf16";
  const ScopedWinogradProducts products(WinogradProducts::AmxEmulated);
  for (const Case& test : kTileCases)
    for (const char* kernels : {"winograd2", "winograd4"})
      for (const int threads : {1, 2}) EXPECT_TRUE(check(test, Type::Bf16, kernels, threads));
  // Whoever multiplied has given its registers back.
  run_on_threads(
      2, [](void*, int) { EXPECT_FALSE(own::AmxEmulation::configured()); }, nullptr);
}

// The compiled instructions: by the processor, or by the trap where it has none.
TEST(TileProducts, MatchPlainLoops) {
  if (!cpu().avx512_bf16) GTEST_SKIP() << "the transforms need avx512_bf16";
  const AmxTrap trap;
  const ScopedWinogradProducts products(WinogradProducts::Amx);
  for (const Case& test : kTileCases)
    for (const char* kernels : {"winograd2", "winograd4"}) EXPECT_TRUE(check(test, Type::Bf16, kernels, 2));
  if (!cpu().amx_bf16) {
    EXPECT_GT(AmxTrap::count(), 10000);
  }
  run_on_threads(
      2, [](void*, int) { EXPECT_FALSE(own::AmxEmulation::configured()); }, nullptr);
}

std::string chosen_name(const ConvGeometry& g, const std::string& kernels) {
  Result<ChosenConv> made =
      make_conv({g, Type::Bf16, 1, true, true, std::make_shared<Workspace>(1)}, kernels);
  return made ? made->kernel->name() : made.status().text();
}

TEST(TileProducts, AreChosenWhereTheyAreFaster) {
  if (!cpu().avx512_bf16) GTEST_SKIP() << "the transforms need avx512_bf16";
  const ScopedWinogradProducts products(WinogradProducts::AmxEmulated);
  const std::string four = "own winograd F(4x4) amx_bf16 (emulated)",
                    two = "own winograd F(2x2) amx_bf16 (emulated)";
  const std::string narrow = chosen_name(geometry(1, 16, 16, 32, 32, 3, 1, 1), "auto");
  EXPECT_TRUE(narrow.starts_with("onednn") && narrow.ends_with(", weights " + four)) << narrow;
  EXPECT_EQ(narrow.find(", data own"), std::string::npos) << narrow;
  const std::string wide = chosen_name(geometry(1, 16, 16, 128, 128, 3, 1, 1), "auto");
  EXPECT_TRUE(wide.starts_with("onednn") && wide.ends_with(", data " + four + ", weights " + four)) << wide;
  EXPECT_TRUE(chosen_name(geometry(1, 15, 15, 64, 64, 3, 1, 1), "auto").ends_with("weights " + two));
  EXPECT_TRUE(chosen_name(geometry(1, 16, 16, 128, 128, 3, 1, 1), "accurate").ends_with("weights " + two));
  EXPECT_EQ(chosen_name(geometry(1, 4, 4, 512, 512, 3, 1, 1), "auto"), four);
  EXPECT_TRUE(chosen_name(geometry(1, 4, 4, 512, 528, 3, 1, 1), "auto").starts_with("onednn"));
  EXPECT_TRUE(chosen_name(geometry(1, 16, 16, 64, 64, 1, 1, 0), "auto").starts_with("onednn"));
  EXPECT_TRUE(chosen_name(geometry(1, 16, 16, 64, 64, 3, 2, 1), "auto").starts_with("onednn"));
}

TEST(ConvKernels, Fp32TakesWinogradForTheUsual3x3) {
  if (!cpu().avx2) GTEST_SKIP() << "winograd kernels in fp32 need avx2";
  const auto name = [](const ConvGeometry& g, const char* kernels) {
    return make_conv({g, Type::F32, 1, true, true, std::make_shared<Workspace>(1)}, kernels)->kernel->name();
  };
  const std::string four = cpu().avx512 ? "own winograd F(4x4) avx512 fp32" : "own winograd F(4x4) avx2 fp32";
  EXPECT_EQ(name(geometry(1, 3, 3, 256, 256, 3, 1, 1), "auto"), four);
  EXPECT_EQ(name(geometry(1, 32, 32, 16, 16, 3, 1, 1), "own"), four);
  EXPECT_TRUE(name(geometry(1, 32, 32, 16, 16, 3, 1, 1), "accurate").starts_with("onednn"));
  EXPECT_FALSE(name(geometry(1, 2, 2, 64, 64, 3, 1, 1), "auto").starts_with("own winograd"));
}

TEST(ConvKernels, OddBlocksOfChannelsInFp32) {
  for (const Case& test : kTileCases)
    for (const int threads : {1, 2}) EXPECT_EQ(check(test, Type::F32, "winograd4", threads), cpu().avx2);
}

// A value that is not a number makes everything that is computed from it one too.
TEST(ConvKernels, NansAreNotLost) {
  const ConvGeometry g = geometry(2, 9, 7, 24, 40, 3, 1, 1);
  for (const char* kernels : {"eigen", "onednn", "direct", "winograd2", "winograd4", "auto"})
    for (const Type type : {Type::F32, Type::Bf16}) {
      Result<ChosenConv> made = make_conv({g, type, 2, true, true, std::make_shared<Workspace>(2)}, kernels);
      ASSERT_EQ(made.ok(), takes(kernels, g, type)) << kernels;
      if (!made) continue;
      ConvKernel& kernel = *made->kernel;
      Data data(g, type, 5);
      const int row = 8, column = 6, channel = 23, filter = 39;
      data.x[((size_t(g.h) + row) * g.w + column) * g.c + channel] = NAN;
      data.dy[((size_t(g.oh) + row) * g.ow + column) * g.oc + filter] = NAN;
      const auto x = data.typed(data.x), dy = data.typed(data.dy);
      kernel.set_weights(data.w.data(), true);
      std::vector<std::byte> y(dy.size()), dx(x.size());
      kernel.forward(g.n, x.data(), data.bias.data(), y.data(), nullptr);
      kernel.backward_data(g.n, dy.data(), dx.data(), false);
      const auto outputs = data.doubles(y), inputs = data.doubles(dx);
      for (int r = row - 1; r <= row; ++r)
        for (int c = column - 1; c <= column; ++c) {
          const size_t at = (size_t(g.h) + r) * g.w + c;
          for (int o = 0; o < g.oc; ++o) ASSERT_TRUE(std::isnan(outputs[at * g.oc + o])) << kernel.name();
          for (int i = 0; i < g.c; ++i) ASSERT_TRUE(std::isnan(inputs[at * g.c + i])) << kernel.name();
        }
      std::vector<float> dw(data.w.size()), dbias(g.oc);
      kernel.backward_weights(g.n, x.data(), dy.data(), dw.data(), dbias.data());
      for (int o = 0; o < g.oc; ++o)
        EXPECT_TRUE(std::isnan(dw[(size_t(o) * g.c + channel) * 9 + 4])) << kernel.name() << " " << o;
      for (int i = 0; i < g.c; ++i)
        EXPECT_TRUE(std::isnan(dw[(size_t(filter) * g.c + i) * 9 + 4])) << kernel.name() << " " << i;
      EXPECT_TRUE(std::isnan(dbias[filter])) << kernel.name();
    }
}

TEST(ConvKernels, SameThreadsGiveTheSameBits) {
  for (const char* kernels : {"auto", "direct", "winograd2", "winograd4"})
    for (const Type type : {Type::F32, Type::Bf16})
      for (const ConvGeometry& g : {geometry(6, 16, 16, 32, 48, 3, 1, 1),
                                    geometry(9, 4, 4, 96, 80, 3, 1, 1)})  // sums of all threads together
        if (takes(kernels, g, type)) expect_same_bits(g, type, kernels);
}

}  // namespace
}  // namespace radl::engine
