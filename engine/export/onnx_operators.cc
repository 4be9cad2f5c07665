#include <climits>
#include <cmath>

#include "engine/export/onnx_importer.h"

namespace radl::engine::exporter {
namespace {

std::string window_text(const char* key, const Dims& sizes) {
  return sizes.size() == 2 ? fmt::format(" {}={}x{}", key, sizes[0], sizes[1]) : "";
}

// Whether a constant has one value for each channel of a layer's output, and not for each of its columns.
bool is_per_channel(const OnnxTensor& c, const Wire& x) {
  const size_t place = x.last ? 1 : 3, rank = c.shape.size();
  return x.vector || (rank >= place && size_t(c.shape[rank - place]) == c.values.size());
}

Dims two_or_ones(Dims given) { return given.size() == 2 ? given : Dims{1, 1}; }

// Of kernels and dilations: their product must not overflow.
constexpr int64_t kLargestWindow = 1 << 20;

bool is_window(const Dims& sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](int64_t s) { return s > 0 && s <= kLargestWindow; });
}

}  // namespace

// "pad=HxW" or "pad=same".
Result<std::string> OnnxImporter::padding(const OnnxNode& node, const Dims& kernel,
                                          const Dims& dilations) const {
  if (!is_window(kernel) || !is_window(dilations))
    return cannot(node, "with a kernel or dilation out of range");
  const Dims strides = node.integers("strides");
  const int64_t span_h = (kernel[0] - 1) * dilations[0] + 1, span_w = (kernel[1] - 1) * dilations[1] + 1;
  const bool one = std::all_of(strides.begin(), strides.end(), [](int64_t s) { return s == 1; });
  const bool odd = span_h % 2 == 1 && span_w % 2 == 1;
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
    return one && (odd || automatic == "SAME_UPPER")
               ? Result<std::string>(" pad=same")
               : cannot(node, "with auto_pad = " + automatic + " and a stride");
  Dims pads = node.integers("pads");
  if (pads.empty() || automatic == "VALID") pads = {0, 0, 0, 0};
  if (pads.size() != 4) return cannot(node, "in other than two dimensions");
  if (pads[0] == pads[2] && pads[1] == pads[3]) return fmt::format(" pad={}x{}", pads[0], pads[1]);
  const Dims same = {(span_h - 1) / 2, (span_w - 1) / 2, span_h - 1 - (span_h - 1) / 2,
                     span_w - 1 - (span_w - 1) / 2};
  return pads == same ? Result<std::string>(" pad=same")
                      : cannot(node, fmt::format("with the padding {}", fmt::join(pads, ",")));
}

Status OnnxImporter::convolution(const OnnxNode& node, const Wire& x) {
  const OnnxTensor* weight = constant(node, 1);
  if (!weight || weight->values.empty() || weight->shape.size() != 4 || x.last)
    return cannot(node, "without constant weights in two dimensions");
  const Dims kernel = {weight->shape[2], weight->shape[3]},
             dilations = two_or_ones(node.integers("dilations"));
  const OnnxTensor* bias = constant(node, 2);
  if (node.inputs.size() > 2 && !node.inputs[2].empty() && !bias) return cannot(node, "with a computed bias");
  if (x.vector && kernel == Dims{1, 1} && node.integer("group", 1) == 1)
    return put(node, lines_.add_linear(weight->shape[0], weight->shape[1], weight->values, bias, x));
  auto pad = padding(node, kernel, dilations);
  if (!pad.ok()) return pad.status();
  auto made = lines_.add("conv",
                         fmt::format("{}{} stride={}x{} dilation={}x{} groups={}{}", weight->shape[0],
                                     window_text("kernel", kernel), two_or_ones(node.integers("strides"))[0],
                                     two_or_ones(node.integers("strides"))[1], dilations[0], dilations[1],
                                     node.integer("group", 1), *pad),
                         {x});
  if (!made.ok()) return made.status();
  lines_.weight(*made, ".weight", weight->shape, weight->values);
  if (bias) lines_.bias(*made, bias->values);
  made->channels = int(weight->shape[0]);
  return put(node, std::move(*made));
}

Status OnnxImporter::matrix(const OnnxNode& node, const Wire& x) {
  const OnnxTensor *weight = constant(node, 1), *bias = constant(node, 2);
  if (!weight || weight->values.empty() || weight->shape.size() != 2 || !x.vector)
    return cannot(node, "other than of features and constant weights");
  if (node.integer("transA", 0) != 0 || (node.inputs.size() > 2 && !bias)) return cannot(node);
  const bool turned = node.op == "Gemm" && node.integer("transB", 0) != 0;
  const size_t out = size_t(weight->shape[turned ? 0 : 1]), in = size_t(weight->shape[turned ? 1 : 0]);
  const float alpha = node.op == "Gemm" ? node.real("alpha", 1) : 1, beta = node.real("beta", 1);
  std::vector<float> values(weight->values.size());
  for (size_t o = 0; o < out; ++o)
    for (size_t i = 0; i < in; ++i)
      values[o * in + i] = alpha * weight->values[turned ? o * in + i : i * out + o];
  OnnxTensor scaled;
  if (bias) {
    if (bias->values.size() != out && bias->values.size() != 1)
      return cannot(node, "with a bias of another size");
    for (size_t o = 0; o < out; ++o)
      scaled.values.push_back(beta * bias->values[bias->values.size() == 1 ? 0 : o]);
  }
  return put(node,
             lines_.add_linear(int64_t(out), int64_t(in), std::move(values), bias ? &scaled : nullptr, x));
}

