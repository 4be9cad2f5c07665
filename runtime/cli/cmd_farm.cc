// Looks at the farms of an infrastructure, and asks them for changes (docs/farm.md).
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>

#include "common/files.h"
#include "common/human.h"
#include "common/json_values.h"
#include "runtime/cli/farm_command.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/driver/nodes.h"
#include "runtime/farm/farm.h"
#include "runtime/farm/journal.h"
#include "runtime/farm/rehearsal.h"
#include "runtime/foresight/run_model.h"
#include "runtime/steps/farm/agent.h"
#include "runtime/steps/farm/farm_parts.h"
#include "runtime/steps/farm/farm_run.h"
#include "runtime/steps/farm/inbox.h"

namespace radl::cli::farm_command {
namespace {

using farm::Event;
using farm::Farm;
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
  AddOptions add;
};

Result<std::vector<Known>> farms_of(const Nodes& nodes, const std::string& name) {
  std::vector<Known> all;
  std::error_code error;
  const std::string folder = farm::farms_folder(nodes.work_directory);
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    Known known{entry.path().filename(), entry.path(), Farm()};
    Status read = farm::read_journal(known.folder + farm::kJournalFile,
                                     [&](const Event& event) { return known.farm.apply(event); });
    if (read.code() == Code::NotFound) continue;
    if (!read.ok()) return read;
    if (name.empty() || known.name() == name || known.job == name) all.push_back(std::move(known));
  }
  std::sort(all.begin(), all.end(), [](const Known& a, const Known& b) { return a.job < b.job; });
  if (all.empty())
    return not_found(name.empty() ? nodes.state.name + " has no farms"
                                  : "no farm '" + name + "' in " + nodes.state.name);
  return all;
}

}  // namespace

std::string Known::name() const {
  const Json& settings = farm.table().settings();
  return settings.is_object() ? json::text_of(settings, "name") : job;
}

Result<Known> one_farm(const Nodes& nodes, const std::string& name) {
  auto all = farms_of(nodes, name);
  if (!all) return std::move(all).status();
  if (all->size() == 1) return std::move(all->front());
  std::string names;
  for (const Known& each : *all) names += (names.empty() ? "" : ", ") + each.job;
  return invalid("several farms: " + names).with_hint("name one with --farm");
}

