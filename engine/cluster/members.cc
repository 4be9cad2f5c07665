#include "engine/cluster/members.h"

#include <algorithm>

namespace radl::engine::cluster {

bool Membership::present(const Seat& member) const {
  const auto found = present_.find(member.index);
  return found != present_.end() && found->second.seat == member;
}

bool Membership::in_view(const Seat& member) const {
  return std::find(view_.members.begin(), view_.members.end(), member) != view_.members.end();
}

void Membership::arrived(const Seat& member) {
  const auto former = present_.find(member.index);
  const bool replaces = former != present_.end() && in_view(former->second.seat);
  present_[member.index] = {member, std::nullopt};
  if (!replaces) return;
  change();
  decide_if_all_stand();
}

void Membership::lost(const Seat& member) {
  if (!present(member)) return;
  present_.erase(member.index);
  if (in_view(member)) change();
  decide_if_all_stand();
}

void Membership::stands(const Seat& member, const Border& border) {
  if (!present(member) || border.epoch != (in_view(member) ? view_.epoch : 0)) return;
  present_[member.index].standing = border;
  change();
  decide_if_all_stand();
}

void Membership::change() {
  if (std::exchange(changing_, true)) return;
  for (const Seat& seat : view_.members) {
    if (present(seat) && !present_[seat.index].standing)
      orders_.push_back({seat, MessageType::Freeze, {.epoch = view_.epoch}});
  }
}

void Membership::decide_if_all_stand() {
  const auto stands = [](const auto& one) { return one.second.standing.has_value(); };
  const bool all = std::all_of(present_.begin(), present_.end(),
                               [&](const auto& one) { return stands(one) || !in_view(one.second.seat); });
  const auto ready = static_cast<size_t>(std::count_if(present_.begin(), present_.end(), stands));
  if (!changing_ || !all || ready == 0 || (view_.epoch == 0 && ready < expected_)) return;
  const auto furthest = [this] {
    uint64_t most = 0;
    for (const auto& [index, one] : present_)
      if (one.standing && !one.standing->fresh) most = std::max(most, one.standing->done);
    return most;
  };
  fruitless_ = view_.epoch > 0 && furthest() == decided_at_ ? fruitless_ + 1 : 0;
  if (fruitless_ >= kFruitless) drop_blamed();
  View next{.epoch = view_.epoch + 1};
  decided_at_ = furthest();
  bool found = false;
  for (const auto& [index, one] : present_) {
    if (!one.standing) continue;
    const bool is_source = !one.standing->fresh && one.standing->done == decided_at_;
    if (is_source && !std::exchange(found, true)) next.source = index;
    next.hand_over |= !is_source;
    next.members.push_back(one.seat);
  }
  view_ = std::move(next);
  changing_ = false;
  for (auto& [index, one] : present_) {
    if (std::exchange(one.standing, std::nullopt)) orders_.push_back({one.seat, MessageType::View, view_});
  }
}

// Removes the member that most others cannot reach. The chief stays: who cannot reach it goes.
void Membership::drop_blamed() {
  std::map<uint32_t, int> votes;
  for (const auto& [index, one] : present_) {
    if (!one.standing) continue;
    const int32_t silent = one.standing->silent;
    if (silent < 0 || !present_.contains(static_cast<uint32_t>(silent))) continue;
    if (const uint32_t blamed = silent == 0 ? index : static_cast<uint32_t>(silent); blamed != 0)
      ++votes[blamed];
  }
  if (votes.empty()) return;
  const uint32_t most = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
                          return std::pair(a.second, a.first) < std::pair(b.second, b.first);
                        })->first;
  orders_.push_back({present_[most].seat, MessageType::Stop, {}});
  present_.erase(most);
  fruitless_ = 0;
}

void Attendance::decided(View view) {
  if (view.epoch > view_.epoch && (!next_ || view.epoch > next_->epoch)) next_ = std::move(view);
}

Border Attendance::stand(uint64_t done, bool fresh, int32_t silent) {
  standing_ = true;
  return {view_.epoch, done, fresh, silent};
}

std::optional<View> Attendance::take_view() {
  if (!standing_ || !next_) return std::nullopt;
  view_ = *std::exchange(next_, std::nullopt);
  standing_ = false;
  return view_;
}

std::optional<uint32_t> Attendance::rank_of(const View& view, uint32_t index) {
  for (uint32_t i = 0; i < view.members.size(); ++i)
    if (view.members[i].index == index) return i;
  return std::nullopt;
}

}  // namespace radl::engine::cluster
