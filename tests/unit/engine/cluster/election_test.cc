// Chiefs and servers in virtual steps that a seed chooses: processes end, stop, wake and are started again,
// links break and heal. At most one chief decides at a time.
#include "engine/cluster/election.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace radl::engine::cluster {
namespace {

// What the protocol must not do; the properties below must find each.
enum class Mutant {
  None,
  FollowsTwoChiefs,         // a server that has a chief agrees to another one
  LinksBeforeItDecides,     // a chief counts a server that was started again as one that it never lost
  TiesInspiteOfSilence,     // half of the servers elect a chief although another one is silent
  TakesSilentForEnded,      // a server that does not answer has no vote
  HalfIsEnough,             // half of the servers elect a chief, whichever half
  DecidesWithoutTheOthers,  // a chief decides maps, however few servers it reaches
};

constexpr uint32_t kServers = 4;

class Simulation {
 public:
  Simulation(uint64_t seed, Mutant mutant) : random_(seed), mutant_(mutant), servers_(kServers) {
    const uint32_t n = 2 + static_cast<uint32_t>(random_() % (kServers - 1));
    servers_.resize(n);
    chiefs_.push_back({.server = 0, .map = {.epoch = 1}});
    for (uint32_t i = 0; i < n; ++i) chiefs_[0].map.servers.push_back(i);
    chiefs_[0].settled = chiefs_[0].map.servers;
    cut_.assign(n, std::vector<bool>(n, false));
    for (uint32_t i = 0; i < n; ++i)
      connect(0, i), servers_[i].map = chiefs_[0].map, servers_[i].voter.took_map();
  }

  // What is wrong; "": nothing.
  std::string run() {
    for (int step = 0; step < 200; ++step) {
      const uint32_t server = pick();
      switch (random_() % 10) {
        case 0:
          if (random_() % 4 == 0) end(server);
          break;
        case 1:
          if (random_() % 3 == 0) servers_[server].stopped = true;
          break;
        case 2:
          servers_[server].stopped = false;
          break;
        case 3:
          if (const uint32_t other = pick(); other != server && random_() % 3 == 0)
            cut_[server][other] = cut_[other][server] = true;
          break;
        case 4:
          if (const uint32_t other = pick(); true) cut_[server][other] = cut_[other][server] = false;
          break;
        case 5:
          if (!servers_[server].runs) start(server);
          break;
        default:
          break;
      }
      notice();
      for (size_t chief = 0; chief < chiefs_.size(); ++chief) work(chief);
      if (random_() % 2 == 0) stand(pick());
      if (!wrong_.empty()) return wrong_;
    }
    return "";
  }
  int successions() const { return static_cast<int>(chiefs_.size()) - 1; }

 private:
  struct Server {
    bool runs = true, stopped = false;
    Voter voter;
    ShardMap map;
    std::optional<size_t> chief;  // that it follows
    uint64_t life = 0;            // process
  };
  struct Chief {
    uint32_t server = 0;
    uint64_t life = 0;
    ShardMap map;
    std::vector<uint64_t> settled = {};
    std::set<uint32_t> linked = {};  // servers
    bool failed = false;
  };

  uint32_t pick() { return static_cast<uint32_t>(random_() % servers_.size()); }
  bool reaches(uint32_t a, uint32_t b) const {
    return servers_[b].runs && !servers_[b].stopped && !servers_[a].stopped && !cut_[a][b];
  }
  bool is_alive(const Chief& chief) const {
    const Server& server = servers_[chief.server];
    return server.runs && server.life == chief.life && !chief.failed;
  }

  bool is_well(const Chief& chief) const {
    if (!is_alive(chief) || servers_[chief.server].stopped) return false;
    size_t reached = 0;
    for (const uint64_t server : chief.map.servers)
      reached += reaches(chief.server, static_cast<uint32_t>(server));
    return 2 * reached > chief.map.servers.size();
  }

  void end(uint32_t server) { servers_[server].runs = false; }
  void start(uint32_t server) { servers_[server] = {.life = servers_[server].life + 1}; }

