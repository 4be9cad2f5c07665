// What steps take that nobody has measured yet: by what they do, and how far away.
#include "runtime/plan/step_times.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace radl {
namespace {

ir::Step native(std::initializer_list<const char*> types) {
  ir::Step step;
  step.kind = ir::StepKind::Native;
  for (const char* type : types) step.resources.push_back({type, "name", ir::Json::object()});
  return step;
}

TEST(UsualSeconds, FilesOfThisComputerAreThereAtOnce) {
  const auto here = usual_seconds(native({"directory", "file", "file"}), "local");
  ASSERT_TRUE(here);
  EXPECT_LT(*here, 0.2);
  EXPECT_GT(*usual_seconds(native({"directory", "file", "file"}), "ec2"), *here);
}

TEST(UsualSeconds, APackageTakesSecondsAnywhere) {
  EXPECT_GT(*usual_seconds(native({"package"}), "local"), 5);
  EXPECT_GT(*usual_seconds(native({"package", "package"}), "hosts"),
            *usual_seconds(native({"package"}), "hosts"));
}

TEST(UsualSeconds, AreUnknownForAJob) {
  ir::Step step;
  step.kind = ir::StepKind::Training;
  EXPECT_FALSE(usual_seconds(step, "local"));
}

}  // namespace
}  // namespace radl
