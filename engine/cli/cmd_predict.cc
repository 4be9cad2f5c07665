// radl-train predict: classes for images, as text, JSON or CSV.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/files.h"
#include "engine/cli/command.h"
#include "engine/serve/image_list.h"
#include "engine/serve/predictor.h"

namespace radl::engine::cli::predict_command {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestImage = size_t{64} << 20, kLargestList = size_t{1} << 30;

struct Flags {
  std::string model, format = "text", output, list;
  std::vector<std::string> inputs;
  OnnxFlags onnx;
  BuildOptions build{.batch_size = 64, .training = false};
  int top = 1;
  bool flip = false, skip = false, force = false, check = false;
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

// The images by name: files of this computer, or a list of URLs.
class Images {
 public:
  static Result<Images> open(const Flags& f) {
    Images images;
    if (f.list.empty()) {
      auto files = images_in(f.inputs);
      if (!files.ok()) return files.status();
      images.files_ = std::move(*files);
      return images;
    }
    auto text = f.list == "-" ? Result<std::string>(std::string(std::istreambuf_iterator<char>(std::cin), {}))
                              : read_file(f.list, kLargestList);
    if (!text.ok()) return text.status();
    auto listed = serve::parse_image_list(*text);
    if (!listed.ok()) return listed.status();
    for (const serve::ListedImage& one : *listed) images.files_.push_back(one.file);
    images.listed_ = std::move(*listed);
    images.http_ = std::make_unique<http::Client>(environment_of_process());
    return images;
  }
  const std::vector<std::string>& names() const { return files_; }
  // The bytes of `count` images from `first` on; an image that cannot be read has its own error.
  std::vector<Result<std::string>> read(size_t first, size_t count, const Stop& stop) {
    std::vector<Result<std::string>> all;
    if (!http_) {
      for (size_t i = first; i < first + count; ++i) all.push_back(read_file(files_[i], kLargestImage));
      return all;
    }
    auto fetched = serve::fetch_images(*http_, std::span(listed_).subspan(first, count), kLargestImage, stop);
    if (!fetched.ok()) return {fetched.status()};
    for (std::string& bytes : *fetched) all.emplace_back(std::move(bytes));
    return all;
  }
  bool is_list() const { return http_ != nullptr; }

 private:
  std::vector<std::string> files_;
  std::vector<serve::ListedImage> listed_;
  std::unique_ptr<http::Client> http_;
};

// Decodes a batch and predicts it. A list's image that cannot be fetched fails even with --skip-corrupt: it
// may be there next time.
Status predict_batch(Images& images, size_t first, size_t count, const Flags& f, const Stop& stop,
                     serve::Predictor& predictor, Writer& writer, size_t& skipped) {
  std::vector<std::vector<uint8_t>> decoded;
  std::vector<std::string> names;
  const auto bytes = images.read(first, count, stop);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (!bytes[i].ok() && images.is_list()) return bytes[i].status();
    const std::string& file = images.names()[first + i];
    auto image =
        bytes[i].ok() ? predictor.decode(*bytes[i]) : Result<std::vector<uint8_t>>(bytes[i].status());
    if (image.ok()) {
      decoded.push_back(std::move(*image));
      names.push_back(file);
      continue;
    }
    Status why =
        bytes[i].ok() ? Status(Code::Corrupt, file + ": " + image.status().message()) : bytes[i].status();
    if (!f.skip) return why;
    fmt::print(stderr, "left out: {}\n", why.message());
    ++skipped;
  }
  if (decoded.empty()) return {};
  const auto predictions = predictor.predict(decoded);
  for (size_t i = 0; i < names.size(); ++i) writer.add(names[i], predictions[i]);
  return {};
}

int run(const Flags& f, const Context& context) {
  auto given = f.onnx.input(f.model);
  if (!given.ok()) return fail(given.status());
  auto bundle = exporter::read_bundle(f.model, *given);
  if (!bundle.ok()) return fail(bundle.status());
  if (f.inputs.empty() == f.list.empty() && !f.check)
    return fail(invalid("either images or --list is needed, and not both"));
  auto images = f.check ? Result<Images>(Images()) : Images::open(f);
  if (!images.ok()) return fail(images.status());
  BuildOptions build = f.build;
  build.batch_size = int(std::clamp<size_t>(images->names().size(), 1, size_t(build.batch_size)));
  auto predictor = serve::Predictor::create(*bundle, build, f.flip);
  if (!predictor.ok()) return fail(predictor.status());
  if (f.check) return kDone;
  Writer writer(f, *bundle);
  size_t skipped = 0;
  const size_t all = images->names().size(), step = size_t((*predictor)->batch_size());
  for (size_t first = 0; first < all; first += step) {
    if (context.stop.asked()) return kInterrupted;
    Status done = predict_batch(*images, first, std::min(step, all - first), f, context.stop, **predictor,
                                writer, skipped);
    if (!done.ok()) return fail(done);
  }
  if (skipped > 0) fmt::print(stderr, "{} of {} images left out\n", skipped, all);
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
  c->add_option("model", f->model, "folder of the trained model, or an ONNX file")->required();
  c->add_option("images", f->inputs, "files, and folders to search");
  c->add_option("--list", f->list, "file with a JSON object a line, with file and url; - for standard input");
  f->onnx.add(*c);
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
  c->add_flag("--check", f->check, "only check that the model can classify images");
  c->add_flag("--skip-corrupt", f->skip, "skip unreadable images instead of failing");
  return [f, &context] { return run(*f, context); };
}

}  // namespace radl::engine::cli::predict_command