  void connect(size_t chief, uint32_t server) {
    if (!servers_[server].voter.follows(chiefs_[chief].map.epoch)) return;
    servers_[server].chief = chief;
    chiefs_[chief].linked.insert(server);
  }
  void disconnect(size_t chief, uint32_t server) {
    chiefs_[chief].linked.erase(server);
    if (servers_[server].chief != chief) return;
    servers_[server].chief.reset();
    servers_[server].voter.lost_chief();
  }

  // Broken links are noticed by both ends, but by a process that is stopped only when it wakes.
  void notice() {
    for (size_t c = 0; c < chiefs_.size(); ++c) {
      const std::set<uint32_t> linked = chiefs_[c].linked;
      for (uint32_t s : linked) {
        const bool broken = !is_alive(chiefs_[c]) || servers_[s].chief != c || !reaches(chiefs_[c].server, s);
        if (!broken) continue;
        if (!servers_[s].stopped && servers_[s].chief == c) {
          servers_[s].chief.reset();
          servers_[s].voter.lost_chief();
        }
        if (!servers_[chiefs_[c].server].stopped) chiefs_[c].linked.erase(s);
      }
    }
    for (Server& server : servers_)
      if (server.runs && !server.stopped && server.chief && !is_alive(chiefs_[*server.chief])) {
        server.chief.reset();
        server.voter.lost_chief();
      }
  }

  // A chief that is alive replaces lost servers, and takes returned ones in.
  void work(size_t c) {
    Chief& chief = chiefs_[c];
    if (!is_alive(chief) || servers_[chief.server].stopped) return;
    bool changes = chief.linked.size() != chief.map.servers.size();
    if (changes && mutant_ != Mutant::LinksBeforeItDecides) return decide(c);
    for (uint32_t s = 0; s < servers_.size(); ++s) {
      if (chief.linked.contains(s) || !reaches(chief.server, s) || servers_[s].voter.has_chief()) continue;
      connect(c, s);
      changes |= chief.linked.contains(s);
    }
    if (changes) decide(c);
  }

  void decide(size_t c) {
    Chief& chief = chiefs_[c];
    const std::vector<uint64_t> living(chief.linked.begin(), chief.linked.end());
    if (!may_decide(chief.settled, living, chief.server) && mutant_ != Mutant::DecidesWithoutTheOthers) {
      chief.failed = true;
      return;
    }
    ++chief.map.epoch;
    chief.map.servers = chief.settled = living;
    for (uint32_t s : chief.linked) {
      servers_[s].map = chief.map;
      servers_[s].voter.took_map();
    }
    const uint64_t term = chief.map.epoch >> 48;
    if (term < newest_term_) wrong_ = "a chief decides after its successor";
    if (term == newest_term_ && newest_ != c) wrong_ = "two chiefs decide in a term";
    newest_term_ = term;
    newest_ = c;
  }

  Ballot answer(uint32_t from, uint32_t to, uint64_t epoch) {
    Ballot out;
    if (!reaches(from, to)) {
      const bool refused = !servers_[to].runs && !cut_[from][to];
      out.kind =
          refused || mutant_ == Mutant::TakesSilentForEnded ? Ballot::Kind::Ended : Ballot::Kind::Silent;
      return out;
    }
    Server& server = servers_[to];
    if (mutant_ == Mutant::FollowsTwoChiefs && server.chief) disconnect(*server.chief, to);
    Voter after = server.voter;
    const bool agrees = epoch == kQuestion ? !after.has_chief() : after.follows(epoch);
    out.map = server.map;
    out.kind = !agrees                 ? Ballot::Kind::Refuses
               : server.map.epoch == 0 ? Ballot::Kind::Ended
                                       : Ballot::Kind::Agrees;
    return out;
  }

  bool elects(const Ballots& ballots) const {
    if (wins(ballots, false)) return true;
    if (mutant_ == Mutant::TiesInspiteOfSilence) {
      Ballots answered = ballots;
      std::erase_if(answered, [](const auto& b) { return b.second.kind == Ballot::Kind::Silent; });
      return wins(answered, false);
    }
    if (mutant_ != Mutant::HalfIsEnough) return false;
    size_t agree = 0;
    for (const auto& [server, ballot] : ballots) agree += ballot.kind == Ballot::Kind::Agrees;
    return agree > 0 && 2 * agree >= newest_map(ballots).servers.size();
  }

