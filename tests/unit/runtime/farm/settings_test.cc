#include "runtime/farm/settings.h"

#include <gtest/gtest.h>

#include <optional>

#include "runtime/farm/images.h"
#include "runtime/farm/rehearsal.h"

namespace radl::farm {
namespace {

TEST(FarmSettings, ATasksNeedReplacesTheFarms) {
  auto made = parse_farm(
      R"({"needs": {"cpu": 0.5, "memory": 100}, "tasks": [{"command": "a"}, {"name": "b", "arguments": [], "needs": {"memory": 7, "gpu": 2}}]})");
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ(made->tasks[0].name, "task-0");
  EXPECT_EQ(made->tasks[0].needs, (Resources{500, 100, 0, 0}));
  EXPECT_EQ(made->tasks[1].needs, (Resources{500, 7, 2, 0}));
  EXPECT_EQ(made->policy.rule, Rule::LeastRent);
}

TEST(FarmSettings, WrongOnesAreRefused) {
  for (const char* text : {"", "[]", "{}", R"({"tasks": []})", R"({"tasks": ["x"]})",
                           R"({"tasks": [{"name": "../x"}]})", R"({"tasks": [{"name": "a"}, {"name": "a"}]})",
                           R"({"tasks": [{"comand": "x"}]})", R"({"fitness": "best", "tasks": [{}]})",
                           R"({"tries": 0, "tasks": [{}]})", R"({"search": {"space": {}}})"})
    EXPECT_EQ(parse_farm(text).status().code(), Code::Invalid) << text;
}

TEST(FarmSettings, MetricsComeFromOutputOrFiles) {
  EXPECT_EQ(parse_farm(R"({"tasks": [{"command": "a"}]})")->metrics, "");
  EXPECT_EQ(parse_farm(R"({"search": {"space": {"x": [1]}}})")->metrics, "stdout");
  EXPECT_EQ(parse_farm(R"({"metrics": "*tfevents*", "tasks": [{"command": "a"}]})")->metrics, "*tfevents*");
  for (const char* wrong : {"a/b", "a'b", "a b", "$(x)", "a\\nb"})
    EXPECT_EQ(parse_farm(R"({"tasks": [{"command": "a"}], "metrics": ")" + std::string(wrong) + "\"}")
                  .status()
                  .code(),
              Code::Invalid)
        << wrong;
}

TEST(FarmSettings, WrongValuesOfATaskAreRefused) {
  EXPECT_TRUE(parse_farm(R"({"tasks": [{"arguments": ["a", 1], "environment": {"A": true}}]})").ok());
  for (const char* task :
       {R"({})", R"({"command": "a", "arguments": []})", R"({"command": ["a"]})", R"({"command": ""})",
        R"({"arguments": "a"})", R"({"arguments": [[1]]})", R"({"command": "a", "environment": []})",
        R"({"command": "a", "needs": 4})", R"({"command": "a", "needs": {"gpus": 1}})",
        R"({"command": "a", "needs": {"memory": "2 GB"}})", R"({"command": "a", "needs": {"cpu": -4}})",
        R"({"command": "a", "needs": {"gpu": 0.5}})", R"({"command": "a", "needs": {"cpu": 1e300}})",
        R"({"command": "a", "seconds": "60"})", R"({"command": "a", "seconds": -1})"})
    EXPECT_EQ(parse_farm(R"({"tasks": [)" + std::string(task) + "]}").status().code(), Code::Invalid) << task;
  for (const char* text :
       {R"({"tasks": [{"command": "a"}], "needs": {"cpu": "1"}})",
        R"({"tasks": [{"command": "a"}], "nedds": {}})", R"({"tasks": {}})",
        R"({"tasks": [{"command": "a"}], "search": 1})", R"({"tasks": [{"command": "a"}], "tries": 1.5})"})
    EXPECT_EQ(parse_farm(text).status().code(), Code::Invalid) << text;
}

TEST(FarmSettings, NamesOfTheFarmsOwnResultsAreRefused) {
  for (const char* name : {"logs", "best", "table.json", "report.json", "out.txt"})
    EXPECT_EQ(parse_farm(R"({"merge": "out.txt", "tasks": [{"command": "a", "name": ")" + std::string(name) +
                         "\"}]}")
                  .status()
                  .code(),
              Code::Invalid)
        << name;
  const std::string tasks = R"("tasks": [{"command": "a", "name": "trial-0"}])";
  EXPECT_TRUE(parse_farm("{" + tasks + "}").ok());
  EXPECT_EQ(parse_farm("{" + tasks + R"(, "search": {"space": {"x": [1]}}})").status().code(), Code::Invalid);
}

