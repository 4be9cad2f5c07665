// Ways to log in, and connections that break in the midst, against real OpenSSH servers.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "common/process/process.h"
#include "runtime/clouds/local/isolation.h"
#include "runtime/clouds/local/network.h"
#include "runtime/clouds/local/node_directory.h"
#include "runtime/clouds/local/node_process.h"
#include "runtime/net/ssh/keys.h"
#include "runtime/net/ssh/openssh.h"
#include "tests/support/second_login.h"
#include "tests/support/test_target.h"

namespace radl {
namespace {

using test::contains;
using test::TestNodes;

std::string random_text(size_t size) {
  std::string text = random_bytes(1 << 20), all;
  while (all.size() < size) all += text;
  all.resize(size);
  return all;
}

struct LoginTest : testing::Test {
  TestNodes nodes;
  Seen made = nodes.make("worker[0]");
  ssh::Target target = *test::target_of(made.attributes);

  std::string home(const std::string& below) {
    return made.attributes.at("home").get<std::string>() + "/" + below;
  }
  // Ends the server's side of all connections; the server itself stays.
  void cut_connections() {
    auto pids = local::processes_of({nodes.context.work_directory, made.id});
    for (size_t i = 1; i < pids.size(); ++i) kill(pids[i], SIGKILL);
  }
};

TEST_F(LoginTest, AnAgentsKeyIsTaken) {
  std::string socket = nodes.folder.path("agent");
  auto started = run_process(
      environment_of_process(),
      {.argv = {"sh", "-c", "ssh-agent -s -a " + socket + " | sed -n 's/.*PID=\\([0-9]*\\);.*/\\1/p'"},
       .deadline = std::chrono::seconds(10)});
  ASSERT_TRUE(started.ok()) << started.status().text();
  int agent = std::atoi(started->out.c_str());
  ASSERT_GT(agent, 0) << started->err;
  target.environment = target.environment.with("SSH_AUTH_SOCK", socket);  // and not this process's
  target.use_agent = true;
  std::string key = std::exchange(target.key_file, "");
  auto empty = ssh::make_remote(target)->exec("true");
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.status().code(), Code::Auth);
  EXPECT_TRUE(contains(empty.status().message(), "LOGIN REFUSED"));
  auto added =
      run_process(target.environment, {.argv = {"ssh-add", "-q", key}, .deadline = std::chrono::seconds(10)});
  EXPECT_TRUE(added.ok() && added->exit_status == 0) << added->err;
  auto result = ssh::make_remote(target)->exec("echo by agent");
  EXPECT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result.ok() ? result->out : "", "by agent\n");
  kill(agent, SIGTERM);
}

TEST_F(LoginTest, AJumpHostLeadsToANodeAndBothProveThemselves) {
  Seen gate = nodes.make("gate[0]");
  std::string known = nodes.folder.path("known_hosts");
  auto line = [&](const std::string& key) {
    return "[" + gate.attributes.at("host").get<std::string>() +
           "]:" + std::to_string(gate.attributes.at("port").get<int>()) + " " + key + "\n";
  };
  ASSERT_TRUE(write_file_atomic(known, line(gate.attributes.at("host_key")), 0600).ok());
  target.jump = gate.attributes.at("user").get<std::string>() + "@" +
                gate.attributes.at("host").get<std::string>() + ":" +
                std::to_string(gate.attributes.at("port").get<int>());
  target.known_hosts_file = known;
  std::string told;
  auto remote = ssh::make_remote(target, [&](const std::string& text) { told += text; });
  EXPECT_TRUE(contains(told, "jump"));
  auto result = remote->exec("echo $SSH_CONNECTION $RADL_NODE");
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_TRUE(contains(result->out, "worker[0]"));
  std::string content = random_text(3 << 20);
  ASSERT_TRUE(remote->put_bytes(content, "through", 0600).ok());
  EXPECT_EQ(*sha256_file(home("through")), sha256_hex(content));
  // A gate that is not the one that we know gets nothing.
  auto other = ssh::make_ed25519("other");
  ASSERT_TRUE(write_file_atomic(known, line(other->public_line), 0600).ok());
  auto refused = ssh::make_remote(target)->exec("true");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::Auth) << refused.status().text();
  EXPECT_TRUE(contains(refused.status().message(), "host key mismatch"));
}

TEST_F(LoginTest, AnInterruptedUploadResumes) {
  std::string local = nodes.folder.path("large"), content = random_text(60 << 20),
              digest = sha256_hex(content);
  ASSERT_TRUE(write_file_atomic(local, content).ok());
  std::string part = home("large.radl-" + digest.substr(0, 16) + ".part");
  auto remote = ssh::make_remote(target);
  ASSERT_TRUE(remote->exec("true").ok());
  std::atomic<bool> over{false}, whole_too_early{false};
  struct stat cut {};
  std::thread cutter([&] {
    while (!over && (::stat(part.c_str(), &cut) != 0 || cut.st_size < (8 << 20))) usleep(500);
    cut_connections();
    whole_too_early = std::filesystem::exists(home("large"));
  });
  auto sent = remote->put_file(local, "large", 0644);
  over = true;
  cutter.join();
  ASSERT_TRUE(sent.ok()) << sent.status().text();
  ASSERT_GE(cut.st_size, 8 << 20) << "the connection was not cut in the midst";
  EXPECT_LT(cut.st_size, 60 << 20);
  EXPECT_FALSE(whole_too_early) << "a part is never taken for the whole";
  struct stat after {};
  ASSERT_EQ(::stat(home("large").c_str(), &after), 0);
  EXPECT_EQ(cut.st_ino, after.st_ino) << "the part became the file";
  EXPECT_EQ(*sha256_file(home("large")), digest);
}

