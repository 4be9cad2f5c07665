// A NaN is never hidden: training's guard sees it in the loss, and no result is made of such weights. By
// every instruction set (the ctest entries limit RADL_MAX_ISA), layer and type.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "engine/kernels/cpu.h"
#include "engine/kernels/elementwise.h"
#include "engine/kernels/own/conv.h"
#include "engine/kernels/ref/activation.h"
#include "engine/model/graph.h"
#include "engine/model/network.h"

namespace radl::engine {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
constexpr Act kActs[] = {Act::None, Act::Relu,    Act::LeakyRelu, Act::Gelu,     Act::Silu,
                         Act::Tanh, Act::Sigmoid, Act::Elu,       Act::HardSwish};

// Values in a table's type.
class Values {
 public:
  Values(const ElementwiseKernels& kernels, Type type, const std::vector<float>& v)
      : kernels_(kernels), size_(v.size()), bytes_(v.size() * size_of(type)) {
    kernels.from_float(v.data(), bytes_.data(), v.size());
  }
  void* data() { return bytes_.data(); }
  std::vector<float> floats() const {
    std::vector<float> v(size_);
    kernels_.to_float(bytes_.data(), v.data(), size_);
    return v;
  }

 private:
  const ElementwiseKernels& kernels_;
  size_t size_;
  std::vector<std::byte> bytes_;
};

// Of both tables, in both types.
class NanInKernels : public testing::TestWithParam<std::tuple<Type, bool>> {
 protected:
  const Type type_ = std::get<0>(GetParam());
  const ElementwiseKernels& kernels_ = elementwise(type_, std::get<1>(GetParam()));
  Values values(const std::vector<float>& v) const { return {kernels_, type_, v}; }

