// The simulated job of members_sim.h: members, links and a clock of their own.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/cluster/members.h"
#include "tests/unit/engine/cluster/members_sim.h"

namespace radl::engine::cluster::sim {

inline constexpr uint64_t kBatches = 250;
inline constexpr double kPatience = 8;  // in which a member that has arrived is in a view

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

}  // namespace radl::engine::cluster::sim
