// A server's link to the chief, and what becomes of the job if it is lost. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/cluster/election.h"
#include "engine/cluster/session.h"

namespace radl::engine::cluster {

class ChiefSeat {
 public:
  // `separate`: the first chief is not in the process of a server.
  ChiefSeat(uint32_t self, bool separate) : self_(self), separate_(separate) {}

  // A chief says Hello to this server, which has the map. Conflict: it has another chief, or has promised to
  // follow one.
  Status admit(const std::shared_ptr<Session>& chief, const Hello& hello, const ShardMap& map);
  // It has sent a map. Returns the name of the lost chief that is back; else "".
  std::string took_map(const ShardMap& map);
  // The link has ended. `first`: it was the job's first chief. Returns the name of the chief that is lost; ""
  // if it only asked for this server's vote, and did not win.
  std::string lose(const Status& why, bool first, const ShardMap& map);

  bool seen() const { return seen_; }
  const std::shared_ptr<Session>& session() const { return session_; }
  // If no server has taken over within `patience`: why the job ends.
  std::optional<Status> given_up(Milliseconds patience) const;
  // Whether this server may try to take over now. Each `true` moves its next turn.
  bool has_turn(const ShardMap& map);

  std::string duties;  // as shared by the last chief

 private:
  struct LostChief {
    std::string name;
    Status why;
    Clock::time_point since, turn;
  };
  std::string name_of_chief(const ShardMap& map) const;
  bool is_alone() const { return lost_ && !voter_.has_chief(); }

  const uint32_t self_;
  const bool separate_;
  std::shared_ptr<Session> session_;
  Voter voter_;
  std::optional<LostChief> lost_;
  bool seen_ = false;
};

}  // namespace radl::engine::cluster
