// A short run of the engine, kept for predictions.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/human.h"
#include "common/version.h"
#include "runtime/base/world.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/cluster_probe.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/driver/foresight_facts.h"
#include "runtime/driver/probe.h"
#include "runtime/driver/profile_place.h"
#include "runtime/driver/program_probe.h"
#include "runtime/figures/calibration_store.h"

namespace radl::cli::profile_command {
namespace {

struct Options {
  ProjectOptions project;
  std::string training, program, on = "local", input;
  double seconds = 30;
  std::optional<double> batch;
  bool json = false;
  RunOptions run;
};

constexpr int kBatches = 3;
constexpr double kLeastBatch = 4;
constexpr double kRateSeconds = 4;  // of disk and source, each

// A measurement is off by more than the usual band when others have had the cores: by what our threads waited
// for one, by what the hypervisor took, and by how far slow steps are from the middle one, beyond what is
// usual.
constexpr double kBusy = 1.15, kUsualSlow = 1.25;
constexpr double kMostShare = 0.9;

double busy_ratio(const Json& bench) {
  const double waited = bench.at("waited_share"), stolen = bench.at("stolen_share"),
               median = bench.at("median_seconds"), slow = bench.at("slow_seconds");
  return std::max(slow / median / kUsualSlow, 1.0) / (1 - std::min(waited + stolen, kMostShare));
}

struct Measured {
  foresight::MeasuredProfile profile;
  double busy = 1;  // busy_ratio() of the worst batch
};

// The batch first, so that one that does not fit is refused before anything is measured; then a quarter of
// it, and twice as much where that is to be had.
std::vector<int> batches_of(double batch) {
  const double least = std::max(std::floor(batch / 4), kLeastBatch), asked = std::max(batch, least + 1);
  return {static_cast<int>(asked), static_cast<int>(least), static_cast<int>(std::max(batch * 2, asked + 1))};
}

Status measure_steps(ProfilePlace& place, const std::vector<std::string>& model, const std::string& name,
                     const Options& options, double batch, Measured& measured) {
  std::vector<std::pair<double, double>> memory;  // batch, bytes
  const double each = options.seconds / kBatches;
  double spread = 0, forward = 0, backward = 0;
  for (int size : batches_of(batch)) {
    std::vector<std::string> arguments = {"bench",
                                          "--json",
                                          "--profile",
                                          "--model",
                                          name,
                                          "--batch-size",
                                          std::to_string(size),
                                          "--seconds",
                                          fmt::format("{:.2f}", each)};
    arguments.insert(arguments.end(), model.begin(), model.end());
    auto line = place.ask(arguments, each);
    if (line.status().code() == Code::Quota && size > batch &&
        measured.profile.node.steps.points.size() > 1) {
      // The job's own batch fits, twice as much does not: that is an answer too.
      measured.profile.node.largest_batch = batch;
      break;
    }
    if (!line.ok()) return std::move(line).status();
    const double median = line->at("median_seconds"), fastest = line->at("fastest_seconds");
    measured.profile.node.steps.points.push_back({static_cast<double>(size), median});
    memory.emplace_back(size, line->at("network_bytes").get<double>());
    measured.busy = std::max(measured.busy, busy_ratio(*line));
    // Half of the steps lie between the fastest and the median.
    spread = std::max(spread, (median / fastest - 1) / 2);
    for (const Json& operation : line->at("profile").at("operations")) {
      forward += operation.at("forward_seconds").get<double>();
      backward += operation.at("backward_seconds").get<double>();
    }
  }
  foresight::MeasuredProfile& profile = measured.profile;
  std::sort(profile.node.steps.points.begin(), profile.node.steps.points.end(),
            [](const auto& a, const auto& b) { return a.batch < b.batch; });
  std::sort(memory.begin(), memory.end());
  profile.node.spread = std::min(spread, 0.3);
  if (measured.busy > kBusy) profile.busy_ratio = measured.busy;
  if (forward + backward > 0) profile.node.backward_share = backward / (forward + backward);
  if (memory.size() > 1) {
    profile.memory_bytes_per_image = std::max(
        (memory.back().second - memory.front().second) / (memory.back().first - memory.front().first), 0.0);
    profile.memory_bytes =
        std::max(memory.front().second - profile.memory_bytes_per_image * memory.front().first, 0.0);
  }
  return {};
}

// Reports what cannot be measured; forecasts keep guessing it.
void measure_rates(ProfilePlace& place, const DatasetFacts& dataset, double seconds,
                   foresight::DataRates& rates) {
  std::vector<std::string> arguments = {"data", "rates", "--json", "--seconds",
                                        fmt::format("{:.2f}", seconds)};
  if (const std::string directory = place.data_directory(); !directory.empty())
    arguments.insert(arguments.end(), {"--directory", directory});
  auto ask = [&](const char* what, const std::vector<std::string>& more) {
    std::vector<std::string> line = arguments;
    line.insert(line.end(), more.begin(), more.end());
    auto answer = place.ask(line, 2 * seconds);
    if (!answer.ok() && answer.status().code() != Code::Cancelled)
      std::fprintf(stderr, "note: %s is unknown: %s\n", what, shown(answer.status().text()).c_str());
    return answer;
  };
  if (auto disk = ask("how fast the disk is", {}); disk.ok()) {
    rates.disk_write = disk->at("disk_write_bytes_per_second");
    rates.disk_read = disk->at("disk_read_bytes_per_second");
  }
  if (dataset.source.empty() || !place.fetches()) return;
  if (auto source = ask("how fast the dataset comes", {"--no-disk", dataset.source}); source.ok()) {
    rates.source = source->at("source_bytes_per_second");
    rates.dataset_bytes = source->at("dataset_bytes");
  }
}

Result<Measured> measure(const Environment& environment, ProfilePlace& place, const ir::Step& training,
                         const Options& options, const Stop& stop) {
  const DatasetFacts dataset = dataset_facts(environment, training);
  const foresight::TrainingFacts facts = training_facts(environment, training);
  const std::string shape = options.input.empty() ? dataset.shape : options.input;
  auto work = work_of(environment, training, shape);
  if (!work.ok()) return std::move(work).status();
  const Json& job = training.training->at("job");
  const std::string name = job.value("model", "");
  const double batch = options.batch.value_or(facts.batch);
  Measured measured;
  foresight::MeasuredProfile& profile = measured.profile;
  profile.family = facts.family;
  profile.work = work->digest;
  profile.batch = batch;
  profile.machine = place.machine().kind;
  profile.cores = place.machine().cores;
  profile.core_peak = place.machine().core_peak;
  profile.node.parameter_bytes = work->parameter_bytes;
  profile.flop_per_image = work->flop_per_image;
  profile.convolved = work->convolved;
  const std::vector<std::string> model = {"--input",     shape,
                                          "--classes",   std::to_string(dataset.classes),
                                          "--precision", job.value("precision", "auto")};
  if (Status done = measure_steps(place, model, name, options, batch, measured); !done.ok()) return done;
  measure_rates(place, dataset, std::min(options.seconds / kBatches, kRateSeconds), profile.rates);
  if (Status stopped = stop.check(); !stopped.ok()) return stopped;
  profile.version = kVersionText;
  return measured;
}

void print_profile(const Measured& measured, const std::string& where, const std::string& file) {
  const foresight::MeasuredProfile& profile = measured.profile;
  std::printf("%s on %s, %s cores\n", shown(profile.family).c_str(), shown(where).c_str(),
              plain_number(profile.cores).c_str());
  auto line = [](const char* what, const std::string& text) {
    std::printf("  %-22s %s\n", what, text.c_str());
  };
  for (const auto& point : profile.node.steps.points)
    line(fmt::format("step of {:g} images", point.batch).c_str(),
         fmt::format("{}, {:.0f} images/s", duration_text(point.seconds), point.batch / point.seconds));
  line("fixed cost of a step", duration_text(profile.node.steps.fixed()));
  line("backward part", fmt::format("{:.0f}%", 100 * profile.node.backward_share));
  line("work of an image", fmt::format("{:.1f} MFLOP, exact", profile.flop_per_image / 1e6));
  line("parameters", bytes_text(profile.node.parameter_bytes) + ", exact");
  line("memory", fmt::format("{} and {} an image", bytes_text(profile.memory_bytes),
                             bytes_text(profile.memory_bytes_per_image)));
  if (profile.node.largest_batch > 0) line("largest batch", fmt::format("{:g}", profile.node.largest_batch));
  if (const foresight::DataRates& rates = profile.rates; rates.disk_write > 0)
    line("disk",
         fmt::format("writes {}/s, reads {}/s", bytes_text(rates.disk_write), bytes_text(rates.disk_read)));
  if (profile.rates.source > 0) line("the dataset comes by", bytes_text(profile.rates.source) + "/s");
  if (profile.busy_ratio > 0)
    line("busy",
         fmt::format("the machine did other work as well: bands are x/{:.1f}; measure again when it is quiet",
                     profile.busy_ratio));
  std::printf("Kept in %s.\n", shown(file).c_str());
}

// True if a user program is meant: by name, or because there is nothing else.
bool is_of_program(const ir::Program& program, const Options& options) {
  if (!options.program.empty()) return true;
  return options.training.empty() && trainings_of(program).empty() && find_program(program, "").ok();
}

int keep_program(const Session& session, const foresight::ProgramRun& run, const Options& options) {
  const std::string file = session.host.calibration_file();
  auto store = CalibrationStore::open(file);
  if (!store.ok()) return report(session, store.status());
  if (Status kept = store->add(run); !kept.ok()) return report(session, kept);
  if (options.json) {
    foresight::Calibration calibration;
    calibration.programs = {run};
    std::printf("%s\n", to_json(calibration)
                            .at("programs")
                            .at(0)
                            .dump(2, ' ', false, Json::error_handler_t::replace)
                            .c_str());
  } else {
    std::printf("Probed: %s\nKept in %s.\n", shown(probed_text(run)).c_str(), shown(file).c_str());
  }
  return kDone;
}

// On nodes that are there.
int profile_on_nodes(const Session& session, const Options& options, const Project& project,
                     const ir::Step& program) {
  Cancellation cancellation;
  SignalGuard signals(cancellation);
  NodeProbe probe;
  probe.nodes = options.on;
  probe.seconds = options.seconds;
  probe.stop = cancellation.finishing();
  if (!options.json)
    probe.emit = [](const StepEvent& event) {
      if (event.kind != "output" || !event.data.is_object()) return;
      std::printf("%s: %s\n", shown(event.node).c_str(), shown(event.data.value("line", "")).c_str());
    };
  auto run = probe_on_nodes(session.host, options.project, project, program, probe);
  if (!run.ok()) return report(session, run.status());
  return keep_program(session, *run, options);
}

// On nodes that are made for it: those of the file, or all of them on this computer.
int profile_on_cluster(const Session& session, const Options& options, Project& project,
                       const ProbeRequest& request) {
  if (options.json)
    return report(session,
                  invalid("--json prints a profile of this computer or of a node; of a cluster radlc "
                          "shows events and a plan"));
  if (request.here)
    for (ir::Node& node : project.compiled.program.nodes) node.cloud = "local";
  return run_probe(session, request, project);
}

int run_profile(const Session& session, const Options& options) {
  auto project = load_project(session, options.project);
  if (!project.ok()) return report(session, project.status());
  const ir::Program& program = (*project)->compiled.program;
  if (is_of_program(program, options)) {
    auto job = find_program(program, options.program);
    if (!job.ok()) return report(session, job.status());
    if (options.batch)
      return report(session, invalid("--batch is of a training; a program has its arguments"));
    const bool here = options.on == "local";
    if (here || options.on == "cluster")
      return profile_on_cluster(session, options, **project,
                                {"", (*job)->id, options.seconds, {}, options.run, here});
    return profile_on_nodes(session, options, **project, **job);
  }
  auto training = find_training(program, options.training);
  if (!training.ok()) return report(session, training.status());
  if (options.on == "cluster")
    return profile_on_cluster(session, options, **project,
                              {options.training, "", options.seconds, options.batch, options.run, false});
  Cancellation cancellation;
  SignalGuard signals(cancellation);
  const Stop stop = cancellation.finishing();
  auto place = options.on == "local" ? local_place(session.host, stop)
                                     : node_place(session.host, options.project, options.on, stop);
  if (!place.ok()) return report(session, place.status());
  auto measured = measure(session.host.environment(), **place, **training, options, stop);
  if (!measured.ok()) return report(session, measured.status());
  measured->profile.taken_at = utc_time(session.host.world->clock.wall_seconds());
  const std::string file = session.host.calibration_file();
  auto store = CalibrationStore::open(file);
  if (!store.ok()) return report(session, store.status());
  if (Status kept = store->add(measured->profile); !kept.ok()) return report(session, kept);
  if (options.json)
    std::printf("%s\n",
                to_json(measured->profile).dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  else
    print_profile(*measured, (*place)->shown_name(), file);
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "profile", "Measure a training or a program for a few seconds, here or on a node, for forecasts");
  auto options = std::make_shared<Options>();
  add_project_options(*command, options->project);
  command->add_option("--training", options->training, "name of the training, if the file has several")
      ->type_name("NAME");
  command
      ->add_option("--program", options->program,
                   "your own program, such as one with PyTorch, instead of a training; it runs for at most "
                   "--seconds, and its progress tells the rest")
      ->type_name("NAME");
  command
      ->add_option("--seconds", options->seconds,
                   "duration in seconds, of a training for three batch sizes together")
      ->check(CLI::Range(0.3, 3600.0))
      ->capture_default_str();
  command
      ->add_option("--on", options->on,
                   "local, a node such as 'worker[0]', or cluster: a temporary cluster, created after you "
                   "approve its cost, and destroyed afterwards; a program also takes a system, and for local "
                   "it gets temporary nodes of this computer")
      ->type_name("WHERE")
      ->capture_default_str();
  command
      ->add_option("--image-shape", options->input,
                   "HEIGHTxWIDTHxCHANNELS, if the dataset does not define it")
      ->type_name("SHAPE");
  command->add_option("--batch", options->batch, "images per worker and step (default: from the file)")
      ->check(CLI::Range(1.0, 1e6));
  add_cloud_option(*command, options->run);
  command->add_flag("-y,--auto-approve", options->run.auto_approve,
                    "of temporary nodes: do not ask for approval");
  command->add_flag("--json", options->json, "as JSON");
  return [=, &session] { return run_profile(session, *options); };
}

}  // namespace radl::cli::profile_command
