#include "runtime/driver/script_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "common/digest.h"
#include "common/files.h"
#include "common/json_values.h"
#include "runtime/base/local_digest.h"
#include "runtime/base/world.h"
#include "runtime/driver/nodes.h"
#include "runtime/farm/journal.h"
#include "runtime/steps/farm/farm_run.h"
#include "runtime/steps/jobs/ending.h"
#include "runtime/steps/jobs/network.h"

namespace radl::driver {
namespace {

namespace fs = std::filesystem;

// A node of the state with its own connection. Must not be moved: its handle points into it.
struct ScriptPlace {
  std::unique_ptr<Remote> remote;
  NodeHandle handle;
};

// `left_out`: by address, why a node cannot be reached.
Result<std::vector<NodeHandle>> places_of(const Nodes& nodes, const std::string& named,
                                          std::vector<std::unique_ptr<ScriptPlace>>& places,
                                          std::map<std::string, Status>& left_out, const Tell& tell) {
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
    auto place = std::make_unique<ScriptPlace>();
    place->handle.address = node->address;
    place->handle.attributes = node->attributes;
    place->handle.connect = [&nodes, node, own = place.get()]() -> Result<Remote*> {
      if (own->remote) return own->remote.get();
      return Status(Code::Lost, node->address + ": the connection is gone");
    };
    auto remote = connect_to(nodes, *node);
    if (!remote.ok()) {
      tell({Notice::Kind::Note, node->address + " is left out: " + remote.status().message()});
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
Result<ir::Step> step_of(const Host& host, const ScriptRequest& request,
                         const std::vector<NodeHandle>& nodes) {
  std::error_code error;
  const fs::path path = (fs::path(host.folder) / request.script).lexically_normal();
  if (!fs::is_regular_file(path, error)) return not_found("no script " + request.script);
  auto digest = local_digest(path);
  if (!digest) return std::move(digest).status();
  const std::string file = path.filename(), name = path.stem();
  Json arguments = Json::array();
  const bool python = file.ends_with(".py");
  if (!python) arguments.push_back("./" + file);
  for (const std::string& argument : request.arguments) arguments.push_back(argument);
  const Json task = {{"name", "run"}, {"arguments", arguments}};
  const Json farm = {
      {"tries", 1}, {"needs", {{"cpu", request.cpu}, {"gpu", request.gpu}}}, {"tasks", Json::array({task})}};
  ir::Step step;
  step.id = "program/" + name;
  step.kind = ir::StepKind::Program;
  for (const NodeHandle& node : nodes) step.nodes.push_back(node.address);
  step.program = Json{
      {"name", name},
      {"main", python ? file : "sh"},
      {"source", {{"kind", "file"}, {"path", path.string()}, {"sha256", *digest}}},
      {"python", {{"program", "python3"}}},
      {"results", (fs::path(host.folder) / (request.results.empty() ? name + "-results" : request.results))
                      .lexically_normal()
                      .string()},
      {"identity", sha256_hex(*digest + arguments.dump())},
      {"may_fail", true},
      {"farm", farm.dump()}};
  return step;
}

Result<ScriptEnd> end_of_script(const std::string& results) {
  auto text = read_file(results + "/table.json");
  const Json table = text.ok() ? Json::parse(*text, nullptr, false) : Json();
  if (!table.is_array() || table.empty()) return Status(Code::Corrupt, results + ": no table.json");
  const Json& task = table[0];
  ScriptEnd end;
  if (auto log =
          read_file(fmt::format("{}/logs/run.{:.0f}.log", results, json::number_of(task, "attempt", 1)));
      log.ok())
    end.output = std::move(*log);
  end.succeeded = json::text_of(task, "state") == "finished";
  end.exit_status = static_cast<int>(std::clamp(json::number_of(task, "status"), -1.0, 255.0));
  return end;
}

}  // namespace

Result<ScriptEnd> run_script(const Host& host, const ProjectOptions& project, const ScriptRequest& request,
                             const Stop& stop, const Tell& tell) {
  auto nodes = load_nodes(host, project, stop);
  if (!nodes.ok()) return nodes.status();
  std::vector<std::unique_ptr<ScriptPlace>> places;
  std::map<std::string, Status> left_out;
  auto handles = places_of(*nodes, request.on, places, left_out, tell);
  if (!handles) return handles.status();
  auto step = step_of(host, request, *handles);
  if (!step) return step.status();
  Context context;
  context.infrastructure = nodes->state.name;
  context.work_directory = nodes->work_directory;
  context.stop = stop;
  context.environment = nodes->environment;
  StepContext how;
  how.context = &context;
  how.emit = [&](const StepEvent& event) {
    if (event.kind != "task" || !event.data.value("notice", false)) return;
    tell({Notice::Kind::Progress, event.node + ": " + event.data.value("name", "")});
  };
  const std::string folder = farm::farms_folder(context.work_directory) + "/" + jobs::folder_of(*step);
  if (Status known = check_left_out(folder, left_out); !known.ok()) return known;
  auto outcome = farm::run_farm(how, *step, *handles);
  if (!outcome) return outcome.status();
  std::error_code error;
  fs::remove_all(folder, error);  // run again, it starts from the beginning
  for (const NodeHandle& node : *handles) {
    jobs::Member member(node, context, jobs::folder_of(*step));
    if (Status removed = jobs::remove_job(member); !removed.ok())
      tell({Notice::Kind::Note, node.address + ": " + removed.text()});
  }
  return end_of_script(step->program->at("results"));
}

}  // namespace radl::driver
