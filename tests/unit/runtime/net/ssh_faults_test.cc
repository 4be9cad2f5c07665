// Servers and commands that misbehave: hang, refuse for a while, speak only the newest, talk without end.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "common/lines.h"
#include "runtime/clouds/local/node_directory.h"
#include "runtime/clouds/local/node_process.h"
#include "runtime/net/lease.h"
#include "runtime/net/ssh/connection.h"
#include "runtime/net/ssh/keys.h"
#include "runtime/net/ssh/login.h"
#include "runtime/net/ssh/openssh.h"
#include "tests/support/second_login.h"
#include "tests/support/second_server.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_target.h"

namespace radl {
namespace {

using test::contains;
using test::SecondServer;
using test::TestNodes;

struct FaultTest : testing::Test {
  TestNodes nodes;
  Seen made = nodes.make("worker[0]");
  ssh::Target target = *test::target_of(made.attributes);

  std::string home(const std::string& below) {
    return made.attributes.at("home").get<std::string>() + "/" + below;
  }
};

TEST_F(FaultTest, AServerThatHangsIsGivenUpWithAClearMessage) {
  target.answer_within = std::chrono::seconds(3);
  auto own = ssh::make_remote(target), openssh = ssh::make_openssh_remote(target);
  for (Remote* remote : {own.get(), openssh.get()}) {
    ASSERT_TRUE(remote->exec("true").ok());
    std::filesystem::remove(home("begun"));
    std::vector<int> stopped;
    std::thread stopper([&] {
      EXPECT_TRUE(test::wait_until([&] { return std::filesystem::exists(home("begun")); }));
      // All but the listener: that one goes on, so that a new connection is served.
      auto pids = local::processes_of({nodes.context.work_directory, made.id});
      stopped.assign(pids.begin() + 1, pids.end());
      for (int pid : stopped) kill(pid, SIGSTOP);
    });
    auto result = remote->exec("touch begun; sleep 300");
    stopper.join();
    for (int pid : stopped) kill(pid, SIGCONT);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().code(), Code::Lost) << result.status().text();
    EXPECT_TRUE(contains(result.status().message(), "has not answered for 3 s"));
    EXPECT_TRUE(remote->exec("true").ok()) << "a new connection";
  }
}

// Whoever has the port, it is not SSH that is spoken there, and is not said to be silence.
TEST(NoSsh, WhatAnswersSomethingElseIsNamed) {
  int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(listener, 16), 0);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  std::thread server([&] {
    for (int client; (client = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; ::close(client)) {
      const std::string text = "HTTP/1.1 400 \x01\xff Bad Request\r\n\r\n";
      (void)!::send(client, text.data(), text.size(), MSG_NOSIGNAL);
      char heard[4096];
      (void)!::recv(client, heard, sizeof heard, 0);
    }
  });
  test::TemporaryFolder folder;
  ssh::Target target;
  target.host = "127.0.0.1";
  target.port = ntohs(address.sin_port);
  target.user = "root";
  target.host_key = ssh::make_ed25519("somebody")->public_line;
  ASSERT_TRUE(ssh::ensure_key_file(folder.path("id"), "user").ok());
  target.key_file = folder.path("id");
  for (const auto& remote : {ssh::make_remote(target), ssh::make_openssh_remote(target)}) {
    auto result = remote->exec("true");
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().code(), Code::Retry) << "a server that boots may do so";
    EXPECT_FALSE(contains(result.status().text(), "kex_exchange")) << result.status().text();
    EXPECT_FALSE(contains(result.status().text(), "does not answer:")) << result.status().text();
  }
  ::shutdown(listener, SHUT_RDWR);
  server.join();
  ::close(listener);
}

TEST_F(FaultTest, AQuietCommandOnAServerThatWorksIsNotGivenUp) {
  target.answer_within = std::chrono::seconds(3);
  for (auto& remote : {ssh::make_remote(target), ssh::make_openssh_remote(target)}) {
    auto result = remote->exec("sleep 8; echo there");
    ASSERT_TRUE(result.ok()) << result.status().text();
    EXPECT_EQ(result->out, "there\n");
  }
}

