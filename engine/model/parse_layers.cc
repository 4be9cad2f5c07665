// What the words of a layer line mean: attributes, defaults, output shape, one function a family.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <set>

#include "common/text.h"
#include "engine/model/parse.h"

namespace radl::engine {

namespace {

// Hands out the options of a line and remembers which were asked for, so that unknown ones can be named.
class Options {
 public:
  explicit Options(const ModelLine& line) : line_(line) {}

  const std::string* find(const std::string& key) {
    asked_.push_back(key);
    const auto it = line_.options.find(key);
    return it == line_.options.end() ? nullptr : &it->second;
  }
  void integer(const std::string& key, int& value, int low, int high = 1 << 24) {
    if (const std::string* text = find(key)) value = to_integer(key, *text, low, high);
  }
  // "3" or "3x5" (height x width).
  void pair(const std::string& key, int& h, int& w, int low) {
    const std::string* text = find(key);
    if (!text) return;
    const size_t x = text->find('x');
    h = to_integer(key, text->substr(0, x), low, 1 << 16);
    w = x == std::string::npos ? h : to_integer(key, text->substr(x + 1), low, 1 << 16);
  }
  void number(const std::string& key, float& value, float low, float high) {
    const std::string* text = find(key);
    if (!text) return;
    float read = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), read);
    if (error != std::errc() || end != text->data() + text->size() || !std::isfinite(read) || read < low ||
        read > high)
      fail(fmt::format("{} is a number from {} to {}, not \"{}\"", key, low, high, *text));
    else
      value = read;
  }
  void boolean(const std::string& key, bool& value) {
    const std::string* text = find(key);
    if (!text) return;
    if (*text != "yes" && *text != "no")
      fail(fmt::format("{} is a boolean (yes or no), not \"{}\"", key, *text));
    value = *text == "yes";
  }
  int to_integer(const std::string& key, const std::string& text, int low, int high) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
      fail(fmt::format("{} is an integer from {} to {}, not \"{}\"", key, low, high, text));
      return low;
    }
    return value;
  }
  void fail(std::string message) {
    if (status_.ok()) status_ = invalid(std::move(message));
  }
  // The first thing wrong, unknown options included.
  Status finish() {
    if (!status_.ok()) return status_;
    for (const auto& [key, value] : line_.options) {
      if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
      const std::string near = nearest(key, asked_);
      Status unknown = invalid(fmt::format("{} has no option \"{}\"", line_.kind, key));
      return near.empty() ? unknown : std::move(unknown).with_hint(fmt::format("did you mean {}?", near));
    }
    return ok_status();
  }

 private:
  const ModelLine& line_;
  std::vector<std::string> asked_;
  Status status_;
};

struct Context {
  const ModelLine& line;
  const std::vector<Shape>& inputs;
  int classes;
  Layer& layer;
  Options& options;
  const Shape& in() const { return inputs[0]; }
};

void read_init(Context& c) {
  static const std::map<std::string, Init> kInits{
      {"he", Init::He},     {"heout", Init::HeOut}, {"torch", Init::Torch},        {"dirac", Init::Dirac},
      {"zero", Init::Zero}, {"one", Init::One},     {"normal002", Init::Normal002}};
  if (const std::string* text = c.options.find("init")) {
    const auto it = kInits.find(*text);
    if (it == kInits.end())
      c.options.fail(
          fmt::format("init is he, heout, torch, dirac, zero, one or normal002, not \"{}\"", *text));
    else
      c.layer.init = it->second;
  }
}

// The one positional argument: filters, features or the word `classes`.
void read_filters(Context& c, const char* what) {
  if (c.line.args.size() != 1)
    c.options.fail(fmt::format("{} needs the number of {}: \"{} 64\"", c.line.kind, what, c.line.kind));
  else if (c.line.args[0] == "classes")
    c.layer.filters = c.classes;
  else
    c.layer.filters = c.options.to_integer(what, c.line.args[0], 1, 1 << 24);
}

constexpr int kLargestWindow = 1 << 16;  // with dilation

