// Native resources that reach out: downloads from servers that break off, waiting for what listens, packages.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "common/files.h"
#include "common/process/detached.h"
#include "runtime/clouds/local/isolation.h"
#include "runtime/clouds/local/network.h"
#include "runtime/steps/native_runner.h"
#include "tests/support/second_login.h"
#include "tests/support/test_target.h"

namespace radl {
namespace {

using test::contains;
using test::TestNodes;

// Serves one content under every path; breaks off after `cut` bytes of each answer's body while cuts are
// left.
class BreakingServer {
 public:
  explicit BreakingServer(std::string content) : content_(std::move(content)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 8) != 0)
      ADD_FAILURE() << "no server";
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~BreakingServer() {
    stop_ = true;
    thread_.join();
    close(listener_);
  }
  std::string url(const std::string& path = "/file") const {
    return "http://127.0.0.1:" + std::to_string(port) + path;
  }

  int port = 0;
  std::atomic<size_t> cut{0};
  std::atomic<int> cuts{0}, answers{0}, resumed{0}, status{200};
  std::atomic<bool> ranges{true};

 private:
  void serve() {
    while (!stop_) {
      pollfd wait{listener_, POLLIN, 0};
      if (poll(&wait, 1, 20) != 1) continue;
      int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      answer(fd);
      close(fd);
    }
  }
  void answer(int fd) {
    std::string request;
    char piece[4096];
    while (request.find("\r\n\r\n") == std::string::npos) {
      ssize_t n = recv(fd, piece, sizeof piece, 0);
      if (n <= 0) return;
      request.append(piece, static_cast<size_t>(n));
    }
    ++answers;
    size_t from = 0, range = request.find("bytes=");
    if (ranges && range != std::string::npos) from = std::strtoul(request.c_str() + range + 6, nullptr, 10);
    std::string head;
    if (status != 200) {
      head = "HTTP/1.1 " + std::to_string(status) + " No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      (void)!send(fd, head.data(), head.size(), MSG_NOSIGNAL);
      return;
    }
    if (from >= content_.size()) {
      head = "HTTP/1.1 416 Range\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      (void)!send(fd, head.data(), head.size(), MSG_NOSIGNAL);
      return;
    }
    std::string body = content_.substr(from);
    head = from > 0 ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(from) + "-" +
                          std::to_string(content_.size() - 1) + "/" + std::to_string(content_.size()) + "\r\n"
                    : "HTTP/1.1 200 OK\r\n";
    head += "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n";
    if (from > 0) ++resumed;
    if (cuts > 0 && body.size() > cut) {
      --cuts;
      body.resize(cut);
    }
    body.insert(0, head);
    for (size_t at = 0; at < body.size();) {
      ssize_t n = send(fd, body.data() + at, body.size() - at, MSG_NOSIGNAL);
      if (n <= 0) return;
      at += static_cast<size_t>(n);
    }
  }

