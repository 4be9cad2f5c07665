// Who takes part in a training without servers, and how its members agree on it (docs/wire.md, "Membership").
//
// The chief decides. A change freezes the current view: each member leaves its exchange, restores its last
// border, and reports the step of that border. When all its present members have restored a border, the chief
// decides the next view, and all resume from the furthest of these borders. A member that arrives is let in
// once it has reported that it is ready: nobody waits for it before.
//
// If the chief is lost, the next member of the view takes over (Succession). A view needs most members of the
// views before it, unless the others are known to have ended: two halves of a job never both go on.
//
// All classes are state machines without threads, links or clocks: the caller reports what happened, and
// sends what they ask for, in that order.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cluster/message.h"

namespace radl::engine::cluster {

// Epochs count within a term, and each term has one chief: the first term worker 0, later ones whoever took
// over. So no two chiefs decide the same epoch, and later terms have larger epochs.
uint32_t chief_of(uint64_t epoch);
// The first epoch of the term that `chief` (below 65536) begins after a view of `last`, minus one.
uint64_t next_term(uint64_t last, uint32_t chief);

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
  // `self` takes over from a lost chief. `known`: what its Attendance has. Waits for the members of the last
  // of these views until they have arrived, or stop_waiting().
  Membership(const Seat& self, const std::vector<View>& known);

  // A member can be reached, the chief itself among them. It replaces its former incarnation.
  void arrived(const Seat& member);
  void lost(const Seat& member);
  // The member has left its exchange. Ignored if the report is of another view than the member's.
  void stands(const Seat& member, const Border& border);
  // The member has been in this view, and does not know whether all others were.
  void knows(const Seat& member, const View& view);
  // The member's process has ended, for certain: nobody listens at its address, or it said Leave.
  void gone(const Seat& member);
  // The member was not heard of for a while. It may have decided views meanwhile, so its later end proves
  // nothing.
  void silent(const Seat& member);
  // Whether the member can take over from a lost chief. If no other member of a view can, this chief needs
  // none of them: no part of the job continues without it. Until it is told, a member can.
  void able(const Seat& member, bool can_lead);
  // This chief has taken over, and no member that may still come has the lost one's state.
  bool has_no_state() const;
  // Another member of the view can take over from this chief.
  bool has_successor() const;
  void stop_waiting();
  // All members of the present view have taken it: a sum of it is complete.
  void complete();
  // Whom to ask for a sign of life: those that are awaited, or without whom no view can be decided.
  std::vector<Seat> needed() const;

  // Whether the current view is frozen, or none has been decided yet.
  bool changing() const { return changing_ || view_.epoch == 0; }
  const View& view() const { return view_; }
  bool present(const Seat& member) const;
  std::vector<Order> take_orders() { return std::exchange(orders_, {}); }

 private:
  struct Present {
    Seat seat;
    std::optional<Border> standing;
    std::optional<uint64_t> stale;  // batches done at a border of another history, until it has another one
  };
  bool in_view(const Seat& member) const;
  bool is_gone(const Seat& member) const;
  bool is_most_of(const View& view) const;
  void change();
  void decide_if_all_stand();
  void drop_blamed();

  // So many views in a row without an update, and the members that cannot reach each other are separated.
  static constexpr int kFruitless = 2;

  const size_t expected_;
  const uint32_t self_ = 0;              // the chief
  std::map<uint32_t, Present> present_;  // by index
  View view_;
  std::vector<Seat> awaited_;  // by a chief that takes over
  std::vector<Seat> gone_, silent_;
  std::vector<Seat> followers_;     // cannot lead
  std::map<uint64_t, View> known_;  // the last view that all its members took, and those since
  bool changing_ = false;
  bool takes_over_ = false;  // no view of this term yet
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
  // It has ended: this member leaves its exchange, and a view that it has not taken does not come about.
  void lost_chief() { next_.reset(), freeze(view_.epoch); }

  // Whether the member must leave its exchange.
  bool frozen() const { return standing_ || frozen_epoch_ >= view_.epoch; }
  // It has left it, at this border. `fresh`: it has no state yet. `silent`: index of a neighbor that it could
  // not reach, or that became silent; -1: none. Its report to the chief.
  Border stand(uint64_t done, bool fresh, int32_t silent);
  // The view that the chief decided after stand(), once.
  std::optional<View> take_view();
  const View& view() const { return view_; }
  // A sum of the view is complete, so all its members have taken it.
  void complete();
  // The last view of which that is known, and those that this member has taken since, in their order.
  const std::vector<View>& known() const { return known_; }
  // The position of `index` in the view; nullopt if it is not in it.
  static std::optional<uint32_t> rank_of(const View& view, uint32_t index);

 private:
  View view_;  // that the member is in
  std::vector<View> known_;
  std::optional<View> next_;
  bool standing_ = true;
  uint64_t frozen_epoch_ = 0;  // perhaps of a view that take_view() has not given yet
};

// Whom a member asks that has lost the chief of its view: the others by index, until one leads, or it is its
// own turn to lead.
class Succession {
 public:
  enum class Answer {
    Undecided,  // it looks for a chief as well, or has not noticed the loss
    Gone,       // no process
    Silent
  };
  Succession(const View& view, const Seat& self);
  // The one to ask now; this member itself: it leads.
  const Seat& candidate() const { return candidates_[at_]; }
  // The candidate does not lead. True: wait a moment before the next question.
  bool answered(Answer answer);

 private:
  std::vector<Seat> candidates_;
  size_t at_ = 0, self_ = 0;
};

}  // namespace radl::engine::cluster
