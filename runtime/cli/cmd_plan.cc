#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/others.h"
#include "runtime/cli/result_file.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/sudo.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/given_back.h"
#include "runtime/driver/prices_elsewhere.h"
#include "runtime/driver/project_state.h"
#include "runtime/plan/budget.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/render.h"

namespace radl::cli::plan_command {
namespace {

struct Options {
  ProjectOptions project;
  RunOptions run;
  PlanRequest request;
  std::string out, html, format = "text";
  bool force = false;
  bool json = false, dot = false, markdown = false, detailed = false, full = false, brief = false,
       destroy = false;
};

constexpr int kPlanHasChanges = 2;  // --detailed-exitcode

// A look at the world through clouds and runners: needs the state, changes nothing.
Result<std::optional<Observed>> observe(const Session& session, const Options& options, Project& project,
                                        Cancellation& cancellation) {
  if (!options.request.refresh) return std::optional<Observed>();
  auto store = Store::open(project.state_directory, project.compiled.program.name, OpenMode::Read,
                           *session.host.world, cancellation.finishing());
  if (!store.ok()) {
    if (store.status().code() == Code::NotFound) return std::optional<Observed>();
    return std::move(store).status();
  }
  auto snapshot = (*store)->snapshot();
  if (!snapshot.ok()) return std::move(snapshot).status();
  auto machinery = make_machinery(session.host, options.run, cancellation.finishing());
  if (!machinery.ok()) return std::move(machinery).status();
  Run run = (*machinery)->run();
  run.store = store->get();
  run.program = &project.compiled.program;
  run.secrets = &project.compiled.secrets;
  run.cancellation = &cancellation;
  auto observed = refresh(run, *snapshot);
  if (!observed.ok()) return std::move(observed).status();
  return std::optional<Observed>(std::move(*observed));
}

Status save(const Options& options, const Project& project, const Plan& plan) {
  SavedPlan saved;
  saved.plan = plan;
  saved.program = project.compiled.program;
  saved.state_directory = project.state_directory;
  for (const auto& [name, value] : project.compiled.program.inputs) {
    if (value.is_object() && value.contains("$secret")) continue;
    saved.inputs[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return write_result({options.out, options.force}, encode_plan_file(saved), ResultKind::Plan, 0600);
}

void show(const Session& session, const Options& options, const Plan& plan,
          const std::vector<PlanForecast>& forecasts, const std::vector<PriceElsewhere>& elsewhere) {
  if (options.json) {
    Json json = to_json(plan);
    for (const PlanForecast& forecast : forecasts) json["forecasts"].push_back(to_json(forecast));
    if (!elsewhere.empty()) json["elsewhere"] = to_json(elsewhere);
    std::printf("%s\n", json.dump(2).c_str());
  } else if (options.dot) {
    std::fputs(render_dot(plan).c_str(), stdout);
  } else if (options.markdown) {
    std::fputs(render_markdown(plan, forecasts).c_str(), stdout);
  } else {
    PlanTextOptions look;
    look.color = session.terminal.color;
    look.full = options.full;
    look.brief = options.brief;
    look.forecasts = forecasts;
    std::fputs(shown(render_text(plan, look), look.color).c_str(), stdout);
    // Not of the plan, which is the same bytes for whoever makes it.
    if (!elsewhere.empty()) std::fprintf(stderr, "note: %s", shown(render_text(elsewhere)).c_str());
  }
}

// Ctrl-C while the plan waits for somebody, which begins when the sources are compiled.
struct Interruption {
  Cancellation cancellation;
  std::optional<SignalGuard> guard;
};

// All that a plan is made of, and what came of it.
struct Made {
  std::unique_ptr<Project> project;
  Result<Snapshot> snapshot = Snapshot();
  Result<Plan> plan = Plan();
  std::vector<PlanForecast> forecasts;
  std::vector<PriceElsewhere> elsewhere;
};

// What carries the infrastructure's tag without being in the state, which a destroy leaves alone.
Status tell_others(const Session& session, const Options& options, const StatePlace& place,
                   const Snapshot& snapshot, Interruption& interruption, Plan& plan) {
  if (!options.request.refresh) {
    const bool local = std::all_of(snapshot.resources.begin(), snapshot.resources.end(),
                                   [](const auto& entry) { return entry.second.cloud == "local"; });
    if (!local)
      plan.notes.push_back(
          "no cloud was asked what else carries this infrastructure's tag, which destroy leaves alone: "
          "--refresh lists it");
    return {};
  }
  interruption.guard.emplace(interruption.cancellation);
  const Stop stop = interruption.cancellation.finishing();
  auto machinery = make_machinery(session.host, options.run, stop);
  if (!machinery.ok()) return machinery.status();
  auto store = Store::open(place.directory, place.name, OpenMode::Read, *session.host.world, stop);
  if (!store.ok()) return store.status();
  Run run = (*machinery)->run();
  run.store = store->get();
  run.cancellation = &interruption.cancellation;
  auto others = look_for_others(run, false);
  if (!others.ok()) return others.status();
  note_others(*others, {}, plan);
  return {};
}

Status make(const Session& session, const Options& options, Interruption& interruption, Made& made) {
  auto& [project, snapshot, plan, forecasts, elsewhere] = made;
  const Stop stop = interruption.cancellation.finishing();
  if (options.destroy) {
    auto place = find_state(session.host, options.project);
    if (!place.ok()) return place.status();
    snapshot = read_snapshot(session.host, place->directory, place->name);
    if (!snapshot.ok()) return snapshot.status();
    const std::vector<std::string>& targets = options.request.targets;
    plan = make_destroy_plan(*snapshot, {targets.begin(), targets.end()});
    if (!plan.ok()) return plan.status();
    tell_what_stays(*plan, *snapshot);
    return targets.empty() ? tell_others(session, options, *place, *snapshot, interruption, *plan) : Status();
  }
  auto loaded = load_project(session, options.project);
  if (!loaded.ok()) return loaded.status();
  project = std::move(*loaded);
  auto password = given_sudo_password(session, options.run.ask_sudo_password);
  if (!password.ok()) return std::move(password).status();
  use_sudo_password(*project, *password);
  interruption.guard.emplace(interruption.cancellation);
  snapshot = read_snapshot(session.host, project->state_directory, project->compiled.program.name, stop);
  if (!snapshot.ok()) return snapshot.status();
  auto machinery = make_machinery(session.host, options.run, stop);
  if (!machinery.ok()) return machinery.status();
  if (Status numbered = use_state_of(*project, *snapshot); !numbered.ok()) return numbered;
  auto observed = observe(session, options, *project, interruption.cancellation);
  if (!observed.ok()) return std::move(observed).status();
  plan = plan_for(*project, *snapshot, **machinery, options.request, *observed ? &**observed : nullptr,
                  tell_on_stderr(), stop);
  if (!plan.ok() || options.brief || options.dot) return plan.status();
  forecasts = forecasts_or_note(*plan, *project, **machinery, stop);
  if (Status stopped = stop.check(); !stopped.ok()) return stopped;
  if (snapshot->resources.empty()) elsewhere = prices_elsewhere(*project, **machinery);
  return plan.status();
}

// The exit code; `changes` tells whether the plan has any.
int run_plan(const Session& session, const Options& options, bool& changes) {
  if (Status file = needs_file(options.out, "-out"); !file.ok()) return report(session, file);
  if (!options.request.max_cost.empty()) {
    if (auto budget = parse_budget(options.request.max_cost); !budget.ok())
      return report(session, budget.status());
  }
  auto made = session.keep<Made>();
  {
    Interruption interruption;
    if (Status done = make(session, options, interruption, *made); !done.ok()) {
      if (made->project) print_refusal(session, *made->project);
      return report(session, done);
    }
  }
  const auto& [project, snapshot, planned, forecasts, elsewhere] = *made;
  const Plan* plan = &*planned;
  if (options.html != "-") show(session, options, *plan, forecasts, elsewhere);
  if (!options.html.empty()) {
    if (int code = put_result(session, render_html(*plan, forecasts), {options.html, options.force},
                              ResultKind::Review);
        code != kDone)
      return code;
  }
  if (Status within = within_max_cost(options.request, *plan); !within.ok()) return report(session, within);
  if (!options.out.empty()) {
    if (options.destroy)
      return report(session, invalid("-out works with a plan to apply, not with --destroy"));
    if (Status saved = save(options, *project, *plan); !saved.ok()) return report(session, saved);
    if (!options.json && !options.dot && !options.markdown && options.html != "-")
      std::printf("\nSaved. To do exactly this: radlc apply %s\n", shell_word(options.out).c_str());
  }
  changes = plan->changes_anything();
  return report_unseen(session, *plan);
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("plan", "Show what apply would create, change, run and cost; changes nothing");
  auto options = std::make_shared<Options>();
  add_project_options(*command, options->project);
  add_cloud_option(*command, options->run);
  command
      ->add_option("--out", options->out, "save the plan; `radlc apply` of it does exactly this (also: -out)")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "the plan as JSON (docs/plan.md)");
  command->add_flag("--dot", options->dot, "the actions and their order for Graphviz");
  command->add_flag("--markdown", options->markdown, "as a comment for a pull request (docs/ci.md)");
  command->add_option("--format", options->format, "how it is written: text, json, dot or markdown")
      ->check(CLI::IsMember({"text", "json", "dot", "markdown"}));
  add_max_cost_option(*command, options->request);
  command
      ->add_option("--html", options->html,
                   "write a page for a review; - for standard output, in place of the text")
      ->type_name("FILE");
  add_force(*command, options->force);
  command->add_flag("--detailed-exitcode", options->detailed, "exit 0: no changes, 1: error, 2: changes");
  command->add_flag("--refresh", options->request.refresh,
                    "look at the clouds and nodes as well: what drifted, what things cost now");
  command->add_option("--replace", options->request.replace, "make this node anew, for example 'worker[0]'")
      ->type_name("ADDRESS");
  add_target_option(*command, options->request.targets);
  add_sudo_option(*command, options->run.ask_sudo_password);
  command->add_flag("--destroy", options->destroy, "show what `radlc destroy` would remove");
  command->add_flag("--full", options->full, "every field, and why each action waits for others");
  command->add_flag("--brief", options->brief, "the summary line alone");
  return [options, &session] {
    options->json |= options->format == "json";
    options->dot |= options->format == "dot";
    options->markdown |= options->format == "markdown";
    bool changes = false;
    int code = run_plan(session, *options, changes);
    if (!options->detailed) return code;
    return code != kDone ? static_cast<int>(kUserError) : changes ? kPlanHasChanges : static_cast<int>(kDone);
  };
}

}  // namespace radl::cli::plan_command
