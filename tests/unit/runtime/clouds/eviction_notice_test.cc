// What each cloud declares of its spot machines, read by the engine that asks on the machine: the answers are
// those that the clouds' own documentation shows.
#include <gtest/gtest.h>

#include "engine/train/job.h"
#include "engine/train/notice.h"
#include "runtime/clouds/azure/machine.h"
#include "runtime/clouds/ec2/instance.h"
#include "runtime/clouds/gce/instance.h"
#include "tests/support/scripted_server.h"

namespace radl {
namespace {

using test::header_of;
using test::http_answer;

// As a job file that radlc writes says it, at another server.
NoticeSpec spec_of(const Json& notice, const std::string& server = {}) {
  const Json file = {{"job", 1}, {"dataset", {{"directory", "d"}}}, {"interruption", notice}};
  auto job = engine::parse_job(file.dump(), "job.json");
  EXPECT_TRUE(job.ok()) << job.status().text();
  if (!job.ok()) return {};
  auto again = engine::parse_job(engine::write_job(*job), "job.json");
  EXPECT_EQ(Json::parse(engine::write_job(*again))["interruption"],
            Json::parse(engine::write_job(*job))["interruption"]);
  NoticeSpec spec = again->interruption;
  for (std::string* url : {&spec.url, &spec.session_url}) {
    const std::string real = "http://169.254.169.254";
    EXPECT_TRUE(url->empty() || url->starts_with(real)) << *url;
    if (!server.empty() && !url->empty()) *url = server + url->substr(real.size());
  }
  return spec;
}

std::string first_line(const std::string& request) { return request.substr(0, request.find("\r\n")); }

// "ACTION at TIME", "none", or what is wrong.
std::string said(const Result<std::optional<EvictionNotice>>& notice) {
  if (!notice.ok()) return notice.status().text();
  return *notice ? (*notice)->action + " at " + (*notice)->time : "none";
}

TEST(EvictionNotice, Ec2AsksWithASessionThatIsOpenedAgain) {
  int sessions = 0, asked = 0;
  test::ScriptedServer server([&](const std::string& request) {
    if (first_line(request) == "PUT /latest/api/token HTTP/1.1") {
      EXPECT_EQ(header_of(request, "X-aws-ec2-metadata-token-ttl-seconds"), "21600");
      return http_answer(200, "", "session" + std::to_string(++sessions));
    }
    EXPECT_EQ(first_line(request), "GET /latest/meta-data/spot/instance-action HTTP/1.1");
    EXPECT_EQ(header_of(request, "X-aws-ec2-metadata-token"), "session" + std::to_string(sessions));
    ++asked;
    if (asked == 1) return http_answer(404, "", "");
    if (asked == 2) return http_answer(401, "", "");  // the session has ended
    return http_answer(200, "", R"({"action": "terminate", "time": "2017-09-18T08:22:00Z"})");
  });
  http::Client http{environment_of_process()};
  const NoticeSpec spec = spec_of(ec2::spot_notice(), server.url(""));
  engine::NoticeService service(http, spec);
  EXPECT_EQ(said(service.ask({})), "none");
  EXPECT_EQ(said(service.ask({})), "terminate at 2017-09-18T08:22:00Z");
  EXPECT_EQ(sessions, 2);
}

TEST(EvictionNotice, GoogleSaysTrueAndNothingMore) {
  std::string body = "FALSE";
  test::ScriptedServer server([&](const std::string& request) {
    EXPECT_EQ(first_line(request), "GET /computeMetadata/v1/instance/preempted HTTP/1.1");
    EXPECT_EQ(header_of(request, "Metadata-Flavor"), "Google");
    return http_answer(200, "Metadata-Flavor: Google\r\n", body);
  });
  http::Client http{environment_of_process()};
  const NoticeSpec spec = spec_of(gce::spot_notice(), server.url(""));
  engine::NoticeService service(http, spec);
  EXPECT_EQ(said(service.ask({})), "none");
  body = "TRUE\n";
  EXPECT_EQ(said(service.ask({})), "preempt at ");
}

TEST(EvictionNotice, AzureSpeaksOfOtherMachinesToo) {
  Json events = Json::array();
  test::ScriptedServer server([&](const std::string& request) {
    EXPECT_EQ(first_line(request), "GET /metadata/scheduledevents?api-version=2020-07-01 HTTP/1.1");
    EXPECT_EQ(header_of(request, "Metadata"), "true");
    return http_answer(200, "", Json{{"DocumentIncarnation", 1}, {"Events", events}}.dump());
  });
  auto add = [&](const char* kind, std::vector<std::string> machines) {
    events.push_back({{"EventId", "C7061BAC"},
                      {"EventStatus", "Scheduled"},
                      {"EventType", kind},
                      {"ResourceType", "VirtualMachine"},
                      {"Resources", machines},
                      {"NotBefore", "Mon, 11 Apr 2022 22:26:58 GMT"}});
  };
  http::Client http{environment_of_process()};
  const NoticeSpec spec = spec_of(azure::spot_notice("radl-Worker-1"), server.url(""));
  engine::NoticeService service(http, spec);
  EXPECT_EQ(said(service.ask({})), "none");
  add("Preempt", {"radl-worker-10", "radl-front"});
  add("Freeze", {"radl-worker-1"});
  EXPECT_EQ(said(service.ask({})), "none") << "another machine's, and one that it survives";
  add("Preempt", {"radl-front", "radl-worker-1"});
  EXPECT_EQ(said(service.ask({})), "Preempt at Mon, 11 Apr 2022 22:26:58 GMT");
}

TEST(EvictionNotice, AnAnswerThatIsNoneIsNoNotice) {
  const NoticeSpec ec2 = spec_of(ec2::spot_notice()), azure = spec_of(azure::spot_notice("m"));
  for (const char* text : {"", "<html>", "[]", "true", "{\"action\":"})
    for (const NoticeSpec* spec : {&ec2, &azure})
      EXPECT_EQ(notice_in(*spec, text).status().code(), Code::Corrupt) << text;
  EXPECT_EQ(notice_in(ec2, "{\"time\": \"soon\"}").status().code(), Code::Corrupt);
  EXPECT_EQ(notice_in(azure, R"({"Events": {"EventType": "Preempt"}})").status().code(), Code::Corrupt);
  EXPECT_EQ(said(notice_in(azure, R"({"Events": [null, 3, {"EventType": 1, "Resources": null}]})")), "none");
  for (const char* text : {"", "NONE", "<html>TRUE</html>", "404"})
    EXPECT_EQ(said(notice_in(spec_of(gce::spot_notice()), text)), "none") << text;
}

TEST(EvictionNotice, OnlySpotMachinesAskForIt) {
  ec2::InstanceNow now;
  EXPECT_FALSE(ec2::attributes_of(now).contains("eviction_notice"));
  now.lifecycle = "spot";
  EXPECT_EQ(ec2::attributes_of(now)["eviction_notice"], ec2::spot_notice());
}

}  // namespace
}  // namespace radl
