// The HTTP server against clients that are rude, slow, many, or gone: raw bytes over a socket, since a
// library would not send most of this.
#include "common/http_server/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "common/fd.h"

namespace radl::httpd {
namespace {

using namespace std::chrono_literals;

// Lines that a test adds; each client sees all, from the first on.
struct Board {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::vector<std::function<void()>> readers;
  bool over = false;

  void add(std::string line) {
    std::lock_guard lock(mutex);
    lines.push_back(std::move(line));
    for (const auto& more : readers) more();
  }
  void end() {
    std::lock_guard lock(mutex);
    over = true;
    for (const auto& more : readers) more();
  }
};

class BoardReader : public StreamSource {
 public:
  explicit BoardReader(Board& board) : board_(board) {}
  void on_more(std::function<void()> more) override {
    std::lock_guard lock(board_.mutex);
    board_.readers.push_back(std::move(more));
  }
  std::optional<std::string> next() override {
    std::lock_guard lock(board_.mutex);
    if (seen_ < board_.lines.size()) {
      ++seen_;
      return server_sent_event(std::to_string(seen_), "", board_.lines[seen_ - 1]);
    }
    if (board_.over) return std::nullopt;
    return "";
  }

 private:
  Board& board_;
  size_t seen_ = 0;
};

struct TestHandler : Handler {
  Board board;
  std::atomic<size_t> begun{0}, body_bytes{0};
  std::promise<void> release;
  std::shared_future<void> released{release.get_future()};
  std::string file;

  struct Upload : Exchange {
    TestHandler& its;
    std::string body;
    explicit Upload(TestHandler& h) : its(h) {}
    std::optional<Answer> receive(std::string_view part) override {
      its.body_bytes += part.size();
      if (body.size() + part.size() > 1000000) return Answer{.status = 413, .body = "large"};
      body += part;
      return {};
    }
    Answer finish() override { return {.body = body}; }
  };
  struct Slow : Upload {
    using Upload::Upload;
    Answer finish() override { return its.released.wait(), Answer{.body = "slow"}; }
  };
  struct Throwing : Upload {
    using Upload::Upload;
    Answer finish() override { throw std::runtime_error("secret"); }
  };

  std::variant<Answer, std::unique_ptr<Exchange>> begin(const RequestHead& head) override {
    ++begun;
    if (head.path == "/events")
      return Answer{.type = "text/event-stream", .stream = std::make_unique<BoardReader>(board)};
    if (head.path == "/upload") return std::make_unique<Upload>(*this);
    if (head.path == "/slow") return std::make_unique<Slow>(*this);
    if (head.path == "/throw") return std::make_unique<Throwing>(*this);
    if (head.path == "/file") return Answer{.type = "application/octet-stream", .file = file};
    if (head.path == "/forbidden") return Answer{.status = 401, .body = "no"};
    return Answer{.body = head.method + " " + head.path + "?" + head.query};
  }
  Answer refuse(int status, const std::string& why) override { return {.status = status, .body = why}; }
};

class ServerTest : public testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    auto started = Server::start(handler, options);
    ASSERT_TRUE(started.ok()) << started.status().message();
    server = std::move(*started);
  }

  int connected() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(server->port());
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    return fd;
  }
  static void send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes.remove_prefix(size_t(n));
    }
  }
  // Until `text` was read, the end of the stream, or 20 s.
  static std::string read_until(int fd, std::string_view text) {
    std::string out;
    pollfd waits{fd, POLLIN, 0};
    while (out.find(text) == std::string::npos && ::poll(&waits, 1, 20000) == 1) {
      char part[4096];
      const ssize_t n = ::recv(fd, part, sizeof part, 0);
      if (n <= 0) break;
      out.append(part, size_t(n));
    }
    return out;
  }
  static constexpr std::string_view kEnd = "\x01 never";
  // All that comes until the server closes: the requests end with one that asks for that.
  std::string talk(std::string_view bytes) {
    Fd fd(connected());
    send_all(fd.get(), bytes);
    return read_until(fd.get(), kEnd);
  }
  static int status_of(const std::string& answer) {
    return answer.size() < 12 ? 0 : std::atoi(answer.c_str() + 9);
  }

  TestHandler handler;
  std::unique_ptr<Server> server;
};

