// The canonical text of a graph.
#include <fmt/format.h>

#include "engine/model/graph.h"

namespace radl::engine {

namespace {

std::string pair(int h, int w) { return h == w ? fmt::format("{}", h) : fmt::format("{}x{}", h, w); }

std::string padding(const Layer& l) {
  if (l.pad_top == l.pad_bottom && l.pad_left == l.pad_right) return pair(l.pad_top, l.pad_left);
  return "same";  // the only way to uneven padding
}

std::string_view init_name(Init init) {
  constexpr std::string_view kNames[] = {"he", "heout", "torch", "dirac", "zero", "one", "normal002"};
  return kNames[static_cast<size_t>(init)];
}

std::string_view yes_no(bool value) { return value ? "yes" : "no"; }

std::string conv_text(const Layer& l) {
  std::string text =
      fmt::format(" {} kernel={} stride={} pad={} dilation={} groups={} bias={} init={}", l.filters,
                  pair(l.kernel_h, l.kernel_w), pair(l.stride_h, l.stride_w), padding(l),
                  pair(l.dilation_h, l.dilation_w), l.groups, yes_no(l.bias), init_name(l.init));
  if (l.whiten) return text + (l.bias_frozen ? " whiten=yes frozen=yes" : " whiten=yes");
  return l.frozen ? text + " frozen=yes" : text;
}

std::string norm_text(const Layer& l) {
  std::string text = fmt::format(" eps={} scale={} shift={} init={}", l.eps, yes_no(l.has_scale),
                                 yes_no(l.has_shift), init_name(l.init));
  if (l.kind == Kind::BatchNorm) text += fmt::format(" momentum={}", l.momentum);
  if (l.kind == Kind::GroupNorm) text += fmt::format(" groups={}", l.groups);
  return l.frozen ? text + " frozen=yes" : text;
}

std::string options_text(const Layer& l) {
  switch (l.kind) {
    case Kind::Conv:
      return conv_text(l);
    case Kind::Linear:
      return fmt::format(" {} bias={} per_token={} init={}", l.filters, yes_no(l.bias), yes_no(l.per_token),
                         init_name(l.init));
    case Kind::BatchNorm:
    case Kind::LayerNorm:
    case Kind::GroupNorm:
      return norm_text(l);
    case Kind::MaxPool:
    case Kind::AvgPool:
      return fmt::format(" kernel={} stride={} pad={}", pair(l.kernel_h, l.kernel_w),
                         pair(l.stride_h, l.stride_w), padding(l));
    case Kind::Activation:
      return l.act == Act::LeakyRelu || l.act == Act::Elu ? fmt::format(" slope={}", l.slope) : "";
    case Kind::Dropout:
      return fmt::format(" rate={}", l.rate);
    case Kind::Scale:
      return fmt::format(" factor={}", l.factor);
    case Kind::Embedding:
      return fmt::format(" {} vocabulary={} init={}", l.filters, l.vocabulary, init_name(l.init));
    case Kind::Position:
      return fmt::format(" init={}", init_name(l.init));
    case Kind::Attention:
      return fmt::format(" heads={} causal={} init={}", l.heads, yes_no(l.causal), init_name(l.init));
    default:
      return "";
  }
}

}  // namespace

std::string to_text(const Graph& graph) {
  std::string text =
      fmt::format("model {}\ninput {} {} {}\n", graph.name, graph.input.h, graph.input.w, graph.input.c);
  for (size_t i = 1; i < graph.layers.size(); ++i) {
    const Layer& l = graph.layers[i];
    const std::string_view kind = l.kind == Kind::Activation ? act_name(l.act) : kind_name(l.kind);
    text += fmt::format("{}: {}{} from", l.name, kind, options_text(l));
    for (int input : l.inputs) text += " " + graph.layers[input].name;
    text += "\n";
  }
  return text;
}

}  // namespace radl::engine
