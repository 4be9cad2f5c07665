// The shared rate: free until the server throttles, then below what it throttled at, and up again.
#include "common/http/rate.h"

#include <gtest/gtest.h>

namespace radl::http {
namespace {

using namespace std::chrono_literals;

struct Watch {
  Rate::Clock::time_point now{};
  std::function<Rate::Clock::time_point()> function() {
    return [this] { return now; };
  }
};

// Requests that pass in `seconds` when each asks again as soon as it may.
int passed(Rate& rate, Watch& watch, double seconds) {
  int n = 0;
  for (const auto end = watch.now + std::chrono::duration_cast<Rate::Clock::duration>(
                                        std::chrono::duration<double>(seconds));
       watch.now < end; ++n) {
    watch.now += std::chrono::duration_cast<Rate::Clock::duration>(rate.reserve()) + 1ms;
    rate.served();
  }
  return n;
}

TEST(Rate, LetsEverythingPassUntilTheServerThrottles) {
  Watch watch;
  Rate rate(0, 0, watch.function());
  for (int i = 0; i < 10000; ++i) EXPECT_EQ(rate.reserve().count(), 0);
  EXPECT_EQ(rate.per_second(), 0);
}

TEST(Rate, SlowsDownBelowWhatWasThrottledAndRecovers) {
  Watch watch;
  Rate rate(0, 0, watch.function());
  for (int i = 0; i < 1000; ++i) {  // 100 a second for 10 s
    rate.reserve();
    rate.served();
    watch.now += 10ms;
  }
  rate.throttled();
  EXPECT_NEAR(rate.per_second(), 70, 5);
  rate.throttled();
  EXPECT_LT(rate.per_second(), 60);  // again: slower still
  const int first = passed(rate, watch, 1);
  EXPECT_LT(first, 75);
  EXPECT_GT(first, 25);
  passed(rate, watch, 20);
  EXPECT_GT(rate.per_second(), 100);  // beyond the rate at which it was throttled
}

TEST(Rate, AnEndlessRowOfThrottlingNeverStopsItAltogether) {
  Watch watch;
  Rate rate(0, 0, watch.function());
  for (int i = 0; i < 1000; ++i) rate.throttled();
  EXPECT_GE(rate.per_second(), 0.5);
  EXPECT_LE(rate.reserve(), 2s);
}

TEST(Rate, AGivenLimitIsNeverExceededBeyondItsBurst) {
  Watch watch;
  Rate rate(20, 5, watch.function());
  const int n = passed(rate, watch, 2);
  EXPECT_LE(n, 20 * 2 + 5 + 1);
  EXPECT_GE(n, 35);
}

TEST(Rate, WhoWaitsIsStopped) {
  Rate rate(0.01, 1);
  ASSERT_TRUE(rate.take({}).ok());
  EXPECT_EQ(rate.take(Stop().within(20ms)).code(), Code::Timeout);
  StopSource stop;
  stop.request();
  EXPECT_EQ(rate.take(stop.token()).code(), Code::Cancelled);
}

}  // namespace
}  // namespace radl::http