// Each end of a task looks at one waiting task of each kind, not at all of them.
TEST(FarmRehearsal, ManyTasksOnFewGpusOfNodesWithFreeProcessors) {
  FarmSettings settings;
  for (int i = 0; i < 2000; ++i)
    settings.tasks.push_back({"t" + std::to_string(i), {1000, 0, 1, 0}, 10, Json::object()});
  const Rehearsal played = rehearse(settings, {{64000, 0, 4, 0}});
  EXPECT_EQ(played.at_once, 4u);
  EXPECT_DOUBLE_EQ(played.seconds, 5000);
}

TEST(FarmRehearsal, TenBatchesOnOneMachineOfDistributoAreFiveRounds) {
  FarmSettings settings;
  settings.policy.rule = Rule::Fullest;
  for (int i = 0; i < 10; ++i)
    settings.tasks.push_back({"batch-" + std::to_string(i), {1000, 1000, 0, 0}, 0, Json::object()});
  const Rehearsal played = rehearse(settings, {{2048, 7987, 0, 0}});
  EXPECT_EQ(played.at_once, 2u);
  EXPECT_EQ(played.rounds, 5);
  EXPECT_FALSE(played.known);
  EXPECT_EQ(played.never, 0u);
}

TEST(FarmRehearsal, KnownLengthsGiveTheEndAndTheNodeHours) {
  FarmSettings settings;
  settings.tasks = {{"long", {1000, 0, 0, 0}, 600, Json::object()},
                    {"short", {1000, 0, 0, 0}, 60, Json::object()}};
  const Rehearsal played = rehearse(settings, {{1000, 0, 0, 0}, {1000, 0, 0, 0}});
  EXPECT_TRUE(played.known);
  EXPECT_DOUBLE_EQ(played.seconds, 600);
  EXPECT_DOUBLE_EQ(played.node_seconds, 660);
}

TEST(FarmRehearsal, ATaskThatNoNodeIsLargeEnoughForIsNamed) {
  FarmSettings settings;
  settings.tasks = {{"big", {9000, 0, 0, 0}, 1, Json::object()},
                    {"small", {1000, 0, 0, 0}, 1, Json::object()}};
  const Rehearsal played = rehearse(settings, {{2000, 0, 0, 0}});
  EXPECT_EQ(played.never, 1u);
  EXPECT_EQ(played.why_never.substr(0, 4), "big ");
}

Farm under_way() {
  Farm farm;
  (void)farm.apply(node_event("n", {1000, 0, 0, 0}, 0));
  for (const char* name : {"a", "b", "c"}) (void)farm.apply(add_event({name, {1000, 0, 0, 0}, 10, {}}, 0));
  (void)farm.apply(start_event("a", 1, "n", 0));
  return farm;
}

TEST(FarmRehearsal, TheRestTakesWhatRunningTasksStillNeed) {
  const Rehearsal rest = rehearse_rest(under_way(), 4);
  EXPECT_TRUE(rest.known);
  EXPECT_EQ(rest.tasks, 3u);
  EXPECT_DOUBLE_EQ(rest.seconds, 6 + 10 + 10);
  EXPECT_DOUBLE_EQ(rehearse_rest(under_way(), 50).seconds, 20) << "a task that is overdue ends now";
}

TEST(FarmRehearsal, FinishedTasksCorrectTheLengthsOfTheRest) {
  Farm farm = under_way();
  (void)farm.apply(end_event("a", 1, End::Succeeded, 0, "", 30));
  (void)farm.apply(commit_event("a", 1, 30));
  EXPECT_DOUBLE_EQ(rehearse_rest(farm, 30).seconds, 60);
}