TEST_F(FaultTest, AServerWithModernCiphersOnlyIsServedByTheSystemsClient) {
  SecondServer server(made, {"Ciphers chacha20-poly1305@openssh.com,aes256-gcm@openssh.com",
                             "MACs hmac-sha2-256-etm@openssh.com"});
  std::string told;
  auto remote = ssh::make_remote(server.target, [&](const std::string& line) { told += line; });
  auto result = remote->exec("echo served");
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(result->out, "served\n");
  EXPECT_TRUE(contains(told, "the server takes only the ciphers chacha20-poly1305@openssh.com"));
  ASSERT_TRUE(remote->put_bytes("x", "file", 0600).ok());
  EXPECT_EQ(remote->stat("file")->size, 1u);
  // With only a password, the system's client does not help: the error says what is missing, and does not
  // mention a key.
  server.target.key_file.clear();
  server.target.password = "any";
  auto refused = ssh::make_remote(server.target)->exec("true");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::Unsupported) << refused.status().text();
  EXPECT_TRUE(contains(refused.status().message(), "ciphers chacha20"));
}

// libssh2 keeps one error text for the whole connection: each thread gets the one of its own call.
TEST_F(FaultTest, ErrorsOfThreadsThatShareAConnectionAreNotMixed) {
  SecondServer server(made, {"MaxSessions 1"});
  auto session = ssh::Connection::open(server.target, {});
  ASSERT_TRUE(session.ok()) << session.status().text();
  StopSource over;
  ExecOptions busy;  // it has the one channel, and moves bytes both ways
  busy.stop = over.token();
  busy.stdin_bytes = std::string(64 << 20, 'x');
  std::atomic<bool> runs{false};
  busy.on_output = [&](std::string_view, bool) { runs = true; };
  std::thread other([&] { (void)(*session)->exec("cat; sleep 600", busy); });
  EXPECT_TRUE(test::wait_until([&] { return runs.load(); }));
  std::set<std::string> refused;
  for (int i = 0; i < 300; ++i) {
    auto result = (*session)->exec("true", {});
    refused.insert(result ? "it ran" : result.status().text());
  }
  over.request();
  other.join();
  EXPECT_EQ(refused.size(), 1u);
  EXPECT_TRUE(contains(*refused.begin(), "cannot open a channel: Channel open failure")) << *refused.begin();
}

TEST_F(FaultTest, AServerWithoutTheKindOfKeyThatIsPinnedIsAnotherMachine) {
  std::string key = nodes.folder.path("ecdsa");
  ASSERT_EQ(std::system(("ssh-keygen -q -t ecdsa -N '' -f " + key).c_str()), 0);
  SecondServer server(made, {"HostKeyAlgorithms ecdsa-sha2-nistp256", "HostKey " + key});
  auto refused = ssh::make_remote(server.target)->exec("true");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::Auth);
  EXPECT_TRUE(
      contains(refused.status().message(), "host key mismatch: the server has no ssh-ed25519 host key"));
}

TEST_F(FaultTest, AKeyThatIsInstalledAfterTheServerIsUpIsWaitedForWhileTheMachineBoots) {
  std::string keys = nodes.context.work_directory + "/nodes/" + made.id + "/etc/authorized_keys";
  auto held = read_file(keys);
  ASSERT_TRUE(held.ok());
  ASSERT_TRUE(write_file_atomic(keys, "", 0600).ok());
  auto remote = ssh::make_remote(target);
  ssh::Logins logins;
  EXPECT_TRUE(ssh::is_refused_login(logins.attempt(*remote, target, false)))
      << "final on a machine that has been reached before";
  Status refused = logins.attempt(*remote, target, true);
  EXPECT_EQ(refused.code(), Code::Retry);
  EXPECT_TRUE(contains(refused.message(), "LOGIN REFUSED"));
  ASSERT_TRUE(write_file_atomic(keys, *held, 0600).ok());
  auto begin = std::chrono::steady_clock::now();
  Status reached = logins.attempt(*remote, target, true);
  EXPECT_EQ(reached.code(), Code::Retry) << "a server that has refused is left alone for some seconds";
  while (!reached.ok() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(30)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    reached = logins.attempt(*remote, target, true);
  }
  EXPECT_TRUE(reached.ok()) << reached.text();
}

TEST_F(FaultTest, OutputThatIsCutIsMarkedAndIsNoData) {
  for (auto& remote : {ssh::make_remote(target), ssh::make_openssh_remote(target)}) {
    ExecOptions options;
    options.keep_bytes = 1000;
    auto whole = exec_for_data(*remote, "head -c 1000 /dev/zero", options);
    ASSERT_TRUE(whole.ok()) << whole.status().text();
    EXPECT_FALSE(whole->out_cut);
    auto cut = remote->exec("head -c 1001 /dev/zero; head -c 5 /dev/zero >&2", options);
    ASSERT_TRUE(cut.ok()) << cut.status().text();
    EXPECT_TRUE(cut->out_cut);
    EXPECT_FALSE(cut->err_cut);
    EXPECT_EQ(cut->out.size(), 1000u);
    auto refused = exec_for_data(*remote, "head -c 1001 /dev/zero", options);
    EXPECT_EQ(refused.status().code(), Code::Invalid);
  }
}

long resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atol(line.c_str() + 6);
  }
  return 0;
}

TEST_F(FaultTest, AGigabyteWithoutANewlineTakesNoMemory) {
  Lines lines(1 << 16);
  size_t got = 0, whole = 0;
  ExecOptions options;
  options.on_output = [&](std::string_view piece, bool) {
    got += piece.size();
    lines.add(piece, [&](std::string_view line, bool cut) { whole += line.size() == (1 << 16) && cut; });
  };
  auto remote = ssh::make_remote(target);
  ASSERT_TRUE(remote->exec("true").ok());
  long before = resident_kib();
  auto result = remote->exec("head -c 1000000000 /dev/zero; echo", options);
  ASSERT_TRUE(result.ok()) << result.status().text();
  EXPECT_EQ(got, 1000000001u);
  EXPECT_EQ(whole, 1u);
  EXPECT_LT(resident_kib() - before, 64 * 1024);
}

TEST_F(FaultTest, TheSystemsClientEndsTheCommandOnTheNodeToo) {
  auto remote = ssh::make_openssh_remote(target);
  ExecOptions options;
  options.stop = Stop::when([&] { return std::filesystem::exists(home("pid")); });
  auto result = remote->exec("(trap '' TERM; sleep 600) & setsid sleep 600 & echo $! > pid; wait", options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::Cancelled);
  auto left = remote->exec(
      "pgrep -f 'sleep 60[0]' | while read p; do tr '\\0' '\\n' < /proc/$p/environ; done | grep "
      "-c '^HOME='\"$HOME\"'$'");
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(left->out, "0\n");
}

// A stop may come while the node has begun a command and has not yet said as which process.
TEST_F(FaultTest, ACommandThatIsStoppedAsItBeginsDoesNotGoOn) {
  SecondServer slow(
      made, {"ForceCommand cd && touch asked && sleep 0.6; eval \"$SSH_ORIGINAL_COMMAND\"", "MaxSessions 1"});
  auto own = ssh::make_remote(slow.target), openssh = ssh::make_openssh_remote(slow.target),
       client = ssh::make_openssh_remote(slow.target), looks = ssh::make_remote(target);
  ExecOptions busy;  // so that what comes after it has to use a client of its own
  StopSource over;
  busy.stop = over.token();
  std::thread taken([&] { (void)client->exec("touch taken; sleep 600", busy); });
  EXPECT_TRUE(test::wait_until([&] { return std::filesystem::exists(home("taken")); }));
  for (Remote* remote : {own.get(), openssh.get(), client.get()}) {
    EXPECT_TRUE(remote->exec("true").ok());
    for (bool by_deadline : {false, true}) {
      ASSERT_TRUE(looks->exec("rm -f asked").ok());
      ExecOptions options;
      if (by_deadline)
        options.deadline = std::chrono::milliseconds(300);
      else
        options.stop = Stop::when([&] { return std::filesystem::exists(home("asked")); });
      auto result = remote->exec("sleep 6047", options);
      ASSERT_FALSE(result.ok());
      EXPECT_EQ(result.status().code(), by_deadline ? Code::Timeout : Code::Cancelled);
      EXPECT_FALSE(contains(result.status().message(), "may still run there")) << result.status().text();
      EXPECT_EQ(looks->exec("pgrep -f 'sleep 604[7]'")->out, "");
    }
  }
  over.request();
  taken.join();
}

TEST_F(FaultTest, AStoppedCommandThatCannotBeEndedIsNamed) {
  SecondServer silent(made, {"ForceCommand cd && touch asked && sleep 20"});
  for (auto& remote : {ssh::make_remote(silent.target), ssh::make_openssh_remote(silent.target)}) {
    std::filesystem::remove(home("asked"));
    ExecOptions options;
    options.stop = Stop::when([&] { return std::filesystem::exists(home("asked")); });
    auto result = remote->exec("true", options);
    EXPECT_EQ(result.status().code(), Code::Cancelled);
    EXPECT_TRUE(contains(result.status().message(), "could not be ended and may still run there"))
        << result.status().text();
  }
}

