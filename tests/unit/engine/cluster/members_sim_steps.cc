// A simulated member's views, links and steps, and what must hold at its borders.
#include "tests/unit/engine/cluster/members_sim_job.h"

namespace radl::engine::cluster::sim {

const Seat& Job::neighbor(const Member& m, int step) const {
  const auto& seats = m.attendance.view().members;
  const int n = static_cast<int>(seats.size());
  return seats[static_cast<size_t>((static_cast<int>(rank(m)) + step + n) % n)];
}

// Leaves the exchange and reports the border.
void Job::stand(Member& m, int32_t silent) {
  if (m.linked && is(Mutant::KeepsHalfAnUpdate) && !m.have.empty() && !m.fresh) {
    for (const auto& [rank, block] : m.have)
      m.state.digest = m.state.digest * 31 + block.batch.value_or(0) + 7;
  }
  const bool had_neighbors = m.attendance.view().epoch > 0 && !m.attendance.frozen();
  const std::vector<Seat> around =
      had_neighbors ? std::vector<Seat>{neighbor(m, 1), neighbor(m, -1)} : std::vector<Seat>{};
  Border border = m.attendance.stand(m.state.done, m.fresh, is(Mutant::NobodyIsBlamed) ? -1 : silent);
  const Seat seat = m.seat;
  if (!is(Mutant::GoesOnAfterStanding)) m.linked = m.ready = m.hello = false;
  // It closes its links: its neighbors stand as well.
  for (const Seat& other : around) {
    if (other == seat) continue;
    const uint64_t epoch = border.epoch;
    send(seat, other.index, [this, epoch, other](Member& peer) {
      if (peer.seat == other && peer.attendance.view().epoch == epoch && !peer.attendance.frozen())
        stand(peer, -1);
    });
  }
  if (!m.chief) return;
  tell_chief(seat, [this, seat, border](Membership& membership) {
    Border said = border;
    if (is(Mutant::BordersOfAnyView) && said.epoch > 0) said.epoch = membership.view().epoch;
    membership.stands(seat, said);
    if (said.epoch == 0 && membership.present(seat)) waiting_since_.try_emplace(seat.index, now_);
    if (is(Mutant::DoesNotWait)) {  // a member that has not answered is taken to stand where it was last
      const std::vector<Seat> members = membership.view().members;  // a new view may be decided on the way
      for (const Seat& other : members)
        if (Member* o = find(other); o != nullptr && !o->attendance.frozen())
          membership.stands(other, {membership.view().epoch, o->state.done, o->fresh, -1});
    }
  });
  take_view(m);
}

void Job::take_view(Member& m) {
  std::optional<View> view = m.attendance.take_view();
  if (!view) return;
  m.linked = m.computed = m.ready = m.hello = false;
  m.have.clear();
  m.early.clear();
  m.handed.reset();
  if (m.attendance.frozen()) return stand(m, -1);
  const Seat seat = m.seat;
  const uint64_t epoch = view->epoch;
  on(seat, now_ + kFormation, [this, epoch](Member& late) {
    if (late.attendance.view().epoch != epoch || late.linked || late.attendance.frozen()) return;
    stand(late, static_cast<int32_t>(neighbor(late, late.ready ? -1 : 1).index));
  });
  if (view->members.size() == 1) {
    m.ready = m.hello = true;
    return complete_links(m);
  }
  send(seat, neighbor(m, 1).index, [this, seat, epoch](Member& next) { greet(next, epoch, seat.index); });
  for (const auto& [of, from] : std::exchange(m.hellos, {})) {
    if (of >= epoch) greet(m, of, from);
  }
}

// The member before says Hello, perhaps before this one knows of the view.
void Job::greet(Member& m, uint64_t epoch, uint32_t from) {
  if (epoch > m.attendance.view().epoch) return m.hellos.push_back({epoch, from});
  if (epoch < m.attendance.view().epoch || m.attendance.frozen() || neighbor(m, -1).index != from) return;
  m.hello = true;
  send(m.seat, from, [this, epoch](Member& previous) {
    if (previous.attendance.view().epoch != epoch || previous.attendance.frozen()) return;
    previous.ready = true;
    complete_links(previous);
  });
  complete_links(m);
}

void Job::complete_links(Member& m) {
  if (!m.ready || !m.hello || m.linked) return;
  m.linked = true;
  const View& view = m.attendance.view();
  if (!view.hand_over || view.source == m.seat.index) {
    if (view.hand_over)
      receive_state(m, view.epoch, m.state);
    else
      begin_step(m);
  } else if (m.handed) {
    receive_state(m, m.handed->first, m.handed->second);
  }
}

// From the source, around the ring.
void Job::receive_state(Member& m, uint64_t epoch, const State& state) {
  if (m.attendance.view().epoch != epoch || m.attendance.frozen()) return;
  if (!m.linked) {
    m.handed = {epoch, state};
    return;
  }
  m.state = state;
  m.fresh = false;
  const Seat next = neighbor(m, 1);
  if (next.index != m.attendance.view().source)
    send(m.seat, next.index, [this, epoch, state](Member& other) { receive_state(other, epoch, state); });
  begin_step(m);
}

void Job::begin_step(Member& m) {
  check_state(m);
  if (m.leads) effect(m);
  m.computed = false;
  m.have.clear();
  m.began = now_;
  if (m.state.done >= kBatches) {
    m.finished = m.leads != nullptr;
    return;  // a worker waits for the chief's word
  }
  const uint64_t epoch = m.attendance.view().epoch, done = m.state.done;
  on(m.seat, now_ + uniform(0.02, 0.08), [this, epoch, done](Member& self) {
    if (self.attendance.view().epoch == epoch && self.state.done == done) compute(self);
  });
}

void Job::compute(Member& m) {
  if (stands_still(m) || m.computed) return;
  m.computed = true;
  const uint32_t own = rank(m);
  Block block{m.attendance.view().epoch, m.state.done, own, std::nullopt};
  if (m.state.done + own < kBatches) block.batch = m.state.done + own;
  m.have[own] = block;
  forward(m, block);
  for (const Block& other : std::exchange(m.early, {})) take(m, other);
  apply_if_complete(m);
}

void Job::forward(Member& m, const Block& block) {
  const Seat& next = neighbor(m, 1);
  const uint32_t then = (rank(m) + 1) % static_cast<uint32_t>(m.attendance.view().members.size());
  if (then == block.rank || next == m.seat) return;
  send(m.seat, next.index, [this, block](Member& other) { take(other, block); });
}

void Job::take(Member& m, const Block& block) {
  const uint64_t epoch = m.attendance.view().epoch;
  if (!is(Mutant::FramesOfAnyView) && block.epoch != epoch) return;
  if (stands_still(m) || epoch == 0) return;
  if (!m.linked || !m.computed || block.done > m.state.done) {
    m.early.push_back(block);
    if (m.early.size() > 4 * m.attendance.view().members.size()) fail("frames pile up without bound");
    return;
  }
  if (block.done < m.state.done || m.have.contains(block.rank)) return;
  m.have[block.rank] = block;
  forward(m, block);
  apply_if_complete(m);
}

void Job::apply_if_complete(Member& m) {
  if (!m.computed || m.have.size() < m.attendance.view().members.size() || stands_still(m)) return;
  std::vector<uint64_t> batches;
  for (const auto& [rank, block] : m.have)
    if (block.batch) batches.push_back(*block.batch);
  for (uint64_t batch : batches) m.state.digest = m.state.digest * 1000003 + batch + 1;
  m.state.done += batches.size();
  m.state.updates.push_back(std::move(batches));
  m.attendance.complete();
  m.silent.clear();
  if (m.leads) m.leads->complete();
  begin_step(m);
}

void Job::check_state(const Member& m) {
  const uint64_t epoch = m.attendance.view().epoch;
  const auto [known, fresh] = digests_.emplace(std::pair(epoch, m.state.done), m.state.digest);
  if (!fresh && known->second != m.state.digest) fail("members of a view differ at a border");
  std::set<uint64_t> seen;
  for (const auto& update : m.state.updates)
    for (uint64_t batch : update)
      if (!seen.insert(batch).second) fail("a batch is in two updates");
  if (!seen.empty() && (*seen.rbegin() + 1 != seen.size() || seen.size() != m.state.done))
    fail("a batch is in no update");
}

// The chief evaluates, keeps a checkpoint, reports.
void Job::effect(const Member& chief) {
  const auto& now = chief.state.updates;
  const uint64_t epoch = chief.attendance.view().epoch;
  // A chief that was stopped may complete the update whose frames have arrived, and no other.
  if (epoch >> 32 < visible_epoch_ >> 32) {
    if (++stale_[epoch >> 32] > 1) fail("two chiefs go on");
    return;
  }
  // Another chief may do the last update of a lost one again: nobody else had it.
  const size_t last = epoch >> 32 == visible_epoch_ >> 32 ? 0 : 1;
  const size_t kept = visible_.size() - std::min(last, visible_.size());
  const auto continues = [&](const auto& updates) {
    return updates.size() >= kept &&
           std::equal(visible_.begin(), visible_.begin() + static_cast<long>(kept), updates.begin());
  };
  if (!continues(now)) return fail("two histories became visible");
  visible_ = now;
  visible_epoch_ = epoch;
}

}  // namespace radl::engine::cluster::sim
