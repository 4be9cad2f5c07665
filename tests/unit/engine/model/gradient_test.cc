// The reference network's gradients against numerical ones in fp64: every layer, and the loss. What agrees
// with the reference (network_test.cc) is thereby checked too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/model/initialise.h"
#include "engine/model/reference_network.h"

namespace radl::engine {
namespace {

struct Case {
  const char* name;
  const char* model;
  Shape input{5, 6, 3};
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

#define HEAD "globalavgpool\nlinear classes\n"

const Case kCases[] = {
    {"linear", "linear classes\n"},
    {"two_linear", "linear 9\ntanh\nlinear classes bias=no\n"},
    {"conv", "conv 4\ntanh\nconv 5 kernel=2 pad=valid bias=no\n" HEAD},
    {"conv_strided", "conv 4 stride=2\nconv 4 kernel=1 stride=2\n" HEAD},
    {"conv_groups", "conv 6\nconv 6 groups=3\nconv 6 groups=6\n" HEAD},
    {"conv_dilated", "conv 4 dilation=2\nconv 4 kernel=3x1 dilation=2x1\n" HEAD},
    {"batchnorm", "conv 4\nbatchnorm\ntanh\nconv 4\nbatchnorm scale=no\n" HEAD},
    {"batchnorm_frozen", "conv 4\nbatchnorm frozen=yes\ntanh\nconv 4\nbatchnorm\n" HEAD},
    {"all_frozen",
     "conv 4 frozen=yes\nlayernorm frozen=yes\nconv 4\ngroupnorm groups=2 frozen=yes\nconv 4\n"
     "batchnorm frozen=yes scale=no\n" HEAD},
    {"layernorm", "conv 6\nlayernorm\n" HEAD},
    {"groupnorm", "conv 6\ngroupnorm groups=2\n" HEAD},
    {"relu", "conv 4\nrelu\n" HEAD},
    {"leakyrelu", "conv 4\nleakyrelu slope=0.2\n" HEAD},
    {"gelu", "conv 4\ngelu\n" HEAD},
    {"silu", "conv 4\nsilu\n" HEAD},
    {"tanh", "conv 4\ntanh\n" HEAD},
    {"sigmoid", "conv 4\nsigmoid\n" HEAD},
    {"elu", "conv 4\nelu\n" HEAD},
    {"hardswish", "conv 4\nhardswish\n" HEAD},
    {"maxpool", "conv 4\nmaxpool kernel=3 stride=2 pad=1\n" HEAD},
    {"avgpool", "conv 4\navgpool kernel=3 stride=2 pad=1\n" HEAD},
    {"globalmaxpool", "conv 4\nglobalmaxpool\nlinear classes\n"},
    {"dropout", "conv 4\ndropout rate=0.4\n" HEAD},
    {"residual", "conv 4\nsave s\ntanh\nconv 4\nadd s\n" HEAD},
    {"concat", "conv 4\nsave s\ntanh\nconv 3\nconcat s\n" HEAD},
    {"flatten_scale", "conv 4\nflatten\nscale factor=0.3\nlinear classes\n"},
    {"embedding", "embedding 6 vocabulary=5\nposition\n" HEAD, {1, 7, 1}},
    {"attention", "conv 6 kernel=1\nattention heads=2\n" HEAD},
    {"attention_causal", "conv 6 kernel=1\nattention heads=3 causal=yes\nlinear 5 per_token=yes\n" HEAD},
};

class Gradient : public testing::TestWithParam<Case> {};

// Other than the first ones, which are 0 and 1.
void disturb(std::vector<float>& statistics, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(0.3f, 2.0f);
  for (float& s : statistics) s = uniform(random);
}

bool frozen(const Graph& graph, size_t parameter) {
  return std::ranges::any_of(graph.parameters, [&](const ParameterInfo& p) {
    return p.frozen && parameter >= p.offset && parameter < p.offset + p.size;
  });
}

// Along random directions, in the parameters and in the input: (L(x + hv) - L(x - hv)) / 2h = gradient . v
TEST_P(Gradient, IsWhatNumbersSay) {
  const Case& c = GetParam();
  constexpr int kBatch = 3, kClasses = 4;
  const Result<Graph> graph = parse_model(c.model, c.input, kClasses);
  ASSERT_TRUE(graph.ok()) << graph.status().text();
  std::vector<float> first(graph->parameter_count), statistics(graph->statistics_count);
  initialise(*graph, 11, first, statistics);
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  std::vector<double> weights(first.begin(), first.end()), images(kBatch * c.input.size());
  for (double& w : weights) w += 0.1 * normal(random);  // zero biases would hide errors
  disturb(statistics, random);
  const bool indices = c.input.c == 1;
  for (double& x : images) x = indices ? static_cast<double>(random() % 5) : normal(random);
  const std::vector<int32_t> labels{2, 0, 3};

  ReferenceNetwork<double> network(*graph, 5, 0.15f);
  const auto loss = [&](const std::vector<double>& w, const std::vector<double>& x) {
    std::vector<double> scratch(statistics.begin(), statistics.end());
    return network.forward(x, labels, kBatch, true, 4, w, scratch).loss;
  };
  loss(weights, images);
  std::vector<double> gradients(weights.size());
  network.backward(labels, gradients);
  const std::vector<double> input_gradient = network.input_gradient();

  constexpr double kStep = 1e-6;
  for (int round = 0; round < 8; ++round) {
    std::vector<double> up = weights, down = weights, x_up = images, x_down = images;
    double along = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      const double v = normal(random);
      if (frozen(*graph, i)) {
        ASSERT_EQ(gradients[i], 0) << i;
        continue;
      }
      up[i] += kStep * v, down[i] -= kStep * v, along += gradients[i] * v;
    }
    for (size_t i = 0; i < images.size() && !indices; ++i) {
      const double v = normal(random);
      x_up[i] += kStep * v, x_down[i] -= kStep * v, along += input_gradient[i] * v;
    }
    const double numeric = (loss(up, x_up) - loss(down, x_down)) / (2 * kStep);
    EXPECT_NEAR(along, numeric, 1e-6 * std::max(1.0, std::abs(numeric)));
  }
}

// One parameter at a time too: errors that cancel along a direction show here.
TEST_P(Gradient, HoldsForSingleParameters) {
  const Case& c = GetParam();
  const Result<Graph> graph = parse_model(c.model, c.input, 4);
  ASSERT_TRUE(graph.ok());
  std::vector<float> first(graph->parameter_count), statistics(graph->statistics_count);
  initialise(*graph, 12, first, statistics);
  std::mt19937 random(9);
  std::normal_distribution<double> normal;
  std::vector<double> weights(first.begin(), first.end()), images(2 * c.input.size());
  for (double& x : images) x = c.input.c == 1 ? static_cast<double>(random() % 5) : normal(random);
  disturb(statistics, random);
  const std::vector<int32_t> labels{1, 3};
  ReferenceNetwork<double> network(*graph, 5, 0);
  const auto loss = [&] {
    std::vector<double> scratch(statistics.begin(), statistics.end());
    return network.forward(images, labels, 2, true, 0, weights, scratch).loss;
  };
  loss();
  std::vector<double> gradients(weights.size());
  network.backward(labels, gradients);
  for (const ParameterInfo& p : graph->parameters)
    for (int pick = 0; pick < 3 && !p.frozen; ++pick) {
      const size_t i = p.offset + random() % p.size;
      const double before = weights[i];
      weights[i] = before + 1e-6;
      const double up = loss();
      weights[i] = before - 1e-6;
      const double numeric = (up - loss()) / 2e-6;
      weights[i] = before;
      EXPECT_NEAR(gradients[i], numeric, 1e-6) << p.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Layers, Gradient, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace radl::engine
