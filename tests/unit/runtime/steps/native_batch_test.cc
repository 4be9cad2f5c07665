// The resources of a step in few round trips: each still sees what the ones before it have done.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "runtime/steps/native_runner.h"
#include "tests/support/faulty_remote.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

// Counts what is run on it.
class CountingRemote : public test::ProcessRemote {
 public:
  using ProcessRemote::ProcessRemote;
  Result<ExecResult> exec(const std::string& command, const ExecOptions& options) override {
    ++calls;
    return ProcessRemote::exec(command, options);
  }
  int calls = 0;
};

struct BatchTest : testing::Test {
  BatchTest() : remote(folder.path()) {
    step.id = "worker[0]/tools";
    step.recipe = "tools";
    step.digest = "1";
    node.address = "worker[0]";
    node.attributes = Json::object();
    node.connect = [this]() -> Result<Remote*> { return &remote; };
    context.context = &own;
    context.emit = [this](const StepEvent& event) {
      if (event.kind == "task")
        told.push_back(event.data.at("name").get<std::string>() + ": " +
                       event.data.at("state").get<std::string>());
    };
  }
  void add(const std::string& type, const std::string& name, Json properties) {
    step.resources.push_back({type, name, std::move(properties), {}});
  }
  // What was changed; an error where it failed.
  Result<std::vector<std::string>> run() {
    remote.calls = 0;
    told.clear();
    auto outcome = runner->run(context, step, {node});
    if (!outcome) return outcome.status();
    std::vector<std::string> changed;
    for (const Change& change : outcome->changes) changed.push_back(change.resource + " " + change.what);
    return changed;
  }
  std::string content(const std::string& name) {
    auto text = read_file(folder.path(name));
    return text ? *text : text.status().text();
  }

  test::TemporaryFolder folder;
  CountingRemote remote;
  Context own{.environment = environment_of_process()};
  ir::Step step;
  NodeHandle node;
  StepContext context;
  std::vector<std::string> told;
  std::unique_ptr<StepRunner> runner = make_native_runner();
};

TEST_F(BatchTest, AGuardSeesWhatAFileBeforeItHasBecome) {
  add("file", "~/wanted", {{"content", "yes"}});
  add("command", "echo ran > guarded", {{"creates", "wanted"}});
  add("command", "echo ran > asked", {{"unless", "grep -q yes wanted"}});
  auto changed = run();
  ASSERT_TRUE(changed.ok()) << changed.status().text();
  EXPECT_FALSE(std::filesystem::exists(folder.path("guarded"))) << "what it creates is there by then";
  EXPECT_FALSE(std::filesystem::exists(folder.path("asked")));
}

