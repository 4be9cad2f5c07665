// How much of a long output is shown while a program runs.
#include <gtest/gtest.h>

#include "runtime/steps/output_budget.h"

namespace radl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(OutputBudget, ABurstThenASteadyRateInStretches) {
  OutputBudget budget;
  const OutputBudget::Time begin = OutputBudget::Time() + seconds(100);
  constexpr size_t kLine = 1000;
  const auto most = static_cast<size_t>(OutputBudget::kBurst / (kLine + OutputBudget::kPerLine));
  size_t shown = 0;
  while (budget.takes(kLine, begin)) ++shown;
  EXPECT_EQ(shown, most);
  EXPECT_FALSE(budget.takes(1, begin + milliseconds(500))) << "not line by line";
  size_t again = 0;
  while (budget.takes(kLine, begin + seconds(2))) ++again;
  EXPECT_GE(again, static_cast<size_t>(OutputBudget::kPerSecond / (kLine + OutputBudget::kPerLine)));
  EXPECT_LT(again, most);
  EXPECT_TRUE(budget.takes(kLine, begin + seconds(1000))) << "a pause fills it again";
}

}  // namespace
}  // namespace radl
