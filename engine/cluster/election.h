// Which server takes over the duties of a lost chief. Pure: no threads, links or clocks.
//
// The servers of the newest map vote. A server agrees if it has no chief and has promised nothing to a chief
// of a later term; then it takes maps from the new chief only. The new chief needs more than half of these
// servers. Half are enough if the process of the former chief has ended, the first of the others agrees, and
// no server of the job is silent. A chief decides further maps only while it reaches more than half of the
// servers of its last one, or half with the first of the others, or one of two. A server that it has lost
// counts again only once it has taken a map. So two chiefs never decide at the same time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/cluster/message.h"

namespace radl::engine::cluster {

// The epoch from which server `server` decides as the `successions`-th chief after that of `epoch`. The first
// 16 bits of an epoch count the chiefs, the next 16 bits are the chief's server, and the rest counts its
// maps.
uint64_t next_term(uint64_t epoch, uint64_t successions, uint32_t server);
// The server whose process is the chief. `separate`: the first chief has a process of its own.
std::optional<uint32_t> chief_server(uint64_t epoch, bool separate);
// The position of a server among those that may take over: the first one tries first.
uint32_t turn_of(uint32_t server, const ShardMap& map, bool separate);

// A server's answer to another one that wants to lead. Ended: its process has ended, or was started again and
// knows nothing.
struct Ballot {
  enum class Kind { Agrees, Ended, Refuses, Silent };
  Kind kind = Kind::Silent;
  ShardMap map;  // of one that agrees
};
using Ballots = std::map<uint32_t, Ballot>;  // by server, including one's own

// The newest map of those that agree.
ShardMap newest_map(const Ballots& ballots);
bool wins(const Ballots& ballots, bool separate);
// Whether a chief may decide another map. `settled`: the servers that have taken its last one; `living`:
// those that it still reaches; `chief`: the server of its process, if it has one.
bool may_decide(const std::vector<uint64_t>& settled, const std::vector<uint64_t>& living,
                std::optional<uint32_t> chief);

// What a server has promised.
class Voter {
 public:
  // A chief introduces itself. True if this server follows it from now on.
  bool follows(uint64_t epoch);
  // It has sent this server a map.
  void took_map() { bound_ = promised_; }
  // The link to the chief has ended. A promise to a chief that has decided nothing here is void.
  void lost_chief();
  bool has_chief() const { return has_chief_; }

 private:
  uint64_t promised_ = 0, bound_ = 0;
  bool has_chief_ = false;
};

}  // namespace radl::engine::cluster