TEST_F(LoginTest, ADownloadThatBreaksIsMadeWholeOrLeavesNothing) {
  std::string content = random_text(60 << 20);
  ASSERT_TRUE(write_file_atomic(home("large"), content).ok());
  std::string local = nodes.folder.path("back");
  ASSERT_TRUE(write_file_atomic(local, "what was there").ok());
  auto remote = ssh::make_remote(target);
  ASSERT_TRUE(remote->exec("true").ok());
  std::atomic<bool> over{false};
  std::atomic<int> cuts{0};
  // Cut as soon as something of a few megabytes has come, and again each time: until the client gives up.
  // What has come lies in a file without a name, which only this process's descriptors show.
  std::thread cutter([&] {
    bool cut_already = false;  // of the present attempt: the next one begins with nothing
    for (; !over; usleep(500)) {
      std::error_code gone;
      off_t come = 0;
      for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", gone)) {
        std::string path = std::filesystem::read_symlink(entry.path(), gone).string();
        struct stat file {};
        if (!path.starts_with(nodes.folder.path()) || ::stat(entry.path().c_str(), &file) != 0) continue;
        if (file.st_nlink == 0) come = std::max(come, file.st_size);
      }
      if (come < (8 << 20)) cut_already = false;
      if (come < (8 << 20) || cut_already) continue;
      cut_already = true;
      ++cuts;
      cut_connections();
    }
  });
  Status got = remote->get_file("large", local);
  over = true;
  cutter.join();
  EXPECT_GT(cuts, 1) << "it was tried again by itself";
  ASSERT_FALSE(got.ok());
  EXPECT_TRUE(got.code() == Code::Lost || got.code() == Code::Retry) << got.text();
  EXPECT_EQ(*read_file(local), "what was there");
  for (const auto& entry : std::filesystem::directory_iterator(nodes.folder.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with("back.tmp-")) << "a part is left";
  Status again = remote->get_file("large", local);
  ASSERT_TRUE(again.ok()) << again.text();
  EXPECT_EQ(*sha256_file(local), sha256_hex(content));
}

TEST_F(LoginTest, ExistingFilesAreNotFetchedAgain) {
  ASSERT_TRUE(write_file_atomic(home("file"), random_text(1 << 20)).ok());
  std::string local = nodes.folder.path("back");
  auto openssh = ssh::make_openssh_remote(target);
  auto own = ssh::make_remote(target);
  for (Remote* remote : {own.get(), openssh.get()}) {
    std::filesystem::remove(local);
    ASSERT_TRUE(remote->get_file("file", local).ok());
    struct stat first {
    }, second{};
    ASSERT_EQ(::stat(local.c_str(), &first), 0);
    ASSERT_TRUE(remote->get_file("file", local).ok());
    ASSERT_EQ(::stat(local.c_str(), &second), 0);
    EXPECT_EQ(first.st_ino, second.st_ino);
    EXPECT_EQ(*sha256_file(local), *sha256_file(home("file")));
  }
}

TEST_F(LoginTest, AServerThatFreezesDoesNotOutlastTheDeadline) {
  auto remote = ssh::make_remote(target);
  ASSERT_TRUE(remote->exec("true").ok());
  auto pids = local::processes_of({nodes.context.work_directory, made.id});
  for (int pid : pids) kill(pid, SIGSTOP);
  ExecOptions options;
  options.deadline = std::chrono::milliseconds(500);
  auto begin = std::chrono::steady_clock::now();
  auto result = remote->exec("true", options);
  for (int pid : pids) kill(pid, SIGCONT);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::Timeout) << result.status().text();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_TRUE(remote->exec("true").ok()) << "it goes on once the server does";
}

// A user of its own needs a machine of its own.
struct IsolatedLoginTest : testing::Test {
  void SetUp() override {
    test::skip_without_isolation();
    if (IsSkipped()) return;
    nodes = std::make_unique<TestNodes>(local::Isolation::Required);
    made = nodes->make("worker[0]");
    attributes = test::second_login(made, login);
  }
  test::SecondLogin login;
  std::unique_ptr<TestNodes> nodes;
  Seen made;
  Json attributes;
};

TEST_F(IsolatedLoginTest, APasswordIsTakenAndAWrongOneRefused) {
  ssh::Target target = *test::target_of(attributes);
  target.key_file = "";
  target.password = login.password;
  auto result = ssh::make_remote(target)->exec("id -un");
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->out, "bob\n");
  target.password = "wrong";
  auto refused = ssh::make_remote(target)->exec("true");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::Auth);
  EXPECT_TRUE(contains(refused.status().message(), "LOGIN REFUSED"));
  EXPECT_FALSE(contains(refused.status().text(), "wrong\"")) << "the password itself is not told";
}

}  // namespace
}  // namespace radl
