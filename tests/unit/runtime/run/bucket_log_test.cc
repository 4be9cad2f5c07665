// Events beside a state in a bucket, and how another computer follows them.
#include "runtime/run/bucket_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include "common/files.h"
#include "runtime/run/run_mirror.h"
#include "runtime/run/subscription.h"
#include "tests/support/buckets.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {
namespace {

constexpr const char *kBucket = "s3://states/p", *kName = "demo";
constexpr const char* kRun = "20261122T181142.042Z-apply-1a2b3c";

struct BucketLogTest : testing::Test {
  std::unique_ptr<RunObjects> objects() { return std::move(*RunObjects::open(kBucket, kName, environment)); }
  std::unique_ptr<BucketLog> log() { return std::make_unique<BucketLog>(objects(), kRun); }
  std::unique_ptr<RunMirror> mirror() {
    auto started = RunMirror::start(kBucket, kName, folder.path("runs"), environment);
    EXPECT_TRUE(started.ok()) << started.status().text();
    return std::move(*started);
  }
  Event event(unsigned long long number) {
    Event made;
    made.run = kRun;
    made.sequence = number;
    made.message = "line " + std::to_string(number);
    return made;
  }
  void write_until(BucketLog& log, unsigned long long last) {
    while (number < last) log.emit(event(++number));
  }
  // Waits until the bucket has this event.
  void wait_for(unsigned long long last) {
    const auto own = objects();
    for (std::string text; text.find("\"line " + std::to_string(last) + "\"") == text.npos;
         Stop().sleep(std::chrono::milliseconds(50))) {
      auto runs = own->list(Stop());
      ASSERT_TRUE(runs.ok()) << runs.status().text();
      if (!runs->count(kRun) || runs->at(kRun).pieces.empty()) continue;
      auto read = own->read(kRun, runs->at(kRun).pieces.back(), Stop());
      ASSERT_TRUE(read.ok()) << read.status().text();
      text = *read;
    }
  }
  // The numbers of the run's events, up to `last`.
  std::vector<unsigned long long> follow(unsigned long long last) {
    auto events = RunSubscription::open(folder.path("runs"), {kRun, 1});
    EXPECT_TRUE(events.ok()) << events.status().text();
    std::vector<unsigned long long> numbers;
    while (events.ok() && (numbers.empty() || numbers.back() < last)) {
      auto next = (*events)->wait(Stop());
      if (!next.ok() || !*next) break;
      numbers.push_back((*next)->sequence);
    }
    return numbers;
  }
  static std::vector<unsigned long long> up_to(unsigned long long last) {
    std::vector<unsigned long long> all;
    for (unsigned long long i = 1; i <= last; ++i) all.push_back(i);
    return all;
  }

  Buckets buckets;
  ScriptedServer server{[this](const std::string& request) {
    if (!refuses) return buckets.answer(request);
    ++refused;
    return http_answer(403, "", "");
  }};
  std::atomic<bool> refuses = false;
  std::atomic<int> refused = 0;
  TemporaryFolder folder;
  const Environment environment = Buckets::environment(folder.path("home"), server.url(""));
  unsigned long long number = 0;
};

TEST_F(BucketLogTest, AnotherComputerFollowsARunToItsEnd) {
  auto own = log();
  write_until(*own, 3);
  wait_for(3);
  auto other = mirror();
  EXPECT_EQ(follow(3), up_to(3));
  EXPECT_EQ(find_run(folder.path("runs"), "")->state, KeptRun::State::Going);
  write_until(*own, 5);
  EXPECT_EQ(follow(5), up_to(5));
  write_until(*own, 6);
  EXPECT_TRUE(own->end(Stop()).ok());
  EXPECT_EQ(follow(100), up_to(6)) << "it is over";
}

TEST_F(BucketLogTest, ARunThatHasEndedIsReadInPieces) {
  {
    auto own = log();
    for (int piece = 0; piece < 3; ++piece) {
      Event large = event(++number);
      large.message.assign(300 << 10, 'x');
      own->emit(large);
      write_until(*own, number + 20);
      wait_for(number);
    }
    EXPECT_TRUE(own->end(Stop()).ok());
  }
  EXPECT_GT(objects()->list(Stop())->at(kRun).pieces.size(), 1u);
  { auto first = mirror(); }
  EXPECT_EQ(follow(100), up_to(number));
  auto second = mirror();  // nothing comes twice
  EXPECT_EQ(follow(100), up_to(number));
  auto runs = kept_runs(folder.path("runs"));
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(runs->size(), 1u);
}

TEST_F(BucketLogTest, ARunWithoutASignOfLifeWasInterrupted) {
  ASSERT_TRUE(objects()->write(kRun, 1, to_json(event(1)).dump() + "\n", Stop()).ok());
  auto own = mirror();
  EXPECT_EQ(follow(100), up_to(1));
  EXPECT_EQ(find_run(folder.path("runs"), "")->state, KeptRun::State::Interrupted);
}

TEST_F(BucketLogTest, LinesThatAreNoEventsOfARunHoldUpNoOther) {
  const std::string first = "20261122T181141.000Z-apply-aaaaaa";
  const std::string odd = R"({"event":"log","sequence":"x"})"
                          "\n[3]\n"
                          R"({"event":"log","sequence":-1})"
                          "\n";
  ASSERT_TRUE(objects()->write(first, 1, odd, Stop()).ok());
  ASSERT_TRUE(objects()->write(kRun, 1, to_json(event(1)).dump() + "\n", Stop()).ok());
  auto own = mirror();
  EXPECT_EQ(follow(1), up_to(1));
}

TEST_F(BucketLogTest, WhatAFullDiskDidNotTakeIsBroughtOnceItDoes) {
  ASSERT_TRUE(objects()->write(kRun, 1, to_json(event(1)).dump() + "\n", Stop()).ok());
  ASSERT_TRUE(objects()->note_alive(kRun, Stop()).ok());
  auto own = mirror();
  const std::string path = folder.path("runs") + "/" + kRun + ".jsonl";
  // A write beyond this size fails, in the midst of a line.
  const auto size = static_cast<rlim_t>(std::filesystem::file_size(path)) + 10;
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit small{size, usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string more;
  for (unsigned long long i = 1; i <= 3; ++i) more += to_json(event(i)).dump() + "\n";
  EXPECT_TRUE(objects()->write(kRun, 1, more, Stop()).ok());
  while (std::filesystem::file_size(path) < size) Stop().sleep(std::chrono::milliseconds(20));
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(follow(3), up_to(3));
}

TEST_F(BucketLogTest, ABucketThatRefusesIsNotAskedWithoutAPauseAtTheEnd) {
  auto own = log();
  refuses = true;
  write_until(*own, 1);
  EXPECT_FALSE(own->end(Stop().within(std::chrono::seconds(3))).ok());
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 20);
}

TEST_F(BucketLogTest, OfARunWithoutEventsNothingIsWritten) {
  EXPECT_TRUE(log()->end(Stop()).ok());
  EXPECT_EQ(buckets.left(), 0u);
}

TEST_F(BucketLogTest, AStateInAFolderHasNoMirror) {
  auto none = RunMirror::start(folder.path(), kName, folder.path("runs"), environment);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(*none, nullptr);
}

}  // namespace
}  // namespace radl::test
