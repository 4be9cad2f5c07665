#include "engine/cluster/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace radl::engine::cluster {
namespace {

// The server with the fewest shards, first of those after the primary; not `avoided` if there is another.
int32_t replica_for(const Place& place, const std::vector<Place>& places, const std::vector<bool>& alive,
                    int32_t avoided) {
  const auto load = [&places](int32_t server) {
    return std::ranges::count_if(
        places, [server](const Place& p) { return p.primary == server || p.replica == server; });
  };
  const auto servers = static_cast<int32_t>(alive.size());
  int32_t best = -1;
  for (int32_t i = 1; i < servers; ++i) {
    const int32_t server = (place.primary + i) % servers;
    if (!alive[static_cast<size_t>(server)]) continue;
    const auto rank = [&](int32_t s) { return std::pair(s == avoided, load(s)); };
    if (best < 0 || rank(server) < rank(best)) best = server;
  }
  return best;
}

}  // namespace

std::vector<Place> first_places(size_t servers) {
  std::vector<Place> out(servers);
  for (size_t s = 0; s < servers; ++s)
    out[s] = {static_cast<int32_t>(s), servers > 1 ? static_cast<int32_t>((s + 1) % servers) : -1, 1};
  return out;
}

Result<std::vector<Place>> next_places(std::vector<Place> places, const std::vector<bool>& alive,
                                       const std::vector<bool>& broken, uint64_t epoch) {
  const auto lives = [&alive](int32_t server) { return server >= 0 && alive[static_cast<size_t>(server)]; };
  std::vector<int32_t> avoided(places.size(), -1);
  for (size_t s = 0; s < places.size(); ++s) {
    Place& place = places[s];
    if (broken[s]) avoided[s] = std::exchange(place.replica, -1);
    if (!lives(place.primary)) {
      if (!lives(place.replica))
        return Status(Code::Lost, fmt::format("no server holds shard {} any more", s));
      place = {place.replica, -1, epoch};
    } else if (!lives(place.replica)) {
      place.replica = -1;
    }
  }
  for (size_t s = 0; s < places.size(); ++s) {
    Place& place = places[s];
    if (place.replica >= 0) continue;
    place.replica = replica_for(place, places, alive, avoided[s]);
    place.since = epoch;
  }
  return places;
}

}  // namespace radl::engine::cluster
