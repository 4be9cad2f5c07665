// What a training step promises as a whole: no allocation, the same bits again, learning, whitening,
// elementwise kernels equal on all instruction sets.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <link.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>

#include "engine/kernels/cpu.h"
#include "engine/kernels/elementwise.h"
#include "engine/kernels/ref/activation.h"
#include "engine/model/graph.h"
#include "engine/optim/optimizer.h"

namespace {
std::atomic<size_t> allocations{0}, library_allocations{0};

// Where oneDNN's code lies: it makes a map of the arguments at every call, which nothing outside can change.
struct Range {
  uintptr_t begin = 0, end = 0;
} library;

int find_library(dl_phdr_info* info, size_t, void*) {
  if (!std::strstr(info->dlpi_name, "libdnnl")) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X)) continue;
    library.begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    library.end = library.begin + info->dlpi_phdr[i].p_memsz;
  }
  return 1;
}

void count(const void* caller) {
  const auto at = reinterpret_cast<uintptr_t>(caller);
  ++(at >= library.begin && at < library.end ? library_allocations : allocations);
}
}  // namespace

void* operator new(size_t size) {
  count(__builtin_return_address(0));
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  count(__builtin_return_address(0));
  return std::malloc(size);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace radl::engine {
namespace {

struct Data {
  std::vector<float> images;
  std::vector<int32_t> labels;
  explicit Data(int n, unsigned seed = 1) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (int i = 0; i < n; ++i) {
      labels.push_back(static_cast<int32_t>(random() % 10));
      for (int j = 0; j < 32 * 32 * 3; ++j)
        images.push_back(0.5f * normal(random) + (j % 30 / 3 == labels.back() ? 1.0f : 0.0f));
    }
  }
};

std::unique_ptr<Network> build(const std::string& model, BuildOptions options) {
  auto built = Network::build(model, {32, 32, 3}, 10, options);
  EXPECT_TRUE(built.ok()) << built.status().text();
  return built.ok() ? std::move(*built) : nullptr;
}

std::vector<float> train(Network& network, const Data& data, int steps, StepResult* last = nullptr) {
  auto optimizer = Optimizer::make({.name = "sgd", .nesterov = true, .weight_decay = 5e-4f, .threads = 2},
                                   network.parameter_layout());
  const Batch batch{data.images, data.labels, static_cast<int>(data.labels.size())};
  for (int i = 0; i < steps; ++i) {
    const StepResult result = network.forward_backward(batch);
    (*optimizer)->step(network.parameters(), network.gradients(), 0.05f);
    network.parameters_changed();
    if (last) *last = result;
  }
  return {network.parameters().begin(), network.parameters().end()};
}

// Steps of training and of prediction after the first.
size_t allocations_of_steps(const std::string& model, InputShape in, BuildOptions options) {
  auto network = Network::build(model, in, 10, options);
  EXPECT_TRUE(network.ok()) << model << ": " << network.status().text();
  if (!network.ok()) return 0;
  const std::vector<float> images(size_t(options.batch_size) * in.height * in.width * in.channels, 0.5f);
  const std::vector<int32_t> labels(options.batch_size, 3);
  const Batch batch{images, labels, options.batch_size};
  auto optimizer = Optimizer::make({.name = "sgd", .nesterov = true}, (*network)->parameter_layout());
  size_t before = 0;
  for (int i = 0; i < 3; ++i) {
    if (i == 1) before = allocations;
    (*network)->forward_backward(batch);
    (*optimizer)->step((*network)->parameters(), (*network)->gradients(), 0.05f);
    (*network)->parameters_changed();
    (*network)->evaluate(batch, {});
  }
  return allocations - before;
}

TEST(Step, AllocatesNothing) {
  dl_iterate_phdr(find_library, nullptr);
  for (const std::string& model : zoo_names())
    for (const Precision precision : {Precision::Fp32, Precision::Bf16}) {
      if (precision == Precision::Bf16 && !cpu().avx512_bf16) continue;
      const bool small = model.size() < 8 || model == "resnet20" || model == "fastcifar-s";
      if (cpu().avx512_bf16 && !small && precision == Precision::Fp32) continue;  // for time
      const int side = model.starts_with("inception") ? 96 : 32;
      EXPECT_EQ(
          allocations_of_steps(model, {side, side, 3},
                               {.batch_size = 2, .threads = 2, .precision = precision, .kernels = "auto"}),
          0u)
          << model;
    }
  if (!cpu().avx512) return;
  EXPECT_EQ(allocations_of_steps("resnet20", {32, 32, 3}, {.batch_size = 4, .threads = 2, .kernels = "own"}),
            0u);
}

TEST(Step, SameSeedAndThreadsGiveTheSameBits) {
  const Data data(6);
  const std::string model =
      "conv 16\nbatchnorm\nrelu\ndropout rate=0.2\nconv 32 stride=2\nbatchnorm\ngelu\nglobalavgpool\nlinear "
      "classes\n";
  for (const Precision precision : {Precision::Fp32, Precision::Bf16}) {
    const BuildOptions options{.batch_size = 6, .threads = 2, .precision = precision, .seed = 9};
    const std::vector<float> first = train(*build(model, options), data, 4),
                             second = train(*build(model, options), data, 4);
    EXPECT_EQ(first, second);
    BuildOptions other = options;
    other.seed = 10;
    EXPECT_NE(first, train(*build(model, other), data, 4));
  }
}

TEST(Step, LearnsItsBatch) {
  const Data data(16);
  for (const char* model : {"fastcifar-s", "lenet"}) {
    StepResult last;
    train(*build(model, {.batch_size = 16, .threads = 1, .precision = Precision::Bf16}), data, 60, &last);
    EXPECT_GE(last.correct, 14) << model << " loss " << last.loss;
  }
}

TEST(Step, ProfileCountsTheWorkOfAStep) {
  const auto network = build("resnet20", {.batch_size = 8, .threads = 1});
  const Data data(4);  // a smaller batch counts as what it is
  network->set_profiling(true);
  for (int i = 0; i < 2; ++i) network->forward_backward({data.images, data.labels, 4});
  double forward = 0, backward = 0, seconds = 0;
  for (const OperationTime& o : network->profile()) {
    forward += o.forward_flop, backward += o.backward_flop, seconds += o.forward_seconds + o.backward_seconds;
    if (o.name != "layer1.0.conv2") continue;
    const double tensor = 2 * 4 * 32 * 32 * 16 * sizeof(float);  // one tensor of both steps
    EXPECT_EQ(o.forward_bytes, 2 * tensor);
    EXPECT_EQ(o.backward_bytes, 3 * tensor);  // x, dy, dx
  }
  const double expected = 2 * 4 * network->graph().forward_flop();
  EXPECT_NEAR(forward, expected, 1e-3 * expected);
  // The first convolution has no gradient of the images to compute.
  EXPECT_LT(backward, 2 * expected);
  EXPECT_GT(backward, 1.9 * expected);
  EXPECT_GT(seconds, 0);
}

TEST(Step, MemoryIsSharedBetweenTensors) {
  const auto training = build("resnet20", {.batch_size = 64, .training = true});
  const auto inference = build("resnet20", {.batch_size = 64, .training = false});
  EXPECT_LT(inference->memory_bytes() * 3, training->memory_bytes());
}

TEST(Whitening, TrainsItsBiasAndNotItsWeights) {
  const std::string rest = "relu\nglobalavgpool\nlinear classes\n";
  for (const bool frozen : {false, true}) {
    const std::string first =
        fmt::format("a: conv 24 kernel=2 pad=valid whiten=yes{}\n", frozen ? " frozen=yes" : "");
    for (const char* kernels : {"auto", "ref"}) {
      const auto network =
          build("model m\n" + first + rest, {.batch_size = 16, .training = true, .kernels = kernels});
      const Data data(16);
      ASSERT_TRUE(network->whiten({data.images, data.labels, 16}).ok());
      network->forward_backward({data.images, data.labels, 16});
      const std::span<const float> gradients = network->gradients();
      for (const ParameterInfo& p : network->parameter_layout()) {
        const auto part = gradients.subspan(p.offset, p.size);
        const bool moves = std::any_of(part.begin(), part.end(), [](float g) { return g != 0; });
        EXPECT_EQ(moves, p.name != "a.weight" && !(frozen && p.name == "a.bias")) << p.name << ' ' << kernels;
      }
    }
  }
}

TEST(Whitening, MakesOutputsUncorrelated) {
  const auto network = build("fastcifar", {.batch_size = 64, .threads = 2});
  const Data data(64);
  ASSERT_TRUE(network->whiten({data.images, data.labels, 64}).ok());
  // First 12 filters: whitened patches. Their second moments over the images are the identity.
  const float* w = network->parameters().data();
  std::vector<double> moments(12 * 12);
  size_t count = 0;
  for (int b = 0; b < 64; ++b)
    for (int y = 0; y < 31; ++y)
      for (int x = 0; x < 31; ++x, ++count) {
        double out[12] = {};
        for (int f = 0; f < 12; ++f)
          for (int c = 0; c < 3; ++c)
            for (int ky = 0; ky < 2; ++ky)
              for (int kx = 0; kx < 2; ++kx)
                out[f] +=
                    w[(f * 3 + c) * 4 + ky * 2 + kx] * data.images[((b * 32 + y + ky) * 32 + x + kx) * 3 + c];
        for (int i = 0; i < 12; ++i)
          for (int j = 0; j < 12; ++j) moments[i * 12 + j] += out[i] * out[j];
      }
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j)
      EXPECT_NEAR(moments[i * 12 + j] / count, i == j ? 1 : 0, 0.02) << i << " " << j;
  EXPECT_EQ(network->whiten({data.images, data.labels, 5}).code(), Code::Invalid);
}

TEST(Elementwise, AllInstructionSetsAgree) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  constexpr int kRows = 70, kChannels = 37;
  std::vector<float> x(kRows * kChannels), scale(kChannels), shift(kChannels);
  for (float& v : x) v = 3 * normal(random);
  for (float& v : scale) v = normal(random);
  for (float& v : shift) v = normal(random);
  for (const Act act : {Act::None, Act::Relu, Act::LeakyRelu, Act::Gelu, Act::Silu, Act::Tanh, Act::Sigmoid,
                        Act::Elu, Act::HardSwish}) {
    std::vector<float> a(x.size()), b(x.size());
    const PointwiseArgs args{act, 0.1f, kChannels, scale.data(), shift.data()};
    elementwise(Type::F32, true).pointwise(args, kRows, x.data(), nullptr, a.data());
    elementwise(Type::F32, false).pointwise(args, kRows, x.data(), nullptr, b.data());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-5) << act_name(act) << " of " << x[i];
  }
  // Without numbers for each channel: the same values as a row of its own for each element.
  for (const bool best : {true, false}) {
    const ElementwiseKernels& kernels = elementwise(Type::F32, best);
    const PointwiseArgs rows{Act::Gelu, 0, kChannels, nullptr, nullptr},
        single{Act::Gelu, 0, 1, nullptr, nullptr};
    std::vector<float> a(x.size()), b(x.size()), da(x.size()), db(x.size());
    kernels.pointwise(rows, kRows, x.data(), nullptr, a.data());
    kernels.pointwise(single, x.size(), x.data(), nullptr, b.data());
    EXPECT_EQ(a, b);
    PointwiseGradient to_a, to_b;
    to_a.dx = da.data(), to_b.dx = db.data();
    kernels.pointwise_backward(rows, to_a, kRows, x.data(), nullptr, a.data());
    kernels.pointwise_backward(single, to_b, x.size(), x.data(), nullptr, a.data());
    EXPECT_EQ(da, db);
  }
  // The sums of a backward pass, leaving what they summed up.
  std::vector<float> dz(x.size()), d(x.size()), other(x.size()), sums(4 * kChannels), mean(kChannels, 0.5f);
  for (float& v : dz) v = normal(random);
  const PointwiseArgs relu{Act::Relu, 0, kChannels, scale.data(), shift.data()};
  for (const bool best : {true, false}) {
    float* to = sums.data() + (best ? 0 : 2 * kChannels);
    elementwise(Type::F32, best)
        .pointwise_sums(relu, kRows, x.data(), nullptr, dz.data(), mean.data(), to, to + kChannels,
                        best ? d.data() : other.data());
  }
  EXPECT_EQ(d, other);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t c = i % kChannels;
    const float before = x[i] * scale[c] + shift[c];
    if (std::abs(before) > 1e-5f) {
      ASSERT_EQ(d[i], before > 0 ? dz[i] : 0.0f) << i;
    }
  }
  for (int i = 0; i < 2 * kChannels; ++i) EXPECT_NEAR(sums[i], sums[2 * kChannels + i], 1e-4f) << i;
  // Rounding to bf16 is to nearest even everywhere.
  std::vector<uint16_t> a(x.size()), b(x.size());
  elementwise(Type::Bf16, true).from_float(x.data(), a.data(), x.size());
  elementwise(Type::Bf16, false).from_float(x.data(), b.data(), x.size());
  EXPECT_EQ(a, b);
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(a[i], to_bf16(x[i]).bits);
}

