#include "runtime/driver/scaled_jobs.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "runtime/base/job_members.h"
#include "runtime/plan/joining.h"

namespace radl::driver {
namespace {

using Steps = std::map<std::string, const ir::Step*>;

Steps steps_of(const ir::Program& program) {
  Steps steps;
  for (const ir::Step& step : program.steps) steps[step.id] = &step;
  return steps;
}

// Everything that comes before a step.
std::set<std::string> before(const Steps& steps, const ir::Step& step) {
  std::set<std::string> found;
  std::vector<const ir::Step*> next{&step};
  while (!next.empty()) {
    const ir::Step* one = next.back();
    next.pop_back();
    for (const ir::Edge& edge : one->after) {
      auto earlier = steps.find(edge.to);
      if (earlier != steps.end() && found.insert(edge.to).second) next.push_back(earlier->second);
    }
  }
  return found;
}

bool is_ready(const Snapshot& now, const std::string& node) {
  auto record = now.resources.find(node);
  return record != now.resources.end() && record->second.status == ResourceStatus::Ready;
}

// The nodes that are new to the training exist, and what comes before it has run there.
bool are_ready(const Steps& steps, const ir::Step& old, const ir::Step& step, const Snapshot& now) {
  for (const std::string& node : step.nodes)
    if (!is_one_of(old.nodes, node) && !is_ready(now, node)) return false;
  for (const std::string& id : before(steps, step)) {
    const ir::Step& earlier = *steps.at(id);
    const bool on_new = std::any_of(earlier.nodes.begin(), earlier.nodes.end(), [&](const std::string& node) {
      return is_one_of(step.nodes, node) && !is_one_of(old.nodes, node);
    });
    if (ir::is_job(earlier.kind) || !on_new) continue;
    auto record = now.steps.find(id);
    if (record == now.steps.end() || record->second.status != StepStatus::Done) return false;
  }
  return true;
}

bool runs(const Snapshot& now, const std::string& job) {
  auto record = now.steps.find(job);
  return record != now.steps.end() && has_not_ended(record->second.status);
}

}  // namespace

ScaledJobs scaled_jobs(const ir::Program& old, const ir::Program& program, const Snapshot& now) {
  const Steps then = steps_of(old), steps = steps_of(program);
  ScaledJobs found;
  for (const ir::Step& step : program.steps) {
    auto known = then.find(step.id);
    if (!ir::is_job(step.kind) || known == then.end() || known->second->digest == step.digest) continue;
    const ir::Step& was = *known->second;
    if (!runs(now, step.id)) {
      // A job that is yet to run takes the nodes that exist then; one that has ended would run again.
      if (now.steps.count(step.id)) found.refused = step.id + " would run again on the nodes that exist now";
      continue;
    }
    if (step.kind != ir::StepKind::Training ||
        common_to_workers(step.training) != common_to_workers(was.training)) {
      found.refused = step.id + " cannot take other nodes while it runs";
      continue;
    }
    if (!are_ready(steps, was, step, now)) return {};
    found.changes = true;
  }
  if (!found.changes) found.refused.clear();
  found.changes &= found.refused.empty();
  return found;
}

ScaledJobs scaled_jobs(const Project& project, const Snapshot& now) {
  if (still_chosen(now.scaled, project.deployed) == project.scaled) return {};
  Result<Compiled> compiled = compiled_with(project, now);
  if (!compiled.ok()) return {false, compiled.status().message()};
  return scaled_jobs(project.compiled.program, compiled->program, now);
}

}  // namespace radl::driver
