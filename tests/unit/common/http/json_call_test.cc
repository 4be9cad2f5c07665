// How clients handle an overloaded service that asks them to retry later.
#include "common/http/json_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/scripted_server.h"

namespace radl::http {
namespace {

using std::chrono::steady_clock;

std::string busy(int status, const char* seconds) {
  return "HTTP/1.1 " + std::to_string(status) + " Busy\r\nRetry-After: " + seconds +
         "\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
}

std::string good() { return "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\n{\"a\":1}"; }

JsonCall call_of(const std::string& url) {
  JsonCall call;
  call.what = "the service";
  call.request = json_request("GET", url, nullptr);
  call.retries = json_retries();
  call.token = [] { return Result<std::pair<std::string, std::string>>({"X-Token", "t"}); };
  call.refusal = [](const Response& response) {
    Failure failure;
    failure.http_status = response.status;
    failure.status = Status(Code::Retry, "refused");
    return failure;
  };
  return call;
}

TEST(JsonCall, AWaitThatTheServiceAsksForIsKeptAndTold) {
  for (int status : {429, 503}) {
    std::atomic<int> asked{0};
    test::ScriptedServer server(
        [&](const std::string&) { return asked++ == 0 ? busy(status, "2") : good(); });
    std::vector<std::string> lines;
    Client http{Environment()};
    const auto begin = steady_clock::now();
    Answer answer = call_json(http, call_of(server.url("/")),
                              {Stop(), [&](const std::string& line) { lines.push_back(line); }});
    ASSERT_TRUE(answer.ok()) << answer.failure().status.text();
    EXPECT_GE(steady_clock::now() - begin, std::chrono::seconds(2));
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find("has too much to do and asks to wait 2 s"), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find("127.0.0.1:"), std::string::npos) << lines[0];
  }
}

TEST(JsonCall, WhoeverStopsDoesNotWaitForTheService) {
  test::ScriptedServer server([](const std::string&) { return busy(429, "60"); });
  Client http{Environment()};
  StopSource source;
  std::thread stops([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    source.request();
  });
  const auto begin = steady_clock::now();
  Answer answer = call_json(http, call_of(server.url("/")), source.token());
  stops.join();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.failure().status.code(), Code::Cancelled);
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(JsonCall, ALongWaitAndOneForWhichNoTimeIsLeftAreTheCallers) {
  for (const auto& [seconds, stop] :
       {std::pair{"600", Stop()}, {"60", Stop().within(std::chrono::seconds(30))}}) {
    std::atomic<int> asked{0};
    test::ScriptedServer server([&, after = seconds](const std::string&) {
      ++asked;
      return busy(429, after);
    });
    Client http{Environment()};
    Answer answer = call_json(http, call_of(server.url("/")), stop);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.failure().retry_after, std::stod(seconds));
    EXPECT_EQ(asked, 1);
  }
}

}  // namespace
}  // namespace radl::http
