#include "engine/cluster/chief_seat.h"

#include <fmt/format.h>

#include <utility>

namespace radl::engine::cluster {
namespace {

constexpr Milliseconds kTurn{1000};  // of a server that may take over, before the next one tries

}  // namespace

Status ChiefSeat::admit(const std::shared_ptr<Session>& chief, const Hello& hello, const ShardMap& map) {
  if (voter_.has_chief()) return {Code::Conflict, "the job has a chief already"};
  if (hello.epoch == kQuestion) return {};
  if (hello.epoch == 0 && map.epoch > 0) return {Code::Conflict, "the job has begun"};
  if (!voter_.follows(hello.epoch)) return {Code::Conflict, "the job has a later chief"};
  session_ = chief;
  seen_ |= hello.epoch == 0;
  return {};
}

std::string ChiefSeat::took_map(const ShardMap& map) {
  voter_.took_map();
  seen_ = true;
  const std::optional<LostChief> lost = std::exchange(lost_, std::nullopt);
  return lost && lost->name == name_of_chief(map) ? lost->name : "";
}

std::string ChiefSeat::lose(const Status& why, bool first, const ShardMap& map) {
  voter_.lost_chief();
  session_.reset();
  if (lost_ || (!first && map.epoch == 0)) return "";
  lost_ =
      LostChief{name_of_chief(map), why, Clock::now(), Clock::now() + kTurn * turn_of(self_, map, separate_)};
  return lost_->name;
}

std::optional<Status> ChiefSeat::given_up(Milliseconds patience) const {
  if (!is_alone() || Clock::now() < lost_->since + patience) return std::nullopt;
  return Status(Code::Lost, "the chief was lost, and no server can take over: " + lost_->why.message());
}

bool ChiefSeat::has_turn(const ShardMap& map) {
  if (!is_alone() || Clock::now() < lost_->turn) return false;
  lost_->turn = Clock::now() + kTurn * (turn_of(self_, map, separate_) + 1);
  return true;
}

std::string ChiefSeat::name_of_chief(const ShardMap& map) const {
  const std::optional<uint32_t> server = chief_server(map.epoch, separate_);
  return server ? fmt::format("ps/{}", *server) : "chief/0";
}

}  // namespace radl::engine::cluster
