// Where shards are, as servers are lost and return.
#include "engine/cluster/placement.h"

#include <gtest/gtest.h>

#include <random>

namespace radl::engine::cluster {
namespace {

TEST(Placement, TheReplicaTakesOverAndGetsAnother) {
  EXPECT_EQ(first_places(1), (std::vector<Place>{{0, -1, 1}}));
  const std::vector<Place> first = first_places(3);
  EXPECT_EQ(first, (std::vector<Place>{{0, 1, 1}, {1, 2, 1}, {2, 0, 1}}));
  const Result<std::vector<Place>> next = next_places(first, {true, false, true}, {false, false, false}, 2);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(*next, (std::vector<Place>{{0, 2, 2}, {2, 0, 2}, {2, 0, 1}}));
}

TEST(Placement, ALastServerHoldsAllWithoutReplicasUntilAnotherReturns) {
  std::vector<Place> places = *next_places(first_places(2), {true, false}, {false, false}, 2);
  EXPECT_EQ(places, (std::vector<Place>{{0, -1, 2}, {0, -1, 2}}));
  places = *next_places(places, {true, true}, {false, false}, 3);
  EXPECT_EQ(places, (std::vector<Place>{{0, 1, 3}, {0, 1, 3}}));
}

TEST(Placement, AReplicaThatItsPrimaryHasLostIsPairedAnew) {
  std::vector<Place> places = *next_places(first_places(3), {true, true, true}, {true, false, false}, 2);
  EXPECT_EQ(places[0], (Place{0, 2, 2}));
  places = *next_places(first_places(2), {true, true}, {true, false}, 2);
  EXPECT_EQ(places[0], (Place{0, 1, 2})) << "nobody else is there: the same, copied from the beginning";
  EXPECT_EQ(places[1], (Place{1, 0, 1}));
}

TEST(Placement, AShardWithoutAHolderIsLost) {
  const auto lost = next_places(first_places(3), {true, false, false}, {false, false, false}, 2);
  EXPECT_EQ(lost.status().code(), Code::Lost);
}

// A primary is always a server that had the shard; nothing is lost while a primary or its replica lives.
TEST(Placement, WhateverIsLostAndReturnsAPrimaryHadTheShardBefore) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    const size_t servers = 2 + random() % 5;
    std::vector<Place> places = first_places(servers);
    std::vector<bool> alive(servers, true);
    for (uint64_t epoch = 2; epoch < 30; ++epoch) {
      const size_t changed = random() % servers;
      alive[changed] = !alive[changed];
      std::vector<bool> broken(servers, false);
      broken[random() % servers] = random() % 4 == 0;
      const auto lives = [&](int32_t server) { return server >= 0 && alive[static_cast<size_t>(server)]; };
      bool held = true;
      for (size_t s = 0; s < servers; ++s)
        held &= lives(places[s].primary) || (lives(places[s].replica) && !broken[s]);
      const Result<std::vector<Place>> next = next_places(places, alive, broken, epoch);
      ASSERT_EQ(next.ok(), held) << "seed " << seed;
      if (!held) break;
      for (size_t s = 0; s < servers; ++s) {
        const Place &was = places[s], &now = (*next)[s];
        EXPECT_TRUE(lives(now.primary));
        EXPECT_EQ(now.primary, lives(was.primary) ? was.primary : was.replica);
        EXPECT_TRUE(now.replica == -1 || (lives(now.replica) && now.replica != now.primary));
        const bool pair = now.primary == was.primary && now.replica == was.replica && !broken[s];
        EXPECT_EQ(now.since, pair && now.replica >= 0 ? was.since : epoch) << "seed " << seed;
      }
      places = *next;
    }
  }
}

}  // namespace
}  // namespace radl::engine::cluster
