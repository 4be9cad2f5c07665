// The Query protocol: what is sent, and what a caller learns of each way in which a call can go wrong.
#include "common/aws/query.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/aws/services.h"
#include "tests/support/scripted_server.h"
#include "tests/unit/common/aws/aws_files.h"

namespace radl::aws {
namespace {

using test::header_of;
using test::http_answer;
using test::ScriptedServer;
using Kind = Failure::Kind;

std::string error_answer(int status, const std::string& code, const std::string& headers = "") {
  return http_answer(status, headers,
                     "<?xml version=\"1.0\"?><Response><Errors><Error><Code>" + code +
                         "</Code><Message>the reason</Message></Error></Errors>"
                         "<RequestID>req-1</RequestID></Response>");
}

const std::string kMade =
    http_answer(200, "",
                "<RunInstancesResponse "
                "xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><id>i-1</id></RunInstancesResponse>");

struct Client {
  explicit Client(ScriptedServer::Answer answer, std::shared_ptr<CredentialSource> keys = nullptr)
      : server(std::move(answer)),
        query(http, keys ? keys : fixed_credentials({"AKID", "SECRETKEY", "TOKENTEXT", {}, "test"}),
              QueryService{.name = "ec2",
                           .version = "2016-11-15",
                           .region = "eu-west-1",
                           .endpoint = server.url("/"),
                           .attempts = 3,
                           .first_wait_seconds = 0.01,
                           .stall_seconds = 1,
                           .note = [this](const std::string& line) { notes.push_back(line); }}) {}
  Answer run(Effect effect = Effect::Once, const Stop& stop = {}) {
    return query.call("RunInstances", {{"ImageId", "ami-1"}, {"UserData", "VALUE+/="}},
                      {.effect = effect, .stop = stop});
  }
  size_t asked() { return server.requests().size(); }

  http::Client http{environment_of_process()};
  ScriptedServer server;
  std::vector<std::string> notes;
  QueryClient query;
};

TEST(Query, SendsASignedFormAndGivesTheDocument) {
  Client c([](const std::string&) { return kMade; });
  Answer answer = c.run();
  ASSERT_TRUE(answer.ok()) << answer.failure().status.text();
  EXPECT_EQ(answer.field("id"), "i-1");
  const std::string asked = c.server.requests().at(0);
  EXPECT_TRUE(
      asked.ends_with("\r\n\r\nAction=RunInstances&Version=2016-11-15&ImageId=ami-1&UserData=VALUE%2B%2F%3D"))
      << asked;
  EXPECT_EQ(asked.rfind("POST / HTTP/1.1\r\n", 0), 0u);
  EXPECT_NE(header_of(asked, "Authorization")
                .find("/eu-west-1/ec2/aws4_request, SignedHeaders=content-type;host;"
                      "x-amz-date;x-amz-security-token"),
            std::string::npos)
      << asked;
  EXPECT_EQ(header_of(asked, "X-Amz-Security-Token"), "TOKENTEXT");
  EXPECT_EQ(header_of(asked, "User-Agent"), "radlc (ec2; RunInstances)");
}

TEST(Query, ARefusalIsFinalAndNamesAwssCode) {
  Client c([](const std::string&) { return error_answer(403, "UnauthorizedOperation"); });
  Answer answer = c.run();
  ASSERT_FALSE(answer.ok());
  const Failure& f = answer.failure();
  EXPECT_EQ(f.kind, Kind::Refused);
  EXPECT_EQ(f.reason, "UnauthorizedOperation");
  EXPECT_EQ(f.request_id, "req-1");
  EXPECT_EQ(f.http_status, 403);
  EXPECT_EQ(f.status.code(), Code::Auth);
  EXPECT_NE(f.status.message().find("ec2 RunInstances"), std::string::npos);
  EXPECT_NE(f.status.message().find("the reason"), std::string::npos);
  for (const char* secret : {"SECRETKEY", "TOKENTEXT", "VALUE"})
    EXPECT_EQ(f.status.text().find(secret), std::string::npos);
  EXPECT_EQ(c.asked(), 1u);
}

TEST(Query, CapacityIsARefusalAlthoughItComesWithStatus500) {
  for (const char* code :
       {"InsufficientInstanceCapacity", "InsufficientHostCapacity", "UnfulfillableCapacity"}) {
    Client c([&](const std::string&) { return error_answer(500, code); });
    Answer answer = c.run();
    EXPECT_EQ(answer.failure().kind, Kind::Refused) << code;
    EXPECT_EQ(answer.failure().status.code(), Code::Quota) << code;
    EXPECT_EQ(c.asked(), 1u) << code;
  }
}

TEST(Query, ThrottlingIsRepeatedAlsoForWhatActsOnce) {
  std::atomic<int> n{0};
  Client c([&](const std::string&) { return n++ < 2 ? error_answer(503, "RequestLimitExceeded") : kMade; });
  EXPECT_TRUE(c.run().ok());
  EXPECT_EQ(n, 3);
  Client always([](const std::string&) { return error_answer(400, "Throttling"); });
  Answer answer = always.run();
  EXPECT_EQ(answer.failure().kind, Kind::Throttled);
  EXPECT_EQ(answer.failure().status.code(), Code::Retry);
  EXPECT_EQ(always.asked(), 3u);
}

TEST(Query, WhatMayHaveActedIsNeverSentTwiceAndIsUnknown) {
  struct Case {
    const char* what;
    std::string answer;
  };
  const Case cases[] = {
      {"connection closed", ""},
      {"cut off in its headers", "HTTP/1.1 200 OK\r\nContent-Le"},
      {"cut off in its body", kMade.substr(0, kMade.size() - 20)},
      {"cut off, of unknown length",
       "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<RunInstancesResponse><id>i-1"},
      {"no XML", http_answer(200, "", "it works")},
      {"empty", http_answer(200, "", "")},
      {"of another action", http_answer(200, "", "<DescribeInstancesResponse/>")},
      {"internal error", error_answer(500, "InternalError")},
      {"unavailable", error_answer(503, "Unavailable")},
      {"a gateway's", http_answer(502, "", "<html>bad gateway</html>")},
      {"redirected", http_answer(302, "Location: http://127.0.0.1:1/\r\n", "")},
  };
  for (const Case& c : cases) {
    Client client([&](const std::string&) { return c.answer; });
    Answer answer = client.run();
    ASSERT_FALSE(answer.ok()) << c.what;
    EXPECT_EQ(answer.failure().kind, Kind::Unknown) << c.what;
    EXPECT_EQ(answer.failure().status.code(), Code::Lost) << c.what << ": " << answer.failure().status.text();
    EXPECT_EQ(client.asked(), 1u) << c.what;
  }
  Client silent([](const std::string&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3500));
    return kMade;
  });
  EXPECT_EQ(silent.run().failure().kind, Kind::Unknown);
  EXPECT_EQ(silent.asked(), 1u);
}

