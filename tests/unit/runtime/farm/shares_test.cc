// Several farms on the same nodes: each gets its share, and none starves.
#include "runtime/farm/shares.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <queue>
#include <random>

#include "runtime/farm/farm.h"
#include "runtime/steps/farm/share_board.h"

namespace radl::farm {
namespace {

// Farms in virtual time. Each decides for itself, in an order that the seed draws, as processes do.
class SharedCluster {
 public:
  explicit SharedCluster(std::map<std::string, Resources> nodes, uint32_t seed = 1)
      : nodes_(std::move(nodes)), random_(seed) {}

  void add(const std::string& name, const std::string& user, double weight, const Resources& needs, int tasks,
           double seconds, double at = 0) {
    members_.push_back(Member{name, user, weight, seconds, at});
    for (const auto& [node, has] : nodes_) apply(members_.back(), node_event(node, has, 0));
    for (int i = 0; i < tasks; ++i)
      apply(members_.back(), add_event({name + std::to_string(i), needs, seconds, {}}, 0));
  }

  void run_until(double end) {
    while (now_ < end) {
      start_all();
      check_room();
      double next = ends_.empty() ? end : std::min(end, ends_.top().at);
      for (const Member& member : members_)
        if (member.from > now_) next = std::min(next, member.from);
      for (Member& member : members_) member.used += (next - now_) * cpu_of(member);
      now_ = next;
      while (!ends_.empty() && ends_.top().at <= now_) {
        const Ahead ahead = ends_.top();
        ends_.pop();
        Member& member = members_[ahead.member];
        apply(member, end_event(ahead.task, 1, End::Succeeded, 0, "", now_));
        apply(member, commit_event(ahead.task, 1, now_));
      }
    }
  }
  size_t running(size_t member) const { return members_[member].farm.table().count(State::Running); }
  size_t done(size_t member) const { return members_[member].farm.table().done(); }
  double used(size_t member) const { return members_[member].used; }  // processor-seconds

 private:
  struct Member {
    std::string name, user;
    double weight, seconds, from;
    double waits_since = 0, used = 0;
    Farm farm{Policy()};
  };
  struct Ahead {
    double at;
    size_t member;
    std::string task;
    bool operator<(const Ahead& other) const { return std::tie(at, task) > std::tie(other.at, other.task); }
  };

