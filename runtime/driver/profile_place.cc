#include "runtime/driver/profile_place.h"

#include <fmt/format.h>

#include <charconv>

#include "common/process/process.h"
#include "common/shell_quote.h"
#include "common/text.h"
#include "runtime/clouds/cloud.h"
#include "runtime/driver/foresight_facts.h"
#include "runtime/driver/nodes.h"
#include "runtime/steps/dataset.h"
#include "runtime/steps/training/engine_bundle.h"

namespace radl::driver {
namespace {

// Exit statuses of radl-train (docs/job.md).
constexpr int kTrainWorldError = 2, kTrainInterrupted = 130;

// A bench needs its own time, and some for building the network at each batch.
std::chrono::milliseconds deadline_for(double seconds) {
  return std::chrono::milliseconds(static_cast<long long>(1000 * (120 + 10 * seconds)));
}

Result<Json> answer_of(const std::string& command, int exit_status, const std::string& out, std::string err) {
  if (exit_status != 0) {
    std::string said = err.empty() ? out : std::move(err);
    while (said.ends_with('\n')) said.pop_back();
    if (exit_status == kTrainInterrupted)
      return Status(Code::Cancelled, "radl-train " + command + " was stopped");
    return Status(exit_status == kTrainWorldError ? Code::Quota : Code::Invalid,
                  fmt::format("radl-train {}: {}", command, said));
  }
  Json answer = Json::parse(out, nullptr, false);
  if (!answer.is_object()) return internal_error("radl-train " + command + " answered no JSON");
  return answer;
}

class LocalPlace : public ProfilePlace {
 public:
  LocalPlace(Environment environment, std::string engine, Stop stop)
      : environment_(std::move(environment)),
        engine_(std::move(engine)),
        machine_(this_computer()),
        stop_(std::move(stop)) {}
  const foresight::MachineFacts& machine() const override { return machine_; }
  std::string shown_name() const override { return "this computer"; }
  bool fetches() const override { return true; }
  Result<Json> ask(const std::vector<std::string>& arguments, double seconds) override {
    ProcessRequest request;
    request.argv = {engine_};
    request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
    request.inherited = kStoreVariables;
    request.deadline = deadline_for(seconds);
    request.stop = stop_;
    auto ran = run_process(environment_, request);
    if (!ran.ok()) return std::move(ran).status().at("radl-train " + arguments.front());
    return answer_of(arguments.front(), ran->exit_status, ran->out, ran->err);
  }

 private:
  Environment environment_;
  std::string engine_;
  foresight::MachineFacts machine_;
  Stop stop_;
};

class NodePlace : public ProfilePlace {
 public:
  NodePlace(std::string name, std::unique_ptr<Remote> remote, std::string engine,
            foresight::MachineFacts machine, Stop stop)
      : name_(std::move(name)),
        remote_(std::move(remote)),
        engine_(std::move(engine)),
        machine_(std::move(machine)),
        stop_(std::move(stop)) {}
  const foresight::MachineFacts& machine() const override { return machine_; }
  std::string shown_name() const override { return name_; }
  std::string data_directory() const override { return "."; }  // the login's home
  Result<Json> ask(const std::vector<std::string>& arguments, double seconds) override {
    // A bench ends when its reader has gone, so also after a kill of this process. The deadline ends other
    // commands, and a bench that hangs.
    const auto deadline = deadline_for(seconds);
    std::string line = fmt::format("timeout -k 2 {} {}", deadline.count() / 1000, engine_);
    for (const std::string& argument : arguments) line += " " + shell_quote(argument);
    ExecOptions how;
    how.deadline = deadline;
    how.stop = stop_;
    auto ran = exec_for_data(*remote_, line, how);
    if (!ran.ok()) return std::move(ran).status().at(name_ + ": radl-train " + arguments.front());
    return answer_of(arguments.front(), ran->exit_status, ran->out, ran->err);
  }

 private:
  std::string name_;
  std::unique_ptr<Remote> remote_;
  std::string engine_;
  foresight::MachineFacts machine_;
  Stop stop_;
};

// Of the plan's words for it: "ec2 m5.xlarge". Nodes of `local` are this computer.
foresight::MachineFacts kind_of(const ResourceRecord& node) {
  auto cloud = CloudId::parse(node.cloud);
  if (cloud.ok() && cloud->type == "local") return this_computer();
  foresight::MachineFacts machine;
  machine.kind = cloud.ok() ? cloud->type : node.cloud;
  if (auto type = node.spec.find("type"); type != node.spec.end() && type->is_string())
    machine.kind += " " + type->get<std::string>();
  return machine;
}

Status measure_machine(Remote& remote, foresight::MachineFacts& machine, const Stop& stop) {
  ExecOptions how;
  how.stop = stop;
  auto said =
      exec_for_data(remote, "getconf _NPROCESSORS_ONLN && getconf _PHYS_PAGES && getconf PAGE_SIZE", how);
  if (!said.ok()) return std::move(said).status();
  double figures[3] = {0, 0, 0};
  size_t count = 0;
  for (std::string_view line : split(said->out, '\n')) {
    const std::string_view figure = trim(line);
    if (figure.empty() || count == 3) continue;
    std::from_chars(figure.data(), figure.data() + figure.size(), figures[count++]);
  }
  if (said->exit_status != 0 || figures[0] < 1)
    return Status(Code::Unsupported, "the node does not say how many processors it has");
  machine.cores = figures[0];
  machine.memory_bytes = figures[1] * figures[2];
  return {};
}

}  // namespace

Result<foresight::MachineFacts> machine_of_node(const ResourceRecord& node, Remote& remote,
                                                const Stop& stop) {
  foresight::MachineFacts machine = kind_of(node);
  if (machine.shared) return machine;
  if (Status measured = measure_machine(remote, machine, stop); !measured.ok()) return measured;
  return machine;
}

Result<std::unique_ptr<ProfilePlace>> local_place(const Host& host, const Stop& stop) {
  auto engine = find_engine(host.environment());
  if (!engine.ok()) return std::move(engine).status();
  return std::unique_ptr<ProfilePlace>(
      std::make_unique<LocalPlace>(host.environment(), std::move(*engine), stop));
}

Result<std::unique_ptr<ProfilePlace>> node_place(const Host& host, const ProjectOptions& project,
                                                 const std::string& name, const Stop& stop) {
  auto nodes = load_nodes(host, project, stop);
  if (!nodes.ok()) return std::move(nodes).status();
  auto node = node_called(nodes->state, name);
  if (!node.ok()) return std::move(node).status();
  const std::string address = (*node)->address;
  auto remote = connect_to(*nodes, **node);
  if (!remote.ok()) return std::move(remote).status().at(address);
  auto machine = machine_of_node(**node, **remote, stop);
  if (!machine.ok()) return std::move(machine).status().at(address);
  NodeHandle handle;
  handle.address = address;
  handle.attributes = (*node)->attributes;
  handle.connect = [&]() -> Result<Remote*> { return remote->get(); };
  Context context;
  context.infrastructure = nodes->state.name;
  context.work_directory = nodes->work_directory;
  context.stop = stop;
  context.environment = host.environment();
  auto engine = training::place_engine(handle, context);
  if (!engine.ok()) return std::move(engine).status().at(address);
  return std::unique_ptr<ProfilePlace>(
      std::make_unique<NodePlace>(address, std::move(*remote), engine->command, std::move(*machine), stop));
}

}  // namespace radl::driver