// GELU of bf16 values is a polynomial: beyond the result's own rounding it may be off by a few parts in
// 10,000.
TEST(Elementwise, GeluOfBf16IsThatOfItsDefinition) {
  std::vector<bf16> x, z, dz, dx;
  for (float v = -12; v <= 12; v += 1 / 64.0f) x.push_back(to_bf16(v));
  for (const float v : {-3e38f, -40.0f, 40.0f, 3e38f}) x.push_back(to_bf16(v));
  z.resize(x.size()), dx.resize(x.size()), dz.assign(x.size(), to_bf16(1));
  for (const bool best : {true, false}) {
    const ElementwiseKernels& kernels = elementwise(Type::Bf16, best);
    const PointwiseArgs gelu{Act::Gelu, 0, 1, nullptr, nullptr};
    kernels.pointwise(gelu, x.size(), x.data(), nullptr, z.data());
    PointwiseGradient to;
    to.dx = dx.data();
    kernels.pointwise_backward(gelu, to, x.size(), x.data(), nullptr, dz.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const double at = to_float(x[i]), value = ref::activate(Act::Gelu, at, 0.0),
                   slope = ref::activation_gradient(Act::Gelu, at, 0.0);
      // Far below zero the constant tail is 6e-7 of the argument at most.
      ASSERT_NEAR(to_float(z[i]), value, 2e-4 + std::abs(value) / 256 + std::abs(at) * 1e-6) << at;
      ASSERT_NEAR(to_float(dx[i]), slope, 4e-4 + std::abs(slope) / 256) << at;
    }
  }
}

}  // namespace
}  // namespace radl::engine
