#include "runtime/farm/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>

#include "common/json_values.h"
#include "runtime/farm/images.h"

namespace radl::farm {
namespace {

constexpr size_t kLongestName = 100;

bool is_task_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName && name[0] != '.' && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return c < 128 && (std::isalnum(c) || c == '-' || c == '_' || c == '.');
         });
}

// Among the results these are the farm's own.
bool is_reserved(const std::string& name, const std::string& merge) {
  for (const char* own : {"logs", "best", "table.json", "report.json", "manifest.json"})
    if (name == own) return true;
  return name == merge;
}

// Names without slashes; a shell quotes it.
bool is_file_pattern(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c < 128 && (std::isalnum(c) ||
                       std::string_view("-_.*?").find(static_cast<char>(c)) != std::string_view::npos);
  });
}

constexpr double kMost = 1e15;  // of any number

// Nothing, or a number from 0 to kMost.
Status check_number(const Json& json, const char* name, const std::string& where, bool whole) {
  if (!json.contains(name)) return {};
  const Json& value = json[name];
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0 && number <= kMost))
    return invalid(fmt::format("{}: `{}` must be a number from 0 on, not {}", where, name, value.dump()));
  if (whole && number != std::floor(number))
    return invalid(fmt::format("{}: `{}` must be an integer, not {}", where, name, value.dump()));
  return {};
}

Status check_keys(const Json& json, std::initializer_list<std::string_view> keys, const std::string& where) {
  for (const auto& [key, value] : json.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      return invalid(
          fmt::format("{} has the unknown member '{}'; known: {}", where, key, fmt::join(keys, ", ")));
  }
  return {};
}

Status check_needs(const Json& json, const std::string& where) {
  if (!json.contains("needs")) return {};
  const Json& needs = json["needs"];
  if (!needs.is_object()) return invalid(where + ": `needs` is not a map");
  Status checked = check_keys(needs, {"cpu", "memory", "gpu", "disk"}, where + ": `needs`");
  if (checked.ok()) checked = check_number(needs, "cpu", where, false);
  if (checked.ok()) checked = check_number(needs, "memory", where, false);
  if (checked.ok()) checked = check_number(needs, "gpu", where, true);
  return checked.ok() ? check_number(needs, "disk", where, false) : checked;
}

bool is_word(const Json& value) { return value.is_string() || value.is_number() || value.is_boolean(); }

Status check_spec(const Json& spec, const std::string& where) {
  if (spec.contains("command") == spec.contains("arguments"))
    return invalid(where + " needs either `command` or `arguments`")
        .with_hint("to run `main` without arguments, write arguments = []");
  if (spec.contains("command") &&
      (!spec["command"].is_string() || spec["command"].get<std::string>().empty()))
    return invalid(where + ": `command` is not a text");
  if (spec.contains("arguments") &&
      (!spec["arguments"].is_array() ||
       !std::all_of(spec["arguments"].begin(), spec["arguments"].end(), is_word)))
    return invalid(where + ": `arguments` is not a list of texts");
  if (spec.contains("environment") &&
      (!spec["environment"].is_object() ||
       !std::all_of(spec["environment"].begin(), spec["environment"].end(), is_word)))
    return invalid(where + ": `environment` is not a map of texts");
  return {};
}

// `defaults`: of the farm; a task's own need replaces it.
Result<Task> parse_task(const Json& json, const Json& defaults, size_t number) {
  if (!json.is_object()) return invalid(fmt::format("task {} is not a map", number));
  Task task;
  task.name = json.contains("name") ? json::text_of(json, "name") : fmt::format("task-{}", number);
  if (!is_task_name(task.name))
    return invalid(
        fmt::format("'{}' is not a name of a task: use letters, digits, '-', '_' and '.'", task.name));
  const std::string where = fmt::format("task '{}'", task.name);
  for (const char* key : {"command", "arguments", "environment", kImages})
    if (json.contains(key)) task.spec.set(key, json[key]);
  Status checked =
      check_keys(json, {"name", "command", "arguments", "environment", "needs", "seconds", kImages}, where);
  if (checked.ok()) checked = check_spec(task.spec, where);
  if (checked.ok()) checked = check_needs(json, where);
  if (checked.ok()) checked = check_number(json, "seconds", where, false);
  if (checked.ok() && json.contains(kImages)) checked = parse_image_range(json[kImages]).status();
  if (!checked.ok()) return checked;
  Json needs = defaults;
  if (json.contains("needs")) needs.update(json["needs"]);
  task.needs = needs_from(needs);
  task.seconds = json::number_of(json, "seconds");
  return task;
}

