#include "engine/export/onnx_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/model/graph.h"

namespace radl::engine::exporter {

bool OnnxLines::is_last_in(const OnnxFile& file, const std::string& input) {
  return std::any_of(file.nodes.begin(), file.nodes.end(), [&](const OnnxNode& node) {
    return node.op == "Transpose" && !node.inputs.empty() && node.inputs[0] == input &&
           node.integers("perm") == std::vector<int64_t>{0, 3, 1, 2};
  });
}

Result<Wire> OnnxLines::add(const std::string& kind, const std::string& options,
                            const std::vector<Wire>& inputs) {
  Line line{fmt::format("{}{}", kind, lines_.size() + 1), kind, options, {}, false, 0};
  for (const Wire& one : inputs) {
    line.from.push_back(one.line);
    if (!one.is_input()) continue;
    if (factor_.empty()) factor_ = one.factor, summand_ = one.summand;
    if (factor_ != one.factor || summand_ != one.summand)
      return Status(Code::Unsupported, "its layers read the images in two different normalizations");
  }
  Wire made = inputs[0];
  made.line = int(lines_.size());
  made.factor.clear(), made.summand.clear();
  lines_.push_back(std::move(line));
  return made;
}

Result<Wire> OnnxLines::add_linear(int64_t out, int64_t in, std::vector<float> values, const OnnxTensor* bias,
                                   const Wire& x) {
  auto made = add("linear", std::to_string(out), {x});
  if (!made.ok()) return made;
  made->channels = int(out);
  made->vector = true;
  made->flat_of = x.flat_of;  // for its weights alone
  weight(*made, ".weight", {out, in}, std::move(values), size_t(out));
  made->flat_of = Wire::kNone;
  if (bias) this->bias(*made, bias->values);
  return made;
}

void OnnxLines::weight(const Wire& of, const char* name, std::vector<int64_t> shape,
                       std::vector<float> values, size_t rows) {
  if (rows > 0 && of.flat_of != Wire::kNone) turns_.push_back({tensors_.size(), rows, of.flat_of});
  tensors_.push_back({lines_[size_t(of.line)].name + name, std::move(shape), std::move(values)});
  owners_.push_back(of.line);
}

bool OnnxLines::takes_bias(const Wire& of) const {
  const Line& line = lines_[size_t(of.line)];
  return (line.kind == "conv" || line.kind == "linear") && !line.has_bias;
}

void OnnxLines::bias(const Wire& of, const std::vector<float>& values) {
  lines_[size_t(of.line)].has_bias = true;
  weight(of, ".bias", {int64_t(values.size())}, values);
}

void OnnxLines::expect(const Wire& flattened, int64_t features) {
  lines_[size_t(flattened.line)].features = features;
}

std::vector<bool> OnnxLines::used_by(int last) const {
  std::vector<bool> used(lines_.size(), false);
  used[size_t(last)] = true;
  for (size_t i = lines_.size(); i-- > 0;) {
    if (!used[i]) continue;
    for (int from : lines_[i].from)
      if (from >= 0) used[size_t(from)] = true;
  }
  return used;
}

std::string OnnxLines::text_of(const std::vector<bool>& used) const {
  std::string text;
  for (size_t i = 0; i < lines_.size(); ++i) {
    const Line& line = lines_[i];
    if (!used[i]) continue;
    text += fmt::format("{}: {}{}{}", line.name, line.kind, line.options.empty() ? "" : " ", line.options);
    if (line.kind == "conv" || line.kind == "linear") text += line.has_bias ? " bias=yes" : " bias=no";
    text += " from";
    for (int from : line.from) text += " " + (from < 0 ? "input" : lines_[size_t(from)].name);
    text += "\n";
  }
  return text;
}

// From height x width x channels, as the file has flattened it, to PyTorch's channels x height x width.
Status OnnxLines::turn(const Turn& turn, const std::vector<int>& shape) {
  std::vector<float>& values = tensors_[turn.tensor].values;
  const size_t h = size_t(shape[0]), w = size_t(shape[1]), c = size_t(shape[2]), features = h * w * c;
  if (values.size() != turn.rows * features)
    return invalid(
        fmt::format("{} does not fit the {} features before it", tensors_[turn.tensor].name, features));
  std::vector<float> turned(values.size());
  for (size_t row = 0; row < turn.rows; ++row)
    for (size_t p = 0; p < h * w; ++p)
      for (size_t k = 0; k < c; ++k)
        turned[row * features + k * h * w + p] = values[row * features + p * c + k];
  values = std::move(turned);
  return {};
}

// The model takes (pixel / 255 - mean) / deviation. The file makes factor * x + summand of its input x, which
// is (pixel / 255 - m) / d.
Status OnnxLines::normalise(const std::vector<float>& mean, const std::vector<float>& deviation,
                            ImportedModel& made) const {
  const size_t channels = size_t(input.channels);
  if (mean.size() != deviation.size() || (mean.size() != 1 && mean.size() != channels))
    return invalid(fmt::format("takes {} channels, and mean and deviation have {} and {} values", channels,
                               mean.size(), deviation.size()));
  for (size_t i = 0; i < channels; ++i) {
    const float m = mean[mean.size() == 1 ? 0 : i], d = deviation[deviation.size() == 1 ? 0 : i];
    made.deviation.push_back(d / factor_[i]);
    made.mean.push_back(m - summand_[i] * d / factor_[i]);
    if (!(made.deviation[i] > 0) || !std::isfinite(made.deviation[i]) || !std::isfinite(made.mean[i]))
      return invalid("normalizes its input with numbers that are not positive");
  }
  return {};
}

Status OnnxLines::finish(const Wire& logits, const std::vector<float>& mean,
                         const std::vector<float>& deviation, ImportedModel& made) {
  const std::vector<bool> used = used_by(logits.line);
  made.classes = logits.channels;
  if (made.classes < 2)
    return invalid(fmt::format("ends in {} classes; a classifier has at least two", made.classes));
  if (factor_.empty()) return invalid("its output does not depend on its input");
  if (Status right = normalise(mean, deviation, made); !right.ok()) return right;
  made.description = text_of(used);
  auto graph = parse_model(made.description, {input.height, input.width, input.channels}, made.classes);
  if (!graph.ok()) return graph.status();
  std::vector<std::vector<int>> shapes(lines_.size());
  for (size_t i = 0; i < lines_.size(); ++i) {
    for (const Layer& layer : graph->layers) {
      if (layer.name != lines_[i].name) continue;
      shapes[i] = {layer.out.h, layer.out.w, layer.out.c};
      if (lines_[i].features > 0 && layer.out.size() != size_t(lines_[i].features))
        return invalid(fmt::format("flattens {} features to {}", layer.out.size(), lines_[i].features));
    }
  }
  for (const Turn& one : turns_) {
    if (!used[size_t(owners_[one.tensor])]) continue;
    const std::vector<int> shape =
        one.map < 0 ? std::vector<int>{input.height, input.width, input.channels} : shapes[size_t(one.map)];
    if (Status turned = turn(one, shape); !turned.ok()) return turned;
  }
  for (size_t i = 0; i < tensors_.size(); ++i)
    if (used[size_t(owners_[i])]) made.weights.tensors.push_back(std::move(tensors_[i]));
  return {};
}

}  // namespace radl::engine::exporter
