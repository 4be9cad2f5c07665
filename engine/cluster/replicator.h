// Copies a shard to its replica on another server, over a link and threads of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/stop.h"
#include "engine/cluster/link.h"
#include "engine/cluster/shard.h"

namespace radl::engine::cluster {

struct ReplicatorOptions {
  uint32_t self = 0, replica = 0;  // servers
  uint64_t epoch = 0;              // of the map that makes them a pair
  std::string job_digest;
  Milliseconds peer_timeout{10000};
  std::function<Result<std::unique_ptr<Link>>(Milliseconds patience)> connect;  // to the replica
};

// Starts copying immediately. If a complete replica is lost, it stops and leaves the decision to the chief
// (Shard::report()). After any other failure it copies again.
class Replicator {
 public:
  static std::unique_ptr<Replicator> start(std::shared_ptr<Shard> shard, ReplicatorOptions options);
  virtual ~Replicator() = default;  // ends the copy, and waits for its threads
  virtual void stop() = 0;          // returns immediately
};

}  // namespace radl::engine::cluster
