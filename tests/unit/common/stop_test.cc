// When to stop: asked for, or out of time, whichever comes first.
#include "common/stop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/lines.h"

namespace radl {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(Stop, NeverStopsByItself) {
  EXPECT_TRUE(Stop().check().ok());
  EXPECT_TRUE(Stop().sleep(milliseconds(1)));
  EXPECT_GT(Stop().left(), hours(23));
}

TEST(Stop, TheEarlierDeadlineCounts) {
  Stop late = Stop().within(hours(1)), early = late.within(milliseconds(0));
  EXPECT_TRUE(late.check().ok());
  EXPECT_EQ(early.check().code(), Code::Timeout);
  EXPECT_EQ(early.within(hours(2)).check().code(), Code::Timeout);
  EXPECT_EQ(late.or_when(early).check().code(), Code::Timeout);
  EXPECT_EQ(early.left().count(), 0);
  EXPECT_FALSE(early.sleep(hours(1)));
  EXPECT_TRUE(Stop().within(milliseconds::max()).check().ok());
}

TEST(Stop, ARequestIsSeenByAllTokensAndWakesSleepers) {
  StopSource source;
  Stop token = source.token().within(hours(1)), with_other = Stop::when([] { return false; }).or_when(token);
  std::atomic<bool> slept{true};
  std::thread sleeper([&] { slept = with_other.sleep(hours(1)); });
  EXPECT_TRUE(token.check().ok());
  source.request();
  sleeper.join();
  EXPECT_FALSE(slept);
  EXPECT_EQ(token.check().code(), Code::Cancelled);
  EXPECT_FALSE(token.sleep(hours(1)));
}

TEST(Stop, ATokenOutlivesItsSource) {
  Stop token;
  {
    StopSource source;
    token = source.token();
    source.request();
  }
  EXPECT_TRUE(token.asked());
}

TEST(Lines, AreWholeHoweverThePiecesFallAndNeverLongerThanTheLimit) {
  Lines lines(4);
  std::string got;
  auto take = [&](std::string_view line, bool cut) { got += std::string(line) + (cut ? "+|" : "|"); };
  for (const char* piece : {"a", "b\n\ncd", "ef", "gh\n", "1234\n", "x"}) lines.add(piece, take);
  EXPECT_EQ(got, "ab||cdef+|1234|");
  lines.end(take);
  lines.end(take);
  EXPECT_EQ(got, "ab||cdef+|1234|x|");
}

}  // namespace
}  // namespace radl
