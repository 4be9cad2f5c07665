#include "engine/export/onnx.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/new_file.h"
#include "common/version.h"
#include "engine/export/onnx_builder.h"

namespace radl::engine::exporter {
namespace {

using B = OnnxBuilder;
using Ints = std::vector<int64_t>;

constexpr int kIrVersion = 8, kOpset = 17;

// Feature maps are [batch, channels, height, width]; a vector of n features is [batch, n, 1, 1]; t tokens of
// d features are [batch, d, 1, t]. The engine's own order is NHWC, which only matters where a map becomes a
// vector.
class Converter {
 public:
  Converter(const Graph& graph, std::span<const float> parameters, std::span<const float> statistics,
            const OnnxOptions& options)
      : graph_(graph), parameters_(parameters), statistics_(statistics), options_(options) {}

  Message run() {
    const Shape& in = graph_.input;
    b_.input("images", {-1, in.c, in.h, in.w});
    for (const char* name : {"logits", "probabilities"}) b_.reserve(name);  // a layer may be called so
    values_.resize(graph_.layers.size());
    values_[0] = normalised("images");
    for (size_t k = 1; k < graph_.layers.size(); ++k) values_[k] = layer(graph_.layers[k]);
    b_.result("Flatten", values_.back(), "logits", {B::i("axis", 1)});
    b_.result("Softmax", "logits", "probabilities", {B::i("axis", -1)});
    b_.output("logits", {-1, graph_.classes});
    b_.output("probabilities", {-1, graph_.classes});
    return b_.finish(graph_.name.empty() ? "model" : graph_.name);
  }

 private:
  std::string normalised(const std::string& images) {
    if (options_.mean.empty()) return images;
    std::vector<float> scale, shift;
    for (size_t c = 0; c < options_.mean.size(); ++c) {
      scale.push_back(1 / (255 * options_.deviation[c]));
      shift.push_back(-options_.mean[c] / options_.deviation[c]);
    }
    const Ints shape = {int64_t(scale.size()), 1, 1};
    return b_.node("Add",
                   {b_.node("Mul", {images, b_.floats("normalise.scale", shape, scale)}, "normalise.scaled"),
                    b_.floats("normalise.shift", shape, shift)},
                   "normalise");
  }

  const std::string& in(const Layer& l, size_t k = 0) const { return values_[size_t(l.inputs[k])]; }
  const Shape& in_shape(const Layer& l) const { return graph_.layers[size_t(l.inputs[0])].out; }

  std::span<const float> data(int index, bool statistic = false) const {
    const ParameterInfo& p = statistic ? graph_.statistics[size_t(index)] : graph_.parameters[size_t(index)];
    return (statistic ? statistics_ : parameters_).subspan(p.offset, p.size);
  }
  std::string parameter(int index, Ints shape = {}) {
    const ParameterInfo& p = graph_.parameters[size_t(index)];
    if (shape.empty()) shape.assign(p.shape.begin(), p.shape.end());
    return b_.floats(p.name, shape, data(index));
  }
  std::string ones_or(int index, int channels, const std::string& name, float value) {
    if (index >= 0) return parameter(index, {channels});
    return b_.floats(name, {channels}, std::vector<float>(size_t(channels), value));
  }
  std::string constant(const std::string& name, const Ints& values) { return b_.integers(name, values); }

  std::string layer(const Layer& l);
  std::string convolution(const Layer& l);
  std::string linear(const Layer& l);
  std::string batch_norm(const Layer& l);
  std::string layer_norm(const Layer& l);
  std::string group_norm(const Layer& l);
  std::string activation(const Layer& l);
  std::string pool(const Layer& l);
  std::string flatten(const Layer& l, const std::string& x, const Shape& shape);
  std::string embedding(const Layer& l);
  std::string position(const Layer& l);
  std::string attention(const Layer& l);
  std::string project(const std::string& x, int weight, int bias, int outputs, int inputs,
                      const std::string& name);

