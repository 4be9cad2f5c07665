#include "runtime/farm/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/json_values.h"

namespace radl::farm {
namespace {

constexpr size_t kLongestName = 100;

bool is_task_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName && name[0] != '.' && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return c < 128 && (std::isalnum(c) || c == '-' || c == '_' || c == '.');
         });
}

// `defaults`: of the farm; a task's own need replaces it.
Result<Task> parse_task(const Json& json, const Json& defaults, size_t number) {
  if (!json.is_object()) return invalid(fmt::format("task {} is not a map", number));
  Task task;
  task.name = json.contains("name") ? json::text_of(json, "name") : fmt::format("task-{}", number);
  if (!is_task_name(task.name))
    return invalid(
        fmt::format("'{}' is not a name of a task: use letters, digits, '-', '_' and '.'", task.name));
  for (const auto& [key, value] : json.items()) {
    constexpr std::string_view kKeys[] = {"name", "command", "arguments", "environment", "needs", "seconds"};
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys))
      return invalid(
          fmt::format("task '{}' has the unknown member '{}'; known: name, command, arguments, "
                      "environment, needs, seconds",
                      task.name, key));
    if (key == "command" || key == "arguments" || key == "environment") task.spec[key] = value;
  }
  Json needs = defaults;
  needs.update(json::member(json, "needs").is_object() ? json::member(json, "needs") : Json::object());
  task.needs = needs_from(needs);
  task.seconds = json::number_of(json, "seconds");
  return task;
}

}  // namespace

Resources needs_from(const Json& json) {
  auto whole = [&](const char* name, double otherwise) {
    return static_cast<int64_t>(std::llround(json::number_of(json, name, otherwise)));
  };
  Resources needs;
  needs.cpu = static_cast<int64_t>(std::llround(1000 * json::number_of(json, "cpu", 1)));
  needs.memory = whole("memory", 0);
  needs.gpu = whole("gpu", 0);
  needs.disk = whole("disk", 0);
  return needs;
}

Result<FarmSettings> parse_farm(const std::string& text) {
  const Json json = json::parse_json(text);
  if (!json.is_object()) return invalid("`farm` is not a JSON object");
  FarmSettings made;
  const std::string rule = json.contains("fitness") ? json::text_of(json, "fitness") : "least_rent";
  auto found = find_rule(rule);
  if (!found) return invalid(fmt::format("'{}' is not a placement; use least_rent, fullest or spread", rule));
  made.policy.rule = *found;
  made.policy.rules.tries = static_cast<int>(json::number_of(json, "tries", 3));
  if (made.policy.rules.tries < 1) return invalid("`tries` must be at least 1");
  made.engine = json::flag_of(json, "engine");
  made.merge = json::text_of(json, "merge");
  const Json needs = json::member(json, "needs").is_object() ? json::member(json, "needs") : Json::object();
  made.trial_needs = needs_from(needs);
  std::set<std::string> names;
  for (const Json& each : json::list_of(json, "tasks")) {
    auto task = parse_task(each, needs, made.tasks.size());
    if (!task) return std::move(task).status();
    if (!names.insert(task->name).second)
      return invalid(fmt::format("two tasks are called '{}'", task->name));
    made.tasks.push_back(std::move(*task));
  }
  if (json::member(json, "search").is_object()) {
    auto search = parse_search(json::member(json, "search"));
    if (!search) return std::move(search).status().at("search");
    made.search = std::move(*search);
  }
  if (made.tasks.empty() && !made.search) return invalid("a farm needs tasks or a search");
  return made;
}

}  // namespace radl::farm
