// radl-train data rates: how fast a dataset could come to this machine and through its disk.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "common/http/url.h"
#include "common/human.h"
#include "engine/cli/cmd_data.h"
#include "engine/data/fetch_cifar10.h"
#include "engine/data/rates.h"

namespace radl::engine::cli::data_command {
namespace {

struct RatesFlags {
  std::string source, directory;
  double seconds = 4;
  bool json = false, no_disk = false;
};

std::string per_second(double rate) { return bytes_text(rate) + "/s"; }

Result<data::DiskRates> disk_rates(const RatesFlags& flags, const Stop& stop) {
  std::string directory = flags.directory;
  if (directory.empty()) {
    auto cache = data::default_cache();
    if (!cache.ok()) return cache.status();
    directory = *cache;
    if (Status made = make_directories(directory); !made.ok()) return made;
  }
  return data::measure_disk(directory, flags.seconds, stop);
}

int run_rates(const RatesFlags& flags, const Context& context) {
  nlohmann::ordered_json line = nlohmann::ordered_json::object();
  std::string text;
  if (!flags.no_disk) {
    auto disk = disk_rates(flags, context.stop);
    if (!disk.ok()) return fail(disk.status());
    line["disk_bytes"] = disk->bytes;
    line["disk_write_bytes_per_second"] = disk->write_per_second;
    line["disk_read_bytes_per_second"] = disk->read_per_second;
    text += fmt::format("disk: writes {}, reads {}\n", per_second(disk->write_per_second),
                        per_second(disk->read_per_second));
  }
  if (!flags.source.empty()) {
    http::Client http(environment_of_process());
    auto source = data::measure_source(http, flags.source, flags.seconds, context.stop);
    if (!source.ok()) return fail(source.status());
    line["source_bytes"] = source->bytes;
    line["source_bytes_per_second"] = source->per_second;
    line["dataset_bytes"] = source->all;
    text += fmt::format("{}: {}\n", http::printable_url(flags.source), per_second(source->per_second));
  }
  fmt::print("{}", flags.json ? line.dump() + "\n" : text);
  return kDone;
}

}  // namespace

void add_rates(CLI::App* data, const Chosen& chosen, Context& context) {
  auto f = std::make_shared<RatesFlags>();
  auto* rates = data->add_subcommand(
      "rates", "Measure the throughput of this machine's disk and of a dataset's source");
  auto* source = rates->add_option("source", f->source, "URI of a dataset (default: measure only the disk)");
  rates->add_option("--directory,-d", f->directory,
                    "folder whose disk is measured (default: the user's cache)");
  rates->add_option("--seconds", f->seconds, "duration of each measurement, in seconds")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  rates->add_flag("--no-disk", f->no_disk, "measure only the source")->needs(source);
  rates->add_flag("--json", f->json, "one line of JSON");
  rates->final_callback([=, &context] { *chosen = [=, &context] { return run_rates(*f, context); }; });
}

}  // namespace radl::engine::cli::data_command
