// What holds a training up, in one line that says what to do.
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

// A hint: what it is about ("slow_node", "link", "distance", "servers"), and the line; both empty: nothing is
// wrong.
struct Hint {
  std::string about, message;
  explicit operator bool() const { return !about.empty(); }
};

// Of workers that add up their gradients in every step: the exchange takes longer than the computing.
Hint link_hint(const LinkMeasure& measure, Encoding gradients);
// Of a member that all others wait for.
Hint slow_node_hint(const std::string& name, size_t slow, std::span<const double> step_seconds);

// What a worker of parameter servers measured: means of a step and of an exchange, and of its bytes.
struct ServerMeasure {
  double step_seconds = 0, exchange_seconds = 0, round_trip_seconds = 0;
  double bytes = 0, link_bytes_per_second = 0;  // of an exchange both ways; 0: not known
};
Hint server_hint(const ServerMeasure& measure);

// The hints of one view without servers, each once: from what an exchange told all members.
class ViewHints {
 public:
  // `links`: also about the links, which mode "auto" deals with itself.
  ViewHints(Progress& progress, Encoding gradients, bool links)
      : progress_(progress), gradients_(gradients), links_(links) {}
  void begin_view();
  // After an exchange, with the members' step times by rank. Only `leads` says anything.
  void add(const LinkMeasure& measure, std::span<const double> step_seconds, const cluster::View& view,
           bool leads);

 private:
  void say(const Hint& hint, const std::string& peer, double step_seconds);

  Progress& progress_;
  const Encoding gradients_;
  const bool links_;
  int seen_ = 0;
  int slow_ = -1, slow_in_a_row_ = 0;  // the slowest member by rank, for so many exchanges
  LinkMeasure quickest_;               // exchange of this view
  std::set<std::string> said_;         // about what, or whom
};

}  // namespace radl::engine
