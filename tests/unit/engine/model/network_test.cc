// The planned network against the reference one in fp64: same loss, logits and gradients from the same
// weights.
#include "engine/model/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/kernels/cpu.h"
#include "engine/kernels/own/conv.h"
#include "engine/model/graph.h"
#include "engine/model/initialise.h"
#include "engine/model/reference_network.h"
#include "engine/tensor/buffer.h"

namespace radl::engine {
namespace {

struct Case {
  std::string name, model;
  Shape input;
  int classes, batch;
};

// Prints the name only.
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](std::string name, std::string model, Shape input = {8, 8, 5}, int batch = 6) {
    all.push_back({name, std::move(model), input, 7, batch});
  };
  const std::string head = "globalavgpool\nlinear classes\n", conv = "conv 18\n";
  add("linear", "linear classes\n");
  add("mlp", "linear 33 init=he\nrelu\nlinear 20\ntanh\nlinear classes\n");
  add("conv", "conv 16 kernel=3\n" + head);
  add("conv_strided", "conv 16 kernel=3 stride=2\nconv 32 kernel=1 stride=2\n" + head);
  add("conv_groups", "conv 12 groups=1\nconv 24 groups=4\nconv 24 groups=24\n" + head);
  add("conv_dilated", "conv 16 dilation=2\nconv 20 kernel=1x3\n" + head);
  add("conv_even", "conv 16 kernel=2 pad=same\nconv 16 kernel=2 pad=valid\n" + head);
  add("batchnorm", conv + "batchnorm\n" + head);
  add("batchnorm_plain", conv + "batchnorm scale=no shift=no momentum=0.4\nrelu\n" + head);
  add("batchnorm_twice", conv + "save a\nbatchnorm\nsave b\nbatchnorm from a\nrelu\nadd b\n" + head);
  add("batchnorm_between",
      conv + "batchnorm\n" + conv + "batchnorm\nrelu\n" + conv + "batchnorm\ngelu\n" + conv + head);
  add("batchnorm_residuals", conv + "batchnorm\nrelu\nsave s\n" + conv + "batchnorm\nadd s\nrelu\nsave t\n" +
                                 conv + "batchnorm\nadd t\nsave u\n" + conv + "batchnorm\nadd u\nrelu\n" +
                                 head);
  add("layernorm", conv + "layernorm\n" + head);
  add("layernorm_first", "layernorm\n" + conv + head);
  add("groupnorm", conv + "groupnorm groups=3\nrelu\n" + head);
  for (const char* act :
       {"relu", "leakyrelu", "gelu", "silu", "tanh", "sigmoid", "elu", "hardswish", "identity"})
    add(std::string("act_") + act, conv + "batchnorm\n" + act + "\nconv 9\n" + act + "\n" + head);
  add("residual", conv + "save s\nconv 18\nbatchnorm\nadd s\nrelu\nconv 18\nbatchnorm\nadd s\n" + head);
  add("add_same", conv + "save s\nadd s\nrelu\n" + head);
  add("add_three", conv + "save a\nconv 18\nsave b\nconv 18\nadd a b\n" + head);
  add("concat", conv + "save a\nconv 7 from a\nsave b\nconv 16 from a\nconcat b a\nbatchnorm\nrelu\n" + head);
  add("maxpool", conv + "maxpool kernel=2\n" + head);
  add("maxpool_overlapping", conv + "maxpool kernel=3 stride=2 pad=1\n" + head);
  add("avgpool", conv + "avgpool kernel=3 stride=2 pad=1\navgpool kernel=2\n" + head);
  add("globalmaxpool", conv + "save a\nglobalmaxpool\nsave m\nglobalavgpool from a\nadd m\nlinear classes\n");
  add("dropout", conv + "dropout rate=0.3\nrelu\n" + head);
  add("flatten", conv + "flatten\nrelu\nlinear classes\n");
  add("flatten_linear", conv + "flatten\nlinear 9\nsilu\nlinear classes\nscale factor=0.25\n");
  add("attention", "conv 12 kernel=1\nposition\nsave s\nlayernorm\nattention heads=3\nadd s\n" + head,
      {4, 3, 5});
  add("attention_causal", "conv 8 kernel=1\nattention heads=2 causal=yes\n" + head, {3, 3, 5});
  add("tokens",
      "embedding 12 vocabulary=11\nposition\nattention heads=2\nlinear 20 per_token=yes\ngelu\n" + head,
      {1, 9, 1});
  add("frozen", "conv 16 frozen=yes\ngelu\nconv 16\nbatchnorm frozen=yes\nrelu\n" + head);
  add("frozen_batchnorm", "batchnorm frozen=yes\n" + conv + "batchnorm frozen=yes\nleakyrelu\n" + conv +
                              "batchnorm frozen=yes scale=no\n" + head);
  add("frozen_residual", conv + "save s\nconv 18\nbatchnorm frozen=yes\nadd s\nrelu\nsave t\n" + conv +
                             "batchnorm frozen=yes\nadd t\ngelu\n" + head);
  for (const char* zoo : {"logistic", "lenet", "resnet20", "fastcifar-s", "vit-tiny"})
    add(std::string("zoo_") + zoo, zoo, {16, 16, 3}, 4);
  return all;
}

