#include "runtime/steps/program/verdict.h"

#include <gtest/gtest.h>

namespace radl::program {
namespace {

using Phase = jobs::ProcessState::Phase;
using Looks = std::vector<jobs::Member::Look>;

const std::vector<jobs::Process> kTwo = {{"member-0", 0}, {"member-1", 1}};

jobs::Member::Look ended(size_t member, int exit) {
  jobs::Member::Look look;
  look.run = "run";
  look.processes = {{"member-" + std::to_string(member), {Phase::Ended, exit}}};
  return look;
}
jobs::Member::Look running(size_t member) {
  jobs::Member::Look look = ended(member, -1);
  look.processes[0].second.phase = Phase::Running;
  return look;
}
std::string left(const Looks& looks, const EndRules& rules = {}) {
  const Left found = what_is_left(rules, kTwo, looks, "run");
  return std::string(found.same ? "same " : "") + (found.running ? "running " : "") +
         (found.whole ? "whole" : "");
}

TEST(WhatIsLeft, AllThatRunsOrHasEndedWellIsJoined) {
  EXPECT_EQ(left({running(0), running(1)}), "same running whole");
  EXPECT_EQ(left({ended(0, 0), running(1)}), "same running whole");
  EXPECT_EQ(left({ended(0, 0), ended(1, 0)}), "same whole");
  EXPECT_EQ(left({ended(0, 0), ended(1, 3)}), "same ");
  EXPECT_EQ(left({running(0), ended(1, -1)}), "same running ");
}

TEST(WhatIsLeft, WhatTheRulesAllow) {
  EndRules rules;
  rules.may_fail = true;
  EXPECT_EQ(left({ended(0, 0), ended(1, 3)}, rules), "same whole");
  EXPECT_EQ(left({ended(0, 0), ended(1, -1)}, rules), "same ");
  rules = {};
  rules.alone = true;
  EXPECT_EQ(left({running(0), ended(1, -1)}, rules), "same running whole");
  EXPECT_EQ(left({ended(0, -1), running(1)}, rules), "same running ") << "the chief is not missed";
  rules = {};
  rules.chief = true;
  EXPECT_EQ(left({ended(0, 0), ended(1, -1)}, rules), "same whole");
  EXPECT_EQ(left({running(0), ended(1, -1)}, rules), "same running ");
}

TEST(WhatIsLeft, AMemberThatNeverRanIsMissedIfTheRulesAllowIt) {
  EXPECT_EQ(left({running(0), {}}), "running ");
  EndRules rules;
  rules.alone = true;
  EXPECT_EQ(left({running(0), {}}, rules), "same running whole");
  EXPECT_EQ(what_is_left(rules, kTwo, {running(0), {}}, "run").without, std::set<size_t>{1});
  EXPECT_EQ(left({{}, running(1)}, rules), "running ") << "the chief is not missed";
  EXPECT_EQ(left({{}, {}}, rules), "");
}

TEST(WhatIsLeft, AnotherRunIsNone) {
  Looks looks = {running(0), running(1)};
  looks[1].run = "collected run";
  EXPECT_EQ(left(looks), "running whole");
}

TEST(WhatIsLeft, WhatWasCancelledHasNotEndedAsItShould) {
  Looks looks = {ended(0, 0), ended(1, 0)};
  looks[1].cancelled = true;
  EXPECT_EQ(left(looks), "same ");
  looks[0] = running(0);
  EXPECT_EQ(left(looks), "same running whole") << "it is followed to its end, which says so";
}

}  // namespace
}  // namespace radl::program
