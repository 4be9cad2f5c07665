#include "runtime/plan/numbers.h"

namespace radl {

std::map<std::string, int> node_numbers(const Snapshot& snapshot) {
  std::map<std::string, int> numbers;
  for (const auto& [address, record] : snapshot.resources) {
    if (record.is_node() && record.number >= 0) numbers[address] = record.number;
  }
  return numbers;
}

bool numbers_moved(const ir::Program& program, const Snapshot& snapshot) {
  for (const ir::Node& node : program.nodes) {
    auto known = snapshot.resources.find(node.address);
    if (known == snapshot.resources.end()) continue;
    if (known->second.number >= 0 && known->second.number != node.number) return true;
  }
  // A new node may have the number of an existing one.
  std::map<int, std::string> taken;
  for (const auto& [address, number] : node_numbers(snapshot)) taken[number] = address;
  for (const ir::Node& node : program.nodes) {
    auto owner = taken.find(node.number);
    if (owner != taken.end() && owner->second != node.address) return true;
  }
  return false;
}

}  // namespace radl
