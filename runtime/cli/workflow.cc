#include "runtime/cli/workflow.h"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

#include "runtime/cli/display.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/terminal.h"
#include "runtime/exec/failures.h"
#include "runtime/plan/ordinals.h"

namespace radl::cli {

PlanTextOptions plan_look(const Session& session) {
  PlanTextOptions look;
  look.color = session.terminal.color;
  look.width = session.terminal.is_terminal ? static_cast<size_t>(session.terminal.width) : 0;
  return look;
}

Tell tell_on_stderr() {
  return [](const driver::Notice& notice) {
    const char* kind = notice.kind == driver::Notice::Kind::Note      ? "note: "
                       : notice.kind == driver::Notice::Kind::Warning ? "warning: "
                                                                      : "";
    std::fprintf(stderr, "%s%s\n", kind, shown(notice.text).c_str());
  };
}

bool was_moved(const Session& session, const Status& refused, const std::string& directory,
               const std::string& name) {
  if (!asks_whether_moved(refused) || !session.terminal.can_ask) return false;
  std::fprintf(stderr, "%s\n", shown(refused.message()).c_str());
  return confirm("Was the project moved here, and is the original gone? Only 'yes' is accepted:") &&
         take_over_state(session.host, directory, name).ok();
}

Result<std::unique_ptr<Store>> open_locked(const Session& session, const std::string& directory,
                                           const std::string& name, OpenMode mode, const std::string& command,
                                           double timeout_seconds) {
  auto open = [&] {
    return driver::open_locked(session.host, directory, name, mode, command, timeout_seconds,
                               tell_on_stderr());
  };
  auto store = open();
  return !store.ok() && was_moved(session, store.status(), directory, name) ? open() : std::move(store);
}

Result<std::unique_ptr<ActiveRun>> begin_run(const Session& session, const Run& parts,
                                             const std::string& directory, const std::string& name,
                                             OpenMode mode, const std::string& command, double lock_timeout,
                                             Cancellation& cancellation) {
  auto begin = [&] {
    return driver::begin_run(session.host, parts, directory, name, mode, command, lock_timeout, cancellation,
                             tell_on_stderr());
  };
  auto run = begin();
  return !run.ok() && was_moved(session, run.status(), directory, name) ? begin() : std::move(run);
}

void remember_or_note(const Host& host, const std::string& directory, const std::string& name) {
  Status kept = driver::remember(host, directory, name);
  if (!kept.ok())
    std::fprintf(stderr, "note: `radlc list` will not show %s: %s\n", shown(name).c_str(),
                 shown(kept.text()).c_str());
}

void add_target_option(CLI::App& command, std::vector<std::string>& targets) {
  command
      .add_option("--target", targets,
                  "only this resource, step or system, with its dependencies; may be repeated")
      ->type_name("ADDRESS");
}

void add_max_cost_option(CLI::App& command, PlanRequest& request) {
  command
      .add_option(
          "--max-cost", request.max_cost,
          "reject a plan that costs more, for example 2.50 (per hour), '2.50 EUR/h' or '1800 USD/month'")
      ->type_name("AMOUNT[/h]");
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
  note_unkept_trainings(keep_trainings(plan, project, machinery, report, after));
}

void note_unkept_trainings(const Status& kept) {
  if (!kept.ok())
    std::fprintf(stderr, "note: the next forecast will not know of this run: %s\n",
                 shown(kept.text()).c_str());
}

void keep_figures_or_note(const Host& host, RunFigures figures, const std::string& state_directory) {
  note_unkept_figures(driver::keep_figures(host, std::move(figures), state_directory));
}

void note_unkept_figures(const Status& kept) {
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
    auto* display = dynamic_cast<Display*>(each.sink.get());
    // After a second Ctrl-C, a screen that did not show everything is not an error.
    if (told.ok() && !end.status.ok() && !(display != nullptr && end.status.code() == Code::Cancelled))
      told = Status(end.status).at(end.name);
    // A sink that was given up may still be in use: do not touch it.
    if (end.status.code() == Code::Cancelled || end.status.code() == Code::Timeout) continue;
    if (display != nullptr) display->close();
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
  // It ended before any action began, or for a reason that no action reports.
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
  if (report.failed() + report.skipped() > report.left_running.size() && !json) {
    std::fprintf(stderr, "\n%zu done, %zu failed, %zu skipped. Run the same command again to continue.\n",
                 report.done(), report.failed(), report.skipped());
  }
  if (report.status.ok()) return report.leftovers.empty() ? kDone : kWorldError;
  return report.status.code() == Code::Cancelled ? kInterrupted : kWorldError;
}

}  // namespace radl::cli
