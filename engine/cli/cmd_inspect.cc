// radl-train inspect: what is in a model, a weights file or a zoo entry.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/files.h"
#include "engine/cli/command.h"
#include "engine/export/bundle.h"
#include "engine/model/graph.h"

namespace radl::engine::cli::inspect_command {
namespace {

struct Flags {
  std::string what, shape = "32x32x3";
  int classes = 10;
  bool json = false, text = false, trainable = false;
};

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out;
  for (int64_t d : shape) out += (out.empty() ? "" : "x") + std::to_string(d);
  return out.empty() ? "scalar" : out;
}

int show_weights(const std::string& path, bool json) {
  auto file = exporter::read_safetensors(path);
  if (!file.ok()) return fail(file.status());
  nlohmann::ordered_json out = {
      {"file", path}, {"metadata", file->metadata}, {"tensors", nlohmann::ordered_json::array()}};
  size_t total = 0, odd = 0;
  for (const auto& t : file->tensors) {
    double sum = 0, squares = 0;
    for (float v : t.values) sum += v, squares += double(v) * v, odd += !std::isfinite(v);
    const double n = std::max<double>(1, double(t.values.size())), mean = sum / n,
                 variance = squares / n - mean * mean;
    const double deviation = variance < 0 ? 0 : std::sqrt(variance);  // a NaN stays one
    total += t.values.size();
    if (json)
      out["tensors"].push_back(
          {{"name", t.name}, {"shape", t.shape}, {"mean", mean}, {"deviation", deviation}});
    else
      fmt::print("{:<44} {:>18}  mean {:>10.4g}  deviation {:>10.4g}\n", t.name, shape_text(t.shape), mean,
                 deviation);
  }
  if (json)
    fmt::print("{}\n", out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  else
    fmt::print("{} tensors, {} values{}\n", file->tensors.size(), total,
               odd ? fmt::format(", {} of them not finite", odd) : "");
  return kDone;
}

// Number of layer outputs per image, without layers that modify their input in place.
size_t activations_of(const Graph& g) {
  size_t sum = 0;
  for (const Layer& l : g.layers)
    if (l.kind != Kind::Activation && l.kind != Kind::Dropout && l.kind != Kind::Flatten) sum += l.out.size();
  return sum;
}

size_t convolution_parameters(const Graph& g) {
  size_t sum = 0;
  for (const Layer& l : g.layers)
    if (l.kind == Kind::Conv && l.weight >= 0) sum += g.parameters[size_t(l.weight)].size;
  return sum;
}

nlohmann::ordered_json tensors_of(const Graph& g) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const auto* list : {&g.parameters, &g.statistics}) {
    for (const ParameterInfo& p : *list) out.push_back({{"name", p.name}, {"shape", p.shape}});
  }
  return out;
}

int show_graph(const Graph& g, bool json) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  if (!json) fmt::print("{:<30} {:<10} {:>12}  {:>11}\n", "layer", "kind", "output", "parameters");
  for (const Layer& l : g.layers) {
    size_t count = 0;
    for (int p : {l.weight, l.bias_param, l.weight2, l.bias2})
      count += p >= 0 ? g.parameters[size_t(p)].size : 0;
    const std::string shape = fmt::format("{}x{}x{}", l.out.h, l.out.w, l.out.c);
    if (json)
      layers.push_back({{"name", l.name},
                        {"kind", kind_name(l.kind)},
                        {"output", {l.out.h, l.out.w, l.out.c}},
                        {"parameters", count}});
    else
      fmt::print("{:<30} {:<10} {:>12}  {:>11}\n", l.name, kind_name(l.kind), shape, count);
  }
  if (json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"model", g.name},
                                              {"digest", sha256_hex(to_text(g))},
                                              {"parameters", g.parameter_count},
                                              {"convolution_parameters", convolution_parameters(g)},
                                              {"activations", activations_of(g)},
                                              {"classes", g.classes},
                                              {"forward_flop", g.forward_flop()},
                                              {"layers", layers},
                                              {"tensors", tensors_of(g)}}
                           .dump());
  } else {
    fmt::print("{}: {} parameters, {:.1f} MFLOP forward an image\n", g.name, g.parameter_count,
               g.forward_flop() / 1e6);
  }
  return kDone;
}

int show_model(const Graph& g, const Flags& f) {
  if (!f.text) return show_graph(g, f.json);
  fmt::print("{}", to_text(g));
  return kDone;
}

// Whether a dataset can feed the model, whatever its images are.
int show_trainable(const std::string& model, bool json) {
  const bool is_text = model.find_first_of("\n:") != model.npos;
  auto text = is_text ? Result<std::string>(model) : zoo_text(model);
  Status fits = text.ok() ? takes_images(*text) : text.status();
  if (!fits.ok()) return fail(fits);
  fmt::print("{}\n", json ? "{\"trainable\":true}" : "a dataset can feed this model");
  return kDone;
}

int run(const Flags& f) {
  std::error_code e;
  const std::string given =
      f.what == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : f.what;
  if (f.trainable) return show_trainable(given, f.json);
  if (f.what.ends_with(".safetensors")) return show_weights(f.what, f.json);
  if (std::filesystem::exists(f.what, e) && !f.what.ends_with(".txt")) {
    // How an ONNX file's input is normalized does not matter here.
    auto bundle = exporter::read_bundle(f.what, {{0, 0, 0}, {0}, {1}, {}});
    if (!bundle.ok()) return fail(bundle.status());
    auto graph =
        parse_model(bundle->description, {bundle->input.height, bundle->input.width, bundle->input.channels},
                    bundle->classes);
    return graph.ok() ? show_model(*graph, f)
                      : fail(Status(graph.status()).at(bundle->folder + "/model.txt"));
  }
  auto shape = parse_shape(f.shape);
  if (!shape.ok()) return fail(shape.status());
  std::string text = given;
  if (f.what.ends_with(".txt")) {
    auto read = read_file(f.what, 16 << 20);
    if (!read.ok()) return fail(read.status());
    text = *read;
  }
  auto graph = parse_model(text, {(*shape)[0], (*shape)[1], (*shape)[2]}, f.classes);
  return graph.ok() ? show_model(*graph, f) : fail(graph.status());
}

}  // namespace

std::function<int()> add(CLI::App& app, Context&) {
  auto f = std::make_shared<Flags>();
  auto* c = app.add_subcommand(
      "inspect", "Show the layers of a trained model, a weights file, a model text or a built-in model");
  c->add_option("what", f->what,
                "folder of a model, FILE.onnx, FILE.safetensors, FILE.txt, a built-in model, or - for a text "
                "on standard "
                "input")
      ->required();
  c->add_option("--input", f->shape, "built-in, text: HEIGHTxWIDTHxCHANNELS")->capture_default_str();
  c->add_option("--classes", f->classes, "built-in, text: number of classes")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  c->add_flag("--json", f->json, "one line of JSON");
  c->add_flag("--trainable", f->trainable,
              "built-in, text: only check that some dataset can train the model");
  c->add_flag("--text", f->text, "print the whole text of the model, with every option");
  std::string names;
  for (const auto& name : zoo_names()) names += (names.empty() ? "" : ", ") + name;
  c->footer("Built-in models: " + names);
  return [f] { return run(*f); };
}

}  // namespace radl::engine::cli::inspect_command
