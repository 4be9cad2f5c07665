// A worker's and the chief's side of the links to parameter servers.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/stop.h"
#include "engine/cluster/contribution.h"
#include "engine/cluster/link.h"
#include "engine/cluster/message.h"
#include "engine/cluster/shard.h"

namespace radl::engine::cluster {

// Connects to server `shard`.
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
  // Connects to a server that takes over from a lost one; used with several servers. If it is empty, a lost
  // server ends the job.
  Dial dial = {};
  bool separate = false;  // of a chief: it is not in the process of a server
};

// A server was lost, or has returned.
struct ServerChange {
  bool lost = false;
  uint32_t index = 0;
  std::string text;
  double silent_seconds = 0;
};

// The result of one training step: the argument of push().
struct StepOutcome {
  float rate = 0;
  double loss = 0;
  uint32_t correct = 0, images = 0;
  std::span<float> gradients;         // all of the model's; become what the servers get of them
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
  // Begins to send the gradients of a step, which push() completes, as they become final.
  virtual void begin_push(Contribution& gradients) = 0;
  // Sends the step of the last assignment that begin() or push() returned. Returns the next assignment, with
  // new weights; `finished`: the job is done. Lost: a server was lost, and no other one has its shard. Any
  // other error is the reason why the job ended.
  virtual Result<Assignment> push(const StepOutcome& step, std::span<float> weights,
                                  std::span<float> statistics) = 0;
  // The sum over all servers.
  virtual Traffic traffic() const = 0;
  // Tells the servers that this worker leaves. Code Ok: the job is done.
  virtual void leave(const Status& why) = 0;
};

// Assigns shards to servers, and replaces lost servers from a thread of its own. Thread-safe.
class ChiefClient {
 public:
  static Result<std::unique_ptr<ChiefClient>> connect(const ClientOptions& options,
                                                      const Connector& connector);
  virtual ~ChiefClient() = default;

  // Takes over from a lost chief, in the process of server `options.index`, to which `own` connects. `map`:
  // the map of that server. `attempt`: from 1. `separate`: as in election.h. Retry: too few servers agree
  // now. resume() follows.
  static Result<std::unique_ptr<ChiefClient>> take_over(const ClientOptions& options, const ShardMap& map,
                                                        uint64_t attempt, bool separate,
                                                        const std::function<std::unique_ptr<Link>()>& own);
  // Whether a server of the job has begun to train: this chief comes too late.
  static bool has_begun(const ClientOptions& options);
  virtual void resume(const Borders& borders) = 0;
  // Tells the servers what a successor needs.
  virtual void share(const std::string& duties) = 0;

  // Sends each server its part of the initial state. `borders`: from split_layout().
  virtual Status init(const Init& whole, const Borders& borders) = 0;
  virtual Result<Report> report() = 0;
  virtual Result<TrainingState> snapshot() = 0;
  // `averaged`: returns the averaged weights if the job has an average and it has begun.
  virtual Status weights(std::span<float> weights, std::span<float> statistics, bool averaged = false) = 0;
  // Servers that were lost or have returned since the last call.
  virtual std::vector<ServerChange> take_changes() = 0;
  virtual void stop(const Status& outcome) = 0;
};

}  // namespace radl::engine::cluster
