// Small programs for the runtime's tests, written as a person would describe them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/digest.h"
#include "compiler/ir/ir.h"

namespace radl::test {

struct Machine {
  std::string system;
  int count = 1;
  double memory = 2147483648.0;
  std::string network = "lan";
};

// Deploys machines in one private network; recipes and a training are added by the calls below.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name = "demo") {
    program_.name = std::move(name);
    program_.sources = {{"demo.radl", "0"}};
    ir::Network network;
    network.address = "network.lan";
    network.name = "lan";
    program_.networks.push_back(network);
  }

  ProgramBuilder& deploy(const Machine& machine) {
    for (int i = 0; i < machine.count; ++i) {
      ir::Node node;
      node.system = machine.system;
      node.ordinal = i;
      node.address = machine.system + "[" + std::to_string(i) + "]";
      node.number = static_cast<int>(program_.nodes.size());
      ir::Requirement cpu, memory;
      cpu.min = 2;
      memory.min = machine.memory;
      node.requirements["cpu.count"] = cpu;
      node.requirements["memory.size"] = memory;
      ir::Interface interface;
      interface.network = machine.network;
      interface.host_name = machine.system + "-" + std::to_string(i);
      interface.domain = "localdomain";
      node.interfaces.push_back(interface);
      program_.nodes.push_back(node);
    }
    return *this;
  }

  // A native recipe with one file on every node of the system, after whatever that node had before.
  ProgramBuilder& file(const std::string& system, const std::string& recipe, const std::string& path,
                       ir::Json content) {
    for (const ir::Node& node : program_.nodes) {
      if (node.system != system) continue;
      ir::Step step;
      step.id = node.address + "/" + recipe;
      step.recipe = recipe;
      step.nodes = {node.address};
      step.group = 1;
      ir::Resource resource;
      resource.type = "file";
      resource.name = path;
      resource.properties = ir::Json{{"content", content}};
      step.resources.push_back(resource);
      step.digest = sha256_hex(recipe + path + content.dump());
      add_same_node_edge(step);
      program_.steps.push_back(step);
    }
    return *this;
  }

  // "Step 1 is over everywhere": waits for all steps so far, or for those of one recipe; later ones wait for
  // it.
  ProgramBuilder& barrier(const std::string& id, const std::string& recipe = {}) {
    ir::Step step;
    step.id = id;
    step.kind = ir::StepKind::Barrier;
    for (const ir::Step& before : program_.steps) {
      if (before.kind == ir::StepKind::Barrier || (!recipe.empty() && before.recipe != recipe)) continue;
      step.after.push_back({before.id, ""});
    }
    program_.steps.push_back(step);
    barrier_ = id;
    return *this;
  }

  // `after RECIPE`: later steps need the success of all of that recipe's steps.
  ProgramBuilder& after(const std::string& recipe) {
    barrier("after/" + recipe, recipe);
    program_.steps.back().needs_success = true;
    return *this;
  }

  ProgramBuilder& train(const std::string& servers, const std::string& workers,
                        const std::string& model = "resnet20", int epochs = 10) {
    ir::Step step;
    step.id = "training/cifar";
    step.recipe = "cifar";
    step.kind = ir::StepKind::Training;
    ir::Json ps = ir::Json::array(), worker = ir::Json::array();
    for (const ir::Node& node : program_.nodes) {
      if (node.system != servers && node.system != workers) continue;
      step.nodes.push_back(node.address);
      (node.system == servers ? ps : worker).push_back(node.address);
    }
    for (const ir::Step& before : program_.steps) {
      if (before.kind == ir::StepKind::Barrier) continue;
      step.after.push_back({before.id, "training after the steps of its nodes"});
    }
    step.training =
        ir::Json{{"name", "cifar"},
                 {"job",
                  {{"job", 1},
                   {"model", model},
                   {"dataset", {{"name", "cifar10"}}},
                   {"epochs", epochs},
                   {"sync", {{"mode", "async"}}}}},
                 {"cluster", {{"chief", ir::Json::array({ps[0]})}, {"ps", ps}, {"worker", worker}}},
                 {"result", "/tmp/result"},
                 {"identity", sha256_hex("identity " + model)}};
    step.digest = sha256_hex(step.training->dump());
    program_.steps.push_back(step);
    return *this;
  }

  // Host names without the system's, as RADL gives where the file says none: a system may be renamed.
  ProgramBuilder& default_host_names() {
    for (ir::Node& node : program_.nodes)
      node.interfaces[0].host_name = "vnode-" + std::to_string(node.number);
    return *this;
  }

  ProgramBuilder& output(const std::string& name, ir::Json value, bool sensitive = false) {
    ir::Output output;
    output.name = name;
    output.value = std::move(value);
    output.sensitive = sensitive;
    program_.outputs.push_back(output);
    return *this;
  }

  ir::Program build() {
    ir::Program made = program_;
    made.source_digest = sha256_hex(ir::to_json(made).dump());
    return made;
  }

 private:
  void add_same_node_edge(ir::Step& step) {
    for (auto before = program_.steps.rbegin(); before != program_.steps.rend(); ++before) {
      if (before->nodes == step.nodes) {
        step.after.push_back({before->id, "same node"});
        break;
      }
    }
    if (!barrier_.empty()) step.after.push_back({barrier_, "step 2 follows step 1"});
  }

  ir::Program program_;
  std::string barrier_;
};

}  // namespace radl::test