// pad=same (default), valid, N or HxW; then the output size.
void window_shape(Context& c, bool same_by_default) {
  Layer& l = c.layer;
  const Shape& in = c.in();
  const std::string* pad = c.options.find("pad");
  const int64_t span_h = int64_t{l.kernel_h - 1} * l.dilation_h + 1,
                span_w = int64_t{l.kernel_w - 1} * l.dilation_w + 1;
  if (span_h > kLargestWindow || span_w > kLargestWindow)
    return c.options.fail(fmt::format("a window has at most {} positions each way", kLargestWindow));
  if (pad ? *pad == "same" : same_by_default) {
    // As PyTorch's models do for odd kernels: (k-1)/2 before; an even kernel gets the extra one after.
    l.pad_top = static_cast<int>((span_h - 1) / 2), l.pad_left = static_cast<int>((span_w - 1) / 2);
    l.pad_bottom = static_cast<int>(span_h) - 1 - l.pad_top,
    l.pad_right = static_cast<int>(span_w) - 1 - l.pad_left;
  } else if (pad && *pad != "valid") {
    c.options.pair("pad", l.pad_top, l.pad_left, 0);
    l.pad_bottom = l.pad_top, l.pad_right = l.pad_left;
  }
  const int64_t room_h = int64_t{in.h} + l.pad_top + l.pad_bottom - span_h;
  const int64_t room_w = int64_t{in.w} + l.pad_left + l.pad_right - span_w;
  if (room_h < 0 || room_w < 0)
    return c.options.fail(fmt::format("a window of {}x{} does not fit into {}x{} with padding {}x{}", span_h,
                                      span_w, in.h, in.w, l.pad_top, l.pad_left));
  if (l.pad_top >= span_h || l.pad_left >= span_w || l.pad_bottom >= span_h || l.pad_right >= span_w)
    return c.options.fail("padding must be smaller than the window");
  l.out.h = static_cast<int>(room_h / l.stride_h) + 1;
  l.out.w = static_cast<int>(room_w / l.stride_w) + 1;
}

void read_conv(Context& c) {
  Layer& l = c.layer;
  l.kind = Kind::Conv;
  l.kernel_h = l.kernel_w = 3;
  l.bias = true;
  read_filters(c, "filters");
  c.options.pair("kernel", l.kernel_h, l.kernel_w, 1);
  c.options.pair("stride", l.stride_h, l.stride_w, 1);
  c.options.pair("dilation", l.dilation_h, l.dilation_w, 1);
  c.options.integer("groups", l.groups, 1);
  c.options.boolean("bias", l.bias);
  c.options.boolean("frozen", l.frozen);
  c.options.boolean("whiten", l.whiten);
  read_init(c);
  l.bias_frozen = l.frozen;
  if (l.whiten) l.frozen = true;
  if (c.in().c % l.groups || l.filters % l.groups)
    return c.options.fail(fmt::format("{} groups divide neither evenly {} inputs and {} filters", l.groups,
                                      c.in().c, l.filters));
  const int64_t whitening = int64_t{2} * c.in().c * l.kernel_h * l.kernel_w;  // below 2^62
  if (l.whiten && (l.groups != 1 || l.filters != whitening))
    return c.options.fail(fmt::format("a whitening convolution of this size has {} filters", whitening));
  window_shape(c, true);
  l.out.c = l.filters;
}

void read_linear(Context& c) {
  Layer& l = c.layer;
  l.kind = Kind::Linear;
  l.bias = true;
  l.init = Init::Torch;
  read_filters(c, "features");
  c.options.boolean("bias", l.bias);
  c.options.boolean("per_token", l.per_token);
  read_init(c);
  if (l.init == Init::Dirac) c.options.fail("init=dirac is for convolutions");
  if (!l.per_token && c.in().size() > (1 << 24)) c.options.fail("linear takes at most 16777216 inputs");
  l.out = l.per_token ? Shape{c.in().h, c.in().w, l.filters} : Shape{1, 1, l.filters};
}

