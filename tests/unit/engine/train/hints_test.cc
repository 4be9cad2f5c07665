// What holds a training up is named once, with what to do; Prometheus gets a member's numbers.
#include "engine/train/hints.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/http/http.h"
#include "engine/train/member_metrics.h"
#include "tests/support/need.h"
#include "tests/support/reserved_port.h"

namespace radl::engine {
namespace {

TEST(LinkHint, TellsDistanceFromBandwidth) {
  const LinkMeasure quick{.workers = 4, .step_seconds = 0.1, .exchange_seconds = 0.05};
  EXPECT_FALSE(link_hint(quick, Encoding::Fp32));
  LinkMeasure full = quick;
  full.exchange_seconds = 0.4;
  full.round_trip_seconds = 0.001;
  EXPECT_EQ(link_hint(full, Encoding::Fp32).about, "link");
  EXPECT_NE(link_hint(full, Encoding::Fp32).message.find("power_sgd"), std::string::npos);
  EXPECT_EQ(link_hint(full, Encoding::PowerSgd).message.find("power_sgd"), std::string::npos) << "it has it";
  LinkMeasure far = full;
  far.round_trip_seconds = 0.1;
  EXPECT_EQ(link_hint(far, Encoding::Fp32).about, "distance");
  LinkMeasure alone = full;
  alone.workers = 1;
  EXPECT_FALSE(link_hint(alone, Encoding::Fp32));
  EXPECT_FALSE(link_hint({.workers = 2, .step_seconds = 1e-4, .exchange_seconds = 1e-3}, Encoding::Fp32))
      << "too short to matter";
}

TEST(ServerHint, TellsTheServersFromTheirLink) {
  const ServerMeasure quick{.step_seconds = 0.1, .exchange_seconds = 0.05};
  EXPECT_FALSE(server_hint(quick));
  ServerMeasure slow = quick;
  slow.exchange_seconds = 0.2;
  slow.bytes = 1e6;
  slow.link_bytes_per_second = 1e9;
  EXPECT_EQ(server_hint(slow).about, "servers");
  slow.link_bytes_per_second = 6e6;
  EXPECT_EQ(server_hint(slow).about, "link");
  slow.round_trip_seconds = 0.15;
  EXPECT_EQ(server_hint(slow).about, "distance");
}

class ViewHintsTest : public testing::Test {
 protected:
  ViewHintsTest() {
    hooks_.progress = [this](std::string_view line) { said_.push_back(nlohmann::json::parse(line)); };
    progress_ = test::need(Progress::open(Job(), hooks_));
  }
  std::vector<std::string> said() const {
    std::vector<std::string> out;
    for (const nlohmann::json& line : said_)
      out.push_back(line["about"].get<std::string>() + " " + line.value("peer", ""));
    return out;
  }
  RunHooks hooks_;
  std::vector<nlohmann::json> said_;
  std::unique_ptr<Progress> progress_;
  const cluster::View view_{.epoch = 1, .members = {{0, 1}, {3, 2}}};
};

TEST_F(ViewHintsTest, EachIsSaidOnceInAView) {
  const LinkMeasure slow{.workers = 2, .step_seconds = 0.3, .exchange_seconds = 0.5};
  const std::vector<double> steps = {0.1, 0.3};
  const std::vector<std::string> all = {"slow_node worker/3", "link "};
  ViewHints hints(*progress_, Encoding::Fp32, true);
  hints.begin_view();
  for (int i = 0; i < 100; ++i) hints.add(slow, steps, view_, true);
  EXPECT_EQ(said(), all);
  hints.begin_view();
  for (int i = 0; i < 100; ++i) hints.add(slow, steps, view_, true);
  EXPECT_EQ(said_.size(), 4u);
}

TEST_F(ViewHintsTest, MembersThatAreSlowInTurnAreNotNamed) {
  ViewHints hints(*progress_, Encoding::Fp32, true);
  hints.begin_view();
  for (int i = 0; i < 100; ++i) {
    const bool first = i / 10 % 2 == 0;
    hints.add({.workers = 2, .step_seconds = 0.3, .exchange_seconds = 0.1},
              std::vector<double>{first ? 0.3 : 0.1, first ? 0.1 : 0.3}, view_, true);
  }
  EXPECT_EQ(said_.size(), 0u);
}

TEST_F(ViewHintsTest, AHiccupIsNoHint) {
  ViewHints hints(*progress_, Encoding::Fp32, true);
  hints.begin_view();
  for (int i = 0; i < 100; ++i)
    hints.add({.workers = 2, .step_seconds = 0.1, .exchange_seconds = i == 50 ? 0.02 : 0.5},
              std::vector<double>{0.1, 0.1}, view_, i >= 50);
  EXPECT_EQ(said_.size(), 0u) << "the quickest exchange counts";
}

TEST_F(ViewHintsTest, OnlyTheChiefSaysThemAndNotOfLinksThatAutoDealsWith) {
  const LinkMeasure slow{.workers = 2, .step_seconds = 0.1, .exchange_seconds = 0.5};
  const std::vector<double> steps = {0.1, 0.1};
  ViewHints worker(*progress_, Encoding::Fp32, true), chooses(*progress_, Encoding::Fp32, false);
  worker.begin_view(), chooses.begin_view();
  for (int i = 0; i < 100; ++i) {
    worker.add(slow, steps, view_, false);
    chooses.add(slow, steps, view_, true);
  }
  EXPECT_EQ(said_.size(), 0u);
}

class MemberMetricsTest : public testing::Test {
 protected:
  http::Response get(const std::string& path) {
    http::Client client(environment_of_process());
    http::Request request;
    request.url = "http://" + job_.metrics + path;
    return test::need(client.send(request));
  }
  test::ReservedPort port_;
  Job job_{.metrics = port_.address()};
};

TEST_F(MemberMetricsTest, AnswersWithTheNumbersOfTheLastLines) {
  job_.task = {"worker", 1};
  const auto progress = test::need(Progress::open(job_, {}));
  progress->emit("step", {{"step", 7}, {"images_per_second", 100.5}, {"loss", 2.25}});
  progress->emit("step", {{"step", 8}, {"images_per_second", 200.5}});
  progress->emit("warning", {{"message", "slow"}});
  const http::Response answer = get("/metrics");
  EXPECT_EQ(answer.status, 200);
  for (const char* line :
       {"radl_train_step{task=\"worker/1\"} 8\n", "radl_train_images_per_second{task=\"worker/1\"} 200.5\n",
        "radl_train_loss{task=\"worker/1\"} 2.25\n", "# TYPE radl_train_loss gauge\n",
        "radl_train_events_total{task=\"worker/1\",event=\"warning\"} 1\n"})
    EXPECT_NE(answer.body.find(line), std::string::npos) << line << "\n" << answer.body;
  EXPECT_EQ(answer.body.find("radl_train_test_loss"), std::string::npos) << "nothing was evaluated";
  EXPECT_EQ(get("/other").status, 404);
}

TEST_F(MemberMetricsTest, AnAddressInUseIsAnError) {
  const auto first = test::need(Progress::open(job_, {}));
  const Status second = Progress::open(job_, {}).status();
  EXPECT_EQ(second.code(), Code::Conflict) << second.text();
  job_.metrics = "nowhere";
  EXPECT_NE(check_job(job_).text().find("metrics"), std::string::npos);
}

}  // namespace
}  // namespace radl::engine
