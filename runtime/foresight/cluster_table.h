// Epoch times of clusters of one machine type: fits a table of them to predict other sizes, batches and
// latencies. docs/model.md, "From a table of epoch times".
//
//   one node:  t = c1 + a1 B + d1 max(B - B0, 0)
//   n nodes:   t = c(n) + a B / n + r(n) l
//
// All coefficients are at least 0 and fitted robustly to relative errors. Pure.
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
  double batch = 0;  // images per step of the whole cluster
  double latency_ms = 0;
  double seconds = 0;
};

struct EpochParts {
  double compute = 0;  // in seconds, like the next two
  double fixed = 0;    // per step, independent of the batch
  double latency = 0;
  double seconds() const { return compute + fixed + latency; }
};

class ClusterTable {
 public:
  // Invalid: no rows, or an invalid one (nodes or batch below 1, seconds not above 0).
  static Result<ClusterTable> fit(const std::vector<EpochTime>& rows);

  // nullopt: nothing similar was measured (for a cluster: no cluster at all).
  std::optional<EpochParts> parts(int nodes, double batch, double latency_ms) const;
  // Why the question is outside the measurements, one reason per line; empty: inside. A value between only
  // two measured ones is outside, because two points do not show how time grows between them.
  std::vector<std::string> outside(int nodes, double batch, double latency_ms) const;
  // The two measured latencies of this size, in ms, around the question's, if it is otherwise inside; else
  // nullopt. Time grows with latency, so it lies between the times at these two.
  std::optional<std::pair<double, double>> latency_gap(int nodes, double batch, double latency_ms) const;

 private:
  struct Size {
    double fixed = 0;                // seconds
    std::optional<double> messages;  // sequential messages per epoch; nullopt: measured at one latency only
  };
  // The measurements of one size.
  struct Measured {
    std::set<double> batches, latencies;
  };
  Size size_of(int nodes) const;

  std::map<int, Size> sizes_;                                                   // of two or more nodes
  std::map<int, Measured> measured_;                                            // including one node
  double alone_fixed_ = 0, alone_rate_ = 0, alone_more_ = 0, alone_break_ = 0;  // seconds per image
  double rate_ = 0;  // per node of a cluster: seconds per image of its share
};

}  // namespace radl::foresight