void read_norm(Context& c) {
  Layer& l = c.layer;
  l.kind = c.line.kind == "batchnorm"   ? Kind::BatchNorm
           : c.line.kind == "layernorm" ? Kind::LayerNorm
                                        : Kind::GroupNorm;
  l.out = c.in();
  c.options.number("eps", l.eps, 1e-12f, 1);
  c.options.boolean("scale", l.has_scale);
  c.options.boolean("shift", l.has_shift);
  c.options.boolean("frozen", l.frozen);
  l.init = Init::One;
  read_init(c);
  if (l.init != Init::One && l.init != Init::Zero)
    c.options.fail("a norm's scale starts with init=one or zero");
  if (l.kind == Kind::BatchNorm) c.options.number("momentum", l.momentum, 0, 1);
  if (l.kind == Kind::GroupNorm) {
    l.groups = 32;
    c.options.integer("groups", l.groups, 1);
    if (c.in().c % l.groups)
      c.options.fail(fmt::format("{} groups do not divide {} channels", l.groups, c.in().c));
  }
}

void read_pool(Context& c) {
  Layer& l = c.layer;
  l.kind = c.line.kind == "maxpool" ? Kind::MaxPool : Kind::AvgPool;
  l.kernel_h = l.kernel_w = 2;
  c.options.pair("kernel", l.kernel_h, l.kernel_w, 1);
  l.stride_h = l.kernel_h, l.stride_w = l.kernel_w;
  c.options.pair("stride", l.stride_h, l.stride_w, 1);
  if (l.kernel_h > 255 || l.kernel_w > 255 || l.kernel_h * l.kernel_w > 255)
    return c.options.fail("a pooling window has at most 255 positions (globalavgpool takes all)");
  window_shape(c, false);
  l.out.c = c.in().c;
}

void read_activation(Context& c) {
  static const std::map<std::string, Act> kActs{
      {"identity", Act::None},   {"relu", Act::Relu}, {"leakyrelu", Act::LeakyRelu},
      {"gelu", Act::Gelu},       {"silu", Act::Silu}, {"tanh", Act::Tanh},
      {"sigmoid", Act::Sigmoid}, {"elu", Act::Elu},   {"hardswish", Act::HardSwish}};
  Layer& l = c.layer;
  l.kind = Kind::Activation;
  l.act = kActs.at(c.line.kind);
  if (l.act == Act::Elu) l.slope = 1;
  if (l.act == Act::LeakyRelu || l.act == Act::Elu) c.options.number("slope", l.slope, 0, 1);
  l.out = c.in();
}

void read_global_pool(Context& c) {
  c.layer.kind = c.line.kind == "globalavgpool" ? Kind::GlobalAvgPool : Kind::GlobalMaxPool;
  c.layer.out = {1, 1, c.in().c};
}

void read_dropout(Context& c) {
  c.layer.kind = Kind::Dropout;
  c.layer.rate = 0.5f;
  c.options.number("rate", c.layer.rate, 0, 0.999f);
  c.layer.out = c.in();
}

std::string text_of(const Shape& s) { return fmt::format("{}x{}x{}", s.h, s.w, s.c); }

void read_add(Context& c) {
  c.layer.kind = Kind::Add;
  c.layer.out = c.in();
  for (const Shape& s : c.inputs)
    if (s != c.in())
      c.options.fail(fmt::format("add needs equal shapes, not {} and {}", text_of(c.in()), text_of(s)));
}

constexpr int64_t kMostChannels = 1 << 28;

void read_concat(Context& c) {
  c.layer.kind = Kind::Concat;
  int64_t channels = 0;
  for (const Shape& s : c.inputs) {
    if (s.h != c.in().h || s.w != c.in().w)
      c.options.fail(
          fmt::format("concat needs equal heights and widths, not {} and {}", text_of(c.in()), text_of(s)));
    channels += s.c;
  }
  if (channels > kMostChannels)
    c.options.fail(fmt::format("concat gives at most {} channels", kMostChannels));
  c.layer.out = {c.in().h, c.in().w, static_cast<int>(std::min<int64_t>(channels, kMostChannels))};
}

