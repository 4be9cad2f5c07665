#include "runtime/driver/plan_forecasts.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/version.h"
#include "runtime/base/world.h"
#include "runtime/driver/farm_facts.h"
#include "runtime/driver/foresight_facts.h"
#include "runtime/driver/program_facts.h"
#include "runtime/figures/calibration_store.h"
#include "runtime/figures/runs_file.h"
#include "runtime/plan/measured.h"
#include "runtime/state/store.h"

namespace radl::driver {
namespace {

constexpr size_t kNewestRuns = 100;  // of a family: as many as a plan may take the time for

const ResourceCost* cost_of(const Plan& plan, const std::string& node) {
  auto cost = std::find_if(plan.costs.begin(), plan.costs.end(),
                           [&](const ResourceCost& one) { return one.address == node; });
  return cost == plan.costs.end() ? nullptr : &*cost;
}

}  // namespace

foresight::MachineFacts machine_of(const Plan& plan, const std::string& node, const Machinery& machinery) {
  const ResourceCost* cost = cost_of(plan, node);
  if (cost == nullptr) return {};
  auto cloud = CloudId::parse(cost->cloud);
  if (!cloud.ok()) return {};
  if (cloud->type == "local") return this_computer();
  const size_t space = cost->machine.rfind(' ');
  foresight::MachineFacts unknown;
  unknown.kind = cloud->type;
  if (space == std::string::npos) return unknown;
  const std::string name = cost->machine.substr(space + 1);
  unknown.kind += " " + name;
  auto type = machinery.catalog().find(cloud->type, cloud->region, name);
  return type.ok() && *type != nullptr ? machine_facts(**type) : unknown;
}

namespace {

struct Trained {
  const ir::Step* step = nullptr;
  const Action* action = nullptr;
  foresight::TrainingFacts facts;
  foresight::MachineFacts machine;
};

std::vector<Trained> trained_by(const Plan& plan, const Project& project, const Machinery& machinery,
                                const Stop& stop) {
  std::vector<Trained> all;
  for (const ir::Step* step : trainings_of(project.compiled.program)) {
    const Action* action = plan.find(step->id);
    const auto workers = worker_nodes(*step), servers = server_nodes(*step);
    if (action == nullptr || action->verb != Verb::Run || workers.empty()) continue;
    Trained trained{step, action, training_facts(machinery.host().environment(), *step, stop),
                    machine_of(plan, workers.front(), machinery)};
    if (!servers.empty())
      trained.machine.server_bits_per_second = machine_of(plan, servers.front(), machinery).bits_per_second;
    all.push_back(std::move(trained));
  }
  return all;
}

// What is known of the work of each training, loaded and fitted once.
class Models {
 public:
  struct Known {
    foresight::WorkModel model;
    std::string digest;  // of the calibration
  };
  explicit Models(std::string path) : path_(std::move(path)) {}

  Result<const Known*> of(const foresight::TrainingFacts& facts) {
    const auto key = std::pair(facts.work.digest, facts.family);
    auto known = models_.find(key);
    if (known == models_.end()) {
      auto calibration = load_calibration(path_, {facts.work.digest, kNewestRuns});
      if (!calibration.ok()) return std::move(calibration).status();
      calibration->studies.clear();  // of others: they have no part in it
      known = models_.emplace(key, Known{{*calibration, facts}, digest_of(*calibration)}).first;
    }
    return &known->second;
  }

