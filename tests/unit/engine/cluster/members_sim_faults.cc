// What is done to the simulated members: kills, restarts, stops and cuts.
#include "tests/unit/engine/cluster/members_sim_job.h"

namespace radl::engine::cluster::sim {

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

}  // namespace radl::engine::cluster::sim
