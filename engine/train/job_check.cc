#include "engine/train/job_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace radl::engine {
namespace {

// "host:port" with an IPv6 host in brackets. Returns what is wrong, "" if nothing.
std::string address_problem(const std::string& address) {
  size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return "must be \"host:port\"";
  std::string host = address.substr(0, colon), port = address.substr(colon + 1);
  if (host.find(':') != std::string::npos && (host.front() != '[' || host.back() != ']')) {
    return "must have its IPv6 address in brackets: \"[::1]:port\"";
  }
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos ||
      std::stoi(port) < 1 || std::stoi(port) > 65535) {
    return fmt::format("has no port from 1 to 65535 after the colon");
  }
  return "";
}

void check_cluster(const Job& job, Problems& problems) {
  const ClusterSpec& c = job.cluster;
  std::set<std::string> seen;
  const std::array<std::pair<const char*, const std::vector<std::string>*>, 3> lists = {
      {{"chief", &c.chief}, {"ps", &c.ps}, {"worker", &c.worker}}};
  for (const auto& [name, list] : lists) {
    for (size_t i = 0; i < list->size(); ++i) {
      std::string path = fmt::format("cluster.{}[{}]", name, i);
      if (std::string wrong = address_problem((*list)[i]); !wrong.empty()) problems.add(path, wrong);
      if (!seen.insert((*list)[i]).second)
        problems.add(path, fmt::format("{} is given more than once", (*list)[i]));
    }
  }
  if (c.chief.size() > 1) problems.add("cluster.chief", "there is one chief at most");
  if (c.worker.empty()) problems.add("cluster.worker", "a cluster needs a worker");
  const bool reduce = without_servers(job.sync.mode);
  if (!reduce && c.ps.empty()) {
    problems.add("cluster.ps",
                 fmt::format("mode \"{}\" needs a parameter server", sync_mode_name(job.sync.mode)));
  }
  if (reduce && !c.ps.empty())
    problems.add("cluster.ps",
                 fmt::format("mode \"{}\" has no parameter server", sync_mode_name(job.sync.mode)));
  if (reduce && !c.chief.empty())
    problems.add("cluster.chief",
                 fmt::format("in mode \"{}\" worker 0 is the chief", sync_mode_name(job.sync.mode)));
  if (job.task.type.empty())
    return problems.add("task", "is missing: which member of the cluster this process is");
  size_t size = job.task.type == "chief" ? c.chief.size()
                : job.task.type == "ps"  ? c.ps.size()
                                         : c.worker.size();
  if (static_cast<size_t>(job.task.index) >= size) {
    problems.add("task.index", fmt::format("is {}, but the cluster has {} of type {}", job.task.index, size,
                                           job.task.type));
  }
  if (std::string wrong = job.task.listen.empty() ? "" : address_problem(job.task.listen); !wrong.empty())
    problems.add("task.listen", wrong);
  if (job.secrets.empty()) problems.add("secrets", "is missing: the members of a cluster need the job's key");
}

// Checks how servers treat slow workers and old gradients.
void check_delays(const Job& job, Problems& problems) {
  const SyncSpec& sync = job.sync;
  if (sync.backup_workers > 0 && sync.mode != SyncMode::Sync)
    problems.add("sync.backup_workers", "needs mode \"sync\"");
  else if (sync.backup_workers > 0 && job.cluster.ps.size() > 1)
    problems.add("sync.backup_workers",
                 "needs a single ps: several could leave different workers out of the same round");
  else if (sync.backup_workers > 0 && !job.cluster.empty() &&
           static_cast<size_t>(sync.backup_workers) >= job.cluster.worker.size())
    problems.add("sync.backup_workers",
                 fmt::format("must be below the number of workers, which is {}", job.cluster.worker.size()));
  if (sync.compensation > 0 && sync.mode != SyncMode::Async && sync.mode != SyncMode::Stale)
    problems.add("sync.compensation", "needs mode \"async\" or \"stale\", in which gradients are delayed");
}

