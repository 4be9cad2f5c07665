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
#include "runtime/plan/farm_notes.h"
#include "runtime/steps/farm/farm_run.h"
#include "runtime/steps/farm/inbox.h"
#include "runtime/steps/jobs/network.h"

namespace radl::driver {
namespace {

// Bands that nothing has tested: of lengths that the user gave, and of lengths that finished tasks had.
constexpr double kGivenRatio = 1.3, kMeasuredRatio = 1.25;

std::string folder_of(const ir::Step& step, const std::string& work_directory) {
  return farm::farms_folder(work_directory) + "/" + jobs::folder_of(step);
}

}  // namespace

Result<FarmToBe> farm_to_be(const ir::Step& step, const farm::FarmSettings& settings,
                            const std::string& work_directory) {
  farm::Farm made(settings.policy);
  std::optional<farm::Search> search;
  if (settings.search) search.emplace(*settings.search);
  bool closed = false;
  Status read =
      farm::read_journal(folder_of(step, work_directory) + farm::kJournalFile, [&](const farm::Event& event) {
        closed = json::text_of(event, "event") == "closed";
        Status applied = made.apply(event);
        if (applied.ok() && search) search->observe(event);
        return applied;
      });
  if (!read.ok() && read.code() != Code::NotFound) return read;
  std::set<std::string> busy;
  const auto known = made.table().nodes();
  for (const auto& [name, node] : known) (void)made.apply(farm::gone_event(name, "", 0));
  for (const auto& task : std::vector<farm::TaskRecord>(made.table().tasks())) {
    if (task.state != farm::State::Running) continue;
    busy.insert(task.node);
    // The next run only brings the output of what has ended.
    (void)made.apply(task.uncommitted
                         ? farm::commit_event(task.task.name, task.attempt, 0)
                         : farm::end_event(task.task.name, task.attempt, farm::End::Preempted, 0, "", 0));
  }
  for (const farm::Event& event : farm::changes_of_file(settings.tasks, made.table(), closed, 0))
    (void)made.apply(event);
  return FarmToBe{std::move(made), search ? search->left() : farm::TrialsLeft(), std::move(busy)};
}

bool has_farm(const ir::Step& step) {
  auto found = step.program.find("farm");
  return found != step.program.end() && found->is_string();
}

FarmForecast farm_forecast(const ir::Program& program, const ir::Step& step,
                           const std::string& work_directory) {
  FarmForecast whole;
  foresight::ProgramForecast& forecast = whole.program;
  auto settings = farm::parse_farm(step.program.at("farm").get<std::string>());
  if (!settings) {
    forecast.unknown = "its farm cannot run: " + settings.status().text();
    return whole;
  }
  auto made = farm_to_be(step, *settings, work_directory);
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
  if (elastic) whole.nodes = rest.nodes, whole.paid_seconds = rest.paid_seconds;
  if (rest.tasks == 0) {
    forecast.run = foresight::banded(0, 1, foresight::Source::Measured, "all tasks are done");
  } else if (rest.known && (given || measured)) {
    forecast.run =
        foresight::banded(rest.seconds, measured ? kMeasuredRatio : kGivenRatio,
                          measured ? foresight::Source::Measured : foresight::Source::Guessed,
                          measured ? fmt::format("{} tasks left; {} finished ones", rest.tasks, finished)
                                   : fmt::format("{} tasks of the lengths that the file gives", rest.tasks));
  } else {
    forecast.unknown =
        "the lengths of its tasks are not known; give each `seconds`, or run it: three finished tasks tell";
  }
  return whole;
}

Status approve_farms(const Plan& plan, const Project& project, const std::vector<PlanForecast>& forecasts,
                     const std::string& work_directory, double at) {
  for (const ir::Step& step : project.compiled.program.steps) {
    const Action* action = plan.find(step.id);
    if (!has_farm(step) || action == nullptr || action->verb != Verb::Run) continue;
    Json terms = {{"seconds", nullptr}, {"cost", nullptr}};
    for (const PlanForecast& forecast : forecasts) {
      if (forecast.training != step.id) continue;
      for (const auto& [name, phase] : forecast.phases)
        if (name == "run" && phase.known())
          terms["seconds"] = {{"value", phase.value}, {"low", phase.low}, {"high", phase.high}};
      if (forecast.node_seconds > 0) terms["node_seconds"] = forecast.node_seconds;
      if (forecast.cost)
        terms["cost"] = {
            {"value", *forecast.cost}, {"low", *forecast.cost_low}, {"high", *forecast.cost_high}};
    }
    for (const ElasticFarm& elastic : project.farms)
      if (elastic.step.id == step.id)
        terms["nodes"] = {{"most", elastic.most},
                          {"create_seconds", elastic.create_seconds},
                          {"keep", project.farm_nodes.keep}};
    const std::string inbox = folder_of(step, work_directory) + farm::kInboxFolder;
    if (Status made = make_directories(inbox, 0700); !made.ok()) return made;
    // Before all other requests: they are of the farm as it runs then.
    if (Status put = farm::put_in_inbox(inbox, farm::approve_event(terms, at), "00000-approval"); !put.ok())
      return put;
  }
  return {};
}

}  // namespace radl::driver
