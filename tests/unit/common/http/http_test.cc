// The HTTP client against a server that misbehaves on purpose.
#include "common/http/http.h"
#include "common/http/proxy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>

#include "common/http/failed_transfer.h"
#include "common/http/rate.h"
#include "common/http/retry.h"
#include "tests/support/scripted_server.h"

namespace radl::http {
namespace {

using test::header_of;
using test::http_answer;
using test::ScriptedServer;

const Retries kQuick{4, 0.01, 0.05};

TEST(Http, GivesStatusHeadersAndBody) {
  ScriptedServer server([](const std::string&) { return http_answer(404, "X-Kind: Odd Value \r\n", "no"); });
  Client http{Environment()};
  auto r = http.send({.url = server.url("/a?token=secret")});
  ASSERT_TRUE(r.ok()) << r.status().text();
  EXPECT_EQ(r->status, 404);
  EXPECT_EQ(r->header("x-kind"), "Odd Value");
  EXPECT_EQ(r->body, "no");
  Status s = status_of(*r, "GET x");
  EXPECT_EQ(s.code(), Code::NotFound);
  EXPECT_EQ(s.message(), "GET x: HTTP status 404: no");
}

TEST(Http, SendsBodyAndHeaders) {
  ScriptedServer server([](const std::string&) { return http_answer(200, "", ""); });
  Client http{Environment()};
  ASSERT_TRUE(http.send({.method = "PUT",
                         .url = server.url("/k"),
                         .headers = {{"X-A", "1"}, {"X-Empty", ""}},
                         .body = "hello"})
                  .ok());
  auto seen = server.requests().at(0);
  EXPECT_EQ(seen.rfind("PUT /k HTTP/1.1", 0), 0u);
  EXPECT_EQ(header_of(seen, "X-A"), "1");
  EXPECT_NE(seen.find("X-Empty:"), std::string::npos);
  EXPECT_EQ(header_of(seen, "Expect"), "");
  EXPECT_TRUE(seen.ends_with("\r\n\r\nhello"));
  EXPECT_FALSE(http.send({.url = server.url("/"), .headers = {{"X-A", "1\r\nX-B: 2"}}}).ok());
}

TEST(Http, ASinkTakesNoMoreThanWasSaid) {
  const std::string body(100000, 'x');
  std::string declared = http_answer(200, "", body), open_end = "HTTP/1.0 200 OK\r\n\r\n" + body;
  for (const std::string& answer : {declared, open_end}) {
    ScriptedServer server([&](const std::string&) { return answer; });
    Client http{Environment()};
    size_t got = 0;
    Request request{.url = server.url("/list"), .largest_sunk = body.size()};
    request.sink = [&](std::string_view piece) {
      got += piece.size();
      return Status();
    };
    EXPECT_TRUE(http.send(request).ok());
    EXPECT_EQ(got, body.size());
    got = 0;
    request.largest_sunk = body.size() - 1;
    auto refused = http.send(request, kQuick);
    EXPECT_EQ(refused.status().code(), Code::Quota);
    EXPECT_NE(refused.status().message().find("/list: the answer has more than the 99999 bytes"),
              std::string::npos)
        << refused.status().text();
    EXPECT_LE(got, request.largest_sunk);
    if (answer == declared) {
      EXPECT_EQ(got, 0u);
    }
  }
}

TEST(Http, RepeatsPassingFaultsAndObeysTheLimit) {
  std::atomic<int> n{0};
  ScriptedServer server([&](const std::string&) {
    int k = n++;
    return k == 0   ? std::string()
           : k == 1 ? http_answer(503, "Retry-After: 0\r\n", "busy")
                    : http_answer(200, "", "fine");
  });
  Client http{Environment()};
  auto r = http.send({.url = server.url("/")}, kQuick);
  ASSERT_TRUE(r.ok()) << r.status().text();
  EXPECT_EQ(r->body, "fine");
  EXPECT_EQ(n, 3);

  ScriptedServer always([](const std::string&) { return http_answer(500, "", ""); });
  auto failed = http.send({.url = always.url("/")}, kQuick);
  ASSERT_TRUE(failed.ok());
  EXPECT_EQ(failed->status, 500);
  EXPECT_EQ(always.requests().size(), 4u);
}

TEST(Http, APostThatMayHaveActedIsNotRepeatedUnlessThatDoesNothing) {
  ScriptedServer server([](const std::string& r) {
    return r.rfind("POST /busy ", 0) == 0 ? http_answer(429, "", "later") : http_answer(503, "", "half done");
  });
  Client http{Environment()};
  auto once = http.send({.method = "POST", .url = server.url("/create"), .body = "x"}, kQuick);
  ASSERT_TRUE(once.ok()) << once.status().text();
  EXPECT_EQ(once->status, 503);
  EXPECT_EQ(server.requests().size(), 1u);
  auto with_token =
      http.send({.method = "POST", .url = server.url("/token"), .idempotent = true, .body = "x"}, kQuick);
  ASSERT_TRUE(with_token.ok());
  EXPECT_EQ(server.requests().size(), 1u + kQuick.attempts);
  auto turned_away = http.send({.method = "POST", .url = server.url("/busy"), .body = "x"}, kQuick);
  ASSERT_TRUE(turned_away.ok());
  EXPECT_EQ(server.requests().size(), 1u + 2 * kQuick.attempts);
}

TEST(Http, AServerThatIsAwayForLongIsNotWaitedFor) {
  ScriptedServer server([](const std::string&) { return http_answer(503, "Retry-After: 3600\r\n", ""); });
  Client http{Environment()};
  auto r = http.send({.url = server.url("/")}, kQuick);
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->status, 503);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(Retry, WaitsARandomPartOfALimitThatDoubles) {
  double low = 1e9, high = 0;
  for (int i = 0; i < 2000; ++i) {
    Backoff b({.attempts = 4, .first_seconds = 1, .largest_seconds = 3});
    const double first = b.next_wait(), second = b.next_wait(), third = b.next_wait();
    EXPECT_LE(first, 1);
    EXPECT_LE(second, 2);
    EXPECT_LE(third, 3);
    low = std::min(low, first), high = std::max(high, first);
  }
  EXPECT_LT(low, 0.05);  // full jitter: from 0
  EXPECT_GT(high, 0.95);
  Backoff asked({.first_seconds = 0.1});
  EXPECT_EQ(asked.next_wait(7.0), 7.0);
}

TEST(Retry, EndsByAttemptsCancellationAndDeadline) {
  Backoff b({.attempts = 3});
  EXPECT_TRUE(b.again());
  EXPECT_TRUE(b.again());
  EXPECT_FALSE(b.again());
  StopSource stop;
  stop.request();
  EXPECT_EQ(Backoff({.first_seconds = 100, .largest_seconds = 100}, stop.token()).wait().code(),
            Code::Cancelled);
  EXPECT_EQ(Backoff({.deadline_seconds = 5}).wait(10.0).code(), Code::Timeout);
}

TEST(Retry, AfterIsANumberOrADate) {
  EXPECT_EQ(parse_retry_after("120", 0), 120.0);
  EXPECT_EQ(parse_retry_after("Fri, 31 Dec 1999 23:59:59 GMT", 946684799 - 30), 30.0);
  EXPECT_EQ(parse_retry_after("Fri, 31 Dec 1999 23:59:59 GMT", 946684799 + 30), 0.0);
  EXPECT_FALSE(parse_retry_after("soon", 0).has_value());
  EXPECT_FALSE(parse_retry_after("", 0).has_value());
}

TEST(Http, ABrokenPostIsLostAndNotRepeated) {
  ScriptedServer server([](const std::string&) { return std::string(); });
  Client http{Environment()};
  auto r = http.send({.method = "POST", .url = server.url("/create?key=SECRET"), .body = "x"}, kQuick);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.status().code(), Code::Lost);
  EXPECT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(r.status().message().find("SECRET"), std::string::npos);
}

// libcurl repeats by itself what a connection that was kept open has not answered; a POST that may have acted
// must not go out twice that way either.
TEST(Http, APostOnAKeptConnectionThatDiesIsNotSentTwice) {
  ScriptedServer server(
      [](const std::string& r) {
        return r.rfind("GET", 0) == 0 ? std::string("HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\nok")
                                      : std::string();
      },
      true);
  Client http{Environment()};
  ASSERT_TRUE(http.send({.url = server.url("/")}).ok());
  auto r = http.send({.method = "POST", .url = server.url("/create"), .body = "x"}, kQuick);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.status().code(), Code::Lost);
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST(Http, APostThatIsStoppedAfterItWentOutIsLost) {
  StopSource stop;
  ScriptedServer server([&](const std::string&) {
    stop.request();
    ::usleep(1'500'000);
    return http_answer(200, "", "made");
  });
  Client http{Environment()};
  auto r = http.send({.method = "POST", .url = server.url("/create"), .body = "x", .stop = stop.token()});
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.status().code(), Code::Lost);
}

