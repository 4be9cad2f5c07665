// What programs leave, in all the forms that programs leave it in, as it comes to this computer.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "runtime/steps/jobs/services.h"
#include "tests/support/program_bench.h"

namespace radl {
namespace {

namespace fs = std::filesystem;
using test::contains;

struct ResultsTest : test::ProgramBench {
  std::string results(const std::string& name) const { return nodes.folder.path("results") + "/" + name; }
  std::string content(const std::string& name) const {
    auto text = read_file(results(name));
    return text ? *text : "(none)";
  }
  bool told(const std::string& what) {
    for (const auto& event : events) {
      if (event.kind == "task" && event.data.value("name", "").find(what) != std::string::npos) return true;
    }
    return false;
  }
};

TEST_F(ResultsTest, LinksStayLinksWithinThemAndAreFilesElsewhere) {
  program(R"sh(
mkdir -p "$RADL_RESULTS/epochs/2" "$RADL_CHECKPOINTS"
echo two > "$RADL_RESULTS/epochs/2/weights"
echo far > "$RADL_CHECKPOINTS/far"
cd "$RADL_RESULTS"
ln -s epochs/2 latest
ln -s "$RADL_RESULTS/epochs/2/weights" best
ln -s ../../best epochs/2/again
ln -s "$RADL_CHECKPOINTS/far" far
ln -s "$RADL_CHECKPOINTS" folder
ln -s nowhere dangling
ln -s latest/../../../../../../etc/passwd out
)sh");
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(fs::read_symlink(results("latest")), "epochs/2");
  EXPECT_EQ(fs::read_symlink(results("best")), "epochs/2/weights");
  EXPECT_EQ(content("epochs/2/again"), "two\n");
  EXPECT_FALSE(fs::is_symlink(results("far")));
  EXPECT_EQ(content("far"), "far\n");
  EXPECT_FALSE(fs::exists(fs::symlink_status(results("folder"))));
  EXPECT_TRUE(told("'folder' in its results is a link to a folder, or out of the results"));
  EXPECT_TRUE(fs::is_symlink(results("dangling")));
  EXPECT_FALSE(fs::is_symlink(results("out"))) << "a link that leads out of the results";
  // Again: the same links are no hindrance.
  step.digest = "digest-2";
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(fs::read_symlink(results("latest")), "epochs/2");
  EXPECT_FALSE(told("was not radlc's"));
}

TEST_F(ResultsTest, FilesOfAnyNameComeBackAsTheyAre) {
  program(R"sh(
cd "$RADL_RESULTS"
for name in ' a  b ' "it's" 'new
line' 'back\slash' '*' '-rf' '$(touch x)' 'ä"ö'; do printf '%s' "$name" > "./$name"; done
printf 'a\000b' > bytes
: > empty
mkdir -p 'deep folder/[x]' && echo in > 'deep folder/[x]/in'
)sh");
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  for (const char* name : {" a  b ", "it's", "new\nline", "back\\slash", "*", "-rf", "$(touch x)", "ä\"ö"})
    EXPECT_EQ(content(name), name);
  EXPECT_EQ(content("bytes"), std::string("a\0b", 3));
  EXPECT_EQ(content("empty"), "");
  EXPECT_EQ(content("deep folder/[x]/in"), "in\n");
}

TEST_F(ResultsTest, OutputsMayBePatternsAndLinks) {
  program(R"sh(
mkdir -p out/deep 'a b'
echo 1 > out/one.pt; echo 2 > 'out/two 2.pt'; echo no > out/no.txt
echo 3 > out/deep/three; echo literal > '[x]'; echo x > x
echo blank > 'a b/file'
echo dash > ./-dash.log
ln -s out/one.pt best
ln -s out linked
)sh");
  step.program["outputs"] = {"out/*.pt", "[x]", "best", "linked", "a b", "-*.log"};
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(content("out/one.pt"), "1\n");
  EXPECT_EQ(content("out/two 2.pt"), "2\n");
  EXPECT_EQ(content("out/no.txt"), "(none)");
  EXPECT_EQ(content("[x]"), "literal\n") << "what is called so comes before a pattern";
  EXPECT_EQ(content("x"), "(none)");
  EXPECT_EQ(content("best"), "1\n");
  EXPECT_EQ(content("linked/deep/three"), "3\n");
  EXPECT_EQ(content("a b/file"), "blank\n");
  EXPECT_EQ(content("-dash.log"), "dash\n");
  step.program["outputs"] = {"*.nothing"};
  step.digest = "digest-2";
  outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(contains(outcome.status().message(), "ended well, but left no '*.nothing'"));
}

TEST_F(ResultsTest, AReportOfItsOwnIsNotLost) {
  program("echo '{\"own\": 1}' > $RADL_RESULTS/report.json");
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(content("program-report.json"), "{\"own\": 1}\n");
  EXPECT_TRUE(Json::parse(content("report.json")).contains("attempts"));
  EXPECT_TRUE(told("its own 'report.json' is called 'program-report.json'"));
}

TEST_F(ResultsTest, WhatAUserPutAmongThemIsKeptUnderAnotherName) {
  program("echo first > $RADL_RESULTS/notes; echo none > $RADL_RESULTS/.radl-results");
  ASSERT_TRUE(run().ok());
  ASSERT_TRUE(write_file_atomic(results("notes"), "what I think of it").ok());
  step.digest = "digest-2";
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(content("notes"), "first\n");
  EXPECT_EQ(content("notes.~1~"), "what I think of it");
  EXPECT_TRUE(told("it is called 'notes.~1~' now"));
}

TEST_F(ResultsTest, OutputThatIsNoTextIsKeptByteForByteInTheLog) {
  program(
      "printf 'a\\000b\\377\\n'; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after; printf 'no "
      "newline'");
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  const std::string text = content("logs/worker[0].log");
  EXPECT_TRUE(text.starts_with(std::string("a\0b\377\n", 5)));
  EXPECT_EQ(text.size(), 5 + 3000001 + 6 + 11);
  EXPECT_TRUE(contains(log(), "xxx ... (the line is longer)\n"));
  EXPECT_TRUE(contains(log(), "after"));
  EXPECT_TRUE(contains(log(), "no newline"));
}

TEST_F(ResultsTest, SecretsAreMaskedInALineOfAnyLength) {
  std::string secret;
  for (int i = 0; i < 300; ++i) secret += "s3cr3t-key";
  nodes.secrets["input.token"] = secret;
  program(R"sh(
x=$(head -c 1000 /dev/zero | tr '\0' x)
i=0
while [ $i -lt 800 ]; do printf '%s%s' "$TOKEN" "$x"; i=$((i + 1)); done
echo
echo loss=0.5
)sh");
  step.program["environment"] = {{"TOKEN", secret}};
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  std::string expected;
  for (int i = 0; i < 800; ++i) expected += "(sensitive)" + std::string(1000, 'x');
  EXPECT_TRUE(content("logs/worker[0].log") == expected + "\nloss=0.5\n") << "no byte more or less";
  EXPECT_EQ(outcome->output.at("metrics").at("loss"), 0.5);
}

TEST_F(ResultsTest, TheLogIsWholeAlsoOfWhatWasWrittenAtLast) {
  program("seq 1 300000; echo the end; exit 3");
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  // The step's log holds the end, the log among the results every line.
  EXPECT_TRUE(contains(log(), "worker[0]  the end\n"));
  const std::string whole = content("logs/worker[0].log");
  EXPECT_TRUE(contains(whole, "\n300000\nthe end\n"));
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 300001);
}

TEST_F(ResultsTest, AFailureBringsItsLogsAndLeavesTheResultsOfAnEarlierRun) {
  program("echo good > $RADL_RESULTS/model; echo went well");
  ASSERT_TRUE(run().ok());
  program("echo bad > $RADL_RESULTS/model; echo went wrong; exit 3");
  step.digest = "digest-2";
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(contains(outcome.status().message(), results("logs")));
  EXPECT_EQ(content("logs/worker[0].log"), "went wrong\n");
  EXPECT_EQ(content("model"), "good\n");
  program("echo better > $RADL_RESULTS/model; echo went well again");
  step.digest = "digest-3";
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(content("logs/worker[0].log"), "went well again\n");
  EXPECT_EQ(content("model"), "better\n");
  EXPECT_FALSE(told("was not radlc's"));
}

TEST(Services, AreThoseThatRadlcKeepsRunningThere) {
  ir::Program program;
  auto add = [&](const std::string& node, const std::string& name, const Json& properties) {
    ir::Step step;
    step.nodes = {node};
    step.resources.push_back({"service", name, properties, {}});
    step.resources.push_back({"package", "p", Json::object(), {}});
    program.steps.push_back(step);
  };
  add("a[0]", "one", {{"state", "running"}});
  add("a[0]", "two", {{"enabled", true}});
  add("a[0]", "three", {{"state", "stopped"}});
  add("a[0]", "one", {{"state", "running"}});
  add("a[1]", "four", {{"state", "running"}});
  EXPECT_EQ(jobs::services_on(program, "a[0]"), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(jobs::services_in({{"resources", {{{"type", "service"}, {"name", "x"}}}}}),
            std::vector<std::string>{"x"});
}

TEST(Services, AreSaidWhenTheyStopAndWhenTheyRunAgain) {
  jobs::ServiceWatch watch;
  EXPECT_FALSE(watch.take("service one active"));
  EXPECT_FALSE(watch.take("service one unknown")) << "what is not known is no news";
  EXPECT_TRUE(contains(watch.take("service one failed").value_or(""), "service one does not run"));
  EXPECT_FALSE(watch.take("service one inactive"));
  EXPECT_EQ(watch.take("service one active").value_or(""), "service one runs again");
  EXPECT_TRUE(watch.take("service two inactive").has_value()) << "it was gone before";
  EXPECT_FALSE(watch.take("usage member-0 1 2 3 4 5 -"));
}

}  // namespace
}  // namespace radl