TEST_F(FaultTest, WhatAnEarlierRunHasLeftGoingIsEndedBeforeTheNextActs) {
  auto lost = ssh::make_remote(target), next = ssh::make_remote(target);
  Lease first{"infra", "run-1", "worker[0]/a b", "yesterday"}, second = first;
  second.run = "run-2";
  std::vector<std::string> told;
  auto log = [&](const std::string& line) { told.push_back(line); };
  ASSERT_TRUE(take_lease(*lost, first, {}, log).ok());
  // Its server goes away; what it runs goes on, deaf to TERM.
  std::thread cut([&] {
    EXPECT_TRUE(test::wait_until([&] { return std::filesystem::exists(home("begun")); }));
    (void)next->exec("kill -KILL $(cat begun)");
  });
  auto gone = lost->exec(under_lease(first,
                                     "trap '' TERM; setsid sleep 601 & echo $! > child; echo $$ > wrapper; "
                                     "echo $PPID > begun; sleep 602"));
  cut.join();
  ASSERT_EQ(gone.status().code(), Code::Lost) << gone.status().text();
  auto alive = [&] {
    auto look = next->exec("for f in child wrapper; do kill -0 $(cat $f) 2>/dev/null && echo $f; done; :");
    return look ? look->out : look.status().text();
  };
  EXPECT_TRUE(contains(alive(), "wrapper"));
  // Another step of the same run goes on; another infrastructure waits.
  Lease beside = first, stranger = second;
  beside.step = "worker[0]/other";
  stranger.infrastructure = "other";
  EXPECT_TRUE(take_lease(*next, beside, {}, log).ok());
  EXPECT_TRUE(told.empty());
  Status waited = take_lease(*next, stranger, Stop().within(std::chrono::seconds(2)), log);
  EXPECT_EQ(waited.code(), Code::Timeout) << waited.text();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0], "waiting for worker[0]/a_b of infra, since yesterday");
  EXPECT_TRUE(contains(alive(), "wrapper"));
  Status taken = take_lease(*next, second, {}, log);
  EXPECT_TRUE(taken.ok()) << taken.text();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1], "ended worker[0]/a_b, which had been running there since yesterday");
  EXPECT_EQ(alive(), "");
  ASSERT_TRUE(take_lease(*next, second, {}, log).ok());
  EXPECT_EQ(told.size(), 2u) << "nothing is left to end";
  auto done = next->exec(under_lease(second, "ls .radl/lease | wc -l; exit 7"));
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->exit_status, 7);
  EXPECT_EQ(done->out, "1\n");
  EXPECT_EQ(next->exec("ls .radl/lease | wc -l")->out, "0\n");
}

TEST_F(FaultTest, AnEntryOfAnotherBootOrProcessCountsForNothing) {
  auto remote = ssh::make_remote(target);
  Lease mine{"infra", "run", "step", "now"};
  ASSERT_TRUE(take_lease(*remote, mine, {}, [](const auto&) {}).ok());
  auto made_up = remote->exec(
      "read -r b < /proc/sys/kernel/random/boot_id; setsid sleep 603 >/dev/null 2>&1 </dev/null & p=$!; echo "
      "$p > other; "
      "echo \"$b 1 infra old now step\" > .radl/lease/$p; echo \"other-boot 1 infra old now step\" > "
      ".radl/lease/1");
  ASSERT_TRUE(made_up.ok());
  std::string told;
  ASSERT_TRUE(take_lease(*remote, mine, {}, [&](const std::string& line) { told += line; }).ok());
  EXPECT_EQ(told, "");
  EXPECT_EQ(remote->exec("ls .radl/lease; kill $(cat other) && echo lived")->out, "lived\n");
}

struct SudoTest : testing::Test {
  void SetUp() override { test::skip_without_isolation(); }
};

TEST_F(SudoTest, ACancelledCommandOfRootEnds) {
  TestNodes nodes(local::Isolation::Required);
  Seen made = nodes.make("worker[0]");
  auto root = ssh::make_remote(*test::target_of(made.attributes));
  auto bob = ssh::make_remote(*test::target_of(test::second_login(made, {.sudo = true})));
  ExecOptions options;
  options.stop = Stop::when([&] { return root->exec("test -e /tmp/begun")->exit_status == 0; });
  auto result = bob->exec("sudo -n /bin/sh -c 'touch /tmp/begun; sleep 604; :'", options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::Cancelled);
  EXPECT_EQ(root->exec("pgrep -f 'sleep 60[4]'")->out, "");
}

}  // namespace
}  // namespace radl
