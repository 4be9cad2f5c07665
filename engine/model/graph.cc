#include "engine/model/graph.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "engine/model/parse.h"

namespace radl::engine {

namespace {

constexpr std::array<std::pair<Kind, std::string_view>, 19> kKinds{{{Kind::Input, "input"},
                                                                    {Kind::Conv, "conv"},
                                                                    {Kind::Linear, "linear"},
                                                                    {Kind::BatchNorm, "batchnorm"},
                                                                    {Kind::LayerNorm, "layernorm"},
                                                                    {Kind::GroupNorm, "groupnorm"},
                                                                    {Kind::Activation, "activation"},
                                                                    {Kind::MaxPool, "maxpool"},
                                                                    {Kind::AvgPool, "avgpool"},
                                                                    {Kind::GlobalAvgPool, "globalavgpool"},
                                                                    {Kind::GlobalMaxPool, "globalmaxpool"},
                                                                    {Kind::Dropout, "dropout"},
                                                                    {Kind::Add, "add"},
                                                                    {Kind::Concat, "concat"},
                                                                    {Kind::Flatten, "flatten"},
                                                                    {Kind::Scale, "scale"},
                                                                    {Kind::Embedding, "embedding"},
                                                                    {Kind::Position, "position"},
                                                                    {Kind::Attention, "attention"}}};

constexpr std::array<std::string_view, 9> kActs{"identity", "relu",    "leakyrelu", "gelu",     "silu",
                                                "tanh",     "sigmoid", "elu",       "hardswish"};

double layer_flop(const Layer& layer, const Shape& in) {
  const double positions = static_cast<double>(layer.out.h) * layer.out.w;
  switch (layer.kind) {
    case Kind::Conv:
      return 2.0 * positions * layer.filters * (in.c / layer.groups) * layer.kernel_h * layer.kernel_w;
    case Kind::Linear:
      return layer.per_token ? 2.0 * positions * in.c * layer.filters : 2.0 * in.size() * layer.filters;
    case Kind::Attention:
      return 2.0 * positions * in.c * (4.0 * in.c + 2.0 * positions);
    default:
      return 0;
  }
}

}  // namespace

std::string_view kind_name(Kind kind) {
  for (const auto& [k, name] : kKinds)
    if (k == kind) return name;
  return "?";
}

std::string_view act_name(Act act) { return kActs[static_cast<size_t>(act)]; }

double Graph::forward_flop() const {
  double flop = 0;
  for (const Layer& layer : layers)
    if (!layer.inputs.empty()) flop += layer_flop(layer, layers[layer.inputs[0]].out);
  return flop;
}

namespace {

Status takes_tokens(int line, const std::string& layer) {
  return Status(Code::Unsupported,
                fmt::format("{}layer {}: embedding takes integer tokens, but datasets contain none: the "
                            "numbers of images and tables are normalised",
                            line > 0 ? fmt::format("line {}: ", line) : "", layer))
      .with_hint("put a linear layer or a convolution in its place");
}

}  // namespace

Status takes_images(const Graph& graph) {
  for (const Layer& layer : graph.layers)
    if (layer.kind == Kind::Embedding) return takes_tokens(layer.line, layer.name);
  return {};
}

Status takes_images(std::string_view text) {
  return for_each_line(text, [](const ModelLine& line) {
    if (line.kind != kind_name(Kind::Embedding)) return ok_status();
    return takes_tokens(line.number, line.name.empty() ? line.kind : line.name);
  });
}

}  // namespace radl::engine
