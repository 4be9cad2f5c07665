#include "runtime/steps/training/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "common/digest.h"
#include "common/processors.h"
#include "runtime/net/node_path.h"

namespace radl::training {
namespace {

std::string address_of(const NodeHandle& node) {
  auto text = [&](const char* name) {
    auto found = node.attributes.find(name);
    return found != node.attributes.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  std::string address = text("private_ip").empty() ? text("host") : text("private_ip");
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

bool is_local(const NodeHandle& node) { return !node.attributes.value("local_directory", "").empty(); }

}  // namespace

bool Layout::needs_data(size_t node) const {
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].node == node && (i == chief || tasks[i].type == "worker")) return true;
  }
  return false;
}

Result<Layout> make_layout(const Json& training, const std::vector<NodeHandle>& nodes) {
  Layout layout;
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
  const bool reduce = training.at("job").value("sync", Json::object()).value("mode", "async") == "allreduce";
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

int threads_of(const Json& training, const Layout& layout, const std::vector<NodeHandle>& nodes) {
  int wanted = training.at("job").value("threads", 0);
  if (wanted > 0) return wanted;
  int workers_here = 0;
  for (const auto& task : layout.tasks) workers_here += task.type == "worker" && is_local(nodes[task.node]);
  if (workers_here == 0) return 0;
  return std::max(1, usable_cores() / workers_here);
}

Json job_of(const Json& training, const Layout& layout, const Task& task,
            const std::vector<NodeHandle>& nodes, const std::string& home, int threads, bool resume) {
  Json job = training.at("job");
  std::string directory = job["dataset"].value("directory", "");
  if (!directory.empty() && !directory.starts_with('/'))
    job["dataset"]["directory"] = home + "/" + sftp_path(directory);
  job["threads"] = threads;
  job["cluster"] = Json::object();
  for (const auto& member : layout.tasks) {
    job["cluster"][member.type].push_back(fmt::format("{}:{}", address_of(nodes[member.node]), member.port));
  }
  job["task"] = {{"type", task.type}, {"index", task.index}};
  job["directories"] = {{"checkpoint", "checkpoint"}, {"events", "events"}, {"model", "model"}};
  job["secrets"] = "job.key";
  job["progress"] = "progress-" + task.file() + ".jsonl";
  job["resume"] = resume ? "auto" : "never";
  const std::string cloud = nodes[task.node].attributes.value("taken_back_by", "");
  if (!cloud.empty()) job["interruption"] = cloud;
  return job;
}

std::vector<int> used_ports(const std::string& text) {
  std::vector<int> ports;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    size_t colon = line.rfind(':');
    if (colon != std::string::npos)
      ports.push_back(static_cast<int>(std::strtol(line.c_str() + colon + 1, nullptr, 16)));
  }
  return ports;
}

int choose_port(const std::vector<int>& used) {
  for (;;) {
    std::string raw = random_bytes(2);
    int port =
        20000 + (static_cast<unsigned char>(raw[0]) * 256 + static_cast<unsigned char>(raw[1])) % 12000;
    if (std::find(used.begin(), used.end(), port) == used.end()) return port;
  }
}

}  // namespace radl::training