TEST(Http, SigningThatFailsSendsNothing) {
  ScriptedServer server([](const std::string&) { return http_answer(200, "", ""); });
  Client http{Environment()};
  auto r = http.send(
      {.url = server.url("/"), .signing = [] { return Result<Headers>(Status(Code::Auth, "no keys")); }},
      kQuick);
  EXPECT_EQ(r.status().code(), Code::Auth);
  EXPECT_TRUE(server.requests().empty());
}

TEST(Http, WhatTheServerThrottlesIsRepeatedAndSlowsDownTheSharedRate) {
  std::atomic<int> n{0};
  ScriptedServer server([&](const std::string&) {
    return n++ == 0 ? http_answer(503, "", "<Code>RequestLimitExceeded</Code>")
                    : http_answer(200, "", "made");
  });
  Client http{Environment()};
  auto rate = std::make_shared<Rate>();
  Request create{.method = "POST", .url = server.url("/create"), .body = "x", .rate = rate};
  create.throttled = [](const Response& r) {
    return r.body.find("RequestLimitExceeded") != std::string::npos;
  };
  auto r = http.send(create, kQuick);
  ASSERT_TRUE(r.ok()) << r.status().text();
  EXPECT_EQ(r->body, "made");
  EXPECT_GT(rate->per_second(), 0);
}

