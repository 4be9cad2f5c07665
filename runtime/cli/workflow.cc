#include "runtime/cli/workflow.h"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

#include "runtime/cli/display.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/user_files.h"
#include "runtime/plan/budget.h"
#include "runtime/plan/measured.h"
#include "runtime/runs/runs_file.h"
#include "runtime/state/index.h"
#include "runtime/steps/dataset_look.h"
#include "runtime/steps/training/bucket_folder.h"

namespace radl::cli {

Result<Snapshot> read_snapshot(const std::string& directory, const std::string& name) {
  auto store = Store::open(directory, name, OpenMode::Read, real_world());
  if (store.ok()) return (*store)->snapshot();
  if (store.status().code() != Code::NotFound) return std::move(store).status();
  Snapshot empty;
  empty.name = name;
  return empty;
}

namespace {

// The hint names the state, so that it can be typed in any folder.
Status held_elsewhere(Store& store, Status held, const std::string& directory, const std::string& name) {
  auto holder = store.lock_holder();
  if (!holder.ok() || !*holder) return held;
  return std::move(held).with_hint(fmt::format(
      "wait for it with --lock-timeout SECONDS, or, when it is gone for good, `radlc state unlock "
      "{} --state {} --name {}`",
      (*holder)->id, shell_word(directory), shell_word(name)));
}

}  // namespace

Result<std::unique_ptr<Store>> open_locked(const std::string& directory, const std::string& name,
                                           OpenMode mode, const std::string& command,
                                           double timeout_seconds) {
  auto end =
      real_world().clock.now() + std::chrono::milliseconds(static_cast<long long>(timeout_seconds * 1000));
  while (true) {
    auto store = Store::open(directory, name, mode, real_world());
    if (!store.ok()) return store;
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - real_world().clock.now());
    Status locked =
        (*store)->lock(command, std::max(left, std::chrono::milliseconds(0)), [](const LockInfo& holder) {
          std::fprintf(stderr, "waiting for the lock: %s\n", holder.text().c_str());
        });
    if (locked.ok()) return store;
    if (locked.code() == Code::Conflict) return held_elsewhere(**store, std::move(locked), directory, name);
    // A destroy that it waited for has removed the state: there may be a new one.
    if (locked.code() != Code::Lost) return locked;
  }
}

void remember(const std::string& directory, const std::string& name) {
  const std::string index = infrastructures_index();
  Status kept =
      index.empty() ? not_found("there is no home folder") : remember_state(index, {directory, name});
  if (kept.ok()) return;
  std::fprintf(stderr, "note: `radlc list` will not show %s: %s\n", shown(name).c_str(),
               shown(kept.text()).c_str());
}

Status recover_left(const Run& run) {
  auto intents = run.store->open_intents();
  if (!intents.ok()) return std::move(intents).status();
  if (intents->empty()) return {};
  std::fprintf(stderr, "an earlier run was interrupted: looking up what it left (%zu open)\n",
               intents->size());
  auto recovered = recover(run);
  if (!recovered.ok()) return std::move(recovered).status();
  std::fprintf(stderr, "  %zu adopted, %zu removed, %zu repeated, %zu closed\n", recovered->adopted,
               recovered->removed, recovered->repeated, recovered->closed);
  return {};
}

void add_target_option(CLI::App& command, std::vector<std::string>& targets) {
  command
      .add_option("--target", targets,
                  "only this resource, step, or system's nodes, with what it needs; may be repeated")
      ->type_name("ADDRESS");
}

void add_max_cost_option(CLI::App& command, PlanRequest& request) {
  command
      .add_option(
          "--max-cost", request.max_cost,
          "refuse a plan that costs more, for example 2.50 (an hour), '2.50 EUR/h' or '1800 USD/month'")
      ->type_name("AMOUNT[/h]");
}

Status within_max_cost(const PlanRequest& request, const Plan& plan) {
  if (request.max_cost.empty()) return {};
  auto budget = parse_budget(request.max_cost);
  if (!budget.ok()) return std::move(budget).status();
  return check_budget(plan, *budget);
}

Status hold_to_max_cost(const PlanRequest& request, Plan& plan) {
  if (Status within = within_max_cost(request, plan); !within.ok() || request.max_cost.empty()) return within;
  keep_within(plan, *parse_budget(request.max_cost));
  return {};
}

namespace {

constexpr std::chrono::seconds kWholeBucket{60};  // for one look, with its repetitions

// What the program's clouds have on offer now; why not, for those that do not say.
std::map<std::string, Survey> survey_clouds(const Project& project, const Snapshot& snapshot,
                                            const CloudSet& clouds,
                                            std::map<std::string, std::string>& failed) {
  const ir::Program& program = project.compiled.program;
  Context context;
  context.infrastructure = infrastructure_tag(program.name, snapshot.lineage);
  context.work_directory = work_directory_of(project.state_directory, program.name);
  context.secrets = &project.compiled.secrets;
  std::set<std::string> used;
  for (const ir::Node& node : program.nodes) used.insert(clouds.id_for(node));
  std::map<std::string, Survey> surveys;
  for (const std::string& id : used) {
    Cloud* cloud = clouds.find(id);
    if (!cloud) continue;  // the plan says so
    auto survey = cloud->survey(context, program);
    if (survey.ok()) {
      surveys[id] = std::move(*survey);
    } else {
      failed["cloud " + id] = survey.status().message();
    }
  }
  return surveys;
}

// Buckets are asked where clouds are. What cannot be looked at counts as there: it is not trained again for
// that.
bool output_is_there(const std::string& path, bool may_ask, std::map<std::string, std::string>& failed) {
  if (!training::is_bucket(path)) return real_world().files.exists(path);
  if (!may_ask) return true;
  auto there = training::is_in_bucket(path, Stop().within(kWholeBucket));
  if (there.ok()) return *there;
  failed[path] = there.status().message();
  return true;
}

}  // namespace

