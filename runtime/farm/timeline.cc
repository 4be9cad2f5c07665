#include "runtime/farm/timeline.h"

#include <algorithm>

#include "common/json_values.h"

namespace radl::farm {
namespace {

Json or_null(double at) { return at > 0 ? Json(at) : Json(); }

}  // namespace

void Timeline::leave(const std::string& node, double at) {
  const auto found = open_.find(node);
  if (found == open_.end()) return;
  stays_[found->second].until = at;
  open_.erase(found);
}

void Timeline::observe(const Event& event) {
  const std::string kind = json::text_of(event, "event"), node = json::text_of(event, "node"),
                    task = json::text_of(event, "task");
  const double at = json::number_of(event, "at");
  if (kind == "node") {
    // A later run of the farm finds the node that an earlier one had.
    if (open_.try_emplace(node, stays_.size()).second) stays_.push_back({node, at, 0});
  } else if (kind == "gone") {
    leave(node, at);
  } else if (kind == "closed") {
    while (!open_.empty()) leave(std::string(open_.begin()->first), at);
  } else if (kind == "start") {
    newest_[task] = attempts_.size();
    attempts_.push_back({task, node, "", static_cast<int>(json::number_of(event, "attempt")), at, 0});
  } else if (kind == "end") {
    const auto found = newest_.find(task);
    if (found == newest_.end()) return;
    Attempt& its = attempts_[found->second];
    its.how = json::text_of(event, "how");
    if (its.ended == 0) its.ended = at;  // an output that is lost ends it again
  }
}

Json Timeline::to_json(size_t most) const {
  const size_t first = attempts_.size() > most ? attempts_.size() - most : 0;
  Json json = {{"attempts", Json::array()}, {"nodes", Json::array()}, {"left_out", first}};
  for (size_t i = first; i < attempts_.size(); ++i) {
    const Attempt& one = attempts_[i];
    json["attempts"].push_back({{"task", one.task},
                                {"attempt", one.attempt},
                                {"node", one.node},
                                {"started", one.started},
                                {"ended", or_null(one.ended)},
                                {"how", one.how}});
  }
  for (const Stay& stay : stays_)
    json["nodes"].push_back({{"node", stay.node}, {"since", stay.since}, {"until", or_null(stay.until)}});
  return json;
}

}  // namespace radl::farm
