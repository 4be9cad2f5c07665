// Epoch times of clusters of one kind of machine: what a table of them says about sizes, batches and
// latencies that stand in it or lie between. docs/model.md, "From a table of epoch times".
//
//   one node:  t = c1 + a1 B + d1 max(B - B0, 0)
//   n nodes:   t = c(n) + a B / n + r(n) l
//
// All figures are at least 0 and fitted to relative errors, robustly. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"

namespace radl::foresight {

struct EpochTime {
  int nodes = 1;
  double batch = 0;  // images of the whole cluster in a step
  double latency_ms = 0;
  double seconds = 0;
};

struct EpochParts {
  double compute = 0;  // seconds, as all three
  double fixed = 0;    // of each step, whatever the batch
  double latency = 0;
  double seconds() const { return compute + fixed + latency; }
};

class ClusterTable {
 public:
  // Invalid: no rows, or one that is none (nodes or batch below 1, seconds not above 0).
  static Result<ClusterTable> fit(const std::vector<EpochTime>& rows);

  // nullopt: nothing of the kind was measured (no cluster at all, for a cluster).
  std::optional<EpochParts> parts(int nodes, double batch, double latency_ms) const;
  // Why the question is outside what was measured, one reason a line; empty: it is inside. A value between
  // only two measured ones is outside: two points do not show how time grows between them.
  std::vector<std::string> outside(int nodes, double batch, double latency_ms) const;
  // The two latencies, in ms, that this size was measured at, if the question lies between them and the rest
  // of it is inside; else nullopt. Time rises with latency, so it lies between the times at the two.
  std::optional<std::pair<double, double>> latency_gap(int nodes, double batch, double latency_ms) const;

 private:
  struct Size {
    double fixed = 0;                // seconds
    std::optional<double> messages;  // one after another in an epoch; nullopt: measured at one latency only
  };
  // What was measured of one size.
  struct Measured {
    std::set<double> batches, latencies;
  };
  Size size_of(int nodes) const;

  std::map<int, Size> sizes_;                                                   // of two nodes and more
  std::map<int, Measured> measured_;                                            // of one node as well
  double alone_fixed_ = 0, alone_rate_ = 0, alone_more_ = 0, alone_break_ = 0;  // seconds per image
  double rate_ = 0;  // of a cluster's node, seconds per image of its share
};

}  // namespace radl::foresight
