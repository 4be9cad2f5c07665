#include "runtime/run/architectures.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "runtime/clouds/cloud.h"

namespace radl {
namespace {

constexpr const char* kArchitectures[] = {"x86_64", "arm64"};

// The types that a node has or may get, and its cloud.
struct Types {
  std::string cloud;
  std::vector<std::string> names;
};

Types types_of(const std::string& node, const Plan& plan, const Snapshot& snapshot) {
  const Action* action = plan.find(node);
  if (action != nullptr && !action->offers.empty()) {
    Types types{action->cloud, {}};
    for (const Offer& offer : action->offers) types.names.push_back(offer.name);
    return types;
  }
  const auto record = snapshot.resources.find(node);
  if (record == snapshot.resources.end() || !record->second.spec.is_object()) return {};
  return {record->second.cloud, {record->second.spec.value("type", "")}};
}

// "" if the type runs on it, or nobody knows; else the architecture that the type has.
std::string other_architecture(const Catalog& catalog, const CloudId& cloud, const std::string& name,
                               const std::string& engine) {
  auto found = catalog.find(cloud.type, cloud.region, name);
  const InstanceType* type = found.ok() ? *found : nullptr;
  if (type == nullptr || type->runs(engine)) return "";
  for (const char* architecture : kArchitectures)
    if (type->runs(architecture)) return architecture;
  return "";
}

}  // namespace

std::string architecture_of_program(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  Elf64_Ehdr head{};
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head)) return "";
  if (!std::equal(ELFMAG, ELFMAG + SELFMAG, head.e_ident)) return "";
  return head.e_machine == EM_X86_64 ? "x86_64" : head.e_machine == EM_AARCH64 ? "arm64" : "";
}

Status check_architectures(const ir::Program& program, const std::set<std::string>& steps, const Plan& plan,
                           const Snapshot& snapshot, const Catalog& catalog, const std::string& engine) {
  if (engine.empty()) return {};
  for (const ir::Step& step : program.steps) {
    if (step.kind != ir::StepKind::Training || !steps.contains(step.id)) continue;
    for (const std::string& node : step.nodes) {
      const Types types = types_of(node, plan, snapshot);
      auto cloud = CloudId::parse(types.cloud);
      if (!cloud.ok()) continue;
      for (const std::string& name : types.names) {
        const std::string other = other_architecture(catalog, *cloud, name, engine);
        if (other.empty()) continue;
        return invalid(fmt::format("{}: {} may become {}, a machine of {}, and the engine of this computer, "
                                   "which trains there, is for {}",
                                   step.id, node, name, other, engine))
            .with_hint(fmt::format("cpu.arch = '{}' in its system, or types of it in instance_type", engine));
      }
    }
  }
  return {};
}

}  // namespace radl
