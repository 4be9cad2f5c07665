// How long a program runs, by earlier runs of it.
#include "runtime/foresight/program_model.h"

#include <gtest/gtest.h>

namespace radl::foresight {
namespace {

using Kind = ProgramRun::Kind;

ProgramRun run(const std::string& machine, double cores, int nodes, double seconds, Kind kind = Kind::Ended) {
  ProgramRun made;
  made.family = "mnist (train.py)";
  made.work = "this";
  made.machine = machine;
  made.cores = cores;
  made.nodes = nodes;
  made.kind = kind;
  made.seconds = seconds;
  if (kind == Kind::Extrapolated)
    made.low = seconds / 1.5, made.high = seconds * 1.5, made.progress = "epoch 3 of 10";
  return made;
}

ProgramForecast asked(const std::vector<ProgramRun>& runs, const std::string& machine, double cores,
                      int nodes = 1) {
  return ProgramModel(runs).forecast({"this", "mnist (train.py)", machine, cores, 0, nodes});
}

TEST(ProgramModel, ItsOwnRunsOnSuchNodesAreMeasured) {
  const auto known =
      asked({run("ec2 c5.large", 2, 1, 100), run("ec2 c5.large", 2, 1, 110), run("ec2 c5.large", 2, 1, 90)},
            "ec2 c5.large", 2);
  EXPECT_DOUBLE_EQ(known.run.value, 100);
  EXPECT_EQ(known.run.source, Source::Measured);
  EXPECT_EQ(known.outside, "");
}

TEST(ProgramModel, AnExtrapolationCountsUntilARunHasEnded) {
  const ProgramRun guess = run("local", 2, 1, 300, Kind::Extrapolated);
  const auto by_progress = asked({guess}, "local", 2);
  EXPECT_DOUBLE_EQ(by_progress.run.value, 300);
  EXPECT_DOUBLE_EQ(by_progress.run.high, 450);
  EXPECT_EQ(by_progress.run.source, Source::Scaled);
  EXPECT_NE(by_progress.run.from.find("epoch 3 of 10"), std::string::npos);
  EXPECT_DOUBLE_EQ(asked({guess, run("local", 2, 1, 280)}, "local", 2).run.value, 280);
}

TEST(ProgramModel, WithoutProgressThereIsALowerBoundAndNoTime) {
  const auto longer =
      asked({run("local", 2, 1, 30, Kind::AtLeast), run("local", 2, 1, 60, Kind::AtLeast)}, "local", 2);
  EXPECT_FALSE(longer.run.known());
  EXPECT_DOUBLE_EQ(longer.at_least, 60);
  EXPECT_NE(longer.unknown, "");
  EXPECT_FALSE(ProgramModel({run("local", 2, 1, 30, Kind::AtLeast)}).knows("this"));
  // What is known of other machines is held to the bound.
  const auto scaled = asked({run("ec2 c5.xlarge", 4, 1, 40), run("ec2 c5.large", 2, 1, 70, Kind::AtLeast)},
                            "ec2 c5.large", 2);
  ASSERT_TRUE(scaled.run.known());
  EXPECT_GE(scaled.run.low, 70);
}

TEST(ProgramModel, OtherMachinesAreScaledFromNoGainToAProportionalGain) {
  const auto scaled = asked({run("ec2 c5.large", 2, 1, 100)}, "ec2 c5.2xlarge", 8);
  EXPECT_EQ(scaled.run.source, Source::Scaled);
  EXPECT_LE(scaled.run.low, 25);
  EXPECT_GE(scaled.run.high, 100);
  EXPECT_NE(scaled.outside, "");
  ProgramQuestion gpu{"this", "mnist (train.py)", "ec2 g5.xlarge", 4, 1, 1};
  EXPECT_FALSE(ProgramModel({run("ec2 c5.large", 2, 1, 100)}).forecast(gpu).run.known())
      << "cores say nothing of GPUs";
}

TEST(ProgramModel, SizesBetweenThreeMeasuredOnesAreInside) {
  // 20 s of its own and 160 s that nodes share.
  const std::vector<ProgramRun> three = {run("ec2 c5.large", 2, 1, 180), run("ec2 c5.large", 2, 2, 100),
                                         run("ec2 c5.large", 2, 8, 40)};
  const auto inside = asked(three, "ec2 c5.large", 2, 4);
  EXPECT_NEAR(inside.run.value, 60, 5);
  EXPECT_LE(inside.run.low, 40);
  EXPECT_GE(inside.run.high, 100);
  EXPECT_EQ(inside.outside, "");
  EXPECT_NE(asked({three[0], three[2]}, "ec2 c5.large", 2, 4).outside, "") << "two points show no line";
  const auto beyond = asked(three, "ec2 c5.large", 2, 16);
  EXPECT_NE(beyond.outside, "");
  EXPECT_LE(beyond.run.low, 20);
  EXPECT_GE(beyond.run.high, 40);
  EXPECT_EQ(ProgramModel(three).sizes("this", "ec2 c5.large"), (std::vector<int>{1, 2, 8}));
}

TEST(ProgramModel, OtherVersionsGiveAWidePrior) {
  ProgramRun other = run("local", 2, 1, 50);
  other.work = "other";
  const auto prior = asked({other}, "local", 2);
  EXPECT_EQ(prior.run.source, Source::Guessed);
  EXPECT_TRUE(prior.by_other_version);
  EXPECT_GE(prior.run.high / prior.run.low, 25);
  other.family = "another (train.py)";
  EXPECT_FALSE(asked({other}, "local", 2).run.known());
  EXPECT_NE(asked({}, "local", 2).unknown, "");
}

}  // namespace
}  // namespace radl::foresight
