// The breakdown of a training step, from a profile and a cluster: one formula per part (docs/model.md).
//
// In: measured times of one node, and the network between nodes. Out: seconds per part, images per second,
// and the step's bottleneck. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::foresight {

// Measured step times of one node for a model (radlc profile).
struct StepLine {
  struct Point {
    double batch = 0, seconds = 0;  // images; of a step without exchange
  };
  std::vector<Point> points;  // ascending batches, at least one
  // Interpolates; extrapolates linearly from the nearest two points, never below 0 seconds.
  double seconds(double batch) const;
  // The fixed cost: a step without images.
  double fixed() const;
};

struct NodeProfile {
  StepLine steps;
  double parameter_bytes = 0;       // exchanged in each direction, including statistics
  double backward_share = 2.0 / 3;  // share of a step's computing time
  double spread = 0;                // relative standard deviation of step times between nodes
  double largest_batch = 0;         // that fits into memory; 0: unknown
};

enum class Exchange { Alone, Ring, HalvingDoubling, SyncServer, AsyncServer };
inline constexpr int kExchanges = 5;
std::string_view exchange_name(Exchange exchange);  // "alone", "ring", ..
std::optional<Exchange> exchange_named(std::string_view name);
bool has_server(Exchange exchange);

struct Fabric {
  double bits_per_second = 0;         // of a worker's link, per direction
  double round_trip_seconds = 0;      // between nodes
  double server_bits_per_second = 0;  // of one server's link; 0: same as a worker's
  int servers = 1;
  double share = 0.95;  // p: usable share of the servers' links
};

struct StepQuestion {
  Exchange exchange = Exchange::Alone;
  int workers = 1;
  double batch = 0;            // images per step of one worker
  int local_steps = 1;         // between two exchanges
  int delay = 0;               // number of these steps that run during an exchange
  double exchanged_share = 1;  // share of the parameters' bytes that is sent: 0.5 for bf16
  double overlap = 0;          // share of the backward pass that can hide an exchange: 0 to 1
  // Round trips of an exchange with a server: fetch and push; 1 if a push is answered with weights.
  double server_round_trips = 2;
  // Synchronous servers answer workers one after another, so pushes are staggered too: all weights
  // are sent in the time of n transfers, and only the last push remains. Otherwise n transfers each
  // way.
  bool staggered = false;
  Fabric fabric;
};

enum class StepBound { Compute, Bandwidth, Latency, Server };
std::string_view step_bound_name(StepBound bound);  // "compute", ..

// Seconds of a step of one worker.
struct StepAnatomy {
  double compute = 0;    // proportional to the batch
  double fixed = 0;      // independent of the batch
  double straggler = 0;  // waiting for the slowest member
  double bandwidth = 0, latency = 0;
  double server = 0;  // additional time when the servers' links are saturated
  double hidden = 0;  // part of the exchange hidden by the backward pass; subtracted
  double seconds = 0;
  double images_per_second = 0;  // of the whole cluster
  StepBound bound = StepBound::Compute;
};

// nullopt: a cluster without links, a profile without points, or a batch that does not fit into memory.
std::optional<StepAnatomy> step_anatomy(const NodeProfile& profile, const StepQuestion& question);

// Expected maximum of n normal values, in standard deviations above the mean (Blom 1958).
double expected_maximum(int n);

}  // namespace radl::foresight
