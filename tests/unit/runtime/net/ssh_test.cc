// SSH against real OpenSSH servers of local nodes.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/clouds/local/node_directory.h"
#include "runtime/clouds/local/node_process.h"
#include "runtime/net/ssh/keys.h"
#include "runtime/net/ssh/login.h"
#include "runtime/net/ssh/openssh.h"
#include "tests/support/test_nodes.h"
#include "tests/support/test_target.h"

namespace radl {
namespace {

using test::contains;
using test::TestNodes;

struct SshTest : testing::Test {
  TestNodes nodes;
  Seen made = nodes.make("worker[0]");
  ssh::Target target = *test::target_of(made.attributes);
  std::unique_ptr<Remote> remote = ssh::make_remote(target);

  std::string home(const std::string& below) {
    return made.attributes.at("home").get<std::string>() + "/" + below;
  }
  static std::string random_text(size_t size) {
    std::string text = random_bytes(1 << 20), all;
    while (all.size() < size) all += text;
    all.resize(size);
    return all;
  }
};

TEST_F(SshTest, GivesExitStatusAndBothStreams) {
  auto result = remote->exec("echo out; echo err >&2; exit 7");
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->exit_status, 7);
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
}

TEST_F(SshTest, SaysWhichSignalEndedACommand) {
  auto result = remote->exec("kill -KILL $$");
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->exit_status, 137);
}

TEST_F(SshTest, StartsInTheNodesFolderWithItsName) {
  auto result = remote->exec("pwd; echo \"$HOME $RADL_NODE\"");
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->out, home("").substr(0, home("").size() - 1) + "\n" +
                             home("").substr(0, home("").size() - 1) + " worker[0]\n");
}

TEST_F(SshTest, QuotesSurvive) {
  auto result = remote->exec("printf '%s|' \"a b\" 'c\"d' \"e'f\" '$HOME' '\\'");
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->out, "a b|c\"d|e'f|$HOME|\\|");
}

TEST_F(SshTest, BinaryInputArrivesWhole) {
  std::string input = random_text(3 << 20);
  ExecOptions options;
  options.stdin_bytes = input;
  auto result = remote->exec("sha256sum", options);
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->out.substr(0, 64), sha256_hex(input));
}

TEST_F(SshTest, LargeOutputOnBothStreamsAtOnce) {
  size_t out = 0, err = 0;
  ExecOptions options;
  options.on_output = [&](std::string_view piece, bool is_stderr) {
    (is_stderr ? err : out) += piece.size();
  };
  auto result = remote->exec("head -c 20000000 /dev/zero & head -c 10000000 /dev/zero >&2; wait", options);
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(out, 20000000u);
  EXPECT_EQ(err, 10000000u);
  EXPECT_EQ(result->out.size(), size_t{1} << 20);
}

TEST_F(SshTest, ManyThreadsShareOneSession) {
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        std::string text = std::to_string(t * 100 + i);
        ExecOptions options;
        options.stdin_bytes = std::string(50000, 'x') + text;
        auto result = remote->exec("cat | tail -c +50001; head -c 100000 /dev/zero >&2", options);
        if (!result)
          wrong[t] += result.status().text() + "; ";
        else if (result->out != text || result->err.size() != 100000)
          wrong[t] += "other output; ";
        if (t % 2 != 0) continue;
        auto put = remote->put_bytes(std::string(300000, static_cast<char>('a' + t)) + text,
                                     "shared-" + std::to_string(t), 0600);
        if (!put) wrong[t] += put.status().text() + "; ";
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (int t = 0; t < 8; ++t) EXPECT_EQ(wrong[t], "");
}

TEST_F(SshTest, DeadlineEndsTheCommandOnTheNode) {
  ExecOptions options;
  options.deadline = std::chrono::milliseconds(300);
  auto result = remote->exec("echo $$ > pid; sleep 600 & wait", options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::Timeout);
  auto pid = read_file(home("pid"));
  ASSERT_TRUE(pid.ok());
  auto check =
      remote->exec("kill -0 -" + pid->substr(0, pid->find('\n')) + " 2>/dev/null && echo alive || echo gone");
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->out, "gone\n");
}

TEST_F(SshTest, CancelEndsTheCommand) {
  ExecOptions options;
  auto begin = std::chrono::steady_clock::now();
  options.stop =
      Stop::when([&] { return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(200); });
  auto result = remote->exec("sleep 600", options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::Cancelled);
  EXPECT_TRUE(remote->exec("true").ok());
}

TEST_F(SshTest, AnUploadIsStoppedInItsMidst) {
  const std::string content(200 << 20, 'x');
  for (auto& client : {ssh::make_remote(target), ssh::make_openssh_remote(target)}) {
    const Stop begun = Stop::when([&] {
      std::error_code none;
      for (const auto& entry : std::filesystem::directory_iterator(home(""), none))
        if (entry.path().filename().string().find("big") != std::string::npos && entry.file_size(none) > 0)
          return true;
      return false;
    });
    auto sent = client->put_bytes(content, "big", 0600, begun);
    EXPECT_EQ(sent.status().code(), Code::Cancelled) << sent.status().text();
    EXPECT_EQ(client->stat("big").status().code(), Code::NotFound) << "no part of it takes its name";
    ASSERT_TRUE(client->exec("rm -f ./*big* ./.*big*").ok());
  }
}

