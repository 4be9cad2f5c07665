// The plan as people read it, compared with files. ACCEPT=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "common/files.h"
#include "runtime/plan/ordinals.h"
#include "runtime/plan/step_facts.h"
#include "runtime/plan/wrap_columns.h"
#include "tests/support/paths.h"
#include "tests/support/plan_bench.h"

namespace radl::test {
namespace {

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

ir::Program cluster_with_text(int workers, const std::string& motd, double memory,
                              const std::string& extra = "") {
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

TEST_F(PlanText, First) {
  expect_text("first.txt", render_text(bench.plan(cluster_with_text(3, "hello", 2 * kGiB))));
}

TEST_F(PlanText, FirstInFullAndInColor) {
  Plan plan = bench.plan(cluster_with_text(2, "hello", 2 * kGiB));
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

// A recipe's shell text is the name of what runs it.
TEST_F(PlanText, SummariesAreOneLine) {
  ir::Program program = cluster_with_text(1, "hello", 2 * kGiB);
  for (ir::Step& step : program.steps)
    for (ir::Resource& resource : step.resources) resource.name = "apt-get update\n\tapt-get install -y jq\n";
  const std::string text = render_text(bench.plan(program));
  EXPECT_NE(text.find("'apt-get update ...' (2 lines)"), std::string::npos) << text;
}

TEST_F(PlanText, NoChanges) {
  ir::Program program = cluster_with_text(3, "hello", 2 * kGiB);
  applied(program);
  expect_text("no-changes.txt", render_text(bench.plan(program)));
}

TEST_F(PlanText, MoreWorkers) {
  applied(cluster_with_text(2, "hello", 2 * kGiB));
  expect_text("more-workers.txt", render_text(bench.plan(cluster_with_text(4, "hello", 2 * kGiB))));
}

TEST_F(PlanText, ManyChangesAtOnce) {
  bench.cloud.offers = {{"local", "", Money::of(0.0416)}};
  applied(cluster_with_text(4, "hello\nthis is\na machine of\nours\nand it\ntrains\n", 2 * kGiB, "extra"));
  Plan plan =
      bench.plan(cluster_with_text(3, "hello\nthis is\na machine of\ntheirs\nand it\ntrains\n", 4 * kGiB));
  expect_text("many-changes.txt", render_text(plan));
  expect_text("many-changes.dot", render_dot(plan));
  expect_text("many-changes.html", render_html(plan));
}

Offer machine_offer(const std::string& name, double cpu, const char* market, Money on_demand, Money spot) {
  Offer offer{name, "a", std::string(market) == "spot" ? spot : on_demand, {{"type", name}}, {}};
  offer.facts.market = market;
  offer.facts.cpu = cpu;
  offer.facts.memory_bytes = cpu * 4 * kGiB;
  offer.facts.on_demand = on_demand;
  offer.facts.spot = spot;
  return offer;
}

TEST_F(PlanText, AScriptIsNamedByItsFirstCommandAndItsLines) {
  ir::Step step;
  step.kind = ir::StepKind::Native;
  step.resources.resize(2);
  step.resources[0].type = step.resources[1].type = "command";
  step.resources[0].name = "#!/bin/sh\nset -e\n# packages\n\napt-get update\napt-get install -y nginx\n";
  step.resources[1].name = "true\n";
  EXPECT_EQ(step_summary(step), "command 'apt-get update ...' (5 lines), command 'true'");
  step.resources.resize(1);
  step.resources[0].name = "A=";
  for (int i = 0; i < 40; ++i) step.resources[0].name += "\u00e9";
  step.resources[0].name += "\ntrue\n";
  EXPECT_NO_THROW((void)Json(step_summary(step)).dump()) << "no character is cut";
}

TEST(PlanWidth, LinesAreWrappedBelowTheTextOfTheirFirstColumn) {
  EXPECT_EQ(wrap_columns("  > worker[0]  package 'one', package 'two'\nnext\n", 30),
            "  > worker[0]  package 'one',\n               package 'two'\nnext\n");
  EXPECT_EQ(wrap_columns("note: one two three four five six\n", 24),
            "note: one two three four\n      five six\n");
  const std::string bold = "\x1b[1mone two three four five\x1b[0m";
  EXPECT_EQ(wrap_columns(bold, 23), bold) << "escape sequences have no width";
  const std::string diff = "          +a line of a file that is longer than the terminal";
  EXPECT_EQ(wrap_columns(diff, 24), diff);
  const std::string word = "https://example.com/a/word/without/spaces";
  EXPECT_EQ(wrap_columns("see " + word, 24), "see\n  " + word);
  EXPECT_EQ(wrap_columns(word, 0), word);
}

// What a reviewer compares before saying yes.
TEST_F(PlanText, TheCandidatesOfEachMachineWithTheChosenOneMarked) {
  bench.cloud.offers = {machine_offer("m5.large", 2, "spot", Money::of(0.107), Money::of(0.0494)),
                        machine_offer("m5.large", 2, "on-demand", Money::of(0.107), Money::of(0.0494)),
                        machine_offer("m5.xlarge", 4, "on-demand", Money::of(0.214), Money::of(0.09))};
  Offer unknown{"m8i.large", "a", {}, {{"type", "m8i.large"}}, {}};
  unknown.facts.priced = false;
  bench.cloud.offers.push_back(unknown);
  Offer elsewhere = bench.cloud.offers[0];
  elsewhere.zone = "b";
  bench.cloud.offers.push_back(elsewhere);  // another zone is no other candidate
  Plan plan = bench.plan(cluster_with_text(3, "hello", 2 * kGiB));
  expect_text("candidates.txt", render_text(plan));
  PlanTextOptions full;
  full.full = true;
  expect_text("candidates-full.txt", render_text(plan, full));
  expect_text("candidates.html", render_html(plan));
  expect_text("candidates.md", render_markdown(plan));
  auto again = plan_from_json(to_json(plan));
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_EQ(render_text(*again), render_text(plan));
  EXPECT_EQ(render_markdown(*again), render_markdown(plan));
}

TEST_F(PlanText, AnUnknownPriceIsNotShownAsZero) {
  Offer unknown{"m8i.large", "a", {}, {{"type", "m8i.large"}}, {}};
  unknown.facts.priced = false;
  bench.cloud.offers = {unknown};
  const Plan plan = bench.plan(cluster_with_text(2, "hello", 2 * kGiB));
  const std::string count = std::to_string(plan.costs.size());
  EXPECT_NE(summary_line(plan).find(" and " + count + " unknown prices"), std::string::npos)
      << summary_line(plan);
  for (const std::string& text : {render_text(plan), render_markdown(plan), render_html(plan)}) {
    EXPECT_NE(text.find("not known"), std::string::npos) << text;
    EXPECT_NE(text.find(" and " + count + " unknown prices"), std::string::npos) << text;
    EXPECT_EQ(text.find("0.00 USD/h = "), std::string::npos) << text;
  }
}

TEST_F(PlanText, AmountsOfTwoCurrenciesStandSideBySide) {
  Plan plan;
  plan.infrastructure = "two";
  plan.actions.emplace_back().id = "a";
  plan.costs = {{"a", "one", "one m", {}, Money::of(0.1, "EUR")},
                {"b", "two", "two s", {}, Money::of(0.2, "USD")}};
  for (const ResourceCost& cost : plan.costs) plan.totals.price_per_hour.add(cost.after);
  EXPECT_NE(render_text(plan).find("0.10 EUR/h and 0.20 USD/h, 73.00 EUR and 146.00 USD a month"),
            std::string::npos)
      << render_text(plan);
}

// Names from foreign files are plain text in generated pages.
TEST_F(PlanText, HostileNamesStayText) {
  const std::string hostile =
      "</code></details><img src=x onerror=alert(1)>|`@all`[x](javascript:y)\n# h\x1b[31m\xE2\x80\xAE";
  Plan plan;
  plan.infrastructure = hostile;
  plan.notes = {hostile};
  plan.unseen[hostile] = hostile;
  Action& action = plan.actions.emplace_back();
  action.id = hostile;
  action.summary = hostile + "\n```\n</details>";
  action.changes.push_back({hostile, hostile, "````\n" + hostile});
  plan.costs = {{hostile, hostile, hostile, {}, Money::of(1)}};
  for (const std::string& page : {render_html(plan), render_markdown(plan)}) {
    const std::string outside = page.substr(0, page.find("<summary>All changes"));
    EXPECT_EQ(outside.find("<img"), std::string::npos) << outside;
    EXPECT_EQ(page.find('\x1b') != std::string::npos && page.starts_with("###"), false);
  }
  const std::string markdown = render_markdown(plan);
  const std::string outside = markdown.substr(0, markdown.find("<summary>All changes"));
  EXPECT_EQ(outside.find("@all"), std::string::npos);
  EXPECT_EQ(outside.find("](javascript"), std::string::npos);
  EXPECT_EQ(outside.find("\n# h"), std::string::npos);
  // The fence is longer than any that a value has.
  EXPECT_NE(markdown.find("`````text\n"), std::string::npos) << markdown;
  EXPECT_EQ(render_html(plan).find("<img"), std::string::npos);
}

TEST_F(PlanText, ACommentIsNeverLongerThanGitHubTakes) {
  Plan plan;
  plan.infrastructure = "large";
  for (int i = 0; i < 4000; ++i) {
    Action& action = plan.actions.emplace_back();
    action.id = "step-of-a-long-name-" + std::to_string(i * 7919);
    action.summary = "x";
    plan.costs.push_back({action.id, "c", "c m", {}, Money::of(0.001 * i)});
    plan.notes.push_back("note " + std::to_string(i));
  }
  const std::string markdown = render_markdown(plan);
  EXPECT_LE(markdown.size(), kMostMarkdown);
  EXPECT_GT(markdown.size(), kMostMarkdown / 2);
  EXPECT_NE(markdown.find(" more lines are left out here: a comment takes 65536 characters."),
            std::string::npos);
  EXPECT_NE(markdown.find("\n</details>\n"), std::string::npos);
}

// Each change alone, as a reviewer meets it.
TEST_F(PlanText, AThirdWorker) {
  applied(cluster_with_text(2, "hello", 2 * kGiB));
  expect_text("third-worker.txt", render_text(bench.plan(cluster_with_text(3, "hello", 2 * kGiB))));
}

TEST_F(PlanText, MoreMemory) {
  applied(cluster_with_text(2, "hello", 2 * kGiB));
  expect_text("more-memory.txt", render_text(bench.plan(cluster_with_text(2, "hello", 4 * kGiB))));
}

TEST_F(PlanText, MoreMemoryWhereItChangesInPlace) {
  bench.cloud.memory_in_place = true;
  applied(cluster_with_text(2, "hello", 2 * kGiB));
  expect_text("more-memory-in-place.txt", render_text(bench.plan(cluster_with_text(2, "hello", 4 * kGiB))));
}

TEST_F(PlanText, AnotherFileContent) {
  applied(cluster_with_text(2, "hello\nto all\n", 2 * kGiB));
  expect_text("other-content.txt",
              render_text(bench.plan(cluster_with_text(2, "hello\nto some\n", 2 * kGiB))));
}

TEST_F(PlanText, AStepLess) {
  applied(cluster_with_text(2, "hello", 2 * kGiB, "extra"));
  expect_text("step-less.txt", render_text(bench.plan(cluster_with_text(2, "hello", 2 * kGiB))));
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
  ir::Program program = cluster_with_text(2, "hello", 2 * kGiB);
  applied(program);
  bench.observed.resources = {
      {"worker[1]", "stopped", {{"worker[1]", "state", "stopped", "running", ""}}, ""}};
  bench.observed.attributes["worker[1]"] = {{"state", "stopped"}};
  bench.refreshed = true;
  expect_text("stopped-node.txt", render_text(bench.plan(program)));
}

TEST_F(PlanText, Drift) {
  ir::Program program = cluster_with_text(2, "hello", 2 * kGiB);
  applied(program);
  bench.observed.steps["worker[0]/tools"] = {
      {"file '/etc/motd'", "content", nullptr, nullptr, "-edited by hand\n+hello\n"},
      {"file '/etc/motd'", "mode", "0600", "0644", ""}};
  bench.observed.resources = {{"worker[1]", "gone", {}, ""}};
  bench.refreshed = true;
  expect_text("drift.txt", render_text(bench.plan(program)));
}

TEST_F(PlanText, Destroy) {
  applied(cluster_with_text(3, "hello", 2 * kGiB));
  expect_text("destroy.txt", render_text(make_destroy_plan(bench.snapshot)));
}

TEST(RenderValue, ShowsUnitsUnknownsAndSecrets) {
  EXPECT_EQ(render_value(2 * kGiB, "memory.size"), "2 GiB");
  EXPECT_EQ(render_value(1.5 * kGiB, "memory.size"), "1.5 GiB");
  EXPECT_EQ(render_value(3, "cpu.count"), "3");
  EXPECT_EQ(render_value(0.1), "0.1");
  EXPECT_EQ(render_value(9007199254740993), "9007199254740993");
  EXPECT_EQ(render_value(1234567.5), "1234567.5");
  EXPECT_EQ(render_value(Json{{"size", 3}, {"n", {1, 2}}}), "{n = [1, 2], size = 3}");
  EXPECT_EQ(render_value(Json{{"memory", kGiB}}, "system"), "{memory = 1 GiB}");
  EXPECT_EQ(render_value("a"), "'a'");
  EXPECT_EQ(render_value(nullptr), "(none)");
  EXPECT_EQ(render_value(ir::secret("x")), "(sensitive)");
  EXPECT_EQ(render_value(ir::unknown("a[0].ip")), "(known after apply: a[0].ip)");
  EXPECT_EQ(render_value(Json{{"$join", {"http://", ir::unknown("a[0].ip"), ":80"}}}),
            "'http://(known after apply: a[0].ip):80'");
  EXPECT_EQ(render_value(Json::array({1, "b", true})), "[1, 'b', yes]");
}

TEST(Unseen, IsToldOnceForEachReason) {
  EXPECT_EQ(unseen_told({{"net.lan", "not allowed"},
                         {"worker[0]", "not allowed"},
                         {"worker[10]", "not allowed"},
                         {"worker[1]", "the host key does not match"},
                         {"worker[9]", "not allowed"}}),
            (std::vector<std::string>{"net.lan, worker[0,9..10] could not be checked: not allowed",
                                      "worker[1] could not be checked: the host key does not match"}));
  EXPECT_TRUE(unseen_told({}).empty());
}

}  // namespace
}  // namespace radl::test
