// The shards that a server holds as primary or replica, as the chief's maps assign them.
//
// Thread-safe. A map that makes this server a primary promotes its replica. A map of a later epoch ends the
// replica links of earlier pairs.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/cluster/replicator.h"
#include "engine/cluster/session.h"
#include "engine/cluster/shard.h"

namespace radl::engine::cluster {

struct HostingOptions {
  uint32_t index = 0;  // of this server
  std::string job_digest;
  ShardOptions shard;
  Milliseconds peer_timeout{10000};
  Dial dial;  // to other servers
};

class Hosting {
 public:
  explicit Hosting(HostingOptions options) : options_(std::move(options)) {}
  ~Hosting() { stop(Status(Code::Cancelled, "the server ends")); }

  // Takes a shard of a new run. take_map() follows.
  Status take_init(const Init& init);
  // Lost: the map makes this server the primary of a shard, but its copy is missing or incomplete.
  Status take_map(const ShardMap& map);
  ShardMap map() const;
  // Carries out an Init, a Map or a Fetch of the chief, and answers it.
  Status obey(Session& chief, const Message& message);
  // The shard if this server is its primary, else null.
  std::shared_ptr<Shard> primary(uint32_t shard) const;
  // Takes the entries of a primary into this server's replica, until the link or the map ends.
  Status follow(Session& session, const Hello& hello);
  // Ends every wait in a shard with this status.
  void stop(const Status& status);

 private:
  struct Held {
    std::shared_ptr<Shard> shard;
    bool leads = false;
    Session* primary = nullptr;  // of a replica: its link, while follow() runs
    std::unique_ptr<Replicator> replicator;
  };
  Status take_place(uint32_t shard, const Place& old, const Place& place, std::vector<Held>& ended);
  bool is_replica(const Hello& hello) const;
  Status take_entry(Session& session, const Hello& hello, const Message& message);

  const HostingOptions options_;
  std::mutex taking_;  // one map at a time
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  ShardMap map_;
  std::map<uint32_t, Held> held_;  // by shard
  bool stopped_ = false;
};

}  // namespace radl::engine::cluster
