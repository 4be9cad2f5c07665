// The other ends of a parameter server's links: what a worker and what the chief do with them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/stop.h"
#include "engine/cluster/link.h"
#include "engine/cluster/message.h"
#include "engine/cluster/shard.h"

namespace radl::engine::cluster {

// Makes the link to server `shard`.
using Connector = std::function<Result<std::unique_ptr<Link>>(uint32_t shard)>;

struct ClientOptions {
  uint32_t index = 0;
  uint32_t shards = 1;
  std::string job_digest;
  uint64_t parameters = 0, statistics = 0;
  Milliseconds peer_timeout{10000};
  Milliseconds start_timeout{120000};
  Numbers gradients = Numbers::Fp32;
  radl::Stop stop;
  // With several servers: reaches those that take over from a lost one. Without it, a lost server ends the
  // job.
  Dial dial = {};
};

// A server that the chief has lost, or has back.
struct ServerChange {
  bool lost = false;
  uint32_t index = 0;
  std::string text;
  double silent_seconds = 0;
};

// One training step's result, as push() takes it.
struct StepOutcome {
  float rate = 0;
  double loss = 0;
  uint32_t correct = 0, images = 0;
  std::span<const float> gradients;   // all of the model's
  std::span<const float> statistics;  // what the batch adds to them, as in Push
  uint32_t updates = 1;               // of the statistics
};

class WorkerClient {
 public:
  // Connects to every server and waits until they have their weights. Invalid when they refuse this worker.
  static Result<std::unique_ptr<WorkerClient>> connect(const ClientOptions& options,
                                                       const Connector& connector);
  virtual ~WorkerClient() = default;

  // Weights, statistics and the first batch.
  virtual Result<Assignment> begin(std::span<float> weights, std::span<float> statistics) = 0;
  // Hands in the step for the assignment that begin() or push() gave last; the next one, with fresh weights.
  // finished: the job is done. Lost: a server is gone, and no other one has its shard. Otherwise the reason
  // for which the job was ended.
  virtual Result<Assignment> push(const StepOutcome& step, std::span<float> weights,
                                  std::span<float> statistics) = 0;
  // With all servers.
  virtual Traffic traffic() const = 0;
  // Says goodbye (code Ok: there is nothing left to do).
  virtual void leave(const Status& why) = 0;
};

// Decides which servers hold the shards, and replaces lost ones from a thread of its own. Safe to use from
// several threads.
class ChiefClient {
 public:
  static Result<std::unique_ptr<ChiefClient>> connect(const ClientOptions& options,
                                                      const Connector& connector);
  virtual ~ChiefClient() = default;

  // Gives each server its part of what the whole model starts from. `borders` from split_layout.
  virtual Status init(const Init& whole, const Borders& borders) = 0;
  virtual Result<Report> report() = 0;
  virtual Result<TrainingState> snapshot() = 0;
  // `averaged`: the mean of weights where the job asks for one and it has begun.
  virtual Status weights(std::span<float> weights, std::span<float> statistics, bool averaged = false) = 0;
  // Servers that were lost or have returned since the last call.
  virtual std::vector<ServerChange> take_changes() = 0;
  virtual void stop(const Status& outcome) = 0;
};

}  // namespace radl::engine::cluster
