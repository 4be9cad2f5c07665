#include "runtime/driver/program_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "common/digest.h"
#include "runtime/base/world.h"
#include "runtime/clouds/cloud.h"
#include "runtime/driver/machinery.h"
#include "runtime/driver/nodes.h"
#include "runtime/driver/profile_place.h"
#include "runtime/driver/program_facts.h"
#include "runtime/plan/values.h"
#include "runtime/steps/jobs/ending.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/network.h"
#include "runtime/steps/program_runner.h"

namespace radl::driver {
namespace {

// The program with every value that the state and the secrets have.
Result<Json> resolved(const ir::Step& program, const Snapshot& state, const ir::Secrets& secrets) {
  std::string missing;
  const auto miss = [&](const std::string& name) {
    missing += (missing.empty() ? "" : ", ") + name;
    return std::nullopt;
  };
  Json whole = ir::substitute(
      program.program,
      [&](const std::string& name) -> std::optional<Json> {
        auto value = known_value(state, name);
        return value ? value : miss(name);
      },
      [&](const std::string& name) -> std::optional<Json> {
        const auto found = secrets.find(name);
        return found != secrets.end() ? std::optional<Json>(found->second) : miss("the secret " + name);
      });
  if (!missing.empty()) return invalid(program.id + " needs " + missing + ", which is not known");
  return whole;
}

const ir::Node* node_of(const ir::Program& program, const std::string& address) {
  for (const ir::Node& node : program.nodes)
    if (node.address == address) return &node;
  return nullptr;
}

// The catalogue knows the GPUs of a type.
double gpus_of(const Host& host, const ResourceRecord& node) {
  auto cloud = CloudId::parse(node.cloud);
  const auto name = node.spec.find("type");
  if (!cloud.ok() || name == node.spec.end() || !name->is_string()) return 0;
  auto type = current_catalog(host).find(cloud->type, cloud->region, name->get<std::string>());
  return type.ok() && *type != nullptr ? (*type)->gpu : 0;
}

// What the run has left there. A failure is the first of all nodes.
Status clean_up(const std::vector<NodeHandle>& handles, const Context& context, const std::string& job) {
  return jobs::for_all(handles.size(), [&](size_t i) -> Status {
    jobs::Member member(handles[i], context, job);
    auto ended = jobs::end_job(member, {"KILL", std::chrono::milliseconds(0)}, {});
    return ended.ok() ? jobs::remove_job(member) : std::move(ended).status();
  });
}

}  // namespace

void make_short_run(ir::Step& program, double seconds, const std::string& results) {
  Json& job = program.program;
  job["results"] = results;
  job["retries"] = 0;
  job["probe_seconds"] = seconds;
  job.erase("checkpoints");
  job.erase("resume_arguments");
}

Result<foresight::ProgramRun> probe_on_nodes(const Host& host, const ProjectOptions& options,
                                             const Project& project, const ir::Step& program,
                                             const NodeProbe& probe) {
  auto nodes = load_nodes(host, options, probe.stop);
  if (!nodes.ok()) return std::move(nodes).status();
  auto records = nodes_called(nodes->state, probe.nodes);
  if (!records.ok()) return std::move(records).status();
  std::vector<std::unique_ptr<Remote>> remotes;
  std::vector<NodeHandle> handles;
  for (const ResourceRecord* record : *records) {
    auto remote = connect_to(*nodes, *record);
    if (!remote.ok()) return std::move(remote).status().at(record->address);
    remotes.push_back(std::move(*remote));
    NodeHandle handle;
    handle.address = record->address;
    handle.node = node_of(project.compiled.program, record->address);
    handle.attributes = record->attributes;
    handle.cloud = record->cloud;
    handle.connect = [remote = remotes.back().get()]() -> Result<Remote*> { return remote; };
    handles.push_back(std::move(handle));
  }
  auto machine = machine_of_node(*records->front(), *remotes.front(), probe.stop);
  if (!machine.ok()) return std::move(machine).status().at(records->front()->address);
  machine->gpus = gpus_of(host, *records->front());
  auto values = resolved(program, nodes->state, project.compiled.secrets);
  if (!values.ok()) return std::move(values).status();
  ir::Step step = program;
  step.program = std::move(*values);
  step.program["name"] = program.program->value("name", "") + "-probe";  // a folder beside that of a real run
  make_short_run(step, probe.seconds, nodes->work_directory + "/programs/" + jobs::folder_of(step));
  step.nodes.clear();
  for (const NodeHandle& handle : handles) step.nodes.push_back(handle.address);
  step.program["members"] = step.nodes;

  Context context;
  context.infrastructure = nodes->state.name;
  context.work_directory = nodes->work_directory;
  context.stop = probe.stop;
  context.secrets = &project.compiled.secrets;
  StepContext shared;
  shared.context = &context;
  shared.program = &project.compiled.program;
  shared.emit = probe.emit;
  shared.job_run = to_hex(random_bytes(16));  // it joins no other
  const double began = host.world->clock.wall_seconds();
  auto outcome = make_program_runner()->run(shared, step, handles);
  Context after = context;
  after.stop = {};  // also after a stop nothing is left
  Status cleaned = clean_up(handles, after, jobs::folder_of(step));
  if (!outcome.ok()) return std::move(outcome).status();
  if (!cleaned.ok()) return cleaned;
  auto run = program_run(program_question(program, *machine, handles.size()), outcome->output);
  if (run.ok()) run->time = began;
  return run;
}

}  // namespace radl::driver