TEST(Http, AnUnreachablePortIsRetryAndOtherSchemesAreRefused) {
  int port;
  {
    port = ScriptedServer([](const std::string&) { return std::string(); }).port();
  }
  Client http{Environment()};
  auto r = http.send({.method = "POST", .url = "http://user:pw@127.0.0.1:" + std::to_string(port) + "/"});
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.status().code(), Code::Retry);
  EXPECT_EQ(r.status().message().find("pw"), std::string::npos);
  EXPECT_EQ(http.send({.url = "file:///etc/passwd"}).status().code(), Code::Invalid);
}

TEST(Http, AProxyThatFailsIsNamedWithoutItsPassword) {
  {
    Client http{Environment(Environment::Variables{{"https_proxy", "http://me:sesame@127.0.0.1:1"}})};
    const Status status = http.send({.url = "https://ec2.example.com/"}).status();
    EXPECT_EQ(status.code(), Code::Retry);
    EXPECT_NE(status.message().find("cannot connect (through the proxy 127.0.0.1:1)"), std::string::npos)
        << status.text();
    EXPECT_NE(status.text().find("HTTPS_PROXY"), std::string::npos) << status.text();
    EXPECT_EQ(status.text().find("sesame"), std::string::npos) << status.text();
  }
  ScriptedServer refusing([](const std::string&) { return http_answer(407, "", ""); });
  const Environment proxy(Environment::Variables{
      {"https_proxy", "http://me:sesame@127.0.0.1:" + std::to_string(refusing.port())}});
  const Status status = Client(proxy).send({.url = "https://ec2.example.com/"}).status();
  EXPECT_EQ(status.code(), Code::Auth) << status.text();
  EXPECT_NE(status.message().find("the proxy does not lead there"), std::string::npos) << status.text();
  EXPECT_EQ(status.text().find("sesame"), std::string::npos) << status.text();
  Client direct(proxy.with("no_proxy", "ec2.example.com,127.0.0.1"));
  ScriptedServer server([](const std::string&) { return http_answer(200, "", "direct"); });
  EXPECT_EQ(direct.send({.url = server.url("/")})->body, "direct");
}

TEST(Http, EachClientGoesThroughTheProxyOfItsOwnUser) {
  ScriptedServer server([](const std::string&) { return http_answer(200, "", "direct"); });
  ScriptedServer proxy([](const std::string&) { return http_answer(200, "", "through the proxy"); });
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);  // of the process: nobody's
  Client ana{Environment(Environment::Variables{{"http_proxy", proxy.url("")}})}, ben{Environment()};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ana.send({.url = server.url("/")})->body, "through the proxy");
    EXPECT_EQ(ben.send({.url = server.url("/")})->body, "direct");
  }
  ::unsetenv("http_proxy");
}