void read_flatten(Context& c) {
  c.layer.kind = Kind::Flatten;
  c.layer.out = {1, 1, static_cast<int>(c.in().size())};
}

void read_scale(Context& c) {
  c.layer.kind = Kind::Scale;
  c.options.number("factor", c.layer.factor, -1e6f, 1e6f);
  c.layer.out = c.in();
}

void read_embedding(Context& c) {
  c.layer.kind = Kind::Embedding;
  c.layer.init = Init::Normal002;
  read_filters(c, "features");
  c.options.integer("vocabulary", c.layer.vocabulary, 1);
  if (c.layer.vocabulary < 1) c.options.fail("embedding needs vocabulary=N");
  if (c.in().c != 1) c.options.fail("embedding takes one index per position");
  read_init(c);
  c.layer.out = {c.in().h, c.in().w, c.layer.filters};
}

void read_position(Context& c) {
  c.layer.kind = Kind::Position;
  c.layer.init = Init::Normal002;
  read_init(c);
  c.layer.out = c.in();
}

void read_attention(Context& c) {
  c.layer.kind = Kind::Attention;
  c.layer.init = Init::Torch;
  c.options.integer("heads", c.layer.heads, 1);
  c.options.boolean("causal", c.layer.causal);
  read_init(c);
  if (c.in().c % c.layer.heads)
    c.options.fail(fmt::format("{} heads do not divide {} features", c.layer.heads, c.in().c));
  c.layer.out = c.in();
}

struct Reader {
  void (*read)(Context&);
  bool takes_arguments;
};

const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> kReaders{{"conv", {read_conv, true}},
                                                      {"linear", {read_linear, true}},
                                                      {"batchnorm", {read_norm, false}},
                                                      {"layernorm", {read_norm, false}},
                                                      {"groupnorm", {read_norm, false}},
                                                      {"identity", {read_activation, false}},
                                                      {"relu", {read_activation, false}},
                                                      {"leakyrelu", {read_activation, false}},
                                                      {"gelu", {read_activation, false}},
                                                      {"silu", {read_activation, false}},
                                                      {"tanh", {read_activation, false}},
                                                      {"sigmoid", {read_activation, false}},
                                                      {"elu", {read_activation, false}},
                                                      {"hardswish", {read_activation, false}},
                                                      {"maxpool", {read_pool, false}},
                                                      {"avgpool", {read_pool, false}},
                                                      {"globalavgpool", {read_global_pool, false}},
                                                      {"globalmaxpool", {read_global_pool, false}},
                                                      {"dropout", {read_dropout, false}},
                                                      {"add", {read_add, true}},
                                                      {"concat", {read_concat, true}},
                                                      {"flatten", {read_flatten, false}},
                                                      {"scale", {read_scale, false}},
                                                      {"embedding", {read_embedding, true}},
                                                      {"position", {read_position, false}},
                                                      {"attention", {read_attention, false}}};
  return kReaders;
}

}  // namespace

Status read_layer(const ModelLine& line, const std::vector<Shape>& inputs, int classes, Layer& layer) {
  const auto reader = readers().find(line.kind);
  if (reader == readers().end()) {
    std::vector<std::string> names{"repeat", "end", "save", "model", "input"};
    for (const auto& [name, r] : readers()) names.push_back(name);
    const std::string near = nearest(line.kind, names);
    Status status = invalid(fmt::format("unknown layer \"{}\"", line.kind));
    return near.empty() ? status : std::move(status).with_hint(fmt::format("did you mean {}?", near));
  }
  if (!reader->second.takes_arguments && !line.args.empty())
    return invalid(fmt::format("{} takes no \"{}\"; options are written KEY=VALUE", line.kind, line.args[0]));
  Options options(line);
  Context context{line, inputs, classes, layer, options};
  reader->second.read(context);
  if (Status s = options.finish(); !s.ok()) return s;
  const double elements = static_cast<double>(layer.out.h) * layer.out.w * layer.out.c;
  if (elements > (1 << 28)) return invalid("a layer's output has at most 268435456 values per example");
  return ok_status();
}

}  // namespace radl::engine