TEST(Query, WhatOnlyReadsIsRepeatedAfterAllOfThat) {
  for (const std::string& first :
       {std::string(), http_answer(200, "", "<RunInst"), error_answer(500, "InternalError"),
        error_answer(503, "RequestLimitExceeded"), http_answer(502, "", "")}) {
    std::atomic<int> n{0};
    Client c([&](const std::string&) { return n++ == 0 ? first : kMade; });
    Answer answer = c.run(Effect::Reads);
    EXPECT_TRUE(answer.ok()) << first << answer.failure().status.text();
    EXPECT_EQ(n, 2) << first;
  }
}

TEST(Query, ARedirectionSaysWhereToAndIsNotAskedForAgain) {
  Client c(
      [](const std::string&) { return http_answer(301, "Location: https://me:pw@other/?key=x\r\n", ""); });
  const Answer answer = c.run(Effect::Reads);
  ASSERT_FALSE(answer.ok());
  const std::string text = answer.failure().status.text();
  EXPECT_NE(text.find("the server redirects to https://other/ (HTTP status 301)"), std::string::npos) << text;
  EXPECT_NE(text.find("endpoint"), std::string::npos) << text;
  EXPECT_EQ(c.asked(), 1u);
}

TEST(Query, ARefusalThatNamesNothingIsAskedForAgainWhereThatDoesNoHarm) {
  std::atomic<int> n{0};
  Client c([&](const std::string&) { return n++ == 0 ? http_answer(400, "", "<html>damaged") : kMade; });
  EXPECT_TRUE(c.run(Effect::Repeatable).ok());
  EXPECT_EQ(n, 2);
  n = 0;
  Answer once = c.run();
  EXPECT_EQ(once.failure().kind, Kind::Refused);
  EXPECT_NE(once.failure().status.message().find("not XML from AWS"), std::string::npos);
  EXPECT_EQ(n, 1);
}

TEST(Query, WhatDidNotGoOutSaysSo) {
  int port;
  {
    ScriptedServer gone([](const std::string&) { return std::string(); });
    port = gone.port();
  }
  http::Client http{environment_of_process()};
  QueryClient query(http, fixed_credentials({"A", "B", "", {}, ""}),
                    {.name = "ec2",
                     .version = "1",
                     .region = "r",
                     .endpoint = "http://127.0.0.1:" + std::to_string(port),
                     .attempts = 1});
  EXPECT_EQ(query.call("RunInstances", {}).failure().kind, Kind::NotSent);

  Client no_keys([](const std::string&) { return kMade; }, renewed_credentials([](const Stop&) {
                   return Result<Credentials>(Status(Code::Auth, "log in"));
                 }));
  EXPECT_EQ(no_keys.run().failure().kind, Kind::NotSent);
  EXPECT_EQ(no_keys.run().failure().status.code(), Code::Auth);
  EXPECT_EQ(no_keys.asked(), 0u);

  StopSource stop;
  stop.request();
  Client stopped([](const std::string&) { return kMade; });
  Answer answer = stopped.run(Effect::Once, stop.token());
  EXPECT_EQ(answer.failure().kind, Kind::NotSent);
  EXPECT_EQ(answer.failure().status.code(), Code::Cancelled);
}

