#include "runtime/steps/training/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "common/processors.h"
#include "compiler/resources/resource_schema.h"
#include "runtime/base/job_members.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/jobs/network.h"

namespace radl::training {

using jobs::address_of;
using jobs::is_local;

bool Layout::has_servers() const {
  return std::ranges::any_of(tasks, [](const Task& task) { return task.type == "ps"; });
}

bool Layout::may_lead(const Task& task) const {
  if (task.name() == tasks[chief].name()) return true;
  return succession && task.type == (has_servers() ? "ps" : "worker");
}

bool Layout::needs_data(size_t node) const {
  return std::ranges::any_of(tasks, [&](const Task& task) {
    return task.node == node && (task.type == "worker" || may_lead(task));
  });
}

std::vector<Task> Layout::on(size_t node) const {
  std::vector<Task> here;
  for (const auto& task : tasks) {
    if (task.node == node) here.push_back(task);
  }
  return here;
}

bool Layout::may_lose(const Task& task) const {
  return succession || (task.type == "worker" && task.name() != tasks[chief].name());
}

void number_workers(Layout& layout, const std::map<size_t, int>& numbers) {
  std::set<int> taken;
  for (const auto& [node, number] : numbers) taken.insert(number);
  for (auto& task : layout.tasks) {
    if (task.type != "worker") continue;
    if (auto known = numbers.find(task.node); known != numbers.end()) {
      task.index = known->second;
      continue;
    }
    task.index = 0;
    while (!taken.insert(task.index).second) ++task.index;
  }
  for (size_t i = 0; layout.succession && !layout.has_servers() && i < layout.tasks.size(); ++i)
    if (layout.tasks[i].index == 0) layout.chief = i;
}

void lead_from(Layout& layout, size_t node) {
  if (!layout.has_servers()) return number_workers(layout, {{node, 0}});
  Task& chief = layout.tasks[layout.chief];
  for (Task& task : layout.tasks) {
    if (task.node != node || task.type != "ps" || chief.type != "ps") continue;
    std::swap(task.index, chief.index);
    layout.chief = static_cast<size_t>(&task - layout.tasks.data());
    return;
  }
}

namespace {

std::string task_address(const Task& task, const std::vector<NodeHandle>& nodes) {
  return fmt::format("{}:{}", address_of(nodes[task.node]), task.port);
}

}  // namespace

Json cluster_of(const Layout& layout, const std::vector<NodeHandle>& nodes) {
  Json cluster = Json::object();
  for (const auto& task : layout.tasks) cluster[task.type][task.index] = task_address(task, nodes);
  return cluster;
}

Result<Json> cluster_of(const std::string& job, const Layout& layout, const std::vector<NodeHandle>& nodes) {
  const Json whole = Json::parse(job, nullptr, false);
  Json cluster = whole.is_object() ? whole.value("cluster", Json()) : Json();
  if (!cluster.is_object()) cluster = Json::object();
  for (const Task& task : layout.tasks) {
    Json& members = cluster[task.type];
    if (!members.is_array()) members = Json::array();
    if (task.port != 0) members[task.index] = task_address(task, nodes);
    const size_t at = static_cast<size_t>(task.index);
    if (at >= members.size() || !members[at].is_string())
      return Status(Code::Corrupt, fmt::format("the running training has no address of {}", task.name()));
  }
  // Numbers of workers that have left; those above them are not needed.
  Json& workers = cluster["worker"];
  const auto gap = std::find(workers.begin(), workers.end(), Json());
  workers.erase(gap, workers.end());
  return cluster;
}

Result<Layout> make_layout(const Json& training, const std::vector<NodeHandle>& nodes) {
  Layout layout;
  layout.succession = has_succession(training);
  auto node_of = [&](const std::string& address) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].address == address) return i;
    }
    return nodes.size();
  };
  const Json& cluster = training.at("cluster");
  auto list = [&](const char* type) { return cluster.value(type, Json::array()); };
  Json chief = list("chief"), servers = list("ps"), workers = list("worker");
  if (workers.empty()) return invalid("a training needs at least one worker");
  const std::string mode = training.at("job").value("sync", Json::object()).value("mode", "async");
  const bool reduce = mode == "allreduce" || mode == "auto";
  std::string chief_node = chief.empty() ? (servers.empty() ? workers[0] : servers[0]).get<std::string>()
                                         : chief[0].get<std::string>();
  bool in_server = !servers.empty() && servers[0] == chief_node;
  // Without servers the chief holds the parameters: it is the one server.
  if (servers.empty() && !reduce) servers = Json::array({chief_node}), in_server = true;
  if (!in_server && !reduce) layout.tasks.push_back({"chief", 0, node_of(chief_node), 0});
  for (const auto& [type, members] :
       {std::pair<const char*, const Json&>{"ps", servers}, {"worker", workers}}) {
    int index = 0;
    for (const auto& member : members)
      layout.tasks.push_back({type, index++, node_of(member.get<std::string>()), 0});
  }
  for (const auto& task : layout.tasks) {
    if (task.node == nodes.size())
      return invalid(fmt::format("task {} is for a node that this step does not have", task.name()));
  }
  return layout;
}

