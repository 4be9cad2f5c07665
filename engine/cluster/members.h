// Membership of a training without servers, and how members agree on it (docs/wire.md, "Membership").
//
// The chief decides. A change freezes the current view: each member leaves its exchange, restores its last
// border, and reports the step of that border. When all present members have restored a border, the chief
// decides the next view, and all resume from the furthest of these borders. A new member is admitted once it
// has reported that it is ready; no member waits for it before.
//
// If the chief is lost, the next member of the view takes over (Succession). A view needs most members of the
// views before it, unless the others are known to have ended, so two halves of a job never both continue.
//
// All classes are state machines without threads, links or clocks: the caller reports events, and sends the
// requested messages in order.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cluster/message.h"

namespace radl::engine::cluster {

// Epochs count within a term, and each term has one chief: worker 0 in the first term, later the worker that
// took over. So no two chiefs decide the same epoch, and later terms have larger epochs.
uint32_t chief_of(uint64_t epoch);
// The first epoch of the term that `chief` (below 65536) begins after a view of `last`, minus one.
uint64_t next_term(uint64_t last, uint32_t chief);

// The chief's side.
class Membership {
 public:
  // A message to send to a member. Freeze carries the view's epoch; Stop ends the member.
  struct Order {
    Seat to;
    MessageType type = MessageType::View;  // or Freeze, Stop
    View view;
  };

  // The first view waits for `expected` members, including the chief.
  explicit Membership(size_t expected) : expected_(expected) {}
  // `self` replaces a lost chief. `known`: from its Attendance. Waits for the members of the last of these
  // views until they have arrived, or until stop_waiting().
  Membership(const Seat& self, const std::vector<View>& known);

  // A member is reachable, possibly the chief itself. It replaces its former incarnation.
  void arrived(const Seat& member);
  void lost(const Seat& member);
  // The member has left its exchange. Ignored if the report is for a view other than the member's.
  void stands(const Seat& member, const Border& border);
  // The member has been in this view, but does not know whether all others were.
  void knows(const Seat& member, const View& view);
  // The member's process has certainly ended: nothing listens at its address, or it sent Leave.
  void gone(const Seat& member);
  // The member was silent for a while. It may have decided views meanwhile, so its later end proves
  // nothing.
  void silent(const Seat& member);
  // Whether the member can replace a lost chief. If no other member of a view can, this chief needs none of
  // them, because no part of the job continues without it. By default a member can.
  void able(const Seat& member, bool can_lead);
  // This chief has taken over, and no member that may still come has the lost one's state.
  bool has_no_state() const;
  // Another member of the view can take over from this chief.
  bool has_successor() const;
  void stop_waiting();
  // Whether the links between members are long (collective.h): then large views are direct, too.
  void set_far(bool far) { far_ = far; }
  // All members of the current view have taken it, because a sum of it is complete.
  void complete();
  // Members to probe: those awaited, or those without whom no view can be decided.
  std::vector<Seat> needed() const;

  // True if the current view is frozen, or none has been decided yet.
  bool changing() const { return changing_ || view_.epoch == 0; }
  const View& view() const { return view_; }
  bool present(const Seat& member) const;
  std::vector<Order> take_orders() { return std::exchange(orders_, {}); }

 private:
  struct Present {
    Seat seat;
    std::optional<Border> standing;
    std::optional<uint64_t> stale;  // batches done at a border of another history, until it has a new one
  };
  bool in_view(const Seat& member) const;
  bool is_gone(const Seat& member) const;
  bool is_most_of(const View& view) const;
  void change();
  void decide_if_all_stand();
  void drop_blamed();

  static constexpr size_t kMostDirect = 16;  // members of a direct view with short links
  // After this many views in a row without an update, members that cannot reach each other are separated.
  static constexpr int kFruitless = 2;

  const size_t expected_;
  const uint32_t self_ = 0;              // the chief
  std::map<uint32_t, Present> present_;  // by index
  View view_;
  std::vector<Seat> awaited_;  // by a chief that takes over
  std::vector<Seat> gone_, silent_;
  std::vector<Seat> followers_;     // cannot lead
  std::map<uint64_t, View> known_;  // the last view that all its members took, and later ones
  bool changing_ = false, far_ = false;
  bool takes_over_ = false;  // this term has no view yet
  int fruitless_ = 0;
  uint64_t decided_at_ = 0;  // the furthest border when the view was decided
  std::vector<Order> orders_;
};

// A member's side, also used for the chief itself.
class Attendance {
 public:
  // The chief's link delivered this message.
  void freeze(uint64_t epoch) { frozen_epoch_ = std::max(frozen_epoch_, epoch); }
  void decided(View view);
  // The chief is lost: this member leaves its exchange, and a view that it has not taken is dropped.
  void lost_chief() { next_.reset(), freeze(view_.epoch); }

  // True if the member must leave its exchange.
  bool frozen() const { return standing_ || frozen_epoch_ >= view_.epoch; }
  // The member has left its exchange at this border. `fresh`: it has no state yet. `silent`: index of a
  // neighbor that was unreachable or became silent; -1: none. Returns its report to the chief.
  Border stand(uint64_t done, bool fresh, int32_t silent);
  // Returns the view that the chief decided after stand(), once.
  std::optional<View> take_view();
  const View& view() const { return view_; }
  // A sum of the view is complete, so all its members have taken it.
  void complete();
  // The last view known to be complete, and those that this member has taken since, in order.
  const std::vector<View>& known() const { return known_; }
  // The position of `index` in the view; nullopt if it is not in it.
  static std::optional<uint32_t> rank_of(const View& view, uint32_t index);

 private:
  View view_;  // the member's current view
  std::vector<View> known_;
  std::optional<View> next_;
  bool standing_ = true;
  uint64_t frozen_epoch_ = 0;  // may belong to a view that take_view() has not returned yet
};

// The candidates for a member that lost its view's chief: it asks the others by index until one leads or its
// own turn comes.
class Succession {
 public:
  enum class Answer {
    Undecided,  // it also looks for a chief, or has not noticed the loss
    Gone,       // no process
    Silent
  };
  Succession(const View& view, const Seat& self);
  // The candidate to ask now. If it is this member, it leads.
  const Seat& candidate() const { return candidates_[at_]; }
  // The candidate does not lead. Returns true to wait a moment before the next question.
  bool answered(Answer answer);

 private:
  std::vector<Seat> candidates_;
  size_t at_ = 0, self_ = 0;
};

}  // namespace radl::engine::cluster