TEST(Http, AnEntryOfNoProxyMayHaveAPort) {
  for (const auto& [url, entry, direct] : {std::tuple("http://s3.lan:9000/x", "s3.lan:9000", true),
                                           {"http://s3.lan:9001/x", "s3.lan:9000", false},
                                           {"https://S3.lan/x", "other,s3.LAN:443", true},
                                           {"http://s3.lan/x", "s3.lan:443", false},
                                           {"http://a.s3.lan:80/", ".s3.lan:80", true},
                                           {"http://as3.lan:80/", "s3.lan:80", false},
                                           {"http://a.s3.lan:80/", "x, *.s3.lan:80", true},
                                           {"http://[::1]:9000/", "[::1]:9000", true},
                                           {"http://[::1]:9000/", "::1", false},
                                           {"http://s3.lan:9000/x", "s3.lan:90", false}})
    EXPECT_EQ(needs_no_proxy(url, entry), direct) << url << " " << entry;
  ScriptedServer server([](const std::string&) { return http_answer(200, "", "direct"); });
  const Environment proxy(Environment::Variables{{"http_proxy", "http://127.0.0.1:1"}});
  Client named(proxy.with("no_proxy", "127.0.0.1:" + std::to_string(server.port())));
  EXPECT_EQ(named.send({.url = server.url("/")})->body, "direct");
  Client other(proxy.with("no_proxy", "127.0.0.1:1"));
  EXPECT_EQ(other.send({.url = server.url("/")}).status().code(), Code::Retry) << "through the proxy";
}

TEST(Http, WhatIsNoHttpIsSaidToBeNone) {
  Client http{Environment()};
  for (const char* greeting : {"SSH-2.0-OpenSSH_9.2\r\n", "220 mail ESMTP\r\n", "HTTP/what\r\n\r\n"}) {
    ScriptedServer server([&](const std::string&) { return std::string(greeting); });
    const Status asked = http.send({.url = server.url("/")}).status();
    EXPECT_EQ(asked.code(), Code::Retry) << greeting << asked.text();
    EXPECT_NE(asked.message().find("the answer is no HTTP"), std::string::npos) << greeting << asked.text();
    EXPECT_EQ(http.send({.method = "POST", .url = server.url("/"), .body = "x"}).status().code(), Code::Lost);
  }
}

TEST(Http, WhatSpeaksNoTlsAndCertificatesThatAreNotThereAreSaidToBeSo) {
  const Request request{.url = "https://127.0.0.1:1/"};
  const Status plain = failed_transfer(CURLE_SSL_CONNECT_ERROR, request, "", false,
                                       "OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number");
  EXPECT_NE(plain.message().find("the server does not speak TLS"), std::string::npos) << plain.text();
  ScriptedServer server([](const std::string&) { return http_answer(200, "", "x"); });
  Request trusting{.url = server.url("/").replace(0, 4, "https")};
  trusting.ca_file = "/none/of/these.pem";
  const Status lacking = Client(Environment()).send(trusting).status();
  EXPECT_NE(lacking.message().find("cannot be loaded"), std::string::npos) << lacking.text();
  EXPECT_NE(lacking.message().find("/none/of/these.pem"), std::string::npos) << lacking.text();
  const Status proxy =
      failed_transfer(CURLE_COULDNT_CONNECT, request, "", false, "Unsupported proxy scheme for \'x://y\'");
  EXPECT_NE(proxy.message().find("no proxies of that kind"), std::string::npos) << proxy.text();
}

TEST(Http, WhatIsSignedForOneHostIsNotSentToAnother) {
  ScriptedServer other([](const std::string&) { return http_answer(200, "", "other"); });
  ScriptedServer server(
      [&](const std::string&) { return http_answer(307, "Location: " + other.url("/") + "\r\n", ""); });
  Client http{Environment()};
  Request request{.url = server.url("/")};
  EXPECT_EQ(http.send(request)->body, "other");
  request.signing = [] { return Result<Headers>(Headers{{"X-Amz-Security-Token", "token"}}); };
  EXPECT_EQ(http.send(request)->status, 307);
  EXPECT_EQ(other.requests().size(), 1u);
}

TEST(Http, StopsAnAnswerThatIsTooLargeOrStalls) {
  ScriptedServer big([](const std::string&) { return http_answer(200, "", std::string(5000, 'x')); });
  Client http{Environment()};
  EXPECT_EQ(http.send({.url = big.url("/"), .largest_answer = 1000}).status().code(), Code::Quota);
  StopSource stop;
  stop.request();
  EXPECT_EQ(http.send({.url = big.url("/"), .stop = stop.token()}).status().code(), Code::Cancelled);
}

}  // namespace
}  // namespace radl::http
