// Placement of tasks on nodes: which of the nodes that have room gets a task.
//
// Pure: no clock, no threads. Times are seconds on any clock that the caller uses throughout.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::farm {

// What a task needs, and what a node has.
struct Resources {
  int64_t cpu = 0;     // thousandths of a processor
  int64_t memory = 0;  // bytes
  int64_t gpu = 0;     // whole devices
  int64_t disk = 0;    // bytes
  bool fits(const Resources& room) const;
  Resources& operator+=(const Resources& more);
  Resources& operator-=(const Resources& less);
  auto operator<=>(const Resources&) const = default;
};
// How much there is of something whose size is not known: it bounds no task.
inline constexpr int64_t kUnknownAmount = int64_t{1} << 60;

struct Host {
  std::string name;
  Resources registered, remaining;
  double until = 0;        // when the last of its tasks is expected to end
  bool open = true;        // takes tasks: not quarantined, not leaving, not lost
  bool kept_free = false;  // open, but reserved for another task
  // Of a cluster with a scheduler of its own: what its machines have. A task must fit on one of them.
  std::vector<Resources> machines = {};
  bool is_large_enough(const Resources& needs) const;
};

enum class Rule {
  Fullest,    // Distributo's: the node with the highest fitness
  Spread,     // the node with the lowest fitness
  LeastRent,  // the node that the task keeps busy for the least additional time
};
std::optional<Rule> find_rule(std::string_view name);  // "fullest", "spread", "least_rent"

// The share of a node in use once the task is on it: the mean over processors and memory, and over GPUs and
// disk if the task needs them. A resource that the node lacks is left out.
double fitness(const Resources& needs, const Host& host);

// Index of the node that gets the task; nullopt if none has room. `seconds`: predicted length, 0 if unknown.
// `avoid`: nodes that get the task only if no other open node is large enough for it: a full one is waited
// for. Ties go to the smaller name.
std::optional<size_t> choose_host(Rule rule, const Resources& needs, double seconds, double now,
                                  const std::vector<Host>& hosts, const std::vector<std::string>& avoid = {});

}  // namespace radl::farm
