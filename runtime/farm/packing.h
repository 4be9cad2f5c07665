// Placement: chooses the node for a task.
//
// Pure: no clock, no threads. Times are seconds on any clock, the same in all calls.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::farm {

// Needs of a task, or resources of a node.
struct Resources {
  int64_t cpu = 0;     // thousandths of a processor
  int64_t memory = 0;  // bytes
  int64_t gpu = 0;     // whole devices
  int64_t disk = 0;    // bytes
  bool fits(const Resources& room) const;
  Resources& operator+=(const Resources& more);
  Resources& operator-=(const Resources& less);
  auto operator<=>(const Resources&) const = default;
  template <class Archive>
  void archive(Archive& each) {
    each(cpu, memory, gpu, disk);
  }
};
// Amount of a resource of unknown size: never a limit.
inline constexpr int64_t kUnknownAmount = int64_t{1} << 60;

struct Host {
  std::string name;
  Resources registered, remaining;
  double until = 0;        // when the last of its tasks is expected to end
  bool open = true;        // takes tasks: not quarantined, not leaving, not lost
  bool kept_free = false;  // open, but reserved for another task
  // For a cluster with its own scheduler: the resources of its machines. A task must fit on one of them.
  std::vector<Resources> machines = {};
  bool is_large_enough(const Resources& needs) const;
  template <class Archive>
  void archive(Archive& each) {
    each(name, registered, remaining, until, open, kept_free, machines);
  }
};

enum class Rule {
  Fullest,    // Distributo's: the node with the highest fitness
  Spread,     // the node with the lowest fitness
  LeastRent,  // the node that the task keeps busy for the least additional time
};
std::optional<Rule> find_rule(std::string_view name);  // "fullest", "spread", "least_rent"

// Share of a node in use once it runs the task: the mean over processors and memory, and over GPUs and disk
// if the task needs them. Resources that the node lacks do not count.
double fitness(const Resources& needs, const Host& host);

// Returns the index of the node for the task; nullopt if none has enough free resources. `seconds`: predicted
// length, 0 if unknown. `avoid`: nodes used only if no other open node is large enough; if another is merely
// full, the task waits for it. Ties go to the smaller name.
std::optional<size_t> choose_host(Rule rule, const Resources& needs, double seconds, double now,
                                  const std::vector<Host>& hosts, const std::vector<std::string>& avoid = {});

}  // namespace radl::farm
