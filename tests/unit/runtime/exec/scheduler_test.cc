#include "runtime/exec/scheduler.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <new>
#include <random>

#include "common/guarded.h"
#include "runtime/steps/training/for_all.h"

namespace radl {
namespace {

// Random graphs: everything runs once, after what it waits for, never two with the same name at a time.
TEST(Scheduler, KeepsOrderAndExclusionOnRandomGraphs) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    size_t size = 1 + random() % 60;
    Dag dag(size);
    for (size_t then = 1; then < size; ++then) {
      for (int i = 0; i < 2; ++i) dag.add_edge(random() % then, then);
    }
    std::mutex mutex;
    std::vector<int> ended(size, 0);
    std::vector<std::atomic<int>> held(3);
    Schedule schedule{dag,
                      std::vector<bool>(size),
                      std::vector<bool>(size),
                      8,
                      [](Dag::Id id) { return std::vector<std::string>{std::to_string(id % 3)}; },
                      [&](Dag::Id id) {
                        EXPECT_EQ(++held[id % 3], 1);
                        std::lock_guard guard(mutex);
                        for (Dag::Id before : dag.before(id)) EXPECT_EQ(ended[before], 1);
                        ++ended[id];
                        --held[id % 3];
                        return true;
                      },
                      [](Dag::Id, Dag::Id) { FAIL(); },
                      [] { return false; }};
    EXPECT_TRUE(run_schedule(schedule).never.empty());
    EXPECT_EQ(ended, std::vector<int>(size, 1));
  }
}

TEST(Scheduler, StopsAndNamesWhatNeverBegan) {
  Dag dag(4);
  dag.add_edge(0, 1);
  std::atomic<int> ran{0};
  Schedule schedule{dag,
                    std::vector<bool>(4),
                    std::vector<bool>(4),
                    1,
                    [](Dag::Id) { return std::vector<std::string>(); },
                    [&](Dag::Id) { return ++ran > 0; },
                    [](Dag::Id, Dag::Id) {},
                    [&] { return ran >= 2; }};
  EXPECT_EQ(run_schedule(schedule).never.size(), 2u);
}

TEST(Scheduler, WhatThrowsHasFailedAndTheRestGoesOn) {
  Dag dag(4);
  dag.add_edge(0, 1);
  std::atomic<int> ran{0};
  std::set<Dag::Id> skipped;
  Schedule schedule{dag,
                    std::vector<bool>(4),
                    std::vector<bool>(4),
                    3,
                    [](Dag::Id) { return std::vector<std::string>(); },
                    [&](Dag::Id id) -> bool {
                      if (id == 0) throw std::bad_alloc();
                      return ++ran > 0;
                    },
                    [&](Dag::Id id, Dag::Id) { skipped.insert(id); },
                    [] { return false; }};
  Scheduled over = run_schedule(schedule);
  EXPECT_TRUE(over.never.empty());
  EXPECT_TRUE(over.status.ok());
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(skipped, std::set<Dag::Id>{1});
}

// Not even the choice of the next one works: what runs is waited for, and nothing more is started.
TEST(Scheduler, WhenItCannotGoOnItSaysSo) {
  Dag dag(3);
  std::atomic<int> asked{0}, ran{0};
  Schedule schedule{dag,
                    std::vector<bool>(3),
                    std::vector<bool>(3),
                    2,
                    [&](Dag::Id) -> std::vector<std::string> {
                      if (++asked > 1) throw std::bad_alloc();
                      return {};
                    },
                    [&](Dag::Id) { return ++ran > 0; },
                    [](Dag::Id, Dag::Id) {},
                    [] { return false; }};
  Scheduled over = run_schedule(schedule);
  EXPECT_EQ(over.status.code(), Code::Quota);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(over.never.size(), 2u);
}

TEST(ForAll, WhatThrowsHasFailedAndTheOthersAreWaitedFor) {
  std::atomic<int> ran{0};
  Status status = training::for_all(4, [&](size_t i) -> Status {
    if (i == 2) throw std::bad_alloc();
    ++ran;
    return {};
  });
  EXPECT_EQ(status.code(), Code::Quota);
  EXPECT_EQ(ran, 3);
}

// In a process of its own that may have no other thread.
TEST(Scheduler, WithoutAnyOtherThreadThisOneDoesTheWork) {
  pid_t child = ::fork();
  if (child == 0) {
    if (::getuid() == 0 && ::setuid(65533) != 0) ::_exit(9);
    rlimit none{1, 1};
    ::setrlimit(RLIMIT_NPROC, &none);
    Dag dag(20);
    std::atomic<int> ran{0};
    Schedule schedule{dag,
                      std::vector<bool>(20),
                      std::vector<bool>(20),
                      8,
                      [](Dag::Id) { return std::vector<std::string>(); },
                      [&](Dag::Id) { return ++ran > 0; },
                      [](Dag::Id, Dag::Id) {},
                      [] { return false; }};
    bool fine = run_schedule(schedule).never.empty();
    Threads others;
    // Of use only if there really was no other thread to be had.
    bool alone = others.start([] {}).code() == Code::Quota;
    ::_exit(!fine || ran != 20 ? 1 : alone ? 0 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace radl
