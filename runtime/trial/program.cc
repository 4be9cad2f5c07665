#include "runtime/trial/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "common/digest.h"
#include "runtime/base/job_members.h"

namespace radl {
namespace {

using simulated::Draws;

constexpr double kGiB = 1073741824.0;

// A system that has nodes; "" for a program without any.
std::string any_system(const ir::Program& program, Draws& draws) {
  if (program.nodes.empty()) return "";
  return program.nodes[draws.below(program.nodes.size())].system;
}

void each_node(ir::Program& program, const std::string& system,
               const std::function<void(ir::Node&)>& change) {
  for (ir::Node& node : program.nodes)
    if (node.system == system) change(node);
}

// Each change describes itself; "": it does not apply to this program.
std::string more_memory(ir::Program& program, Draws& draws) {
  std::string system = any_system(program, draws);
  bool changed = false;
  each_node(program, system, [&](ir::Node& node) {
    ir::Requirement& memory = node.requirements["memory.size"];
    double now = memory.min.value_or(kGiB);
    if (memory.max || memory.equals || now > 64 * kGiB) return;
    memory.min = now * 2;
    changed = true;
  });
  return changed ? "more memory for " + system : "";
}

std::string another_image(ir::Program& program, Draws& draws) {
  std::string system = any_system(program, draws);
  each_node(program, system,
            [](ir::Node& node) { node.requirements["disk.0.image.url"].equals = "another-image"; });
  return system.empty() ? "" : "another image for " + system;
}

std::string another_port(ir::Program& program, Draws& draws) {
  if (program.networks.empty()) return "";
  ir::Network& network = program.networks[draws.below(program.networks.size())];
  if (network.reference) return "";
  int port = 20000 + static_cast<int>(draws.below(1000));
  network.ports.push_back({"tcp", "10.0.0.0/8", port, port, port, port});
  return fmt::format("port {} open in {}", port, network.name);
}

std::string more_disk(ir::Program& program, Draws& draws) {
  std::string system = any_system(program, draws);
  std::string text;
  each_node(program, system, [&](ir::Node& node) {
    auto data = std::find_if(node.disks.begin(), node.disks.end(),
                             [](const ir::Disk& disk) { return disk.index > 0 && disk.size_bytes; });
    if (data != node.disks.end()) {
      data->size_bytes = *data->size_bytes * 2;
      text = "larger disk for " + system;
      return;
    }
    ir::Disk further;
    further.index = 7;
    further.size_bytes = 10 * kGiB;
    node.disks.push_back(further);
    text = "a further disk for " + system;
  });
  return text;
}

std::string another_recipe(ir::Program& program, Draws& draws) {
  std::set<std::string> recipes;
  for (const ir::Step& step : program.steps)
    if (step.kind != ir::StepKind::Barrier) recipes.insert(step.recipe);
  if (recipes.empty()) return "";
  std::string recipe = *std::next(recipes.begin(), static_cast<long>(draws.below(recipes.size())));
  for (ir::Step& step : program.steps)
    if (step.recipe == recipe) step.digest = sha256_hex(step.digest + "changed");
  return "recipe " + recipe;
}

bool names_any(const std::vector<std::string>& unknowns, const std::set<std::string>& owners) {
  return std::any_of(unknowns.begin(), unknowns.end(), [&](const std::string& name) {
    return owners.count(name.substr(0, name.rfind('.'))) != 0;
  });
}

// Takes a worker that the others can miss out of a training.
bool leave_training(ir::Step& step, const std::string& address) {
  if (step.kind != ir::StepKind::Training || !continues_without(step.training, {address})) return false;
  ir::Json& workers = step.training["cluster"]["worker"];
  workers.erase(std::find(workers.begin(), workers.end(), ir::Json(address)));
  std::erase(step.nodes, address);
  step.digest = sha256_hex(step.digest + "without " + address);
  return true;
}

std::string node_less(ir::Program& program, Draws& draws) {
  const std::string system = any_system(program, draws);
  const ir::Node* last = nullptr;
  for (const ir::Node& node : program.nodes)
    if (node.system == system && node.ordinal > 0 && (!last || node.ordinal > last->ordinal)) last = &node;
  if (!last) return "";
  const std::string address = last->address;
  ir::Program less = program;
  std::set<std::string> gone = {address};
  for (ir::Step& step : less.steps) {
    bool on_it = std::count(step.nodes.begin(), step.nodes.end(), address) != 0;
    if (on_it && leave_training(step, address)) continue;
    if (on_it && step.nodes.size() > 1) return "";
    if (on_it) gone.insert(step.id);
  }
  std::erase_if(less.nodes, [&](const ir::Node& node) { return node.address == address; });
  std::erase_if(less.steps, [&](const ir::Step& step) { return gone.count(step.id) != 0; });
  for (ir::Step& step : less.steps) {
    std::erase_if(step.after, [&](const ir::Edge& edge) { return gone.count(edge.to) != 0; });
    if (names_any(ir::unknowns_in(step), gone)) return "";
  }
  for (const ir::Output& output : less.outputs)
    if (names_any(ir::unknowns_in(output.value), gone)) return "";
  if (!ir::verify(less).ok()) return "";
  program = std::move(less);
  return "without " + address;
}

}  // namespace

bool takes_workers(const ir::Program& before, const ir::Program& after) {
  bool takes = false;
  for (const ir::Step& step : before.steps) {
    if (!ir::is_job(step.kind)) continue;
    const auto now = std::find_if(after.steps.begin(), after.steps.end(),
                                  [&](const ir::Step& one) { return one.id == step.id; });
    if (now == after.steps.end()) return false;
    if (now->digest == step.digest) continue;
    if (step.kind != ir::StepKind::Training || now->nodes == step.nodes ||
        common_to_workers(step.training) != common_to_workers(now->training))
      return false;
    takes = true;
  }
  return takes;
}

ir::Program with_tags(const ir::Program& program, const std::string& tags) {
  ir::Program tagged = program;
  for (ir::Node& node : tagged.nodes) node.requirements["instance_tags"].equals = tags;
  tagged.source_digest = sha256_hex(tagged.source_digest + "\n" + tags);
  return tagged;
}

std::vector<std::string> clouds_named(const ir::Program& program) {
  std::vector<std::string> names;
  for (const ir::Node& node : program.nodes)
    if (std::find(names.begin(), names.end(), node.cloud) == names.end()) names.push_back(node.cloud);
  return names;
}

void leave_out_names(ir::Program& program, std::vector<std::string>& notes) {
  std::set<std::string> left_out;
  for (ir::Node& node : program.nodes) {
    for (const char* feature : {"instance_type", "availability_zone", "gpu.vendor", "cpu.arch"})
      if (node.requirements.erase(feature)) left_out.insert(feature);
  }
  for (const std::string& feature : left_out)
    notes.push_back(feature + " is left out: it names what only some clouds have");
}

ir::Program changed_program(const ir::Program& program, Draws& draws, std::vector<std::string>& changes) {
  using Change = std::string (*)(ir::Program&, Draws&);
  constexpr Change kChanges[] = {more_memory, another_image,  another_port,
                                 more_disk,   another_recipe, node_less};
  ir::Program changed = program;
  size_t wanted = 1 + draws.below(3);
  // A program may be so small that some of them cannot be made.
  for (int attempt = 0; attempt < 20 && changes.size() < wanted; ++attempt) {
    std::string change = kChanges[draws.below(std::size(kChanges))](changed, draws);
    if (!change.empty()) changes.push_back(change);
  }
  std::string digest = changed.source_digest;
  for (const std::string& change : changes) digest += "\n" + change;
  changed.source_digest = sha256_hex(digest);
  return changed;
}

}  // namespace radl
