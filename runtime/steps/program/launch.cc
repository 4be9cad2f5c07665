#include "runtime/steps/program/launch.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <sstream>
#include <string_view>

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
    // The module's name, and what follows it as its first arguments: `-m torch.utils.bottleneck train.py`.
    std::vector<std::string> words;
    if (!launched) words.push_back(python);
    std::istringstream all(main);
    for (std::string word; all >> word;) words.push_back(word);
    return words;
  }
  if (main.ends_with(".py") && !launched) return {python, main};
  return {main};
}

// Of IPv4 addresses separated by commas the smallest network that holds all; of loopback addresses the whole
// of it, since the interface has another than nodes are called by. All networks where some are not IPv4.
std::string common_network(const std::string& hosts) {
  uint32_t first = 0, differing = 0;
  bool begun = false;
  std::istringstream words(hosts);
  for (std::string host; std::getline(words, host, ',');) {
    in_addr address{};
    if (inet_pton(AF_INET, host.c_str(), &address) != 1) return "0.0.0.0/1,128.0.0.0/1";
    const uint32_t number = ntohl(address.s_addr);
    if (!begun) first = number;
    begun = true;
    differing |= first ^ number;
  }
  if (first >> 24 == 127) return "127.0.0.0/8";
  const int bits = std::countl_zero(differing);
  if (bits == 0) return "0.0.0.0/1,128.0.0.0/1";
  const uint32_t network = first & ~(bits == 32 ? 0u : ~0u >> bits);
  return fmt::format("{}.{}.{}.{}/{}", network >> 24, network >> 16 & 255, network >> 8 & 255, network & 255,
                     bits);
}

}  // namespace

int workers_on(const Json& program, const NodeFacts& facts) {
  const int asked = program.value("workers", 0);
  return asked > 0 ? asked : std::max(1, facts.gpus);
}

std::map<std::string, std::string> member_variables(const Json& program, const std::vector<Place>& places,
                                                    const MemberSetting& member, int attempt) {
  std::string hosts, addresses;
  for (const Place& place : places) {
    hosts += (hosts.empty() ? "" : ",") + place.host;
    addresses += fmt::format("{}{}:{}", addresses.empty() ? "" : ",", place.host, place.port);
  }
  const int workers = workers_on(program, member.facts);
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
      {"RADL_SUBNET", common_network(hosts)},
      {"RADL_WORKERS", std::to_string(workers)},
      {"RADL_GPUS", std::to_string(member.facts.gpus)},
      {"RADL_THREADS", std::to_string(threads)},
      {"RADL_HOSTFILE", member.folder + "/hostfile"},
      {"RADL_ENTER", member.folder_below + "/enter"},
      {"RADL_PYTHON", program.at("python").value("program", "python3")},
      {"RADL_SOURCE", member.folder + "/source"},
      {"RADL_RESULTS", member.folder + "/results"},
      {"RADL_CHECKPOINTS",
       checkpoints.empty() ? member.folder + "/checkpoints" : absolute(checkpoints, member.home)},
      {"RADL_INPUTS", member.folder + "/inputs"},
      {"RADL_HOME", member.home},
  };
}

