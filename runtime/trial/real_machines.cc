#include "runtime/trial/real_machines.h"

#include "runtime/clouds/cloud.h"

namespace radl {
namespace {

constexpr std::chrono::minutes kOneStep{30};  // of real time

// What a step finds on the node, in addition to the simulated cloud's data of the machine.
Json laid_over_machine(Json machine, const Json& node) {
  for (const auto& [name, value] : node.items()) {
    if (name != "vm_id" && name != "private_ip" && name != "public_ip") machine[name] = value;
  }
  return machine;
}

}  // namespace

RealMachines::RealMachines(const RealParts& parts, std::string folder) : parts_(parts) {
  context_.environment = parts.environment;
  context_.infrastructure = "trial-" + folder.substr(folder.rfind('/') + 1);
  context_.work_directory = folder + "/real";
}

Result<Json> RealMachines::node_of(const NodeHandle& handle) {
  const std::string machine = handle.attributes.value("vm_id", "");
  std::lock_guard lock(mutex_);
  if (auto known = attributes_.find(machine); known != attributes_.end()) return known->second;
  Order order;
  order.type = "node";
  order.address = handle.address;
  order.token = machine;
  order.spec = {
      {"hostname", handle.node->system + "-" + std::to_string(handle.node->ordinal) + ".localdomain"},
      {"number", handle.node->number}};
  Asked asked = parts_.cloud->ask_create(context_, order);
  if (asked.answer != Asked::Answer::Accepted) return std::move(asked.status).at(handle.address);
  Query query;
  query.tokens = {machine};
  Result<std::vector<Seen>> seen = parts_.cloud->look(context_, query);
  if (!seen.ok()) return std::move(seen).status().at(handle.address);
  if (seen->empty()) return Status(Code::Internal, handle.address + ": its node does not exist");
  return attributes_[machine] = seen->front().attributes;
}

Result<Remote*> RealMachines::connection_to(const std::string& machine, const Json& attributes) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Remote>& remote = connected_[machine];
  if (!remote) {
    Result<std::unique_ptr<Remote>> made = parts_.connect(attributes, context_);
    if (!made.ok()) return std::move(made).status();
    remote = std::move(*made);
  }
  return remote.get();
}

Status RealMachines::make_real(const StepContext& context, const std::vector<NodeHandle>& nodes, Real& real) {
  real.context = context_;
  real.context.log = context.context->log;
  real.context.secrets = context.context->secrets;
  real.context.run = context.context->run;
  // The run's own deadline is in virtual time.
  real.context.stop = Stop::when([stop = context.context->stop] { return stop.asked(); }).within(kOneStep);
  for (const NodeHandle& node : nodes) {
    Result<Json> attributes = node_of(node);
    if (!attributes.ok()) return std::move(attributes).status();
    NodeHandle handle = node;
    handle.attributes = laid_over_machine(node.attributes, *attributes);
    handle.connect = [this, machine = node.attributes.value("vm_id", ""), reached = *attributes] {
      return connection_to(machine, reached);
    };
    real.nodes.push_back(std::move(handle));
  }
  real.steps = context;
  real.steps.context = &real.context;
  real.steps.all_nodes = [all = real.nodes] { return all; };
  return {};
}

std::optional<Result<StepOutcome>> RealMachines::run(const StepContext& context, const ir::Step& step,
                                                     const std::vector<NodeHandle>& nodes) {
  auto runner = parts_.runners.find(step.kind);
  if (runner == parts_.runners.end()) return std::nullopt;
  Real real;
  if (Status made = make_real(context, nodes, real); !made.ok()) return Result<StepOutcome>(std::move(made));
  return runner->second->run(real.steps, step, real.nodes);
}

std::optional<Result<std::vector<Change>>> RealMachines::observe(const StepContext& context,
                                                                 const ir::Step& step,
                                                                 const std::vector<NodeHandle>& nodes) {
  auto runner = parts_.runners.find(step.kind);
  if (runner == parts_.runners.end()) return std::nullopt;
  Real real;
  if (Status made = make_real(context, nodes, real); !made.ok())
    return Result<std::vector<Change>>(std::move(made));
  return runner->second->observe(real.steps, step, real.nodes);
}

Result<std::vector<Seen>> RealMachines::all() {
  Query query;
  query.everything = true;
  return parts_.cloud->look(context_, query);
}

Status RealMachines::remove(const Seen& seen) {
  Order order;
  order.type = seen.type;
  order.id = seen.id;
  order.address = seen.address;
  return parts_.cloud->ask_destroy(context_, order).status;
}

Status RealMachines::keep_only(const std::set<std::string>& machines) {
  Result<std::vector<Seen>> seen = all();
  if (!seen.ok()) return std::move(seen).status();
  for (const char* type : {"node", "network", "key"}) {
    for (const Seen& one : *seen) {
      const bool stays = one.type == "node" ? machines.count(one.token) != 0 : !machines.empty();
      if (one.type != type || stays) continue;
      {
        std::lock_guard lock(mutex_);
        connected_.erase(one.token);
        attributes_.erase(one.token);
      }
      if (Status gone = remove(one); !gone.ok()) return gone;
    }
  }
  return {};
}

}  // namespace radl
