#include "runtime/steps/jobs/silence.h"

#include <gtest/gtest.h>

namespace radl::jobs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Silence::Time kBegin{seconds(1000)};

// Asked every half second from `from` to `to`: when it began to count as silent; -1: it did not.
double silent_at(Silence& silence, milliseconds from, milliseconds to) {
  double at = -1;
  for (milliseconds now = from; now <= to; now += milliseconds(500)) {
    if (silence.begins(kBegin + now)) at = static_cast<double>(now.count()) / 1000;
  }
  return at;
}

TEST(Silence, BeginsOnceAndEndsWithTheNextSign) {
  Silence silence;
  silence.begin(kBegin);
  EXPECT_EQ(silent_at(silence, seconds(0), seconds(3)), -1);
  EXPECT_FALSE(silence.heard(kBegin + seconds(3)));
  EXPECT_EQ(silent_at(silence, seconds(3), seconds(30)), 9.5);
  EXPECT_TRUE(silence.heard(kBegin + seconds(30)));
  EXPECT_FALSE(silence.heard(kBegin + seconds(31)));
  EXPECT_EQ(silent_at(silence, seconds(31), seconds(60)), 37.5);
}

TEST(Silence, TimeInWhichNobodyListenedIsNone) {
  Silence silence;
  silence.begin(kBegin);
  EXPECT_EQ(silent_at(silence, seconds(0), seconds(2)), -1);
  EXPECT_EQ(silent_at(silence, seconds(100), seconds(105)), -1);
  EXPECT_EQ(silent_at(silence, milliseconds(105500), seconds(120)), 106.5);
}

TEST(Silence, ANewConnectionHasItsTime) {
  Silence silence;
  silence.begin(kBegin);
  EXPECT_EQ(silent_at(silence, seconds(0), seconds(5)), -1);
  silence.begin(kBegin + seconds(5));
  EXPECT_EQ(silent_at(silence, seconds(5), seconds(11)), -1);
}

}  // namespace
}  // namespace radl::jobs
