// Native steps on real nodes: every resource twice, edited behind its back, and what is refused.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "runtime/clouds/local/isolation.h"
#include "tests/support/native_steps.h"

namespace radl {
namespace {

using test::contains;
using test::StepsFixture;

struct NativeTest : testing::Test, StepsFixture {
  NativeTest() : StepsFixture(local::Isolation::Off) {}
};

TEST_F(NativeTest, FilesAndFoldersOnceAndNotAgain) {
  add("directory", "~/app/conf", {{"mode", "0750"}});
  add("file", "~/app/conf/a.ini", {{"content", "x = 1\ny = 2\n"}, {"mode", "0640"}});
  add("file", "~/app/it's \"odd\" $HOME", {{"content", std::string("\0binary\xff", 8)}, {"mode", "0600"}});
  add("file", "~/gone", {{"state", "absent"}});
  add("directory", "~/old", {{"state", "absent"}});
  std::filesystem::create_directories(home("old/below"));
  ASSERT_TRUE(write_file_atomic(home("gone"), "x").ok());
  EXPECT_FALSE(observe().empty());
  EXPECT_FALSE(std::filesystem::exists(home("app"))) << "observing must change nothing";
  EXPECT_FALSE(run().empty());
  EXPECT_EQ(*read_file(home("app/conf/a.ini")), "x = 1\ny = 2\n");
  EXPECT_EQ(*read_file(home("app/it's \"odd\" $HOME")), std::string("\0binary\xff", 8));
  struct stat info {};
  ASSERT_EQ(stat(home("app/conf").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0750u);
  EXPECT_FALSE(std::filesystem::exists(home("gone")));
  EXPECT_FALSE(std::filesystem::exists(home("old")));
  EXPECT_TRUE(run().empty()) << "a second run changes nothing";
  EXPECT_TRUE(observe().empty());
}

TEST_F(NativeTest, AFileEditedBehindItsBackIsShownAsADiff) {
  add("file", "~/motd", {{"content", "one\ntwo\nthree\n"}, {"mode", "0644"}});
  run();
  ASSERT_TRUE(write_file_atomic(home("motd"), "one\nTWO\nthree\n", 0600).ok());
  auto changes = observe();
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].resource, "file '~/motd'");
  EXPECT_EQ(changes[0].what, "content");
  EXPECT_EQ(changes[0].diff, "@@ -1,3 +1,3 @@\n one\n-TWO\n+two\n three\n");
  EXPECT_EQ(changes[1].what, "mode");
  EXPECT_EQ(changes[1].before, "0600");
  EXPECT_EQ(changes[1].after, "0644");
  EXPECT_EQ(run().size(), 2u);
  EXPECT_TRUE(observe().empty());
}

TEST_F(NativeTest, SecretsAreMaskedEverywhere) {
  nodes.secrets["input.token"] = "s3cret-token-value";
  add("file", "~/token", {{"content", "token = s3cret-token-value\n"}, {"mode", "0600"}});
  add("command", "echo printed s3cret-token-value; exit 1", Json::object());
  auto changes = observe();
  std::string all;
  for (const auto& change : changes)
    all += change.resource + change.diff + change.before.dump() + change.after.dump();
  Status failed = error();
  for (const auto& event : events) all += event.data.dump();
  all += failed.text() + *read_file(context.log_path);
  EXPECT_EQ(all.find("s3cret"), std::string::npos) << all;
  EXPECT_EQ(*read_file(home("token")), "token = s3cret-token-value\n");
}

TEST_F(NativeTest, CommandsRunWhenTheyMust) {
  add("command", "echo run >> log; touch made", {{"creates", "made"}});
  add("command", "echo never >> log", {{"unless", "test -e made"}});
  add("command", "echo \"$NAME in $PWD\" >> ~/log",
      {{"directory", "sub"}, {"environment", {{"NAME", "it's"}}}});
  std::filesystem::create_directories(home("sub"));
  EXPECT_EQ(run().size(), 2u);
  EXPECT_EQ(*read_file(home("log")), "run\nit's in " + home("sub") + "\n");
  context.previous_output = output;
  EXPECT_TRUE(run().empty()) << "the step has run with this content";
  step.digest = "2";
  EXPECT_EQ(run().size(), 1u) << "a step that has changed runs its plain commands again";
}

TEST_F(NativeTest, AFailingCommandIsReportedWithItsLastLines) {
  step.group = 3;
  add("file", "~/before", {{"content", "x"}});
  add("command", "seq 1 100; echo broken >&2; exit 9", Json::object());
  add("file", "~/after", {{"content", "x"}});
  Status failed = error();
  for (const char* part :
       {"worker[0]", "recipe 'tools'", "step 3", "command 'seq 1 100", "exit status 9", "broken", "100"}) {
    EXPECT_TRUE(contains(failed.message(), part));
  }
  EXPECT_EQ(failed.message().find("\n70\n"), std::string::npos) << "only the last lines";
  EXPECT_TRUE(std::filesystem::exists(home("before")));
  EXPECT_FALSE(std::filesystem::exists(home("after")));
  EXPECT_TRUE(contains(*read_file(context.log_path), "\nworker[0]  1\n"));
  EXPECT_EQ(events.back().data.at("state"), "failed");
}

TEST_F(NativeTest, ATimeoutEndsTheCommand) {
  add("command", "sleep 60", {{"timeout", 0.3}});
  const Status failed = error();
  EXPECT_EQ(failed.code(), Code::Invalid) << "it would take all its time again: no passing fault";
  EXPECT_TRUE(contains(failed.message(), "was ended")) << failed.message();
}

TEST_F(NativeTest, UploadsSendWhatDiffersOnly) {
  std::string source = nodes.folder.path("tree");
  std::filesystem::create_directories(source + "/a/b");
  ASSERT_TRUE(write_file_atomic(source + "/a/b/one", "1", 0644).ok());
  ASSERT_TRUE(write_file_atomic(source + "/two words", "2", 0755).ok());
  std::filesystem::create_symlink("two words", source + "/link");
  ASSERT_TRUE(write_file_atomic(nodes.folder.path("single"), "single", 0600).ok());
  add("upload", "~/tree", {{"source", source}});
  add("upload", "~/single", {{"source", nodes.folder.path("single")}});
  EXPECT_EQ(run().size(), 5u);
  EXPECT_EQ(*read_file(home("tree/a/b/one")), "1");
  EXPECT_EQ(std::filesystem::read_symlink(home("tree/link")), "two words");
  EXPECT_TRUE(run().empty());
  ASSERT_TRUE(write_file_atomic(home("tree/a/b/one"), "edited", 0644).ok());
  auto changes = run();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].what, "a/b/one");
  EXPECT_TRUE(run().empty());
  ASSERT_TRUE(write_file_atomic(nodes.folder.path("single"), "later", 0600).ok());
  step.resources[1].properties["source_sha256"] = sha256_hex("single");
  EXPECT_EQ(error().code(), Code::Conflict) << "a file that is not what was planned is not sent";
}

