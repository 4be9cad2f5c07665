// Assigns shards to servers as servers are lost and return. Pure.
#pragma once

#include <vector>

#include "engine/cluster/message.h"

namespace radl::engine::cluster {

// The places of a new job: shard s is on server s, its replica on the next one.
std::vector<Place> first_places(size_t servers);

// The places of the map with this `epoch`, from those of the previous map. A replica replaces its lost
// primary. A shard gets a new replica, if a server is free, when its replica is lost or `broken` (by shard:
// the primary lost it). A returned server holds nothing. Lost: no living server holds one of the shards.
Result<std::vector<Place>> next_places(std::vector<Place> places, const std::vector<bool>& alive,
                                       const std::vector<bool>& broken, uint64_t epoch);

}  // namespace radl::engine::cluster
