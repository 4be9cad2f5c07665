// On which servers the shards are, as servers are lost and return. Pure.
#pragma once

#include <vector>

#include "engine/cluster/message.h"

namespace radl::engine::cluster {

// Of a job that begins: shard s is on server s, its replica on the next one.
std::vector<Place> first_places(size_t servers);

// The places in the map of this `epoch`, by those in the map before it. A replica takes the place of a lost
// primary. A shard whose replica is lost, or `broken` (by shard: its primary has lost it), gets another one
// if there is a server for it. A server that has returned holds nothing. Lost: nobody alive holds a shard.
Result<std::vector<Place>> next_places(std::vector<Place> places, const std::vector<bool>& alive,
                                       const std::vector<bool>& broken, uint64_t epoch);

}  // namespace radl::engine::cluster
