// Farms of the own API: their tasks, curves and times, and requests to them.
#include <algorithm>
#include <tuple>

#include "common/guarded.h"
#include "common/json_values.h"
#include "runtime/base/world.h"
#include "runtime/driver/farms.h"
#include "runtime/serve/own_api.h"
#include "runtime/serve/own_files.h"

namespace radl::serve {
namespace {

using httpd::Answer;

constexpr unsigned long long kUsualTasks = 200, kMostTasks = 1000;  // of one answer
constexpr size_t kMostTrials = 300;                                 // of an answer with curves
constexpr size_t kMostPoints = 200;                                 // of a curve

// What a table is sorted by: numbers, then texts, then what has no value.
std::tuple<int, double, std::string> key_of(const Json& row, const std::string& column) {
  const size_t dot = column.find('.');
  const Json& value = dot == column.npos
                          ? json::member(row, column)
                          : json::member(json::member(row, column.substr(0, dot)), column.substr(dot + 1));
  if (value.is_number()) return {0, value.get<double>(), ""};
  if (value.is_null() || (value.is_string() && value.get<std::string>().empty())) return {2, 0, ""};
  return {1, 0, value.is_string() ? value.get<std::string>() : value.dump()};
}

void sort_by(std::vector<Json>& rows, const std::string& column, bool descending) {
  std::ranges::stable_sort(rows, [&](const Json& a, const Json& b) {
    const auto one = key_of(a, column), other = key_of(b, column);
    if (std::get<0>(one) != std::get<0>(other)) return std::get<0>(one) < std::get<0>(other);
    return descending ? other < one : one < other;
  });
}

// The trials with the best values, each with so many points of its curve as a picture can show.
void shorten_curves(Json& plot) {
  std::vector<Json> trials = std::move(plot["trials"]).get<std::vector<Json>>();
  sort_by(trials, "value", json::text_of(plot, "goal") == "max");
  plot["left_out"] = trials.size() > kMostTrials ? trials.size() - kMostTrials : 0;
  if (trials.size() > kMostTrials) trials.resize(kMostTrials);
  for (Json& trial : trials) {
    const Json whole = std::move(trial["curve"]);
    const size_t step = whole.size() / kMostPoints + 1;
    Json curve = Json::array();
    for (size_t i = 0; i < whole.size(); ++i)
      if (i % step == 0 || i + 1 == whole.size()) curve.push_back(whole[i]);
    trial["curve"] = std::move(curve);
  }
  plot["trials"] = std::move(trials);
}

Result<std::vector<std::string>> tasks_in(const OwnCall& call) {
  auto body = call.json();
  if (!body.ok()) return body.status();
  std::vector<std::string> tasks;
  for (const Json& task : json::list_of(*body, "tasks"))
    tasks.push_back(task.is_string() ? task.get<std::string>() : std::string());
  if (tasks.empty()) return invalid("'tasks' is not a list with the names of tasks");
  return tasks;
}

Result<driver::FarmAddition> addition_in(const OwnCall& call) {
  auto body = call.json();
  if (!body.ok()) return body.status();
  driver::FarmAddition added;
  auto command = text_in(*body, "command"), name = text_in(*body, "name");
  for (const auto* text : {&command, &name})
    if (!text->ok()) return text->status();
  added.command = *command;
  added.name = *name;
  double trials = 0;
  for (const auto& [member, into] : {std::pair<const char*, double&>("cpu", added.cpu),
                                     {"memory", added.memory},
                                     {"gpu", added.gpu},
                                     {"seconds", added.seconds},
                                     {"trials", trials}}) {
    auto number = number_in(*body, member, into);
    if (!number.ok()) return number.status();
    if (*number < 0 || *number > 1e18) return invalid("'" + std::string(member) + "' is out of range");
    into = *number;
  }
  if (trials > 100000) return invalid("'trials' is at most 100000");
  added.trials = static_cast<size_t>(trials);
  if (added.command.empty() == (added.trials == 0)) return invalid("send either 'command' or 'trials'");
  return added;
}

Json farm_row(const Workspace& of, const driver::KnownFarm& farm, const Snapshot& state, double now) {
  Json row = driver::farm_status(farm, state, now);
  row["infrastructure"] = of.id();
  row["name"] = of.name();
  return row;
}

}  // namespace

double OwnApi::wall_seconds() const { return users_.own().host->world->clock.wall_seconds(); }

Answer OwnApi::with_farm(OwnCall& call, const FarmAnswer& answer) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  auto farm = driver::find_farm((*found)->work_directory(), (*found)->id(), call.path[1]);
  return farm.ok() ? answer(**found, *farm) : error_answer(farm.status());
}

