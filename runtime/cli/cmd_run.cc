// Runs a script as one task on the nodes that exist, without a change of the file (docs/farm.md).
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "common/digest.h"
#include "common/files.h"
#include "common/json_values.h"
#include "runtime/base/local_digest.h"
#include "runtime/base/world.h"
#include "runtime/cli/node_commands.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/driver/nodes.h"
#include "runtime/farm/journal.h"
#include "runtime/steps/farm/farm_run.h"
#include "runtime/steps/jobs/ending.h"
#include "runtime/steps/jobs/network.h"

namespace radl::cli::run_command {
namespace {

namespace fs = std::filesystem;

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;  // FILE..., SCRIPT, ARG...
  std::string on, results;
  double cpu = 1;
  int gpu = 0;
};

// A node of the state with its own connection. Must not be moved: its handle points into it.
struct Place {
  std::unique_ptr<Remote> remote;
  NodeHandle handle;
};

// `left_out`: by address, why a node cannot be reached.
Result<std::vector<NodeHandle>> places_of(const Nodes& nodes, const std::string& named,
                                          std::vector<std::unique_ptr<Place>>& places,
                                          std::map<std::string, Status>& left_out) {
  std::vector<const ResourceRecord*> chosen;
  if (!named.empty()) {
    auto found = nodes_called(nodes.state, named);
    if (!found.ok()) return std::move(found).status();
    chosen = std::move(*found);
  }
  for (const auto& [address, resource] : nodes.state.resources) {
    if (named.empty() && resource.is_node()) chosen.push_back(&resource);
  }
  if (chosen.empty()) return not_found(nodes.state.name + " has no nodes");
  std::vector<NodeHandle> handles;
  for (const ResourceRecord* node : chosen) {
    auto place = std::make_unique<Place>();
    place->handle.address = node->address;
    place->handle.attributes = node->attributes;
    place->handle.connect = [&nodes, node, own = place.get()]() -> Result<Remote*> {
      if (own->remote) return own->remote.get();
      return Status(Code::Lost, node->address + ": the connection is gone");
    };
    auto remote = connect_to(nodes, *node);
    if (!remote.ok()) {
      std::fprintf(stderr, "note: %s is left out: %s\n", shown(node->address).c_str(),
                   shown(remote.status().message()).c_str());
      left_out.emplace(node->address, remote.status());
      continue;
    }
    place->remote = std::move(*remote);
    handles.push_back(place->handle);
    places.push_back(std::move(place));
  }
  if (handles.empty()) return left_out.begin()->second;
  return handles;
}

// An error if an earlier radlc has started the script on a node that is left out: it would run a second time.
Status check_left_out(const std::string& folder, const std::map<std::string, Status>& left_out) {
  if (left_out.empty()) return {};
  farm::Table table;
  Status read = farm::read_journal(folder + farm::kJournalFile,
                                   [&](const farm::Event& event) { return table.apply(event); });
  if (read.code() == Code::NotFound) return {};
  if (!read.ok()) return read;
  for (const farm::TaskRecord& task : table.tasks()) {
    auto out = left_out.find(task.node);
    if (task.state != farm::State::Running || out == left_out.end()) continue;
    return Status(Code::Lost,
                  fmt::format("the script may still run on {}: {}", task.node, out->second.message()))
        .with_hint("repeat the command once the node answers: it joins the script");
  }
  return {};
}

// The script as a program with a farm of one task. The same script with the same arguments is the same job:
// one that was interrupted is joined.
Result<ir::Step> step_of(const Options& options, const std::vector<NodeHandle>& nodes) {
  std::error_code error;
  const std::string script = options.words[0];
  if (!fs::is_regular_file(script, error)) return not_found("no script " + script);
  const std::string path = fs::absolute(script, error);
  auto digest = local_digest(path);
  if (!digest) return std::move(digest).status();
  const std::string file = fs::path(path).filename(), name = fs::path(path).stem();
  Json arguments = Json::array();
  const bool python = file.ends_with(".py");
  if (!python) arguments.push_back("./" + file);
  for (size_t i = 1; i < options.words.size(); ++i) arguments.push_back(options.words[i]);
  const Json task = {{"name", "run"}, {"arguments", arguments}};
  const Json farm = {
      {"tries", 1}, {"needs", {{"cpu", options.cpu}, {"gpu", options.gpu}}}, {"tasks", Json::array({task})}};
  ir::Step step;
  step.id = "program/" + name;
  step.kind = ir::StepKind::Program;
  for (const NodeHandle& node : nodes) step.nodes.push_back(node.address);
  step.program = {{"name", name},
                  {"main", python ? file : "sh"},
                  {"source", {{"kind", "file"}, {"path", path}, {"sha256", *digest}}},
                  {"python", {{"program", "python3"}}},
                  {"results", options.results.empty() ? fs::absolute(name + "-results", error).string()
                                                      : fs::absolute(options.results, error).string()},
                  {"identity", sha256_hex(*digest + arguments.dump())},
                  {"may_fail", true},
                  {"farm", farm.dump()}};
  return step;
}

// The task's exit status; its output is printed.
int tell_end(const Session& session, const std::string& results) {
  auto text = read_file(results + "/table.json");
  const Json table = text.ok() ? Json::parse(*text, nullptr, false) : Json();
  if (!table.is_array() || table.empty())
    return report(session, Status(Code::Corrupt, results + ": no table.json"));
  const Json& task = table[0];
  if (auto log =
          read_file(fmt::format("{}/logs/run.{:.0f}.log", results, json::number_of(task, "attempt", 1)));
      log.ok())
    std::fwrite(log->data(), 1, log->size(), stdout);
  const int status = static_cast<int>(std::clamp(json::number_of(task, "status"), -1.0, 255.0));
  if (json::text_of(task, "state") == "finished") return kDone;
  return status > 0 ? status : kWorldError;
}

int run_script(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.words.empty())
    return report(session, invalid("a script is required").with_hint("radlc run SCRIPT -- ARGUMENT..."));
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  auto nodes = load_nodes(session.host, options.project, cancellation.finishing());
  if (!nodes.ok()) return report(session, nodes.status());
  std::vector<std::unique_ptr<Place>> places;
  std::map<std::string, Status> left_out;
  auto handles = places_of(*nodes, options.on, places, left_out);
  if (!handles) return report(session, handles.status());
  auto step = step_of(options, *handles);
  if (!step) return report(session, step.status());
  Context context;
  context.infrastructure = nodes->state.name;
  context.work_directory = nodes->work_directory;
  context.stop = Stop::when([&] { return cancellation.stop_starting(); });
  context.environment = nodes->environment;
  StepContext how;
  how.context = &context;
  how.emit = [](const StepEvent& event) {
    if (event.kind != "task" || !event.data.value("notice", false)) return;
    std::fprintf(stderr, "%s: %s\n", shown(event.node).c_str(), shown(event.data.value("name", "")).c_str());
  };
  const std::string folder = farm::farms_folder(context.work_directory) + "/" + jobs::folder_of(*step);
  if (Status known = check_left_out(folder, left_out); !known.ok()) return report(session, known);
  auto outcome = farm::run_farm(how, *step, *handles);
  if (!outcome) return report(session, outcome.status());
  std::error_code error;
  fs::remove_all(folder, error);  // run again, it starts from the beginning
  for (const NodeHandle& node : *handles) {
    jobs::Member member(node, context, jobs::folder_of(*step));
    if (Status removed = jobs::remove_job(member); !removed.ok())
      std::fprintf(stderr, "note: %s: %s\n", shown(node.address).c_str(), shown(removed.text()).c_str());
  }
  return tell_end(session, step->program.at("results"));
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("run", "Run a script on a node with free resources, and fetch its results");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_option("SCRIPT",
                      "script of this computer: Python (.py) or shell; its arguments come after --");
  command->add_option("--on", options->on, "a node or system (default: every node)")->type_name("NODE");
  command->add_option("--cpu", options->cpu, "processors that it needs")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--gpu", options->gpu, "GPUs that it needs")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--results", options->results, "folder for its results (default: NAME-results)")
      ->type_name("DIR");
  return [options, &session] { return run_script(session, *options); };
}

}  // namespace radl::cli::run_command
