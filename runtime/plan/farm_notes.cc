#include "runtime/plan/farm_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/farm/rehearsal.h"

namespace radl {
namespace {

double least(const ir::Node& node, const char* feature) {
  auto found = node.requirements.find(feature);
  if (found == node.requirements.end()) return 0;
  const ir::Requirement& asked = found->second;
  if (asked.min) return *asked.min;
  return asked.equals && asked.equals->is_number() ? asked.equals->get<double>() : 0;
}

// Its capacity and its queue are known only at apply.
std::string slurm_note(const ir::Step& step, const farm::FarmSettings& settings) {
  if (step.nodes.size() > 1)
    return fmt::format(
        "{}: its farm cannot run: scheduler = 'slurm' takes one node, Slurm's login node, not {}", step.id,
        step.nodes.size());
  std::string text = fmt::format("{}: {} tasks, run by Slurm", step.id, settings.task_count());
  if (!step.nodes.empty()) text += " of " + step.nodes.front();
  if (!settings.slurm.partition.empty()) text += ", partition " + settings.slurm.partition;
  return text + "; Slurm decides how many at a time, and when";
}

}  // namespace

farm::Resources offered_by(const ir::Node& node) {
  farm::Resources has;
  has.cpu = std::max<int64_t>(1000, std::llround(1000 * least(node, "cpu.count")));
  const double memory = least(node, "memory.size");
  has.memory = memory > 0 ? std::llround(memory) : farm::kUnknownAmount;
  has.gpu = std::llround(least(node, "gpu.count"));
  has.disk = farm::kUnknownAmount;
  return has;
}

void add_farm_note(const ir::Program& program, const ir::Step& step, std::vector<std::string>& notes) {
  auto found = step.program->find("farm");
  if (found == step.program->end() || !found->is_string()) return;
  auto settings = farm::parse_farm(found->get<std::string>());
  if (!settings) {
    notes.push_back(fmt::format("{}: its farm cannot run: {}", step.id, settings.status().text()));
    return;
  }
  if (settings->scheduler == farm::SchedulerKind::Slurm) {
    notes.push_back(slurm_note(step, *settings));
    return;
  }
  std::vector<farm::Resources> nodes;
  for (const ir::Node& node : program.nodes) {
    if (std::find(step.nodes.begin(), step.nodes.end(), node.address) != step.nodes.end())
      nodes.push_back(offered_by(node));
  }
  const farm::Rehearsal played = farm::rehearse(*settings, nodes);
  if (nodes.empty() || played.tasks == 0) {
    notes.push_back(step.id + ": no tasks to run");
    return;
  }
  std::string text = fmt::format("{}: {} tasks, at most {} at a time on {} node{}", step.id, played.tasks,
                                 played.at_once, nodes.size(), nodes.size() == 1 ? "" : "s");
  text += fmt::format("; {:.0f} round{} of tasks", played.rounds, played.rounds == 1 ? "" : "s");
  text += played.known ? fmt::format(", {:.2g} node-hours if nothing fails", played.node_seconds / 3600)
                       : std::string(" of unknown length");
  notes.push_back(text);
  if (played.never > 0)
    notes.push_back(fmt::format("{}: {} task{} will wait: {}", step.id, played.never,
                                played.never == 1 ? "" : "s", played.why_never));
}

}  // namespace radl
