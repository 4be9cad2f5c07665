#include "runtime/cli/jobs.h"

#include "compiler/ir/resource_schema.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/network.h"

namespace radl::cli {
namespace {

std::string folder_of(const StepRecord& job) {
  const Json definition = job.definition ? job.definition->value(job.kind, Json::object()) : Json::object();
  return jobs::folder_name(definition.value("name", ""), definition.value("identity", job.digest));
}

void look_at_node(const Nodes& nodes, const std::string& address, const std::string& folder, JobNode& node) {
  node.handle.address = address;
  auto found = nodes.state.resources.find(address);
  if (found == nodes.state.resources.end()) {
    node.status = not_found(address + " is gone");
    return;
  }
  auto remote = connect_to(nodes, found->second);
  if (!remote.ok()) {
    node.status = std::move(remote).status();
    return;
  }
  node.remote = std::move(*remote);
  node.handle.attributes = found->second.attributes;
  node.handle.connect = [&node]() -> Result<Remote*> { return node.remote.get(); };
  node.member = std::make_unique<jobs::Member>(node.handle, node.context, folder);
  auto look = node.member->look();
  node.status = look.status();
  if (look.ok()) node.look = std::move(*look);
}

}  // namespace

bool JobNode::runs() const {
  for (const auto& [name, state] : look.processes) {
    if (state.phase == jobs::ProcessState::Phase::Running) return true;
  }
  return false;
}

std::vector<std::unique_ptr<JobNode>> look_at_job(const Nodes& nodes, const StepRecord& job) {
  std::vector<std::unique_ptr<JobNode>> all;
  for (size_t i = 0; i < job.nodes.size(); ++i) all.push_back(std::make_unique<JobNode>());
  const std::string folder = folder_of(job);
  Status looked = jobs::for_all(job.nodes.size(), [&](size_t i) -> Status {
    look_at_node(nodes, job.nodes[i], folder, *all[i]);
    return {};
  });
  for (const auto& node : all) {
    if (!looked.ok() && node->status.ok() && !node->member) node->status = looked;
  }
  return all;
}

std::vector<const StepRecord*> jobs_of(const Snapshot& state) {
  std::vector<const StepRecord*> all;
  for (const auto& [id, step] : state.steps) {
    if (ir::is_job_type(step.kind)) all.push_back(&step);
  }
  return all;
}

}  // namespace radl::cli
