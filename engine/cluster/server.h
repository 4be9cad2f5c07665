// A parameter server: listens, lets members of the job in, and serves its shard to them.
//
// Threads: one that accepts, and per member one that serves it (plus those of its Session). The chief gives
// the server its weights, asks how far the job is, and ends it. The chief also decides which shards the
// server has, as primary or as replica (hosting.h). If the chief is lost, a server takes over (election.h).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/stop.h"
#include "engine/cluster/hosting.h"
#include "engine/cluster/link.h"
#include "engine/cluster/shard.h"

namespace radl::engine::cluster {

struct ServerOptions {
  uint32_t index = 0;      // which ps
  std::string address;     // "host:port" to listen at; "": none, local_link() only
  std::string key;         // 32 bytes
  std::string job_digest;  // workers with another are refused
  ShardOptions shard;
  Milliseconds peer_timeout{10000};
  Milliseconds start_timeout{120000};  // for the chief to appear and for workers' first message
  Dial dial;                           // to other servers, which get replicas of the shards here
  // Whether this server can take over the duties that the lost chief shared last. Null: a lost chief ends the
  // job.
  std::function<bool(const std::string& duties)> may_lead;
  bool separate_chief = false;  // the first chief is not in the process of a server
};

// What happened, for progress lines: kind is "peer_joined", "peer_left", "peer_lost", "peer_refused",
// "replica_differs" (the shard is copied again), "chief_lost" or "chief_back".
struct ServerEvent {
  std::string kind, peer, text;
  double seconds = 0;  // peer_lost: how long it had been silent
  uint64_t count = 1;  // peer_refused: so many since the last of these; text tells of the last of them
};

class ParameterServer {
 public:
  // Conflict when the address is in use.
  static Result<std::unique_ptr<ParameterServer>> start(ServerOptions options,
                                                        std::function<void(const ServerEvent&)> on_event);
  virtual ~ParameterServer() = default;  // stops and waits for its threads

  // A link for a chief in this process.
  virtual std::unique_ptr<Link> local_link(Identity peer) = 0;
  virtual std::string address() const = 0;
  // Waits until the job has ended: Ok when the chief said that it is finished, else why not. Cancelled as
  // soon as `stop` asks for it. Retry: the chief is lost, and it is this server's turn to take over
  // (ChiefClient::take_over()); if it fails, call wait() again.
  virtual Status wait(const radl::Stop& stop) = 0;
  virtual ShardMap map() const = 0;
  virtual std::string duties() const = 0;  // as shared by the last chief
  // Ends the job for everybody connected here, with this outcome.
  virtual void stop(const Status& outcome) = 0;
};

}  // namespace radl::engine::cluster