Status OnnxImporter::norm(const OnnxNode& node, const Wire& x) {
  auto made = lines_.add("batchnorm", fmt::format("eps={}", node.real("epsilon", 1e-5f)), {x});
  if (!made.ok()) return made.status();
  constexpr const char* kNames[] = {".weight", ".bias", ".running_mean", ".running_var"};
  for (size_t k = 0; k < 4; ++k) {
    const OnnxTensor* values = constant(node, k + 1);
    if (!values || values->is_integer) return cannot(node, "without constant statistics");
    lines_.weight(*made, kNames[k], {int64_t(values->values.size())}, values->values, 1);
  }
  made->flat_of = x.flat_of;
  return put(node, std::move(*made));
}

Status OnnxImporter::pool(const OnnxNode& node, const Wire& x) {
  const Dims kernel = node.integers("kernel_shape"), dilations = two_or_ones(node.integers("dilations"));
  if (kernel.size() != 2 || dilations != Dims{1, 1} || x.last) return cannot(node, "in this form");
  if (node.integer("ceil_mode", 0) != 0) return cannot(node, "with ceil_mode");
  if (node.outputs.size() > 1 && needed_.contains(node.outputs[1]))
    return cannot(node, "whose indices are used");
  auto pad = padding(node, kernel, dilations);
  if (!pad.ok()) return pad.status();
  if (node.op == "AveragePool" && *pad != " pad=0x0" && node.integer("count_include_pad", 0) != 0)
    return cannot(node, "that counts its padding");
  Dims strides = node.integers("strides");
  if (strides.empty()) strides = {1, 1};
  return put(
      node,
      lines_.add(node.op == "MaxPool" ? "maxpool" : "avgpool",
                 (window_text("kernel", kernel) + window_text("stride", strides) + *pad).substr(1), {x}));
}

Status OnnxImporter::transpose(const OnnxNode& node, const Wire& x) {
  const Dims order = node.integers("perm");
  Wire made = x;
  if (x.is_input() && order == Dims{0, 3, 1, 2}) return put(node, made);  // begin() has turned the shape
  if (x.vector || order.size() != 4) return cannot(node);
  made.last = !x.last;
  if (order != (x.last ? Dims{0, 3, 1, 2} : Dims{0, 2, 3, 1})) return cannot(node, "in this order");
  return put(node, std::move(made));
}

Status OnnxImporter::flatten(const OnnxNode& node, const Wire& x) {
  int64_t features = -1;
  if (node.op == "Flatten" && node.integer("axis", 1) != 1) return cannot(node, "at another axis than 1");
  if (node.op == "Squeeze" && !x.vector) return cannot(node);
  if (node.op == "Reshape") {
    Dims to = node.integers("shape");
    if (const OnnxTensor* c = constant(node, 1); c && c->is_integer) to = c->integers;
    if (const auto computed = node.inputs.size() > 1 ? dims_.find(node.inputs[1]) : dims_.end();
        computed != dims_.end())
      to = computed->second;
    const bool ones = to.size() == 2 || (to.size() == 4 && to[2] == 1 && to[3] == 1);
    if (!ones || to[0] < -1 || to[0] > 1 || to[1] == 0 || to[1] < -1 || to[1] > INT_MAX ||
        (to[0] == -1 && to[1] == -1))
      return cannot(node, "to other than features");
    features = to[1];
  }
  if (x.vector) return put(node, x);
  auto made = lines_.add("flatten", "", {x});
  if (!made.ok()) return made.status();
  made->vector = true;
  made->channels = int(std::max<int64_t>(0, features));
  if (x.last) made->flat_of = x.line;
  if (features > 0) lines_.expect(*made, features);
  made->last = false;
  return put(node, std::move(*made));
}

