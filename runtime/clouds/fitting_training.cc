// Which machine types a training is offered, and what to say of the one that it gets (fitting.h).
#include <fmt/format.h>

#include <algorithm>

#include "common/human.h"
#include "common/text.h"
#include "runtime/catalog/burstable.h"
#include "runtime/clouds/fitting.h"

namespace radl {
namespace {

bool names_gpu_features(const ir::Node& node) {
  return std::any_of(node.requirements.begin(), node.requirements.end(),
                     [](const auto& one) { return one.first.starts_with("gpu."); });
}

}  // namespace

bool OfferedTypes::takes(const std::string& name) {
  size_t& taken = sustained_ && burstable(cloud_, name) != nullptr ? by_credits_ : others_;
  if (taken == most_) return false;
  ++taken;
  return true;
}

bool trains(const ir::Program& program, const ir::Node& node) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const ir::Step& step) {
    const bool is_training =
        step.kind == ir::StepKind::Training ||
        (step.kind == ir::StepKind::Program && !step.program->value("launcher", Json()).empty());
    return is_training && std::find(step.nodes.begin(), step.nodes.end(), node.address) != step.nodes.end();
  });
}

std::string training_note(const ir::Program& program, const ir::Node& node, const std::string& cloud,
                          const Offer& offer) {
  if (!trains(program, node)) return "";
  std::vector<std::string> texts;
  if (const Burstable* credits = burstable(cloud, offer.name); credits != nullptr)
    texts.push_back(
        fmt::format("runs on CPU credits: it sustains {}% of each core, and above that {}",
                    plain_number(100 * credits->baseline),
                    credits->unlimited ? "the surplus is charged" : "it is throttled once they are spent"));
  const bool native = std::any_of(program.steps.begin(), program.steps.end(), [&](const ir::Step& step) {
    return step.kind == ir::StepKind::Training &&
           std::find(step.nodes.begin(), step.nodes.end(), node.address) != step.nodes.end();
  });
  // A file that asks for GPUs has been warned by the compiler (W0402).
  if (native && offer.facts.gpu > 0 && !names_gpu_features(node))
    texts.push_back(
        "has GPUs that the training does not use: the native engine trains on CPUs; use std/training/torch "
        "for GPUs");
  if (texts.empty()) return "";
  return fmt::format("system '{}' trains on {}, which {}", node.system, offer.name, join(texts, ", and "));
}

}  // namespace radl
