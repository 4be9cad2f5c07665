#include "runtime/driver/slurm_head.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/plan/scaling.h"

namespace radl::driver {
namespace {

const StepRecord* controller_step(const Snapshot& state) {
  for (const auto& [id, record] : state.steps) {
    if (record.nodes.size() != 1 || !record.definition) continue;
    for (const Json& resource : record.definition->value("resources", Json::array())) {
      if (resource.value("name", "") == "slurmctld") return &record;
    }
  }
  return nullptr;
}

// The resource `elastic` through which Slurm asks for nodes.
struct Elastic {
  std::string folder;  // of its wishes, as the head's shell reads it; empty: there is no such resource
  std::string system;
};

Elastic elastic_of(const StepRecord& step) {
  for (const Json& resource : step.definition->value("resources", Json::array())) {
    if (resource.value("type", "") != "elastic") continue;
    const Json properties = resource.value("properties", Json::object());
    return {shell_path(properties.value("directory", std::string(kElasticFolder)) + "/" +
                       resource.value("name", "")),
            properties.value("system", "")};
  }
  return {};
}

std::string host_prefix(std::string system) {
  std::replace(system.begin(), system.end(), '.', '-');
  return system + "-";
}

}  // namespace

const ResourceRecord* slurm_head(const Snapshot& state) {
  const StepRecord* step = controller_step(state);
  auto node = step ? state.resources.find(step->nodes.front()) : state.resources.end();
  return node == state.resources.end() ? nullptr : &node->second;
}

const ResourceRecord* node_of_slurm_host(const Snapshot& state, const std::string& host) {
  for (const auto& [address, record] : state.resources) {
    if (record.is_node() && (host_prefix(record.system) + std::to_string(record.ordinal) == host ||
                             record.spec.value("hostname", "") == host))
      return &record;
  }
  return nullptr;
}

Result<std::string> output_of(Remote& remote, const std::string& command, std::string input,
                              const Stop& stop) {
  ExecOptions options;
  options.stdin_bytes = std::move(input);
  options.stop = stop;
  auto ran = exec_for_data(remote, command, options);
  if (!ran.ok()) return std::move(ran).status();
  if (ran->exit_status != 0)
    return Status(Code::Invalid, fmt::format("exit status {}: {}", ran->exit_status, ran->err + ran->out));
  return ran->out;
}

Result<std::vector<QueuedTask>> slurm_queue(Remote& head, const std::string& job, const Stop& stop) {
  // With --array a line a task: one of a range can be named. squeue itself fails for an unknown job.
  auto text = output_of(
      head, fmt::format("squeue -h -a -t all -o '{}'{}", kQueueFormat, job.empty() ? "" : " --array"), "",
      stop);
  if (!text.ok()) return std::move(text).status();
  std::vector<QueuedTask> tasks = read_slurm_queue(*text);
  if (!job.empty()) std::erase_if(tasks, [&](const QueuedTask& task) { return !task.is_of(job); });
  return tasks;
}

Result<std::string> why_unserved(const Snapshot& state, Remote& head, const std::string& files,
                                 const Stop& stop) {
  const StepRecord* step = controller_step(state);
  const Elastic elastic = step ? elastic_of(*step) : Elastic();
  std::string script = "sinfo -h -N -o 'node %t' || exit\n";
  if (!elastic.folder.empty()) {
    // It may belong to the scheduler.
    const std::string look = shell_quote(
        fmt::format("set -e\ncd {}\n[ ! -e served ] || echo served $(($(date +%s) - $(stat -c %Y served)))\n"
                    "[ ! -e wishes ] || sed 's/^/wish /' wishes\necho seen\n",
                    elastic.folder));
    script += fmt::format(
        "sh -c {0} 2>/dev/null || sudo -n env HOME=\"$HOME\" sh -c {0} 2>/dev/null || :\n"
        "scontrol show config | sed -n 's/^SuspendTime  *= /idle /p'\n",
        look);
  }
  auto text = output_of(head, script, "", stop);
  if (!text.ok()) return std::move(text).status();
  const SlurmService service = read_slurm_service(*text);
  // An apply that `radlc autoscale` runs holds the state.
  if (service.elastic && (service.is_watched() || !state.at_work.empty())) return std::string();
  std::string hosts;
  for (int ordinal : service.wished)
    hosts += (hosts.empty() ? "" : ", ") + host_prefix(elastic.system) + std::to_string(ordinal);
  if (!hosts.empty())
    return fmt::format(
        "Slurm waits for {}, but `radlc autoscale` is not running to create them; start `radlc "
        "autoscale{}`",
        hosts, files);
  if (service.usable) return std::string();
  if (service.elastic && !service.seen)
    return fmt::format(
        "no node takes jobs, and the login of the controller's node cannot read {}: whether "
        "`radlc autoscale` runs is unknown",
        elastic.folder);
  if (!step) return std::string("no node takes jobs; run `sinfo -N -l` on the controller's node to see why");
  return service.elastic ? fmt::format(
                               "no node takes jobs, and `radlc autoscale` is not running to create one; "
                               "start `radlc autoscale{}`",
                               files)
                         : fmt::format("no node takes jobs: `radlc scale{} {} +1` adds one", files,
                                       elastic.system.empty() ? "SYSTEM" : elastic.system);
}

}  // namespace radl::driver
