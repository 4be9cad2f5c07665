// radl-train export and import: between a trained model's folder and the formats of others.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <optional>

#include "common/files.h"
#include "common/human.h"
#include "engine/cli/command.h"
#include "engine/data/cifar.h"
#include "engine/export/bundle.h"
#include "engine/export/onnx.h"

namespace radl::engine::cli::convert_command {
namespace {

struct ExportFlags {
  std::string model, format, output;
  bool normalised = false, force = false;
};

// `-o -`: for a pipe or a redirection.
int to_standard_output(const Result<std::string>& bytes) {
  if (!bytes.ok()) return fail(bytes.status());
  if (isatty(STDOUT_FILENO) != 0)
    return fail(invalid("standard output is a terminal; redirect it, or pass a file with -o"));
  if (Status s = write_all(STDOUT_FILENO, *bytes, "standard output"); !s.ok()) return fail(s);
  return kDone;
}

int run_export(const ExportFlags& f) {
  auto bundle = exporter::read_bundle(f.model);
  if (!bundle.ok()) return fail(bundle.status());
  std::string format = f.format;
  if (format.empty())
    format = f.output.ends_with(".onnx") ? "onnx" : f.output.ends_with(".safetensors") ? "safetensors" : "";
  if (format.empty())
    return fail(invalid("the format cannot be derived from \"" + f.output +
                        "\": name it with --format onnx or safetensors"));
  if (f.output != "-") {
    if (Status may = may_write(f.output, {.ours = names_producer, .force = f.force}); !may.ok())
      return fail(may);
  }
  auto network = exporter::load_network(*bundle, {.batch_size = 1, .training = false});
  if (!network.ok()) return fail(network.status());
  Status written;
  if (format == "onnx") {
    exporter::OnnxOptions o{.class_names = bundle->class_names, .metadata = {{"model", bundle->name}}};
    if (!f.normalised) o.mean = bundle->mean, o.deviation = bundle->deviation;
    if (f.output == "-")
      return to_standard_output(
          exporter::encode_onnx((*network)->graph(), (*network)->parameters(), (*network)->statistics(), o));
    written = exporter::write_onnx(f.output, (*network)->graph(), (*network)->parameters(),
                                   (*network)->statistics(), o);
  } else {
    const std::map<std::string, std::string> metadata = {
        {"format", "pt"}, {"model", bundle->name}, {"producer", kProducer}};
    const auto weights = exporter::pytorch_weights(**network);
    if (f.output == "-") return to_standard_output(exporter::encode_safetensors(weights.views, metadata));
    written = exporter::write_safetensors(f.output, weights.views, metadata);
  }
  if (!written.ok()) return fail(written);
  std::error_code e;
  fmt::print("{}: {}, {}\n", f.output, format, bytes_text(double(std::filesystem::file_size(f.output, e))));
  return kDone;
}

struct ImportFlags {
  std::string weights, model, output, dataset;
  std::optional<int> classes;  // 10 if not given
  bool force = false;
  OnnxFlags given;
};

int write_imported(const ImportFlags& f, const exporter::Bundle& b, Network& network, size_t tensors) {
  // One of these may be what was read.
  for (const char* name : {"model.safetensors", "model.txt", "model.json"}) {
    if (Status may = may_write(f.output + "/" + name, {.force = f.force}); !may.ok()) return fail(may);
  }
  if (Status s = exporter::write_bundle(f.output, b, network); !s.ok()) return fail(s);
  fmt::print("{}: {} with {} tensors of {}\n", f.output, b.name, tensors, f.weights);
  return kDone;
}

int import_onnx_file(const ImportFlags& f) {
  if (!f.model.empty() || !f.dataset.empty() || f.classes)
    return fail(invalid(
        "--model, --classes and --dataset describe safetensors files; an ONNX file has its own model"));
  auto given = f.given.input(f.weights);
  if (!given.ok()) return fail(given.status());
  auto bundle = exporter::read_bundle(f.weights, *given);
  if (!bundle.ok()) return fail(bundle.status());
  auto network = exporter::load_network(*bundle, {.batch_size = 1, .training = false});
  if (!network.ok()) return fail(network.status());
  return write_imported(f, *bundle, **network, bundle->weights->tensors.size());
}

int run_import(const ImportFlags& f) {
  if (f.weights.ends_with(".onnx")) return import_onnx_file(f);
  if (f.model.empty()) return fail(invalid("--model is needed: safetensors files hold weights alone"));
  auto shape = parse_shape(f.given.shape.empty() ? "32x32x3" : f.given.shape);
  if (!shape.ok()) return fail(shape.status());
  exporter::Bundle b;
  b.folder = f.output;
  b.name = f.model.find('\n') == std::string::npos ? f.model : "custom";
  b.input = {(*shape)[0], (*shape)[1], (*shape)[2]};
  b.classes = f.classes.value_or(10);
  b.mean = f.given.mean;
  b.deviation = f.given.deviation;
  b.class_names = f.given.class_names;
  std::string text = f.model;
  if (std::filesystem::is_regular_file(f.model)) {
    auto read = read_file(f.model, 16 << 20);
    if (!read.ok()) return fail(read.status());
    text = *read;
    b.name = std::filesystem::path(f.model).stem().string();
  }
  if (f.dataset == "cifar10") {
    const auto n = data::cifar10_normalization();
    if (b.mean.empty()) b.mean = n.mean, b.deviation = n.deviation;
    if (b.class_names.empty()) b.class_names = data::cifar10_class_names();
  }
  if (b.mean.empty())
    return fail(
        invalid("--mean and --deviation (or --dataset cifar10) are needed: what the model's input was "
                "normalised with"));
  auto network = Network::build(text, b.input, b.classes, {.batch_size = 1, .training = false});
  if (!network.ok()) return fail(network.status());
  auto file = exporter::read_safetensors(f.weights);
  if (!file.ok()) return fail(file.status());
  if (Status s = exporter::assign_weights(**network, *file, f.weights); !s.ok()) return fail(s);
  return write_imported(f, b, **network, file->tensors.size());
}

}  // namespace

std::function<int()> add(CLI::App& app, Context&) {
  auto f = std::make_shared<ExportFlags>();
  auto* c = app.add_subcommand("export", "Export a trained model as ONNX or safetensors");
  c->add_option("model", f->model, "folder of the trained model")->required();
  c->add_option("-o,--output", f->output, "file to write; - for standard output, with --format")->required();
  c->add_option("--format", f->format, "onnx or safetensors (default: by the name of the file)")
      ->check(CLI::IsMember({"onnx", "safetensors"}));
  c->add_flag("--force", f->force, kForce);
  c->add_flag("--normalised-input", f->normalised,
              "onnx: the model expects normalized input (default: pixels 0..255)");
  return [f] { return run_export(*f); };
}

std::function<int()> add_import(CLI::App& app, Context&) {
  auto f = std::make_shared<ImportFlags>();
  auto* c = app.add_subcommand("import", "Import safetensors weights or an ONNX file as a trained model");
  c->add_option("weights", f->weights, "safetensors file with PyTorch's parameter names, or ONNX file")
      ->required();
  c->add_option("--model", f->model, "safetensors: name of a built-in model, or file with a model");
  c->add_option("-o,--output", f->output, "folder to write")->required();
  c->add_flag("--force", f->force, kForce);
  c->add_option("--classes", f->classes, "safetensors: number of classes (default: 10)")
      ->check(CLI::Range(2, 1000000));
  f->given.add(*c);
  c->add_option("--dataset", f->dataset, "use the normalization and class names of this dataset")
      ->check(CLI::IsMember({"cifar10"}));
  return [f] { return run_import(*f); };
}

}  // namespace radl::engine::cli::convert_command