// A word that neither a shell nor a line of `#SBATCH` reads as more than one.
bool is_plain_word(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c > ' ' && c < 127 &&
           std::string_view("\"'\\#;|&<>`$").find(static_cast<char>(c)) == std::string_view::npos;
  });
}

// Options of sbatch that radlc itself gives, or that would take a job from its hands.
bool is_own_option(const std::string& option) {
  static constexpr std::string_view kOwn[] = {
      "array",  "requeue",    "no-requeue", "job-name",  "output",        "error",     "input",
      "chdir",  "parsable",   "wrap",       "wait",      "cpus-per-task", "mem",       "nodes",
      "ntasks", "dependency", "hold",       "test-only", "export",        "partition", "account",
      "qos",    "time",       "quiet",      "clusters",  "exclude"};
  const std::string name =
      option.substr(2, option.find('=') - 2);  // sbatch takes the beginning of a name, too
  return std::any_of(std::begin(kOwn), std::end(kOwn),
                     [&](std::string_view own) { return own.starts_with(name); });
}

Result<SlurmSettings> parse_slurm(const Json& json) {
  if (!json.is_object()) return invalid("`slurm` is not a map");
  Status checked = check_keys(json, {"partition", "account", "qos", "path", "options"}, "`slurm`");
  if (!checked.ok()) return checked;
  SlurmSettings made;
  for (auto [name, value] : {std::pair{"partition", &made.partition},
                             {"account", &made.account},
                             {"qos", &made.qos},
                             {"path", &made.path}}) {
    *value = json::text_of(json, name);
    if (!is_plain_word(*value))
      return invalid(fmt::format("`slurm`: `{}` is not a single word: '{}'", name, *value));
  }
  for (const Json& each : json::list_of(json, "options")) {
    const std::string option = each.is_string() ? each.get<std::string>() : each.dump();
    if (!option.starts_with("--") || !is_plain_word(option))
      return invalid(fmt::format(
          "`slurm`: write an option as '--name' or '--name=value' without spaces or quotes, not '{}'",
          option));
    if (is_own_option(option))
      return invalid(fmt::format("`slurm`: radlc itself sets the option '{}'", option))
          .with_hint("use `partition`, `account`, `qos`, the tasks' needs, or the program's `timeout`");
    made.options.push_back(option);
  }
  return made;
}

// `scheduler` and what goes with it.
Status parse_scheduler(const Json& json, FarmSettings& made) {
  const std::string name = json.contains("scheduler") ? json::text_of(json, "scheduler") : "radlc";
  if (name != "radlc" && name != "slurm")
    return invalid(fmt::format("'{}' is not a scheduler; use radlc or slurm", name));
  const Json& words = json::member(json, "slurm");
  const bool given = words.is_object() ? !words.empty() : !words.is_null();
  if (name == "radlc") return given ? invalid("`slurm` needs scheduler = 'slurm'") : Status();
  made.scheduler = SchedulerKind::Slurm;
  if (made.policy.rule != Rule::LeastRent)
    return invalid("with scheduler = 'slurm', Slurm places the tasks: leave out `fitness`");
  auto slurm = given ? parse_slurm(words) : Result<SlurmSettings>(SlurmSettings());
  if (!slurm) return std::move(slurm).status();
  made.slurm = std::move(*slurm);
  return {};
}

}  // namespace

