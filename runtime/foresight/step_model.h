// The anatomy of one training step, from a profile and a cluster: analytic, a formula a part (docs/model.md).
//
// In: what one node was measured to take, and what connects the nodes. Out: seconds by part, images a second,
// and what bounds the step. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::foresight {

// What one node takes for steps of a model, measured (radlc profile).
struct StepLine {
  struct Point {
    double batch = 0, seconds = 0;  // images, of a step without any exchange
  };
  std::vector<Point> points;  // rising batches, one at least
  // Through the points; below the first and beyond the last the nearest two go on, never below 0 seconds.
  double seconds(double batch) const;
  // What a step takes that has no image: the fixed cost.
  double fixed() const;
};

struct NodeProfile {
  StepLine steps;
  double parameter_bytes = 0;       // of what is exchanged each way, statistics included
  double backward_share = 2.0 / 3;  // of a step's computing
  double spread = 0;                // standard deviation of a step's time between nodes, relative
  double largest_batch = 0;         // that fits into memory; 0: not known
};

enum class Exchange { Alone, Ring, HalvingDoubling, SyncServer, AsyncServer };
inline constexpr int kExchanges = 5;
std::string_view exchange_name(Exchange exchange);  // "alone", "ring", ..
std::optional<Exchange> exchange_named(std::string_view name);
bool has_server(Exchange exchange);

struct Fabric {
  double bits_per_second = 0;         // of a worker's link, each direction
  double round_trip_seconds = 0;      // between nodes
  double server_bits_per_second = 0;  // of one server's link; 0: as a worker's
  int servers = 1;
  double share = 0.95;  // p: of the servers' links that workers can fill
};

struct StepQuestion {
  Exchange exchange = Exchange::Alone;
  int workers = 1;
  double batch = 0;            // images of one worker in a step
  int local_steps = 1;         // between two exchanges
  int delay = 0;               // of them, steps that a worker takes while an exchange runs
  double exchanged_share = 1;  // of the parameters' bytes that travel: 0.5 as bf16
  double overlap = 0;          // of the backward part behind which an exchange may hide: 0 to 1
  // Of an exchange with a server: fetch and push; 1 where a push is answered by weights.
  double server_round_trips = 2;
  // Synchronous servers answer one worker after another, so pushes come one after another as well: all
  // weights go out in the time of n transfers, and what is left is the last push. Otherwise n transfers each
  // way.
  bool staggered = false;
  Fabric fabric;
};

enum class StepBound { Compute, Bandwidth, Latency, Server };
std::string_view step_bound_name(StepBound bound);  // "compute", ..

// Seconds of a step of one worker.
struct StepAnatomy {
  double compute = 0;    // in proportion to the batch
  double fixed = 0;      // whatever the batch
  double straggler = 0;  // waiting for the slowest of those that wait for each other
  double bandwidth = 0, latency = 0;
  double server = 0;  // what the servers' links add, when they are full
  double hidden = 0;  // of the exchange, behind the backward part; taken off
  double seconds = 0;
  double images_per_second = 0;  // of the whole cluster
  StepBound bound = StepBound::Compute;
};

// nullopt: a cluster without links or a profile without points; a batch beyond what fits into memory.
std::optional<StepAnatomy> step_anatomy(const NodeProfile& profile, const StepQuestion& question);

// The expected maximum of n normal figures, in standard deviations above the mean (Blom 1958).
double expected_maximum(int n);

}  // namespace radl::foresight
