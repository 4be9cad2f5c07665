#include "tests/unit/engine/cluster/members_sim.h"

#include <algorithm>

namespace radl::engine::cluster::sim {
namespace {

constexpr uint64_t kBatches = 250;
constexpr double kPatience = 8;  // in which a member that has arrived is in a view

// What a member has at a border: which batches are in its weights, in which updates.
struct State {
  std::vector<std::vector<uint64_t>> updates;
  uint64_t done = 0, digest = 0;
};

// Of an exchange: who contributes which batch. A step takes batches [done, done + size).
struct Block {
  uint64_t epoch = 0, done = 0;
  uint32_t rank = 0;
  std::optional<uint64_t> batch;
};

class Job {
 public:
  Job(uint64_t seed, Mutant mutant) : random_(seed), mutant_(mutant) {}
  Result run();

 private:
  using Clock = double;
  struct Member {
    Seat seat;
    std::shared_ptr<Membership> leads;  // of a chief
    std::optional<Seat> chief;          // that it follows
    std::vector<Seat> silent;           // chiefs that it lost so, or all others if it was stopped itself
    bool up = true, finished = false, linked = false, computed = false, hello = false, ready = false;
    Clock stopped_until = 0, began = 0;
    Attendance attendance;
    State state;
    bool fresh = true;
    std::map<uint32_t, Block> have;                     // of the current exchange, by rank
    std::vector<Block> early;                           // of the next one
    std::vector<std::pair<uint64_t, uint32_t>> hellos;  // ahead of its view: epoch, index
    std::optional<std::pair<uint64_t, State>> handed;   // a state that came before the links were complete
  };

  double uniform(double low, double high) { return std::uniform_real_distribution<>(low, high)(random_); }
  int whole(int low, int high) { return std::uniform_int_distribution<>(low, high)(random_); }
  bool is(Mutant mutant) const { return mutant_ == mutant; }
  void fail(const std::string& what) {
    if (broken_.empty()) broken_ = what;
  }

  void at(Clock when, std::function<void()> what) { events_.push({when, ++events_made_, std::move(what)}); }
  // On this incarnation, when it is not stopped.
  void on(const Seat& seat, Clock when, std::function<void(Member&)> what);
  Member* find(const Seat& seat);
  // What its own link tells a member, or the first ones after it is restarted.
  void look_for_chief(const Seat& seat);
  void begin_again();
  void lead(Member& m);
  void follow(Member& m, const Seat& chief);
  void lose_chief(Member& m, bool silent);
  void look_for(const Seat& chief, Clock since);

  void start(uint32_t index, Clock when);
  void send(const Seat& from, uint32_t to_index, std::function<void(Member&)> what);
  void tell_chief(const Seat& from, std::function<void(Membership&)> what);
  void carry_out(Member& chief);
  // Whether somebody has arrived and is not ready yet.
  bool has_arrival() const {
    return std::any_of(members_.begin(), members_.end(), [this](const auto& one) {
      const Member& m = one.second;
      return m.up && m.fresh && m.attendance.view().epoch == 0 && !waiting_since_.contains(one.first) &&
             chief_now() != nullptr && chief_now()->leads->present(m.seat);
    });
  }
  // One that leads; the latest if there are several.
  Member* chief_now() const {
    Member* found = nullptr;
    for (const auto& [index, m] : members_)
      if (m.up && m.leads && (!found || m.attendance.view().epoch >= found->attendance.view().epoch))
        found = const_cast<Member*>(&m);
    return found;
  }
  bool is_cut(uint32_t a, uint32_t b) const {
    const auto now = [this](uint32_t from, uint32_t to) {
      const auto found = cut_.find({from, to});
      return found != cut_.end() && found->second > now_;
    };
    return now(a, b) || now(b, a);
  }
  void lose(const Seat& seat, Clock after);
  void end(const Seat& seat);
  void stand(Member& m, int32_t silent);
  void take_view(Member& m);
  void greet(Member& m, uint64_t epoch, uint32_t from);
  void complete_links(Member& m);
  void receive_state(Member& m, uint64_t epoch, const State& state);
  void begin_step(Member& m);
  void compute(Member& m);
  void take(Member& m, const Block& block);
  void forward(Member& m, const Block& block);
  void apply_if_complete(Member& m);
  void check_state(const Member& m);
  void effect(const Member& chief);
  void inject_faults(int size);
  void cut(Clock when);
  const Seat& neighbor(const Member& m, int step) const;
  uint32_t rank(const Member& m) const { return *Attendance::rank_of(m.attendance.view(), m.seat.index); }
  bool stands_still(const Member& m) const {
    return m.attendance.frozen() && !is(Mutant::GoesOnAfterStanding);
  }