TEST_F(ServerTest, GivesTheTargetAsItWasSent) {
  start();
  const std::string answer =
      talk("GET /a%2fb/%2e%2e/c%00?x=%41+b HTTP/1.1\r\nHost: a:80\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_NE(answer.find("GET /a%2fb/%2e%2e/c%00?x=%41+b"), std::string::npos);
}

TEST_F(ServerTest, AcceptsWhatIsWellFormed) {
  start();
  for (const std::string request :
       {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHOST:[::1]:80\r\nAccept:\r\nX:\t y z\r\nConnection: close\r\n\r\n",
        "POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: "
        "close\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nCookie: a=b\r\nConnection: "
        "close\r\n\r\nabc"})
    EXPECT_EQ(status_of(talk(request)), 200) << request << "\n" << talk(request);
}

// What two readers would understand in two ways never reaches the handler, and ends the connection.
TEST_F(ServerTest, RefusesWhatIsMalformed) {
  start();
  const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string post = "POST /upload HTTP/1.1\r\nHost: a\r\n";
  using namespace std::string_literals;
  for (const std::string& request : {
           post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
           post + "Content-Length: 0\r\nContent-Length: 31\r\n\r\n" + smuggled,
           post + "Content-Length: +5\r\n\r\nabcde",
           post + "Content-Length: -1\r\n\r\n",
           post + "Content-Length: 99999999999999999999999\r\n\r\n",
           post + "Content-Length: 5, 5\r\n\r\nabcde",
           post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
           post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           post + "Content-Length : 5\r\n\r\nabcde" + smuggled,
           post + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
           post + "Transfer-Encoding: chunked\r\n\r\n-1\r\n",
           "GET /lf HTTP/1.1\nHost: a\n\n"s,
           "GET /lf HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"s,
           "GET /nohost HTTP/1.1\r\n\r\n"s,
           "GET /two HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"s,
           "GET /nul HTTP/1.1\r\nHost: a\r\nX: a\0b\r\nY: c\r\n\r\n"s,
           "GET /fold HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\nY: c\r\n\r\n"s,
           "GET /version HTTP/3.9\r\nHost: a\r\n\r\n"s,
           "GET http://evil/ HTTP/1.1\r\nHost: a\r\n\r\n"s,
           "GET /a\tb HTTP/1.1\r\nHost: a\r\n\r\n"s,
           "G(T / HTTP/1.1\r\nHost: a\r\n\r\n"s,
           "GET /host HTTP/1.1\r\nHost: a@b/c\r\n\r\n"s,
       }) {
    Fd fd(connected());
    send_all(fd.get(), request);
    ::shutdown(fd.get(), SHUT_WR);
    const std::string answer = read_until(fd.get(), kEnd);
    // libmicrohttpd closes without a word where it does not understand; where it answers, it is one refusal.
    EXPECT_TRUE(answer.empty() || (status_of(answer) >= 400 && status_of(answer) < 600)) << request << answer;
    EXPECT_EQ(answer.find("200 OK"), std::string::npos) << request << "\n" << answer;
  }
  EXPECT_EQ(handler.board.lines.size(), 0u);
}

TEST_F(ServerTest, ALongHeadIsRefused) {
  start();
  EXPECT_GE(status_of(talk("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(200000, 'a') + "\r\n\r\n")), 400);
}

TEST_F(ServerTest, ABodyGoesToItsExchangeAndMayBeRefused) {
  start();
  const std::string head = "POST /upload HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ";
  const std::string body(900000, 'x');
  const std::string whole = talk(head + "900000\r\n\r\n" + body);
  EXPECT_EQ(status_of(whole), 200);
  EXPECT_TRUE(whole.ends_with(body));
  EXPECT_EQ(status_of(talk(head + "1100000\r\n\r\n" + std::string(1100000, 'x'))), 413);
}

// The head decides: a stranger's body is never given to anybody.
TEST_F(ServerTest, ARefusalByTheHeadTakesNoBody) {
  start();
  EXPECT_EQ(status_of(talk(
                "POST /forbidden HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc")),
            401);
  EXPECT_EQ(handler.body_bytes, 0u);
  Fd fd(connected());
  send_all(fd.get(),
           "POST /forbidden HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 999999\r\n\r\n");
  EXPECT_EQ(status_of(read_until(fd.get(), "no")), 401) << "without a byte of the body";
}

TEST_F(ServerTest, WhatAHandlerThrowsIsNotShown) {
  start();
  const std::string answer =
      talk("POST /throw HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(status_of(answer), 500);
  EXPECT_EQ(answer.find("secret"), std::string::npos);
}

TEST_F(ServerTest, AFullQueueIsAnswered429AndOthersAreServed) {
  ServerOptions options;
  options.workers = 2;
  options.queue = 1;
  start(options);
  const std::string slow = "POST /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
  std::vector<std::unique_ptr<Fd>> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(std::make_unique<Fd>(connected()));
    send_all(waiting.back()->get(), slow);
  }
  while (handler.begun < 3) std::this_thread::sleep_for(1ms);
  std::string refused;
  do refused = talk(slow);  // the third may not have reached the queue yet
  while (refused.empty());
  EXPECT_EQ(status_of(refused), 429);
  EXPECT_NE(refused.find("Retry-After"), std::string::npos);
  EXPECT_EQ(status_of(talk("GET /quick HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")), 200);
  handler.release.set_value();
  for (const auto& fd : waiting) EXPECT_EQ(status_of(read_until(fd->get(), kEnd)), 200);
}

TEST_F(ServerTest, EventsComeInOrderToEachClientAndEnd) {
  start();
  std::vector<std::unique_ptr<Fd>> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(std::make_unique<Fd>(connected()));
    send_all(clients.back()->get(), "GET /events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  }
  for (int i = 1; i <= 200; ++i) handler.board.add("line " + std::to_string(i));
  for (const auto& client : clients) {
    const std::string got = read_until(client->get(), "data: line 200\n");
    size_t at = 0;
    for (int i = 1; i <= 200; ++i) {
      at = got.find("data: line " + std::to_string(i) + "\n", at);
      ASSERT_NE(at, std::string::npos) << i;
    }
  }
  handler.board.end();
  for (const auto& client : clients) read_until(client->get(), kEnd);  // returns: the stream ends
}

// Beats notice who has gone; what the board calls afterwards reaches nobody and harms nothing.
TEST_F(ServerTest, AClientThatHasGoneIsNoticed) {
  ServerOptions options;
  options.beat_seconds = 0.02;
  start(options);
  {
    Fd fd(connected());
    send_all(fd.get(), "GET /events HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_NE(read_until(fd.get(), ": \n\n").find(": \n\n"), std::string::npos);
  }
  std::this_thread::sleep_for(200ms);
  handler.board.add("to nobody");
  EXPECT_EQ(status_of(talk("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")), 200);
}

TEST_F(ServerTest, StopsWithOpenStreamsAndWaitingRequests) {
  start();
  Fd stream(connected()), slow(connected()), idle(connected());
  send_all(stream.get(), "GET /events HTTP/1.1\r\nHost: a\r\n\r\n");
  handler.board.add("one");
  read_until(stream.get(), "one");
  send_all(slow.get(), "POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  while (handler.begun < 2) std::this_thread::sleep_for(1ms);
  auto later = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(50ms);
    handler.release.set_value();
  });
  server->stop();
  read_until(stream.get(), kEnd);
  read_until(idle.get(), kEnd);
  server.reset();
  handler.board.add("after");
}

TEST_F(ServerTest, WhoSaysNothingIsCutOffAndMakesRoom) {
  ServerOptions options;
  options.connections.most = 4;
  options.connections.header_seconds = 0.2;
  start(options);
  std::vector<std::unique_ptr<Fd>> silent;
  for (int i = 0; i < 30; ++i) silent.push_back(std::make_unique<Fd>(connected()));
  EXPECT_EQ(status_of(talk("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")), 200);
  for (const auto& fd : silent) EXPECT_EQ(read_until(fd->get(), kEnd), "");
}

TEST_F(ServerTest, SendsAFileAndNothingElse) {
  start();
  const auto folder = std::filesystem::path(testing::TempDir()) / "http_server_file";
  std::filesystem::create_directories(folder);
  handler.file = folder / "data";
  std::ofstream(handler.file) << std::string(300000, 'f');
  const std::string get = "GET /file HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const std::string answer = talk(get);
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + std::string(300000, 'f')));
  for (const char* other : {"/dev/zero", "/nowhere", "/tmp"}) {
    handler.file = other;
    EXPECT_EQ(status_of(talk(get)), 500) << other;
  }
  std::filesystem::remove_all(folder);
}

TEST_F(ServerTest, AnAddressInUseOrWrongIsSaid) {
  start();
  ServerOptions same;
  same.port = server->port();
  EXPECT_EQ(Server::start(handler, same).status().code(), Code::Conflict);
  ServerOptions name;
  name.address = "localhost";
  EXPECT_EQ(Server::start(handler, name).status().code(), Code::Invalid);
  ServerOptions bad;
  bad.certificate = bad.key = "not PEM";
  EXPECT_EQ(Server::start(handler, bad).status().code(), Code::Invalid);
}

TEST(Head, PathsAreDecodedPartByPart) {
  RequestHead head;
  head.path = "/a%20b/c%2Bd+e";
  ASSERT_TRUE(head.segments().ok());
  EXPECT_EQ(*head.segments(), (std::vector<std::string>{"a b", "c+d+e"}));
  head.path = "/";
  EXPECT_TRUE(head.segments()->empty());
  head.path = "/a/b/";
  EXPECT_EQ(*head.segments(), (std::vector<std::string>{"a", "b"}));
  for (const char* bad : {"/a//b", "/a//", "//", "/../b", "/a/%2e%2e/b", "/%2E", "/a%2fb", "/a%5cb", "/a%00",
                          "/a%", "/a%zz", "/a%0d%0ab"}) {
    head.path = bad;
    EXPECT_FALSE(head.segments().ok()) << bad;
  }
}

TEST(Head, ParametersAreDecodedAndGivenOnce) {
  RequestHead head;
  head.query = "a=1&b=x%20y+z&c&d=&=e";
  ASSERT_TRUE(head.parameters().ok());
  EXPECT_EQ(*head.parameters(), (std::vector<std::pair<std::string, std::string>>{
                                    {"a", "1"}, {"b", "x y z"}, {"c", ""}, {"d", ""}, {"", "e"}}));
  for (const char* bad : {"a=1&a=2", "a=%", "a=%00", "%61=1&a=2"}) {
    head.query = bad;
    EXPECT_FALSE(head.parameters().ok()) << bad;
  }
}

TEST(Event, LinesCannotForgeFields) {
  EXPECT_EQ(server_sent_event("7", "log", "a\nevent: b\r\nc"),
            "id: 7\nevent: log\ndata: a\ndata: event: b\ndata: c\n\n");
  EXPECT_EQ(server_sent_event("7\ndata: x", "", ""), "id: 7data: x\ndata: \n\n");
}

}  // namespace
}  // namespace radl::httpd