  void apply(Member& member, const Event& event) { ASSERT_TRUE(member.farm.apply(event).ok()) << event; }
  static double cpu_of(const Member& member) {
    double cpu = 0;
    for (const Host& host : member.farm.hosts())
      cpu += static_cast<double>(host.registered.cpu - host.remaining.cpu) / 1000;
    return cpu;
  }
  std::vector<Claim> claims() const {
    std::vector<Claim> claims;
    for (const Member& member : members_) {
      if (member.from > now_) continue;
      Claim claim{member.name,       member.user, member.weight, nodes_, {}, member.farm.waiting_kinds(),
                  member.waits_since};
      for (const Host& host : member.farm.hosts()) {
        claim.uses[host.name] = host.registered;
        claim.uses[host.name] -= host.remaining;
      }
      claims.push_back(claim);
    }
    return claims;
  }
  // Each farm decides until none starts anything.
  void start_all() {
    std::vector<size_t> order(members_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    for (bool any = true; any;) {
      any = false;
      for (const size_t i : order) any = start(i) || any;
    }
  }
  bool start(size_t i) {
    Member& member = members_[i];
    if (member.from > now_) return false;
    if (member.farm.table().count(State::Waiting) == 0)
      member.waits_since = 0;
    else if (member.waits_since == 0)
      member.waits_since = now_ + 1e-9;
    Shares shares(claims(), now_, 600);
    const Farm::Others others{
        [&](const std::string& node) { return shares.taken_by_others(member.name, node); },
        [&](const Resources& needs, const std::string& node) {
          if (!shares.goes_first(member.name, node).empty()) return false;
          shares.take(member.name, needs, node);
          return true;
        }};
    const auto events = member.farm.next(now_, &others);
    for (const Event& event : events) {
      apply(member, event);
      member.waits_since = now_ + 1e-9;
      ends_.push({now_ + member.seconds, i, event["task"]});
    }
    return !events.empty();
  }
  void check_room() {
    for (const auto& [node, has] : nodes_) {
      Resources room = has;
      for (const Claim& claim : claims())
        if (claim.uses.contains(node)) room -= claim.uses.at(node);
      EXPECT_TRUE(Resources().fits(room)) << node << " has more tasks than room at " << now_;
    }
  }

  std::map<std::string, Resources> nodes_;
  std::mt19937 random_;
  std::vector<Member> members_;
  std::priority_queue<Ahead> ends_;
  double now_ = 0;
};

// The example of the paper: of 9 processors and 18 GB, one user gets three tasks, the other two.
TEST(FarmShares, DominantSharesAreEqual) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    SharedCluster cluster({{"n", {9000, 18000, 0, 0}}}, seed);
    cluster.add("a", "ana", 1, {1000, 4000, 0, 0}, 100, 10);
    cluster.add("b", "ben", 1, {3000, 1000, 0, 0}, 100, 10);
    cluster.run_until(1);
    EXPECT_EQ(cluster.running(0), 3u) << "seed " << seed;
    EXPECT_EQ(cluster.running(1), 2u) << "seed " << seed;
  }
}

TEST(FarmShares, AWeightCountsAmongTheFarmsOfAUser) {
  SharedCluster cluster({{"m", {4000, 0, 0, 0}}, {"n", {8000, 0, 0, 0}}});
  cluster.add("a", "ana", 1, {1000, 0, 0, 0}, 10000, 7);
  cluster.add("b", "ana", 3, {1000, 0, 0, 0}, 10000, 5);
  cluster.run_until(1000);
  EXPECT_NEAR(cluster.used(1) / cluster.used(0), 3, 0.1);
}

// However many farms one of them has.
TEST(FarmShares, UsersShareEqually) {
  SharedCluster cluster({{"m", {8000, 0, 0, 0}}, {"n", {8000, 0, 0, 0}}});
  for (const char* name : {"a", "b", "c", "d"}) cluster.add(name, "ana", 1, {1000, 0, 0, 0}, 10000, 7);
  cluster.add("e", "ben", 1, {1000, 0, 0, 0}, 10000, 11);
  cluster.run_until(1000);
  double ana = 0;
  for (size_t i = 0; i < 4; ++i) ana += cluster.used(i);
  EXPECT_NEAR(ana / cluster.used(4), 1, 0.05);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(cluster.used(i), ana / 4, ana * 0.05);
}

TEST(FarmShares, WhatNobodyElseCanUseAnybodyMayUse) {
  SharedCluster cluster({{"n", {8000, 0, 0, 0}}});
  cluster.add("a", "ana", 1, {1000, 0, 0, 0}, 10000, 10);
  cluster.add("b", "ben", 1, {1000, 0, 0, 0}, 2, 10);
  cluster.run_until(1000);
  EXPECT_EQ(cluster.done(1), 2u);
  EXPECT_GE(cluster.used(0), 7900) << "all processors, once the other is done";
}

// Its task needs the whole node, of which short tasks of the other always have a part.
TEST(FarmShares, ABigTaskDoesNotStarve) {
  for (uint32_t seed = 0; seed < 5; ++seed) {
    SharedCluster cluster({{"n", {4000, 0, 0, 0}}}, seed);
    cluster.add("small", "ana", 1, {1000, 0, 0, 0}, 10000, 7);
    cluster.add("odd", "ana", 1, {1000, 0, 0, 0}, 10000, 3);
    cluster.add("big", "ben", 1, {4000, 0, 0, 0}, 1, 30, 1);
    cluster.run_until(620);
    EXPECT_GE(cluster.running(2) + cluster.done(2), 1u) << "seed " << seed;
  }
}

TEST(FarmShares, AFarmThatBeginsLateGetsItsShareAsTasksEnd) {
  SharedCluster cluster({{"n", {8000, 0, 0, 0}}});
  cluster.add("a", "ana", 1, {1000, 0, 0, 0}, 10000, 10);
  cluster.add("b", "ben", 1, {1000, 0, 0, 0}, 10000, 10, 105);
  cluster.run_until(111);
  EXPECT_EQ(cluster.running(0), 4u);
  EXPECT_EQ(cluster.running(1), 4u);
}

class FarmShareBoard : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/farm-shares-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Claim claim(const std::string& farm, const std::string& user, int64_t uses, bool wants = true) const {
    Claim made{farm, user, 1, {{"n", {2000, 0, 0, 0}}}, {}, {}, 0};
    if (uses > 0) made.uses["n"] = {uses, 0, 0, 0};
    if (wants) made.wants = {{1000, 0, 0, 0}};
    return made;
  }
  std::string folder_;
};

