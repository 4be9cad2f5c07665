// Which cluster to take, before it is paid for.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/human.h"
#include "common/text.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/recommend_program.h"
#include "runtime/cli/recommend_published.h"
#include "runtime/cli/recommend_study.h"
#include "runtime/cli/recommend_view.h"
#include "runtime/cli/recommend_write.h"
#include "runtime/cli/result_file.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/foresight_facts.h"
#include "runtime/run/planning.h"

namespace radl::cli::recommend_command {
namespace {

constexpr int kNothingFits = 3;

// If nothing is within the default budget, uses the smallest workable one, because the user set no limit.
Result<foresight::Recommendation> recommend_within(RecommendQuestion& question,
                                                   const foresight::WorkModel& model) {
  auto made = foresight::recommend(question.input, model);
  if (!made.ok() || made->choice.chosen || !question.default_budget || !made->choice.least_rate) return made;
  question.input.bounds.rate = *made->choice.least_rate;
  return foresight::recommend(question.input, model);
}

int answer_published(const Session& session, const RecommendFlags& flags, const Project& project,
                     const RecommendAnswer& answer) {
  auto said = published_choice(flags, answer, flags.algorithm);
  if (!said.ok()) {
    const int code = report(session, said.status());
    return said.status().code() == Code::NotFound ? kNothingFits : code;
  }
  if (flags.json)
    std::printf("%s\n", said->json.dump(2).c_str());
  else
    std::fputs(shown(said->text).c_str(), stdout);
  return write_choice(session, flags, project, answer.question, said->input, said->made);
}

int run_model(const Session& session, const RecommendFlags& flags, const Project& project,
              RecommendQuestion& question) {
  const foresight::WorkModel model(question.known, question.input.facts);
  auto made = recommend_within(question, model);
  if (!made.ok()) return report(session, made.status());
  if (!question.currency.empty() && question.currency != made->currency && made->choice.least_rate)
    return report(session, invalid(fmt::format(
                               "limits are in {} but prices are in {}; radlc does not convert currencies",
                               question.currency, made->currency)));
  const RecommendAnswer answer{question, *made, project.words};
  if (!made->choice.least_rate) {
    const auto forecast = model.forecast(question.input.facts, question.input.workers.front().machine,
                                         question.input.round_trip_seconds);
    return report(
        session,
        not_found(forecast.unknown.empty() ? least_text(answer) : forecast.unknown)
            .with_hint(forecast.memory ? "use a smaller model or batch, or types with more memory"
                                       : "measure it with a short run: radlc profile" + project.words));
  }
  if (!flags.explain.empty()) {
    auto text = explain_text(answer, model, flags.explain);
    if (!text.ok()) return report(session, text.status());
    std::fputs(shown(*text).c_str(), stdout);
    return kDone;
  }
  if (flags.algorithm != "model") return answer_published(session, flags, project, answer);
  if (flags.compare)
    std::fputs(shown(compare_text(flags, answer)).c_str(), stdout);
  else if (flags.json)
    std::printf("%s\n",
                recommend_json(answer, model).dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  else
    std::fputs(shown(recommend_text(answer, model, flags.all)).c_str(), stdout);
  if (!made->choice.chosen) {
    std::fprintf(stderr, "error: nothing is within the limits\n  %s\n", shown(least_text(answer)).c_str());
    return kNothingFits;
  }
  return write_choice(session, flags, project, question, question.input, *made);
}

// Asks the clouds of the file what the account may have. One that does not say is a note: what is known of
// the others counts.
Result<Surveys> survey_account(const Session& session, Project& project, const Machinery& machinery) {
  auto snapshot = read_snapshot(session.host, project.state_directory, project.compiled.program.name);
  if (!snapshot.ok()) return std::move(snapshot).status();
  std::map<std::string, std::string> failed;
  const Tell tell = tell_on_stderr();
  PlanQuestion question = question_of(project, machinery, {}, tell);
  auto surveys = survey_clouds(
      question, project.compiled.program, *snapshot,
      work_directory_of(project.state_directory, project.compiled.program.name, session.host.environment()),
      failed);
  for (const auto& [cloud, why] : failed)
    std::fprintf(stderr, "note: %s\n", shown(cloud + ": its quotas are not known: " + why).c_str());
  return surveys;
}

// Options that would have no part in the answer.
Status check_together(const RecommendFlags& flags) {
  if (flags.interruptions && !flags.spot) return invalid("--interruptions is of --spot, which is not given");
  if (flags.json && (flags.compare || !flags.explain.empty()))
    return invalid("--json: what --compare and --explain say is text");
  if (flags.compare && !flags.explain.empty()) return invalid("--compare and --explain: one of them");
  if (flags.algorithm != "model" && flags.study.empty()) {
    const std::pair<const char*, bool> unknown[] = {{"--max-cost", !flags.max_cost.empty()},
                                                    {"--deadline", !flags.deadline.empty()},
                                                    {"--objective", flags.objective != "time"},
                                                    {"--exchange", !flags.exchanges.empty()}};
    for (const auto& [name, given] : unknown)
      if (given)
        return invalid(std::string(name) + ": --algorithm " + flags.algorithm + " knows no such limit");
  }
  if (flags.study.empty()) return {};
  const std::pair<const char*, bool> others[] = {{"--budget", !flags.budget.empty()},
                                                 {"--max-cost", !flags.max_cost.empty()},
                                                 {"--deadline", !flags.deadline.empty()},
                                                 {"--server", flags.server != "auto"},
                                                 {"--exchange", !flags.exchanges.empty()},
                                                 {"--write", !flags.write.path.empty()},
                                                 {"--explain", !flags.explain.empty()},
                                                 {"--compare", flags.compare},
                                                 {"--spot", flags.spot},
                                                 {"--images", flags.images.has_value()},
                                                 {"--refresh", flags.refresh},
                                                 {"FILE", !flags.project.files.empty()}};
  for (const auto& [name, given] : others)
    if (given) return invalid(std::string(name) + ": a study has epoch times alone, no prices");
  return {};
}

int run(const Session& session, const RecommendFlags& flags) {
  if (Status file = needs_file(flags.write.path, "--write"); !file.ok()) return report(session, file);
  if (Status together = check_together(flags); !together.ok()) return report(session, together);
  if (!flags.study.empty()) return run_study(session, flags);
  auto project = load_project(session, flags.project);
  if (!project.ok()) return report(session, project.status());
  auto machinery = make_machinery(session.host, flags.run);
  if (!machinery.ok()) return report(session, machinery.status());
  const ir::Program& program = (*project)->compiled.program;
  if (flags.training.empty() && (!flags.program.empty() || trainings_of(program).empty())) {
    auto job = find_program(program, flags.program);
    if (job.ok()) {
      auto surveys = flags.refresh ? survey_account(session, **project, **machinery) : Surveys();
      if (!surveys.ok()) return report(session, surveys.status());
      return run_program(session, flags, **project, **machinery, *surveys, **job);
    }
    const bool several = std::any_of(program.steps.begin(), program.steps.end(),
                                     [](const ir::Step& step) { return step.kind == ir::StepKind::Program; });
    if (!flags.program.empty() || several) return report(session, job.status());
  }
  Surveys surveys;
  if (flags.refresh) {
    auto asked = survey_account(session, **project, **machinery);
    if (!asked.ok()) return report(session, asked.status());
    surveys = std::move(*asked);
  }
  auto question = recommend_question(flags, **project, **machinery, surveys);
  if (!question.ok()) return report(session, question.status());
  return run_model(session, flags, **project, *question);
}

// An option with an empty value (`--budget "$BUDGET"` with an empty variable) is an error.
void refuse_empty(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    option->check([](const std::string& given) { return given.empty() ? "it is empty" : std::string(); });
  }
}

void add_limits(CLI::App& command, RecommendFlags& flags) {
  command.add_option("--budget", flags.budget, "maximum price of the cluster per hour: 2, 2/h, '2 EUR/h'")
      ->type_name("AMOUNT");
  command.add_option("--max-cost", flags.max_cost, "maximum cost of the whole run")->type_name("AMOUNT");
  command
      .add_option("--deadline", flags.deadline,
                  "maximum duration, compared with the upper end of the band: 45m, 3h")
      ->type_name("TIME");
  command.add_option("--confidence", flags.confidence, "width of the bands")->capture_default_str();
  command
      .add_option("--objective", flags.objective,
                  "time, cost, or weights:A,B (value of an hour, of one unit of money)")
      ->capture_default_str();
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "recommend",
      "Recommend a cluster for a training or a program: time and cost of each candidate, and the best within "
      "limits");
  auto flags = std::make_shared<RecommendFlags>();
  add_project_options(*command, flags->project);
  add_cloud_option(*command, flags->run);
  command->add_option("--training", flags->training, "name of the training, if the file has several")
      ->type_name("NAME");
  command->add_option("--program", flags->program, "your own program, instead of a training")
      ->type_name("NAME");
  add_limits(*command, *flags);
  command
      ->add_option("--algorithm", flags->algorithm,
                   "the model, or a published algorithm (docs/algorithms.md)")
      ->check(CLI::IsMember({"model", "cost-opt", "time-opt", "scala-opt", "scala-opt-m", "lookup"}))
      ->capture_default_str();
  command->add_option("--workers", flags->workers, "cluster sizes: 1..16, or 2,4,8")->type_name("SIZES");
  command->add_option("--max-workers", flags->max_workers, "maximum number of workers");
  command->add_option("--types", flags->types, "instance types, such as 'm5.*,c5.xlarge'")
      ->type_name("PATTERNS");
  command->add_option("--server", flags->server, "types of parameter servers: auto, or instance types")
      ->type_name("TYPE")
      ->capture_default_str();
  command
      ->add_option("--exchange", flags->exchanges,
                   "any of alone, ring, sync-server, async-server (default: all)")
      ->type_name("NAMES");
  command->add_option("--batch", flags->batch, "images per worker and step (default: from the file)");
  command->add_option("--images", flags->images, "images per epoch, if the dataset does not define it");
  command->add_option("--latency", flags->latency_ms, "round-trip time between nodes in milliseconds")
      ->type_name("MS");
  command->add_flag("--spot", flags->spot, "use spot workers");
  command
      ->add_option("--interruptions", flags->interruptions, "expected preemptions of a spot worker per hour")
      ->check(CLI::Range(0.0, 100.0));
  command->add_option("--share", flags->share, "share of the server's network that Scala-Opt uses")
      ->capture_default_str();
  command->add_flag("--as-published", flags->as_published, "use the published reading where it differs");
  command->add_flag("--compare", flags->compare,
                    "show the choice of each algorithm, and its forecast by the model");
  command
      ->add_option("--explain", flags->explain,
                   "break down the step of one candidate into its parts, each with its source")
      ->type_name("CANDIDATE");
  command
      ->add_option("--study", flags->study,
                   "use measured epoch times instead of a file: mnist, cifar, or a study of `radlc "
                   "calibration import`")
      ->type_name("NAME");
  add_result_file(*command, "--write", flags->write, "write the choice as an input file for plan and apply");
  command->add_flag("--refresh", flags->refresh, "query the quotas of the account first");
  command->add_flag("--all", flags->all,
                    "list every candidate, including rejected ones, instead of ten alternatives");
  command->add_flag("--json", flags->json, "as JSON");
  refuse_empty(*command);
  return [=, &session] { return run(session, *flags); };
}

}  // namespace radl::cli::recommend_command
