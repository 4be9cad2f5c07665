#include "runtime/driver/farm_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "common/files.h"
#include "common/json_values.h"
#include "compiler/ir/elastic_farm.h"
#include "runtime/farm/journal.h"
#include "runtime/farm/rehearsal.h"
#include "runtime/farm/settings.h"
#include "runtime/farm/snapshot.h"
#include "runtime/plan/farm_notes.h"
#include "runtime/plan/phase_bands.h"
#include "runtime/steps/farm/farm_run.h"
#include "runtime/steps/farm/inbox.h"
#include "runtime/steps/jobs/network.h"

namespace radl::driver {
namespace {

// Bands that nothing has tested: of lengths that the user gave, and of lengths that finished tasks had.
constexpr double kGivenRatio = 1.3, kMeasuredRatio = 1.25;
constexpr const char *kSeconds = "seconds", *kNodeSeconds = "node_seconds", *kFarm = "farm";

std::string folder_of(const ir::Step& step, const std::string& work_directory) {
  return farm::farms_folder(work_directory) + "/" + jobs::folder_of(step);
}

// By how far the farm's own runs were off.
PhaseBands bands_of(const farm::Approval& approval, foresight::Source source) {
  PhaseBands bands;
  const std::string_view from = foresight::source_name(source);
  for (const farm::FinishedRun& run : approval.finished()) {
    bands.add(kSeconds, kFarm, from, run.predicted_seconds, run.seconds);
    bands.add(kNodeSeconds, kFarm, from, run.predicted_node_seconds, run.node_seconds);
  }
  return bands;
}

Json banded_json(const foresight::Banded& figure) {
  return {{"value", figure.value}, {"low", figure.low}, {"high", figure.high}};
}

// Names of requests that come before all others, which are of the farm as it runs then. A limit that is not
// taken yet must not replace the approval that it limits.
constexpr const char *kApprovalRequest = "00000-approval", *kLimitRequest = "00000-limit";

// The farm as its journal has it, if there is one. A search needs all events, anything else can use the
// snapshot.
Result<farm::Farm> replayed(const std::string& folder, const farm::Policy& policy,
                            std::optional<farm::Search>& search) {
  farm::Farm made(policy);
  if (!search) {
    auto loaded = farm::load_farm(folder, policy);
    if (loaded.status().code() == Code::NotFound) return made;
    return loaded;
  }
  Status read = farm::read_journal(folder + farm::kJournalFile, [&](const farm::Event& event) {
    Status applied = made.apply(event);
    if (applied.ok()) search->observe(event);
    return applied;
  });
  if (!read.ok() && read.code() != Code::NotFound) return read;
  return made;
}

Status tell_farm(const ir::Step& step, const std::string& work_directory, const farm::Event& event,
                 const char* name) {
  const std::string inbox = folder_of(step, work_directory) + farm::kInboxFolder;
  if (Status made = make_directories(inbox, 0700); !made.ok()) return made;
  return farm::put_in_inbox(inbox, event, name);
}

}  // namespace

Result<FarmToBe> farm_to_be(const ir::Step& step, const farm::FarmSettings& settings,
                            const std::string& work_directory, const std::set<std::string>& existing) {
  std::optional<farm::Search> search;
  if (settings.search) search.emplace(*settings.search);
  auto read = replayed(folder_of(step, work_directory), settings.policy, search);
  if (!read.ok()) return std::move(read).status();
  farm::Farm made = std::move(*read);
  const bool closed = made.table().closed();
  // A run begins so: what was lost in a row before does not count.
  if (const Json known = made.table().settings(); known.is_object())
    (void)made.apply(farm::farm_event(known, 0));
  std::set<std::string> busy;
  const auto known = made.table().nodes();
  for (const auto& [name, node] : known) (void)made.apply(farm::gone_event(name, "", 0));
  for (const auto& task : std::vector<farm::TaskRecord>(made.table().tasks())) {
    if (task.state != farm::State::Running) continue;
    busy.insert(task.node);
    // The next run only brings the output of what has ended.
    const std::string& name = task.task.name;
    if (!existing.contains(task.node))
      (void)made.apply(farm::end_event(name, task.attempt, farm::End::Lost, -1, "", 0));
    else if (task.uncommitted)
      (void)made.apply(farm::commit_event(name, task.attempt, 0));
    else
      (void)made.apply(farm::end_event(name, task.attempt, farm::End::Preempted, 0, "", 0));
  }
  for (const farm::Event& event : farm::changes_of_file(settings.tasks, made.table(), closed, 0))
    (void)made.apply(event);
  return FarmToBe{std::move(made), search ? search->left() : farm::TrialsLeft(), std::move(busy)};
}

bool has_farm(const ir::Step& step) {
  auto found = step.program->find("farm");
  return found != step.program->end() && found->is_string();
}

FarmForecast farm_forecast(const ir::Program& program, const ir::Step& step,
                           const std::string& work_directory) {
  FarmForecast whole;
  foresight::ProgramForecast& forecast = whole.program;
  auto settings = farm::parse_farm(step.program->at("farm").get<std::string>());
  if (!settings) {
    forecast.unknown = "its farm cannot run: " + settings.status().text();
    return whole;
  }
  if (settings->scheduler == farm::SchedulerKind::Slurm) {
    forecast.unknown = "Slurm decides when its tasks run";
    return whole;
  }
  auto made = farm_to_be(step, *settings, work_directory, {step.nodes.begin(), step.nodes.end()});
  if (!made) {
    forecast.unknown = made.status().text();
    return whole;
  }
  std::map<std::string, farm::Resources> nodes;
  for (const ir::Node& node : program.nodes) {
    if (std::find(step.nodes.begin(), step.nodes.end(), node.address) != step.nodes.end())
      nodes[node.address] = offered_by(node);
  }
  made->farm = farm::with_nodes(std::move(made->farm), nodes);
  const std::vector<farm::TaskRecord>& tasks = made->farm.table().tasks();
  const size_t finished = made->farm.table().done();
  const bool measured = finished >= farm::kMeasuredTasks;
  const bool given = made->trials.count == 0 &&
                     std::all_of(tasks.begin(), tasks.end(),
                                 [](const farm::TaskRecord& task) { return task.task.seconds > 0; });
  const bool elastic = ir::has_elastic_farm(step);
  farm::Comings comings;
  if (elastic) comings.idle_seconds = settings->elastic.idle_seconds;
  const farm::Rehearsal rest =
      farm::rehearse_rest(made->farm, 0, made->trials, settings->trial_needs, comings);
  if (rest.tasks == 0) {
    forecast.run = foresight::banded(0, 1, foresight::Source::Measured, "all tasks are done");
  } else if (rest.known && (given || measured)) {
    const auto source = measured ? foresight::Source::Measured : foresight::Source::Guessed;
    const std::string from = measured
                                 ? fmt::format("{} tasks left; {} finished ones", rest.tasks, finished)
                                 : fmt::format("{} tasks of the lengths that the file gives", rest.tasks);
    const PhaseBands bands = bands_of(made->farm.table().approval(), source);
    const auto figure = [&](const char* name, double value) {
      const double ratio = measured ? kMeasuredRatio : kGivenRatio;
      return bands.of(name, kFarm, foresight::banded(value, ratio, source, from));
    };
    forecast.run = figure(kSeconds, rest.seconds);
    if (elastic) whole.nodes = rest.nodes, whole.paid = figure(kNodeSeconds, rest.paid_seconds);
  } else {
    forecast.unknown =
        "the lengths of its tasks are unknown; give each task `seconds`, or run the farm until three tasks "
        "have finished";
  }
  return whole;
}

Status approve_farms(const Plan& plan, const Project& project, const std::vector<PlanForecast>& forecasts,
                     const std::string& work_directory, double at) {
  for (const ir::Step& step : project.compiled.program.steps) {
    const Action* action = plan.find(step.id);
    if (!has_farm(step) || action == nullptr || action->verb != Verb::Run) continue;
    Json terms = {{kSeconds, nullptr}, {kNodeSeconds, nullptr}, {"cost", nullptr}};
    for (const PlanForecast& forecast : forecasts) {
      if (forecast.training != step.id) continue;
      for (const auto& [name, phase] : forecast.phases)
        if (name == "run" && phase.known()) terms[kSeconds] = banded_json(phase);
      if (forecast.paid.known()) terms[kNodeSeconds] = banded_json(forecast.paid);
      if (forecast.cost)
        terms["cost"] = {
            {"value", *forecast.cost}, {"low", *forecast.cost_low}, {"high", *forecast.cost_high}};
    }
    for (const ElasticFarm& elastic : project.farms)
      if (elastic.step.id == step.id)
        terms["nodes"] = {{"most", growth_of(project, plan, elastic).nodes},
                          {"create_seconds", elastic.create_seconds},
                          {"keep", project.farm_nodes.keep}};
    Status told =
        tell_farm(step, work_directory, farm::approve_event(std::move(terms), at), kApprovalRequest);
    if (!told.ok()) return told;
  }
  return {};
}

Status limit_farms(const Project& project, const std::string& work_directory, double at) {
  for (const ElasticFarm& elastic : project.farms) {
    const size_t nodes = chosen_ordinals(project, elastic).size();
    Status told = tell_farm(elastic.step, work_directory, farm::limit_event(nodes, at), kLimitRequest);
    if (!told.ok()) return told;
  }
  return {};
}

}  // namespace radl::driver