  std::string content_;
  int listener_ = -1;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

struct ReachTest : testing::Test {
  void use(local::Isolation isolation) {
    nodes = std::make_unique<TestNodes>(isolation);
    handle = nodes->handle("worker[0]");
    step.id = "worker[0]/tools";
    step.recipe = "tools";
    step.nodes = {"worker[0]"};
    step.digest = "1";
    context.context = &nodes->context;
    context.log_path = nodes->folder.path("step.log");
  }
  void SetUp() override { use(local::Isolation::Off); }
  Status run(const std::string& type, const std::string& name, Json properties) {
    step.resources = {{type, name, std::move(properties), {}}};
    auto outcome = make_native_runner()->run(context, step, {handle});
    if (!outcome) return outcome.status();
    changes = outcome->changes;
    return {};
  }
  std::string home(const std::string& below) {
    return handle.attributes.at("home").get<std::string>() + "/" + below;
  }
  std::string shell(const std::string& command) {
    auto result = (*handle.connect())->exec(command);
    return result ? result->out : result.status().text();
  }
  std::unique_ptr<TestNodes> nodes;
  NodeHandle handle;
  ir::Step step;
  StepContext context;
  std::vector<Change> changes;
};

std::string some_content() {
  std::string piece = random_bytes(1 << 16), all;
  while (all.size() < 3000000) all += piece;
  return all;
}

TEST_F(ReachTest, ADownloadThatBreaksOffGoesOnWhereItStopped) {
  std::string content = some_content();
  BreakingServer server(content);
  server.cut = 1000000;
  server.cuts = 2;
  Status got = run("download", "~/file", {{"url", server.url()}, {"sha256", sha256_hex(content)}});
  ASSERT_TRUE(got.ok()) << got.text();
  EXPECT_EQ(*sha256_file(home("file")), sha256_hex(content));
  EXPECT_EQ(server.answers, 3) << "cut twice, whole the third time";
  EXPECT_EQ(server.resumed, 2) << "what was there was not fetched again";
}

TEST_F(ReachTest, AServerWithoutRangesIsAskedAnew) {
  std::string content = some_content();
  BreakingServer server(content);
  server.ranges = false;
  server.cut = 1000000;
  server.cuts = 1;
  Status got = run("download", "~/file", {{"url", server.url()}, {"sha256", sha256_hex(content)}});
  ASSERT_TRUE(got.ok()) << got.text();
  EXPECT_EQ(*sha256_file(home("file")), sha256_hex(content));
}

TEST_F(ReachTest, APartOfSomethingElseIsFoundOut) {
  std::string content = some_content(), wanted = sha256_hex(content);
  BreakingServer server(content);
  ASSERT_TRUE(
      write_file_atomic(home("file.radl-" + wanted.substr(0, 16) + ".part"), std::string(500, 'x')).ok());
  Status got = run("download", "~/file", {{"url", server.url()}, {"sha256", wanted}});
  ASSERT_TRUE(got.ok()) << got.text();
  EXPECT_EQ(*sha256_file(home("file")), wanted);
}

TEST_F(ReachTest, AWholePartOnlyTakesItsPlace) {
  std::string content = some_content(), wanted = sha256_hex(content);
  BreakingServer server(content);
  ASSERT_TRUE(write_file_atomic(home("file.radl-" + wanted.substr(0, 16) + ".part"), content).ok());
  Status got = run("download", "~/file", {{"url", server.url()}, {"sha256", wanted}});
  ASSERT_TRUE(got.ok()) << got.text();
  EXPECT_EQ(server.answers, 0);
}

TEST_F(ReachTest, WhatIsNotThereOrIsOtherIsAnError) {
  BreakingServer server("content");
  Status other = run("download", "~/file", {{"url", server.url()}, {"sha256", std::string(64, 'a')}});
  EXPECT_TRUE(contains(other.message(), "the content has SHA-256 " + sha256_hex("content")));
  server.status = 404;
  server.answers = 0;
  Status missing = run("download", "~/file", {{"url", server.url()}, {"sha256", sha256_hex("content")}});
  EXPECT_FALSE(missing.ok());
  EXPECT_TRUE(contains(missing.message(), "404"));
  EXPECT_EQ(server.answers, 1) << "404 is final";
  EXPECT_FALSE(std::filesystem::exists(home("file")));
}

TEST_F(ReachTest, WaitsForPortsAndWebAddresses) {
  BreakingServer server("content");
  EXPECT_TRUE(run("wait_for", "the port", {{"port", server.port}, {"timeout", 5}}).ok());
  EXPECT_TRUE(run("wait_for", "the page", {{"url", server.url()}, {"timeout", 5}}).ok());
  server.status = 503;
  Status failed = run("wait_for", "the page", {{"url", server.url()}, {"timeout", 1}, {"every", 0.2}});
  EXPECT_TRUE(contains(failed.message(), "not ready within 1 s"));
  EXPECT_GT(server.answers, 1) << "asked more than once";
}

struct IsolatedReachTest : ReachTest {
  void SetUp() override {
    test::skip_without_isolation();
    if (IsSkipped()) return;
    use(local::Isolation::Required);
  }
};

// A package of our own, so that no server is needed: dpkg and apt are the real ones.
TEST_F(IsolatedReachTest, APackageIsInstalledOnceAndRemoved) {
  std::string built = shell(
      "mkdir -p p/DEBIAN repo && printf 'Package: radl-test-thing\\nVersion: 1.5\\nArchitecture: all\\n"
      "Maintainer: t <t@example.org>\\nDescription: t\\n' > p/DEBIAN/control && dpkg-deb -b p "
      "repo/radl-test-thing.deb "
      ">/dev/null && cd repo && { printf 'Package: radl-test-thing\\nVersion: 1.5\\nArchitecture: all\\n"
      "Maintainer: t <t@example.org>\\nDescription: t\\nFilename: ./radl-test-thing.deb\\nSize: %s\\nSHA256: "
      "%s\\n' "
      "$(stat -c %s radl-test-thing.deb) $(sha256sum < radl-test-thing.deb | cut -d' ' -f1); } > Packages && "
      "chmod -R a+rX .. . && rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* && "
      "cp -r . /srv/repo && echo 'deb [trusted=yes] file:/srv/repo ./' > /etc/apt/sources.list && echo "
      "built");
  ASSERT_EQ(built, "built\n");
  Status installed = run("package", "radl-test-thing", Json::object());
  ASSERT_TRUE(installed.ok()) << installed.text();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].before, "absent");
  EXPECT_EQ(shell("dpkg-query -W radl-test-thing"), "radl-test-thing\t1.5\n");
  EXPECT_TRUE(run("package", "radl-test-thing", Json::object()).ok());
  EXPECT_TRUE(changes.empty()) << "it is there already";
  Status missing = run("package", "radl-no-such-thing", Json::object());
  EXPECT_TRUE(contains(missing.message(), "radl-no-such-thing"));
  EXPECT_TRUE(run("package", "radl-test-thing", {{"state", "absent"}}).ok());
  EXPECT_EQ(
      shell("dpkg-query -W -f='${db:Status-Abbrev}' radl-test-thing 2>/dev/null || echo gone").substr(0, 2) ==
          "ii",
      false);
}

