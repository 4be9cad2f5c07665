// What holds the server's clients together: the shared budget, the time that a connection has, the images
// of a body.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "common/digest.h"
#include "common/http_server/connections.h"
#include "engine/serve/budget.h"
#include "engine/serve/request_body.h"

namespace radl::engine::serve {
namespace {

using httpd::ConnectionLimits;
using httpd::Connections;

SteadyClock::time_point soon() { return SteadyClock::now() + std::chrono::milliseconds(20); }
SteadyClock::time_point late() { return SteadyClock::now() + std::chrono::minutes(5); }

TEST(Budget, IsNeverExceededAndGivenBack) {
  Budget budget(100);
  {
    auto a = budget.try_take(60);
    ASSERT_TRUE(a);
    EXPECT_FALSE(budget.try_take(41));
    EXPECT_FALSE(a->grow(41));
    EXPECT_TRUE(a->grow(40));
    EXPECT_FALSE(budget.try_take(1));
    Budget::Charge moved = std::move(*a);
    a.reset();  // what was moved from gives nothing back
    EXPECT_FALSE(budget.try_take(1));
  }
  EXPECT_TRUE(budget.try_take(100));
  EXPECT_FALSE(budget.try_take(UINT64_MAX));
  EXPECT_FALSE(Budget::Charge().grow(1));
}

TEST(Budget, WaitsForRoomUntilTheDeadline) {
  Budget budget(100);
  auto first = budget.try_take(80);
  EXPECT_FALSE(budget.take(101, late())) << "can never fit";
  EXPECT_FALSE(budget.take(30, soon()));
  auto waiting = std::async(std::launch::async, [&] { return budget.take(30, late()).has_value(); });
  first.reset();
  EXPECT_TRUE(waiting.get());
}

// A large demand is not passed by small ones for ever; when it gives up, they go on.
TEST(Budget, GoesInTheOrderOfAsking) {
  Budget budget(100);
  auto first = budget.try_take(50);
  std::promise<void> asked;
  auto large = std::async(std::launch::async, [&] {
    asked.set_value();
    return budget.take(100, soon()).has_value();
  });
  asked.get_future().wait();
  EXPECT_TRUE(budget.take(10, late())) << "once the large one has given up, at the latest";
  EXPECT_FALSE(large.get());
}

TEST(Budget, ClosingEndsAllWaiting) {
  Budget budget(10);
  auto all = budget.try_take(10);
  std::vector<std::future<bool>> waiting;
  for (int i = 0; i < 3; ++i)
    waiting.push_back(std::async(std::launch::async, [&] { return budget.take(1, late()).has_value(); }));
  budget.close();
  for (auto& w : waiting) EXPECT_FALSE(w.get());
}

// A connection's two ends.
struct Pair {
  int server = -1, client = -1;
  Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    server = ends[0], client = ends[1];
  }
  Pair(const Pair&) = delete;
  ~Pair() { ::close(server), ::close(client); }
  bool cut_off() const {  // waits for it
    char byte;
    return ::recv(client, &byte, 1, 0) == 0;
  }
  bool open() const {
    char byte;
    return ::recv(client, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }
};

TEST(Connections, EachPhaseHasItsTime) {
  using Phase = Connections::Phase;
  for (const Phase phase : {Phase::Header, Phase::Idle, Phase::Body, Phase::Answering}) {
    ConnectionLimits limits{
        .most = 10, .header_seconds = 300, .idle_seconds = 300, .body_seconds = 300, .answer_seconds = 300};
    (phase == Phase::Header ? limits.header_seconds
     : phase == Phase::Idle ? limits.idle_seconds
     : phase == Phase::Body ? limits.body_seconds
                            : limits.answer_seconds) = 0.02;
    Connections connections(limits);
    Pair slow, working;
    auto* w = connections.opened(working.server);
    connections.set_phase(w, Phase::Working);
    auto* s = connections.opened(slow.server);
    connections.set_phase(s, phase);
    EXPECT_TRUE(slow.cut_off()) << static_cast<int>(phase);
    EXPECT_TRUE(working.open());
    connections.closed(s), connections.closed(w);
  }
}

TEST(Connections, ANewOneFindsRoom) {
  using Phase = Connections::Phase;
  Connections connections({.most = 3});
  Pair working, body, header, answering, first, second, third;
  std::vector<Connections::Connection*> all;
  const auto open = [&](const Pair& pair, Phase phase) {
    all.push_back(connections.opened(pair.server));
    if (phase != Phase::Header) connections.set_phase(all.back(), phase);
  };
  open(working, Phase::Working), open(body, Phase::Body), open(header, Phase::Header),
      open(answering, Phase::Answering);
  for (const Pair* pair : {&working, &body, &header, &answering}) EXPECT_TRUE(pair->open());
  open(first, Phase::Answering);
  EXPECT_TRUE(header.cut_off()) << "who has asked for nothing goes first";
  EXPECT_TRUE(body.open());
  open(second, Phase::Answering);
  EXPECT_TRUE(body.cut_off());
  EXPECT_TRUE(answering.open());
  open(third, Phase::Answering);
  EXPECT_TRUE(answering.cut_off());
  for (const Pair* pair : {&working, &first, &second, &third}) EXPECT_TRUE(pair->open());
  for (auto* c : all) connections.closed(c);
}

TEST(RequestBody, FindsImagesAndNothingElse) {
  const std::string a = base64_encode("one"), b = base64_encode("two");
  const auto found = [](const std::string& body) {
    auto images = images_in(body, 3);
    return images.ok() ? *images : std::vector<std::string>{images.status().message()};
  };
  using List = std::vector<std::string>;
  EXPECT_EQ(found("raw bytes"), List{"raw bytes"});
  EXPECT_EQ(found(R"( {"image":")" + a + "\"}"), List{"one"});
  EXPECT_EQ(found(R"({"images":[")" + a + "\",\"" + b + "\"]}"), (List{"one", "two"}));
  EXPECT_EQ(found(R"({"x":{"image":"no","images":["no"]},"y":[{"images":[1]}],"images":[")" + b + "\"]}"),
            List{"two"});
  EXPECT_EQ(found(R"({"images":[")" + a + R"("],"image":")" + b + "\"}"), List{"two"});
  EXPECT_EQ(found(R"({"images":[")" + a + R"(",["deep"]]})"), List{"image 1: not base64"});
  EXPECT_EQ(found(R"({"images":[[["deep"]],")" + a + R"("]})"), List{"image 0: not base64"});
  EXPECT_EQ(found(R"({"image":{"image":")" + a + "\"}}"), List{"image 0: not base64"});
  EXPECT_EQ(found(R"({"images":[null]})"), List{"image 0: not base64"});
  EXPECT_EQ(found(R"({"images":["a b"]})"), List{"image 0: not base64"});
  EXPECT_EQ(found(R"({"images":["","","",""]})"), List{"4 images in one request, at most 3 are taken"});
  const List none{"JSON needs \"image\" or \"images\": images as base64"};
  for (const char* text : {"{}", R"({"images":[]})", R"({"images":5})", R"({"images":{"images":["x"]}})"})
    EXPECT_EQ(found(text), none) << text;
  for (const char* text : {"{", "{\"images\":[", "{} x", "{\"image\":\"\xff\"}"})
    EXPECT_EQ(found(text), List{"the body is not JSON"}) << text;
  EXPECT_EQ(found(" \n"), List{"the body is empty: send a PNG, a JPEG, or JSON"});
}

}  // namespace
}  // namespace radl::engine::serve