TEST(FarmRehearsal, UnknownLengthsAreKnownOnceATaskHasFinished) {
  Farm farm;
  (void)farm.apply(node_event("n", {1000, 0, 0, 0}, 0));
  for (const char* name : {"a", "b"}) (void)farm.apply(add_event({name, {1000, 0, 0, 0}, 0, {}}, 0));
  (void)farm.apply(start_event("a", 1, "n", 0));
  EXPECT_FALSE(rehearse_rest(farm, 1).known);
  (void)farm.apply(end_event("a", 1, End::Succeeded, 0, "", 7));
  (void)farm.apply(commit_event("a", 1, 7));
  const Rehearsal rest = rehearse_rest(farm, 7, {.count = 2}, {1000, 0, 0, 0});
  EXPECT_TRUE(rest.known);
  EXPECT_DOUBLE_EQ(rest.seconds, 21) << "a task and two trials";
}

TEST(FarmRehearsal, ANodeThatIsNotThereCanBeTakenAsThere) {
  Farm farm;
  (void)farm.apply(node_event("a", {1000, 0, 0, 0}, 0));
  (void)farm.apply(node_event("b", {1000, 0, 0, 0}, 0));
  (void)farm.apply(gone_event("b", "not connected", 1));
  for (int i = 0; i < 6; ++i)
    (void)farm.apply(add_event({"t" + std::to_string(i), {1000, 0, 0, 0}, 10, {}}, 0));
  EXPECT_DOUBLE_EQ(rehearse_rest(farm, 5).seconds, 60);
  const Farm whole =
      with_nodes(farm, {{"a", {1000, 0, 0, 0}}, {"b", {1000, 0, 0, 0}}, {"c", {1000, 0, 0, 0}}});
  EXPECT_DOUBLE_EQ(rehearse_rest(whole, 5).seconds, 20);
}

TEST(FarmRehearsal, AGenerationStartsOnceTheOneBeforeIsOver) {
  Farm farm;
  for (const char* node : {"a", "b", "c", "d"}) (void)farm.apply(node_event(node, {1000, 0, 0, 0}, 0));
  (void)farm.apply(add_event({"trial-0", {1000, 0, 0, 0}, 0, {{"parameters", {{"x", 1}}}}}, 0));
  (void)farm.apply(start_event("trial-0", 1, "a", 0));
  (void)farm.apply(end_event("trial-0", 1, End::Succeeded, 0, "", 10));
  (void)farm.apply(commit_event("trial-0", 1, 10));
  // Number 1 is the rest of the first generation, and three whole ones follow.
  const Rehearsal rest = rehearse_rest(farm, 10, {.count = 7, .first = 1, .population = 2}, {1000, 0, 0, 0});
  EXPECT_TRUE(rest.known);
  EXPECT_EQ(rest.tasks, 7u);
  EXPECT_DOUBLE_EQ(rest.seconds, 40);
  EXPECT_DOUBLE_EQ(rehearse_rest(farm, 10, {.count = 7, .first = 1}, {1000, 0, 0, 0}).seconds, 20);
}

TEST(FarmRehearsal, AnOutputThatIsStillToBeBroughtTakesNoTimeWhateverTheClock) {
  Farm farm;
  (void)farm.apply(node_event("n", {1000, 0, 0, 0}, 1.8e9));
  (void)farm.apply(add_event({"a", {1000, 0, 0, 0}, 10, {}}, 1.8e9));
  (void)farm.apply(start_event("a", 1, "n", 1.8e9));
  (void)farm.apply(end_event("a", 1, End::Succeeded, 0, "", 1.8e9 + 10));
  EXPECT_LE(rehearse_rest(farm, 0).seconds, 10);
}

TEST(FarmApproval, EndsAPauseAndTheNextRunBeginsUnderIt) {
  Table table;
  ASSERT_TRUE(table.apply(approve_event({{"seconds", {{"high", 5}}}}, 1)).ok());
  ASSERT_TRUE(table.apply(began_event(2, 1)).ok());
  ASSERT_TRUE(table.apply(began_event(3, 1)).ok());
  EXPECT_EQ(table.approved()["began"], 2) << "a second run under the same approval";
  ASSERT_TRUE(table.apply(pause_event(9, "too long", 9)).ok());
  EXPECT_EQ(table.paused()["seconds"], 9);
  ASSERT_TRUE(table.apply(approve_event({{"seconds", nullptr}}, 10)).ok());
  EXPECT_TRUE(table.paused().is_null());
  EXPECT_FALSE(table.approved().contains("began"));
}

