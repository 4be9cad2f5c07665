#include <gtest/gtest.h>

#include "runtime/steps/farm/agent.h"
#include "runtime/steps/farm/scheduler.h"

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

TEST(FarmAgent, ReadsWhatAClustersAgentPrints) {
  EXPECT_EQ(read_agent_line("capacity 4 1024 0 2:512:0")->text, "4 1024 0 2:512:0");
  EXPECT_EQ(read_agent_line("trouble no answer")->text, "no answer");
  EXPECT_EQ(read_agent_line("trouble ")->kind, AgentLine::Kind::Trouble);
  EXPECT_EQ(read_agent_line("queued t.1 Priority")->kind, AgentLine::Kind::Queued);
  EXPECT_EQ(read_agent_line("runs t.1 n0 1700000000")->text, "n0 1700000000");
  EXPECT_EQ(read_agent_line("gone t.1 NODE_FAIL n0")->text, "NODE_FAIL n0");
}

TEST(FarmAgent, SlurmIsToldWhatAnAttemptNeeds) {
  FarmSettings settings;
  settings.scheduler = SchedulerKind::Slurm;
  settings.slurm = {"short", "lab", "", "", {"--constraint=avx512"}};
  TaskRecord task;
  task.task.needs = {1500, (int64_t{1} << 20) + 1, 2, 0};
  task.failed_machines = {"n3", "n1", "n3"};
  EXPECT_EQ(scheduler_of(settings)->header(task, 90),
            "#SBATCH --ntasks=1\n#SBATCH --nodes=1\n#SBATCH --cpus-per-task=2\n#SBATCH --mem=2M\n"
            "#SBATCH --gres=gpu:2\n#SBATCH --partition=short\n#SBATCH --account=lab\n#SBATCH --time=3\n"
            "#SBATCH --constraint=avx512\n#SBATCH --exclude=n1,n3\n");
  EXPECT_EQ(scheduler_of(FarmSettings())->header(task, 90), "");
}

}  // namespace
}  // namespace radl::farm
