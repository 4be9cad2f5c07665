#include "common/restart_policy.h"

#include <gtest/gtest.h>

#include <vector>

namespace radl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RestartPolicy, WaitsLongerEachTimeAndGivesUpAfterAFewInARow) {
  RestartPolicy policy{seconds(1), seconds(3), seconds(600), 5};
  RestartPolicy::TimePoint now{};
  std::vector<milliseconds> waits;
  for (auto wait = policy.next(now); wait; wait = policy.next(now)) {
    waits.push_back(*wait);
    now += *wait + seconds(5);
  }
  EXPECT_EQ(waits, (std::vector<milliseconds>{seconds(0), seconds(1), seconds(2), seconds(3), seconds(3)}));
}

TEST(RestartPolicy, AStartThatLastedBeginsANewRow) {
  RestartPolicy policy{seconds(1), seconds(60), seconds(600), 3};
  RestartPolicy::TimePoint now{};
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(policy.next(now), milliseconds(0));
    EXPECT_EQ(policy.next(now), seconds(1));
    now += seconds(700);
  }
}

}  // namespace
}  // namespace radl