TEST_F(NativeTest, DownloadsAreCheckedAndNotRepeated) {
  std::string served = nodes.folder.path("served");
  ASSERT_TRUE(write_file_atomic(served, std::string(300000, 'z')).ok());
  add("download", "~/file",
      {{"url", "file://" + served}, {"sha256", sha256_hex(std::string(300000, 'z'))}, {"mode", "0640"}});
  EXPECT_FALSE(run().empty());
  EXPECT_EQ(*read_file(home("file")), std::string(300000, 'z'));
  EXPECT_TRUE(run().empty());
  step.resources[0].properties["sha256"] = std::string(64, 'a');
  Status failed = error();
  EXPECT_TRUE(contains(failed.message(), "has SHA-256"));
  EXPECT_EQ(*read_file(home("file")), std::string(300000, 'z')) << "the old content stays";
}

TEST_F(NativeTest, WaitsForPathsCommandsAndPorts) {
  std::string port = std::to_string(handle.attributes.at("port").get<int>());
  add("wait_for", "the server",
      {{"port", handle.attributes.at("port")}, {"host", handle.attributes.at("host")}, {"timeout", 5}});
  add("wait_for", "the file", {{"path", "appears"}, {"timeout", 10}, {"every", 0.1}});
  std::string started = shell("(sleep 0.5; touch appears) >/dev/null 2>&1 & echo ok");
  EXPECT_EQ(started, "ok\n");
  EXPECT_TRUE(run().empty()) << "waiting changes nothing";
  EXPECT_TRUE(std::filesystem::exists(home("appears")));
  step.resources = {
      {"wait_for", "nothing", ir::Json{{"command", "false"}, {"timeout", 1}, {"every", 0.1}}, {}}};
  EXPECT_TRUE(contains(error().message(), "not ready within 1 s"));
}

