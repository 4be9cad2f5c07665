// radl-train predict: classes for images, as text, JSON or CSV.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/files.h"
#include "engine/cli/command.h"
#include "engine/serve/predictor.h"

namespace radl::engine::cli::predict_command {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestImage = size_t{64} << 20;

struct Flags {
  std::string model, format = "text", output;
  std::vector<std::string> inputs;
  BuildOptions build{.batch_size = 64, .training = false};
  int top = 1;
  bool flip = false, skip = false, force = false;
};

Result<std::vector<std::string>> images_in(const std::vector<std::string>& inputs) {
  std::vector<std::string> all;
  for (const auto& input : inputs) {
    std::error_code e;
    if (!fs::is_directory(input, e)) {
      all.push_back(input);
      continue;
    }
    std::vector<std::string> found;
    for (fs::recursive_directory_iterator it(input, e), end; !e && it != end; it.increment(e)) {
      std::string x = it->path().extension().string();
      std::transform(x.begin(), x.end(), x.begin(), [](unsigned char c) { return char(std::tolower(c)); });
      if ((x == ".png" || x == ".jpg" || x == ".jpeg") && it->is_regular_file(e))
        found.push_back(it->path().string());
    }
    if (e) return errno_status(e.value(), input);
    if (found.empty()) return not_found(input + ": holds no .png, .jpg or .jpeg");
    std::sort(found.begin(), found.end());
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

std::string csv_field(const std::string& s) {
  if (s.find_first_of(",\"\n\r") == std::string::npos) return s;
  std::string out = "\"";
  for (char c : s) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

class Writer {
 public:
  Writer(const Flags& f, const exporter::Bundle& b) : flags_(f), bundle_(b) {
    if (f.format == "csv") {
      out_ = "file,class,label,probability";
      for (int c = 0; c < b.classes; ++c) out_ += "," + csv_field("p_" + exporter::class_label(b, c));
      out_ += "\n";
    }
  }
  void add(const std::string& file, const serve::Prediction& p) {
    std::vector<int> order(p.probabilities.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return p.probabilities[size_t(a)] > p.probabilities[size_t(b)]; });
    order.resize(std::min(order.size(), size_t(flags_.top)));
    const float best = p.probabilities[size_t(p.best)];
    if (flags_.format == "json") {
      nlohmann::ordered_json line = {{"file", file},
                                     {"class", p.best},
                                     {"label", exporter::class_label(bundle_, p.best)},
                                     {"probability", best}};
      for (int c : order)
        line["top"].push_back({{"class", c},
                               {"label", exporter::class_label(bundle_, c)},
                               {"probability", p.probabilities[size_t(c)]}});
      out_ += line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    } else if (flags_.format == "csv") {
      out_ += csv_field(file) +
              fmt::format(",{},{},{:.6f}", p.best, csv_field(exporter::class_label(bundle_, p.best)), best);
      for (float v : p.probabilities) out_ += fmt::format(",{:.6f}", v);
      out_ += "\n";
    } else {
      out_ += file + ":";
      for (int c : order)
        out_ +=
            fmt::format("  {} {:.1f}%", exporter::class_label(bundle_, c), 100 * p.probabilities[size_t(c)]);
      out_ += "\n";
    }
  }
  const std::string& text() const { return out_; }

 private:
  const Flags& flags_;
  const exporter::Bundle& bundle_;
  std::string out_;
};

int run(const Flags& f, const Context& context) {
  auto bundle = exporter::read_bundle(f.model);
  if (!bundle.ok()) return fail(bundle.status());
  auto files = images_in(f.inputs);
  if (!files.ok()) return fail(files.status());
  BuildOptions build = f.build;
  build.batch_size = int(std::min<size_t>(size_t(build.batch_size), files->size()));
  auto predictor = serve::Predictor::create(*bundle, build, f.flip);
  if (!predictor.ok()) return fail(predictor.status());
  Writer writer(f, *bundle);
  std::vector<std::vector<uint8_t>> images;
  std::vector<std::string> names;
  size_t skipped = 0;
  auto flush = [&] {
    auto predictions = (*predictor)->predict(images);
    for (size_t i = 0; i < names.size(); ++i) writer.add(names[i], predictions[i]);
    images.clear();
    names.clear();
  };
  for (const auto& file : *files) {
    if (context.stop.asked()) return kInterrupted;
    auto bytes = read_file(file, kLargestImage);
    auto image = bytes.ok() ? (*predictor)->decode(*bytes) : Result<std::vector<uint8_t>>(bytes.status());
    if (!image.ok()) {
      const Status s =
          bytes.ok() ? Status(Code::Corrupt, file + ": " + image.status().message()) : bytes.status();
      if (!f.skip) return fail(s);
      fmt::print(stderr, "left out: {}\n", s.message());
      ++skipped;
      continue;
    }
    images.push_back(std::move(*image));
    names.push_back(file);
    if (int(images.size()) == (*predictor)->batch_size()) flush();
  }
  if (!images.empty()) flush();
  if (skipped > 0) fmt::print(stderr, "{} of {} images left out\n", skipped, files->size());
  if (f.output.empty() || f.output == "-") {
    fmt::print("{}", writer.text());
  } else if (Status s = write_output(f.output, writer.text(), {.force = f.force}); !s.ok()) {
    return fail(s);
  }
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Context& context) {
  auto f = std::make_shared<Flags>();
  auto* c = app.add_subcommand("predict", "Classify images: files and folders of PNG and JPEG");
  c->add_option("model", f->model, "folder of the trained model")->required();
  c->add_option("images", f->inputs, "files, and folders to search")->required();
  c->add_option("--format", f->format, "text, json (one line per image) or csv")
      ->check(CLI::IsMember({"text", "json", "csv"}))
      ->capture_default_str();
  c->add_option("--top", f->top, "number of classes to print")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  c->add_option("--batch-size", f->build.batch_size, "images per batch")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  c->add_option("--threads", f->build.threads, "number of threads; 0: one per core")->capture_default_str();
  c->add_option("--kernels", f->build.kernels, "auto, accurate, ref, eigen, onednn")->capture_default_str();
  c->add_option("-o,--output", f->output, "file to write (default: standard output)");
  c->add_flag("--force", f->force, kForce);
  c->add_flag("--flip", f->flip, "average with the mirrored image");
  c->add_flag("--skip-corrupt", f->skip, "skip unreadable images instead of failing");
  return [f, &context] { return run(*f, context); };
}

}  // namespace radl::engine::cli::predict_command
