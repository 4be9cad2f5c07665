#include "runtime/driver/jobs.h"

#include <algorithm>
#include <tuple>

#include "compiler/resources/resource_schema.h"
#include "runtime/steps/jobs/for_all.h"

namespace radl::driver {
namespace {

void look_at_node(const Nodes& nodes, const std::string& address, const JobFolder& folder, JobNode& node,
                  const Stop& stop) {
  node.handle.address = address;
  auto found = nodes.state.resources.find(address);
  auto made = folder.nodes.find(address);
  if (found == nodes.state.resources.end() ||
      (made != folder.nodes.end() && made->second != found->second.id)) {
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
  node.context.environment = nodes.environment;
  node.member = std::make_unique<jobs::Member>(node.handle, node.context, folder.name);
  auto look = node.member->look("", stop);
  node.status = look.status();
  if (look.ok()) node.look = std::move(*look);
}

}  // namespace

bool JobNode::runs() const { return look.runs(); }

bool JobView::runs() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& node) { return node->runs(); });
}

std::vector<JobView> look_at_job(const Nodes& nodes, const StepRecord& job, const Stop& stop) {
  std::vector<JobView> views;
  for (size_t i = job.jobs.size(); i-- > 0;) {
    const bool earlier = i + 1 < job.jobs.size();
    if (!earlier || !job.jobs[i].may_run.empty()) views.push_back({&job, job.jobs[i], earlier, {}});
  }
  std::vector<std::tuple<const JobFolder*, std::string, JobNode*>> looks;
  for (JobView& view : views) {
    for (const std::string& address : view.earlier ? view.folder.may_run : job.nodes) {
      view.nodes.push_back(std::make_unique<JobNode>());
      looks.emplace_back(&view.folder, address, view.nodes.back().get());
    }
  }
  Status looked = jobs::for_all(looks.size(), [&](size_t i) -> Status {
    const auto& [folder, address, node] = looks[i];
    look_at_node(nodes, address, *folder, *node, stop);
    return {};
  });
  for (const auto& [folder, address, node] : looks) {
    if (!looked.ok() && node->status.ok() && !node->member) node->status = looked;
  }
  return views;
}

Result<const StepRecord*> job_called(const Snapshot& state, const std::string& name) {
  const std::vector<const StepRecord*> all = jobs_of(state);
  std::string list;
  const StepRecord* found = nullptr;
  for (const StepRecord* job : all) {
    list += (list.empty() ? "" : ", ") + job->id;
    const bool named = !name.empty() && (job->id == name || job->id.ends_with("/" + name));
    if (!named && !(name.empty() && all.size() == 1)) continue;
    if (found) return invalid("several jobs have this name: " + found->id + ", " + job->id);
    found = job;
  }
  if (found) return found;
  if (all.empty()) return not_found(state.name + " has neither trainings nor programs");
  return name.empty() ? Result<const StepRecord*>(invalid("which job? Name one of: " + list))
                      : not_found("no job " + name + " in " + state.name + "; existing: " + list);
}

std::vector<const StepRecord*> jobs_of(const Snapshot& state) {
  std::vector<const StepRecord*> all;
  for (const auto& [id, step] : state.steps) {
    if (ir::is_job_type(step.kind)) all.push_back(&step);
  }
  return all;
}

}  // namespace radl::driver
