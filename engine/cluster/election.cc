#include "engine/cluster/election.h"

#include <algorithm>

namespace radl::engine::cluster {

uint64_t next_term(uint64_t epoch, uint64_t successions, uint32_t server) {
  return ((epoch >> 48) + successions) << 48 | static_cast<uint64_t>(server & 0xffff) << 32;
}

std::optional<uint32_t> chief_server(uint64_t epoch, bool separate) {
  if (epoch >> 48 == 0 && separate) return std::nullopt;
  return static_cast<uint32_t>(epoch >> 32 & 0xffff);
}

uint32_t turn_of(uint32_t server, const ShardMap& map, bool separate) {
  const std::optional<uint32_t> chief = chief_server(map.epoch, separate);
  return static_cast<uint32_t>(
      std::ranges::count_if(map.servers, [&](uint64_t other) { return other < server && other != chief; }));
}

ShardMap newest_map(const Ballots& ballots) {
  ShardMap out;
  for (const auto& [server, ballot] : ballots)
    if (ballot.kind == Ballot::Kind::Agrees && ballot.map.epoch > out.epoch) out = ballot.map;
  return out;
}

// The first server of a map that is not the chief's.
static uint64_t first_other(const std::vector<uint64_t>& servers, std::optional<uint32_t> chief) {
  const auto found = std::ranges::find_if(servers, [&](uint64_t server) { return server != chief; });
  return found == servers.end() ? UINT64_MAX : *found;
}

bool wins(const Ballots& ballots, bool separate) {
  const ShardMap newest = newest_map(ballots);
  const auto is = [&](uint64_t server, Ballot::Kind kind) {
    const auto found = ballots.find(static_cast<uint32_t>(server));
    return found != ballots.end() && found->second.kind == kind;
  };
  const auto agree = static_cast<size_t>(std::ranges::count_if(
      newest.servers, [&](uint64_t server) { return is(server, Ballot::Kind::Agrees); }));
  if (2 * agree != newest.servers.size()) return 2 * agree > newest.servers.size();
  const std::optional<uint32_t> chief = chief_server(newest.epoch, separate);
  const bool all_answer = std::ranges::none_of(
      ballots, [](const auto& ballot) { return ballot.second.kind == Ballot::Kind::Silent; });
  return agree > 0 && chief && all_answer && is(*chief, Ballot::Kind::Ended) &&
         is(first_other(newest.servers, chief), Ballot::Kind::Agrees);
}

bool may_decide(const std::vector<uint64_t>& settled, const std::vector<uint64_t>& living,
                std::optional<uint32_t> chief) {
  const auto still = static_cast<size_t>(std::ranges::count_if(
      settled, [&](uint64_t server) { return std::ranges::find(living, server) != living.end(); }));
  if (2 * still != settled.size()) return 2 * still > settled.size();
  return still > 0 && (!chief || settled.size() == 2 ||
                       std::ranges::find(living, first_other(settled, chief)) != living.end());
}

bool Voter::follows(uint64_t epoch) {
  if (has_chief_ || epoch < promised_) return false;
  promised_ = epoch;
  return has_chief_ = true;
}

void Voter::lost_chief() {
  has_chief_ = false;
  promised_ = bound_;
}

}  // namespace radl::engine::cluster
