#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "compiler/ir/elastic_farm.h"
#include "compiler/ir/ir.h"
#include "compiler/resources/resource_schema.h"

namespace radl::ir {

namespace {

using Names = std::unordered_set<std::string>;

Status wrong(const std::string& where, const std::string& what) {
  return invalid(fmt::format("IR: {}: {}", where, what));
}

template <class T, class Key>
Status unique(const std::vector<T>& items, const char* kind, Key key, Names& names) {
  for (const T& item : items) {
    const std::string& name = key(item);
    if (name.empty()) return wrong(kind, "a name is empty");
    if (!names.insert(name).second) return wrong(fmt::format("{} '{}'", kind, name), "is a duplicate");
  }
  return ok_status();
}

Status verify_network(const Network& network) {
  for (const PortRule& port : network.ports) {
    bool fine = port.remote >= 0 && port.remote <= port.remote_end && port.remote_end <= 65535 &&
                port.local >= 0 && port.local <= port.local_end && port.local_end <= 65535;
    if (!fine) return wrong("network '" + network.name + "'", "a port is out of range");
  }
  return ok_status();
}

Status verify_requirements(const std::string& where, const std::map<std::string, Requirement>& requirements) {
  for (const auto& [name, requirement] : requirements) {
    if (requirement.min && requirement.max && *requirement.min > *requirement.max)
      return wrong(where, fmt::format("'{}' has no possible value", name));
  }
  return ok_status();
}

Status verify_node(const Node& node, const Names& networks) {
  std::string where = "node '" + node.address + "'";
  if (node.address != fmt::format("{}[{}]", node.system, node.ordinal))
    return wrong(where, "its address is not system[ordinal]");
  if (node.number < 0) return wrong(where, "its number is negative");
  for (const Interface& interface : node.interfaces) {
    if (!networks.contains(interface.network)) {
      return wrong(where, fmt::format("interface {} is on network '{}', which does not exist",
                                      interface.index, interface.network));
    }
  }
  if (Status status = verify_requirements(where, node.requirements); !status.ok()) return status;
  for (size_t i = 0; i < node.softs.size(); i++) {
    if (i > 0 && node.softs[i - 1].weight < node.softs[i].weight)
      return wrong(where, "softs are not ordered by weight");
    if (Status status = verify_requirements(where, node.softs[i].requirements); !status.ok()) return status;
  }
  for (const auto& [name, value] : node.secrets) {
    if (!is_secret(value)) return wrong(where, fmt::format("secret '{}' is in plain text", name));
  }
  return ok_status();
}

Status verify_training(const Step& step, const Names& nodes) {
  const Json& training = step.training;
  std::string where = "step '" + step.id + "'";
  for (const char* key : {"name", "job", "cluster", "result", "identity"}) {
    if (!training.contains(key)) return wrong(where, fmt::format("training.{} is missing", key));
  }
  const Json& cluster = training["cluster"];
  for (const char* role : {"chief", "ps", "worker"}) {
    if (!cluster.contains(role) || !cluster[role].is_array())
      return wrong(where, fmt::format("training.cluster.{} is missing", role));
    for (const Json& node : cluster[role]) {
      if (!node.is_string() || !nodes.contains(node.get<std::string>())) {
        return wrong(where, fmt::format("training.cluster.{}: no node {}", role, node.dump()));
      }
    }
  }
  if (cluster["chief"].size() != 1) return wrong(where, "training.cluster.chief must name one node");
  if (cluster["worker"].empty()) return wrong(where, "training.cluster.worker is empty");
  return ok_status();
}

Status verify_program(const Step& step, const Names& nodes) {
  const Json& program = step.program;
  const std::string where = "step '" + step.id + "'";
  for (const char* key : {"name", "main", "members", "results", "identity"}) {
    if (!program.contains(key)) return wrong(where, fmt::format("program.{} is missing", key));
  }
  if (!program["members"].is_array() || (program["members"].empty() && !has_elastic_farm(step)))
    return wrong(where, "program.members is empty");
  for (const Json& node : program["members"]) {
    if (!node.is_string() || !nodes.contains(node.get<std::string>()))
      return wrong(where, fmt::format("program.members: no node {}", node.dump()));
  }
  return ok_status();
}

Status verify_resource(const Step& step, const Resource& resource) {
  std::string where = fmt::format("step '{}', {} '{}'", step.id, resource.type, resource.name);
  const ResourceType* type = find_resource_type(resource.type);
  if (type == nullptr) return wrong(where, "is not a resource type");
  for (const auto& [name, value] : resource.properties->items()) {
    bool digest =
        name.ends_with("_sha256") && find_property(*type, name.substr(0, name.size() - 7)) != nullptr;
    if (!digest && name != kNameProperty && find_property(*type, name) == nullptr)
      return wrong(where, fmt::format("has no property '{}'", name));
  }
  return ok_status();
}

Status verify_step(const Step& step, const Names& nodes, const Names& earlier) {
  std::string where = "step '" + step.id + "'";
  for (const std::string& node : step.nodes) {
    if (!nodes.contains(node))
      return wrong(where, fmt::format("is for node '{}', which does not exist", node));
  }
  for (const Edge& edge : step.after) {
    if (!earlier.contains(edge.to))
      return wrong(where, fmt::format("is after '{}', which does not come before it", edge.to));
  }
  if (step.kind == StepKind::Barrier) {
    return step.nodes.empty() ? ok_status() : wrong(where, "a barrier has no node");
  }
  if (step.digest.empty()) return wrong(where, "has no digest");
  if (is_job(step.kind)) {
    if (step.nodes.empty() && !has_elastic_farm(step)) return wrong(where, "has no node");
    return step.kind == StepKind::Training ? verify_training(step, nodes) : verify_program(step, nodes);
  }
  if (step.nodes.size() != 1)
    return wrong(where, fmt::format("must be for one node, is for {}", step.nodes.size()));
  for (const Resource& resource : step.resources) {
    if (Status status = verify_resource(step, resource); !status.ok()) return status;
  }
  return ok_status();
}

}  // namespace

Status verify(const Program& program) {
  Names networks, nodes, step_ids, outputs, earlier;
  Status status = unique(
      program.networks, "network", [](const Network& n) -> const std::string& { return n.name; }, networks);
  if (status.ok())
    status = unique(
        program.nodes, "node", [](const Node& n) -> const std::string& { return n.address; }, nodes);
  if (status.ok())
    status = unique(
        program.steps, "step", [](const Step& s) -> const std::string& { return s.id; }, step_ids);
  if (status.ok())
    status = unique(
        program.outputs, "output", [](const Output& o) -> const std::string& { return o.name; }, outputs);
  if (!status.ok()) return status;
  if (!(program.max_time_seconds >= 0)) return wrong("max_time_seconds", "is negative");

  for (const Network& network : program.networks) {
    if (status = verify_network(network); !status.ok()) return status;
  }
  std::unordered_set<int> numbers;
  for (const Node& node : program.nodes) {
    if (!numbers.insert(node.number).second)
      return wrong("node '" + node.address + "'", "its number belongs to another node");
    if (status = verify_node(node, networks); !status.ok()) return status;
  }
  for (const Step& step : program.steps) {
    if (status = verify_step(step, nodes, earlier); !status.ok()) return status;
    earlier.insert(step.id);
  }
  return ok_status();
}

}  // namespace radl::ir
