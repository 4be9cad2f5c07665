#include "engine/export/onnx_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "engine/export/onnx_importer.h"
#include "engine/model/graph.h"

namespace radl::engine::exporter {
namespace {

constexpr int64_t kBatchSize = 0;            // in Dims that the file computes; Reshape copies it
constexpr int64_t kNotComputed = INT64_MIN;  // any other size
constexpr int64_t kMostChannels = 1024;      // of images: each value computed from them has their factors
constexpr size_t kMostDims = 64;             // of a shape that the file computes

}  // namespace

std::string OnnxImporter::logits() const {
  std::string name = file_.outputs.empty() ? "" : file_.outputs[0].name;
  for (const OnnxValue& output : file_.outputs)
    if (output.name == "logits") name = output.name;
  for (size_t left = file_.nodes.size(); left > 0; --left) {
    const auto maker = std::find_if(file_.nodes.begin(), file_.nodes.end(), [&](const OnnxNode& node) {
      return !node.outputs.empty() && node.outputs[0] == name;
    });
    if (maker == file_.nodes.end() || maker->inputs.empty()) break;
    if (maker->op != "Softmax" && maker->op != "LogSoftmax" && maker->op != "Identity") break;
    name = maker->inputs[0];
  }
  return name;
}

void OnnxImporter::mark_needed(const std::string& output) {
  needed_ = {output};
  for (auto node = file_.nodes.rbegin(); node != file_.nodes.rend(); ++node) {
    const bool used = std::any_of(node->outputs.begin(), node->outputs.end(),
                                  [&](const std::string& name) { return needed_.contains(name); });
    for (const std::string& name : node->inputs) {
      if (!used) break;
      needed_.insert(name);
      ++uses_[name];
    }
  }
}

Status OnnxImporter::begin() {
  for (const OnnxNode& node : file_.nodes)
    if (node.outputs.empty() || node.op.empty()) return invalid("a node has no operator or no output");
  logits_ = logits();
  mark_needed(logits_);
  std::erase_if(needed_, [](const std::string& name) { return name.empty(); });
  constants_ = file_.constants;
  std::vector<OnnxValue> inputs;
  for (const OnnxValue& input : file_.inputs)
    if (needed_.contains(input.name)) inputs.push_back(input);
  if (inputs.size() != 1)
    return Status(Code::Unsupported,
                  fmt::format("takes {} inputs; a classifier of images takes one", inputs.size()));
  Dims shape = inputs[0].shape;
  const bool last = lines_.is_last_in(file_, inputs[0].name);
  if (shape.size() == 4 && last) shape = {shape[0], shape[3], shape[1], shape[2]};
  InputShape& to = lines_.input = given_.shape;
  if (to.height == 0) {
    if (shape.size() != 4 || std::any_of(shape.begin() + 1, shape.end(), [](int64_t d) { return d <= 0; }))
      return invalid("does not say how large its images are")
          .with_hint("`radl-train predict` and `radl-train import` take --input HEIGHTxWIDTHxCHANNELS");
    for (size_t i = 1; i < 4; ++i)
      if (shape[i] > 1 << 16) return invalid("its images are larger than 65536 pixels a side");
    if (shape[1] > kMostChannels) return invalid(fmt::format("its images have {} channels", shape[1]));
    to = {int(shape[2]), int(shape[3]), int(shape[1])};
  }
  Wire images{.line = Wire::kInput, .channels = to.channels};
  images.factor.assign(size_t(to.channels), 1);
  images.summand.assign(size_t(to.channels), 0);
  wires_[inputs[0].name] = std::move(images);
  return {};
}

// Shapes that a file computes from the batch's size: those of `x.view(x.size(0), -1)`.
Status OnnxImporter::compute_shape(const OnnxNode& node, bool& taken) {
  taken = true;
  const std::string& to = node.outputs[0];
  auto known = [&](size_t k) -> const Dims* {
    if (k >= node.inputs.size()) return nullptr;
    if (const OnnxTensor* c = constant(node, k); c && c->is_integer && c->integers.size() <= kMostDims)
      return &(dims_[node.inputs[k]] = c->integers);
    const auto found = dims_.find(node.inputs[k]);
    return found == dims_.end() ? nullptr : &found->second;
  };
  if (node.op == "Shape" && wire(node, 0)) {
    dims_[to] = {kBatchSize, kNotComputed, kNotComputed, kNotComputed};
    return {};
  }
  const Dims* first = known(0);
  if (!first || constant(node, 0))
    first = dims_.contains(node.inputs.empty() ? "" : node.inputs[0]) ? first : nullptr;
  if (!first) {
    taken = false;
    return {};
  }
  if (node.op == "Unsqueeze" || node.op == "Squeeze" || node.op == "Cast" || node.op == "Identity") {
    dims_[to] = *first;
  } else if (node.op == "Gather" || node.op == "Slice") {
    const Dims* at = known(1);
    const bool batch =
        at && at->size() == 1 && at->front() == 0 && !first->empty() && first->front() == kBatchSize;
    dims_[to] = {batch ? kBatchSize : kNotComputed};
  } else if (node.op == "Concat") {
    Dims all;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const Dims* one = known(k);
      if (!one) return cannot(node, "of a shape that is not constant");
      all.insert(all.end(), one->begin(), one->end());
      if (all.size() > kMostDims) return cannot(node, "of too many sizes");
    }
    dims_[to] = std::move(all);
  } else {
    taken = false;
  }
  return {};
}

