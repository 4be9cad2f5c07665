// Looks at the farms of an infrastructure, and asks them for changes (docs/farm.md).
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include "common/human.h"
#include "common/json_values.h"
#include "runtime/cli/farm_command.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/steps/farm/farm_parts.h"

namespace radl::cli::farm_command {
namespace {

using farm::State;
using farm::TaskRecord;

constexpr size_t kShownTasks = 20;  // of a state
constexpr std::chrono::milliseconds kBetweenLooks{1000};

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;  // FILE..., TASK...
  std::string farm;
  std::string output;  // of `plot`
  bool json = false, watch = false;
  driver::FarmAddition add;
};

// The farm of this name, or all if it is empty. NotFound: there is none.
Result<driver::FarmList> farms_called(const Nodes& nodes, const std::string& name) {
  if (name.empty()) {
    auto all = driver::farms_of(nodes.work_directory);
    if (!all.farms.empty()) return all;
  }
  auto one = one_farm(nodes, name);
  if (!one) return std::move(one).status();
  driver::FarmList list;
  list.farms.push_back(std::move(*one));
  return list;
}

// When it ends and what it costs until then, or why it is paused.
void print_outlook(const driver::KnownFarm& known, const Json& status) {
  const farm::Table& table = known.farm.table();
  if (!table.paused().is_null() && !table.is_over())
    std::printf("  paused: %s; `radlc apply` continues it once you approve the new forecast\n",
                shown(json::text_of(table.paused(), "reason")).c_str());
  const Json &left = status.at("seconds_left"), &cost = status.at("cost_left");
  if (left.is_null()) return;
  std::string text = "  ends in about " + duration_text(left.get<double>());
  if (!cost.is_null() && !cost.get<Money>().zero()) text += ", for " + cost.get<Money>().text();
  std::printf("%s\n", text.c_str());
}

void print(const driver::KnownFarm& known, const Json& status) {
  const farm::Table& table = known.farm.table();
  std::string text = fmt::format("{}: {} tasks", known.name(), table.tasks().size());
  std::map<State, size_t> shown_of;
  for (State state :
       {State::Finished, State::Stopped, State::Running, State::Waiting, State::Failed, State::Cancelled})
    if (table.count(state) > 0) text += fmt::format(", {} {}", table.count(state), farm::state_name(state));
  std::printf("%s\n", shown(text).c_str());
  print_outlook(known, status);
  for (const auto& [name, node] : table.nodes())
    if (node.quarantined || node.gone)
      std::printf("  %s takes no tasks: %s\n", shown(name).c_str(),
                  node.gone ? "it does not answer" : "quarantined");
  for (const TaskRecord& task : table.tasks()) {
    if (task.state == State::Finished || task.state == State::Stopped || ++shown_of[task.state] > kShownTasks)
      continue;
    std::printf("  %-9s %-16s %-12s %s\n", std::string(farm::state_name(task.state)).c_str(),
                shown(task.task.name).c_str(), shown(task.state == State::Running ? task.node : "").c_str(),
                shown(driver::reason_of(known.farm, task)).c_str());
  }
}

int run_status(const Session& session, Options& options) {
  take_files(options.words, options.project);
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  const Stop stop = cancellation.finishing();
  auto nodes = load_nodes(session.host, options.project, stop);
  if (!nodes.ok()) return report(session, nodes.status());
  for (;;) {
    auto all = farms_called(*nodes, options.farm);
    if (!all) return report(session, all.status());
    Json json = Json::array();
    bool over = true;
    for (const driver::KnownFarm& known : all->farms) {
      Json status = driver::farm_status(known, nodes->state, farm::wall_seconds());
      if (options.json)
        json.push_back(std::move(status));
      else
        print(known, status);
      over = over && known.farm.table().is_over();
    }
    if (options.json) std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    std::fflush(stdout);
    int unreadable = kDone;
    for (const auto& [job, why] : all->unreadable) unreadable = report(session, why);
    if (!options.watch || over || !stop.sleep(kBetweenLooks)) return unreadable;
  }
}

int run_table(const Session& session, Options& options) {
  take_files(options.words, options.project);
  auto nodes = load_nodes(session.host, options.project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto known = one_farm(*nodes, options.farm);
  if (!known) return report(session, known.status());
  if (options.json) {
    std::printf("%s\n",
                known->farm.table().to_json().dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return kDone;
  }
  for (const TaskRecord& task : known->farm.table().tasks()) {
    const Json& parameters = json::member(task.task.spec, "parameters");
    std::printf("%-16s %-9s %3d %-12s %s %s\n", shown(task.task.name).c_str(),
                std::string(farm::state_name(task.state)).c_str(), task.attempt, shown(task.node).c_str(),
                shown(parameters.is_null() ? "" : parameters.dump()).c_str(),
                shown(task.metrics.empty() ? "" : task.metrics.dump()).c_str());
  }
  return kDone;
}

int run_best(const Session& session, Options& options) {
  take_files(options.words, options.project);
  auto nodes = load_nodes(session.host, options.project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto known = one_farm(*nodes, options.farm);
  if (!known) return report(session, known.status());
  const TaskRecord* best = driver::best_task(known->farm.table());
  if (best == nullptr) return report(session, not_found("no finished trial has reported the metric yet"));
  const Json json = {{"task", best->task.name},
                     {"parameters", json::member(best->task.spec, "parameters")},
                     {"metrics", best->metrics}};
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  return kDone;
}

int run_request(const Session& session, Options& options, bool retry) {
  take_files(options.words, options.project);
  if (options.words.empty())
    return report(session, invalid("name the tasks; `radlc farm status` lists them"));
  auto nodes = load_nodes(session.host, options.project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto known = one_farm(*nodes, options.farm);
  if (!known) return report(session, known.status());
  const double now = farm::wall_seconds();
  Status asked = retry ? driver::retry_tasks(*known, options.words, now)
                       : driver::cancel_tasks(*known, options.words, now);
  if (!asked.ok()) return report(session, asked);
  std::printf("%zu task%s will %s\n", options.words.size(), options.words.size() == 1 ? "" : "s",
              retry ? "run again" : "end");
  return kDone;
}

void add_common(CLI::App& command, Options& options) {
  add_state_options(command, options.project, &options.words);
  command.add_option("--farm", options.farm, "the farm's name, if there are several")->type_name("NAME");
}

using Part = std::function<CLI::App*(const char* name, const char* text, std::function<int()> run)>;

void add_changes(const std::shared_ptr<Options>& options, Session& session, const Part& part) {
  CLI::App* add = part("add", "Add a task to a farm, or trials to a search", [options, &session] {
    take_files(options->words, options->project);
    return run_add(session, options->project, options->farm, options->words, options->add);
  });
  driver::FarmAddition& task = options->add;
  add->add_option("COMMAND", "command of the task; quote it, or write -- before it");
  add->add_option("--task", task.name, "name of the task (default: added-0, added-1, ..)")->type_name("TASK");
  add->add_option("--cpu", task.cpu, "processors that it needs")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add->add_option("--memory", task.memory, "bytes of memory that it needs")->check(CLI::NonNegativeNumber);
  add->add_option("--gpu", task.gpu, "GPUs that it needs")->check(CLI::NonNegativeNumber);
  add->add_option("--seconds", task.seconds, "its predicted length")->check(CLI::NonNegativeNumber);
  add->add_option("--trials", task.trials, "number of trials to add to a search, instead of a task")
      ->check(CLI::Range(1, 100000));
  CLI::App* plot =
      part("plot", "Draw the trials of a search and their curves as a page", [options, &session] {
        take_files(options->words, options->project);
        if (!options->words.empty()) return report(session, invalid("`radlc farm plot` takes no task"));
        return run_plot(session, options->project, options->farm, options->output, options->json);
      });
  plot->add_option("-o,--output", options->output, "file of the page (default: NAME-plot.html)")
      ->type_name("FILE");
  plot->add_flag("--json", options->json, "print only the data, as JSON");
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("farm", "Show the tasks of a farm, and add, retry or cancel them");
  command->require_subcommand(0, 1);
  auto options = std::make_shared<Options>();
  auto chosen = std::make_shared<std::function<int()>>(add_distributo(*command, session));
  auto part = [&](const char* name, const char* text, std::function<int()> run) {
    CLI::App* one = command->add_subcommand(name, text);
    add_common(*one, *options);
    one->callback([chosen, run = std::move(run)] { *chosen = run; });
    return one;
  };
  CLI::App* status =
      part("status", "Count tasks by state, and list those that are not finished with the reason",
           [options, &session] { return run_status(session, *options); });
  status->add_flag("--watch", options->watch, "repeat it until all tasks are over");
  status->add_flag("--json", options->json, "print only JSON");
  part("table", "List every task with its state, attempts, node, parameters and metrics",
       [options, &session] { return run_table(session, *options); })
      ->add_flag("--json", options->json, "print only JSON");
  part("best", "Print the best trial of a search",
       [options, &session] { return run_best(session, *options); });
  part("logs", "Print the output of a task", [options, &session] {
    take_files(options->words, options->project);
    return run_logs(session, options->project, options->farm, options->words);
  })->add_option("TASK", "name of the task");
  part("retry", "Run failed or cancelled tasks again", [options, &session] {
    return run_request(session, *options, true);
  })->add_option("TASK", "names of tasks");
  part("cancel", "End running tasks, and do not start waiting ones", [options, &session] {
    return run_request(session, *options, false);
  })->add_option("TASK", "names of tasks");
  add_changes(options, session, part);
  CLI::App* free =
      command->add_subcommand("free", "Remove the nodes of elastic farms, whatever state they are in");
  free->callback([chosen, run = add_free(*free, session)] { *chosen = run; });
  return [chosen, command, &session] {
    // Options that a subcommand does not have fall through to `radlc farm`, where only Distributo's commands
    // use them.
    const auto subcommands = command->get_subcommands();
    const auto given = command->get_options([](const CLI::Option* one) { return one->count() > 0; });
    if (!subcommands.empty() && !given.empty())
      return report(session,
                    invalid(fmt::format("{} is not an option of `radlc farm {}`", given.front()->get_name(),
                                        subcommands.front()->get_name())));
    return (*chosen)();
  };
}

}  // namespace radl::cli::farm_command
