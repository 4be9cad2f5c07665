// Calls of services by what a server answers, byte for byte.
#include "common/openstack/client.h"

#include <gtest/gtest.h>

#include "tests/support/scripted_server.h"

namespace radl::openstack {
namespace {

using Json = nlohmann::json;

std::string answer(int status, const Json& body, const std::string& headers = {}) {
  const std::string text = body.is_null() ? "" : body.dump();
  return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + headers +
         "Content-Length: " + std::to_string(text.size()) + "\r\nConnection: close\r\n\r\n" + text;
}

// Keystone and one service behind one address; `serve` answers what is not Keystone's.
class World {
 public:
  explicit World(std::function<std::string(const std::string&)> serve)
      : server_([this, serve](const std::string& request) {
          if (request.find("/v3/auth/tokens") == std::string::npos) return serve(request);
          ++tokens;
          const Json endpoint = {
              {"url", server_.url("/compute/v2.1")}, {"interface", "public"}, {"region_id", "R"}};
          const Json token = {{"expires_at", "2099-01-01T00:00:00Z"},
                              {"catalog", {{{"type", "compute"}, {"endpoints", {endpoint}}}}}};
          return answer(201, {{"token", token}}, "X-Subject-Token: token-" + std::to_string(tokens) + "\r\n");
        }) {
    Settings settings;
    settings.method = "password";
    settings.origin = "test";
    settings.auth = {{"auth_url", server_.url("/identity")}, {"username", "u"}, {"password", "hush"}};
    session.emplace(http, settings);
  }
  std::vector<std::string> requests() { return server_.requests(); }
  int tokens = 0;
  http::Client http{environment_of_process()};
  std::optional<Session> session;

 private:
  test::ScriptedServer server_;
};

TEST(OpenStackClient, ATokenThatIsRefusedIsRenewedOnce) {
  World world([](const std::string& request) {
    return request.find("token-1") != std::string::npos ? answer(401, nullptr)
                                                        : answer(200, {{"servers", Json::array()}});
  });
  Service service(*world.session, "compute");
  EXPECT_TRUE(service.call({.path = "/servers"}, {}).ok());
  EXPECT_EQ(world.tokens, 2);
}

TEST(OpenStackClient, AListIsReadOverAllItsPages) {
  World world([](const std::string& request) {
    if (request.find("marker=b") != std::string::npos) return answer(200, {{"servers", {{{"id", "c"}}}}});
    // The link names a host that only the service knows.
    const Json link = {{"rel", "next"}, {"href", "http://inside.example/v2.1/servers?limit=2&marker=b"}};
    return answer(200, {{"servers", {{{"id", "a"}}, {{"id", "b"}}}}, {"servers_links", {link}}});
  });
  Service service(*world.session, "compute");
  std::string ids;
  Status read = service.each("/servers", "servers", {}, {}, [&](const Json& item) { ids += item["id"]; });
  EXPECT_TRUE(read.ok()) << read.text();
  EXPECT_EQ(ids, "abc");
}

TEST(OpenStackClient, PagesThatGoRoundInACircleEnd) {
  World world([](const std::string&) {
    const Json link = {{"rel", "next"}, {"href", "/v2.1/servers?marker=a"}};
    return answer(200, {{"servers", {{{"id", "a"}}}}, {"servers_links", {link}}});
  });
  Service service(*world.session, "compute");
  Status read = service.each("/servers", "servers", {}, {}, [](const Json&) {});
  EXPECT_EQ(read.code(), Code::Corrupt);
}

TEST(OpenStackClient, WhatMayHaveActedIsUnknownAndNotSentAgain) {
  World world([](const std::string&) { return std::string(); });  // the connection ends without an answer
  Service service(*world.session, "compute");
  Call call{
      .method = "POST", .path = "/servers", .query = {}, .body = Json::object(), .effect = Effect::Once};
  Answer lost = service.call(call, {});
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.failure().kind, Failure::Kind::Unknown);
  EXPECT_EQ(lost.failure().status.code(), Code::Lost);
  int posts = 0;
  for (const std::string& request : world.requests())
    posts += request.starts_with("POST /compute/v2.1/servers");
  EXPECT_EQ(posts, 1);
}

TEST(OpenStackClient, QuotasAndPoliciesAreToldApart) {
  for (const auto& [status, message, code] :
       {std::tuple{403, "Quota exceeded for instances: Requested 1, but already used 10 of 10 instances",
                   Code::Quota},
        {403, "Policy doesn't allow os_compute_api:servers:create to be performed.", Code::Auth},
        {409, "Quota exceeded for resources: ['security_group'].", Code::Quota},
        {413, "VolumeLimitExceeded: Maximum number of volumes allowed (10) exceeded", Code::Quota},
        {404, "Instance x could not be found.", Code::NotFound},
        {409, "Security Group x in use.", Code::Conflict},
        {400, "Invalid input", Code::Invalid}}) {
    World world([status = status, message = message](const std::string&) {
      return answer(status, {{"forbidden", {{"code", status}, {"message", message}}}});
    });
    Service service(*world.session, "compute");
    Answer refused =
        service.call({.method = "DELETE", .path = "/servers/x", .effect = Effect::Repeatable}, {});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().status.code(), code) << message;
    EXPECT_EQ(refused.failure().kind, Failure::Kind::Refused);
    EXPECT_NE(refused.failure().status.message().find(message), std::string::npos);
  }
}