Resources needs_from(const Json& json) {
  auto whole = [&](const char* name) { return std::llround(std::min(kMost, json::number_of(json, name))); };
  Resources needs;
  needs.cpu = std::llround(1000 * std::min(kMost, json::number_of(json, "cpu", 1)));
  needs.memory = whole("memory");
  needs.gpu = whole("gpu");
  needs.disk = whole("disk");
  return needs;
}

Result<FarmSettings> parse_farm(const std::string& text) {
  const Json json = json::parse_json(text);
  if (!json.is_object()) return invalid("`farm` is not a JSON object");
  Status checked =
      check_keys(json,
                 {"tasks", "search", "needs", "fitness", "tries", "engine", "merge", "metrics", "min_nodes",
                  "idle", "worth", "weight", "scheduler", "slurm", kImages, "model_options"},
                 "`farm`");
  if (checked.ok()) checked = check_needs(json, "`farm`");
  if (checked.ok()) checked = check_number(json, "tries", "`farm`", true);
  if (checked.ok()) checked = check_number(json, "min_nodes", "`farm`", true);
  if (checked.ok()) checked = check_number(json, "idle", "`farm`", false);
  if (checked.ok()) checked = check_number(json, "worth", "`farm`", false);
  if (checked.ok()) checked = check_number(json, "weight", "`farm`", false);
  if (checked.ok() && json.contains("tasks") && !json["tasks"].is_array())
    checked = invalid("`tasks` is not a list");
  if (checked.ok() && json.contains("search") && !json["search"].is_object())
    checked = invalid("`search` is not a map");
  if (!checked.ok()) return checked;
  FarmSettings made;
  const std::string rule = json.contains("fitness") ? json::text_of(json, "fitness") : "least_rent";
  auto found = find_rule(rule);
  if (!found) return invalid(fmt::format("'{}' is not a placement; use least_rent, fullest or spread", rule));
  made.policy.rule = *found;
  const double tries = json::number_of(json, "tries", 3);
  if (tries < 1 || tries > 1e6) return invalid("`tries` must be from 1 to 1000000");
  made.policy.rules.tries = static_cast<int>(tries);
  made.elastic.least = static_cast<size_t>(json::number_of(json, "min_nodes"));
  made.elastic.idle_seconds = json::number_of(json, "idle", made.elastic.idle_seconds);
  made.elastic.worth = json::number_of(json, "worth", made.elastic.worth);
  made.weight = json::number_of(json, "weight", made.weight);
  if (made.weight < 0.01 || made.weight > 1000) return invalid("`weight` must be from 0.01 to 1000");
  made.engine = json::flag_of(json, "engine");
  if (Status parsed = parse_scheduler(json, made); !parsed.ok()) return parsed;
  made.merge = json::text_of(json, "merge");
  made.images = json::text_of(json, kImages);
  if (!made.images.empty()) {
    if (Status right = check_images(made.images); !right.ok()) return right;
  }
  if (json.contains("model_options")) {
    made.model_options.emplace();
    for (const Json& word : json::list_of(json, "model_options"))
      made.model_options->push_back(word.is_string() ? word.get<std::string>() : word.dump());
  }
  made.metrics = json::text_of(json, "metrics");
  if (!is_file_pattern(made.metrics))
    return invalid(
        fmt::format("`metrics` is 'stdout' or a pattern of file names, such as '*.jsonl' or "
                    "'*tfevents*', not '{}'",
                    made.metrics));
  if (made.metrics.empty() && json.contains("search")) made.metrics = "stdout";
  const Json needs = json::member(json, "needs").is_object() ? json::member(json, "needs") : Json::object();
  made.trial_needs = needs_from(needs);
  std::set<std::string> names;
  for (const Json& each : json::list_of(json, "tasks")) {
    auto task = parse_task(each, needs, made.tasks.size());
    if (!task) return std::move(task).status();
    if (is_reserved(task->name, made.merge))
      return invalid(
          fmt::format("a task cannot be called '{}': the farm's own results have this name", task->name));
    if (json.contains("search") && task->name.starts_with(kTrialPrefix))
      return invalid(
          fmt::format("a task beside a search cannot be called '{}': its trials are called trial-0, "
                      "trial-1, ..",
                      task->name));
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