// Checks the settings of compressed gradients.
void check_compression(const Job& job, Problems& problems) {
  const SyncSpec& sync = job.sync;
  const SyncSpec alike{};
  if (sync.density != alike.density && sync.gradients != Encoding::TopK)
    problems.add("sync.density", "needs sync.gradients \"top_k\"");
  if (sync.rank != alike.rank && sync.gradients != Encoding::PowerSgd)
    problems.add("sync.rank", "needs sync.gradients \"power_sgd\"");
  if (!compresses(sync.gradients)) return;
  const std::string name = fmt::format("\"{}\"", encoding_name(sync.gradients));
  if (sync.mode != SyncMode::AllReduce || sync.local_steps > 1)
    problems.add("sync.gradients",
                 name + " needs mode \"allreduce\" with local_steps 1, because " +
                     (sync.gradients == Encoding::TopK
                          ? "a server's optimizer would add its momentum to that of the workers"
                          : "its factors are sums over all workers, which no single push contains"));
  if (sync.gradients == Encoding::TopK && job.optimizer.name != "sgd" && job.optimizer.name != "auto")
    problems.add("sync.gradients", fmt::format("{} has the momentum of sgd in it and cannot train with {}",
                                               name, job.optimizer.name));
  if (sync.gradients == Encoding::TopK && job.optimizer.clip > 0)
    problems.add("optimizer.clip", "has no meaning with " + name + ": no member sees the whole gradient");
  const double decay = std::max(job.optimizer.weight_decay, job.optimizer.bias_decay);
  if (sync.gradients == Encoding::TopK && decay > (1 - job.optimizer.momentum) * (1 + 1e-9))
    problems.add("optimizer.weight_decay",
                 fmt::format("with {}, weight_decay and bias_decay can be at most 1 - momentum", name));
  if (sync.gradients == Encoding::PowerSgd && job.optimizer.name == "muon")
    problems.add("sync.gradients",
                 name +
                     " leaves out the small directions of a matrix, and muon makes all equally large; use "
                     "sgd, adamw or lars");
}

}  // namespace

void check_all(const Job& job, Problems& problems) {
  if (job.model.empty()) problems.add("model", "must not be empty");
  if (job.batch_size != kChosenSize && job.accumulate > job.batch_size)
    problems.add("accumulate",
                 fmt::format("is {}, more than the {} images of a batch", job.accumulate, job.batch_size));
  if (job.dataset.directory.empty()) problems.add("dataset.directory", "is missing");
  if (job.schedule.name == "step" && job.schedule.milestones.empty()) {
    problems.add("schedule.milestones", "is missing: schedule \"step\" needs them");
  }
  for (size_t i = 1; i < job.schedule.milestones.size(); ++i) {
    if (job.schedule.milestones[i] <= job.schedule.milestones[i - 1]) {
      problems.add("schedule.milestones", "must rise");
      break;
    }
  }
  if (job.sync.staleness > 0 && job.sync.mode != SyncMode::Stale) {
    problems.add("sync.staleness",
                 fmt::format("has no meaning in mode \"{}\"", sync_mode_name(job.sync.mode)));
  }
  check_delays(job, problems);
  if (job.sync.local_steps > 1 && job.sync.mode != SyncMode::AllReduce) {
    problems.add("sync.local_steps", "above 1 needs mode \"allreduce\"");
  }
  if (job.sync.delay > job.sync.local_steps)
    problems.add("sync.delay",
                 fmt::format("is {}, more than the {} local steps", job.sync.delay, job.sync.local_steps));
  const SyncSpec alike{};
  const bool outer = job.sync.delay > 0 || job.sync.outer_rate != alike.outer_rate ||
                     job.sync.outer_momentum != alike.outer_momentum;
  if (outer && job.sync.local_steps == 1)
    problems.add("sync.local_steps", "must be above 1 for delay, outer_rate and outer_momentum");
  if (job.sync.gradients == Encoding::Int8 && job.sync.local_steps > 1 && job.sync.delay == 0 &&
      job.optimizer.name == "adamw")
    problems.add(
        "sync.gradients",
        "\"int8\" is too coarse for the mean squares of \"adamw\", which travel with local_steps and no "
        "delay; set sync.delay, or gradients to \"bf16\"");
  check_compression(job, problems);
  if (job.sync.weights >= Encoding::Int8) problems.add("sync.weights", "must be fp32, bf16 or fp16");
  if (job.sync.weights != Encoding::Fp32 && without_servers(job.sync.mode)) {
    problems.add("sync.weights",
                 fmt::format("has no meaning in mode \"{}\", in which no weights travel; sync.gradients has",
                             sync_mode_name(job.sync.mode)));
  }
  if (job.pace.given() && !(job.directories.model.empty() && job.directories.checkpoint.empty()))
    problems.add("pace",
                 "learns nothing: there is no model or checkpoint to write, leave directories.model and "
                 "directories.checkpoint out");
  if (std::string wrong = job.metrics.empty() ? "" : address_problem(job.metrics); !wrong.empty())
    problems.add("metrics", wrong);
  if (!job.cluster.empty()) return check_cluster(job, problems);
  if (!job.task.type.empty()) problems.add("task", "has no meaning without a cluster");
}

Status check_job(const Job& job) {
  Problems problems;
  check_all(job, problems);
  return problems.status("job");
}

}  // namespace radl::engine