TEST(OpenStackClient, A413WithATimeAtWhichToComeAgainIsWaitedForAndIsNoQuota) {
  int asked = 0;
  World world([&](const std::string&) {
    const Json busy = {{"overLimit", {{"code", 413}, {"message", "This request was rate-limited."}}}};
    return ++asked == 1 ? test::http_answer(413, "Retry-After: 2\r\n", busy.dump())
                        : answer(200, Json::object());
  });
  Service service(*world.session, "compute");
  std::string told;
  http::Waits waits;
  waits.tell = [&](const std::string& line) { told = line; };
  Call call{
      .method = "POST", .path = "/servers", .query = {}, .body = Json::object(), .effect = Effect::Once};
  EXPECT_TRUE(service.call(call, waits).ok());
  EXPECT_EQ(asked, 2);
  EXPECT_NE(told.find("asks to wait 2 s"), std::string::npos) << told;
}

TEST(OpenStackClient, TheNewestVersionThatBothKnowIsAskedFor) {
  for (const auto& [newest, asked] : {std::pair{"2.60", "2.60"}, {"2.95", "2.90"}}) {
    std::string seen;
    World world([&, newest = newest](const std::string& request) {
      if (request.find("GET /compute/v2.1/ ") != std::string::npos)
        return answer(200, {{"version", {{"id", "v2.1"}, {"version", newest}}}});
      seen = request;
      return answer(200, {{"servers", Json::array()}});
    });
    Service service(*world.session, "compute", "2.90");
    EXPECT_TRUE(service.call({.path = "/servers"}, {}).ok());
    EXPECT_NE(seen.find(std::string("OpenStack-API-Version: compute ") + asked), std::string::npos) << seen;
    EXPECT_FALSE(*service.knows("2.96", {}));
    EXPECT_TRUE(*service.knows("2.9", {}));
  }
}

TEST(OpenStackClient, NoErrorHoldsASecret) {
  World world([](const std::string&) { return answer(500, {{"computeFault", {{"message", "broken"}}}}); });
  Service service(*world.session, "compute");
  Answer failed = service.call(
      {.method = "POST", .path = "/x", .query = {}, .body = Json::object(), .effect = Effect::Once}, {});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.failure().status.text().find("token-"), std::string::npos);
  EXPECT_EQ(failed.failure().status.text().find("hush"), std::string::npos);
}

}  // namespace
}  // namespace radl::openstack