Answer OwnApi::list_farms(OwnCall& call) {
  const std::string only = call.parameter("infrastructure");
  Json farms = Json::array(), unreadable = Json::array();
  for (const auto& one : all(call)) {
    if (!only.empty() && one->id() != only) continue;
    const auto [known, broken] = driver::farms_of(one->work_directory());
    for (const auto& [job, why] : broken) unreadable.push_back(unreadable_row(*one, why, {{"job", job}}));
    if (known.empty()) continue;  // its state, which may be in a bucket, is not needed
    const Status read = guarded([&]() -> Status {
      auto state = one->snapshot();
      if (!state.ok()) return state.status();
      for (const driver::KnownFarm& farm : known)
        farms.push_back(farm_row(*one, farm, *state, wall_seconds()));
      return {};
    });
    if (!read.ok()) unreadable.push_back(unreadable_row(*one, read));
  }
  return json_answer({{"farms", std::move(farms)}, {"unreadable", std::move(unreadable)}});
}

Answer OwnApi::get_farm(OwnCall& call) {
  return with_farm(call, [&](const Workspace& of, const driver::KnownFarm& farm) {
    auto state = of.snapshot();
    return state.ok() ? json_answer(farm_row(of, farm, *state, wall_seconds()))
                      : error_answer(state.status());
  });
}

Answer OwnApi::list_tasks(OwnCall& call) {
  return with_farm(call, [&](const Workspace&, const driver::KnownFarm& farm) {
    unsigned long long from = 0, count = kUsualTasks;
    for (auto& [name, into] : {std::pair<const char*, unsigned long long&>("from", from), {"count", count}}) {
      if (call.parameter(name).empty()) continue;
      auto number = whole_number(name, call.parameter(name));
      if (!number.ok()) return error_answer(number.status());
      into = *number;
    }
    auto rows = driver::farm_tasks(farm).get<std::vector<Json>>();
    const std::string state = call.parameter("state"), order = call.parameter("order");
    if (!state.empty()) std::erase_if(rows, [&](const Json& row) { return row.at("state") != state; });
    const Json& settings = farm.farm.table().settings();
    if (!order.empty())
      sort_by(rows, order, call.parameter("descending") == "yes");
    else if (!json::text_of(settings, "metric").empty())
      sort_by(rows, "value", json::text_of(settings, "goal") == "max");
    const size_t total = rows.size();
    from = std::min<unsigned long long>(from, total);
    const auto begin = rows.begin() + static_cast<long>(from);
    const auto end = begin + static_cast<long>(std::min({count, kMostTasks, total - from}));
    return json_answer({{"tasks", std::vector<Json>(begin, end)}, {"total", total}});
  });
}

Answer OwnApi::get_curves(OwnCall& call) {
  return with_farm(call, [&](const Workspace&, const driver::KnownFarm& farm) {
    auto plot = driver::farm_curves(farm, call.parameter("metric"));
    if (!plot.ok()) return error_answer(plot.status());
    shorten_curves(*plot);
    return json_answer(*plot);
  });
}

Answer OwnApi::get_timeline(OwnCall& call) {
  return with_farm(call, [&](const Workspace& of, const driver::KnownFarm& farm) {
    auto state = of.snapshot();
    if (!state.ok()) return error_answer(state.status());
    auto timeline = driver::farm_timeline(farm, *state, wall_seconds());
    return timeline.ok() ? json_answer(*timeline) : error_answer(timeline.status());
  });
}

Answer OwnApi::change_tasks(OwnCall& call, TaskChange change) {
  return with_farm(call, [&](const Workspace&, const driver::KnownFarm& farm) {
    auto tasks = tasks_in(call);
    if (!tasks.ok()) return error_answer(tasks.status());
    if (Status asked = change(farm, *tasks, wall_seconds()); !asked.ok()) return error_answer(asked);
    return json_answer({{"tasks", *tasks}}, 202);
  });
}

Answer OwnApi::retry_tasks(OwnCall& call) { return change_tasks(call, driver::retry_tasks); }
Answer OwnApi::cancel_tasks(OwnCall& call) { return change_tasks(call, driver::cancel_tasks); }

Answer OwnApi::add_tasks(OwnCall& call) {
  return with_farm(call, [&](const Workspace&, const driver::KnownFarm& farm) {
    auto added = addition_in(call);
    if (!added.ok()) return error_answer(added.status());
    auto what = driver::add_to_farm(farm, *added, wall_seconds());
    return what.ok() ? json_answer({{"added", *what}}, 201) : error_answer(what.status());
  });
}

// "best" is the best trial of a search: no task has this name.
Answer OwnApi::with_output(OwnCall& call, const std::function<Answer(const std::string& folder)>& answer) {
  return with_farm(call, [&](const Workspace&, const driver::KnownFarm& farm) {
    const auto* task =
        call.path[2] == "best" ? driver::best_task(farm.farm.table()) : farm.farm.table().find(call.path[2]);
    if (task == nullptr) return error_answer(not_found("no task '" + call.path[2] + "' in " + farm.name()));
    return answer(farm.folder + "/outputs/" + task->task.name);
  });
}

Answer OwnApi::list_outputs(OwnCall& call) {
  return with_output(call, [](const std::string& folder) {
    return json_answer({{"files", files_below(folder, false)}});
  });
}

Answer OwnApi::get_output(OwnCall& call) {
  return with_output(call, [&](const std::string& folder) { return download_of(folder, call.path[3]); });
}

}  // namespace radl::serve