struct Data {
  std::vector<float> images;
  std::vector<int32_t> labels;
};

Data make_data(const Case& c) {
  Data data;
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  const bool tokens = c.input.c == 1;
  for (size_t i = 0; i < c.batch * c.input.size(); ++i)
    data.images.push_back(tokens ? static_cast<float>(random() % 11) : std::round(normal(random) * 64) / 64);
  for (int i = 0; i < c.batch; ++i) data.labels.push_back(static_cast<int32_t>(random() % c.classes));
  return data;
}

double relative(std::span<const double> want, std::span<const double> got) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < want.size(); ++i) error += std::pow(want[i] - got[i], 2), norm += want[i] * want[i];
  return std::sqrt(error / std::max(norm, 1e-20));
}

// How far a step and the evaluation after it are from the reference in fp64, in parts of what they should be.
struct Errors {
  double loss = 0, gradient = 0, statistics = 0, evaluated = 0, logits = 0;
};

class Planned : public testing::TestWithParam<Case> {
 protected:
  // `inner`: what kernels may add to what rounding all stored values alone changes, which in bf16 is
  // measured: some models amplify it, where a rectifier's or a maximum's input lies near the edge.
  void check(const std::string& kernels, int threads, Precision precision, double inner) {
    const Case& c = GetParam();
    BuildOptions options{.batch_size = c.batch + 1,
                         .threads = threads,
                         .precision = precision,
                         .seed = kSeed,
                         .kernels = kernels,
                         .label_smoothing = kSmoothing};
    auto built = Network::build(c.model, {c.input.h, c.input.w, c.input.c}, c.classes, options);
    if (!built.ok() && kernels == "onednn" && !cpu().avx512) GTEST_SKIP() << built.status().text();
    ASSERT_TRUE(built.ok()) << built.status().text();
    Network& network = **built;
    disturb(network);
    const Data data = make_data(c);
    const Batch batch{data.images, data.labels, c.batch};
    const std::vector<float> weights(network.parameters().begin(), network.parameters().end()),
        statistics(network.statistics().begin(), network.statistics().end());
    const Run want = reference(network.graph(), data, weights, statistics, false);
    Run got;
    // Each gradient, as it was when it was said to be final.
    std::vector<float> final(weights.size());
    std::vector<int> told(weights.size());
    const auto ready = [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) ++told[i], final[i] = network.gradients()[i];
    };
    got.loss = network.forward_backward(batch, ready).loss;
    EXPECT_EQ(told, std::vector<int>(weights.size(), 1));
    EXPECT_TRUE(std::equal(final.begin(), final.end(), network.gradients().begin()));
    got.gradients.assign(network.gradients().begin(), network.gradients().end());
    got.statistics.assign(network.statistics().begin(), network.statistics().end());
    expect_frozen_alone(network.graph(), network, statistics);
    // Evaluation uses the running statistics that the step just changed.
    std::vector<float> logits(c.batch * c.classes);
    got.evaluated = network.evaluate(batch, logits).loss;
    got.logits.assign(logits.begin(), logits.end());
    Errors allowed{};
    if (precision == Precision::Bf16)
      allowed = errors(want, reference(network.graph(), data, weights, statistics, true));
    const Errors e = errors(want, got);
    EXPECT_LT(e.loss, 3 * allowed.loss + inner);
    EXPECT_LT(e.gradient, 2 * allowed.gradient + inner)
        << worst(network.graph(), want.gradients, got.gradients);
    EXPECT_LE(e.statistics, 2 * allowed.statistics + inner);
    EXPECT_LT(e.evaluated, 3 * allowed.evaluated + inner);
    EXPECT_LT(e.logits, 2 * allowed.logits + inner);
  }

 private:
  static constexpr uint64_t kSeed = 3;
  static constexpr float kSmoothing = 0.1f;

  struct Run {
    double loss = 0, evaluated = 0;
    std::vector<double> gradients, statistics, logits;
  };

  // The same by plain loops in fp64; `rounded`: with what is stored between layers, and the weights, in bf16.
  static Run reference(const Graph& graph, const Data& data, std::span<const float> weights,
                       std::span<const float> statistics, bool rounded) {
    const Case& c = GetParam();
    ReferenceNetwork<double> network(graph, kSeed, kSmoothing);
    std::vector<double> w(weights.begin(), weights.end());
    if (rounded) {
      network.round_to_bf16();
      for (double& v : w) v = to_float(to_bf16(static_cast<float>(v)));
    }
    const std::vector<double> images(data.images.begin(), data.images.end());
    Run run;
    run.statistics.assign(statistics.begin(), statistics.end());
    run.gradients.resize(w.size());
    run.loss = network.forward(images, data.labels, c.batch, true, 0, w, run.statistics).loss;
    network.backward(data.labels, run.gradients);
    std::vector<double> running = run.statistics;
    run.evaluated = network.forward(images, data.labels, c.batch, false, 0, w, running).loss;
    run.logits = network.logits();
    return run;
  }

  static Errors errors(const Run& want, const Run& got) {
    return {std::abs(got.loss / want.loss - 1), relative(want.gradients, got.gradients),
            relative(want.statistics, got.statistics), std::abs(got.evaluated / want.evaluated - 1),
            relative(want.logits, got.logits)};
  }

  // A frozen normalisation's first values, 0 and 1, would hide mistakes.
  static void disturb(Network& network) {
    std::mt19937 random(8);
    std::uniform_real_distribution<float> uniform(0.5f, 1.5f);
    for (const Layer& l : network.graph().layers) {
      if (l.kind != Kind::BatchNorm || !l.frozen) continue;
      const auto change = [&](const ParameterInfo& p, std::span<float> values) {
        for (float& v : values.subspan(p.offset, p.size)) v = uniform(random);
      };
      const Graph& g = network.graph();
      for (const int i : {l.weight, l.bias_param})
        if (i >= 0) change(g.parameters[i], network.parameters());
      for (const int i : {l.running_mean, l.running_var}) change(g.statistics[i], network.statistics());
    }
    network.parameters_changed();
  }

  // As PyTorch's BatchNorm2d.eval() with requires_grad=False.
  static void expect_frozen_alone(const Graph& graph, Network& network, std::span<const float> statistics) {
    for (const Layer& l : graph.layers) {
      if (l.kind != Kind::BatchNorm || !l.frozen) continue;
      for (const int i : {l.running_mean, l.running_var})
        for (size_t k = graph.statistics[i].offset; k < graph.statistics[i].offset + graph.statistics[i].size;
             ++k)
          EXPECT_EQ(network.statistics()[k], statistics[k]) << graph.statistics[i].name;
    }
    for (const ParameterInfo& p : graph.parameters)
      for (size_t k = p.offset; p.frozen && k < p.offset + p.size; ++k)
        EXPECT_EQ(network.gradients()[k], 0) << p.name;
  }

  static std::string worst(const Graph& graph, std::span<const double> want, std::span<const double> got) {
    std::string text;
    for (const ParameterInfo& p : graph.parameters)
      text += p.name + " " +
              std::to_string(relative(want.subspan(p.offset, p.size), got.subspan(p.offset, p.size))) + "\n";
    return text.substr(0, 2000);
  }
};

