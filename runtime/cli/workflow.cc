#include "runtime/cli/workflow.h"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

#include "runtime/cli/display.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/terminal.h"
#include "runtime/driver/given_back.h"
#include "runtime/driver/user_files.h"
#include "runtime/exec/failures.h"
#include "runtime/plan/budget.h"
#include "runtime/plan/ordinals.h"
#include "runtime/runs/runs_file.h"
#include "runtime/state/index.h"

namespace radl::cli {

Result<Snapshot> read_snapshot(const std::string& directory, const std::string& name, const Stop& stop) {
  auto store = Store::open(directory, name, OpenMode::Read, real_world(), stop);
  if (store.ok()) return (*store)->snapshot();
  if (store.status().code() != Code::NotFound) return std::move(store).status();
  Snapshot empty;
  empty.name = name;
  return empty;
}

namespace {

// The hint names the state, so that it can be typed in any folder.
Status held_elsewhere(Status held, const std::string& directory, const std::string& name) {
  auto store = Store::open(directory, name, OpenMode::Read, real_world());
  if (!store.ok()) return held;
  auto holder = (*store)->lock_holder();
  if (!holder.ok() || !*holder) return held;
  return std::move(held).with_hint(fmt::format(
      "wait for it with --lock-timeout SECONDS, or, when it is gone for good, `radlc state unlock "
      "{} --state {} --name {}`",
      (*holder)->id, shell_word(directory), shell_word(name)));
}

void tell_waiting(const LockInfo& holder) {
  std::fprintf(stderr, "waiting for the lock: %s\n", holder.text().c_str());
}

// Of a copied state (runtime/state/home.h). True: its place is its own from now on.
bool was_moved(const Status& refused, const std::string& directory, const std::string& name) {
  if (refused.code() != Code::Exists || !detect_terminal(true).can_ask) return false;
  std::fprintf(stderr, "%s\n", shown(refused.message()).c_str());
  if (!confirm("Was the project moved here, and is the original gone? Only 'yes' is taken as yes:"))
    return false;
  auto store = Store::open(directory, name, OpenMode::Write, real_world());
  return store.ok() && (*store)->adopt().ok();
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<long long>(seconds * 1000));
}

}  // namespace

Result<std::unique_ptr<Store>> open_locked(const std::string& directory, const std::string& name,
                                           OpenMode mode, const std::string& command,
                                           double timeout_seconds) {
  auto end = real_world().clock.now() + milliseconds_of(timeout_seconds);
  while (true) {
    auto store = Store::open(directory, name, mode, real_world());
    if (!store.ok()) return store;
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - real_world().clock.now());
    Status locked = (*store)->lock(command, std::max(left, std::chrono::milliseconds(0)), tell_waiting);
    if (locked.ok()) return store;
    if (locked.code() == Code::Conflict) return held_elsewhere(std::move(locked), directory, name);
    store->reset();
    if (was_moved(locked, directory, name)) continue;
    // A destroy that it waited for has removed the state: there may be a new one.
    if (locked.code() != Code::Lost) return locked;
  }
}

Result<std::unique_ptr<ActiveRun>> begin_run(Run parts, const std::string& directory, const std::string& name,
                                             OpenMode mode, const std::string& command, double lock_timeout,
                                             Cancellation& cancellation) {
  const RunStart start{directory, name, mode, command, milliseconds_of(lock_timeout), tell_waiting};
  auto run = ActiveRun::begin(parts, start, cancellation);
  if (!run.ok() && was_moved(run.status(), directory, name))
    run = ActiveRun::begin(std::move(parts), start, cancellation);
  if (run.ok() || run.status().code() != Code::Conflict) return run;
  return held_elsewhere(run.status(), directory, name);
}

void remember(const std::string& directory, const std::string& name) {
  const std::string index = infrastructures_index();
  Status kept =
      index.empty() ? not_found("there is no home folder") : remember_state(index, {directory, name});
  if (kept.ok()) return;
  std::fprintf(stderr, "note: `radlc list` will not show %s: %s\n", shown(name).c_str(),
               shown(kept.text()).c_str());
}

namespace {

Status recover_left(Store& store, const std::function<Result<Recovery>()>& recover_now) {
  auto intents = store.open_intents();
  if (!intents.ok()) return std::move(intents).status();
  if (intents->empty()) return {};
  std::fprintf(stderr, "an earlier run was interrupted: looking up what it left (%zu open)\n",
               intents->size());
  auto recovered = recover_now();
  if (!recovered.ok()) return std::move(recovered).status();
  std::fprintf(stderr, "  %zu adopted, %zu removed, %zu repeated, %zu closed\n", recovered->adopted,
               recovered->removed, recovered->repeated, recovered->closed);
  return {};
}

}  // namespace

Status recover_left(const Run& run) {
  return recover_left(*run.store, [&] { return recover(run); });
}

