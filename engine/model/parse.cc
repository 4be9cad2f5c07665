// The model text: lines into words, repeat blocks unrolled, names resolved. What a layer's words mean is in
// parse_layers.cc.
#include "engine/model/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <sstream>

#include "common/text.h"

namespace radl::engine {

namespace {

constexpr int kMaxLines = 100000;  // after unrolling

struct RawLine {
  int number;
  std::vector<std::string> words;
};

Status at_line(int line, const Status& status) {
  Status out(status.code(), fmt::format("line {}: {}", line, status.message()));
  return status.hint().empty() ? out : std::move(out).with_hint(status.hint());
}

Status at_line(int line, std::string message) { return at_line(line, invalid(std::move(message))); }

std::vector<RawLine> split_lines(std::string_view text) {
  std::vector<RawLine> lines;
  int number = 0;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    std::istringstream words_in(line);
    RawLine raw{number, {}};
    for (std::string word; words_in >> word;) raw.words.push_back(word);
    if (!raw.words.empty()) lines.push_back(std::move(raw));
  }
  return lines;
}

bool whole_number(std::string_view text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool valid_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.' || c == '-';
  });
}

std::string substitute(std::string word, const std::string& variable, int value) {
  const std::string key = "$" + variable;
  for (size_t at = word.find(key); at != std::string::npos; at = word.find(key, at))
    word.replace(at, key.size(), std::to_string(value));
  return word;
}

// The index of the `end` that closes the repeat at `begin`, or lines.size().
size_t matching_end(const std::vector<RawLine>& lines, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i < lines.size(); ++i) {
    if (lines[i].words[0] == "repeat") ++depth;
    if (lines[i].words[0] == "end" && --depth == 0) return i;
  }
  return lines.size();
}

struct Range {
  std::string variable;
  int first = 0, last = 0;
};

// repeat VARIABLE FIRST..LAST
Result<Range> repeat_range(const RawLine& line) {
  const std::string wrong = "repeat is written: repeat VARIABLE FIRST..LAST";
  if (line.words.size() != 3) return at_line(line.number, wrong);
  const std::string& span = line.words[2];
  const size_t dots = span.find("..");
  Range range{line.words[1]};
  if (dots == std::string::npos || !whole_number(span.substr(0, dots), range.first) ||
      !whole_number(span.substr(dots + 2), range.last))
    return at_line(line.number, wrong);
  return range;
}

Status unroll(std::vector<RawLine> lines, std::vector<RawLine>& out) {
  for (size_t i = 0; i < lines.size(); ++i) {
    if (out.size() > kMaxLines) return at_line(lines[i].number, "more than 100000 lines after repeats");
    if (lines[i].words[0] == "end") return at_line(lines[i].number, "end without repeat");
    if (lines[i].words[0] != "repeat") {
      out.push_back(lines[i]);
      continue;
    }
    Result<Range> range = repeat_range(lines[i]);
    if (!range) return range.status();
    const size_t end = matching_end(lines, i);
    if (end == lines.size()) return at_line(lines[i].number, "repeat without end");
    for (int64_t value = range->first; value <= range->last; ++value) {
      std::vector<RawLine> body(lines.begin() + i + 1, lines.begin() + end);
      for (RawLine& line : body)
        for (std::string& word : line.words)
          word = substitute(std::move(word), range->variable, static_cast<int>(value));
      if (Status s = unroll(std::move(body), out); !s.ok()) return s;
      if (out.size() > kMaxLines) return at_line(lines[i].number, "more than 100000 lines after repeats");
    }
    i = end;
  }
  return ok_status();
}

