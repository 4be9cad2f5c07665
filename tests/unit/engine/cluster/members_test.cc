// How members agree on who takes part: the rules one by one, and all of them in virtual time
// (members_sim.h). RADL_SEEDS=N runs N seeds instead of 500; RADL_FIRST_SEED=N begins with that one.
#include "engine/cluster/members.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/unit/engine/cluster/members_sim.h"

namespace radl::engine::cluster {
namespace {

using Order = Membership::Order;

const Seat kChief{0, 10, "a:1"}, kFirst{1, 11, "b:1"}, kSecond{2, 12, "c:1"};

class MembershipTest : public testing::Test {
 protected:
  // Three members in view 1.
  void SetUp() override {
    for (const Seat& seat : {kChief, kFirst, kSecond}) {
      chief.arrived(seat);
      chief.stands(seat, {.fresh = seat.index > 0});
    }
    const std::vector<Order> orders = chief.take_orders();
    ASSERT_EQ(orders.size(), 3u);
    ASSERT_EQ(chief.view().epoch, 1u);
  }
  void stand(const Seat& seat, uint64_t done, int32_t silent = -1) {
    chief.stands(seat, {.epoch = chief.view().epoch, .done = done, .silent = silent});
  }
  Membership chief{3};
};

TEST_F(MembershipTest, TheFirstViewHasAllAndTheChiefsState) {
  EXPECT_EQ(chief.view().members, (std::vector<Seat>{kChief, kFirst, kSecond}));
  EXPECT_TRUE(chief.view().hand_over);
  EXPECT_EQ(chief.view().source, 0u);
  EXPECT_FALSE(chief.changing());
}

TEST(Membership, TheFirstViewWaitsForAll) {
  Membership chief(2);
  chief.arrived(kChief);
  chief.stands(kChief, {});
  EXPECT_TRUE(chief.take_orders().empty());
  EXPECT_TRUE(chief.changing());
}

TEST(Membership, MoreThan16MembersFormARingUnlessTheyAreFarApart) {
  const auto is_direct = [](uint32_t members, bool far) {
    Membership chief(members);
    chief.set_far(far);
    for (uint32_t i = 0; i < members; ++i) {
      const Seat seat{i, 10 + i, "a:1"};
      chief.arrived(seat);
      chief.stands(seat, {.fresh = i > 0});
    }
    EXPECT_EQ(chief.view().members.size(), members);
    return chief.view().direct;
  };
  EXPECT_TRUE(is_direct(2, false));
  EXPECT_TRUE(is_direct(16, false));
  EXPECT_FALSE(is_direct(17, false));
  EXPECT_TRUE(is_direct(17, true));
}

TEST_F(MembershipTest, ALostMemberFreezesTheOthersAndTheFurthestBorderWins) {
  chief.lost(kFirst);
  std::vector<Order> orders = chief.take_orders();
  ASSERT_EQ(orders.size(), 2u);
  for (const Order& order : orders) EXPECT_EQ(order.type, MessageType::Freeze);
  stand(kChief, 6);
  EXPECT_TRUE(chief.take_orders().empty()) << "one is still in its exchange";
  stand(kSecond, 9);
  orders = chief.take_orders();
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[0].view.epoch, 2u);
  EXPECT_EQ(orders[0].view.members, (std::vector<Seat>{kChief, kSecond}));
  EXPECT_TRUE(orders[0].view.hand_over);
  EXPECT_EQ(orders[0].view.source, 2u);
}

TEST_F(MembershipTest, NothingTravelsWhereAllHaveTheSameBorder) {
  chief.lost(kFirst);
  stand(kChief, 6);
  stand(kSecond, 6);
  EXPECT_EQ(chief.view().epoch, 2u);
  EXPECT_FALSE(chief.view().hand_over);
}

TEST_F(MembershipTest, ARestartedMemberGetsTheState) {
  const Seat again{1, 21, "d:1"};  // at another address
  chief.arrived(again);
  chief.stands(again, {.fresh = true});
  chief.lost(kFirst);  // the end of its former self is no news
  stand(kChief, 6);
  stand(kSecond, 6);
  EXPECT_EQ(chief.view().members, (std::vector<Seat>{kChief, again, kSecond}));
  EXPECT_TRUE(chief.view().hand_over);
  EXPECT_EQ(chief.view().source, 0u);
}

// It may hang while it opens its data, and be there all the same.
TEST_F(MembershipTest, NobodyWaitsForAMemberThatIsNotReady) {
  const Seat joiner{3, 13, "d:1"};
  chief.take_orders();
  chief.arrived(joiner);
  EXPECT_FALSE(chief.changing()) << "the others go on";
  chief.lost(kFirst);
  stand(kChief, 6);
  stand(kSecond, 6);
  EXPECT_EQ(chief.view().members, (std::vector<Seat>{kChief, kSecond})) << "nor in a change";
  chief.take_orders();
  chief.stands(joiner, {.fresh = true});
  EXPECT_EQ(chief.take_orders().size(), 2u) << "both are frozen";
  stand(kChief, 8);
  stand(kSecond, 8);
  EXPECT_EQ(chief.view().members, (std::vector<Seat>{kChief, kSecond, joiner}));
}

// Two of three members fall silent: they may have another chief by now.
TEST_F(MembershipTest, AChiefNeedsMostMembersUnlessNobodyElseCanLead) {
  chief.able(kFirst, false);
  for (const Seat& seat : {kFirst, kSecond}) {
    chief.lost(seat);
    chief.silent(seat);
  }
  stand(kChief, 6);
  EXPECT_EQ(chief.view().epoch, 1u);
  EXPECT_EQ(chief.needed(), (std::vector<Seat>{kFirst, kSecond}));
  chief.able(kSecond, false);
  EXPECT_EQ(chief.view().members, (std::vector<Seat>{kChief}));
}

TEST_F(MembershipTest, ABorderOfAFormerViewOrSelfIsIgnored) {
  chief.take_orders();
  chief.stands(kFirst, {.epoch = 7, .done = 6});
  chief.stands({1, 99}, {.epoch = 1, .done = 6});
  EXPECT_FALSE(chief.changing());
}

TEST_F(MembershipTest, MembersThatCannotReachEachOtherAreSeparated) {
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(chief.view().members.size(), 3u);
    stand(kChief, 0);
    stand(kFirst, 0, 2);
    chief.take_orders();
    stand(kSecond, 0, 1);
  }
  EXPECT_EQ(chief.view().members, (std::vector<Seat>{kChief, kFirst}));
  const std::vector<Order> orders = chief.take_orders();
  ASSERT_EQ(orders.front().type, MessageType::Stop);
  EXPECT_EQ(orders.front().to, kSecond);
}

