#include "tests/unit/engine/cluster/members_sim_job.h"

namespace radl::engine::cluster::sim {

Job::Member* Job::find(const Seat& seat) {
  auto found = members_.find(seat.index);
  return found != members_.end() && found->second.up && found->second.seat == seat ? &found->second : nullptr;
}

void Job::on(const Seat& seat, Clock when, std::function<void(Member&)> what) {
  at(when, [this, seat, what = std::move(what)] {
    Member* m = find(seat);
    if (m == nullptr) return;
    if (m->stopped_until > now_) return on(seat, m->stopped_until, what);
    what(*m);
  });
}

void Job::send(const Seat& from, uint32_t to_index, std::function<void(Member&)> what) {
  auto to = members_.find(to_index);
  if (to == members_.end()) return;
  const Seat seat = to->second.seat;
  Clock& last = fifo_[{from.incarnation, seat.incarnation}];
  Clock arrives = std::max(now_ + uniform(0.001, 0.03), last);
  // A cut delays what is under way, as a retransmission does; if it lasts, the link breaks.
  if (auto blocked = cut_.find({from.index, to_index}); blocked != cut_.end() && blocked->second > now_)
    arrives = std::max(arrives, blocked->second + 0.01);
  last = arrives + 1e-6;
  on(seat, arrives, std::move(what));
}

// Over the control link; `what` runs at the chief.
void Job::tell_chief(const Seat& from, std::function<void(Membership&)> what) {
  Member* m = find(from);
  if (m == nullptr || !m->chief) return;
  const Seat chief = *m->chief;
  send(from, chief.index, [this, from, chief, what = std::move(what)](Member& c) {
    if (!(c.seat == chief) || !c.leads || closed_.contains({from.incarnation, chief.incarnation})) return;
    what(*c.leads);
    carry_out(c);
  });
}

// Its links: the chief learns of it, and so do its neighbors.
void Job::lose(const Seat& seat, Clock after) {
  if (!is(Mutant::LossesAreIgnored)) {
    for (auto& [index, m] : members_) {
      if (index == seat.index || !m.up) continue;
      // What it sent before is read before the end of the link, unless it is still held up then.
      const Clock read = std::min(fifo_[{seat.incarnation, m.seat.incarnation}] + 1e-6, now_ + 0.1);
      on(m.seat, std::max(now_ + after, read), [this, seat, after](Member& other) {
        if (other.chief && *other.chief == seat) return lose_chief(other, after >= kSilence);
        closed_.insert({seat.incarnation, other.seat.incarnation});
        if (!other.leads) return;
        other.leads->lost(seat);
        if (after >= kSilence) other.leads->silent(seat);
        carry_out(other);
      });
    }
  }
  for (auto& [index, m] : members_) {
    if (index == seat.index || !m.up) continue;
    on(m.seat, now_ + after, [this, seat, after](Member& other) {
      const View& view = other.attendance.view();
      const bool linked = view.epoch > 0 && !other.attendance.frozen() &&
                          (neighbor(other, 1) == seat || neighbor(other, -1) == seat);
      if (linked) stand(other, after >= kSilence ? static_cast<int32_t>(seat.index) : -1);
    });
  }
}

// The process ends: its peers see closed links.
void Job::end(const Seat& seat) {
  Member* m = find(seat);
  if (m == nullptr) return;
  m->up = false;
  waiting_since_.erase(seat.index);
  lose(seat, uniform(0.001, 0.03));
  if (seat.index == 0 || whole(0, 2) > 0) start(seat.index, now_ + uniform(0.3, 2));  // it is restarted
}

void Job::start(uint32_t index, Clock when) {
  at(when, [this, index] {
    if (auto found = members_.find(index); found != members_.end() && found->second.up) return;
    Member m;
    m.seat = {index, ++incarnations_};
    members_[index] = std::move(m);
    const Seat seat = members_[index].seat;
    // It opens its data first if the job runs. Some never come back from that.
    Member* chief = chief_now();
    const bool begins = chief == nullptr || chief->attendance.view().epoch == 0;
    const Clock opens = begins ? 0 : index != 0 && whole(0, 4) == 0 ? kEnd : uniform(0, 2);
    on(seat, now_ + opens, [this, seat](Member&) { look_for_chief(seat); });
  });
}

Result Job::run() {
  const int size = whole(1, 5);
  size_ = size;
  for (int i = 0; i < size; ++i) start(static_cast<uint32_t>(i), i == 0 ? 0 : uniform(0.001, 0.2));
  inject_faults(size);
  const auto finished = [this]() -> const Member* {
    for (const auto& [index, m] : members_)
      if (m.up && m.finished) return &m;
    return nullptr;
  };
  while (!events_.empty() && now_ < kEnd && broken_.empty() && finished() == nullptr) {
    Event next = events_.top();
    events_.pop();
    now_ = next.when;
    next.what();
    for (const auto& [index, since] : waiting_since_)
      if (now_ - since > kPatience && find(members_.at(index).seat) != nullptr)
        fail("a member waits without end to be let in");
  }
  if (broken_.empty() && finished() == nullptr) fail("no progress");
  if (broken_.empty() && finished()->state.done != kBatches) fail("a batch is in no update");
  return {broken_, now_, views_};
}

Result run(uint64_t seed, Mutant mutant) { return Job(seed, mutant).run(); }

}  // namespace radl::engine::cluster::sim
