// A run's events are kept: another process follows them while they come, and reads them again from any
// number.
#include "runtime/run/event_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/files.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {
namespace {

using Json = nlohmann::json;

class EventLogTest : public testing::Test {
 protected:
  static Event numbered(unsigned long long number, EventKind kind = EventKind::Log, Json data = nullptr) {
    Event event;
    event.kind = kind;
    event.run = "r";
    event.sequence = number;
    event.time = 1e9 + static_cast<double>(number);
    event.id = "worker[0]";
    event.message = "line " + std::to_string(number);
    event.data = std::move(data);
    return event;
  }
  static std::vector<unsigned long long> rest_of(EventReader& reader) {
    std::vector<unsigned long long> numbers;
    for (auto event = reader.next(); event.ok() && *event; event = reader.next())
      numbers.push_back((*event)->sequence);
    return numbers;
  }
  std::string path(const std::string& id) const { return runs + "/" + id + ".jsonl"; }

  TemporaryFolder folder;
  std::string runs = folder.path() + "/runs";
};

using Numbers = std::vector<unsigned long long>;

TEST_F(EventLogTest, ReadsBackWhatWasWrittenFromAnyNumberOn) {
  {
    EventLog log(runs, "a");
    log.emit(numbered(1, EventKind::RunStarted, {{"command", "apply"}}));
    log.emit(numbered(2, EventKind::Metric, {{"loss", 0.5}}));
    log.emit(numbered(3));
    EXPECT_TRUE(log.status().ok()) << log.status().text();
  }
  auto all = std::move(*EventReader::open(path("a")));
  Event first = **all->next();
  EXPECT_EQ(to_json(first), to_json(numbered(1, EventKind::RunStarted, {{"command", "apply"}})));
  EXPECT_EQ(rest_of(*all), (Numbers{2, 3}));
  EXPECT_TRUE(all->over());
  EXPECT_EQ(rest_of(**EventReader::open(path("a"), 3)), (Numbers{3}));
  struct stat info {};
  ASSERT_EQ(::stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(EventLogTest, AnotherProcessFollowsARunUntilItsEnd) {
  int ready[2], go[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(go), 0);
  const pid_t writer = ::fork();
  if (writer == 0) {
    EventLog log(runs, "a");
    log.emit(numbered(1, EventKind::RunStarted));
    char word = 'x';
    (void)!::write(ready[1], &word, 1);
    (void)!::read(go[0], &word, 1);
    log.emit(numbered(2));
    log.emit(numbered(3, EventKind::RunFinished, {{"ok", true}, {"done", 1u}}));
    ::_exit(0);  // as a kill: nothing is closed by hand
  }
  char word = 0;
  ASSERT_EQ(::read(ready[0], &word, 1), 1);
  auto reader = std::move(*EventReader::open(path("a")));
  EXPECT_EQ(rest_of(*reader), Numbers{1});
  EXPECT_FALSE(reader->over()) << "its process is alive";
  EXPECT_EQ(find_run(runs, "")->state, KeptRun::State::Going);
  ASSERT_EQ(::write(go[1], &word, 1), 1);
  ASSERT_EQ(::waitpid(writer, nullptr, 0), writer);
  EXPECT_FALSE(reader->over()) << "there is more to read";
  EXPECT_EQ(rest_of(*reader), (Numbers{2, 3}));
  EXPECT_TRUE(reader->over());
  EXPECT_EQ(find_run(runs, "a")->state, KeptRun::State::Done);
}

TEST_F(EventLogTest, ARunWhoseProcessDiedIsInterrupted) {
  const pid_t writer = ::fork();
  if (writer == 0) {
    EventLog log(runs, "20261122T181142.042Z-destroy-1a2b3c");
    log.emit(numbered(1, EventKind::RunStarted));
    ::_exit(1);
  }
  ASSERT_EQ(::waitpid(writer, nullptr, 0), writer);
  auto run = find_run(runs, "1a2b3c");
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_EQ(run->state, KeptRun::State::Interrupted);
  EXPECT_EQ(run->command, "destroy");
  EXPECT_EQ(run->last, 1u);
}

TEST_F(EventLogTest, ALineThatAFullDiskCutShortCostsThatLineAlone) {
  { EventLog(runs, "a").emit(numbered(1)); }
  std::ofstream(path("a"), std::ios::app) << "{\"event\":\"log\",\"sequ\n"
                                          << to_json(numbered(3)).dump() << "\n";
  auto reader = std::move(*EventReader::open(path("a")));
  EXPECT_EQ((*reader->next())->sequence, 1u);
  EXPECT_EQ(reader->next().status().code(), Code::Corrupt);
  EXPECT_EQ((*reader->next())->sequence, 3u);
  EXPECT_TRUE(reader->over());
}

TEST_F(EventLogTest, AFolderThatCannotBeWrittenIsSaidAndStopsNothing) {
  std::ofstream(runs) << "a file";
  EventLog log(runs, "a");
  log.emit(numbered(1));
  log.emit(numbered(2));
  EXPECT_FALSE(log.status().ok());
}

TEST_F(EventLogTest, AnEndOfAnotherShapeIsReadAsAFailure) {
  ASSERT_TRUE(make_directories(runs).ok());
  std::ofstream(path("a")) << R"({"event":"run_finished","data":{"ok":"yes","code":5,"done":-1}})"
                           << "\n";
  auto kept = kept_runs(runs);
  ASSERT_TRUE(kept.ok());
  ASSERT_EQ(kept->size(), 1u);
  EXPECT_EQ(kept->front().state, KeptRun::State::Failed);
  EXPECT_EQ(kept->front().code, "");
}

TEST_F(EventLogTest, TheNewestRunsAreKept) {
  for (size_t i = 0; i < kMostKeptRuns + 5; ++i) EventLog(runs, std::to_string(1000 + i)).emit(numbered(1));
  auto kept = kept_runs(runs);
  ASSERT_TRUE(kept.ok());
  EXPECT_LE(kept->size(), kMostKeptRuns + 1);
  EXPECT_EQ(kept->back().id, std::to_string(1000 + kMostKeptRuns + 4));
}

TEST_F(EventLogTest, WhatWasKilledBeforeItHadItsNameIsTakenAway) {
  ASSERT_TRUE(make_directories(runs).ok());
  std::ofstream(runs + "/.half") << "";
  EventLog(runs, "a").emit(numbered(1));
  EXPECT_FALSE(std::filesystem::exists(runs + "/.half"));
  EXPECT_EQ(kept_runs(runs)->size(), 1u);
}

TEST_F(EventLogTest, TheReaderOfARunThatRemovesItsStateReadsItToTheEnd) {
  auto log = std::make_unique<EventLog>(runs, "a");
  log->emit(numbered(1));
  auto reader = std::move(*EventReader::open(path("a")));
  EXPECT_EQ(rest_of(*reader), Numbers{1});
  log->emit(numbered(2, EventKind::RunFinished));
  log.reset();
  std::filesystem::remove_all(runs);
  EXPECT_EQ(rest_of(*reader), Numbers{2});
  EXPECT_TRUE(reader->over());
}

}  // namespace
}  // namespace radl::test
