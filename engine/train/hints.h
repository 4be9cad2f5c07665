// One-line hints about what slows a training down and how to fix it.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/cluster/members.h"
#include "engine/train/choose_sync.h"
#include "engine/train/job.h"
#include "engine/train/progress.h"

namespace radl::engine {

// A hint: its topic ("slow_node", "link", "distance", "servers") and the line; both are empty if nothing is
// wrong.
struct Hint {
  std::string about, message;
  explicit operator bool() const { return !about.empty(); }
};

// For workers that add gradients at every step: the exchange takes longer than the computation.
Hint link_hint(const LinkMeasure& measure, Encoding gradients);
// For a member that all others wait for.
Hint slow_node_hint(const std::string& name, size_t slow, std::span<const double> step_seconds);

// Measurements of a parameter-server worker: mean step, mean exchange, and its bytes.
struct ServerMeasure {
  double step_seconds = 0, exchange_seconds = 0, round_trip_seconds = 0;
  double bytes = 0, link_bytes_per_second = 0;  // of an exchange in both directions; 0: unknown
};
Hint server_hint(const ServerMeasure& measure);

// Hints for one view without servers, each given once: from what all members learn in an exchange.
class ViewHints {
 public:
  // `links`: also gives hints about links; mode "auto" handles those itself.
  ViewHints(Progress& progress, Encoding gradients, bool links)
      : progress_(progress), gradients_(gradients), links_(links) {}
  void begin_view();
  // Call after an exchange, with the members' step times by rank. Reports only if `leads`.
  void add(const LinkMeasure& measure, std::span<const double> step_seconds, const cluster::View& view,
           bool leads);

 private:
  void say(const Hint& hint, const std::string& peer, double step_seconds);

  Progress& progress_;
  const Encoding gradients_;
  const bool links_;
  int seen_ = 0;
  int slow_ = -1, slow_in_a_row_ = 0;  // slowest member by rank, and for how many exchanges in a row
  LinkMeasure quickest_;               // fastest exchange of this view
  std::set<std::string> said_;         // topics and members already reported
};

}  // namespace radl::engine
