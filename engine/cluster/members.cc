#include "engine/cluster/members.h"

#include <algorithm>

namespace radl::engine::cluster {

uint32_t chief_of(uint64_t epoch) { return static_cast<uint32_t>((epoch >> 32) & 0xffff); }

uint64_t next_term(uint64_t last, uint32_t chief) {
  return (((last >> 48) + 1) << 48) | uint64_t{chief} << 32;
}

Membership::Membership(const Seat& self, const std::vector<View>& known)
    : expected_(1), self_(self.index), view_(known.back()), changing_(true), takes_over_(true) {
  for (const View& view : known) known_[view.epoch] = view;
  for (const Seat& seat : view_.members)
    if (!(seat == self) && seat.index != chief_of(view_.epoch)) awaited_.push_back(seat);
  present_[self.index] = {self, std::nullopt, std::nullopt};
}

bool Membership::present(const Seat& member) const {
  const auto found = present_.find(member.index);
  return found != present_.end() && found->second.seat == member;
}

bool Membership::in_view(const Seat& member) const {
  return std::find(view_.members.begin(), view_.members.end(), member) != view_.members.end();
}

bool Membership::is_gone(const Seat& member) const {
  if (std::find(silent_.begin(), silent_.end(), member) != silent_.end()) return false;
  const auto now = present_.find(member.index);  // a restarted one has ended before
  return std::find(gone_.begin(), gone_.end(), member) != gone_.end() ||
         (now != present_.end() && !(now->second.seat == member));
}

void Membership::able(const Seat& member, bool can_lead) {
  std::erase(followers_, member);
  if (!can_lead) followers_.push_back(member);
  decide_if_all_stand();
}

// Of those that may still run, more than half stand at a border, or half of them with the view's chief, or
// with the first if the chief has ended. This chief suffices if nobody else can lead.
bool Membership::is_most_of(const View& view) const {
  const auto follows = [this](const Seat& seat) {
    return std::find(followers_.begin(), followers_.end(), seat) != followers_.end() || is_gone(seat);
  };
  if (std::ranges::all_of(view.members,
                          [&](const Seat& seat) { return seat.index == self_ || follows(seat); }))
    return true;
  size_t running = 0, stand = 0;
  bool first = false, chief = false;
  for (const Seat& seat : view.members) {
    if (is_gone(seat)) continue;
    const bool stands = present(seat) && present_.at(seat.index).standing.has_value();
    if (running++ == 0 && !chief) first = stands;
    if (seat.index == chief_of(view.epoch)) chief = true, first = stands;
    stand += stands ? 1 : 0;
  }
  return 2 * stand > running || (2 * stand == running && first) || running == 0;
}

void Membership::knows(const Seat& member, const View& view) {
  if (present(member) && takes_over_ && (known_.empty() || view.epoch >= known_.begin()->first))
    known_[view.epoch] = view;
}

void Membership::silent(const Seat& member) {
  const bool known = std::find(silent_.begin(), silent_.end(), member) != silent_.end();
  if (!known && !is_gone(member) && !present(member)) silent_.push_back(member);
}

void Membership::gone(const Seat& member) {
  const bool known = std::find(gone_.begin(), gone_.end(), member) != gone_.end();
  if (!known && std::find(silent_.begin(), silent_.end(), member) == silent_.end()) gone_.push_back(member);
  std::erase(awaited_, member);
  decide_if_all_stand();
}

bool Membership::has_no_state() const {
  return takes_over_ && awaited_.empty() && std::ranges::all_of(present_, [](const auto& one) {
           return one.second.standing && one.second.standing->fresh;
         });
}

bool Membership::has_successor() const {
  return std::ranges::any_of(view_.members, [this](const Seat& seat) {
    return seat.index != self_ && present(seat) && std::ranges::find(followers_, seat) == followers_.end();
  });
}

void Membership::stop_waiting() {
  awaited_.clear();
  decide_if_all_stand();
}

void Membership::complete() {
  if (changing() || known_.size() <= 1) return;
  known_ = {{view_.epoch, view_}};
  for (auto* seats : {&gone_, &silent_})
    std::erase_if(*seats, [this](const Seat& seat) { return !in_view(seat); });
}

std::vector<Seat> Membership::needed() const {
  std::vector<Seat> out = awaited_;
  if (!changing_) return out;
  for (const auto& [epoch, view] : known_) {
    if (is_most_of(view)) continue;
    for (const Seat& seat : view.members)
      if (!present(seat) && !is_gone(seat) && std::find(out.begin(), out.end(), seat) == out.end())
        out.push_back(seat);
  }
  return out;
}

void Membership::arrived(const Seat& member) {
  std::erase_if(awaited_, [&member](const Seat& seat) { return seat.index == member.index; });
  const auto former = present_.find(member.index);
  const bool replaces = former != present_.end() && in_view(former->second.seat);
  present_[member.index] = {member, std::nullopt, std::nullopt};
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
  if (!present(member)) return;
  Border said = border;
  if (!takes_over_ && in_view(member) && border.epoch != view_.epoch) return;
  // One that comes from a view that this chief has not decided, or no longer has it in: its border may be of
  // another history.
  std::optional<uint64_t>& stale = present_[member.index].stale;
  if (!takes_over_ && !in_view(member) && border.epoch != 0)
    stale = border.done;
  else if (stale != border.done)
    stale.reset();
  said.fresh |= stale.has_value();
  present_[member.index].standing = said;
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
  if (!awaited_.empty() ||
      !std::ranges::all_of(known_, [this](const auto& one) { return is_most_of(one.second); }))
    return;
  // Of a takeover, the borders of the latest view: earlier ones may be of another history.
  uint64_t latest = 0;
  for (const auto& [index, one] : present_)
    if (one.standing && !one.standing->fresh) latest = std::max(latest, one.standing->epoch);
  const auto counts = [&](const Present& one) {
    return one.standing && !one.standing->fresh && (!takes_over_ || one.standing->epoch == latest);
  };
  if (std::ranges::none_of(present_, [&](const auto& one) { return counts(one.second); })) return;
  const auto furthest = [&] {
    uint64_t most = 0;
    for (const auto& [index, one] : present_)
      if (counts(one)) most = std::max(most, one.standing->done);
    return most;
  };
  fruitless_ = view_.epoch > 0 && furthest() == decided_at_ ? fruitless_ + 1 : 0;
  if (fruitless_ >= kFruitless) drop_blamed();
  View next{.epoch = view_.epoch + 1};
  if (takes_over_) next.epoch = next_term(known_.rbegin()->first, self_) + 1;
  decided_at_ = furthest();
  bool found = false;
  for (const auto& [index, one] : present_) {
    if (!one.standing) continue;
    const bool is_source = counts(one) && one.standing->done == decided_at_;
    if (is_source && !std::exchange(found, true)) next.source = index;
    next.hand_over |= !is_source;
    next.members.push_back(one.seat);
  }
  next.direct = far_ || next.members.size() <= kMostDirect;
  view_ = std::move(next);
  known_[view_.epoch] = view_;
  changing_ = takes_over_ = false;
  for (auto& [index, one] : present_) {
    if (std::exchange(one.standing, std::nullopt)) orders_.push_back({one.seat, MessageType::View, view_});
  }
}

// Removes the member that most others cannot reach. The chief stays: who cannot reach it goes.
void Membership::drop_blamed() {
  std::map<uint32_t, int> votes;
  const auto chief = static_cast<int32_t>(takes_over_ ? self_ : chief_of(view_.epoch));
  for (const auto& [index, one] : present_) {
    if (!one.standing) continue;
    const int32_t silent = one.standing->silent;
    if (silent < 0 || !present_.contains(static_cast<uint32_t>(silent))) continue;
    if (const uint32_t blamed = silent == chief ? index : static_cast<uint32_t>(silent);
        static_cast<int32_t>(blamed) != chief)
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
  known_.push_back(view_);
  standing_ = false;
  return view_;
}

void Attendance::complete() {
  if (known_.size() > 1) known_ = {view_};
}

std::optional<uint32_t> Attendance::rank_of(const View& view, uint32_t index) {
  for (uint32_t i = 0; i < view.members.size(); ++i)
    if (view.members[i].index == index) return i;
  return std::nullopt;
}

Succession::Succession(const View& view, const Seat& self) {
  for (const Seat& seat : view.members) {
    if (seat.index == chief_of(view.epoch)) continue;
    if (seat == self) self_ = candidates_.size();
    candidates_.push_back(seat);
  }
}

bool Succession::answered(Answer answer) {
  if (answer == Answer::Undecided) {
    at_ = 0;
    return true;
  }
  at_ = std::min(at_ + 1, self_);
  return false;
}

}  // namespace radl::engine::cluster