Status OnnxImporter::take(const OnnxNode& node) {
  if (node.op == "Constant") {
    const auto value = node.attributes.find("value");
    if (value == node.attributes.end() || value->second.tensors.empty())
      return cannot(node, "without a tensor");
    constants_[node.outputs[0]] = value->second.tensors[0];
    return {};
  }
  if (node.op == "Identity" && constant(node, 0)) {
    constants_[node.outputs[0]] = *constant(node, 0);
    return {};
  }
  bool taken = false;
  const bool joins = node.op == "Sum" || (node.op == "Concat" && wire(node, 0));
  if (!joins) {
    if (Status computed = compute_shape(node, taken); !computed.ok() || taken) return computed;
  }
  if (joins) return join(node);
  if (node.op == "Add" || node.op == "Mul" || node.op == "Sub" || node.op == "Div") return arithmetic(node);
  if (node.op == "Erf") {
    const Gate* scaled = node.inputs.empty() ? nullptr : gate(node, 0, Gate::Step::Scaled);
    return scaled ? gated(node, Gate::Step::Erf, scaled->x) : cannot(node, "outside of a gelu");
  }
  const Wire* x = wire(node, 0);
  if (!x) return cannot(node, "of something else than a layer's output");
  return layer(node, Wire(*x));
}

Status OnnxImporter::layer(const OnnxNode& node, const Wire& x) {
  static const std::map<std::string, const char*> kSame{
      {"Relu", "relu"}, {"Tanh", "tanh"}, {"HardSwish", "hardswish"}, {"Gelu", "gelu"}, {"Swish", "silu"}};
  const std::string& op = node.op;
  if (op == "Identity" || op == "Dropout" || op == "Cast") return put(node, x);
  if (op == "Gelu" && node.text("approximate", "none") != "none") return cannot(node, "approximated");
  if (const auto same = kSame.find(op); same != kSame.end())
    return put(node, lines_.add(same->second, "", {x}));
  if (op == "Sigmoid") {
    if (node.outputs[0] == logits_)
      return cannot(node, "at the end: the classes of the engine exclude each other");
    gates_[node.outputs[0]] = {Gate::Step::Sigmoid, x};
    return put(node, lines_.add("sigmoid", "", {x}));
  }
  if (op == "HardSigmoid") {
    if (std::abs(node.real("alpha", 0.2f) - 1.0f / 6) > kClose ||
        std::abs(node.real("beta", 0.5f) - 0.5f) > kClose)
      return cannot(node);
    return gated(node, Gate::Step::HardSigmoid, x);
  }
  if (op == "LeakyRelu")
    return put(node, lines_.add("leakyrelu", fmt::format("slope={}", node.real("alpha", 0.01f)), {x}));
  if (op == "Elu") return put(node, lines_.add("elu", fmt::format("slope={}", node.real("alpha", 1)), {x}));
  if (op == "Conv") return convolution(node, x);
  if (op == "Gemm" || op == "MatMul") return matrix(node, x);
  if (op == "BatchNormalization") return norm(node, x);
  if (op == "MaxPool" || op == "AveragePool") return pool(node, x);
  if (op == "GlobalAveragePool" || op == "GlobalMaxPool" || op == "ReduceMean" || op == "ReduceMax") {
    Dims axes = op.starts_with("Global") ? Dims{2, 3} : node.integers("axes");
    if (const OnnxTensor* given = constant(node, 1); given && axes.empty()) axes = given->integers;
    for (int64_t& axis : axes) axis = axis < 0 ? axis + 4 : axis;
    std::sort(axes.begin(), axes.end());
    if (x.vector || axes != (x.last ? Dims{1, 2} : Dims{2, 3}))
      return cannot(node, "over other axes than 2 and 3");
    auto pooled =
        lines_.add(op.ends_with("Max") || op == "GlobalMaxPool" ? "globalmaxpool" : "globalavgpool", "", {x});
    if (pooled.ok()) pooled->vector = true, pooled->last = false;
    return put(node, std::move(pooled));
  }
  if (op == "Flatten" || op == "Reshape" || op == "Squeeze") return flatten(node, x);
  if (op == "Transpose") return transpose(node, x);
  return cannot(node);
}

Result<ImportedModel> OnnxImporter::finish() {
  const auto last = wires_.find(logits_);
  if (last == wires_.end() || last->second.is_input())
    return invalid("its output does not depend on a layer");
  ImportedModel made;
  made.name = file_.graph_name;
  if (const auto name = file_.metadata.find("model"); name != file_.metadata.end()) made.name = name->second;
  made.input = lines_.input;
  made.class_names = given_.class_names;
  if (const auto names = file_.metadata.find("class_names");
      made.class_names.empty() && names != file_.metadata.end()) {
    const auto json = nlohmann::json::parse(names->second, nullptr, false);
    for (const auto& one : json.is_array() ? json : nlohmann::json::array())
      if (one.is_string()) made.class_names.push_back(one.get<std::string>());
  }
  std::vector<float> mean = given_.mean, deviation = given_.deviation;
  const auto said = file_.metadata.find("input");
  if (mean.empty() && said != file_.metadata.end() && said->second == "RGB pixels, 0..255")
    mean = {0}, deviation = {1 / 255.0f};
  if (mean.empty())
    return invalid("does not say how its input is normalized")
        .with_hint(
            "`radl-train predict` and `radl-train import` take --mean and --deviation of its training, for "
            "pixels "
            "from 0 to 1; if it takes pixels from 0 to 255, --mean 0 --deviation 0.00392157");
  if (Status done = lines_.finish(last->second, mean, deviation, made); !done.ok()) return done;
  if (!made.class_names.empty() && made.class_names.size() != size_t(made.classes))
    return invalid(
        fmt::format("has {} classes, and {} names were given", made.classes, made.class_names.size()));
  return made;
}

Result<ImportedModel> import_onnx(const OnnxFile& file, const OnnxInput& input) {
  return OnnxImporter(file, input).run();
}

}  // namespace radl::engine::exporter