TEST_F(SshTest, WrongHostKeyIsRefusedBeforeAnythingIsSent) {
  auto other = ssh::make_ed25519("other");
  target.host_key = other->public_line;
  for (auto& wrong : {ssh::make_remote(target), ssh::make_openssh_remote(target)}) {
    auto begin = std::chrono::steady_clock::now();
    Status status = ssh::Logins().attempt(*wrong, target, true);
    EXPECT_EQ(status.code(), Code::Auth);
    EXPECT_TRUE(contains(status.message(), "host key mismatch"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10))
        << "must not be tried again";
  }
}

TEST_F(SshTest, RefusedKeyIsAnErrorOfItsOwn) {
  target.key_file = nodes.folder.path("other_key");
  ASSERT_TRUE(ssh::ensure_key_file(target.key_file, "other").ok());
  for (auto& wrong : {ssh::make_remote(target), ssh::make_openssh_remote(target)}) {
    Status status = ssh::Logins().attempt(*wrong, target, false);
    EXPECT_EQ(status.code(), Code::Auth);
    EXPECT_TRUE(contains(status.message(), "LOGIN REFUSED"));
  }
}

TEST_F(SshTest, APortThatDoesNotAnswerMayAnswerLater) {
  target.port = *local::free_port(target.host);
  for (auto& wrong : {ssh::make_remote(target), ssh::make_openssh_remote(target)}) {
    auto once = wrong->exec("true");
    ASSERT_FALSE(once.ok());
    EXPECT_EQ(once.status().code(), Code::Retry);
    EXPECT_TRUE(contains(once.status().message(), "does not answer"));
  }
  auto wrong = ssh::make_remote(target);
  for (bool booting : {false, true})
    EXPECT_EQ(ssh::Logins().attempt(*wrong, target, booting).code(), Code::Retry);
}

TEST_F(SshTest, ServerKilledInTheMiddleOfACommand) {
  local::NodeDirectory directory(nodes.context.work_directory, made.id);
  std::string mark = nodes.context.work_directory + "/begun";
  auto begin = std::chrono::steady_clock::now();
  std::thread killer([&] {
    for (int tries = 0; tries < 3000 && access(mark.c_str(), F_OK) != 0; tries++) usleep(10000);
    begin = std::chrono::steady_clock::now();
    // The listener comes first, so that none of the others is started again by it.
    for (auto pids = local::processes_of(directory); !pids.empty(); pids = local::processes_of(directory)) {
      for (auto pid : pids) kill(pid, SIGKILL);
      usleep(10000);
    }
  });
  auto result = remote->exec("touch '" + mark + "'; sleep 600");
  killer.join();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::Lost) << result.status().text();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  auto read = nodes.read(made.id);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->attributes.at("state"), "stopped");
  EXPECT_EQ(read->phase, ResourcePhase::Stopped);
  Seen again = nodes.make("worker[0]");
  EXPECT_EQ(again.attributes.at("host_key"), made.attributes.at("host_key"));
  auto other = ssh::make_remote(*test::target_of(again.attributes));
  EXPECT_TRUE(other->exec("true").ok()) << "a node that was stopped starts again";
}

TEST_F(SshTest, ReconnectsAfterALostSession) {
  ASSERT_TRUE(remote->exec("true").ok());
  // Ends the login's own server process, not the listener.
  auto result = remote->exec("kill -KILL $PPID");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::Lost);
  auto again = remote->exec("echo back");
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_EQ(again->out, "back\n");
}

TEST_F(SshTest, EqualContentIsNotSentAgain) {
  std::string local = nodes.folder.path("file");
  ASSERT_TRUE(write_file_atomic(local, random_text(5 << 20)).ok());
  auto first = remote->put_file(local, "copy", 0640);
  ASSERT_TRUE(first.ok()) << first.status().text();
  EXPECT_TRUE(*first);
  auto there = remote->stat("copy");
  ASSERT_TRUE(there.ok()) << there.status().text();
  EXPECT_EQ(there->mode, 0640u);
  EXPECT_EQ(there->size, 5u << 20);
  EXPECT_EQ(there->sha256, *sha256_file(local));
  auto second = remote->put_file(local, "~/copy", 0600);
  ASSERT_TRUE(second.ok()) << second.status().text();
  EXPECT_FALSE(*second);
  EXPECT_EQ(remote->stat("copy")->mode, 0600u);
  ASSERT_TRUE(write_file_atomic(local, "other").ok());
  EXPECT_TRUE(*remote->put_file(local, "copy", 0600));
  EXPECT_EQ(remote->stat("copy")->size, 5u);
}