TEST_F(BatchTest, TwentyResourcesTakeTwoRoundTripsAndOneWhenTheyAreThere) {
  for (const char* name : {"a", "b", "c", "d", "e"})
    add("directory", std::string("~/d/") + name, {{"mode", "0750"}});
  for (int i = 0; i < 10; ++i)
    add("file", "~/d/a/f" + std::to_string(i), {{"content", "file " + std::to_string(i)}});
  for (const char* name : {"a", "b", "c", "d", "e"})
    add("command", std::string("echo ") + name + " > d/b/" + name, {{"creates", std::string("d/b/") + name}});
  auto changed = run();
  ASSERT_TRUE(changed.ok()) << changed.status().text();
  EXPECT_EQ(remote.calls, 2) << "the lease with the look, and all changes";
  EXPECT_EQ(content("d/a/f9"), "file 9");
  EXPECT_EQ(content("d/b/e"), "e\n");
  struct stat info {};
  ASSERT_EQ(stat(folder.path("d/a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0750u);
  ASSERT_EQ(stat(folder.path("d/a/f0").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0644u);
  EXPECT_EQ(told.size(), 20u);
  changed = run();
  ASSERT_TRUE(changed.ok() && changed->empty());
  EXPECT_EQ(remote.calls, 1);
}

TEST_F(BatchTest, WhatACommandChangesIsSeenByWhatComesAfterIt) {
  add("file", "~/a", {{"content", "as wanted"}});
  ASSERT_TRUE(run().ok());
  step.resources.clear();
  // When the step begins, the file is up to date, `there` is missing, and `unless` requires a run.
  add("command", "echo other > a; touch there marked", {{"creates", "there"}});
  add("file", "~/a", {{"content", "as wanted"}});
  add("command", "echo twice >> log", {{"unless", "[ -e marked ]"}});
  add("file", "~/b", {{"content", "b"}});
  auto changed = run();
  ASSERT_TRUE(changed.ok()) << changed.status().text();
  EXPECT_EQ(content("a"), "as wanted");
  EXPECT_FALSE(read_file(folder.path("log")).ok()) << "it was done by then";
  EXPECT_EQ(content("b"), "b");
  EXPECT_EQ(told, (std::vector<std::string>{"command 'echo other > a; touch there marked': changed",
                                            "file '~/a': changed", "command 'echo twice >> log': ok",
                                            "file '~/b': changed"}));
}

TEST_F(BatchTest, AFailureInTheMiddleNamesItsResourceAndShowsItsOwnOutput) {
  add("command", "echo noise of the first; touch one", {{"creates", "one"}});
  add("command", "echo why it fails; exit 7", {{"creates", "two"}});
  add("file", "~/never", {{"content", "x"}});
  Status failed = run().status();
  EXPECT_EQ(failed.code(), Code::Invalid);
  EXPECT_NE(failed.message().find("exit status 7\nwhy it fails"), std::string::npos) << failed.text();
  EXPECT_EQ(failed.message().find("noise"), std::string::npos) << failed.text();
  EXPECT_TRUE(read_file(folder.path("one")).ok());
  EXPECT_FALSE(read_file(folder.path("never")).ok());
  EXPECT_EQ(told.front(), "command 'echo noise of the first; touch one': changed");
}

TEST_F(BatchTest, EachCommandOfABatchHasItsOwnTime) {
  add("command", "touch one", {{"creates", "one"}});
  add("command", "sleep 600", {{"creates", "two"}, {"timeout", 1}});
  add("command", "touch three", {{"creates", "three"}});
  Status failed = run().status();
  EXPECT_EQ(failed.code(), Code::Invalid) << "it would take all its time again";
  EXPECT_NE(failed.message().find("command 'sleep 600'"), std::string::npos) << failed.text();
  EXPECT_NE(failed.message().find("was not done within 1 s and was ended"), std::string::npos)
      << failed.text();
  EXPECT_TRUE(read_file(folder.path("one")).ok());
  EXPECT_FALSE(read_file(folder.path("three")).ok());
}

TEST_F(BatchTest, WhatCannotBeLookedAtRunsOnceAndAlone) {
  add("command", "echo a >> log", {{"creates", "log"}});
  add("command", "echo b >> log", Json::object());
  add("command", "echo c >> log", Json::object());
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(content("log"), "a\nb\nc\n");
  EXPECT_EQ(remote.calls, 6) << "a look before each of the three";
}

TEST_F(BatchTest, AFileHasEveryByteThatWasGiven) {
  std::string every;
  for (int i = 1; i < 256; ++i) every += static_cast<char>(i);
  const std::string quoted = "it's $HOME `id` %s \\n \"x\"\n\nRADL_BYTES\n",
                    with_zero = std::string("a\0b", 3);
  const std::string large(200000, 'x');
  add("file", "~/every", {{"content", every}});
  add("file", "~/quoted", {{"content", quoted}, {"mode", "0600"}});
  add("file", "~/zero", {{"content", with_zero}});
  add("file", "~/empty", {{"content", ""}});
  add("file", "~/large", {{"content", large}});
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(content("every"), every);
  EXPECT_EQ(content("quoted"), quoted);
  EXPECT_EQ(content("zero"), with_zero);
  EXPECT_EQ(content("empty"), "");
  EXPECT_EQ(content("large"), large);
  auto again = run();
  EXPECT_TRUE(again.ok() && again->empty()) << "they are what was looked for";
}

}  // namespace
}  // namespace radl
