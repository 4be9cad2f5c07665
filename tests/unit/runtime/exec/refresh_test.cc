// A refresh looks and changes nothing.
#include <gtest/gtest.h>

#include "runtime/exec/actions.h"
#include "tests/support/fake_cloud.h"
#include "tests/support/runtime_bench.h"

namespace radl::test {
namespace {

class RefreshTest : public testing::Test {
 protected:
  RefreshTest() {
    program = ProgramBuilder().deploy({"worker", 2}).file("worker", "tools", "/a", "1").build();
    EXPECT_TRUE(bench.apply(program).status.ok());
  }
  std::string machine(const std::string& address) {
    return bench.folder.path() + "/cloud/" + bench.snapshot().resources.at(address).id;
  }
  Bench bench;
  ir::Program program;
};

TEST_F(RefreshTest, FindsNothingWhereNothingChanged) {
  Result<Observed> observed = bench.look(program);
  ASSERT_TRUE(observed.ok());
  EXPECT_TRUE(observed->resources.empty());
  EXPECT_TRUE(observed->unknown.empty());
  EXPECT_EQ(observed->steps.size(), 2u);
  EXPECT_FALSE(bench.plan(program, &*observed).changes_anything());
}

TEST_F(RefreshTest, FindsOtherAttributesAndTakesThemIntoTheStateOnDemand) {
  Json attributes = Json::parse(*read_file(machine("worker[0]") + "/attributes"));
  attributes["private_ip"] = "10.9.9.9";
  ASSERT_TRUE(write_file_atomic(machine("worker[0]") + "/attributes", attributes.dump()).ok());
  std::filesystem::remove_all(machine("worker[1]"));
  Result<Observed> observed = bench.look(program);
  ASSERT_EQ(observed->resources.size(), 2u);
  EXPECT_EQ(observed->resources[0].what, "changed");
  EXPECT_EQ(observed->resources[0].changes.at(0).before, "10.9.9.9")
      << "before: as it is; after: as it is recorded";
  EXPECT_EQ(observed->resources[1].what, "gone");
  EXPECT_NE(bench.snapshot().resources.at("worker[0]").attributes["private_ip"], "10.9.9.9");

  std::unique_ptr<Store> store = bench.store();
  ASSERT_TRUE(store->lock("refresh", std::chrono::milliseconds(0)).ok());
  ASSERT_TRUE(accept_observed(bench.run(*store, &program), *store->snapshot(), *observed).ok());
  EXPECT_EQ(store->snapshot()->resources.at("worker[0]").attributes["private_ip"], "10.9.9.9");
  EXPECT_EQ(store->snapshot()->resources.count("worker[1]"), 1u) << "the plan makes it again";
  EXPECT_EQ(bench.plan(program, &*observed).find("worker[1]")->verb, Verb::Create);
}

TEST_F(RefreshTest, AnAttributeThatIsNewIsDriftUnlessEarlierVersionsDidNotRecordIt) {
  const std::string id = bench.snapshot().resources.at("worker[0]").id;
  for (const char* later : {"group_id", "public_network"}) bench.cloud.set_attribute(id, later, "x");
  EXPECT_TRUE(bench.look(program)->resources.empty());
  bench.cloud.set_attribute(id, "volumes", {{"b", "vol-9"}});
  Result<Observed> observed = bench.look(program);
  ASSERT_EQ(observed->resources.size(), 1u);
  ASSERT_EQ(observed->resources[0].changes.size(), 1u);
  EXPECT_EQ(observed->resources[0].changes[0].what, "volumes");
  EXPECT_EQ(observed->resources[0].changes[0].before, Json({{"b", "vol-9"}}));
  EXPECT_TRUE(observed->resources[0].changes[0].after.is_null());
}

// Keeps the login's user and the volumes in tags.
class TaggingCloud : public FakeCloud {
 public:
  Json marks_of(const Context&, const Order& order) const override {
    Json marks = {{"user", order.attributes.value("user", "")}};
    const Json volumes = order.attributes.value("volumes", Json::object());
    for (const auto& [letter, volume] : volumes.items()) marks["volume-" + letter] = volume;
    return marks;
  }
};

TEST(MarkedAttributes, AreThoseThatTheCloudReadsFromItsTagsAndNoOthers) {
  Order recorded;
  recorded.attributes = {
      {"user", "ubuntu"}, {"volumes", {{"b", "vol-1"}}}, {"zone", "a"}, {"port", 22}, {"gone", "x"}};
  const Json seen = {{"user", ""}, {"zone", "b"}, {"port", 2222}};
  const Json now = with_marked_attributes(TaggingCloud(), Context(), recorded, seen);
  EXPECT_EQ(now, Json({{"user", "ubuntu"}, {"volumes", {{"b", "vol-1"}}}, {"zone", "b"}, {"port", 2222}}));
}

TEST_F(RefreshTest, ABrokenResourceIsReplaced) {
  std::filesystem::remove(machine("worker[0]") + "/attributes");
  Result<Observed> observed = bench.look(program);
  ASSERT_EQ(observed->resources.size(), 1u);
  EXPECT_EQ(observed->resources[0].what, "broken");
  Plan plan = bench.plan(program, &*observed);
  EXPECT_EQ(marks(plan), (std::vector<std::string>{"-/+ worker[0]", "> worker[0]/tools"}));
  EXPECT_EQ(plan.find("worker[0]")->why, "it is broken: it was made in part");
  EXPECT_TRUE(bench.apply(program, &*observed).status.ok());
  EXPECT_EQ(bench.cloud.count("node"), 2u);
}

TEST_F(RefreshTest, AStoppedNodeIsStartedIfItsCloudCanElseReplaced) {
  std::string id = bench.snapshot().resources.at("worker[0]").id;
  bench.cloud.set_attribute(id, "state", "stopped");
  Result<Observed> observed = bench.look(program);
  ASSERT_EQ(observed->resources.size(), 1u);
  EXPECT_EQ(observed->resources[0].what, "stopped");
  EXPECT_EQ(observed->steps.size(), 1u) << "there is nobody to ask on a stopped node";
  Plan anew = bench.plan(program, &*observed);
  EXPECT_EQ(marks(anew), (std::vector<std::string>{"-/+ worker[0]", "> worker[0]/tools"}));

  bench.cloud.in_place = {"state"};
  Plan plan = bench.plan(program, &*observed);
  EXPECT_EQ(marks(plan), (std::vector<std::string>{"~ worker[0]", "> worker[0]/tools"}));
  EXPECT_EQ(plan.find("worker[0]")->why, "it is stopped");
  EXPECT_TRUE(bench.apply(program, &*observed).status.ok());
  EXPECT_EQ(bench.snapshot().resources.at("worker[0]").id, id);
  EXPECT_EQ(bench.snapshot().resources.at("worker[0]").attributes.value("state", ""), "running");
  EXPECT_FALSE(bench.plan(program).changes_anything());
}

TEST_F(RefreshTest, AStartedNodeThatAnswersAtAnotherTryIsNotReplacedByTheNextRun) {
  bench.cloud.in_place = {"state"};
  bench.cloud.set_attribute(bench.snapshot().resources.at("worker[0]").id, "state", "stopped");
  Result<Observed> observed = bench.look(program);
  bench.options.on_error = OnError::Retry;
  Connector fine = bench.connector ? bench.connector : always_connected();
  const long long end = bench.fake.clock.passed() + bench.options.boot_deadline.count();
  bench.connector = [&, fine](const ir::Node& node, const Json& attributes,
                              const Context& context) -> Result<std::unique_ptr<Remote>> {
    // The last login of the first attempt begins before its end.
    bool answers = bench.fake.clock.passed() > end;
    if (!answers && node.address == "worker[0]") return Status(Code::Timeout, "connection timed out");
    return fine(node, attributes, context);
  };
  RunReport report = bench.apply(program, &*observed);
  ASSERT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_GT(bench.fake.clock.passed(), end) << "the first attempt has failed";
  EXPECT_EQ(bench.snapshot().resources.at("worker[0]").status, ResourceStatus::Ready);
  EXPECT_FALSE(bench.plan(program).changes_anything());
}

// A run that was to start it was killed: what is recorded is enough for the next one.
TEST_F(RefreshTest, AStoppedNodeIsRememberedWithoutAnotherLook) {
  bench.cloud.in_place = {"state"};
  bench.cloud.set_attribute(bench.snapshot().resources.at("worker[0]").id, "state", "stopped");
  Result<Observed> observed = bench.look(program);
  {
    std::unique_ptr<Store> store = bench.store();
    ASSERT_TRUE(store->lock("refresh", std::chrono::milliseconds(0)).ok());
    ASSERT_TRUE(accept_observed(bench.run(*store, &program), *store->snapshot(), *observed).ok());
  }
  EXPECT_EQ(bench.plan(program).find("worker[0]")->verb, Verb::Update);
}

TEST_F(RefreshTest, ANodeThatRunsAndDoesNotAnswerIsTriedOnceAndTold) {
  int attempts = 0;
  Connector connected = bench.connector;
  bench.connector = [&](const ir::Node& node, const Json& attributes,
                        const Context& context) -> Result<std::unique_ptr<Remote>> {
    if (node.address != "worker[1]") return connected(node, attributes, context);
    ++attempts;
    return Status(Code::Retry, "the port does not answer: Connection refused");
  };
  Result<Observed> observed = bench.look(program);
  EXPECT_EQ(attempts, 1);
  ASSERT_EQ(observed->resources.size(), 1u);
  EXPECT_EQ(observed->resources[0].what, "unreachable");
  EXPECT_NE(observed->resources[0].detail.find("refused"), std::string::npos);
  Plan plan = bench.plan(program, &*observed);
  EXPECT_FALSE(plan.changes_anything());
  EXPECT_NE(plan.notes.at(0).find("--replace worker[1]"), std::string::npos);
  EXPECT_EQ(plan.unseen.count("worker[1]"), 1u);
}

// A runner that compares the file's content with what is on the node.
class ComparingRunner : public FakeRunner {
 public:
  std::map<std::string, Json> on_node;  // step -> content
  Result<std::vector<Change>> observe(const StepContext&, const ir::Step& step,
                                      const std::vector<NodeHandle>&) override {
    std::vector<Change> changes;
    for (const ir::Resource& resource : step.resources) {
      const Json& wanted = resource.properties["content"];
      if (wanted != on_node[step.id]) changes.push_back({"file", "content", on_node[step.id], wanted, ""});
    }
    return changes;
  }
};

class DriftTest : public RefreshTest {
 protected:
  Result<Observed> look_with(StepRunner& with, const ir::Program& now) {
    std::unique_ptr<Store> store = bench.store();
    radl::Run run = bench.run(*store, &now);
    run.runners[ir::StepKind::Native] = &with;
    return refresh(run, *store->snapshot());
  }
  ComparingRunner comparing;
};

TEST_F(DriftTest, AChangeOfTheFileIsNoChangeFromOutside) {
  comparing.on_node = {{"worker[0]/tools", "1"}, {"worker[1]/tools", "edited"}};
  auto changed = ProgramBuilder().deploy({"worker", 2}).file("worker", "tools", "/a", "2").build();
  Result<Observed> observed = look_with(comparing, changed);
  ASSERT_TRUE(observed.ok());
  EXPECT_TRUE(observed->steps.at("worker[0]/tools").empty()) << "what was applied is there";
  Plan plan = bench.plan(changed, &*observed);
  ASSERT_EQ(plan.drift.size(), 1u);
  EXPECT_EQ(plan.drift[0].address, "worker[1]/tools");
  EXPECT_EQ(plan.drift[0].changes.at(0).before, "edited");
  EXPECT_EQ(plan.drift[0].changes.at(0).after, "1") << "what was applied, not what is asked for";
  EXPECT_EQ(marks(plan), (std::vector<std::string>{"> worker[0]/tools", "> worker[1]/tools"}));
  EXPECT_EQ(plan.find("worker[0]/tools")->why, "its recipe changed");
}

TEST_F(DriftTest, AnotherSecretOrValueIsNoChangeFromOutside) {
  bench.secrets = {{"input.pw", "old"}};
  auto with_secret =
      ProgramBuilder().deploy({"worker"}).file("worker", "tools", "/a", ir::secret("input.pw")).build();
  ASSERT_TRUE(bench.apply(with_secret).status.ok());
  comparing.on_node = {{"worker[0]/tools", "old"}};
  EXPECT_TRUE(look_with(comparing, with_secret)->steps.at("worker[0]/tools").empty());
  bench.secrets = {{"input.pw", "new"}};
  Result<Observed> observed = look_with(comparing, with_secret);
  EXPECT_TRUE(observed->steps.at("worker[0]/tools").empty()) << "the old one is not known any more";
  EXPECT_EQ(bench.plan(with_secret, &*observed).find("worker[0]/tools")->why, "the secret input.pw changed");
}

TEST_F(DriftTest, WhatWasAddedToTheFileIsNotLookedFor) {
  comparing.on_node = {{"worker[0]/tools", "1"}, {"worker[1]/tools", "1"}};
  ir::Program more = program;
  for (ir::Step& step : more.steps) {
    step.resources.push_back(step.resources[0]);
    step.resources.back().name = "/b";
    step.resources.back().properties["content"] = "2";
    step.digest = "more";
  }
  Result<Observed> observed = look_with(comparing, more);
  EXPECT_TRUE(bench.plan(more, &*observed).drift.empty());
}

TEST_F(RefreshTest, AHostKeyThatDoesNotMatchIsNotSeenAndNotConcludedFrom) {
  Connector connected = bench.connector;
  bench.connector = [&](const ir::Node& node, const Json& attributes,
                        const Context& context) -> Result<std::unique_ptr<Remote>> {
    if (node.address == "worker[1]") return Status(Code::Auth, "the host key does not match");
    return connected(node, attributes, context);
  };
  Result<Observed> observed = bench.look(program);
  ASSERT_TRUE(observed.ok());
  Plan plan = bench.plan(program, &*observed);
  EXPECT_FALSE(plan.changes_anything());
  EXPECT_EQ(plan.unseen, (std::map<std::string, std::string>{{"worker[1]", "the host key does not match"}}));
  EXPECT_EQ(summary_line(plan), "No changes in what could be checked; worker[1] could not be checked.");
  Result<Plan> read = plan_from_json(to_json(plan));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->unseen, plan.unseen);
  bench.plan_options.replace = {"worker[1]"};
  EXPECT_TRUE(bench.plan(program, &*observed).unseen.empty()) << "what is made anew need not be seen";
}

TEST_F(RefreshTest, WhatCannotBeLookedAtIsSaidAndNothingIsConcluded) {
  bench.cloud.fail_next({"look", "", Status(Code::Auth, "no answer")});
  bench.options.parallelism = 1;
  Result<Observed> observed = bench.look(program);
  ASSERT_EQ(observed->unknown.size(), 4u);
  Plan plan = bench.plan(program, &*observed);
  EXPECT_FALSE(plan.changes_anything());
  EXPECT_NE(plan.notes.at(0).find("no answer"), std::string::npos);
}

}  // namespace
}  // namespace radl::test