TEST(Query, AClockThatIsWrongIsCorrectedOnceAndKept) {
  const std::time_t ahead = std::time(nullptr) + 3600;
  std::tm utc{};
  gmtime_r(&ahead, &utc);
  char date[64], hour[16];
  std::strftime(date, sizeof date, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
  std::strftime(hour, sizeof hour, "%Y%m%dT%H", &utc);
  Client c([&](const std::string& request) {
    return header_of(request, "X-Amz-Date").starts_with(hour) ? kMade
                                                              : error_answer(400, "RequestExpired", date);
  });
  EXPECT_TRUE(c.run().ok());
  EXPECT_EQ(c.asked(), 2u);
  ASSERT_EQ(c.notes.size(), 1u);
  EXPECT_NE(c.notes[0].find("clock is 3600 s behind"), std::string::npos) << c.notes[0];
  EXPECT_TRUE(c.run().ok());
  EXPECT_EQ(c.asked(), 3u);
  // With the right time it is the key that is wrong.
  Client wrong_key([](const std::string&) { return error_answer(403, "SignatureDoesNotMatch"); });
  EXPECT_EQ(wrong_key.run().failure().status.code(), Code::Auth);
  EXPECT_EQ(wrong_key.asked(), 1u);
}

TEST(Query, ExpiredCredentialsAreRenewedOnce) {
  int n = 0;
  auto keys = renewed_credentials([&](const Stop&) {
    return Result<Credentials>(Credentials{"K" + std::to_string(++n), "s", "t", std::nullopt, "SSO of x"});
  });
  Client c(
      [](const std::string& request) {
        return header_of(request, "Authorization").find("Credential=K2/") != std::string::npos
                   ? kMade
                   : error_answer(400, "ExpiredToken");
      },
      keys);
  EXPECT_TRUE(c.run().ok());
  EXPECT_EQ(c.asked(), 2u);
  Client never([](const std::string&) { return error_answer(400, "ExpiredToken"); }, keys);
  EXPECT_EQ(never.run().failure().status.code(), Code::Auth);
  EXPECT_EQ(never.asked(), 2u);
}

TEST(Query, AStopWhileItWaitsForAnAnswerLeavesItUnknown) {
  StopSource stop;
  Client c([&](const std::string&) {
    stop.request();
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return kMade;
  });
  EXPECT_EQ(c.run(Effect::Once, stop.token()).failure().kind, Kind::Unknown);
}

TEST(Query, ErrorsInBothForms) {
  auto iam = parse_error(
      "<ErrorResponse xmlns=\"https://iam.amazonaws.com/doc/2010-05-08/\"><Error><Type>Sender</Type>"
      "<Code>NoSuchEntity</Code><Message>no\nrole</Message></Error><RequestId>r</RequestId></ErrorResponse>");
  EXPECT_EQ(iam.code, "NoSuchEntity");
  EXPECT_EQ(iam.message, "no role");
  EXPECT_EQ(iam.request_id, "r");
  EXPECT_EQ(parse_error("<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>You are not "
                        "authorized. Encoded authorization failure message: abcdef</Message></Error></Errors>"
                        "</Response>")
                .message,
            "You are not authorized.");
  EXPECT_EQ(code_of_error("InvalidGroup.NotFound", 400), Code::NotFound);
  EXPECT_EQ(code_of_error("VcpuLimitExceeded", 400), Code::Quota);
  EXPECT_EQ(code_of_error("RequestLimitExceeded", 503), Code::Retry);
  EXPECT_EQ(code_of_error("DependencyViolation", 400), Code::Conflict);
  EXPECT_EQ(code_of_error("InvalidParameterValue", 400), Code::Invalid);
  EXPECT_EQ(parse_error("<html>").code, "");
}

TEST(Query, TheIdentityIsStss) {
  test::AwsFiles files;
  ScriptedServer sts([](const std::string&) {
    return http_answer(200, "",
                       "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
                       "<GetCallerIdentityResult><Arn>arn:aws:iam::123:user/u</Arn><UserId>AIDA</UserId>"
                       "<Account>123</Account></GetCallerIdentityResult></GetCallerIdentityResponse>");
  });
  files.variables["AWS_ENDPOINT_URL"] = sts.url("");
  auto service = query_service(**files.load(), "sts", "eu-west-1");
  ASSERT_TRUE(service.ok());
  http::Client http{environment_of_process()};
  QueryClient client(http, fixed_credentials({"A", "B", "", {}, ""}), *service);
  auto who = caller_identity(client, {});
  ASSERT_TRUE(who.ok()) << who.status().text();
  EXPECT_EQ(who->account, "123");
  EXPECT_EQ(who->arn, "arn:aws:iam::123:user/u");
}

}  // namespace
}  // namespace radl::aws