TEST_F(MembershipTest, WhoCannotReachTheChiefGoes) {
  for (int i = 0; i < 2; ++i) {
    stand(kChief, 0);
    stand(kSecond, 0);
    stand(kFirst, 0, 0);
  }
  EXPECT_EQ(chief.view().members, (std::vector<Seat>{kChief, kSecond}));
}

TEST(Attendance, AFreezeOfTheNextViewMayComeBeforeItIsTaken) {
  Attendance member;
  member.stand(0, true, -1);
  member.decided({.epoch = 1});
  member.freeze(1);
  ASSERT_TRUE(member.take_view());
  EXPECT_TRUE(member.frozen());
  EXPECT_FALSE(member.take_view()) << "once";
  EXPECT_EQ(member.stand(5, false, 3).epoch, 1u);
}

TEST(Attendance, AViewIsTakenOnlyAtABorder) {
  Attendance member;
  member.stand(0, true, -1);
  member.decided({.epoch = 1});
  ASSERT_TRUE(member.take_view());
  EXPECT_FALSE(member.frozen());
  member.decided({.epoch = 2});
  EXPECT_FALSE(member.take_view());
  member.stand(1, false, -1);
  EXPECT_EQ(member.take_view()->epoch, 2u);
}

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* asked = std::getenv(variable);
  return asked == nullptr ? otherwise : std::strtoull(asked, nullptr, 10);
}

// Kills, stops, restarts, joins, and cuts in one or both directions.
TEST(Simulation, EveryJobEndsWithEachBatchOnceAndOneHistory) {
  const uint64_t first = number_of("RADL_FIRST_SEED", 0), seeds = number_of("RADL_SEEDS", 500);
  for (uint64_t seed = first; seed < first + seeds; ++seed)
    EXPECT_EQ(sim::run(seed).broken, "") << "seed " << seed;
}

class MutantTest : public testing::TestWithParam<sim::Mutant> {};

TEST_P(MutantTest, IsCaught) {
  for (uint64_t seed = 0; seed < 500; ++seed)
    if (!sim::run(seed, GetParam()).broken.empty()) return;
  FAIL() << "500 seeds find nothing wrong with this mutant";
}

INSTANTIATE_TEST_SUITE_P(Mutants, MutantTest,
                         testing::Values(sim::Mutant::NobodyFreezes, sim::Mutant::FramesOfAnyView,
                                         sim::Mutant::LeastBorderWins, sim::Mutant::NoHandOver,
                                         sim::Mutant::DoesNotWait, sim::Mutant::GoesOnAfterStanding,
                                         sim::Mutant::KeepsHalfAnUpdate, sim::Mutant::LossesAreIgnored,
                                         sim::Mutant::NobodyIsBlamed, sim::Mutant::BordersOfAnyView,
                                         sim::Mutant::WaitsForArrivals, sim::Mutant::NobodyLeads,
                                         sim::Mutant::LeadsWithoutMost, sim::Mutant::RestartedChiefLeads));

}  // namespace
}  // namespace radl::engine::cluster
