// Who takes part in a training without servers, and how its members agree on it (docs/wire.md, "Membership").
//
// The chief decides. A change freezes the current view: each member leaves its exchange, restores its last
// border, and reports the step of that border. When all its present members have restored a border, the chief
// decides the next view, and all resume from the furthest of these borders. A member that arrives is let in
// once it has reported that it is ready: nobody waits for it before.
//
// Both classes are state machines without threads, links or clocks: the caller reports what happened, and
// sends what they ask for, in that order.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cluster/message.h"

namespace radl::engine::cluster {

// The chief's half.
class Membership {
 public:
  // What to send to a member. Freeze carries the epoch of the view, Stop ends the member.
  struct Order {
    Seat to;
    MessageType type = MessageType::View;  // or Freeze, Stop
    View view;
  };

  // The first view waits for `expected` members, the chief included.
  explicit Membership(size_t expected) : expected_(expected) {}

  // A member can be reached, the chief itself among them. It replaces its former incarnation.
  void arrived(const Seat& member);
  void lost(const Seat& member);
  // The member has left its exchange. Ignored if the report is of another view than the member's.
  void stands(const Seat& member, const Border& border);

  // Whether the current view is frozen, or none has been decided yet.
  bool changing() const { return changing_ || view_.epoch == 0; }
  const View& view() const { return view_; }
  bool present(const Seat& member) const;
  std::vector<Order> take_orders() { return std::exchange(orders_, {}); }

 private:
  struct Present {
    Seat seat;
    std::optional<Border> standing;
  };
  bool in_view(const Seat& member) const;
  void change();
  void decide_if_all_stand();
  void drop_blamed();

  // So many views in a row without an update, and the members that cannot reach each other are separated.
  static constexpr int kFruitless = 2;

  const size_t expected_;
  std::map<uint32_t, Present> present_;  // by index
  View view_;
  bool changing_ = false;
  int fruitless_ = 0;
  uint64_t decided_at_ = 0;  // the furthest border when the view was decided
  std::vector<Order> orders_;
};

// A member's half, the chief's own included.
class Attendance {
 public:
  // The link to the chief brought this.
  void freeze(uint64_t epoch) { frozen_epoch_ = std::max(frozen_epoch_, epoch); }
  void decided(View view);

  // Whether the member must leave its exchange.
  bool frozen() const { return standing_ || frozen_epoch_ >= view_.epoch; }
  // It has left it, at this border. `fresh`: it has no state yet. `silent`: index of a neighbor that it could
  // not reach, or that became silent; -1: none. Its report to the chief.
  Border stand(uint64_t done, bool fresh, int32_t silent);
  // The view that the chief decided after stand(), once.
  std::optional<View> take_view();
  const View& view() const { return view_; }
  // The position of `index` in the view; nullopt if it is not in it.
  static std::optional<uint32_t> rank_of(const View& view, uint32_t index);

 private:
  View view_;  // that the member is in
  std::optional<View> next_;
  bool standing_ = true;
  uint64_t frozen_epoch_ = 0;  // perhaps of a view that take_view() has not given yet
};

}  // namespace radl::engine::cluster
