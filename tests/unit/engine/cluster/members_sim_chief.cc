// Who leads in the simulation, and what the chief decides.
#include "tests/unit/engine/cluster/members_sim_job.h"

namespace radl::engine::cluster::sim {

void Job::lead(Member& m) {
  m.chief = m.seat;
  m.leads = m.attendance.known().empty() ? std::make_shared<Membership>(static_cast<size_t>(size_))
                                         : std::make_shared<Membership>(m.seat, m.attendance.known());
  if (m.attendance.known().empty()) {
    m.leads->arrived(m.seat);
  } else if (!is(Mutant::LeadsWithoutMost)) {
    for (const Seat& seat : m.silent)
      if (!(seat == m.seat)) m.leads->silent(seat);
  }
  const Seat seat = m.seat;
  on(seat, now_ + 2 * kSilence, [this](Member& c) {
    c.leads->stop_waiting();
    carry_out(c);
  });
  look_for(seat, now_);
}

// Asks those without whom no view can be decided.
void Job::look_for(const Seat& chief, Clock since) {
  on(chief, now_ + 0.1, [this, chief, since](Member& c) {
    if (c.leads->changing() && now_ - since > kPatience) return end(chief);  // start_timeout
    // It cannot let anybody in without these, or without all members of the first view.
    if (!c.leads->needed().empty() || c.leads->view().epoch == 0) waiting_since_.clear();
    for (const Seat& seat : c.leads->needed()) {
      Member* other = find(seat);
      const bool cut = is_cut(seat.index, chief.index);
      if ((cut || (other != nullptr && other->stopped_until > now_)) && !is(Mutant::LeadsWithoutMost))
        c.leads->silent(seat);
      if ((other == nullptr && !cut) || is(Mutant::LeadsWithoutMost)) {
        c.leads->gone(seat);
        carry_out(c);
      } else if (!cut && other->stopped_until <= now_ &&
                 other->attendance.view().epoch > c.attendance.view().epoch &&
                 chief_of(other->attendance.view().epoch) != chief.index) {
        return end(chief);  // the others continue without it
      }
    }
    look_for(chief, c.leads->changing() ? since : now_);
  });
}

void Job::follow(Member& m, const Seat& chief) {
  m.chief = chief;
  closed_.erase({m.seat.incarnation, chief.incarnation});
  const Seat seat = m.seat;
  tell_chief(seat, [seat](Membership& membership) { membership.arrived(seat); });
  for (const View& view : m.attendance.known())
    tell_chief(seat, [seat, view](Membership& membership) { membership.knows(seat, view); });
}

void Job::lose_chief(Member& m, bool silent) {
  if (m.leads) return;
  if (silent && m.chief) m.silent.push_back(*m.chief);
  m.chief.reset();
  waiting_since_.erase(m.seat.index);
  m.attendance.lost_chief();
  if (m.attendance.view().epoch > 0 && !m.linked && m.fresh && m.attendance.known().empty()) return;
  stand(m, -1);
  look_for_chief(m.seat);
}

// Nobody is left who was in a view: the job is started again as a whole, with the links mended.
void Job::begin_again() {
  for (auto& [index, m] : members_) m.up &= index == 0;
  waiting_since_.clear();
  visible_.clear();
  visible_epoch_ = 0;
  digests_.clear();
  stale_.clear();
  cut_.clear();
  for (int i = 1; i < size_; ++i) start(static_cast<uint32_t>(i), now_ + uniform(0.001, 0.2));
}

// As LinkedParty does it, but that an answer takes no time.
void Job::look_for_chief(const Seat& seat) {
  on(seat, now_ + uniform(0.02, 0.1), [this, seat](Member& m) {
    if (m.chief) return;
    const auto follows = [&](uint32_t index) {
      const auto found = members_.find(index);
      if (found == members_.end() || index == seat.index || is_cut(index, seat.index)) return false;
      const Member& other = found->second;
      if (!other.up || !other.leads || other.stopped_until > now_) return false;
      follow(m, other.seat);
      return true;
    };
    const std::vector<View>& known = m.attendance.known();
    if (known.empty()) {  // in no view yet
      bool runs = false;
      for (const auto& [index, other] : members_) {
        if (index == seat.index || !other.up) continue;
        if (follows(index)) return stand(m, -1);
        runs |= other.attendance.view().epoch > 0;
      }
      if (seat.index == 0 && (!runs || is(Mutant::RestartedChiefLeads))) {
        m.fresh = false;
        if (!runs) begin_again();
        lead(m);
        return stand(m, -1);
      }
      return look_for_chief(seat);
    }
    if (follows(chief_of(known.back().epoch))) return stand(m, -1);
    Succession order(known.back(), seat);
    for (bool wait = false; !wait;) {
      const Seat& candidate = order.candidate();
      if (candidate == seat) {
        if (is(Mutant::NobodyLeads)) break;
        lead(m);
        return stand(m, -1);
      }
      if (follows(candidate.index)) return stand(m, -1);
      const Member* other = find(candidate);
      wait = order.answered(other == nullptr ? Succession::Answer::Gone
                            : is_cut(candidate.index, seat.index) || other->stopped_until > now_
                                ? Succession::Answer::Silent
                                : Succession::Answer::Undecided);
    }
    look_for_chief(seat);
  });
}

void Job::carry_out(Member& chief) {
  for (const Membership::Order& order : chief.leads->take_orders()) {
    if (order.type == MessageType::Freeze && is(Mutant::NobodyFreezes)) continue;
    View view = order.view;
    if (order.type == MessageType::View) {
      if (is(Mutant::WaitsForArrivals) && has_arrival()) continue;
      waiting_since_.erase(order.to.index);
      if (is(Mutant::NoHandOver)) view.hand_over = false;
      if (is(Mutant::LeastBorderWins)) {
        const auto order = [this](const Seat& a, const Seat& b) {
          const Member &x = members_.at(a.index), &y = members_.at(b.index);
          return std::pair(x.fresh, x.state.done) < std::pair(y.fresh, y.state.done);
        };
        view.source = std::min_element(view.members.begin(), view.members.end(), order)->index;
        view.hand_over = true;
      }
    }
    if (order.type == MessageType::View) ++views_;
    send(chief.seat, order.to.index, [this, order, view, from = chief.seat](Member& m) {
      if (!(m.seat == order.to) || !m.chief || !(*m.chief == from)) return;
      if (order.type == MessageType::Stop) return end(m.seat);
      if (order.type == MessageType::Freeze) {
        m.attendance.freeze(view.epoch);
        if (m.attendance.frozen()) stand(m, -1);
      } else {
        m.attendance.decided(view);
        take_view(m);
      }
    });
  }
}

}  // namespace radl::engine::cluster::sim
