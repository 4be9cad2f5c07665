#include "runtime/run/architectures.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "runtime/clouds/cloud.h"

namespace radl {
namespace {

constexpr const char* kArchitectures[] = {"x86_64", "arm64"};

// What a node may run on.
struct Machine {
  std::string type, image;  // as its cloud calls them; "": not known
};

// Those that a node has or may get, and its cloud.
struct Machines {
  std::string cloud;
  std::vector<Machine> all;
};

Machines machines_of(const std::string& node, const Plan& plan, const Snapshot& snapshot) {
  const Action* action = plan.find(node);
  if (action != nullptr && !action->offers.empty()) {
    Machines machines{action->cloud, {}};
    for (const Offer& offer : action->offers)
      machines.all.push_back({offer.name, offered_spec(action->spec, offer).value("image", "")});
    return machines;
  }
  const auto record = snapshot.resources.find(node);
  if (record == snapshot.resources.end() || !record->second.spec.is_object()) return {};
  const Json& spec = record->second.spec;
  return {record->second.cloud, {{spec.value("type", ""), spec.value("image", "")}}};
}

// "" if the type fits or is unknown; else the type's architecture.
std::string other_than_of_type(const Catalog& catalog, const CloudId& cloud, const std::string& name,
                               const std::string& engine) {
  auto found = catalog.find(cloud.type, cloud.region, name);
  const InstanceType* type = found.ok() ? *found : nullptr;
  if (type == nullptr || type->runs(engine)) return "";
  for (const char* architecture : kArchitectures)
    if (type->runs(architecture)) return architecture;
  return "";
}

// The same of an image, whose architecture a survey may know.
std::string other_than_of_image(const Plan& plan, const std::string& cloud, const std::string& image,
                                const std::string& engine) {
  const auto survey = plan.surveys.find(cloud);
  if (survey == plan.surveys.end()) return "";
  const Json known = survey->second.facts.value("image_architectures", Json::object());
  const std::string has = known.value(image, "");
  for (const char* architecture : kArchitectures)
    if (has == architecture && has != engine) return has;
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
      const Machines machines = machines_of(node, plan, snapshot);
      auto cloud = CloudId::parse(machines.cloud);
      if (!cloud.ok()) continue;
      for (const auto& [type, image] : machines.all) {
        const std::string of_type = other_than_of_type(catalog, *cloud, type, engine);
        const std::string of_image = other_than_of_image(plan, machines.cloud, image, engine);
        if (!of_type.empty())
          return invalid(fmt::format("{}: {} may become {}, a machine of {}, and the engine of this "
                                     "computer, which trains there, is for {}",
                                     step.id, node, type, of_type, engine))
              .with_hint(
                  fmt::format("cpu.arch = '{}' in its system, or types of it in instance_type", engine));
        if (!of_image.empty())
          return invalid(fmt::format("{}: {} starts from image {}, which is for {}, and the engine of this "
                                     "computer, which trains there, is for {}",
                                     step.id, node, image, of_image, engine))
              .with_hint(fmt::format("name an image for {} in disk.0.image.url", engine));
      }
    }
  }
  return {};
}

}  // namespace radl