namespace {

std::string reason_of(const Farm& farm, const TaskRecord& task) {
  if (task.state == State::Waiting) return farm.why_waiting(task);
  const size_t last = task.reason.rfind('\n');
  std::string text = last == std::string::npos ? task.reason : task.reason.substr(last + 1);
  if (task.state == State::Failed)
    text = fmt::format("exit status {} on {}: {}", task.status, task.node, text);
  return text;
}

// How long the rest of the farm takes; nothing: it is over, or no task has finished yet.
std::optional<double> seconds_left(const Known& known, double now) {
  const farm::Table& table = known.farm.table();
  farm::TrialsLeft trials;
  trials.count = static_cast<size_t>(json::number_of(table.settings(), "trials"));
  trials.population = static_cast<size_t>(json::number_of(table.settings(), "population"));
  farm::Resources needs;
  for (const TaskRecord& task : table.tasks()) {
    if (!task.task.spec.contains("parameters")) continue;
    needs = task.task.needs;
    ++trials.first;
    trials.count -= trials.count > 0 ? 1 : 0;
  }
  if (table.is_over() && trials.count == 0) return std::nullopt;
  const farm::Rehearsal rest = farm::rehearse_rest(known.farm, now, trials, needs);
  return rest.known && rest.never == 0 ? std::optional(rest.seconds) : std::nullopt;
}

// What the farm's nodes cost an hour, as the state has their prices; nothing: they are of several currencies.
std::optional<Money> rate_of(const Known& known, const Snapshot& state) {
  MoneySum sum;
  for (const auto& [name, node] : known.farm.table().nodes()) {
    auto found = state.resources.find(name);
    if (found != state.resources.end()) sum.add(found->second.price_per_hour);
  }
  auto total = sum.total();
  return total.ok() ? std::optional(*total) : std::nullopt;
}

Json without_kind(Json event) {
  if (event.is_object()) event.erase("event");
  return event;
}

Json json_of(const Known& known, const Snapshot& state) {
  Json json = {{"farm", known.name()}, {"job", known.job}, {"counts", Json::object()}};
  const double now = farm::wall_seconds();
  const auto left = seconds_left(known, now);
  const auto rate = rate_of(known, state);
  json["seconds_left"] = left ? Json(*left) : Json();
  json["cost_per_hour"] = rate ? Json(*rate) : Json();
  json["cost_left"] = left && rate ? Json(foresight::billed(*rate, *left, {})) : Json();
  json["approved"] = without_kind(known.farm.table().approved());
  json["paused"] = without_kind(known.farm.table().paused());
  for (State state :
       {State::Waiting, State::Running, State::Finished, State::Stopped, State::Failed, State::Cancelled})
    json["counts"][std::string(farm::state_name(state))] = known.farm.table().count(state);
  json["nodes"] = Json::array();
  for (const auto& [name, node] : known.farm.table().nodes())
    json["nodes"].push_back({{"node", name}, {"quarantined", node.quarantined}, {"gone", node.gone}});
  return json;
}

// When it ends and what it costs until then, or why it is paused.
void print_outlook(const Known& known, const Snapshot& state) {
  const farm::Table& table = known.farm.table();
  if (!table.paused().is_null() && !table.is_over())
    std::printf("  paused: %s; `radlc apply` continues it once you approve the new forecast\n",
                shown(json::text_of(table.paused(), "reason")).c_str());
  const auto left = seconds_left(known, farm::wall_seconds());
  const auto rate = rate_of(known, state);
  if (!left) return;
  std::string text = "  ends in about " + duration_text(*left);
  if (rate && !rate->zero()) text += ", for " + foresight::billed(*rate, *left, {}).text();
  std::printf("%s\n", text.c_str());
}

void print(const Known& known, const Snapshot& state) {
  const farm::Table& table = known.farm.table();
  std::string text = fmt::format("{}: {} tasks", known.name(), table.tasks().size());
  std::map<State, size_t> shown_of;
  for (State state :
       {State::Finished, State::Stopped, State::Running, State::Waiting, State::Failed, State::Cancelled})
    if (table.count(state) > 0) text += fmt::format(", {} {}", table.count(state), farm::state_name(state));
  std::printf("%s\n", shown(text).c_str());
  print_outlook(known, state);
  for (const auto& [name, node] : table.nodes())
    if (node.quarantined || node.gone)
      std::printf("  %s takes no tasks: %s\n", shown(name).c_str(),
                  node.gone ? "it does not answer" : "quarantined");
  for (const TaskRecord& task : table.tasks()) {
    if (task.state == State::Finished || task.state == State::Stopped || ++shown_of[task.state] > kShownTasks)
      continue;
    std::printf("  %-9s %-16s %-12s %s\n", std::string(farm::state_name(task.state)).c_str(),
                shown(task.task.name).c_str(), shown(task.state == State::Running ? task.node : "").c_str(),
                shown(reason_of(known.farm, task)).c_str());
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
    auto all = farms_of(*nodes, options.farm);
    if (!all) return report(session, all.status());
    Json json = Json::array();
    bool over = true;
    for (const Known& known : *all) {
      if (options.json)
        json.push_back(json_of(known, nodes->state));
      else
        print(known, nodes->state);
      over = over && known.farm.table().is_over();
    }
    if (options.json) std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    std::fflush(stdout);
    if (!options.watch || over || !stop.sleep(kBetweenLooks)) return kDone;
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

// The task with the best last value of the search's metric; nullptr if none has one.
const TaskRecord* best_of(const farm::Table& table) {
  const std::string metric = json::text_of(table.settings(), "metric");
  const bool maximize = json::text_of(table.settings(), "goal") == "max";
  const TaskRecord* best = nullptr;
  for (const TaskRecord& task : table.tasks()) {
    if (task.state != State::Finished && task.state != State::Stopped) continue;
    const Json& value = json::member(task.metrics, metric);
    if (!value.is_number()) continue;
    const double now = value.get<double>();
    const double before = best ? json::number_of(best->metrics, metric) : 0;
    if (best == nullptr || (maximize ? now > before : now < before)) best = &task;
  }
  return best;
}

int run_best(const Session& session, Options& options) {
  take_files(options.words, options.project);
  auto nodes = load_nodes(session.host, options.project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto known = one_farm(*nodes, options.farm);
  if (!known) return report(session, known.status());
  const TaskRecord* best = best_of(known->farm.table());
  if (best == nullptr) return report(session, not_found("no finished trial has reported the metric yet"));
  const Json json = {{"task", best->task.name},
                     {"parameters", json::member(best->task.spec, "parameters")},
                     {"metrics", best->metrics}};
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  return kDone;
}

// The journal takes the requests, unless a run works on the farm: then that takes them.
Status take_requests(const Known& known) {
  farm::Journal journal;
  Farm farm;
  Status opened =
      journal.open(known.folder + farm::kJournalFile, [&](const Event& event) { return farm.apply(event); });
  if (opened.code() == Code::Conflict) return {};
  if (!opened.ok()) return opened;
  const std::vector<farm::Request> requests = farm::read_inbox(known.folder + farm::kInboxFolder);
  for (const farm::Request& request : requests)
    if (!request.event.is_null() && farm.apply(request.event).ok()) journal.add(request.event);
  if (Status kept = journal.flush(); !kept.ok()) return kept;
  std::error_code error;
  for (const farm::Request& request : requests) std::filesystem::remove(request.path, error);
  return {};
}

}  // namespace

// Requests are safe before anybody takes them: a run may end, or begin, at any moment.
Status request(const Known& known, const std::vector<Event>& events) {
  const auto base = std::chrono::system_clock::now().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(base).count();
  for (size_t i = 0; i < events.size(); ++i) {
    Status put = farm::put_in_inbox(known.folder + farm::kInboxFolder, events[i],
                                    fmt::format("{:020}-{:06}", micros, i));
    if (!put.ok()) return put;
  }
  return take_requests(known);
}

namespace {

int run_request(const Session& session, Options& options, bool retry) {
  take_files(options.words, options.project);
  if (options.words.empty())
    return report(session, invalid("name the tasks; `radlc farm status` lists them"));
  auto nodes = load_nodes(session.host, options.project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto known = one_farm(*nodes, options.farm);
  if (!known) return report(session, known.status());
  const double now = farm::wall_seconds();
  std::vector<Event> events;
  Farm trial = known->farm;
  for (const std::string& name : options.words) {
    if (trial.table().find(name) == nullptr)
      return report(session, not_found("no task '" + name + "' in " + known->name()));
    events.push_back(retry ? farm::retry_event(name, now) : farm::cancel_event(name, now));
    if (!trial.apply(events.back()).ok())
      return report(session, invalid(fmt::format("task {} is {}: it cannot be {}", name,
                                                 farm::state_name(trial.table().find(name)->state),
                                                 retry ? "retried" : "cancelled")));
  }
  if (Status asked = request(*known, events); !asked.ok()) return report(session, asked);
  std::printf("%zu task%s will %s\n", events.size(), events.size() == 1 ? "" : "s",
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
  AddOptions& task = options->add;
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
  command->require_subcommand(1);
  auto options = std::make_shared<Options>();
  auto chosen = std::make_shared<std::function<int()>>();
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
  return [chosen] { return (*chosen)(); };
}

}  // namespace radl::cli::farm_command