Status OnnxImporter::join(const OnnxNode& node) {
  if (node.inputs.empty()) return cannot(node, "without inputs");
  std::vector<Wire> inputs;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const Wire* one = wire(node, k);
    if (!one || (k > 0 && (one->last != inputs[0].last || one->flat_of != inputs[0].flat_of)))
      return cannot(node, "of something else than layers' outputs");
    inputs.push_back(*one);
  }
  if (inputs.size() == 1) return put(node, inputs[0]);
  const int64_t axis = node.integer("axis", 1);
  const bool channels = axis == 1 || (axis == -3 && !inputs[0].vector) || (axis == -1 && inputs[0].vector);
  if (node.op == "Concat" && (inputs[0].last || inputs[0].flat_of != Wire::kNone || !channels))
    return cannot(node, "along another axis than 1");
  auto made = lines_.add(node.op == "Concat" ? "concat" : "add", "", inputs);
  if (made.ok() && node.op == "Concat") {
    int64_t channels = 0;
    for (const Wire& one : inputs) channels += one.channels;
    if (channels > INT_MAX) return cannot(node, "to too many channels");
    made->channels = int(channels);
  }
  return put(node, std::move(made));
}

Status OnnxImporter::gelu(const OnnxNode& node, bool& taken) {
  taken = true;
  using Step = Gate::Step;
  for (size_t k = 0; k < 2; ++k) {
    const Wire* x = wire(node, 1 - k);
    const OnnxTensor* c = constant(node, 1 - k);
    const bool half = c && c->values.size() == 1 && std::abs(c->values[0] - 0.5f) < kClose;
    const bool one = c && c->values.size() == 1 && std::abs(c->values[0] - 1) < kClose;
    const auto of = [&](const Gate* gate) { return gate && x && gate->x.line == x->line; };
    if (const Gate* erf = gate(node, k, Step::Erf); erf && one && node.op == "Add")
      return gated(node, Step::Plus, erf->x);
    if (node.op != "Mul") continue;
    if (const Gate* plus = gate(node, k, Step::Plus)) {
      if (half) return gated(node, Step::HalfPlus, plus->x);
      if (const Gate* part = gate(node, 1 - k, Step::Half); part && part->x.line == plus->x.line)
        return put(node, lines_.add("gelu", "", {plus->x}));
      if (of(plus)) return gated(node, Step::Times, plus->x);
    }
    if (const Gate* times = gate(node, k, Step::Times); times && half)
      return put(node, lines_.add("gelu", "", {times->x}));
    if (const Gate* plus = gate(node, k, Step::HalfPlus); of(plus))
      return put(node, lines_.add("gelu", "", {plus->x}));
    if (const Gate* hard = gate(node, k, Step::HardSigmoid); of(hard))
      return put(node, lines_.add("hardswish", "", {hard->x}));
    if (const Gate* sigmoid = gate(node, k, Step::Sigmoid); of(sigmoid))
      return put(node, lines_.add("silu", "", {sigmoid->x}));
  }
  taken = false;
  return {};
}

Status OnnxImporter::arithmetic(const OnnxNode& node) {
  if (node.inputs.size() != 2) return cannot(node);
  bool taken = false;
  if (Status made = gelu(node, taken); taken) return made;
  const Wire *a = wire(node, 0), *b = wire(node, 1);
  if (a && b && node.op == "Add") return join(node);
  for (size_t k = 0; k < 2; ++k)
    if (const OnnxTensor* c = constant(node, k); c && !c->is_integer && wire(node, 1 - k))
      return with_constant(node, Wire(*wire(node, 1 - k)), *c, k == 0);
  return cannot(node, "of these operands");
}

Status OnnxImporter::with_constant(const OnnxNode& node, const Wire& x, const OnnxTensor& c,
                                   bool constant_first) {
  const std::string& op = node.op;
  if (constant_first && (op == "Sub" || op == "Div"))
    return cannot(node, "of a constant and a layer's output");
  const size_t size = c.values.size();
  auto value = [&](size_t channel) { return c.values[size == 1 ? 0 : channel]; };
  if (x.is_input() && (size == 1 || size == x.factor.size())) {
    Wire made = x;
    for (size_t i = 0; i < made.factor.size(); ++i) {
      if (op == "Add") made.summand[i] += value(i);
      if (op == "Sub") made.summand[i] -= value(i);
      const float by = op == "Mul" ? value(i) : op == "Div" ? 1 / value(i) : 1;
      made.factor[i] *= by, made.summand[i] *= by;
    }
    return put(node, std::move(made));
  }
  if (op == "Add" && size == size_t(x.channels) && is_per_channel(c, x) &&
      uses_[node.inputs[constant_first ? 1 : 0]] == 1 && lines_.takes_bias(x)) {
    Wire made = x;
    lines_.bias(made, c.values);
    return put(node, std::move(made));
  }
  if (size != 1 || (op != "Mul" && op != "Div")) return cannot(node, "of a layer's output and a constant");
  const float factor = op == "Mul" ? c.values[0] : 1 / c.values[0];
  if (std::abs(factor - std::sqrt(0.5f)) < kClose) gates_[node.outputs[0]] = {Gate::Step::Scaled, x};
  if (std::abs(factor - 0.5f) < kClose) gates_[node.outputs[0]] = {Gate::Step::Half, x};
  return put(node, lines_.add("scale", fmt::format("factor={}", factor), {x}));
}

}  // namespace radl::engine::exporter
