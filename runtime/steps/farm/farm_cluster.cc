// What is different for a farm whose tasks a cluster's scheduler runs.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "runtime/net/node_path.h"
#include "runtime/steps/farm/farm_run_state.h"
#include "runtime/steps/jobs/notices.h"

namespace radl::farm {
namespace {

Resources machine_of(std::istream& text, char between) {
  Resources has;
  char blank = 0;
  text >> has.cpu;
  if (between != ' ') text >> blank;
  text >> has.memory;
  if (between != ' ') text >> blank;
  text >> has.gpu;
  has.cpu *= 1000;
  has.disk = kUnknownAmount;
  return has;
}

struct Disappearance {
  End how = End::Lost;
  std::string reason;
};

// `text`: Slurm's state of the job and the machine, or why it was never a job.
Disappearance disappearance_of(const std::string& text) {
  std::istringstream words(text);
  std::string state, machine;
  words >> state >> machine;
  const std::string at = machine.empty() || machine == "-" ? "" : " on " + machine;
  const auto is_one_of = [&](std::initializer_list<std::string_view> states) {
    return std::find(states.begin(), states.end(), state) != states.end();
  };
  if (is_one_of({"PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "REVOKED"}))
    return {End::Preempted, fmt::format("Slurm: {}{}", state, at)};
  if (is_one_of({"TIMEOUT", "OUT_OF_MEMORY", "DEADLINE"}))
    return {End::Failed, fmt::format("Slurm ended it{}: {}", at, state)};
  if (state == "NOT_BEGUN")
    return {
        End::Failed,
        fmt::format("Slurm started it{}, and it found no folder of the farm: the login node and the machines "
                    "must share the home folder",
                    at)};
  if (state == "NOT_SUBMITTED") return {End::Lost, "it was not handed to Slurm"};
  if (state == "MISSING") return {End::Lost, "Slurm does not know its job any more"};
  return {End::Lost,
          state.empty() ? "its process is gone" : fmt::format("Slurm: {}{}, without an end", state, at)};
}

}  // namespace

std::string FarmRun::agent_of(size_t node) const {
  return scheduler_->agent(shell_path(pool_.member(node).folder()), settings_.metrics,
                           jobs::notice_script(notices_of(nodes_[node])));
}

void FarmRun::disappeared(size_t node, const AgentLine& line) {
  const std::string id = id_of(line.task, line.attempt);
  if (!current(node, line) || ending_.contains(id)) return;
  const Disappearance why = disappearance_of(line.text);
  if (why.how == End::Failed) {
    AgentLine end = line;
    end.status = -1;
    ending_.insert(id);
    failed(end, why.reason);
  } else {
    record(end_event(line.task, line.attempt, why.how, -1, why.reason, now()));
    if (!line.text.empty())
      tell(nodes_[node].address, fmt::format("task {}: {}; it runs again", line.task, why.reason), "failed");
  }
  channels_->send(node, stop_command(id, "KILL"));  // it may only have started late
}

void FarmRun::offers(size_t node, const std::string& text) {
  std::istringstream words(text);
  const Resources all = machine_of(words, ' ');
  if (!words) return;
  std::vector<Resources> machines;
  for (std::string word; words >> word;) {
    std::istringstream parts(word);
    machines.push_back(machine_of(parts, ':'));
  }
  if (machines.empty()) machines.push_back(Resources());  // nothing fits there
  const std::string& address = nodes_[node].address;
  auto known = farm_.table().nodes().find(address);
  if (known == farm_.table().nodes().end() || known->second.gone || known->second.registered != all ||
      known->second.machines != machines)
    record(cluster_event(address, all, machines, now()));
}

bool FarmRun::take_cluster_line(size_t node, const AgentLine& line) {
  switch (line.kind) {
    case AgentLine::Kind::Capacity:
      offers(node, line.text);
      return true;
    case AgentLine::Kind::Trouble:
      tell(nodes_[node].address, line.text.empty() ? "Slurm answers again" : log_.mask(line.text),
           line.text.empty() ? "ok" : "failed");
      return true;
    case AgentLine::Kind::Queued:
      if (const TaskRecord* task = current(node, line); task && !task->uncommitted && task->machine.empty())
        record(queued_event(line.task, line.attempt, "in the queue of Slurm: " + line.text, now()));
      return true;
    case AgentLine::Kind::Runs: {
      const TaskRecord* task = current(node, line);
      const size_t blank = line.text.find(' ');
      if (task == nullptr || !task->machine.empty() || blank == line.text.npos) return true;
      const double at = std::strtod(line.text.c_str() + blank, nullptr);  // by the machine's clock
      sent_.erase(id_of(line.task, line.attempt));                        // it has waited in the queue since
      record(runs_event(line.task, line.attempt, line.text.substr(0, blank), std::min(at, now())));
      return true;
    }
    default:
      return false;
  }
}

Status check_cluster(const FarmSettings& settings, const Json& program,
                     const std::vector<NodeHandle>& nodes) {
  if (settings.scheduler != SchedulerKind::Slurm) return {};
  if (program.value("elastic", false))
    return invalid("a farm with scheduler = 'slurm' cannot be elastic: Slurm's cluster has the nodes");
  if (nodes.size() > 1)
    return invalid(fmt::format("a farm with scheduler = 'slurm' takes one node, Slurm's login node, not {}",
                               nodes.size()));
  return {};
}

}  // namespace radl::farm