  const Graph& graph_;
  std::span<const float> parameters_, statistics_;
  const OnnxOptions& options_;
  OnnxBuilder b_;
  std::vector<std::string> values_;
};

std::string Converter::layer(const Layer& l) {
  switch (l.kind) {
    case Kind::Input:
      return in(l);
    case Kind::Conv:
      return convolution(l);
    case Kind::Linear:
      return linear(l);
    case Kind::BatchNorm:
      return batch_norm(l);
    case Kind::LayerNorm:
      return layer_norm(l);
    case Kind::GroupNorm:
      return group_norm(l);
    case Kind::Activation:
      return activation(l);
    case Kind::MaxPool:
    case Kind::AvgPool:
      return pool(l);
    case Kind::GlobalAvgPool:
      return b_.node("GlobalAveragePool", {in(l)}, l.name);
    case Kind::GlobalMaxPool:
      return b_.node("GlobalMaxPool", {in(l)}, l.name);
    case Kind::Dropout:
      return in(l);  // the identity when predicting
    case Kind::Add: {
      std::vector<std::string> inputs;
      for (size_t k = 0; k < l.inputs.size(); ++k) inputs.push_back(in(l, k));
      return b_.node("Sum", inputs, l.name);
    }
    case Kind::Concat: {
      std::vector<std::string> inputs;
      for (size_t k = 0; k < l.inputs.size(); ++k) inputs.push_back(in(l, k));
      return b_.node("Concat", inputs, l.name, {B::i("axis", 1)});
    }
    case Kind::Flatten:
      return flatten(l, in(l), in_shape(l));
    case Kind::Scale: {
      const float factor[] = {l.factor};
      return b_.node("Mul", {in(l), b_.floats(l.name + ".factor", {}, factor)}, l.name);
    }
    case Kind::Embedding:
      return embedding(l);
    case Kind::Position:
      return position(l);
    case Kind::Attention:
      return attention(l);
  }
  return in(l);
}

std::string Converter::convolution(const Layer& l) {
  std::vector<std::string> inputs = {in(l), parameter(l.weight)};
  if (l.bias_param >= 0) inputs.push_back(parameter(l.bias_param));
  return b_.node(
      "Conv", inputs, l.name,
      {B::ints("kernel_shape", {l.kernel_h, l.kernel_w}), B::ints("strides", {l.stride_h, l.stride_w}),
       B::ints("pads", {l.pad_top, l.pad_left, l.pad_bottom, l.pad_right}),
       B::ints("dilations", {l.dilation_h, l.dilation_w}), B::i("group", l.groups)});
}

// A linear layer at each position is a 1x1 convolution.
std::string Converter::project(const std::string& x, int weight, int bias, int outputs, int inputs,
                               const std::string& name) {
  std::vector<std::string> all = {x, parameter(weight, {outputs, inputs, 1, 1})};
  if (bias >= 0) all.push_back(parameter(bias));
  return b_.node("Conv", all, name, {B::ints("kernel_shape", {1, 1})});
}

std::string Converter::linear(const Layer& l) {
  const Shape& s = in_shape(l);
  if (l.per_token) return project(in(l), l.weight, l.bias_param, l.out.c, s.c, l.name);
  return project(flatten(l, in(l), s), l.weight, l.bias_param, l.out.c, int(s.size()), l.name);
}

std::string Converter::flatten(const Layer& l, const std::string& x, const Shape& s) {
  if (s.h == 1 && s.w == 1) return x;
  std::string order = x;
  if (s.c > 1) order = b_.node("Transpose", {x}, l.name + ".nhwc", {B::ints("perm", {0, 2, 3, 1})});
  return b_.node("Reshape", {order, constant(l.name + ".flat", {0, int64_t(s.size()), 1, 1})},
                 l.name + ".flattened");
}

std::string Converter::batch_norm(const Layer& l) {
  const int c = l.out.c;
  const ParameterInfo &mean = graph_.statistics[size_t(l.running_mean)],
                      &variance = graph_.statistics[size_t(l.running_var)];
  return b_.node(
      "BatchNormalization",
      {in(l), ones_or(l.weight, c, l.name + ".ones", 1), ones_or(l.bias_param, c, l.name + ".zeros", 0),
       b_.floats(mean.name, {c}, data(l.running_mean, true)),
       b_.floats(variance.name, {c}, data(l.running_var, true))},
      l.name, {B::f("epsilon", l.eps)});
}

std::string Converter::layer_norm(const Layer& l) {
  const int c = l.out.c;
  const std::string last = b_.node("Transpose", {in(l)}, l.name + ".nhwc", {B::ints("perm", {0, 2, 3, 1})});
  const std::string normal = b_.node(
      "LayerNormalization",
      {last, ones_or(l.weight, c, l.name + ".ones", 1), ones_or(l.bias_param, c, l.name + ".zeros", 0)},
      l.name + ".normal", {B::i("axis", -1), B::f("epsilon", l.eps)});
  return b_.node("Transpose", {normal}, l.name, {B::ints("perm", {0, 3, 1, 2})});
}

// As instance normalisation of the groups, then scale and shift per channel.
std::string Converter::group_norm(const Layer& l) {
  const int c = l.out.c;
  const std::vector<float> one(size_t(l.groups), 1), zero(size_t(l.groups), 0);
  const std::string grouped =
      b_.node("Reshape", {in(l), constant(l.name + ".groups", {0, l.groups, -1, 1})}, l.name + ".grouped");
  const std::string normal = b_.node(
      "InstanceNormalization",
      {grouped, b_.floats(l.name + ".one", {l.groups}, one), b_.floats(l.name + ".zero", {l.groups}, zero)},
      l.name + ".normal", {B::f("epsilon", l.eps)});
  std::string y =
      b_.node("Reshape", {normal, constant(l.name + ".shape", {0, c, l.out.h, l.out.w})}, l.name + ".back");
  if (l.weight >= 0) y = b_.node("Mul", {y, parameter(l.weight, {c, 1, 1})}, l.name + ".scaled");
  if (l.bias_param >= 0) y = b_.node("Add", {y, parameter(l.bias_param, {c, 1, 1})}, l.name);
  return y;
}

std::string Converter::activation(const Layer& l) {
  const std::string& x = in(l);
  const float half[] = {0.5f}, one[] = {1}, root[] = {float(1 / std::sqrt(2.0))};
  switch (l.act) {
    case Act::None:
      return x;
    case Act::Relu:
      return b_.node("Relu", {x}, l.name);
    case Act::LeakyRelu:
      return b_.node("LeakyRelu", {x}, l.name, {B::f("alpha", l.slope)});
    case Act::Tanh:
      return b_.node("Tanh", {x}, l.name);
    case Act::Sigmoid:
      return b_.node("Sigmoid", {x}, l.name);
    case Act::Elu:
      return b_.node("Elu", {x}, l.name, {B::f("alpha", l.slope)});
    case Act::HardSwish:
      return b_.node("HardSwish", {x}, l.name);
    case Act::Silu:
      return b_.node("Mul", {x, b_.node("Sigmoid", {x}, l.name + ".gate")}, l.name);
    case Act::Gelu:
      break;
  }
  const std::string erf = b_.node(
      "Erf", {b_.node("Mul", {x, b_.floats("gelu.root", {}, root)}, l.name + ".scaled")}, l.name + ".erf");
  const std::string gate = b_.node("Mul",
                                   {b_.node("Add", {erf, b_.floats("gelu.one", {}, one)}, l.name + ".sum"),
                                    b_.floats("gelu.half", {}, half)},
                                   l.name + ".gate");
  return b_.node("Mul", {x, gate}, l.name);
}

std::string Converter::pool(const Layer& l) {
  std::vector<B::Attribute> attributes = {
      B::ints("kernel_shape", {l.kernel_h, l.kernel_w}), B::ints("strides", {l.stride_h, l.stride_w}),
      B::ints("pads", {l.pad_top, l.pad_left, l.pad_bottom, l.pad_right})};
  if (l.kind == Kind::MaxPool) return b_.node("MaxPool", {in(l)}, l.name, attributes);
  attributes.push_back(B::i("count_include_pad", 0));
  return b_.node("AveragePool", {in(l)}, l.name, attributes);
}

std::string Converter::embedding(const Layer& l) {
  const int64_t t = int64_t(in_shape(l).size());
  const float zero[] = {0}, last[] = {float(l.vocabulary - 1)};
  std::string tokens = b_.node("Reshape", {in(l), constant(l.name + ".row", {0, t})}, l.name + ".tokens");
  tokens =
      b_.node("Clip", {tokens, b_.floats(l.name + ".first", {}, zero), b_.floats(l.name + ".last", {}, last)},
              l.name + ".known");
  tokens = b_.node("Cast", {tokens}, l.name + ".index", {B::i("to", 7)});
  const std::string rows =
      b_.node("Gather", {parameter(l.weight), tokens}, l.name + ".rows", {B::i("axis", 0)});
  const std::string turned = b_.node("Transpose", {rows}, l.name + ".turned", {B::ints("perm", {0, 2, 1})});
  return b_.node("Reshape", {turned, constant(l.name + ".shape", {0, l.out.c, l.out.h, l.out.w})}, l.name);
}

// Stored as height x width x channels; the map is channels first.
std::string Converter::position(const Layer& l) {
  const Shape& s = l.out;
  const auto values = data(l.weight);
  std::vector<float> turned(values.size());
  const size_t plane = size_t(s.h) * size_t(s.w), channels = size_t(s.c);
  for (size_t p = 0; p < plane; ++p) {
    for (size_t c = 0; c < channels; ++c) turned[c * plane + p] = values[p * channels + c];
  }
  return b_.node("Add", {in(l), b_.floats(graph_.parameters[size_t(l.weight)].name, {s.c, s.h, s.w}, turned)},
                 l.name);
}

std::string Converter::attention(const Layer& l) {
  const int64_t t = int64_t(l.out.h) * l.out.w, d = l.out.c, hd = d / l.heads;
  const std::string qkv = project(in(l), l.weight, l.bias_param, int(3 * d), int(d), l.name + ".qkv");
  const auto parts = b_.split("Split", {qkv, constant(l.name + ".parts", {d, d, d})}, l.name + ".part", 3,
                              {B::i("axis", 1)});
  auto heads = [&](const std::string& x, const char* name, bool turn) {
    std::string y = b_.node("Reshape", {x, constant(l.name + ".heads", {0, l.heads, hd, t})}, l.name + name);
    return turn ? b_.node("Transpose", {y}, l.name + name + ".t", {B::ints("perm", {0, 1, 3, 2})}) : y;
  };
  const float scale[] = {float(1 / std::sqrt(double(hd)))};
  std::string scores =
      b_.node("MatMul", {heads(parts[0], ".q", true), heads(parts[1], ".k", false)}, l.name + ".dots");
  scores = b_.node("Mul", {scores, b_.floats(l.name + ".scale", {}, scale)}, l.name + ".scores");
  if (l.causal) {
    std::vector<float> mask(size_t(t * t), 0);
    for (int64_t i = 0; i < t; ++i) {
      for (int64_t j = i + 1; j < t; ++j) mask[size_t(i * t + j)] = -1e30f;
    }
    scores = b_.node("Add", {scores, b_.floats(l.name + ".mask", {t, t}, mask)}, l.name + ".masked");
  }
  const std::string probabilities =
      b_.node("Softmax", {scores}, l.name + ".probabilities", {B::i("axis", -1)});
  std::string context = b_.node("MatMul", {probabilities, heads(parts[2], ".v", true)}, l.name + ".context");
  context = b_.node("Transpose", {context}, l.name + ".context.t", {B::ints("perm", {0, 1, 3, 2})});
  context = b_.node("Reshape", {context, constant(l.name + ".shape", {0, d, l.out.h, l.out.w})},
                    l.name + ".joined");
  return project(context, l.weight2, l.bias2, int(d), int(d), l.name);
}

Message property(const std::string& key, const std::string& value) {
  Message m;
  m.bytes(1, key).bytes(2, value);
  return m;
}

}  // namespace

Result<std::string> encode_onnx(const Graph& graph, std::span<const float> parameters,
                                std::span<const float> statistics, const OnnxOptions& options) {
  if (parameters.size() != graph.parameter_count || statistics.size() != graph.statistics_count) {
    return invalid("the model has " + std::to_string(graph.parameter_count) + " parameters, " +
                   std::to_string(parameters.size()) + " were given");
  }
  if (options.mean.size() != options.deviation.size() ||
      (!options.mean.empty() && options.mean.size() != size_t(graph.input.c))) {
    return invalid("normalisation for " + std::to_string(options.mean.size()) + " channels, the model has " +
                   std::to_string(graph.input.c));
  }
  if (parameters.size_bytes() > (size_t{2'000} << 20)) {
    return Status(Code::Unsupported, "an ONNX file holds less than 2 GB; the model has more")
        .with_hint("export as safetensors");
  }
  Message opset, model;
  opset.bytes(1, "").integer(2, kOpset);
  model.integer(1, kIrVersion).bytes(2, "radl-train").bytes(3, kVersionText);
  model.message(7, Converter(graph, parameters, statistics, options).run());
  model.message(8, opset);
  if (!options.class_names.empty())
    model.message(
        14, property("class_names", nlohmann::json(options.class_names)
                                        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  model.message(14, property("input", options.mean.empty() ? "RGB, normalised" : "RGB pixels, 0..255"));
  for (const auto& [key, value] : options.metadata) model.message(14, property(key, value));
  return model.str();
}

Status write_onnx(const std::string& path, const Graph& graph, std::span<const float> parameters,
                  std::span<const float> statistics, const OnnxOptions& options) {
  auto bytes = encode_onnx(graph, parameters, statistics, options);
  return bytes.ok() ? write_user_file(path, *bytes) : bytes.status();
}

}  // namespace radl::engine::exporter
