#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/result_file.h"
#include "runtime/cli/service_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/sudo.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/preview.h"
#include "runtime/plan/budget.h"
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
    PlanTextOptions look = plan_look(session);
    look.full = options.full;
    look.brief = options.brief;
    look.forecasts = forecasts;
    std::fputs(shown(render_text(plan, look), look.color).c_str(), stdout);
    // Not part of the plan, which has the same bytes for every user.
    if (!elsewhere.empty()) std::fprintf(stderr, "note: %s", shown(render_text(elsewhere)).c_str());
  }
}

// Handles Ctrl-C while the plan waits, from the compilation of the sources on.
struct Interruption {
  Cancellation cancellation;
  std::optional<SignalGuard> guard;
};

// The plan's input and its result.
struct Made {
  std::unique_ptr<Project> project;  // null: of a destroy
  Preview preview;
};

Status make(const Session& session, const Options& options, Interruption& interruption, Made& made) {
  const PreviewRequest request{options.run, options.request, options.brief || options.dot};
  if (options.destroy) {
    if (options.request.refresh) interruption.guard.emplace(interruption.cancellation);
    return preview_destroy(session.host, options.project, request, interruption.cancellation, made.preview);
  }
  auto loaded = load_project(session, options.project);
  if (!loaded.ok()) return loaded.status();
  made.project = std::move(*loaded);
  auto password = given_sudo_password(session, options.run.ask_sudo_password);
  if (!password.ok()) return std::move(password).status();
  use_sudo_password(*made.project, *password);
  interruption.guard.emplace(interruption.cancellation);
  return preview_apply(*made.project, request, interruption.cancellation, tell_on_stderr(), made.preview);
}

// Returns the exit code; sets `changes` if the plan has any.
int run_plan(const Session& session, const Options& options, bool& changes) {
  if (Status file = needs_file(options.out, "-out"); !file.ok()) return report(session, file);
  if (!options.request.max_cost.empty()) {
    if (auto budget = parse_budget(options.request.max_cost); !budget.ok())
      return report(session, budget.status());
  }
  auto made = session.keep<Made>();
  {
    Interruption interruption;
    if (Status done = make(session, options, interruption, *made); !done.ok())
      return made->project ? report_unplanned(session, *made->project, done) : report(session, done);
  }
  const auto& [snapshot, plan, forecasts, elsewhere, uncertain] = made->preview;
  if (options.html != "-") show(session, options, plan, forecasts, elsewhere);
  if (!options.html.empty()) {
    if (int code = put_result(session, render_html(plan, forecasts), {options.html, options.force},
                              ResultKind::Review);
        code != kDone)
      return code;
  }
  if (Status within = within_max_cost(options.request, plan); !within.ok()) return report(session, within);
  if (!options.out.empty()) {
    if (options.destroy)
      return report(session, invalid("-out works with a plan to apply, not with --destroy"));
    Status saved = write_result({options.out, options.force}, saved_plan_of(*made->project, plan),
                                ResultKind::Plan, 0600);
    if (!saved.ok()) return report(session, saved);
    if (!options.json && !options.dot && !options.markdown && options.html != "-")
      std::printf("\nSaved. To do exactly this: radlc apply %s\n", shell_word(options.out).c_str());
  }
  changes = plan.changes_anything();
  return report_unseen(session, plan);
}

ServiceRequest for_service(const Options& options) {
  ServiceRequest request{.project = options.project,
                         .run = options.run,
                         .plan = options.request,
                         .html = options.html,
                         .force = options.force,
                         .destroy = options.destroy};
  request.run.json = options.json;
  request.view = options.dot        ? "dot"
                 : options.markdown ? "markdown"
                 : options.brief    ? "brief"
                 : options.full     ? "full"
                                    : "";
  return request;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("plan", "Show what apply would create, change, run and cost; changes nothing");
  auto options = std::make_shared<Options>();
  add_project_options(*command, options->project);
  add_cloud_option(*command, options->run);
  command
      ->add_option("--out", options->out,
                   "save the plan; `radlc apply PLAN` executes exactly this plan (also: -out)")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "the plan as JSON (docs/plan.md)");
  command->add_flag("--dot", options->dot, "the actions and their order for Graphviz");
  command->add_flag("--markdown", options->markdown, "as a comment for a pull request (docs/ci.md)");
  command->add_option("--format", options->format, "output format: text, json, dot or markdown")
      ->check(CLI::IsMember({"text", "json", "dot", "markdown"}));
  add_max_cost_option(*command, options->request);
  command
      ->add_option("--html", options->html,
                   "write an HTML page for a review; - writes it to standard output instead of the text")
      ->type_name("FILE");
  add_force(*command, options->force);
  command->add_flag("--detailed-exitcode", options->detailed, "exit 0: no changes, 1: error, 2: changes");
  command->add_flag("--refresh", options->request.refresh,
                    "also inspect clouds and nodes: drift and current prices");
  command->add_option("--replace", options->request.replace, "replace this node, for example 'worker[0]'")
      ->type_name("ADDRESS");
  add_target_option(*command, options->request.targets);
  add_sudo_option(*command, options->run.ask_sudo_password);
  command->add_flag("--destroy", options->destroy, "show what `radlc destroy` would remove");
  command->add_flag("--full", options->full, "show every field, and why each action waits");
  command->add_flag("--brief", options->brief, "only the summary line");
  return [options, &session] {
    options->json |= options->format == "json";
    options->dot |= options->format == "dot";
    options->markdown |= options->format == "markdown";
    bool changes = false;
    const int code = session.server.empty() ? run_plan(session, *options, changes)
                                            : plan_on_service(session, for_service(*options), changes);
    if (!options->detailed) return code;
    return code != kDone ? static_cast<int>(kUserError) : changes ? kPlanHasChanges : static_cast<int>(kDone);
  };
}

}  // namespace radl::cli::plan_command