 private:
  std::string path_;
  std::map<std::pair<std::string, std::string>, Known> models_;
};

// What a worker's links carried and found (docs/job.md, the `step` line).
void take_exchange(const Json& output, foresight::TrainingRun& run) {
  const auto exchange = output.find("exchange");
  if (exchange == output.end() || !exchange->is_object()) return;
  auto number = [&](const char* key) {
    const auto found = exchange->find(key);
    return found != exchange->end() && found->is_number() ? found->get<double>() : 0.0;
  };
  run.sent_bytes = number("sent_bytes_per_step");
  run.received_bytes = number("received_bytes_per_step");
  run.latency_ms = 1000 * number("round_trip_seconds");
  run.measured_bits_per_second = 8 * number("link_bytes_per_second");
}

std::optional<FarmGrowth> growth_in(const Plan& plan, const Project& project, const ir::Step& step) {
  for (const ElasticFarm& elastic : project.farms)
    if (elastic.step.id == step.id) return growth_of(project, plan, elastic);
  return std::nullopt;
}

}  // namespace

Result<std::vector<PlanForecast>> plan_forecasts(const Plan& plan, const Project& project,
                                                 const Machinery& machinery, const Stop& stop) {
  std::vector<PlanForecast> forecasts;
  const std::vector<Trained> trainings = trained_by(plan, project, machinery, stop);
  const std::vector<PlannedProgram> programs = programs_in(plan, project, machinery);
  if (trainings.empty() && programs.empty()) return forecasts;
  const std::vector<RunFigures> runs = newest_runs(machinery.host().runs_file());
  const auto measured = measured_by(runs);
  const PhaseBands bands = bands_by(runs);
  const std::set<std::string> staging = staging_steps(project.compiled.program);
  Models models(machinery.host().calibration_file());
  for (const Trained& trained : trainings) {
    auto known = models.of(trained.facts);
    if (!known.ok()) return std::move(known).status();
    const DatasetFacts dataset = dataset_facts(machinery.host().environment(), *trained.step);
    forecasts.push_back(forecast_plan({plan, (*known)->model, trained.facts, trained.machine,
                                       dataset_bytes(*trained.step, dataset), !dataset.source.empty(),
                                       staging, measured, bands, (*known)->digest, project.words}));
  }
  for (const PlannedProgram& one : programs) {
    auto known =
        load_program_runs(machinery.host().calibration_file(), one.question.work, one.question.family);
    if (!known.ok()) return std::move(known).status();
    foresight::Calibration calibration;
    calibration.programs = *known;
    const std::string digest = digest_of(calibration);
    const foresight::ProgramModel model(std::move(*known));
    const bool farm = has_farm(*one.step);
    FarmForecast forecast;
    if (farm)
      forecast = farm_forecast(project.compiled.program, *one.step,
                               work_directory_of(project.state_directory, project.compiled.program.name,
                                                 machinery.host().environment()));
    else
      forecast.program = model.forecast(one.question);
    forecasts.push_back(
        forecast_program({plan, one.step->id, forecast.program, one.machine, staging, measured, bands, digest,
                          farm ? std::string() : profile_command(project, *one.step, one.machine.shared),
                          forecast.nodes, forecast.paid, growth_in(plan, project, *one.step)}));
  }
  add_waits(plan, forecasts);
  return forecasts;
}

void predict_training(const std::vector<PlanForecast>& forecasts, RunFigures& figures) {
  std::optional<double> train, whole;
  for (const PlanForecast& forecast : forecasts) {
    double seconds = 0;
    bool known = false;
    for (const auto& [name, phase] : forecast.phases) {
      // Of the first training's view: what comes before trainings is the same for all of them.
      if (name == "create" && figures.predicted.create) figures.predicted.create = phase.value;
      if (name == "configure" && figures.predicted.configure) figures.predicted.configure = phase.value;
      if (name == "stage" && figures.predicted.stage) figures.predicted.stage = phase.value;
      if (name == "bring back") figures.predicted.around = phase.value;
      if (phase.known()) figures.sources.emplace(name, source_name(phase.source));
      const bool job = name == "train" || name == "run";
      if (!job && name != "bring back") continue;
      seconds += phase.value;
      known |= job && phase.known();
    }
    if (known) train = std::max(train.value_or(0), seconds);
    if (!forecast.total.known()) continue;
    whole = std::max(whole.value_or(0), forecast.total.value);
    if (forecast.cost && !forecast.cost->zero()) {
      figures.predicted_cost = MoneySum();
      figures.predicted_cost->add(*forecast.cost);
    }
  }
  // What a training of that name took last says less: it may have had other epochs and batches.
  if (train) figures.predicted.train = train;
  if (whole) figures.predicted.whole = whole;
}

Status keep_trainings(const Plan& plan, const Project& project, const Machinery& machinery,
                      const RunReport& report, const Snapshot& after) {
  const std::string path = machinery.host().calibration_file();
  Status kept;
  Models models(path);  // what a run teaches is for the next apply
  for (const Trained& trained : trained_by(plan, project, machinery, {})) {
    const std::string& id = trained.step->id;
    const bool done =
        std::any_of(report.actions.begin(), report.actions.end(), [&](const ActionOutcome& outcome) {
          return outcome.id == id && outcome.state == ActionOutcome::State::Done;
        });
    const auto record = after.steps.find(id);
    // A training resumed from a checkpoint says nothing about a complete one.
    if (!done || trained.action->resume || record == after.steps.end() || path.empty()) continue;
    const Json& output = record->second.output;
    if (!output.contains("seconds") || !output["seconds"].is_number()) continue;
    auto known = models.of(trained.facts);
    if (!known.ok()) return {};  // plan_forecasts() has said why
    foresight::TrainingRun run;
    run.digest = trained.step->digest;
    run.family = trained.facts.family;
    run.work = trained.facts.work.digest;
    run.machine = trained.machine.kind;
    run.exchange = foresight::exchange_name(trained.facts.exchange);
    run.workers = trained.facts.workers;
    run.servers = trained.facts.servers;
    run.batch = trained.facts.batch;
    take_exchange(output, run);
    foresight::MachineFacts machine = trained.machine;
    if (machine.bits_per_second <= 0 && !machine.shared)
      machine.bits_per_second = run.measured_bits_per_second;
    run.bits_per_second = machine.bits_per_second;
    run.epochs = trained.facts.epochs;
    run.images = trained.facts.images;
    run.seconds = output["seconds"];
    const auto round_trip = run.latency_ms > 0 ? std::optional(run.latency_ms / 1000) : std::nullopt;
    // A time by the arithmetic of other work is off by more than runs should correct.
    const auto forecast = (*known)->model.forecast(trained.facts, machine, round_trip);
    if (forecast.same_work) run.analytic_seconds = forecast.analytic_seconds;
    run.time = machinery.host().world->clock.wall_seconds();
    run.version = kVersionText;
    auto store = CalibrationStore::open(path);
    kept = store.ok() ? store->add(run) : std::move(store).status();
  }
  Status programs = keep_programs(plan, project, machinery, report, after);
  return kept.ok() ? programs : kept;
}

}  // namespace radl::driver
