#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>

#include "common/files.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/apply.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/sudo.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/given_back.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/render.h"
#include "runtime/steps/training/bucket_folder.h"

namespace radl::cli::apply_command {
namespace {

// How often one apply makes nodes anew that a cloud has taken back.
constexpr int kMostReplacements = 5;
constexpr std::chrono::seconds kLookAtBuckets{60};

OnError on_error(const std::string& text) {
  if (text == "retry") return OnError::Retry;
  return text == "destroy" ? OnError::Destroy : OnError::Keep;
}

// Everything that one apply holds, so that it can be put together step by step.
struct Apply {
  const Session& session;
  Options& options;
  std::optional<SavedPlan> saved;
  std::unique_ptr<Project> project;
  std::unique_ptr<Machinery> machinery;
  Cancellation cancellation;
  std::optional<SignalGuard> guard;  // from when it waits for more than an answer
  std::unique_ptr<ActiveRun> run;
  double begun = real_world().clock.wall_seconds();

  Run parts() {
    Run parts = machinery->run();
    parts.program = &project->compiled.program;
    parts.secrets = &project->compiled.secrets;
    parts.options.on_error = on_error(options.run.on_error);
    return parts;
  }
};

// A saved plan brings its own sources, inputs and place of the state.
Status read_saved(Apply& apply) {
  ProjectOptions& project = apply.options.project;
  auto saved = read_plan_file(project.files.front());
  if (!saved.ok()) return std::move(saved).status();
  if (Status moved = check_sources_unmoved(saved->plan); !moved.ok()) return moved;
  project.files.clear();
  for (const ir::Source& source : saved->program.sources) {
    if (project.files.empty()) project.files.push_back(source.path);
  }
  for (const auto& [name, value] : saved->inputs) project.inputs.push_back(name + "=" + value);
  if (project.state.empty()) project.state = saved->state_directory;
  project.name = saved->program.name;
  apply.saved = std::move(*saved);
  return {};
}

Status prepare(Apply& apply) {
  const std::vector<std::string>& files = apply.options.project.files;
  if (files.size() == 1 && is_plan_file(files.front())) {
    const PlanRequest& request = apply.options.request;
    if (request.refresh || !request.replace.empty() || !request.targets.empty()) {
      return invalid(
          "a saved plan is applied as it is: --refresh, --replace and --target belong to `radlc plan`");
    }
    if (Status read = read_saved(apply); !read.ok()) return read;
  }
  auto project = load_project(apply.session, apply.options.project);
  if (!project.ok()) return std::move(project).status();
  apply.project = std::move(*project);
  apply.project->scale = apply.options.scale;
  auto password = given_sudo_password(apply.session, apply.options.run.ask_sudo_password);
  if (!password.ok()) return std::move(password).status();
  use_sudo_password(*apply.project, *password);
  apply.guard.emplace(apply.cancellation);
  auto machinery = make_machinery(apply.options.run, apply.cancellation.finishing());
  if (!machinery.ok()) return std::move(machinery).status();
  apply.machinery = std::move(*machinery);
  auto run =
      begin_run(apply.parts(), apply.project->state_directory, apply.project->compiled.program.name,
                apply.options.scale ? OpenMode::Write : OpenMode::Create,
                apply.options.scale ? "scale" : "apply", apply.options.run.lock_timeout, apply.cancellation);
  if (!run.ok()) return std::move(run).status();
  apply.run = std::move(*run);
  remember(apply.project->state_directory, apply.project->compiled.program.name);
  return recover_left(*apply.run);
}

// Nothing has vanished or broken that a saved plan takes to be there. `now`: a plan made after a look.
Status check_world_unmoved(const Plan& saved, const Plan& now) {
  for (const Drift& drift : now.drift) {
    if (drift.what != "gone" && drift.what != "broken") continue;
    const bool known = std::any_of(saved.drift.begin(), saved.drift.end(), [&](const Drift& other) {
      return other.address == drift.address && other.what == drift.what;
    });
    if (known) continue;
    return Status(Code::Conflict, fmt::format("{} is {} since the plan was saved: {}", drift.address,
                                              drift.what, drift.detail))
        .with_hint("plan again, with --refresh");
  }
  return {};
}

Result<Plan> decide(Apply& apply) {
  auto plan = apply.run->plan(question_of(*apply.project, *apply.machinery, apply.options.request));
  if (!plan.ok()) return plan;
  auto snapshot = apply.run->snapshot();
  if (!snapshot.ok()) return std::move(snapshot).status();
  tell_what_stays(*plan, *snapshot);
  if (!apply.saved) return plan;
  if (Status moved = check_state_unmoved(apply.saved->plan, *snapshot); !moved.ok()) return moved;
  if (Status moved = check_world_unmoved(apply.saved->plan, *plan); !moved.ok()) return moved;
  if (apply.saved->plan.source_digest != plan->source_digest) {
    return Status(Code::Conflict, "the saved plan was made from other sources or inputs")
        .with_hint("plan again");
  }
  return apply.saved->plan;
}

// True: go on. A saved plan was approved when it was saved.
Result<bool> approved(const Apply& apply) {
  if (apply.saved || apply.options.run.auto_approve) return true;
  if (!apply.session.terminal.can_ask) {
    return Status(Code::Invalid, "there is nobody to ask whether this may be done")
        .with_hint("say --auto-approve, or save the plan with `radlc plan" +
                   project_words(apply.options.project) +
                   " --out PLAN` and apply it with `radlc apply PLAN`");
  }
  return confirm("\nDo this? Only 'yes' is taken as yes:");
}

// Where the nodes that a region had no room for may go.
RoomSought seek_room(Apply& apply, const Plan& plan, const RunReport& report) {
  std::map<std::string, std::string> failed;
  for (const ActionOutcome& outcome : report.actions) {
    if (outcome.state == ActionOutcome::State::Failed && outcome.status.code() == Code::Quota)
      failed[outcome.id] = outcome.status.message();
  }
  if (failed.empty() || report.status.code() == Code::Cancelled) return {};
  auto now = apply.run->snapshot();
  if (!now.ok()) return {};
  const NoRoom& known = apply.options.request.no_room;
  const Placement placement = place_nodes(apply.project->compiled.program, *now, apply.machinery->clouds(),
                                          apply.machinery->catalog(), known);
  return room_elsewhere(placement, *now, plan, known, failed, apply.begun);
}

// `again`: what is done again, for nodes that were taken back or that a region has no room for, is no failure
// to report. `room`: out, for the latter.
int execute(Apply& apply, const Plan& plan, const std::vector<PlanForecast>& forecasts, bool again,
            RoomSought& room) {
  ActiveRun& run = *apply.run;
  Listeners listeners;
  if (Status begun = listeners.begin(run, apply.session, apply.options.run, plan); !begun.ok())
    return report(apply.session, begun);
  RunReport done = run.apply(plan);
  if (again) room = seek_room(apply, plan, done);
  const bool goes_on = again && (!run.taken_back().empty() || room.elsewhere) && !done.status.ok() &&
                       done.status.code() != Code::Cancelled;
  if (!goes_on) run.store().unlock();  // whoever listens slowly holds up nobody
  Status told = listeners.end(run, apply.cancellation.now());
  for (const std::string& line : room.why) std::fprintf(stderr, "%s\n", shown(line).c_str());
  int code = goes_on ? int(kWorldError) : report_run(apply.session, done, apply.options.run.json);
  if (!told.ok()) code = std::max(code, report(apply.session, told));
  RunFigures figures = run.figures(plan, done);
  predict_training(forecasts, figures);
  auto after = run.snapshot();
  if (after.ok()) measure_jobs(plan, done, *after, figures);
  keep_figures(std::move(figures), apply.project->state_directory);
  if (after.ok()) keep_trainings_or_note(plan, *apply.project, *apply.machinery, done, *after);
  if (!apply.options.run.json && after.ok()) {
    std::fputs(summary_table(apply.session, plan, done, *after,
                             "radlc destroy" + project_words(apply.options.project))
                   .c_str(),
               stdout);
  }
  return code;
}

// What was approved is done again for nodes that their cloud takes back, as the file says it (spot, or on
// demand where it allows that): they are made anew, and what ran there goes on from its checkpoints.
Result<Plan> plan_again(Apply& apply, const std::map<std::string, std::string>& nodes, RoomSought room) {
  PlanRequest& request = apply.options.request;
  request.replace.clear();
  if (room.elsewhere) request.no_room = std::move(room.no_room);
  for (const auto& [address, when] : nodes) {
    const std::string said = when.empty() ? "" : " (" + when + ")";
    std::fprintf(stderr,
                 "%s was taken back by its cloud%s: it is made anew, and what ran there goes on from its "
                 "checkpoints\n",
                 shown(address).c_str(), shown(said).c_str());
    request.replace.push_back(address);
  }
  apply.saved.reset();
  auto plan = decide(apply);
  if (!plan.ok()) return plan;
  if (Status within = hold_to_max_cost(request, *plan); !within.ok()) return within;
  return plan;
}

int execute_all(Apply& apply, Plan plan, std::vector<PlanForecast> forecasts) {
  for (int round = 0;; ++round) {
    const bool again = round < kMostReplacements && on_error(apply.options.run.on_error) != OnError::Destroy;
    RoomSought room;
    const int done = execute(apply, plan, forecasts, again, room);
    const bool more = again && (room.elsewhere || !apply.run->taken_back().empty());
    if (!more || done == kDone || done == kInterrupted) return done;
    auto next = plan_again(apply, apply.run->taken_back(), std::move(room));
    if (!next.ok()) {
      print_refusal(apply.session, *apply.project);
      return report(apply.session, next.status());
    }
    plan = std::move(*next);
    forecasts = forecasts_or_note(plan, *apply.project, *apply.machinery, apply.cancellation.finishing());
  }
}

// A bucket that is missing or closed is known before a machine is paid for.
Status buckets_are_open(const ir::Program& program, const Plan& plan, const Stop& stop) {
  for (const ir::Step& step : program.steps) {
    const Action* action = plan.find(step.id);
    if (!ir::is_job(step.kind) || action == nullptr || action->verb != Verb::Run) continue;
    const Json& job = step.kind == ir::StepKind::Program ? step.program : step.training;
    Status open = training::check_buckets(job, stop.within(kLookAtBuckets));
    if (!open.ok()) return std::move(open).at(step.id);
  }
  return {};
}

}  // namespace

int run(const Session& session, Options& options) {
  Apply apply{session, options, {}, {}, {}, {}, {}, {}};
  if (Status ready = prepare(apply); !ready.ok()) return report(session, ready);
  auto plan = decide(apply);
  if (!plan.ok()) {
    print_refusal(session, *apply.project);
    return report(session, plan.status());
  }
  const Status within = hold_to_max_cost(options.request, *plan);
  const Stop stop = apply.cancellation.finishing();
  std::vector<PlanForecast> forecasts = forecasts_or_note(*plan, *apply.project, *apply.machinery, stop);
  if (Status stopped = stop.check(); !stopped.ok()) return report(session, stopped);
  if (!options.run.json) {
    PlanTextOptions look;
    look.color = session.terminal.color;
    look.forecasts = forecasts;
    std::fputs(shown(render_text(*plan, look), look.color).c_str(), stdout);
    std::fflush(stdout);
  }
  if (!within.ok()) return report(session, within);
  for (const Elsewhere& one : plan->elsewhere)
    std::fprintf(stderr,
                 "warning: %s exists already in %s. If its state was lost: `radlc import --all%s`, or `radlc "
                 "destroy --from-cloud %s`\n",
                 shown(one.infrastructure).c_str(), shown(one.cloud).c_str(), apply.project->words.c_str(),
                 shown(one.infrastructure).c_str());
  int unseen = report_unseen(session, *plan);
  if (!plan->changes_anything()) return unseen;
  auto go = approved(apply);
  if (!go.ok()) return report(session, go.status());
  if (Status stopped = stop.check(); !stopped.ok()) return report(session, stopped);
  if (!*go) {
    std::fputs("Nothing was done.\n", stdout);
    return kUserError;
  }
  if (Status open = buckets_are_open(apply.project->compiled.program, *plan, stop); !open.ok())
    return report(session, open);
  int done = execute_all(apply, std::move(*plan), std::move(forecasts));
  end_run(*apply.run);
  return done == kDone ? unseen : done;
}

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("apply", "Create, configure and train what the files describe");
  auto options = std::make_shared<Options>();
  add_project_options(*command, options->project);
  add_run_options(*command, options->run);
  add_sudo_option(*command, options->run.ask_sudo_password);
  command->get_option("FILE")->description(
      "RADL files, their folder, or one plan saved by `radlc plan --out`");
  command->add_flag("--refresh", options->request.refresh, "look at the nodes first and repair what drifted");
  command->add_option("--replace", options->request.replace, "make this node anew, for example 'worker[0]'")
      ->type_name("ADDRESS");
  add_target_option(*command, options->request.targets);
  add_max_cost_option(*command, options->request);
  command
      ->add_option("--on-error", options->run.on_error,
                   "keep what failed, retry it, or destroy what this run made")
      ->check(CLI::IsMember({"keep", "retry", "destroy"}))
      ->capture_default_str();
  return [options, &session] { return run(session, *options); };
}

}  // namespace radl::cli::apply_command