Status recover_left(ActiveRun& run) {
  return recover_left(run.store(), [&] { return run.recover(); });
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

PlanQuestion question_of(Project& project, const Machinery& machinery, const PlanRequest& request) {
  PlanQuestion question;
  question.program = &project.compiled.program;
  question.secrets = &project.compiled.secrets;
  question.clouds = &machinery.clouds();
  question.catalog = &machinery.catalog();
  question.replace.insert(request.replace.begin(), request.replace.end());
  question.targets.insert(request.targets.begin(), request.targets.end());
  question.project_words = project.words;
  question.refresh = request.refresh;
  question.no_room = request.no_room;
  question.prepare = [&project](const Snapshot& snapshot) { return use_state_of(project, snapshot); };
  question.scaled = &project.scaled;
  question.leave_jobs = project.scale.has_value();
  question.tell = [](const std::string& line) { std::fprintf(stderr, "%s\n", shown(line).c_str()); };
  question.measured = [] { return measured_by(newest_runs(user_data_file("runs.jsonl"))); };
  return question;
}

std::vector<PlanForecast> forecasts_or_note(const Plan& plan, const Project& project,
                                            const Machinery& machinery, const Stop& stop) {
  auto forecasts = plan_forecasts(plan, project, machinery, stop);
  if (forecasts.ok()) return std::move(*forecasts);
  std::fprintf(stderr, "note: nothing is forecast: %s\n", shown(forecasts.status().text()).c_str());
  return {};
}

void keep_trainings_or_note(const Plan& plan, const Project& project, const Machinery& machinery,
                            const RunReport& report, const Snapshot& after) {
  Status kept = keep_trainings(plan, project, machinery, report, after);
  if (!kept.ok())
    std::fprintf(stderr, "note: the next forecast will not know of this run: %s\n",
                 shown(kept.text()).c_str());
}

Result<Plan> plan_for(Project& project, const Snapshot& snapshot, const Machinery& machinery,
                      const PlanRequest& request, const Observed* observed, const Stop& stop) {
  PlanQuestion question = question_of(project, machinery, request);
  question.stop = stop;
  auto plan = make_plan_of(question, snapshot, observed,
                           work_directory_of(project.state_directory, project.compiled.program.name));
  if (plan.ok()) tell_what_stays(*plan, snapshot);
  return plan;
}

// The run is over: whoever waits for its end is not kept by another one that holds the file.
constexpr std::chrono::seconds kForFigures{2};

void keep_figures(RunFigures figures, const std::string& state_directory) {
  figures.directory = state_directory;
  const std::string path = user_data_file("runs.jsonl");
  Status kept = path.empty() ? not_found("there is no home folder")
                             : append_run(path, figures, Stop().within(kForFigures));
  if (!kept.ok())
    std::fprintf(stderr, "note: `radlc history` will not show this run: %s\n", shown(kept.text()).c_str());
}

int report_unseen(const Session& session, const Plan& plan) {
  if (plan.unseen.empty()) return kDone;
  Style style(session.terminal.color);
  for (const std::string& line : unseen_told(plan.unseen)) {
    std::fprintf(stderr, "%s%serror:%s %s\n", style.bold().data(), style.red().data(), style.off().data(),
                 shown(line).c_str());
  }
  return kWorldError;
}

Status Listeners::end(ActiveRun& run, const Stop& stop) {
  Status told;
  for (const Listener& each : all_) {
    ListenerEnd end = run.events().let_go(each.id, stop);
    if (told.ok() && !end.status.ok()) told = std::move(end.status).at(end.name);
    // What was given up may still be at work: it is left alone.
    if (end.status.code() == Code::Cancelled || end.status.code() == Code::Timeout) continue;
    if (auto* display = dynamic_cast<Display*>(each.sink.get())) display->close();
    if (auto* lines = dynamic_cast<JsonLinesSink*>(each.sink.get()); lines && told.ok())
      told = Status(lines->status()).at(end.name);
  }
  all_.clear();
  return told;
}

Status Listeners::add(ActiveRun& run, std::string name, std::shared_ptr<EventSink> sink) {
  auto id = run.events().listen(sink, {std::move(name)});
  if (!id.ok()) return id.status();
  all_.push_back({*id, std::move(sink)});
  return {};
}

Status Listeners::begin(ActiveRun& run, const Session& session, const RunOptions& options, const Plan& plan) {
  if (!options.log_json.empty()) {
    auto log = JsonLinesSink::open(options.log_json);
    if (!log.ok()) return std::move(log).status();
    if (Status added = add(run, options.log_json, std::move(*log)); !added.ok()) return added;
  }
  if (options.json) return add(run, "standard output", std::make_shared<JsonLinesSink>(STDOUT_FILENO, false));
  const bool live = session.terminal.is_terminal && session.terminal.can_ask;
  std::shared_ptr<EventSink> screen =
      live ? live_display(plan, session.terminal) : plain_display(plan, session.terminal);
  return add(run, "the screen", std::move(screen));
}

void end_run(ActiveRun& run) {
  constexpr std::chrono::seconds kForTheLog{10};
  for (const ListenerEnd& end : run.close(Stop().within(kForTheLog))) {
    if (end.status.ok() && end.lost == 0) continue;
    std::fprintf(stderr, "note: %s is not whole: %llu are missing%s%s\n", end.name.c_str(), end.lost,
                 end.status.ok() ? "" : ": ", shown(end.status.message()).c_str());
  }
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
  if (!report.lost_lock.ok())
    tell(report.lost_lock);
  else if (untold && !report.status.ok() && report.status.code() != Code::Cancelled)
    tell(report.status);
  for (const Failure& failure : failures_told(report.actions)) {
    tell(failure.status);
    if (!failure.log.empty()) std::fprintf(stderr, "  full log: %s\n", failure.log.c_str());
  }
  for (const std::string& leftover : leftovers_told(report)) {
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
