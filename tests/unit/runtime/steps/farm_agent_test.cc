#include <gtest/gtest.h>

#include "runtime/steps/farm/agent.h"

namespace radl::farm {
namespace {

TEST(FarmAgent, ReadsWhatItPrints) {
  EXPECT_EQ(read_agent_line("ready")->kind, AgentLine::Kind::Ready);
  auto end = read_agent_line("end part.1.12 3 results");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->kind, AgentLine::Kind::End);
  EXPECT_EQ(end->task, "part.1");
  EXPECT_EQ(end->attempt, 12);
  EXPECT_EQ(end->status, 3);
  EXPECT_TRUE(end->results);
  EXPECT_FALSE(read_agent_line("end t.1 0 ")->results);
  EXPECT_EQ(read_agent_line("line t.1 {\"loss\": 1}")->text, "{\"loss\": 1}");
  EXPECT_EQ(read_agent_line("gone t.2")->kind, AgentLine::Kind::Gone);
  EXPECT_EQ(read_agent_line("notice TRUE")->kind, AgentLine::Kind::Notice);
  EXPECT_EQ(read_agent_line("notice TRUE")->text, "TRUE");
}

TEST(FarmAgent, PassesOverAnythingElse) {
  for (const char* line :
       {"", "end", "end t", "end .1 0", "end t.x 0", "end t.0 0", "more t.1 0", "Last login: today"})
    EXPECT_FALSE(read_agent_line(line)) << line;
}

// printf '%b' gives the script back.
TEST(FarmAgent, ACommandIsOneLine) {
  EXPECT_EQ(start_command("t.1", "a\\n\nb\n"), "start t.1 a\\\\n\\nb\\n\n");
}

}  // namespace
}  // namespace radl::farm
