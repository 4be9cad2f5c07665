// The plan as people read it, compared with files. ACCEPT=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "common/files.h"
#include "tests/support/paths.h"
#include "tests/support/plan_bench.h"

namespace radl::test {
namespace {

constexpr double kGiB = 1073741824.0;

void expect_text(const std::string& name, const std::string& text) {
  std::string path = test::source_dir() + "/tests/unit/runtime/plan/golden/" + name;
  if (std::getenv("ACCEPT")) {
    ASSERT_TRUE(make_directories(std::filesystem::path(path).parent_path()).ok());
    ASSERT_TRUE(write_file_atomic(path, text).ok());
  }
  Result<std::string> expected = read_file(path);
  ASSERT_TRUE(expected.ok()) << expected.status().text();
  EXPECT_EQ(text, *expected) << name;
}

ir::Program cluster(int workers, const std::string& motd, double memory, const std::string& extra = "") {
  ProgramBuilder builder;
  builder.deploy({"server"}).deploy({"worker", workers, memory});
  builder.file("server", "tools", "/etc/motd", motd).file("worker", "tools", "/etc/motd", motd);
  if (!extra.empty()) builder.file("worker", extra, "/etc/" + extra, "x");
  builder.train("server", "worker").output("model", ir::unknown("training/cifar.model_path"));
  builder.output("token", ir::secret("input.token"), true);
  return builder.build();
}

class PlanText : public testing::Test {
 protected:
  PlanText() {
    bench.secrets = {{"input.token", "hunter2"}};
    bench.output = [](const ir::Step& step) {
      return step.kind == ir::StepKind::Training ? Json{{"model_path", "/home/ana/model"}} : Json::object();
    };
  }
  void applied(const ir::Program& program) { bench.applied(program); }
  PlanBench bench;
};

TEST_F(PlanText, First) { expect_text("first.txt", render_text(bench.plan(cluster(3, "hello", 2 * kGiB)))); }

TEST_F(PlanText, FirstInFullAndInColor) {
  Plan plan = bench.plan(cluster(2, "hello", 2 * kGiB));
  PlanTextOptions options;
  options.full = true;
  expect_text("first-full.txt", render_text(plan, options));
  options = {};
  options.color = true;
  expect_text("first-color.txt", render_text(plan, options));
  options = {};
  options.brief = true;
  EXPECT_EQ(render_text(plan, options), summary_line(plan) + "\n");
}

TEST_F(PlanText, NoChanges) {
  ir::Program program = cluster(3, "hello", 2 * kGiB);
  applied(program);
  expect_text("no-changes.txt", render_text(bench.plan(program)));
}

TEST_F(PlanText, MoreWorkers) {
  applied(cluster(2, "hello", 2 * kGiB));
  expect_text("more-workers.txt", render_text(bench.plan(cluster(4, "hello", 2 * kGiB))));
}

TEST_F(PlanText, ManyChangesAtOnce) {
  bench.cloud.offers = {{"local", "", Money::of(0.0416)}};
  applied(cluster(4, "hello\nthis is\na machine of\nours\nand it\ntrains\n", 2 * kGiB, "extra"));
  Plan plan = bench.plan(cluster(3, "hello\nthis is\na machine of\ntheirs\nand it\ntrains\n", 4 * kGiB));
  expect_text("many-changes.txt", render_text(plan));
  expect_text("many-changes.dot", render_dot(plan));
  expect_text("many-changes.html", render_html(plan));
}

// Each change alone, as a reviewer meets it.
TEST_F(PlanText, AThirdWorker) {
  applied(cluster(2, "hello", 2 * kGiB));
  expect_text("third-worker.txt", render_text(bench.plan(cluster(3, "hello", 2 * kGiB))));
}

TEST_F(PlanText, MoreMemory) {
  applied(cluster(2, "hello", 2 * kGiB));
  expect_text("more-memory.txt", render_text(bench.plan(cluster(2, "hello", 4 * kGiB))));
}

TEST_F(PlanText, MoreMemoryWhereItChangesInPlace) {
  bench.cloud.memory_in_place = true;
  applied(cluster(2, "hello", 2 * kGiB));
  expect_text("more-memory-in-place.txt", render_text(bench.plan(cluster(2, "hello", 4 * kGiB))));
}

TEST_F(PlanText, AnotherFileContent) {
  applied(cluster(2, "hello\nto all\n", 2 * kGiB));
  expect_text("other-content.txt", render_text(bench.plan(cluster(2, "hello\nto some\n", 2 * kGiB))));
}

TEST_F(PlanText, AStepLess) {
  applied(cluster(2, "hello", 2 * kGiB, "extra"));
  expect_text("step-less.txt", render_text(bench.plan(cluster(2, "hello", 2 * kGiB))));
}

TEST_F(PlanText, ARenamedSystem) {
  auto site = [](const std::string& name) {
    return ProgramBuilder()
        .deploy({"server"})
        .deploy({name, 2})
        .file(name, "tools", "/etc/motd", "x")
        .build();
  };
  applied(site("worker"));
  expect_text("renamed-system.txt", render_text(bench.plan(site("trainer"))));
}

TEST_F(PlanText, AStoppedNode) {
  ir::Program program = cluster(2, "hello", 2 * kGiB);
  applied(program);
  bench.observed.resources = {
      {"worker[1]", "stopped", {{"worker[1]", "state", "stopped", "running", ""}}, ""}};
  bench.observed.attributes["worker[1]"] = {{"state", "stopped"}};
  bench.refreshed = true;
  expect_text("stopped-node.txt", render_text(bench.plan(program)));
}

TEST_F(PlanText, Drift) {
  ir::Program program = cluster(2, "hello", 2 * kGiB);
  applied(program);
  bench.observed.steps["worker[0]/tools"] = {
      {"file '/etc/motd'", "content", nullptr, nullptr, "-edited by hand\n+hello\n"},
      {"file '/etc/motd'", "mode", "0600", "0644", ""}};
  bench.observed.resources = {{"worker[1]", "gone", {}, ""}};
  bench.refreshed = true;
  expect_text("drift.txt", render_text(bench.plan(program)));
}

TEST_F(PlanText, Destroy) {
  applied(cluster(3, "hello", 2 * kGiB));
  expect_text("destroy.txt", render_text(make_destroy_plan(bench.snapshot)));
}

TEST(RenderValue, ShowsUnitsUnknownsAndSecrets) {
  EXPECT_EQ(render_value(2 * kGiB, "memory.size"), "2 GiB");
  EXPECT_EQ(render_value(1.5 * kGiB, "memory.size"), "1.5 GiB");
  EXPECT_EQ(render_value(3, "cpu.count"), "3");
  EXPECT_EQ(render_value(0.1), "0.1");
  EXPECT_EQ(render_value("a"), "'a'");
  EXPECT_EQ(render_value(nullptr), "(none)");
  EXPECT_EQ(render_value(ir::secret("x")), "(sensitive)");
  EXPECT_EQ(render_value(ir::unknown("a[0].ip")), "(known after apply: a[0].ip)");
  EXPECT_EQ(render_value(Json{{"$join", {"http://", ir::unknown("a[0].ip"), ":80"}}}),
            "'http://(known after apply: a[0].ip):80'");
  EXPECT_EQ(render_value(Json::array({1, "b", true})), "[1, 'b', yes]");
}

}  // namespace
}  // namespace radl::test
