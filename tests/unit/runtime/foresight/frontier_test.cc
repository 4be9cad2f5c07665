// What is chosen, against brute force over catalogues that nobody thought of.
#include "runtime/foresight/frontier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace radl::foresight {
namespace {

using Catalogue = std::vector<Candidate>;

// Few values, so that ties are frequent.
Catalogue random_catalogue(std::mt19937& random) {
  Catalogue all(random() % 40);
  for (Candidate& one : all) {
    one.seconds = 100.0 * static_cast<double>(random() % 20);
    one.low = one.seconds / 1.2;
    one.high = one.seconds * (1 + static_cast<double>(random() % 3) / 10);
    one.cost = static_cast<int64_t>(random() % 20) * 500000;
    one.rate = static_cast<int64_t>(1 + random() % 10) * 250000;
    one.machines = static_cast<uint16_t>(1 + random() % 8);
    if (random() % 6 == 0) one.verdict = random() % 2 == 0 ? Verdict::Memory : Verdict::Unknown;
  }
  return all;
}

bool within(const Candidate& one, const Bounds& bounds) {
  return one.verdict == Verdict::Fits && (!bounds.rate || one.rate <= *bounds.rate) &&
         (!bounds.cost || one.cost <= *bounds.cost) && (!bounds.deadline || one.high <= *bounds.deadline);
}

bool beats(const Candidate& a, const Candidate& b) {
  return a.seconds <= b.seconds && a.cost <= b.cost && (a.seconds < b.seconds || a.cost < b.cost);
}

double value_of(const Candidate& one, const Objective& objective) {
  return objective.time * one.seconds / 3600 + objective.money * static_cast<double>(one.cost) / 1e6;
}

void compare_with_brute_force(Catalogue catalogue, const Objective& objective, const Bounds& bounds) {
  Catalogue allowed;
  for (const Candidate& one : catalogue)
    if (within(one, bounds)) allowed.push_back(one);
  auto choice = choose(catalogue, objective, bounds);
  ASSERT_TRUE(choice.ok());
  ASSERT_EQ(choice->chosen.has_value(), !allowed.empty());
  std::set<std::pair<double, int64_t>> expected, found;
  for (const Candidate& one : allowed) {
    if (std::none_of(allowed.begin(), allowed.end(),
                     [&](const Candidate& other) { return beats(other, one); }))
      expected.insert({one.seconds, one.cost});
  }
  for (size_t at : choice->frontier) found.insert({catalogue[at].seconds, catalogue[at].cost});
  EXPECT_EQ(found, expected);
  EXPECT_EQ(found.size(), choice->frontier.size());
  if (allowed.empty()) return;
  const Candidate& chosen = catalogue[*choice->chosen];
  EXPECT_TRUE(within(chosen, bounds));
  for (const Candidate& one : allowed) EXPECT_LE(value_of(chosen, objective), value_of(one, objective));
}

TEST(Frontier, EqualsBruteForceOver10000RandomCatalogues) {
  std::mt19937 random(17);
  for (int round = 0; round < 10000; ++round) {
    Objective objective{static_cast<double>(random() % 3), static_cast<double>(random() % 3)};
    if (objective.time + objective.money == 0) objective.time = 1;
    Bounds bounds;
    if (random() % 2) bounds.rate = static_cast<int64_t>(1 + random() % 10) * 250000;
    if (random() % 2) bounds.cost = static_cast<int64_t>(1 + random() % 20) * 500000;
    if (random() % 2) bounds.deadline = 100.0 * static_cast<double>(1 + random() % 20);
    compare_with_brute_force(random_catalogue(random), objective, bounds);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

TEST(Frontier, ALargeCatalogueIsNoOtherQuestion) {
  std::mt19937 random(3);
  Catalogue large(20000);
  for (Candidate& one : large) {
    one.seconds = one.high = 1 + static_cast<double>(random() % 100000);
    one.cost = 1 + static_cast<int64_t>(random() % 100000);
    one.rate = 1;
  }
  std::vector<std::pair<double, int64_t>> sorted;
  for (const Candidate& one : large) sorted.push_back({one.seconds, one.cost});
  std::sort(sorted.begin(), sorted.end());
  size_t unbeaten = 0;
  int64_t cheapest = std::numeric_limits<int64_t>::max();
  for (const auto& [seconds, cost] : sorted)
    if (cost < cheapest) cheapest = cost, ++unbeaten;
  EXPECT_EQ(choose(large, {}, {})->frontier.size(), unbeaten);
}

TEST(Frontier, NothingToChooseFrom) {
  Catalogue none;
  auto choice = choose(none, {}, {});
  ASSERT_TRUE(choice.ok());
  EXPECT_FALSE(choice->chosen);
  EXPECT_FALSE(choice->least_rate);
}

TEST(Frontier, BeyondAllBoundsTheLeastThatWouldDoIsNamed) {
  Catalogue two = {{3600, 3000, 4000, 5000000, 0, 0, 5000000, 0, 4, Verdict::Fits},
                   {7200, 6000, 8000, 2000000, 0, 0, 1000000, 1, 1, Verdict::Fits}};
  auto choice = choose(two, {}, {500000, {}, {}});
  ASSERT_TRUE(choice.ok());
  EXPECT_FALSE(choice->chosen);
  EXPECT_EQ(choice->least_rate, 1000000);
  EXPECT_EQ(choice->least_cost, 2000000);
  EXPECT_EQ(choice->earliest, 4000);
  EXPECT_EQ(two[0].verdict, Verdict::Budget);
}

TEST(Frontier, WhatWouldDoKeepsTheOtherBound) {
  // Fast and dear, slow and cheap, and one that is neither.
  Catalogue three = {{100, 90, 110, 9000000, 0, 0, 9000000, 0, 4, Verdict::Fits},
                     {900, 800, 1000, 2000000, 0, 0, 1000000, 1, 1, Verdict::Fits},
                     {500, 400, 600, 5000000, 0, 0, 5000000, 2, 2, Verdict::Fits}};
  Catalogue asked = three;
  auto choice = choose(asked, {}, {4000000, {}, 300});
  ASSERT_TRUE(choice.ok());
  EXPECT_FALSE(choice->chosen);
  EXPECT_EQ(choice->least_rate, 9000000) << "a million an hour would be too late";
  EXPECT_EQ(choice->earliest, 1000) << "what is quicker is above the budget";
  EXPECT_TRUE(choice->alone);
  // As it says: either of the two is enough.
  EXPECT_EQ(choose(asked = three, {}, {9000000, {}, 300})->chosen, 0u);
  EXPECT_EQ(choose(asked = three, {}, {4000000, {}, 1000})->chosen, 1u);
  EXPECT_FALSE(choose(asked = three, {}, {500000, {}, 50})->alone);
}

TEST(Frontier, ADeadlineIsMetByTheUpperEndOfTheBand) {
  Catalogue one = {{3600, 3000, 4000, 5000000, 0, 0, 5000000, 0, 4, Verdict::Fits}};
  EXPECT_FALSE(choose(one, {}, {{}, {}, 3900})->chosen);
  EXPECT_EQ(one[0].verdict, Verdict::Deadline);
}

TEST(Frontier, TiesGoToTheCheaperThenToFewerMachines) {
  Catalogue alike = {{100, 100, 100, 9, 0, 0, 1, 0, 3, Verdict::Fits},
                     {100, 100, 100, 5, 0, 0, 1, 1, 4, Verdict::Fits},
                     {100, 100, 100, 5, 0, 0, 1, 2, 2, Verdict::Fits},
                     {200, 200, 200, 5, 0, 0, 1, 3, 1, Verdict::Fits}};
  EXPECT_EQ(choose(alike, {1, 0}, {})->chosen, 2u);
  EXPECT_EQ(choose(alike, {0, 1}, {})->chosen, 2u);
  EXPECT_EQ(choose(alike, {1, 0}, {})->frontier.size(), 1u);
}

TEST(Frontier, AbsurdQuestionsAreRefusedAndNumbersThatAreNoneUnknown) {
  Catalogue one = {{NAN, 1, NAN, 1, 0, 0, 1, 0, 1, Verdict::Fits}};
  EXPECT_EQ(choose(one, {-1, 2}, {}).status().code(), Code::Invalid);
  EXPECT_EQ(choose(one, {0, 0}, {}).status().code(), Code::Invalid);
  EXPECT_EQ(choose(one, {INFINITY, 1}, {}).status().code(), Code::Invalid);
  EXPECT_EQ(choose(one, {}, {0, {}, {}}).status().code(), Code::Invalid);
  EXPECT_EQ(choose(one, {}, {{}, {}, -5.0}).status().code(), Code::Invalid);
  EXPECT_FALSE(choose(one, {}, {})->chosen);
  EXPECT_EQ(one[0].verdict, Verdict::Unknown);
}

}  // namespace
}  // namespace radl::foresight
