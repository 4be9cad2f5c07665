#include "runtime/steps/farm/task_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/json_values.h"
#include "common/replaced.h"
#include "runtime/steps/farm/image_source.h"

namespace radl::farm {
namespace {

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// `{NAME}` of a parameter, or of the task.
std::string filled(std::string text, const Json& parameters, const std::string& task) {
  for (const auto& [name, value] : parameters.items())
    text = replaced(std::move(text), "{" + name + "}", text_of(value));
  return replaced(std::move(text), "{task}", task);
}

}  // namespace

std::string parent_folder(const std::string& task, int attempt) {
  return fmt::format("farm/parents/{}.{}", task, attempt);
}

std::string task_script(const Json& program, const program::MemberSetting& setting,
                        const std::vector<program::Place>& places, const TaskRecord& task,
                        const std::string& engine) {
  const Json& spec = task.task.spec;
  const std::string& name = task.task.name;
  const Json parameters =
      json::member(spec, "parameters").is_object() ? json::member(spec, "parameters") : Json::object();
  Json mine = program;
  Json arguments = Json::array();
  if (spec.contains("command")) {
    mine["main"] = "sh";
    mine.erase("launcher");
    arguments = {"-c", filled(json::text_of(spec, "command"), parameters, name)};
  } else {
    for (const Json& word : program.value("arguments", Json::array()))
      arguments.push_back(filled(text_of(word), parameters, name));
    for (const Json& word : json::list_of(spec, "arguments"))
      arguments.push_back(filled(text_of(word), parameters, name));
  }
  mine["arguments"] = std::move(arguments);
  Json environment = program.value("environment", Json::object());
  for (const auto& [variable, value] : json::member(spec, "environment").items())
    environment[variable] = filled(text_of(value), parameters, name);
  if (!task.devices.empty())
    environment["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(task.devices, ","));
  mine["environment"] = std::move(environment);
  auto variables = program::member_variables(program, places, setting, task.attempt);
  variables["RADL_TASK_NAME"] = name;
  variables["RADL_PARAMETERS"] = parameters.dump();
  variables["RADL_RESULTS"] = fmt::format("{}/farm/{}.{}/results", setting.folder, name, task.attempt);
  if (const std::string parent = json::text_of(spec, "from"); !parent.empty())
    variables["RADL_PARENT"] = setting.folder + "/" + parent_folder(name, task.attempt);
  variables["RADL_CHECKPOINTS"] += "/" + name;
  variables["RADL_THREADS"] = std::to_string(std::max<int64_t>(1, task.task.needs.cpu / 1000));
  if (spec.contains(kImages))
    variables["RADL_IMAGES"] = setting.folder + "/" + images_file(name, task.attempt);
  if (!engine.empty()) variables["RADL_TRAIN"] = engine;
  // The shell reads all of it before it runs any of it, so the file can be emptied first: it may have
  // secrets.
  return "{\n: > farm/$id/script\n" + program::member_script(mine, variables, setting) + "}\n";
}

}  // namespace radl::farm