TEST_F(SshTest, HundredMegabytesResumeWhereTheyStopped) {
  std::string local = nodes.folder.path("large");
  std::string content = random_text(100 << 20);
  ASSERT_TRUE(write_file_atomic(local, content).ok());
  std::string digest = sha256_hex(content);
  // What a transfer that was cut short has left: the first 90 MB. A mark in it shows that it was not written
  // again.
  std::string part = home("large.radl-" + digest.substr(0, 16) + ".part");
  ASSERT_TRUE(write_file_atomic(part, content.substr(0, 90 << 20), 0600).ok());
  struct stat before {
  }, after{};
  ASSERT_EQ(stat(part.c_str(), &before), 0);
  auto sent = remote->put_file(local, "large", 0644);
  ASSERT_TRUE(sent.ok()) << sent.status().text();
  ASSERT_EQ(stat(home("large").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino) << "the part became the file";
  EXPECT_EQ(*sha256_file(home("large")), digest);
  // A part that holds something else is found out and begun anew.
  std::filesystem::remove(home("large"));
  ASSERT_TRUE(write_file_atomic(part, std::string(1000, 'x'), 0600).ok());
  sent = remote->put_file(local, "large", 0644);
  ASSERT_TRUE(sent.ok()) << sent.status().text();
  EXPECT_EQ(*sha256_file(home("large")), digest);
}

TEST_F(SshTest, FilesComeBack) {
  ASSERT_TRUE(remote->put_bytes(std::string("a\0b", 3), "small file", 0600).ok());
  std::string local = nodes.folder.path("back");
  ASSERT_TRUE(remote->get_file("small file", local).ok());
  EXPECT_EQ(*read_file(local), std::string("a\0b", 3));
  EXPECT_EQ(remote->get_file("nothing", local).code(), Code::NotFound);
  EXPECT_EQ(remote->stat("nothing").status().code(), Code::NotFound);
  EXPECT_EQ(remote->put_bytes("x", "no-folder/file", 0600).status().code(), Code::NotFound);
}

TEST_F(SshTest, TheSystemsClientDoesTheSame) {
  auto openssh = ssh::make_openssh_remote(target);
  std::string errors;
  ExecOptions options;
  options.stdin_bytes = "in";
  options.on_output = [&](std::string_view piece, bool is_stderr) {
    if (is_stderr) errors += piece;
  };
  auto result = openssh->exec("cat; echo err >&2; exit 255", options);
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->exit_status, 255);
  EXPECT_EQ(result->out, "in");
  EXPECT_EQ(result->err, "err\n");
  EXPECT_EQ(errors, "err\n");
  std::string local = nodes.folder.path("file");
  ASSERT_TRUE(write_file_atomic(local, random_text(20 << 20)).ok());
  auto sent = openssh->put_file(local, "copy of it", 0640);
  ASSERT_TRUE(sent.ok()) << sent.status().text();
  EXPECT_TRUE(*sent);
  EXPECT_FALSE(*openssh->put_file(local, "copy of it", 0640));
  EXPECT_EQ(openssh->stat("copy of it")->sha256, *sha256_file(local));
  ASSERT_TRUE(openssh->get_file("copy of it", nodes.folder.path("back")).ok());
  EXPECT_EQ(*sha256_file(nodes.folder.path("back")), *sha256_file(local));
}

TEST_F(SshTest, RsaKeysGoThroughTheSystemsClient) {
  std::string key = nodes.folder.path("rsa");
  ASSERT_EQ(std::system(("ssh-keygen -q -t rsa -b 2048 -N '' -f " + key).c_str()), 0);
  ASSERT_EQ(std::system(("cat " + key + ".pub >> " + nodes.context.work_directory + "/nodes/" + made.id +
                         "/etc/authorized_keys")
                            .c_str()),
            0);
  target.key_file = key;
  std::string told;
  auto rsa = ssh::make_remote(target, [&](const std::string& line) { told += line; });
  EXPECT_TRUE(contains(told, "RSA key"));
  auto result = rsa->exec("echo rsa");
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->out, "rsa\n");
}

TEST(Keys, OpensshReadsOurs) {
  test::TemporaryFolder folder;
  auto line = ssh::ensure_key_file(folder.path("key"), "a comment");
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(*ssh::ensure_key_file(folder.path("key"), "a comment"), *line) << "it is not made twice";
  ASSERT_EQ(std::system(("ssh-keygen -y -f " + folder.path("key") + " > " + folder.path("derived")).c_str()),
            0);
  EXPECT_EQ(*read_file(folder.path("derived")), *line + "\n");
  ASSERT_EQ(
      std::system(("ssh-keygen -l -f " + folder.path("key.pub") + " > " + folder.path("print")).c_str()), 0);
  EXPECT_TRUE(contains(*read_file(folder.path("print")), ssh::fingerprint(*ssh::key_blob(*line))));
}

}  // namespace
}  // namespace radl