Result<ModelLine> to_model_line(const RawLine& raw) {
  ModelLine line;
  line.number = raw.number;
  size_t i = 0;
  if (raw.words[0].back() == ':') {
    line.name = raw.words[0].substr(0, raw.words[0].size() - 1);
    if (!valid_name(line.name))
      return at_line(raw.number, fmt::format("a name has letters, digits and . _ -, not \"{}\"", line.name));
    i = 1;
  }
  if (i == raw.words.size()) return at_line(raw.number, fmt::format("\"{}\" names no layer", line.name));
  line.kind = raw.words[i++];
  for (; i < raw.words.size(); ++i) {
    const std::string& word = raw.words[i];
    if (word == "from") {
      line.from.assign(raw.words.begin() + i + 1, raw.words.end());
      if (line.from.empty()) return at_line(raw.number, "from needs the name of a layer");
      break;
    }
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      line.args.push_back(word);
    } else if (!line.options.emplace(word.substr(0, equals), word.substr(equals + 1)).second) {
      return at_line(raw.number, fmt::format("{} is given twice", word.substr(0, equals)));
    }
  }
  return line;
}

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
  if (!joins && layer.inputs.size() != 1) return invalid(fmt::format("{} takes one input", line.kind));
  if (joins && layer.inputs.size() < 2)
    return invalid(fmt::format("{} needs at least two inputs", line.kind));
  return ok_status();
}

Status GraphBuilder::add_layer(const ModelLine& line) {
  Layer layer;
  layer.line = line.number;
  layer.name = line.name.empty() ? fmt::format("{}{}", line.kind, graph_.layers.size()) : line.name;
  if (names_.count(layer.name)) return invalid(fmt::format("two layers are called \"{}\"", layer.name));
  if (Status s = resolve_inputs(line, layer); !s.ok()) return s;
  std::vector<Shape> shapes;
  for (int i : layer.inputs) shapes.push_back(graph_.layers[i].out);
  if (Status s = read_layer(line, shapes, graph_.classes, layer); !s.ok()) return s;
  add_parameters(layer, shapes[0]);
  if (graph_.parameter_count > (size_t{1} << 33))
    return invalid("the model has more than 8 billion parameters");
  names_[layer.name] = static_cast<int>(graph_.layers.size());
  graph_.layers.push_back(std::move(layer));
  return ok_status();
}

int GraphBuilder::parameter(const std::string& name, std::vector<int> shape, bool decays) {
  ParameterInfo info{name, std::move(shape), graph_.parameter_count, 1, decays};
  for (int n : info.shape) info.size *= static_cast<size_t>(n);
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
          parameter(n + ".weight", {layer.filters, in.c / layer.groups, layer.kernel_h, layer.kernel_w},
                    !layer.frozen);  // frozen ones keep their values: no decay either
      if (layer.bias) layer.bias_param = parameter(n + ".bias", {layer.filters}, false);
      break;
    case Kind::Linear:
      layer.weight = parameter(n + ".weight",
                               {layer.filters, layer.per_token ? in.c : static_cast<int>(in.size())}, true);
      if (layer.bias) layer.bias_param = parameter(n + ".bias", {layer.filters}, false);
      break;
    case Kind::BatchNorm:
    case Kind::LayerNorm:
    case Kind::GroupNorm:
      if (layer.has_scale) layer.weight = parameter(n + ".weight", {in.c}, false);
      if (layer.has_shift) layer.bias_param = parameter(n + ".bias", {in.c}, false);
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
    return invalid(fmt::format("a model needs pictures and at least 2 classes, not {}x{}x{} and {}", input.h,
                               input.w, input.c, classes));
  std::string text(model);
  if (text.find('\n') == std::string::npos && text.find(':') == std::string::npos) {
    Result<std::string> known = zoo_text(text);
    if (!known) return known.status();
    text = *known;
  }
  std::vector<RawLine> lines;
  if (Status s = unroll(split_lines(text), lines); !s.ok()) return s;
  GraphBuilder builder(input, classes);
  for (const RawLine& raw : lines) {
    Result<ModelLine> line = to_model_line(raw);
    if (!line) return line.status();
    if (Status s = builder.add_line(*line); !s.ok()) return s;
  }
  return builder.finish();
}

}  // namespace radl::engine