// fp32 sums of a few thousand products in another order; Winograd's tiles lose another digit.
constexpr double kFp32 = 5e-5;
// Sums are fp32 in bf16 too; but Winograd's transforms are rounded before they are multiplied, which is up to
// 1% of a result for each of the convolutions behind one another.
constexpr double kBf16 = 3e-3, kBf16Winograd = 2e-2;

TEST_P(Planned, MatchesTheReferenceInFp32) { check("auto", 1, Precision::Fp32, kFp32); }
TEST_P(Planned, MatchesTheReferenceOnTwoThreads) { check("auto", 2, Precision::Fp32, kFp32); }
TEST_P(Planned, MatchesTheReferenceWithEigen) { check("eigen", 2, Precision::Fp32, kFp32); }
TEST_P(Planned, MatchesTheReferenceWithOnednn) { check("onednn", 2, Precision::Fp32, kFp32); }
TEST_P(Planned, StaysNearTheReferenceInBf16) { check("auto", 2, Precision::Bf16, kBf16Winograd); }
TEST_P(Planned, StaysNearTheReferenceInBf16WithEigen) { check("eigen", 2, Precision::Bf16, kBf16); }
TEST_P(Planned, StaysNearTheReferenceInBf16WithOnednn) { check("onednn", 2, Precision::Bf16, kBf16); }

// The same with the products of processors with AMX.
TEST_P(Planned, StaysNearTheReferenceWithEmulatedTiles) {
  if (!cpu().avx512_bf16) GTEST_SKIP() << "the transforms need avx512_bf16";
  const ScopedWinogradProducts products(WinogradProducts::AmxEmulated);
  check("auto", 2, Precision::Bf16, kBf16Winograd);
}

INSTANTIATE_TEST_SUITE_P(Models, Planned, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace
}  // namespace radl::engine