  // A server without a chief tries to become one.
  void stand(uint32_t self) {
    Server& own = servers_[self];
    if (!own.runs || own.stopped || own.chief || own.map.epoch == 0) return;
    const uint64_t epoch = next_term(own.map.epoch, ++attempts_, self);
    for (const uint64_t asked : {kQuestion, epoch}) {
      Ballots ballots;
      bool refused = false;
      for (uint32_t s = 0; s < servers_.size(); ++s) {
        ballots[s] = answer(self, s, asked);
        refused |= asked == kQuestion && ballots[s].kind == Ballot::Kind::Refuses;
      }
      if (refused || !elects(ballots)) return;
      if (asked == kQuestion) continue;
      if (is_well(chiefs_[newest_])) wrong_ = "a chief that is well is replaced";
      Chief chief{.server = self, .life = own.life, .map = newest_map(ballots)};
      chief.map.epoch = epoch;
      chiefs_.push_back(chief);
      for (const auto& [server, ballot] : ballots)
        if (ballot.kind == Ballot::Kind::Agrees) connect(chiefs_.size() - 1, server);
      chiefs_.back().settled.assign(chiefs_.back().linked.begin(), chiefs_.back().linked.end());
      decide(chiefs_.size() - 1);
    }
  }

  std::mt19937_64 random_;
  const Mutant mutant_;
  std::vector<Server> servers_;
  std::vector<Chief> chiefs_;
  std::vector<std::vector<bool>> cut_;
  uint64_t attempts_ = 0, newest_term_ = 0;
  size_t newest_ = 0;
  std::string wrong_;
};

uint64_t seeds() {
  const char* given = std::getenv("RADL_SEEDS");
  return given == nullptr ? 500 : std::strtoull(given, nullptr, 10);
}

TEST(Election, AtMostOneChiefDecidesAtATime) {
  int successions = 0;
  for (uint64_t seed = 0; seed < seeds(); ++seed) {
    Simulation one(seed, Mutant::None);
    ASSERT_EQ(one.run(), "") << "seed " << seed;
    successions += one.successions();
  }
  EXPECT_GT(successions, 300);
}

class ElectionMutants : public testing::TestWithParam<Mutant> {};

TEST_P(ElectionMutants, AreFound) {
  for (uint64_t seed = 0; seed < 5000; ++seed)
    if (!Simulation(seed, GetParam()).run().empty()) return;
  FAIL() << "no seed finds it";
}

INSTANTIATE_TEST_SUITE_P(Each, ElectionMutants,
                         testing::Values(Mutant::FollowsTwoChiefs, Mutant::LinksBeforeItDecides,
                                         Mutant::TiesInspiteOfSilence, Mutant::TakesSilentForEnded,
                                         Mutant::HalfIsEnough, Mutant::DecidesWithoutTheOthers));

TEST(Election, TheOnlyServerTakesOverFromAChiefInAProcessOfItsOwn) {
  Ballots ballots;
  ballots[0] = {Ballot::Kind::Agrees, {.epoch = 1, .servers = {0}}};
  EXPECT_TRUE(wins(ballots, true));
}

TEST(Election, OneOfTwoServersTakesOverOnceTheOtherHasEnded) {
  Ballots ballots;
  ballots[1] = {Ballot::Kind::Agrees, {.epoch = 1, .servers = {0, 1}}};
  ballots[0] = {Ballot::Kind::Silent, {}};
  EXPECT_FALSE(wins(ballots, false)) << "it may still decide";
  ballots[0].kind = Ballot::Kind::Ended;
  EXPECT_TRUE(wins(ballots, false));
}

TEST(Election, ServersTryOneAfterTheOther) {
  const ShardMap map{.epoch = next_term(0, 1, 1) + 3, .servers = {0, 1, 3}};
  EXPECT_EQ(turn_of(0, map, false), 0u);
  EXPECT_EQ(turn_of(3, map, false), 1u) << "server 1 is the lost chief";
  EXPECT_EQ(turn_of(0, {.epoch = 1, .servers = {0, 1}}, true), 0u);
  EXPECT_EQ(turn_of(1, {.epoch = 1, .servers = {0, 1}}, true), 1u);
}

}  // namespace
}  // namespace radl::engine::cluster
