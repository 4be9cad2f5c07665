// `radlc farm add` and `radlc farm plot` (docs/farm.md).
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "common/files.h"
#include "common/json_values.h"
#include "common/shell_quote.h"
#include "common/turn.h"
#include "runtime/cli/farm_command.h"
#include "runtime/cli/shown.h"
#include "runtime/farm/journal.h"
#include "runtime/farm/plot.h"
#include "runtime/farm/settings.h"
#include "runtime/steps/farm/farm_run.h"
#include "runtime/steps/farm/inbox.h"

namespace radl::cli::farm_command {
namespace {

using farm::Event;
using nlohmann::json;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string free_name(const farm::Table& table) {
  for (size_t i = 0;; ++i) {
    std::string name = fmt::format("added-{}", i);
    if (table.find(name) == nullptr) return name;
  }
}

Result<farm::Task> task_of(const std::vector<std::string>& words, const AddOptions& options,
                           const farm::Table& table) {
  std::string command = words.size() == 1 ? words[0] : "";
  for (size_t i = 0; words.size() > 1 && i < words.size(); ++i)
    command += (i > 0 ? " " : "") + shell_quote(words[i]);
  json one = {{"name", options.name.empty() ? free_name(table) : options.name},
              {"command", command},
              {"needs", {{"cpu", options.cpu}, {"memory", options.memory}, {"gpu", options.gpu}}}};
  if (options.seconds > 0) one["seconds"] = options.seconds;
  auto made = farm::parse_farm(
      json({{"tasks", {one}}, {"merge", radl::json::text_of(table.settings(), "merge")}}).dump());
  if (!made) return std::move(made).status();
  farm::Task task = std::move(made->tasks[0]);
  if (table.settings().contains("trials") && task.name.starts_with(farm::kTrialPrefix))
    return invalid(fmt::format("a task cannot be called '{}': the search's trials are called {}0, {}1, ..",
                               task.name, farm::kTrialPrefix, farm::kTrialPrefix));
  task.spec["added"] = true;  // it stays though the file does not have it
  return task;
}

}  // namespace

int run_add(const Session& session, const ProjectOptions& project, const std::string& farm,
            const std::vector<std::string>& words, const AddOptions& options) {
  if (words.empty() == (options.trials == 0))
    return report(session,
                  invalid("a command is required, or --trials")
                      .with_hint("radlc farm add [FILE] COMMAND, or radlc farm add [FILE] --trials 8"));
  auto nodes = load_nodes(session.host, project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto known = one_farm(*nodes, farm);
  if (!known) return report(session, known.status());
  // The next free name is another one for each that adds a task, also while a run has yet to take the tasks.
  auto turn = FileTurn::take(known->folder + "/add.lock", Stop());
  if (!turn) return report(session, turn.status());
  const std::vector<farm::Request> waiting = farm::read_inbox(known->folder + farm::kInboxFolder);
  known = one_farm(*nodes, farm);  // what is not in the inbox any more is in the journal
  if (!known) return report(session, known.status());
  for (const farm::Request& request : waiting)
    if (!request.event.is_null()) (void)known->farm.apply(request.event);
  Event event = farm::trials_event(options.trials, seconds_now());
  std::string what = fmt::format("{} trial{}", options.trials, options.trials == 1 ? "" : "s");
  if (options.trials == 0) {
    auto task = task_of(words, options, known->farm.table());
    if (!task) return report(session, task.status());
    event = farm::add_event(*task, seconds_now());
    what = "task " + task->name;
  }
  if (Status taken = known->farm.apply(event); !taken.ok()) return report(session, taken);
  if (Status asked = request(*known, {event}); !asked.ok()) return report(session, asked);
  std::printf("%s: added to %s\n", shown(what).c_str(), shown(known->name()).c_str());
  return kDone;
}

int run_plot(const Session& session, const ProjectOptions& project, const std::string& farm,
             const std::string& output, bool as_json) {
  auto nodes = load_nodes(session.host, project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto known = one_farm(*nodes, farm);
  if (!known) return report(session, known.status());
  farm::Curves curves;
  Status read = farm::read_journal(known->folder + farm::kJournalFile, [&](const Event& event) {
    curves.observe(event);
    return Status();
  });
  if (!read.ok()) return report(session, read);
  auto plot = farm::plot_of(known->name(), known->farm.table(), curves);
  if (!plot) return report(session, plot.status());
  if (as_json) {
    std::printf("%s\n", plot->dump(2, ' ', false, json::error_handler_t::replace).c_str());
    return kDone;
  }
  const std::string path = output.empty() ? known->name() + "-plot.html" : output;
  if (Status written = write_file_atomic(path, farm::plot_page(*plot)); !written.ok())
    return report(session, written);
  std::printf("%s\n", shown(path).c_str());
  return kDone;
}

}  // namespace radl::cli::farm_command
