// What the user has approved of a farm, whether the farm is paused, and what it has used since the approval.
//
// Pure: the events of the journal decide.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace radl::farm {

using Json = nlohmann::json;
// One JSON object: "event" and its members.
using Event = Json;

// A run that came to its end under an approval: what its plan predicted and what it took. 0: not known.
struct FinishedRun {
  double predicted_seconds = 0, seconds = 0;
  double predicted_node_seconds = 0, node_seconds = 0;
};

class Approval {
 public:
  // True: the event is one of those that change this ("approve", "began", "nodes", "limit", "pause",
  // "closed").
  bool apply(const Event& event);

  // The newest approve event, with when a run "began" under it; null if there was none.
  const Json& terms() const { return terms_; }
  // The pause event that came after it; null without one.
  const Json& paused() const { return paused_; }
  // How long all nodes together have been paid for since a run began under the approval.
  double node_seconds(double now) const;
  // The approved node-seconds that remain; nullopt if the plan did not know them.
  std::optional<double> node_seconds_left(double now) const;
  // Oldest first. A run that was paused, killed or interrupted is not among them.
  const std::vector<FinishedRun>& finished() const { return finished_; }

 private:
  void count(double at, size_t nodes);
  void close(double at);

  Json terms_, paused_;
  double used_ = 0, since_ = 0;  // node-seconds until `since_`, a time
  size_t nodes_ = 0;             // from then on
  std::vector<FinishedRun> finished_;
};

}  // namespace radl::farm