Standing standing(const Layout& layout, size_t lead, bool finished, const std::map<std::string, int>& ends) {
  const Task& chief = layout.tasks[lead];
  const auto end = ends.find(chief.file());
  if (end != ends.end() && !layout.succession)
    return end->second == 0 ? Standing{true, nullptr} : Standing{false, &chief};
  // Any worker ends well when the run is finished, and the chief last.
  const bool all = ends.size() == layout.tasks.size();
  if (end != ends.end() && end->second == 0 && (finished || all)) return {true, nullptr};
  if (all) return {false, &chief};
  size_t working = 0;
  const Task* gone = nullptr;
  for (const auto& task : layout.tasks) {
    auto end = ends.find(task.file());
    const bool bad = end != ends.end() && end->second != 0;
    // What is wrong with the job or its data is wrong for all.
    if (bad && (!(layout.may_lose(task) || task.type == "worker") || end->second == 1)) return {false, &task};
    if (task.type != "worker") continue;
    working += !bad;
    if (bad) gone = &task;
  }
  return {false, working == 0 ? gone : nullptr};
}

namespace {

bool of_a_key(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

// Every place where `key` is a word of its own; a full stop may follow.
void replace_key(std::string& text, std::string_view key, std::string_view name) {
  for (size_t at = 0; (at = text.find(key, at)) != std::string::npos;) {
    const size_t end = at + key.size();
    const bool begins = at == 0 || !of_a_key(text[at - 1]);
    const bool dot = end < text.size() && text[end] == '.';
    const size_t next = dot ? end + 1 : end;
    const bool ends = next >= text.size() || !of_a_key(text[next]);
    if (!begins || !ends) {
      at = end;
      continue;
    }
    text.replace(at, key.size(), name);
    at += name.size();
  }
}

}  // namespace

std::string in_properties(std::string text) {
  for (const ir::Property& property : ir::find_resource_type("training")->properties) {
    if (property.job_key.find('.') != std::string_view::npos)
      replace_key(text, property.job_key, property.name);
  }
  return text;
}

int threads_of(const Json& training, const Layout& layout, const std::vector<NodeHandle>& nodes) {
  int wanted = training.at("job").value("threads", 0);
  if (wanted > 0) return wanted;
  int workers_here = 0;
  for (const auto& task : layout.tasks) workers_here += task.type == "worker" && is_local(nodes[task.node]);
  if (workers_here == 0) return 0;
  return std::max(1, usable_cores() / workers_here);
}

// `address`: of the first member of a machine. The others take the next ports. Local nodes are one machine.
static std::string metrics_of(const std::string& address, const Layout& layout, const Task& task,
                              const std::vector<NodeHandle>& nodes) {
  const auto machine = [&nodes](const Task& one) {
    return is_local(nodes[one.node]) ? std::string() : address_of(nodes[one.node]);
  };
  const auto self = std::ranges::find(layout.tasks, task.name(), &Task::name);
  const auto before = std::count_if(layout.tasks.begin(), self,
                                    [&](const Task& other) { return machine(other) == machine(task); });
  const size_t colon = address.rfind(':');
  return fmt::format("{}:{}", address.substr(0, colon), std::stoi(address.substr(colon + 1)) + before);
}

Json job_of(const Json& training, const Layout& layout, const Task& task, const Json& cluster,
            const std::vector<NodeHandle>& nodes, const std::string& home, int threads, bool resume) {
  Json job = training.at("job");
  std::string directory = job["dataset"].value("directory", "");
  if (!directory.empty() && !directory.starts_with('/'))
    job["dataset"]["directory"] = home + "/" + sftp_path(directory);
  job["threads"] = threads;
  job["cluster"] = cluster;
  job["task"] = {{"type", task.type}, {"index", task.index}};
  // A task that has directories takes over from a lost chief, and the runner follows it (leader.h).
  if (layout.may_lead(task))
    job["directories"] = {{"checkpoint", "checkpoint"}, {"events", "events"}, {"model", "model"}};
  if (job.contains("metrics")) job["metrics"] = metrics_of(job["metrics"], layout, task, nodes);
  job["secrets"] = "job.key";
  job["progress"] = "progress-" + task.file() + ".jsonl";
  job["resume"] = resume ? "auto" : "never";
  const Json& attributes = nodes[task.node].attributes;
  if (auto notice = attributes.find("eviction_notice"); notice != attributes.end() && notice->is_object())
    job["interruption"] = *notice;
  return job;
}

}  // namespace radl::training
