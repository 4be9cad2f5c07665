// What the user approved for a farm, whether the farm is paused, and what it has used since the approval.
//
// Pure: depends only on the journal's events.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace radl::farm {

using Json = nlohmann::json;
// One JSON object: "event" and its members.
using Event = Json;

// A run that ended normally under an approval: the plan's prediction and the actual figures. 0: unknown.
struct FinishedRun {
  double predicted_seconds = 0, seconds = 0;
  double predicted_node_seconds = 0, node_seconds = 0;
  template <class Archive>
  void archive(Archive& each) {
    each(predicted_seconds, seconds, predicted_node_seconds, node_seconds);
  }
};

class Approval {
 public:
  // True if the event is one that this class handles ("approve", "began", "nodes", "limit", "pause",
  // "closed").
  bool apply(const Event& event);

  // The newest approve event, with the time at which a run "began" under it; null if there is none.
  const Json& terms() const { return terms_; }
  // The pause event after that approval; null if there is none.
  const Json& paused() const { return paused_; }
  // Returns the node-seconds paid for since a run began under the approval.
  double node_seconds(double now) const;
  // Returns the remaining approved node-seconds; nullopt if the plan did not know them.
  std::optional<double> node_seconds_left(double now) const;
  // Oldest first. Excludes runs that were paused, killed or interrupted.
  const std::vector<FinishedRun>& finished() const { return finished_; }
  // Saves or loads everything (snapshot.cc).
  template <class Archive>
  void archive(Archive& each) {
    each(terms_, paused_, used_, since_, nodes_, finished_);
  }

 private:
  void count(double at, size_t nodes);
  void close(double at);

  Json terms_, paused_;
  double used_ = 0, since_ = 0;  // node-seconds until `since_`, a time
  size_t nodes_ = 0;             // since then
  std::vector<FinishedRun> finished_;
};

}  // namespace radl::farm
