#include "runtime/driver/nodes.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "common/files.h"
#include "runtime/driver/project_state.h"
#include "runtime/exec/jump.h"
#include "runtime/net/ssh/target.h"

namespace radl::driver {

Result<Nodes> load_nodes(const Host& host, const ProjectOptions& options, const Stop& stop) {
  auto place = find_state(host, options, stop);
  if (!place.ok()) return std::move(place).status();
  auto store = Store::open(place->directory, place->name, OpenMode::Read, *host.world, stop);
  if (!store.ok()) return std::move(store).status();
  auto state = (*store)->snapshot();
  if (!state.ok()) return std::move(state).status();
  return Nodes{std::move(*state), (*store)->work_directory(), host.environment()};
}

Result<std::vector<const ResourceRecord*>> nodes_called(const Snapshot& state, const std::string& name) {
  std::vector<const ResourceRecord*> of_system;
  std::string list;
  for (const auto& [address, resource] : state.resources) {
    if (!resource.is_node()) continue;
    if (address == name) return std::vector<const ResourceRecord*>{&resource};
    list += (list.empty() ? "" : ", ") + address;
    if (resource.system == name) of_system.push_back(&resource);
  }
  std::sort(of_system.begin(), of_system.end(),
            [](const ResourceRecord* a, const ResourceRecord* b) { return a->ordinal < b->ordinal; });
  if (!of_system.empty()) return of_system;
  return not_found("no node " + name + " in " + state.name + (list.empty() ? "" : "; existing: " + list));
}

Result<const ResourceRecord*> node_called(const Snapshot& state, const std::string& name) {
  auto found = nodes_called(state, name);
  if (!found.ok()) return std::move(found).status();
  if (found->size() == 1) return found->front();
  std::string list;
  for (const ResourceRecord* node : *found) list += (list.empty() ? "" : ", ") + node->address;
  return not_found("no node " + name + " in " + state.name + "; existing: " + list);
}

std::string login_key_of(const Nodes& nodes, const std::string& address) {
  const auto node = nodes.state.resources.find(address);
  if (node == nodes.state.resources.end()) return {};
  auto target =
      ssh::target_of(node->second.attributes, ssh::key_places(nodes.environment, nodes.work_directory));
  if (!target.ok() || !target->key_file.starts_with(nodes.work_directory + "/")) return {};
  auto key = read_file(target->key_file, size_t{1} << 16);
  return key.ok() ? *key : std::string();
}

Result<std::unique_ptr<Remote>> connect_to(const Nodes& nodes, const ResourceRecord& node) {
  auto attributes = attributes_to_reach(nodes.state, node, nodes.work_directory, nodes.environment);
  if (!attributes.ok()) return std::move(attributes).status().at(node.address);
  auto target = ssh::target_of(*attributes, ssh::key_places(nodes.environment, nodes.work_directory));
  if (!target.ok()) return std::move(target).status().at(node.address);
  return ssh::make_remote(*target);
}

std::vector<int> on_each(const std::vector<const ResourceRecord*>& nodes, int parallelism,
                         const std::function<int(const ResourceRecord& node)>& work) {
  std::vector<int> results(nodes.size());
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < std::min(nodes.size(), static_cast<size_t>(parallelism)); ++t) {
    threads.emplace_back([&] {
      for (size_t i; (i = next++) < nodes.size();) results[i] = work(*nodes[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace radl::driver