TEST_F(FarmShareBoard, TheFarmOfTheUserWithLessGoesFirst) {
  ShareBoard ana, ben;
  ASSERT_TRUE(ana.join(folder_, "a").ok());
  EXPECT_TRUE(ana.alone());
  ASSERT_TRUE(ben.join(folder_, "b").ok());
  EXPECT_FALSE(ana.alone());
  ana.tell(claim("a", "ana", 1000));
  ben.tell(claim("b", "ben", 0));
  {
    ShareBoard::Turn turn(ana, claim("a", "ana", 1000), 1, 600);
    EXPECT_FALSE(turn.may_start({1000, 0, 0, 0}, "n"));
  }
  ShareBoard::Turn turn(ben, claim("b", "ben", 0), 1, 600);
  EXPECT_EQ(turn.taken_by_others("n").cpu, 1000);
  EXPECT_TRUE(turn.may_start({1000, 0, 0, 0}, "n"));
}

TEST_F(FarmShareBoard, ARunThatIsGoneHoldsUpNobody) {
  ShareBoard ana;
  ASSERT_TRUE(ana.join(folder_, "a").ok());
  {
    ShareBoard ben;
    ASSERT_TRUE(ben.join(folder_, "b").ok());
    ben.tell(claim("b", "ben", 0));
    std::filesystem::copy_file(folder_ + "/b.json", folder_ + "/killed.json");
  }
  EXPECT_FALSE(ana.alone()) << "a file that a killed run left";
  ShareBoard::Turn turn(ana, claim("a", "ana", 1000), 1, 600);
  EXPECT_TRUE(turn.may_start({1000, 0, 0, 0}, "n"));
  EXPECT_TRUE(ana.alone());
}

TEST_F(FarmShareBoard, ASecondRunOfAFarmLeavesTheClaimOfTheFirst) {
  ShareBoard ana, ben;
  ASSERT_TRUE(ana.join(folder_, "a").ok());
  ASSERT_TRUE(ben.join(folder_, "b").ok());
  ben.tell(claim("b", "ben", 0));
  {
    ShareBoard again;
    EXPECT_FALSE(again.join(folder_, "b").ok());
  }
  ShareBoard::Turn turn(ana, claim("a", "ana", 1000), 1, 600);
  EXPECT_FALSE(turn.may_start({1000, 0, 0, 0}, "n"));
}

TEST_F(FarmShareBoard, AFarmThatStartsNothingIsPassedOver) {
  ShareBoard ana, ben;
  ASSERT_TRUE(ana.join(folder_, "a").ok());
  ASSERT_TRUE(ben.join(folder_, "b").ok());
  ben.tell(claim("b", "ben", 0));
  const auto may = [&] {
    ShareBoard::Turn turn(ana, claim("a", "ana", 1000), 1, 600);
    return turn.may_start({1000, 0, 0, 0}, "n");
  };
  EXPECT_FALSE(may());
  usleep(2100000);
  EXPECT_TRUE(may());
}

}  // namespace
}  // namespace radl::farm
