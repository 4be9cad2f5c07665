#include "runtime/steps/training/starting.h"

#include <chrono>

#include "common/digest.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/network.h"

namespace radl::training {
namespace {

constexpr size_t kLargestJob = 1 << 20, kLargestKey = 1 << 12;  // bytes

}  // namespace

Starting::Starting(Parts parts, Tell tell, std::function<void(const std::string& line)> say)
    : parts_(std::move(parts)),
      tell_(std::move(tell)),
      data_(parts_.training, parts_.context, std::move(say)),
      engines_(parts_.nodes.size()) {}

// Local nodes share one network; a port that one has been given is not free for the next.
void Starting::choose_port(Task& task) {
  auto used = parts_.looks[task.node].ports;
  for (const auto& other : parts_.layout.tasks) used.push_back(other.port);
  task.port = jobs::choose_port(used);
}

void Starting::begin() {
  for (auto& task : parts_.layout.tasks) choose_port(task);
  key_ = to_hex(random_bytes(32)) + "\n";
  cluster_ = cluster_of(parts_.layout, parts_.nodes);
}

Status Starting::join(Member& chief, const std::set<size_t>& nodes) {
  const Task& lead = parts_.layout.tasks[parts_.layout.chief];
  auto job = chief.read("job-" + lead.file() + ".json", kLargestJob);
  auto key = chief.read("job.key", kLargestKey);
  if (!job || !key) return (job ? key : job).status();
  const Json known = Json::parse(*job, nullptr, false);
  const Json::json_pointer workers("/cluster/worker");
  const size_t first = known.is_object() && known.contains(workers) ? known[workers].size() : 0;
  // Workers that have joined since the chief began are found by way of it: any address of theirs will do.
  for (auto& task : parts_.layout.tasks) {
    const bool later = task.type == "worker" && static_cast<size_t>(task.index) >= first;
    if (nodes.contains(task.node) || later) choose_port(task);
  }
  auto cluster = cluster_of(*job, parts_.layout, parts_.nodes);
  if (!cluster) return std::move(cluster).status().at(chief.address());
  cluster_ = std::move(*cluster);
  key_ = std::move(*key);
  {
    std::lock_guard lock(mutex_);
    arriving_ = nodes;
  }
  return jobs::for_all(parts_.nodes.size(),
                       [&](size_t i) { return nodes.contains(i) ? parts_.members[i]->clear("") : Status(); });
}

Status Starting::prepare(size_t node, bool fresh) {
  Member& member = *parts_.members[node];
  if (Status s = member.clear(files_of_a_run(fresh)); !s.ok()) return s;
  auto engine = place_engine(parts_.nodes[node], parts_.context);
  if (!engine) return std::move(engine).status().at(parts_.nodes[node].address);
  engines_[node] = *engine;
  const std::string directory = parts_.training.at("job").at("dataset").value("directory", "");
  if (!parts_.layout.needs_data(node) || directory.empty()) return {};
  const auto begun = std::chrono::steady_clock::now();
  auto brought = data_.bring(parts_.nodes[node], member, directory);
  if (!brought) return std::move(brought).status();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  if (*brought) tell_(parts_.nodes[node].address, "dataset " + data_.name(), "ok", took.count());
  return {};
}

Status Starting::start(size_t node, bool resume) {
  Member& member = *parts_.members[node];
  const std::vector<Task> here = parts_.layout.on(node);
  const int threads = threads_of(parts_.training, parts_.layout, parts_.nodes);
  for (const auto& task : here) {
    const Json job = job_of(parts_.training, parts_.layout, task, cluster_, parts_.nodes,
                            parts_.looks[node].home, threads, resume);
    if (Status s = write_job(member, task, job, key_, parts_.context.stop); !s.ok())
      return std::move(s).at(parts_.nodes[node].address);
  }
  // Written before the start: a run that is killed here finds a training whose processes are gone, and
  // resumes.
  if (Status s = member.write_run(parts_.run); !s.ok()) return std::move(s).at(parts_.nodes[node].address);
  return here.empty() ? Status() : member.start(launches(engines_[node], here));
}

Status Starting::arrive(size_t node) {
  Status started = prepare(node, true);
  if (started.ok()) started = start(node, true);
  std::lock_guard lock(mutex_);
  arriving_.erase(node);
  return started;
}

bool Starting::arrives(size_t node) const {
  std::lock_guard lock(mutex_);
  return arriving_.contains(node);
}

bool Starting::any_arrives() const {
  std::lock_guard lock(mutex_);
  return !arriving_.empty();
}

// A lone worker 0 leads: it must not start over.
Status Starting::let_resume(Member& member, const Task& task) {
  const std::string file = "job-" + task.file() + ".json";
  auto text = member.read(file, kLargestJob);
  if (!text) return text.status();
  Json job = Json::parse(*text, nullptr, false);
  if (!job.is_object()) return {Code::Corrupt, file + " is not a job"};
  if (job.value("resume", "") == "auto") return {};
  job["resume"] = "auto";
  return member.put_bytes(job.dump(2), file, parts_.context.stop);
}

Status Starting::restart(size_t node, const std::vector<Task>& tasks) {
  for (const Task& task : tasks) {
    if (!parts_.layout.succession) continue;
    if (Status ready = let_resume(*parts_.members[node], task); !ready.ok()) return ready;
  }
  auto engine = place_engine(parts_.nodes[node], parts_.context);
  return engine ? parts_.members[node]->start(launches(*engine, tasks)) : engine.status();
}

}  // namespace radl::training