  // Whole vectors and a part of one; `place` is the NaN's.
  template <class F>
  static void for_places(F&& f) {
    for (const size_t count : {size_t{16}, size_t{37}})
      for (size_t place = 0; place < count; place += 3) f(count, place);
  }
  static void expect_only(const std::vector<float>& v, size_t place, const std::string& what) {
    for (size_t i = 0; i < v.size(); ++i) ASSERT_EQ(std::isnan(v[i]), i == place) << what << " at " << i;
  }
};

TEST_P(NanInKernels, ConversionsKeepIt) {
  for_places([&](size_t count, size_t place) {
    std::vector<float> x(count, -1.5f);
    x[place] = kNan;
    expect_only(values(x).floats(), place, "conversion");
    x[place] = -std::bit_cast<float>(0x7f800001u);  // what a rounding up would turn into an infinity
    expect_only(values(x).floats(), place, "conversion of the smallest NaN");
  });
}

TEST_P(NanInKernels, ActivationsKeepItForwardAndBackward) {
  for (const Act act : kActs)
    for_places([&](size_t count, size_t place) {
      const std::string what = "act " + std::to_string(static_cast<int>(act));
      for (const float other : {-3.5f, -0.5f, 0.5f, 3.5f}) {
        std::vector<float> x(count, other);
        x[place] = kNan;
        Values in = values(x), out = values(x), ones = values(std::vector<float>(count, 1.0f)), dx = out,
               dr = out;
        const PointwiseArgs args{act, 0.1f, static_cast<int>(count)};
        kernels_.pointwise(args, 1, in.data(), nullptr, out.data());
        expect_only(out.floats(), place, what + " forward");
        PointwiseGradient g;
        g.dx = dx.data(), g.dr = dr.data();
        // The gradient that comes back is NaN there: behind a rectifier too.
        kernels_.pointwise_backward(args, g, 1, ones.data(), nullptr, in.data());
        expect_only(dx.floats(), place, what + " backward");
        expect_only(dr.floats(), place, what + " backward of the residual");
        // The value was NaN: PyTorch's rectifier passes the gradient on, the others make it NaN.
        kernels_.pointwise_backward(args, g, 1, in.data(), nullptr, ones.data());
        const float got = dx.floats()[place];
        if (act == Act::None || act == Act::Relu) {
          EXPECT_EQ(got, 1.0f) << what;
        } else if (act != Act::LeakyRelu) {
          EXPECT_TRUE(std::isnan(got)) << what << ": " << got;
        }
      }
    });
}

TEST_P(NanInKernels, BatchNormalisationKeepsIt) {
  constexpr size_t kRows = 5;
  for_places([&](size_t count, size_t place) {
    std::vector<float> x(kRows * count, 0.5f), sum(count), square(count), scale(count, 2.0f),
        shift(count, 1.0f);
    x[2 * count + place] = kNan;
    Values in = values(x), out = in, d = in, ones = values(std::vector<float>(x.size(), 1.0f));
    kernels_.channel_sums(in.data(), kRows, static_cast<int>(count), sum.data(), square.data());
    expect_only(sum, place, "sum");
    expect_only(square, place, "sum of squares");
    for (const Act act : kActs) {
      const PointwiseArgs args{act, 0.1f, static_cast<int>(count), scale.data(), shift.data()};
      kernels_.pointwise(args, kRows, in.data(), nullptr, out.data());
      expect_only(out.floats(), 2 * count + place, "scaled");
      std::vector<float> mean(count), to_beta(count), to_gamma(count);
      kernels_.pointwise_sums(args, kRows, ones.data(), nullptr, in.data(), mean.data(), to_beta.data(),
                              to_gamma.data(), d.data());
      expect_only(to_beta, place, "beta's gradient");
      expect_only(to_gamma, place, "gamma's gradient");
      expect_only(d.floats(), 2 * count + place, "gradient before the activation");
    }
  });
}

// 3x3 positions, padded by one: a window with the NaN gives it, and its gradient goes there.
TEST_P(NanInKernels, PoolingKeepsIt) {
  for (const int channels : {16, 21})
    for (int place = 0; place < 9; ++place) {
      std::vector<float> x(9 * channels, -kInf);  // and -inf is no reason to take the padding for the maximum
      for (int c = 0; c < channels; ++c) x[place * channels + c] = c % 2 ? kNan : -kInf;
      Values in = values(x), out = values(std::vector<float>(4 * channels)), dx = in;
      const PoolArgs args{3, 3, channels, 2, 2, 3, 3, 2, 2, 1, 1};
      std::vector<uint8_t> index(4 * channels);
      kernels_.max_pool(args, in.data(), out.data(), index.data());
      Values dy = values(std::vector<float>(4 * channels, 1.0f));
      kernels_.max_pool_backward(args, dy.data(), index.data(), dx.data(), false);
      const std::vector<float> y = out.floats(), to_x = dx.floats();
      for (int c = 0; c < channels; ++c) {
        int windows = 0;
        float back = 0;
        for (int w = 0; w < 4; ++w) {
          const bool inside = std::abs(place / 3 - w / 2 * 2) <= 1 && std::abs(place % 3 - w % 2 * 2) <= 1;
          windows += inside;
          if (c % 2) {
            EXPECT_EQ(std::isnan(y[w * channels + c]), inside) << place << " " << w;
          }
        }
        for (int i = 0; i < 9; ++i) back += to_x[i * channels + c];
        EXPECT_EQ(back, 4) << "the gradients of all windows arrive somewhere";
        if (c % 2) {
          EXPECT_EQ(to_x[place * channels + c], windows) << place;
        }
      }
      std::vector<int32_t> at(channels);
      kernels_.global_max(in.data(), 9, channels, out.data(), at.data());
      for (int c = 1; c < channels; c += 2) {
        EXPECT_TRUE(std::isnan(out.floats()[c]));
        EXPECT_EQ(at[c], place);
      }
      kernels_.global_mean(in.data(), 9, channels, out.data());
      EXPECT_TRUE(std::isnan(out.floats()[1]));
      kernels_.average_pool(args, in.data(), out.data());
      const std::vector<float> averages = out.floats();
      for (int w = 0; w < 4; ++w)
        EXPECT_EQ(std::isnan(averages[w * channels + 1]), std::isnan(y[w * channels + 1]))
            << place << " " << w;
    }
}

INSTANTIATE_TEST_SUITE_P(Tables, NanInKernels,
                         testing::Combine(testing::Values(Type::F32, Type::Bf16), testing::Bool()));

TEST(NanInReference, ActivationsKeepIt) {
  for (const Act act : kActs) {
    EXPECT_TRUE(std::isnan(ref::activate<double>(act, kNan, 0.1))) << static_cast<int>(act);
    EXPECT_NE(ref::activation_gradient<double>(act, kNan, 0.1), 0.0) << static_cast<int>(act);
  }
}

struct Model {
  std::string name, text;
  Shape input{16, 16, 3};
};

void PrintTo(const Model& m, std::ostream* out) { *out << m.name; }

// The batch normalisation is frozen, so that no statistics carry a NaN past the layer that is tested.
std::vector<Model> models() {
  std::vector<Model> all;
  const std::string head = "globalmaxpool\nlinear classes\n", conv = "conv 20\nbatchnorm frozen=yes\n";
  for (const char* act :
       {"identity", "relu", "leakyrelu", "gelu", "silu", "tanh", "sigmoid", "elu", "hardswish"}) {
    all.push_back({act, conv + act + "\nconv 24\n" + act + "\nmaxpool\n" + head});
    all.push_back({std::string("residual_") + act,
                   "conv 16\nsave s\nconv 16\nadd s\n" + std::string(act) + "\n" + head});
  }
  all.push_back({"batchnorm", "conv 16\nbatchnorm\nrelu\n" + head});
  all.push_back({"layernorm", "conv 16\nlayernorm\nrelu\n" + head});
  all.push_back({"groupnorm", "conv 16\ngroupnorm groups=4\nrelu\n" + head});
  all.push_back({"pooled_conv", "conv 32\nmaxpool\nrelu\nconv 32\nmaxpool\n" + head});
  all.push_back({"avgpool", "conv 16\nrelu\navgpool\ndropout\nglobalavgpool\nlinear classes\n"});
  all.push_back(
      {"concat", "conv 16\nsave s\nconv 16\nconcat s\nrelu\nflatten\nlinear 32\nrelu\nlinear classes\n"});
  all.push_back({"attention", "conv 16 stride=4\nposition\nattention heads=2\nrelu\n" + head});
  all.push_back({"zoo", "lenet", {32, 32, 3}});
  return all;
}

class NanInModels : public testing::TestWithParam<Model> {
 protected:
  // NaN in any weight or input reaches the loss and the logits.
  void check(const std::string& kernels, Precision precision) {
    const Model& m = GetParam();
    BuildOptions options{.batch_size = 4, .threads = 2, .precision = precision, .kernels = kernels};
    const auto built = Network::build(m.text, {m.input.h, m.input.w, m.input.c}, 3, options);
    ASSERT_TRUE(built.ok()) << built.status().text();
    Network& network = **built;
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> images(4 * m.input.size());
    for (float& x : images) x = normal(random);
    const std::vector<int32_t> labels{0, 1, 2, 1};
    const std::vector<float> statistics(network.statistics().begin(), network.statistics().end());
    const auto expect_nan = [&](const std::string& what) {
      std::copy(statistics.begin(), statistics.end(), network.statistics().begin());
      EXPECT_TRUE(std::isnan(network.forward_backward({images, labels, 4}).loss)) << what;
      bool reached = false;
      for (const float g : network.gradients()) reached = reached || std::isnan(g);
      EXPECT_TRUE(reached) << what << ": no gradient is NaN";
      std::copy(statistics.begin(), statistics.end(), network.statistics().begin());
      std::vector<float> logits(4 * 3);
      EXPECT_TRUE(std::isnan(network.evaluate({images, labels, 4}, logits).loss)) << what;
      EXPECT_TRUE(std::isnan(logits[0] + logits[1] + logits[2])) << what;
    };
    ASSERT_TRUE(std::isfinite(network.forward_backward({images, labels, 4}).loss));
    for (const ParameterInfo& p : network.parameter_layout()) {
      const size_t at = p.offset + p.size / 2;
      const float before = network.parameters()[at];
      network.parameters()[at] = kNan;
      network.parameters_changed();
      expect_nan(p.name);
      network.parameters()[at] = before;
      network.parameters_changed();
    }
    images[m.input.size() / 2] = kNan;
    expect_nan("the input");
  }
};

TEST_P(NanInModels, ReachesTheLossInFp32) { check("auto", Precision::Fp32); }
TEST_P(NanInModels, ReachesTheLossInBf16) { check("auto", Precision::Bf16); }
TEST_P(NanInModels, ReachesTheLossByTheReference) { check("ref", Precision::Fp32); }
TEST_P(NanInModels, ReachesTheLossWithTileProducts) {
  if (!cpu().avx512_bf16) GTEST_SKIP() << "the transforms need avx512_bf16";
  const ScopedWinogradProducts products(WinogradProducts::AmxEmulated);
  check("auto", Precision::Bf16);
}

INSTANTIATE_TEST_SUITE_P(Layers, NanInModels, testing::ValuesIn(models()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace radl::engine