TEST_F(IsolatedReachTest, AnOrdinaryLoginWorksThroughSudoOrSaysThatItNeedsRoot) {
  ASSERT_FALSE(find_program(environment_of_process(), "sudo").empty()) << "packages.txt names it";
  Json plain = test::second_login(nodes->make("worker[0]"), {});
  auto as = [&](const Json& attributes) {
    handle.attributes = attributes;
    auto remote = std::make_shared<std::unique_ptr<Remote>>(ssh::make_remote(*test::target_of(attributes)));
    handle.connect = [remote]() -> Result<Remote*> { return remote->get(); };
  };
  as(plain);
  Status refused = run("package", "radl-no-such-thing", Json::object());
  EXPECT_EQ(refused.code(), Code::Auth) << refused.text();
  EXPECT_TRUE(contains(refused.message(), "sudo asks user 'bob' for a password"));
  (void)ssh::make_remote(*test::target_of(nodes->make("worker[0]").attributes))
      ->exec("echo 'bob ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/bob; chmod 440 /etc/sudoers.d/bob");
  as(plain);
  Status made = run("file", "/etc/made-by-bob", {{"content", "x\n"}, {"mode", "0600"}});
  ASSERT_TRUE(made.ok()) << made.text();
  EXPECT_EQ(shell("stat -c '%U %a' /etc/made-by-bob; echo $HOME"), "root 600\n/home/bob\n");
  EXPECT_TRUE(run("file", "/etc/made-by-bob", {{"content", "x\n"}, {"mode", "0600"}}).ok());
  EXPECT_TRUE(changes.empty()) << "what only root can read is seen too";
  EXPECT_TRUE(run("file", "~/own", {{"content", "x\n"}}).ok());
  EXPECT_EQ(shell("ls /home/bob/own"), "/home/bob/own\n");
}

TEST_F(IsolatedReachTest, WhereSudoAsksForAPasswordItIsGivenOneAndNobodySeesIt) {
  Json plain = test::second_login(nodes->make("worker[0]"), {});
  handle.attributes = plain;
  auto remote = std::make_shared<std::unique_ptr<Remote>>(ssh::make_remote(*test::target_of(plain)));
  handle.connect = [remote]() -> Result<Remote*> { return remote->get(); };
  auto as_root = ssh::make_remote(*test::target_of(nodes->make("worker[0]").attributes));
  (void)as_root->exec("echo 'bob ALL=(ALL) ALL' > /etc/sudoers.d/bob; chmod 440 /etc/sudoers.d/bob");
  ir::Node node;
  node.secrets["password"] = ir::secret("bobs");
  handle.node = &node;
  const std::map<std::string, std::string> right{{"bobs", "Tr0ub4dor&3"}}, wrong{{"bobs", "wrong"}};
  nodes->context.secrets = &wrong;
  Status refused = run("file", "/etc/made-by-bob", {{"content", "x\n"}});
  EXPECT_TRUE(contains(refused.message(), "sudo on the node does not take the password of user 'bob'"))
      << refused.text();
  nodes->context.secrets = &right;
  Status made = run("file", "/etc/made-by-bob", {{"content", "x\n"}, {"mode", "0600"}});
  ASSERT_TRUE(made.ok()) << made.text();
  EXPECT_EQ(shell("stat -c '%U %a' /etc/made-by-bob; echo $HOME"), "root 600\n/home/bob\n");
  EXPECT_TRUE(run("file", "/etc/made-by-bob", {{"content", "x\n"}, {"mode", "0600"}}).ok());
  EXPECT_TRUE(changes.empty()) << "what only root can read is seen too";
  // What runs as root sees neither an argument nor a variable of it, and is not left behind by its deadline.
  Status ended = run("command",
                     "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; tr '\\0' ' ' < $p/environ; "
                     "done > /tmp/seen 2>/dev/null; sleep 611",
                     {{"timeout", 1}});
  EXPECT_FALSE(ended.ok());
  auto seen = as_root->exec("grep -c Tr0ub4dor /tmp/seen");
  EXPECT_EQ(seen->out, "0\n");
  std::string left = "not asked";
  for (int i = 0; i < 100 && !left.empty(); ++i) {
    left = as_root->exec("ps ax -o args | grep '[s]leep 611' || true")->out;
    if (!left.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  EXPECT_EQ(left, "");
  auto log = read_file(context.log_path);
  EXPECT_FALSE(log.ok() && contains(*log, "Tr0ub4dor"));
  nodes->context.secrets = nullptr;
}

TEST_F(IsolatedReachTest, AServiceWithoutAManagerIsAClearError) {
  Status failed = run("service", "no-such", {{"state", "running"}});
  EXPECT_EQ(failed.code(), Code::Unsupported);
  EXPECT_TRUE(contains(failed.message(), "systemd does not run on this node"));
  EXPECT_TRUE(run("service", "no-such", {{"state", "stopped"}}).ok()) << "what is not there does not run";
}

}  // namespace
}  // namespace radl
