// The graph of a model's lines: names resolved, parameters laid out. The lines come from parse_lines.cc; what
// a layer's words mean is in parse_layers.cc.
#include "engine/model/parse.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"

namespace radl::engine {

namespace {

constexpr size_t kMostLayers = 20000, kMostInputs = 1024;
constexpr size_t kMostParameters = size_t{1} << 33, kMostValues = size_t{1} << 28;

Status at_line(int line, const Status& status) {
  Status out(status.code(), fmt::format("line {}: {}", line, status.message()));
  return status.hint().empty() ? out : std::move(out).with_hint(status.hint());
}

Status at_line(int line, std::string message) { return at_line(line, invalid(std::move(message))); }

}  // namespace

GraphBuilder::GraphBuilder(Shape input, int classes) {
  graph_.name = "model";
  graph_.input = input;
  graph_.classes = classes;
  Layer layer;
  layer.name = "input";
  layer.out = input;
  graph_.layers.push_back(layer);
  names_["input"] = 0;
}

Status GraphBuilder::add_line(const ModelLine& line) {
  if (line.kind == "model") {
    if (line.args.size() != 1 || !line.options.empty() || !valid_name(line.args[0]))
      return at_line(line.number, "model is written: model NAME");
    graph_.name = line.args[0];
    return ok_status();
  }
  if (line.kind == "input") {
    const Shape& s = graph_.input;
    if (line.args != std::vector<std::string>{std::to_string(s.h), std::to_string(s.w), std::to_string(s.c)})
      return at_line(line.number, fmt::format("the model's input is {}, the data's {}x{}x{}",
                                              fmt::join(line.args, "x"), s.h, s.w, s.c));
    return ok_status();
  }
  if (line.kind == "save") {
    if (line.args.size() != 1 || !line.options.empty() || !valid_name(line.args[0]) ||
        names_.count(line.args[0]))
      return at_line(line.number, "save is written: save NAME, with a name that no layer has");
    saved_[line.args[0]] = static_cast<int>(graph_.layers.size()) - 1;
    return ok_status();
  }
  const Status status = add_layer(line);
  return status.ok() ? status : at_line(line.number, status);
}

Status GraphBuilder::resolve_inputs(const ModelLine& line, Layer& layer) {
  // `add NAME` and `concat NAME` join the current layer with the named ones; `from` replaces the current
  // layer.
  const bool joins = line.kind == "add" || line.kind == "concat";
  std::vector<std::string> names = line.from;
  if (joins) names.insert(names.end(), line.args.begin(), line.args.end());
  if (line.from.empty()) layer.inputs.push_back(static_cast<int>(graph_.layers.size()) - 1);
  for (const std::string& name : names) {
    if (const auto saved = saved_.find(name); saved != saved_.end()) {
      layer.inputs.push_back(saved->second);
    } else if (const auto known = names_.find(name); known != names_.end()) {
      layer.inputs.push_back(known->second);
    } else {
      std::vector<std::string> all;
      for (const auto& [key, value] : names_) all.push_back(key);
      for (const auto& [key, value] : saved_) all.push_back(key);
      const std::string near = nearest(name, all);
      Status status = invalid(fmt::format("no layer before this one is called \"{}\"", name));
      return near.empty() ? status : std::move(status).with_hint(fmt::format("did you mean {}?", near));
    }
  }
  if (layer.inputs.size() > kMostInputs)
    return invalid(fmt::format("{} takes at most {} inputs", line.kind, kMostInputs));
  if (!joins && layer.inputs.size() != 1) return invalid(fmt::format("{} takes one input", line.kind));
  if (joins && layer.inputs.size() < 2)
    return invalid(fmt::format("{} needs at least two inputs", line.kind));
  return ok_status();
}

Status GraphBuilder::add_layer(const ModelLine& line) {
  if (graph_.layers.size() > kMostLayers)
    return invalid(fmt::format("the model has more than {} layers", kMostLayers));
  Layer layer;
  layer.line = line.number;
  layer.name = line.name.empty() ? fmt::format("{}{}", line.kind, graph_.layers.size()) : line.name;
  if (names_.count(layer.name)) return invalid(fmt::format("two layers are called \"{}\"", layer.name));
  if (Status s = resolve_inputs(line, layer); !s.ok()) return s;
  std::vector<Shape> shapes;
  for (int i : layer.inputs) shapes.push_back(graph_.layers[i].out);
  if (Status s = read_layer(line, shapes, graph_.classes, layer); !s.ok()) return s;
  add_parameters(layer, shapes[0]);
  if (graph_.parameter_count > kMostParameters)
    return invalid("the model has more than 8 billion parameters");
  names_[layer.name] = static_cast<int>(graph_.layers.size());
  graph_.layers.push_back(std::move(layer));
  return ok_status();
}

int GraphBuilder::parameter(const std::string& name, std::vector<int> shape, bool decays, bool frozen) {
  ParameterInfo info{name, std::move(shape), graph_.parameter_count, 1, decays && !frozen, frozen};
  for (const int n : info.shape) {
    const auto factor = static_cast<size_t>(n);
    info.size = info.size > kMostParameters / factor ? kMostParameters + 1 : info.size * factor;
  }
  graph_.parameter_count += info.size;
  graph_.parameters.push_back(std::move(info));
  return static_cast<int>(graph_.parameters.size()) - 1;
}

int GraphBuilder::statistic(const std::string& name, int channels) {
  graph_.statistics.push_back(
      {name, {channels}, graph_.statistics_count, static_cast<size_t>(channels), false});
  graph_.statistics_count += channels;
  return static_cast<int>(graph_.statistics.size()) - 1;
}

void GraphBuilder::add_parameters(Layer& layer, const Shape& in) {
  const std::string& n = layer.name;
  switch (layer.kind) {
    case Kind::Conv:
      layer.weight =
          parameter(n + ".weight", {layer.filters, in.c / layer.groups, layer.kernel_h, layer.kernel_w}, true,
                    layer.frozen);
      if (layer.bias) layer.bias_param = parameter(n + ".bias", {layer.filters}, false, layer.bias_frozen);
      break;
    case Kind::Linear:
      layer.weight = parameter(n + ".weight",
                               {layer.filters, layer.per_token ? in.c : static_cast<int>(in.size())}, true);
      if (layer.bias) layer.bias_param = parameter(n + ".bias", {layer.filters}, false);
      break;
    case Kind::BatchNorm:
    case Kind::LayerNorm:
    case Kind::GroupNorm:
      if (layer.has_scale) layer.weight = parameter(n + ".weight", {in.c}, false, layer.frozen);
      if (layer.has_shift) layer.bias_param = parameter(n + ".bias", {in.c}, false, layer.frozen);
      if (layer.kind == Kind::BatchNorm) {
        layer.running_mean = statistic(n + ".running_mean", in.c);
        layer.running_var = statistic(n + ".running_var", in.c);
      }
      break;
    case Kind::Embedding:
      layer.weight = parameter(n + ".weight", {layer.vocabulary, layer.filters}, false);
      break;
    case Kind::Position:
      layer.weight = parameter(n + ".weight", {in.h * in.w, in.c}, false);
      break;
    case Kind::Attention:
      layer.weight = parameter(n + ".in_proj_weight", {3 * in.c, in.c}, true);
      layer.bias_param = parameter(n + ".in_proj_bias", {3 * in.c}, false);
      layer.weight2 = parameter(n + ".out_proj.weight", {in.c, in.c}, true);
      layer.bias2 = parameter(n + ".out_proj.bias", {in.c}, false);
      break;
    default:
      break;
  }
}

Result<Graph> GraphBuilder::finish() {
  const Layer& last = graph_.layers.back();
  const Shape wanted{1, 1, graph_.classes};
  if (graph_.layers.size() == 1) return invalid("the model has no layers");
  if (last.out != wanted)
    return at_line(last.line, fmt::format("the last layer gives {}x{}x{}, but there are {} classes: end with "
                                          "\"linear classes\"",
                                          last.out.h, last.out.w, last.out.c, graph_.classes));
  std::vector<bool> used(graph_.layers.size());
  for (const Layer& layer : graph_.layers)
    for (int i : layer.inputs) used[i] = true;
  for (size_t i = 0; i + 1 < used.size(); ++i)
    if (!used[i])
      return at_line(graph_.layers[i].line,
                     fmt::format("nothing uses the output of {}", graph_.layers[i].name));
  return std::move(graph_);
}

Result<Graph> parse_model(std::string_view model, Shape input, int classes) {
  if (input.h < 1 || input.w < 1 || input.c < 1 || classes < 2)
    return invalid(fmt::format("a model needs images and at least 2 classes, not {}x{}x{} and {}", input.h,
                               input.w, input.c, classes));
  if (static_cast<double>(input.h) * input.w * input.c > kMostValues)
    return invalid(fmt::format("a model's input has at most {} values, not {}x{}x{}", kMostValues, input.h,
                               input.w, input.c));
  std::string known;
  if (model.size() <= kLongestName && model.find_first_of("\n:") == model.npos) {
    Result<std::string> text = zoo_text(model);
    if (!text) return text.status();
    known = std::move(*text), model = known;
  }
  GraphBuilder builder(input, classes);
  if (Status s = for_each_line(model, [&](const ModelLine& line) { return builder.add_line(line); }); !s.ok())
    return s;
  return builder.finish();
}

}  // namespace radl::engine
