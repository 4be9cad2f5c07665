#include "runtime/steps/program/launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/shell_quote.h"
#include "compiler/ir/program_names.h"

namespace radl::program {

using nlohmann::json_literals::operator""_json_pointer;

namespace {

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string filled(const Json& value, const std::map<std::string, std::string>& variables) {
  return ir::replace_program_names(text_of(value), [&](std::string_view name) {
    auto found = variables.find(std::string(name));
    return found == variables.end() ? "$" + std::string(name) : found->second;
  });
}

std::string absolute(const std::string& path, const std::string& home) {
  if (path.starts_with('/')) return path;
  return home + "/" + (path.starts_with("~/") ? path.substr(2) : path);
}

// `main` with what runs it.
std::vector<std::string> main_words(const Json& program, const std::string& python) {
  const std::string main = program.value("main", "");
  const bool launched = !program.value("launcher", Json::array()).empty();
  if (main.starts_with("-m ")) {
    const std::string module = main.substr(main.find_first_not_of(' ', 3));
    return launched ? std::vector<std::string>{"-m", module} : std::vector<std::string>{python, "-m", module};
  }
  if (main.ends_with(".py") && !launched) return {python, main};
  return {main};
}

}  // namespace

std::map<std::string, std::string> member_variables(const Json& program, const std::vector<Place>& places,
                                                    const MemberSetting& member, int attempt) {
  std::string hosts, addresses;
  for (const Place& place : places) {
    hosts += (hosts.empty() ? "" : ",") + place.host;
    addresses += fmt::format("{}{}:{}", addresses.empty() ? "" : ",", place.host, place.port);
  }
  const int asked = program.value("workers", 0);
  const int workers = asked > 0 ? asked : std::max(1, member.facts.gpus);
  const int threads = std::max(1, member.facts.processors / (workers * std::max(1, member.on_this_computer)));
  const std::string checkpoints = program.value("checkpoints", "");
  const Place &own = places[member.index], &chief = places[0];
  return {
      {"RADL_JOB",
       fmt::format("{}-{}", program.value("name", ""), program.value("identity", "").substr(0, 12))},
      {"RADL_ATTEMPT", std::to_string(attempt)},
      {"RADL_MEMBER", std::to_string(member.index)},
      {"RADL_MEMBERS", std::to_string(places.size())},
      {"RADL_IS_CHIEF", member.index == 0 ? "1" : "0"},
      {"RADL_HOST", own.host},
      {"RADL_PORT", std::to_string(own.port)},
      {"RADL_CHIEF", chief.host},
      {"RADL_CHIEF_PORT", std::to_string(chief.port)},
      {"RADL_HOSTS", hosts},
      {"RADL_ADDRESSES", addresses},
      {"RADL_WORKERS", std::to_string(workers)},
      {"RADL_GPUS", std::to_string(member.facts.gpus)},
      {"RADL_THREADS", std::to_string(threads)},
      {"RADL_PYTHON", program.at("python").value("program", "python3")},
      {"RADL_SOURCE", member.folder + "/source"},
      {"RADL_RESULTS", member.folder + "/results"},
      {"RADL_CHECKPOINTS",
       checkpoints.empty() ? member.folder + "/checkpoints" : absolute(checkpoints, member.home)},
      {"RADL_INPUTS", member.folder + "/inputs"},
  };
}

std::string member_script(const Json& program, const std::map<std::string, std::string>& variables,
                          const MemberSetting& member) {
  // Quoted names cannot be assigned to; those here are checked by the compiler.
  std::string script = "rm -f \"$0\"\n";
  auto set = [&](const std::string& name, const std::string& value) {
    script += fmt::format("export {}={}\n", name, shell_quote(value));
  };
  for (const auto& [name, value] : variables) set(name, value);
  set("PYTHONUNBUFFERED", "1");  // so that a line is seen when it is written
  if (!member.environment.empty()) {
    script +=
        fmt::format("export PATH={0}/bin:\"$PATH\"\nexport PYTHONPATH={0}${{PYTHONPATH:+:$PYTHONPATH}}\n",
                    shell_quote(member.environment));
  }
  if (program.value("/source/kind"_json_pointer, "") == "wheel")
    script += "export PYTHONPATH=\"$RADL_SOURCE${PYTHONPATH:+:$PYTHONPATH}\"\n";
  const Json environment = program.value("environment", Json::object());
  for (const auto& [name, value] : environment.items()) set(name, filled(value, variables));
  script += "mkdir -p \"$RADL_CHECKPOINTS\" \"$RADL_RESULTS\" || exit 126\ncd \"$RADL_SOURCE\" || exit 126\n";
  script += "exec";
  for (const Json& word : program.value("launcher", Json::array()))
    script += " " + shell_quote(filled(word, variables));
  for (const std::string& word : main_words(program, variables.at("RADL_PYTHON")))
    script += " " + shell_quote(word);
  for (const Json& word : program.value("arguments", Json::array()))
    script += " " + shell_quote(filled(word, variables));
  return script + "\n";
}

}  // namespace radl::program