  struct Event {
    Clock when;
    uint64_t number;
    std::function<void()> what;
    bool operator<(const Event& other) const {
      return std::pair(when, number) > std::pair(other.when, other.number);
    }
  };
  std::mt19937_64 random_;
  const Mutant mutant_;
  Clock now_ = 0;
  uint64_t events_made_ = 0, incarnations_ = 0;
  std::priority_queue<Event> events_;
  std::map<uint32_t, Member> members_;  // by index, the present incarnation
  int size_ = 1;
  uint64_t visible_epoch_ = 0, views_ = 0;  // of what the chief made visible last
  std::map<uint64_t, int> stale_;           // by term: what chiefs of earlier terms made visible later
  std::map<std::pair<uint64_t, uint64_t>, Clock> fifo_;  // between incarnations: when the last frame arrives
  std::map<std::pair<uint32_t, uint32_t>, Clock> cut_;   // from, to: until when
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> digests_;  // epoch and border -> digest
  std::vector<std::vector<uint64_t>> visible_;                 // what the chief has made visible
  std::map<uint32_t, Clock> waiting_since_;                    // present, and in no view
  std::set<std::pair<uint64_t, uint64_t>> closed_;  // incarnations of members and chiefs whose link has ended
  std::string broken_;
};

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
        return end(chief);  // they go on without it
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
      for (const Seat& other : membership.view().members)
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

// Between two members, one way or both; a long one breaks their links.
void Job::cut(Clock when) {
  at(when, [this] {
    std::vector<uint32_t> up;
    for (const auto& [index, m] : members_)
      if (m.up) up.push_back(index);
    if (up.size() < 2) return;
    std::shuffle(up.begin(), up.end(), random_);
    const uint32_t a = up[0], b = up[1];
    const bool both = whole(0, 1) == 1;
    const Clock lasts = whole(0, 3) == 0 ? kEnd : uniform(0.2, 3);
    cut_[{a, b}] = now_ + lasts;
    if (both) cut_[{b, a}] = now_ + lasts;
    if (lasts <= kSilence) return;
    const Seat first = members_.at(a).seat, second = members_.at(b).seat;
    at(now_ + kSilence, [this, first, second] {
      for (const auto& [seat, other] : {std::pair(first, second), std::pair(second, first)}) {
        on(seat, now_, [this, other = other](Member& m) {
          if (m.chief && *m.chief == other && !m.leads) return lose_chief(m, true);
          closed_.insert({other.incarnation, m.seat.incarnation});
          if (m.leads) {
            m.leads->lost(other);
            m.leads->silent(other);
            carry_out(m);
          }
          const View& view = m.attendance.view();
          if (view.epoch == 0 || m.attendance.frozen()) return;
          if (neighbor(m, 1) == other || neighbor(m, -1) == other)
            stand(m, static_cast<int32_t>(other.index));
        });
      }
    });
  });
}

void Job::inject_faults(int size) {
  const auto some_worker = [this]() -> Member* {
    std::vector<Member*> up;
    for (auto& [index, m] : members_)
      if (m.up) up.push_back(&m);
    return up.empty() ? nullptr : up[static_cast<size_t>(whole(0, static_cast<int>(up.size()) - 1))];
  };
  for (int i = whole(0, size); i > 0; --i) {
    at(uniform(0.5, 5), [this, some_worker] {
      if (Member* m = some_worker()) end(m->seat);
    });
  }
  for (int i = whole(0, 2); i > 0; --i) start(static_cast<uint32_t>(size + i), uniform(0.5, 5));
  for (int i = whole(0, 2); i > 0; --i) {
    at(uniform(0.5, 5), [this, some_worker] {
      Member* m = some_worker();
      if (m == nullptr) return;
      const Clock lasts = uniform(0.1, 2);
      m->stopped_until = now_ + lasts;
      // Its links are lost to the others; it finds them closed when it goes on, and ends.
      if (lasts > kSilence) {
        lose(m->seat, kSilence);
        on(m->seat, m->stopped_until, [this](Member& self) {
          if (whole(0, 1) == 0) return end(self.seat);
          if (self.leads) {
            for (const auto& [index, other] : members_) {
              if (index == self.seat.index) continue;
              closed_.insert({other.seat.incarnation, self.seat.incarnation});
              self.leads->lost(other.seat);
            }
            for (const View& view : self.attendance.known())
              for (const Seat& seat : view.members) self.leads->silent(seat);
            return carry_out(self);
          }
          for (const View& view : self.attendance.known())
            self.silent.insert(self.silent.end(), view.members.begin(), view.members.end());
          lose_chief(self, true);
        });
      }
    });
  }
  for (int i = whole(0, 2); i > 0; --i) cut(uniform(0.5, 5));
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

}  // namespace

Result run(uint64_t seed, Mutant mutant) { return Job(seed, mutant).run(); }

}  // namespace radl::engine::cluster::sim
