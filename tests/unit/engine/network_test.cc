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

double relative(std::span<const double> want, std::span<const float> got) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < want.size(); ++i) error += std::pow(want[i] - got[i], 2), norm += want[i] * want[i];
  return std::sqrt(error / std::max(norm, 1e-20));
}

class Planned : public testing::TestWithParam<Case> {
 protected:
  // Deep networks with rectifiers amplify rounding: a unit that switches on changes everything before it.
  double bf16_tolerance() const { return GetParam().name.starts_with("zoo_") ? 0.5 : 8e-2; }

  void check(const std::string& kernels, int threads, Precision precision, double tolerance) {
    const Case& c = GetParam();
    BuildOptions options{.batch_size = c.batch + 1,
                         .threads = threads,
                         .precision = precision,
                         .seed = 3,
                         .kernels = kernels,
                         .label_smoothing = 0.1f};
    auto built = Network::build(c.model, {c.input.h, c.input.w, c.input.c}, c.classes, options);
    if (!built.ok() && built.status().code() == Code::Unsupported) return;
    ASSERT_TRUE(built.ok()) << built.status().text();
    Network& network = **built;
    disturb(network);
    const Data data = make_data(c);
    const Batch batch{data.images, data.labels, c.batch};
    const Graph& graph = network.graph();
    ReferenceNetwork<double> reference(graph, 3, 0.1f);
    const std::vector<double> images(data.images.begin(), data.images.end());
    const std::vector<double> weights(network.parameters().begin(), network.parameters().end());
    std::vector<double> statistics(network.statistics().begin(), network.statistics().end()),
        gradients(weights.size());
    const std::vector<double> first_statistics = statistics;
    const StepResult want = reference.forward(images, data.labels, c.batch, true, 0, weights, statistics);
    reference.backward(data.labels, gradients);
    const StepResult got = network.forward_backward(batch);
    if (precision == Precision::Bf16) {
      ReferenceNetwork<double> rounded(graph, 3, 0.1f);
      rounded.round_to_bf16();
      std::vector<double> w2 = weights, s2 = first_statistics, g2(weights.size());
      for (double& w : w2) w = to_float(to_bf16(static_cast<float>(w)));
      const StepResult r = rounded.forward(images, data.labels, c.batch, true, 0, w2, s2);
      rounded.backward(data.labels, g2);
      std::vector<float> gf(g2.begin(), g2.end()), sf(s2.begin(), s2.end()),
          lf(rounded.logits().begin(), rounded.logits().end());
      std::printf("NOISE %-22s loss %.2e vs %.2e grad %.2e vs %.2e stat %.2e vs %.2e\n", c.name.c_str(),
                  std::abs(got.loss / want.loss - 1), std::abs(r.loss / want.loss - 1),
                  relative(gradients, network.gradients()), relative(gradients, gf),
                  relative(statistics, network.statistics()), relative(statistics, sf));
    }
    EXPECT_NEAR(got.loss, want.loss, tolerance * std::abs(want.loss));
    EXPECT_LT(relative(gradients, network.gradients()), tolerance)
        << worst(graph, gradients, network.gradients());
    EXPECT_LT(relative(statistics, network.statistics()), tolerance);
    expect_frozen_alone(graph, network, first_statistics);
    // Evaluation uses the running statistics that the step just changed.
    std::vector<float> logits(c.batch * c.classes);
    const StepResult evaluated = network.evaluate(batch, logits);
    const StepResult expected =
        reference.forward(images, data.labels, c.batch, false, 0, weights, statistics);
    EXPECT_NEAR(evaluated.loss, expected.loss, tolerance * std::abs(expected.loss));
    EXPECT_LT(relative(reference.logits(), logits), tolerance);
  }

  // The first values are 0 and 1, which hide mistakes.
  static void disturb(Network& network) {
    std::mt19937 random(8);
    std::uniform_real_distribution<float> uniform(0.5f, 1.5f);
    for (const Layer& l : network.graph().layers) {
      if (l.kind != Kind::BatchNorm) continue;
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
  static void expect_frozen_alone(const Graph& graph, Network& network, std::span<const double> statistics) {
    for (const Layer& l : graph.layers) {
      if (l.kind != Kind::BatchNorm || !l.frozen) continue;
      for (const int i : {l.running_mean, l.running_var})
        for (size_t k = graph.statistics[i].offset; k < graph.statistics[i].offset + graph.statistics[i].size;
             ++k)
          EXPECT_EQ(network.statistics()[k], static_cast<float>(statistics[k])) << graph.statistics[i].name;
    }
    for (const ParameterInfo& p : graph.parameters)
      for (size_t k = p.offset; p.frozen && k < p.offset + p.size; ++k)
        EXPECT_EQ(network.gradients()[k], 0) << p.name;
  }

  static std::string worst(const Graph& graph, std::span<const double> want, std::span<const float> got) {
    std::string text;
    for (const ParameterInfo& p : graph.parameters)
      text += p.name + " " +
              std::to_string(relative(want.subspan(p.offset, p.size), got.subspan(p.offset, p.size))) + "\n";
    return text.substr(0, 2000);
  }
};

TEST_P(Planned, MatchesTheReferenceInFp32) { check("auto", 1, Precision::Fp32, 5e-5); }
TEST_P(Planned, MatchesTheReferenceOnTwoThreads) { check("auto", 2, Precision::Fp32, 5e-5); }
TEST_P(Planned, MatchesTheReferenceWithEigen) { check("eigen", 2, Precision::Fp32, 5e-5); }
TEST_P(Planned, MatchesTheReferenceWithOnednn) { check("onednn", 2, Precision::Fp32, 5e-5); }
// bf16 keeps 8 bits of each activation.
TEST_P(Planned, StaysNearTheReferenceInBf16) { check("auto", 2, Precision::Bf16, bf16_tolerance()); }

// The same with the products of processors with AMX.
TEST_P(Planned, StaysNearTheReferenceWithEmulatedTiles) {
  if (!cpu().avx512_bf16) GTEST_SKIP() << "the transforms need avx512_bf16";
  const ScopedWinogradProducts products(WinogradProducts::AmxEmulated);
  check("auto", 2, Precision::Bf16, bf16_tolerance());
}

INSTANTIATE_TEST_SUITE_P(Models, Planned, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace
}  // namespace radl::engine