TEST(FarmApproval, NodeSecondsAreCountedFromTheFirstRunUnderIt) {
  Table table;
  for (const Event& event : {approve_event({{"node_seconds", {{"high", 100}}}}, 1), began_event(10, 2),
                             nodes_event(4, 15), began_event(20, 3)})
    ASSERT_TRUE(table.apply(event).ok()) << event;
  EXPECT_DOUBLE_EQ(table.approval().node_seconds(30), 2 * 5 + 4 * 5 + 3 * 10);
  EXPECT_DOUBLE_EQ(*table.approval().node_seconds_left(30), 40);
  ASSERT_TRUE(table.apply(approve_event({{"node_seconds", nullptr}}, 40)).ok());
  EXPECT_DOUBLE_EQ(table.approval().node_seconds(50), 0) << "another approval begins anew";
  EXPECT_FALSE(table.approval().node_seconds_left(50));
}

TEST(FarmApproval, ALimitIsForTheNodesThatAreAskedForLater) {
  Table table;
  ASSERT_TRUE(table.apply(limit_event(2, 1)).ok()) << "without an approval it changes nothing";
  ASSERT_TRUE(table.apply(approve_event({{"nodes", {{"most", 8}}}}, 2)).ok());
  ASSERT_TRUE(table.apply(limit_event(2, 3)).ok());
  EXPECT_EQ(table.approved()["nodes"]["most"], 2);
}

TEST(FarmApproval, RunsThatCameToTheirEndTellHowFarTheirPlansWereOff) {
  Table table;
  const auto run = [&](double at, std::optional<Event> between) {
    const Json terms = {{"seconds", {{"value", 10}}}, {"node_seconds", {{"value", 20}}}};
    ASSERT_TRUE(table.apply(approve_event(terms, at)).ok());
    ASSERT_TRUE(table.apply(began_event(at, 2)).ok());
    if (between) {
      ASSERT_TRUE(table.apply(*between).ok());
    }
    ASSERT_TRUE(table.apply(closed_event(at + 15)).ok());
  };
  run(100, std::nullopt);
  run(200, pause_event(99, "too long", 205));
  run(300, nodes_event(1, 310));
  const std::vector<FinishedRun>& runs = table.approval().finished();
  ASSERT_EQ(runs.size(), 2u) << "a paused one says nothing";
  EXPECT_DOUBLE_EQ(runs[0].predicted_seconds, 10);
  EXPECT_DOUBLE_EQ(runs[0].seconds, 15);
  EXPECT_DOUBLE_EQ(runs[0].predicted_node_seconds, 20);
  EXPECT_DOUBLE_EQ(runs[0].node_seconds, 30);
  EXPECT_DOUBLE_EQ(runs[1].node_seconds, 2 * 10 + 5);
}

TEST(FarmSettings, SlurmTakesItsOwnWordsAndRefusesThoseThatRadlcSets) {
  const auto parsed = [](Json more) {
    Json farm = {{"tasks", {{{"command", "true"}}}}};
    farm.update(more);
    return parse_farm(farm.dump());
  };
  EXPECT_EQ(parsed({{"slurm", Json::object()}})->scheduler, SchedulerKind::Radlc);
  auto farm =
      parsed({{"scheduler", "slurm"},
              {"slurm", {{"partition", "short"}, {"options", {"--constraint=avx512", "--exclusive"}}}}});
  ASSERT_TRUE(farm.ok()) << farm.status().text();
  EXPECT_EQ(farm->scheduler, SchedulerKind::Slurm);
  EXPECT_EQ(farm->slurm.partition, "short");
  EXPECT_EQ(farm->slurm.options.size(), 2u);
  EXPECT_FALSE(parsed({{"scheduler", "pbs"}}).ok());
  EXPECT_FALSE(parsed({{"slurm", {{"partition", "short"}}}}).ok()) << "without the scheduler";
  EXPECT_FALSE(parsed({{"scheduler", "slurm"}, {"fitness", "spread"}}).ok());
  for (const char* option : {"--array=1-3", "--arr=1-3", "--requeue", "--output=x", "--exclude=n1", "--",
                             "-p short", "--comment=a b", "--x='y'", "x"})
    EXPECT_FALSE(parsed({{"scheduler", "slurm"}, {"slurm", {{"options", {option}}}}}).ok()) << option;
  for (const char* partition : {"a b", "$(x)", "a\nb"})
    EXPECT_FALSE(parsed({{"scheduler", "slurm"}, {"slurm", {{"partition", partition}}}}).ok()) << partition;
}