TEST_F(NativeTest, ANodeThatIsAFolderIsNotLeft) {
  std::string outside = nodes.folder.path("outside");
  for (const std::string& path : {outside, home("../../x"), std::string("~/../x")}) {
    step.resources = {{"file", path, ir::Json{{"content", "x"}}, {}}};
    Status refused = error();
    EXPECT_EQ(refused.code(), Code::Unsupported) << path;
    EXPECT_TRUE(contains(refused.message(), path));
  }
  EXPECT_FALSE(std::filesystem::exists(outside));
  step.resources = {{"package", "radl-no-such-package", Json::object(), {}}};
  EXPECT_EQ(error().code(), Code::Unsupported);
}

TEST_F(NativeTest, AnInstalledPackageIsAsWanted) {
  add("package", "coreutils", Json::object());
  EXPECT_TRUE(run().empty());
}

TEST_F(NativeTest, KindsThatDoNotFitAreErrors) {
  std::filesystem::create_directories(home("folder"));
  add("file", "~/folder", {{"content", "x"}});
  EXPECT_TRUE(contains(error().message(), "there is a folder of this name"));
}

// What changes the machine: only on nodes with a file system view of their own.
struct IsolatedStepsTest : testing::Test {
  void SetUp() override {
    test::skip_without_isolation(false);
    if (IsSkipped()) return;
    steps = std::make_unique<StepsFixture>(local::Isolation::Required);
  }
  std::unique_ptr<StepsFixture> steps;
};

TEST_F(IsolatedStepsTest, SystemFilesUsersAndServices) {
  std::string name = "/etc/radl-test/deep/motd";
  steps->add("file", name,
             {{"content", "trained here\n"}, {"owner", "root"}, {"group", "daemon"}, {"mode", "0640"}});
  steps->add("user", "radltest",
             {{"shell", "/bin/sh"}, {"groups", {"games"}}, {"authorized_keys", {"ssh-ed25519 AAAA test"}}});
  steps->add("file", "/etc/init.d/radl-fake",
             {{"mode", "0755"},
              {"content",
               "#!/bin/sh\n### BEGIN INIT INFO\n# Provides: radl-fake\n# Required-Start:\n# Required-Stop:\n"
               "# Default-Start: 2 3 4 5\n# Default-Stop: 0 1 6\n### END INIT INFO\n"
               "case $1 in start) touch /run/radl-fake;; stop) rm -f /run/radl-fake;; restart) "
               "echo again >> /var/radl-restarts;; status) test -e /run/radl-fake;; esac\n"}});
  steps->add("service", "radl-fake", {{"state", "running"}, {"enabled", true}, {"restart", true}});
  EXPECT_FALSE(steps->run().empty());
  EXPECT_FALSE(std::filesystem::exists(name)) << "the real machine must not change";
  EXPECT_EQ(steps->shell("stat -c '%U %G %a' " + name +
                         "; id -nG radltest; cat /run/radl-fake && ls ~radltest/.ssh/authorized_keys"),
            "root daemon 640\nradltest games\n/home/radltest/.ssh/authorized_keys\n");
  EXPECT_TRUE(steps->run().empty());
  steps->step.resources[0].properties["content"] = "other\n";
  auto changes = steps->run();
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[1].what, "restart");
  steps->step.resources = {{"service", "no-such-service", ir::Json{{"state", "running"}}, {}}};
  EXPECT_TRUE(contains(steps->error().message(), "no /etc/init.d/no-such-service"));
}

}  // namespace
}  // namespace radl
