// The layer graph of a model: parsed from the text form (docs/models.md), compiled by the planner, and walked
// by exporters. A plain value: layers in an order in which every input precedes its users.
//
// Shapes are per example, {height, width, channels}, stored NHWC; a vector of n features is {1, 1, n} and a
// sequence of t tokens with d features is {1, t, d}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "engine/model/network.h"
#include "engine/tensor/kinds.h"

namespace radl::engine {

struct Shape {
  int h = 1, w = 1, c = 1;
  size_t size() const { return static_cast<size_t>(h) * w * c; }
  bool operator==(const Shape&) const = default;
};

enum class Kind {
  Input,
  Conv,           // kernel, stride, pad, dilation, groups, bias
  Linear,         // filters, bias; on the flattened example, or per token with `per_token`
  BatchNorm,      // eps, momentum, has_scale, has_shift
  LayerNorm,      // eps; over the channels of each position
  GroupNorm,      // eps, groups; over positions and the channels of a group
  Activation,     // act, slope
  MaxPool,        // kernel, stride, pad (padding never wins)
  AvgPool,        // kernel, stride, pad (padding does not count)
  GlobalAvgPool,  // -> {1, 1, c}
  GlobalMaxPool,
  Dropout,    // rate
  Add,        // any number of inputs of one shape
  Concat,     // along channels
  Flatten,    // -> {1, 1, h*w*c}, in h, w, c order (NHWC); exporters to NCHW must transpose the next weights
  Scale,      // times the constant `factor`
  Embedding,  // vocabulary, filters: {1, t, 1} of indices -> {1, t, filters}
  Position,   // adds a learned vector per position
  Attention,  // heads, causal: multi-head self-attention over the h*w positions
};

// The embedding row of a value: values outside the vocabulary are clamped, NaN selects the first
// row.
template <class T>
int vocabulary_index(T value, int vocabulary) {
  if (!(value > 0)) return 0;
  return value < T(vocabulary) ? static_cast<int>(value) : vocabulary - 1;
}

enum class Init { He, HeOut, Torch, Dirac, Zero, One, Normal002 };

struct Layer {
  Kind kind = Kind::Input;
  std::string name;         // unique; "layer1.0.conv1"
  std::vector<int> inputs;  // indices into Graph::layers
  Shape out;
  int line = 0;  // line of the text; 0 if none

  int filters = 0;  // output channels or features
  int kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1;
  int pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int dilation_h = 1, dilation_w = 1, groups = 1;
  bool bias = false;
  bool has_scale = true, has_shift = true;  // normalization: learned gamma, beta
  bool frozen = false;                      // weights keep their initial values (gradient 0)
  bool bias_frozen = false;  // conv: freezes the bias too; that of a whitening layer trains by default
  bool whiten = false;       // first convolution, initialized from the data by Network::whiten
  float eps = 1e-5f;
  float momentum = 0.1f;  // running = (1 - momentum) * running + momentum * batch
  Act act = Act::None;
  float slope = 0.01f;  // LeakyRelu; alpha of Elu
  float rate = 0;       // Dropout
  float factor = 1;     // Scale
  int heads = 1;
  bool causal = false;
  bool per_token = false;
  int vocabulary = 0;
  Init init = Init::He;

  // Indices into Graph::parameters; -1 if absent. Conv, Linear, Embedding, Position, norms: weight (gamma),
  // bias (beta). Attention: weight = in_proj [3d, d], bias = in_proj bias, weight2 = out_proj [d, d], bias2.
  int weight = -1, bias_param = -1, weight2 = -1, bias2 = -1;
  // Indices into Graph::statistics (BatchNorm).
  int running_mean = -1, running_var = -1;
};

struct Graph {
  std::string name;
  Shape input;
  int classes = 0;
  std::vector<Layer> layers;  // layers[0] is the input; the last returns the logits {1, 1, classes}
  std::vector<ParameterInfo> parameters;
  std::vector<ParameterInfo> statistics;
  size_t parameter_count = 0;   // floats
  size_t statistics_count = 0;  // floats

  const Layer& output() const { return layers.back(); }
  // Twice the multiply-adds of one example's forward pass: convolutions, linear layers and attention.
  double forward_flop() const;
};

// `model`: a zoo name or a text (contains a newline or ':'). Invalid: "line 7: unknown layer "convv"", hint
// "did you mean conv?".
Result<Graph> parse_model(std::string_view model, Shape input, int classes);
// The canonical text with all settings explicit. Parses to the same graph.
std::string to_text(const Graph& graph);

// Checks that a dataset can feed the model. Unsupported names a layer that takes integer tokens, because
// images of a dataset are normalized numbers.
Status takes_images(const Graph& graph);
// Same for a model's text, for any images. Invalid: the text is not a model.
Status takes_images(std::string_view text);

std::vector<std::string> zoo_names();
// The zoo model's text. NotFound suggests the nearest name.
Result<std::string> zoo_text(std::string_view name);

std::string_view kind_name(Kind kind);  // "conv"
std::string_view act_name(Act act);     // "relu"

}  // namespace radl::engine