Result<Plan> plan_for(Project& project, const Snapshot& snapshot, const Machinery& machinery,
                      const PlanRequest& request, const Observed* observed) {
  if (Status numbered = use_numbers_of(project, snapshot); !numbered.ok()) return numbered;
  std::map<std::string, std::string> failed;
  PlanInput input{.program = project.compiled.program,
                  .snapshot = snapshot,
                  .clouds = machinery.clouds(),
                  .catalog = machinery.catalog(),
                  .secrets = fingerprints(snapshot, project.compiled.secrets),
                  .observed = observed,
                  .surveys = {},
                  .options = {}};
  if (request.refresh) input.surveys = survey_clouds(project, snapshot, machinery.clouds(), failed);
  input.options.replace.insert(request.replace.begin(), request.replace.end());
  input.options.targets.insert(request.targets.begin(), request.targets.end());
  input.options.project_words = project.words;
  input.options.today = utc_time(real_world().clock.wall_seconds()).substr(0, 10);
  input.options.missing_outputs = missing_outputs(snapshot, [&](const std::string& path) {
    return output_is_there(path, request.refresh || observed != nullptr, failed);
  });
  auto plan = make_plan(input);
  if (!plan.ok()) return plan;
  plan->unseen.insert(failed.begin(), failed.end());
  if (!plan->actions.empty()) use_measured(*plan, measured_by(newest_runs(user_data_file("runs.jsonl"))));
  std::set<std::string> steps;
  for (const Action& action : plan->actions)
    if (action.verb == Verb::Run) steps.insert(action.id);
  auto looked = look_at_datasets(project.compiled.program, steps);
  if (!looked.ok()) return std::move(looked).status();
  plan->notes.insert(plan->notes.end(), looked->begin(), looked->end());
  return plan;
}

void keep_figures(RunFigures figures, const std::string& state_directory) {
  figures.directory = state_directory;
  const std::string path = user_data_file("runs.jsonl");
  Status kept = path.empty() ? not_found("there is no home folder") : append_run(path, figures);
  if (!kept.ok())
    std::fprintf(stderr, "note: `radlc history` will not show this run: %s\n", shown(kept.text()).c_str());
}

int report_unseen(const Session& session, const Plan& plan) {
  if (plan.unseen.empty()) return kDone;
  Style style(session.terminal.color);
  for (const auto& [what, why] : plan.unseen) {
    std::fprintf(stderr, "%s%serror:%s %s could not be looked at: %s\n", style.bold().data(),
                 style.red().data(), style.off().data(), shown(what).c_str(), shown(why).c_str());
  }
  return kWorldError;
}

Status Sinks::close() {
  if (auto* display = dynamic_cast<Display*>(screen.get())) display->close();
  for (EventSink* sink : all) {
    auto* lines = dynamic_cast<JsonLinesSink*>(sink);
    if (lines != nullptr && !lines->status().ok())
      return Status(lines->status()).at(sink == log.get() ? log_path : "standard output");
  }
  return {};
}

Result<Sinks> make_sinks(const Session& session, const RunOptions& options, const Plan& plan) {
  Sinks sinks;
  if (!options.log_json.empty()) {
    auto log = JsonLinesSink::open(options.log_json);
    if (!log.ok()) return std::move(log).status();
    sinks.log = std::move(*log);
    sinks.log_path = options.log_json;
    sinks.all.push_back(sinks.log.get());
  }
  if (options.json) {
    sinks.screen = std::make_unique<JsonLinesSink>(STDOUT_FILENO, false);
  } else if (session.terminal.is_terminal && session.terminal.can_ask) {
    sinks.screen = live_display(plan, session.terminal);
  } else {
    sinks.screen = plain_display(plan, session.terminal);
  }
  sinks.all.push_back(sinks.screen.get());
  return sinks;
}

int report_run(const Session& session, const RunReport& report, bool json) {
  Style style(session.terminal.color);
  auto tell = [&](const Status& status) {
    std::fprintf(stderr, "\n%s%serror:%s %s\n", style.bold().data(), style.red().data(), style.off().data(),
                 shown(status.message(), session.terminal.color).c_str());
    if (!status.hint().empty()) std::fprintf(stderr, "  %s\n", shown(status.hint()).c_str());
  };
  // It ended before anything was begun, or of nothing that an action stands for.
  const bool untold = report.failed() == 0 && report.leftovers.empty();
  if (untold && !report.status.ok() && report.status.code() != Code::Cancelled) tell(report.status);
  for (const ActionOutcome& outcome : report.actions) {
    if (outcome.state != ActionOutcome::State::Failed) continue;
    tell(outcome.status);
    if (!outcome.log.empty()) std::fprintf(stderr, "  full log: %s\n", outcome.log.c_str());
  }
  for (const std::string& leftover : report.leftovers) {
    std::fprintf(stderr, "%snot removed:%s %s\n", style.red().data(), style.off().data(),
                 shown(leftover).c_str());
  }
  if (report.failed() + report.skipped() > 0 && !json) {
    std::fprintf(stderr,
                 "\n%zu done, %zu failed, %zu skipped. Run the same command again to go on from here.\n",
                 report.done(), report.failed(), report.skipped());
  }
  if (report.status.ok()) return report.leftovers.empty() ? kDone : kWorldError;
  return report.status.code() == Code::Cancelled ? kInterrupted : kWorldError;
}

}  // namespace radl::cli