TEST(FarmImages, AListHasOneUrlALine) {
  auto images = parse_image_urls("# two\n\nhttps://a/1.png\r\n  http://b/2?sig=x#y  ");
  ASSERT_TRUE(images.ok()) << images.status().text();
  ASSERT_EQ(images->size(), 2u);
  EXPECT_EQ(images->at(0).file, "https://a/1.png");
  EXPECT_EQ(images->at(0).url, "https://a/1.png");
  EXPECT_EQ(images->at(1).file, "http://b/2#4");
  EXPECT_EQ(images_from_text(to_text(*images)).at(1).url, images->at(1).url);
  for (const char* text : {"", "# none\n", "https://a/1\nftp://a/2", "https://a/1\nhttps://a/1",
                           "https://u:p@a/1", "s3://bucket/1\ns3://bucket/2", "a.png"})
    EXPECT_EQ(parse_image_urls(text).status().code(), Code::Invalid) << text;
}

TEST(FarmImages, TheStateHasNoSignatureOfAListedUrl) {
  const std::string kept = without_signatures(
      R"({"images": "https://a/1.png\nhttps://a/2.png?sig=hidden\nhttps://a/2.png?sig=other",)"
      R"( "tasks": [{"command": "a", "images": [0, 3]}]})");
  EXPECT_EQ(kept.find("hidden"), kept.npos) << kept;
  auto settings = parse_farm(kept);
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  auto images = parse_image_urls(settings->images);
  ASSERT_TRUE(images.ok()) << images.status().text();
  EXPECT_EQ(images->size(), 3u);
  EXPECT_EQ(images->at(0).url, "https://a/1.png");
  const std::string store = R"({"images": "s3://bucket/p", "tasks": [{"command": "a?"}]})";
  EXPECT_EQ(without_signatures(store), store);
}

TEST(FarmImages, AnAddressIsAStoreOrAList) {
  EXPECT_TRUE(is_image_store("s3://bucket/p"));
  EXPECT_TRUE(is_image_store("https://account.blob.core.windows.net/photos/2026"));
  EXPECT_FALSE(is_image_store("https://account.blob.core.windows.net/photos/1.png?sv=x"));
  EXPECT_FALSE(is_image_store("https://account.blob.core.windows.net/photos/1.png\n"));
  const auto parsed = [](const std::string& images, const char* range) {
    return parse_farm(R"({"images": ")" + images + R"(", "tasks": [{"command": "a", "images": )" + range +
                      "}]}");
  };
  EXPECT_TRUE(parsed("s3://bucket/p", "[0, 4]").ok());
  for (const char* wrong : {"s3://UPPER/p", "s3://bucket/../p", "nowhere"})
    EXPECT_EQ(parsed(wrong, "[0, 4]").status().code(), Code::Invalid) << wrong;
  for (const char* wrong : {"[4, 4]", "[0]", "[-1, 2]", "7", "[0, 1.5]"})
    EXPECT_EQ(parsed("s3://bucket/p", wrong).status().code(), Code::Invalid) << wrong;
}

TEST(FarmImages, ATaskRunsAgainOnlyIfItsRangeHoldsOthers) {
  std::vector<Task> tasks =
      parse_farm(R"({"images": "s3://bucket/p", "tasks": [{"command": "a", "images": [0, 2]},
    {"command": "a", "images": [2, 4]}, {"command": "a", "images": [4, 6]}]})")
          ->tasks;
  std::vector<Image> images = {{"0", "", "0", "e"}, {"1", "", "1", "e"}, {"2", "", "2", "e"}};
  const auto described = [&] {
    std::vector<Task> made = tasks;
    for (Task& task : made)
      task.spec.set(kListed, digest_of_images(images_in_range(images, task.spec[kImages])));
    return made;
  };
  Table table;
  for (const Event& event : changes_of_file(described(), table, false, 0))
    ASSERT_TRUE(table.apply(event).ok());
  EXPECT_TRUE(changes_of_file(described(), table, false, 1).empty());
  EXPECT_TRUE(changes_of_file(tasks, table, false, 1).empty()) << "the plan knows the file alone";
  images.push_back({"3", "", "3", "e"});
  const auto events = changes_of_file(described(), table, false, 2);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["task"], "task-1");
}

}  // namespace
}  // namespace radl::farm
