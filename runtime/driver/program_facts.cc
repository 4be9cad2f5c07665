#include "runtime/driver/program_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "common/version.h"
#include "runtime/base/world.h"
#include "runtime/driver/farm_facts.h"
#include "runtime/driver/foresight_facts.h"
#include "runtime/driver/plan_forecasts.h"
#include "runtime/driver/shell_word.h"
#include "runtime/figures/calibration_store.h"
#include "runtime/plan/measured.h"

namespace radl::driver {

using foresight::ProgramRun;

std::string program_family(const ir::Step& program) {
  const std::string main = program.program->value("main", "");
  return fmt::format("{} ({})", program.program->value("name", ""),
                     main.starts_with('/') ? std::filesystem::path(main).filename().string() : main);
}

foresight::ProgramQuestion program_question(const ir::Step& program, const foresight::MachineFacts& machine,
                                            size_t nodes) {
  return {program.program->value("identity", ""),
          program_family(program),
          machine.kind,
          machine.cores,
          machine.gpus,
          static_cast<int>(nodes)};
}

std::vector<PlannedProgram> programs_in(const Plan& plan, const Project& project,
                                        const Machinery& machinery) {
  std::vector<PlannedProgram> programs;
  for (const ir::Step& step : project.compiled.program.steps) {
    if (step.kind != ir::StepKind::Program || step.nodes.empty()) continue;
    const Action* action = plan.find(step.id);
    if (action == nullptr || action->verb != Verb::Run) continue;
    const foresight::MachineFacts machine = machine_of(plan, step.nodes.front(), machinery);
    programs.push_back({&step, action, machine, program_question(step, machine, step.nodes.size())});
  }
  return programs;
}

std::string profile_command(const Project& project, const ir::Step& program, bool here) {
  const auto& steps = project.compiled.program.steps;
  const auto jobs =
      std::count_if(steps.begin(), steps.end(), [](const ir::Step& step) { return ir::is_job(step.kind); });
  return "radlc profile" + project.words + (here ? "" : " --on cluster") +
         (jobs > 1 ? " --program " + shell_word(program.id) : "");
}

Result<ProgramRun> program_run(const foresight::ProgramQuestion& question, const Json& output) {
  if (!output.contains("seconds") || !output["seconds"].is_number())
    return internal_error("the program's output has no time");
  ProgramRun run;
  run.family = question.family;
  run.work = question.work;
  run.machine = question.machine;
  run.cores = question.cores;
  run.gpus = question.gpus;
  run.nodes = question.nodes;
  run.seconds = output["seconds"];
  run.version = kVersionText;
  if (output.value("ended", true)) return run;
  run.kind = ProgramRun::Kind::AtLeast;
  if (const auto progress = output.find("progress"); progress != output.end()) {
    run.kind = ProgramRun::Kind::Extrapolated;
    run.seconds = progress->at("seconds");
    run.low = progress->at("low");
    run.high = progress->at("high");
    run.progress = progress->at("what");
  }
  return run;
}

Status keep_programs(const Plan& plan, const Project& project, const Machinery& machinery,
                     const RunReport& report, const Snapshot& after) {
  const std::string path = machinery.host().calibration_file();
  if (path.empty()) return {};
  for (const PlannedProgram& one : programs_in(plan, project, machinery)) {
    const bool done =
        std::any_of(report.actions.begin(), report.actions.end(), [&](const ActionOutcome& outcome) {
          return outcome.id == one.step->id && outcome.state == ActionOutcome::State::Done;
        });
    const auto record = after.steps.find(one.step->id);
    if (has_farm(*one.step)) continue;  // its tasks are other ones in the next run
    if (!done || one.action->resume || !one.action->joins.empty() || record == after.steps.end()) continue;
    auto run = program_run(one.question, record->second.output);
    if (!run.ok()) continue;
    run->time = machinery.host().world->clock.wall_seconds();
    auto store = CalibrationStore::open(path);
    if (!store.ok()) return std::move(store).status();
    if (Status kept = store->add(*run); !kept.ok()) return kept;
  }
  return {};
}

void add_program_times(const Host& host, std::map<std::string, double>& measured) {
  auto runs = load_program_runs(host.calibration_file(), "", "");
  if (!runs.ok()) return;  // plan_forecasts() reports it
  std::set<std::tuple<std::string, std::string, double, double, int>> asked;
  const foresight::ProgramModel model(*runs);
  for (const ProgramRun& run : *runs) {
    if (!asked.insert({run.work, run.machine, run.cores, run.gpus, run.nodes}).second) continue;
    const auto forecast = model.forecast({run.work, "", run.machine, run.cores, run.gpus, run.nodes});
    const std::string key = program_key(run.work, static_cast<size_t>(run.nodes), run.machine);
    if (forecast.run.known() && forecast.outside.empty()) measured.try_emplace(key, forecast.run.value);
  }
}

}  // namespace radl::driver