namespace {

std::string export_line(const std::string& name, const std::string& value) {
  // Quoted names cannot be assigned to; those here are checked by the compiler.
  return fmt::format("export {}={}\n", name, shell_quote(value));
}

// What every process of the member has, but the user's own variables.
std::string surroundings(const Json& program, const std::map<std::string, std::string>& variables,
                         const MemberSetting& member) {
  std::string script;
  for (const auto& [name, value] : variables) script += export_line(name, value);
  script += export_line("PYTHONUNBUFFERED", "1");  // so that a line is seen when it is written
  if (!member.environment.empty()) {
    script +=
        fmt::format("export PATH={0}/bin:\"$PATH\"\nexport PYTHONPATH={0}${{PYTHONPATH:+:$PYTHONPATH}}\n",
                    shell_quote(member.environment));
  }
  if (program.value("/source/kind"_json_pointer, "") == "wheel")
    script += "export PYTHONPATH=\"$RADL_SOURCE${PYTHONPATH:+:$PYTHONPATH}\"\n";
  script +=
      "if [ ! -d \"$RADL_CHECKPOINTS\" ] || [ ! -d \"$RADL_RESULTS\" ]; then\n"
      "  mkdir -p \"$RADL_CHECKPOINTS\" \"$RADL_RESULTS\" || exit 126\nfi\ncd \"$RADL_SOURCE\" || exit 126\n";
  return script;
}

// The words that run what follows them in the program's container. Variables go by name alone: their values
// may be secrets, and arguments can be read by everybody.
std::string container_words(const Json& program, const std::map<std::string, std::string>& variables,
                            const MemberSetting& member) {
  const std::string image = program.value("image", "");
  const std::string trees = member.home + "/.radl/trees";
  const bool gpu = member.facts.gpus > 0;
  if (member.facts.container != "podman")
    return fmt::format(" {} exec{} --bind {},{},\"$RADL_CHECKPOINTS\" --pwd \"$RADL_SOURCE\" {}",
                       member.facts.container, gpu ? " --nv" : "", shell_quote(member.folder),
                       shell_quote(trees), shell_quote(image));
  std::string words = " podman run --rm --network=host --ipc=host --pid=host --entrypoint=";
  words += " --security-opt=label=disable";
  if (gpu) words += " --device=nvidia.com/gpu=all";
  for (const std::string& folder : {member.folder, trees})
    words += " --volume=" + shell_quote(folder + ":" + folder);
  words += " --volume=\"$RADL_CHECKPOINTS:$RADL_CHECKPOINTS\" --workdir=\"$RADL_SOURCE\" --env=RADL_TASK";
  for (const char* name : {"PYTHONUNBUFFERED", "PYTHONPATH"}) words += fmt::format(" --env={}", name);
  for (const auto& [name, value] : variables) words += " --env=" + name;
  const Json environment = program.value("environment", Json::object());
  for (const auto& [name, value] : environment.items()) words += " --env=" + name;
  return words + " " + shell_quote(image.substr(image.find("//") + 2));
}

}  // namespace

std::string member_script(const Json& program, const std::map<std::string, std::string>& variables,
                          const MemberSetting& member) {
  std::string script = surroundings(program, variables, member);
  if (program.value("ssh", false) && member.index == 0)
    script += fmt::format("export PATH={}:\"$PATH\"\n", shell_quote(member.folder + "/ssh/bin"));
  const Json environment = program.value("environment", Json::object());
  for (const auto& [name, value] : environment.items()) script += export_line(name, filled(value, variables));
  script += "exec";
  if (program.contains("image")) script += container_words(program, variables, member);
  for (const Json& word : program.value("launcher", Json::array()))
    script += " " + shell_quote(filled(word, variables));
  for (const std::string& word : main_words(program, variables.at("RADL_PYTHON")))
    script += " " + shell_quote(word);
  for (const char* words : {"arguments", "resume_arguments"}) {
    if (!member.resumes && std::string_view(words) == "resume_arguments") continue;
    for (const Json& word : program.value(words, Json::array()))
      script += " " + shell_quote(filled(word, variables));
  }
  return script + "\n";
}

std::string enter_script(const Json& program, const std::map<std::string, std::string>& variables,
                         const MemberSetting& member) {
  return surroundings(program, variables, member) +
         "case \"$1\" in\n"
         "  *.py | -m) set -- \"$RADL_PYTHON\" \"$@\" ;;\n"
         "esac\nexec \"$@\"\n";
}

std::string host_file(const std::vector<Place>& places, const std::vector<int>& workers) {
  std::string text;
  for (size_t i = 0; i < places.size(); ++i) text += fmt::format("{} slots={}\n", places[i].host, workers[i]);
  return text;
}

}  // namespace radl::program
