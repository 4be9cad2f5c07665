#include "runtime/serve/plan_query.h"

#include <algorithm>

#include "common/text.h"
#include "runtime/serve/own_call.h"

namespace radl::serve {
namespace {

constexpr size_t kLongestUploadPath = 1000, kLongestPart = 200, kDeepestPath = 32;
constexpr int kMostNodes = 100000;
constexpr size_t kMostWords = 1000;  // of a list

bool is_file_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestPart && name != "." && name != ".." &&
         std::ranges::none_of(name, [](char c) { return c == '\\' || (c >= 0 && c < ' ') || c == 127; });
}

Result<std::vector<std::string>> texts_in(const Json& body, const std::string& name) {
  const Json list = body.value(name, Json::array());
  std::vector<std::string> texts;
  if (!list.is_array() || list.size() > kMostWords) return invalid("'" + name + "' is not a list of strings");
  for (const Json& one : list) {
    if (!one.is_string()) return invalid("'" + name + "' is not a list of strings");
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

Result<int> integer_in(const Json& body, const std::string& name, int otherwise, int least, int most) {
  auto number = number_in(body, name, otherwise);
  if (!number.ok()) return number.status();
  if (*number < least || *number > most || *number != double(int(*number)))
    return invalid("'" + name + "' is not an integer from " + std::to_string(least) + " to " +
                   std::to_string(most));
  return int(*number);
}

Result<std::string> word_in(const Json& body, const std::string& name,
                            std::initializer_list<std::string_view> words, const std::string& otherwise) {
  auto word = text_in(body, name, otherwise);
  if (!word.ok() || std::ranges::find(words, *word) != words.end()) return word;
  std::string known;
  for (const std::string_view one : words)
    if (!one.empty()) known += (known.empty() ? "" : ", ") + std::string(one);
  return invalid("'" + name + "' is one of " + known);
}

Result<std::vector<std::string>> paths_in(const Json& body, const std::string& name) {
  auto paths = texts_in(body, name);
  if (!paths.ok()) return paths;
  for (const std::string& path : *paths)
    if (path != "." && !is_upload_path(path))
      return invalid("'" + name + "': not a path below files/: " + path);
  return paths;
}

Result<std::vector<int>> ordinals_in(const Json& body, const std::string& name) {
  const Json list = body.value(name, Json::array());
  if (!list.is_array()) return invalid("'" + name + "' is not a list of integers");
  std::vector<int> ordinals;
  for (const Json& one : list) {
    if (!one.is_number_integer() || one.get<int64_t>() < 0 || one.get<int64_t>() > kMostNodes)
      return invalid("'" + name + "' is not a list of integers");
    ordinals.push_back(one.get<int>());
  }
  return ordinals;
}

Result<driver::ScaleRequest> scale_in(const Json& body) {
  driver::ScaleRequest scale;
  auto system = text_in(body, "system");
  auto relative = flag_in(body, "relative"), reset = flag_in(body, "reset");
  auto without = ordinals_in(body, "without"), exactly = ordinals_in(body, "exactly");
  for (const Status& status :
       {system.status(), relative.status(), reset.status(), without.status(), exactly.status()})
    if (!status.ok()) return status;
  if (system->empty()) return invalid("'system' is missing");
  scale.system = *system;
  scale.relative = *relative;
  scale.reset = *reset;
  scale.without = std::move(*without);
  if (body.contains("count") && !body.at("count").is_null()) {
    auto count = integer_in(body, "count", 0, scale.relative ? -kMostNodes : 0, kMostNodes);
    if (!count.ok()) return count.status();
    scale.count = *count;
  }
  if (body.contains("exactly")) scale.exactly = std::move(*exactly);
  if (!scale.count && !scale.reset && !scale.exactly && scale.without.empty())
    return invalid("'count', 'without' or 'reset' is missing");
  return scale;
}

}  // namespace

bool is_upload_path(const std::string& path) {
  if (path.size() > kLongestUploadPath || path.ends_with(".part")) return false;
  const auto names = split(path, '/');
  return names.size() <= kDeepestPath && std::ranges::all_of(names, is_file_name);
}

Result<PlanQuery> plan_query_from(const Json& body) {
  PlanQuery query;
  auto command = word_in(body, "command", {"apply", "scale", "destroy"}, "apply");
  auto view = word_in(body, "view", {"", "full", "brief", "dot", "markdown", "html"}, "");
  auto on_error = word_in(body, "on_error", {"keep", "retry", "destroy"}, "keep");
  auto program = text_in(body, "program"), max_cost = text_in(body, "max_cost"),
       cloud = text_in(body, "cloud");
  auto files = paths_in(body, "files"), module_path = paths_in(body, "module_path");
  auto targets = texts_in(body, "targets"), replace = texts_in(body, "replace");
  auto refresh = flag_in(body, "refresh"), keep = flag_in(body, "keep");
  auto parallelism = integer_in(body, "parallelism", 10, 1, 1000);
  auto lock_timeout = number_in(body, "lock_timeout", query.lock_timeout);
  auto inputs = inputs_in(body);
  for (const Status& status :
       {command.status(), view.status(), on_error.status(), program.status(), max_cost.status(),
        cloud.status(), files.status(), module_path.status(), targets.status(), replace.status(),
        refresh.status(), keep.status(), parallelism.status(), lock_timeout.status(), inputs.status()})
    if (!status.ok()) return status;
  if (*lock_timeout < 0 || *lock_timeout > 86400) return invalid("'lock_timeout' is a number of seconds");
  if (!program->empty() && !files->empty()) return invalid("either 'program' or 'files'");
  query.command = *command;
  query.view = *view;
  query.on_error = *on_error;
  query.program = *program;
  query.cloud = *cloud;
  query.sources = {std::move(*files), std::move(*module_path)};
  query.plan.targets = std::move(*targets);
  query.plan.replace = std::move(*replace);
  query.plan.refresh = *refresh;
  query.plan.max_cost = *max_cost;
  query.parallelism = *parallelism;
  query.lock_timeout = *lock_timeout;
  query.keep = *keep;
  query.inputs = std::move(*inputs);
  if (query.command == "scale") {
    auto scale = scale_in(body);
    if (!scale.ok()) return scale.status();
    query.scale = std::move(*scale);
  }
  return query;
}

Json to_json(const PlanQuery& query) {
  Json json = {{"command", query.command},
               {"files", query.sources.files},
               {"module_path", query.sources.module_path},
               {"cloud", query.cloud},
               {"on_error", query.on_error},
               {"parallelism", query.parallelism},
               {"lock_timeout", query.lock_timeout},
               {"keep", query.keep},
               {"targets", query.plan.targets},
               {"replace", query.plan.replace},
               {"refresh", query.plan.refresh},
               {"max_cost", query.plan.max_cost}};
  if (!query.scale) return json;
  json["system"] = query.scale->system;
  json["relative"] = query.scale->relative;
  json["reset"] = query.scale->reset;
  json["without"] = query.scale->without;
  if (query.scale->count) json["count"] = *query.scale->count;
  if (query.scale->exactly) json["exactly"] = *query.scale->exactly;
  return json;
}

}  // namespace radl::serve
