#include "runtime/plan/joining.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/plan/step_facts.h"

namespace radl {

bool is_one_of(const std::vector<std::string>& nodes, const std::string& node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

bool same_training(const ir::Step& step, const StepRecord& record, const Snapshot& snapshot,
                   const std::map<std::string, std::string>& secrets) {
  if (step.kind != ir::StepKind::Training || !record.definition) return false;
  ir::Step before = step;
  before.training = record.definition->value("training", Json::object());
  return job_content(step, secrets) == job_content(before, snapshot.secrets);
}

std::vector<std::string> joining(const ir::Step& step, const std::vector<std::string>& running) {
  std::vector<std::string> added;
  if (step.kind != ir::StepKind::Training || running.empty()) return added;
  for (const std::string& node : step.nodes)
    if (!is_one_of(running, node)) added.push_back(node);
  return added;
}

std::string joining_text(const std::vector<std::string>& nodes) {
  if (nodes.empty()) return "";
  return fmt::format("{} {} the training that runs", fmt::join(nodes, ", "),
                     nodes.size() == 1 ? "joins" : "join");
}

bool can_be_joined(const ir::Step& step, const std::vector<std::string>& running) {
  return !running.empty() && std::all_of(step.nodes.begin(), step.nodes.end(), [&](const std::string& node) {
    return can_miss(step, node) || is_one_of(running, node);
  });
}

bool is_scaled(const ir::Step& step, const ir::Program& program, const Scalings& scaled) {
  return std::any_of(program.nodes.begin(), program.nodes.end(), [&](const ir::Node& node) {
    return is_one_of(step.nodes, node.address) && scaled.count(node.system) != 0;
  });
}

}  // namespace radl
