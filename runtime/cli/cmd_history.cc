// Compares times and costs of runs with the forecasts of their plans.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/human.h"
#include "runtime/base/world.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/figures/runs_file.h"
#include "runtime/plan/render.h"

namespace radl::cli::history_command {
namespace {

struct Options {
  std::string infrastructure;
  size_t newest = 20;
  bool json = false;
};

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? duration_text(*seconds) : "?";
}

// "12 s -> 14 s"; empty if there was no such phase.
std::string both(const std::optional<double>& predicted, const std::optional<double>& actual) {
  if (!actual) return "";
  return seconds_text(predicted) + " -> " + seconds_text(actual);
}

std::string money_text(const MoneySum& sum) {
  std::string text;
  for (const Money& amount : sum.amounts()) text += (text.empty() ? "" : " and ") + amount.text();
  return text.empty() ? "0" : text;
}

void print_run(const RunFigures& run) {
  std::string line = fmt::format("{}  {:<8} {}{}", utc_time(run.time), run.command, run.infrastructure,
                                 run.ok ? "" : "  (failed)");
  std::printf("%s\n", shown(line).c_str());
  const std::pair<const char*, std::string> rows[] = {
      {"create", both(run.predicted.create, run.actual.create)},
      {"configure", both(run.predicted.configure, run.actual.configure)},
      {"stage", both(run.predicted.stage, run.actual.stage)},
      {"train", both(run.predicted.train, run.actual.train)},
      {"whole run", both(run.predicted.whole, run.actual.whole)}};
  for (const auto& [name, text] : rows)
    if (!text.empty()) std::printf("    %-10s %s\n", name, text.c_str());
  const std::string predicted = run.predicted_cost ? money_text(*run.predicted_cost) : "?";
  const std::string cost = money_text(run.cost);
  if (cost != "0" || (predicted != "0" && predicted != "?"))
    std::printf("    %-10s %s -> %s\n", "cost", predicted.c_str(), cost.c_str());
  if (run.life_cost && !run.life_cost->zero())
    std::printf("    %-10s %s\n", "whole life", money_text(*run.life_cost).c_str());
}

int run_history(const Session& session, const Options& options) {
  const std::string path = session.host.runs_file();
  if (path.empty()) return report(session, not_found("no home folder, so runs are not recorded; set HOME"));
  size_t left_out = 0;
  auto runs = read_runs(path, &left_out);
  if (!runs.ok()) return report(session, runs.status());
  if (left_out > 0)
    std::fprintf(stderr, "note: ignored %zu unreadable lines of %s\n", left_out, shown(path).c_str());
  if (!options.infrastructure.empty())
    std::erase_if(*runs, [&](const RunFigures& run) { return run.infrastructure != options.infrastructure; });
  if (runs->size() > options.newest)
    runs->erase(runs->begin(), runs->end() - static_cast<long>(options.newest));
  if (options.json) {
    Json list = Json::array();
    for (const RunFigures& run : *runs) list.push_back(Json::parse(to_line(run)));
    std::printf("%s\n", list.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return kDone;
  }
  if (runs->empty()) std::fputs("No runs yet.\n", stderr);
  if (!runs->empty()) std::printf("predicted -> actual\n");
  for (const RunFigures& run : *runs) print_run(run);
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("history", "Compare time and cost of runs with their forecasts");
  auto options = std::make_shared<Options>();
  command->add_option("INFRASTRUCTURE", options->infrastructure, "only runs of this infrastructure");
  command->add_option("--newest", options->newest, "number of runs, newest first")->capture_default_str();
  command->add_flag("--json", options->json, "as JSON");
  return [=, &session] { return run_history(session, *options); };
}

}  // namespace radl::cli::history_command
