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
#include "runtime/steps/jobs/for_all.h"
#include "tests/support/fake_world.h"

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
                      real_world().clock,
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
                        return Turn::Done;
                      },
                      [](Dag::Id, Dag::Id) { FAIL(); },
                      [] { return 0; }};
    EXPECT_TRUE(Scheduler(schedule).run().never.empty());
    EXPECT_EQ(ended, std::vector<int>(size, 1));
  }
}

TEST(Scheduler, StopsAndNamesWhatNeverBegan) {
  Dag dag(4);
  dag.add_edge(0, 1);
  std::atomic<int> ran{0};
  Schedule schedule{dag,
                    real_world().clock,
                    std::vector<bool>(4),
                    std::vector<bool>(4),
                    1,
                    [](Dag::Id) { return std::vector<std::string>(); },
                    [&](Dag::Id) { return ++ran, Turn::Done; },
                    [](Dag::Id, Dag::Id) {},
                    [&] { return ran >= 2 ? 1 : 0; }};
  EXPECT_EQ(Scheduler(schedule).run().never.size(), 2u);
}

TEST(Scheduler, AThrowingVertexFailsAndTheOthersContinue) {
  Dag dag(4);
  dag.add_edge(0, 1);
  std::atomic<int> ran{0};
  std::set<Dag::Id> skipped;
  Schedule schedule{dag,
                    real_world().clock,
                    std::vector<bool>(4),
                    std::vector<bool>(4),
                    3,
                    [](Dag::Id) { return std::vector<std::string>(); },
                    [&](Dag::Id id) -> Turn {
                      if (id == 0) throw std::bad_alloc();
                      return ++ran, Turn::Done;
                    },
                    [&](Dag::Id id, Dag::Id) { skipped.insert(id); },
                    [] { return 0; }};
  Scheduled over = Scheduler(schedule).run();
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
                    real_world().clock,
                    std::vector<bool>(3),
                    std::vector<bool>(3),
                    2,
                    [&](Dag::Id) -> std::vector<std::string> {
                      if (++asked > 1) throw std::bad_alloc();
                      return {};
                    },
                    [&](Dag::Id) { return ++ran, Turn::Done; },
                    [](Dag::Id, Dag::Id) {},
                    [] { return 0; }};
  Scheduled over = Scheduler(schedule).run();
  EXPECT_EQ(over.status.code(), Code::Quota);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(over.never.size(), 2u);
}

// A schedule of independent vertices whose turns are given.
Schedule independent(const Dag& dag, Clock& clock, int parallelism, std::function<Turn(Dag::Id)> run) {
  return {dag,
          clock,
          std::vector<bool>(dag.size()),
          std::vector<bool>(dag.size()),
          parallelism,
          [](Dag::Id) { return std::vector<std::string>(); },
          std::move(run),
          [](Dag::Id, Dag::Id) {},
          [] { return 0; }};
}

// 300 waits of a minute, all at the same time, on two threads: a minute passes, not five hours.
TEST(Scheduler, AParkedVertexHoldsNoThread) {
  test::FakeClock clock;
  Dag dag(300);
  Scheduler* scheduler = nullptr;
  std::vector<std::atomic<int>> turns(300);
  Schedule schedule = independent(dag, clock, 2, [&](Dag::Id id) {
    if (++turns[id] > 1) return Turn::Done;
    scheduler->resume_at(scheduler->ticket(id), clock.now() + std::chrono::minutes(1));
    return Turn::Parked;
  });
  Scheduler running(schedule);
  scheduler = &running;
  EXPECT_TRUE(running.run().never.empty());
  EXPECT_EQ(clock.passed(), 60000);
  for (const auto& count : turns) EXPECT_EQ(count, 2);
}

TEST(Scheduler, AResumptionThatComesBeforeTheTurnHasEndedIsNotLost) {
  for (int round = 0; round < 200; ++round) {
    Dag dag(4);
    Scheduler* scheduler = nullptr;
    std::vector<std::atomic<int>> turns(4);
    Schedule schedule = independent(dag, real_world().clock, 2, [&](Dag::Id id) {
      if (++turns[id] > 3) return Turn::Done;
      Scheduler::Ticket ticket = scheduler->ticket(id);
      if (round % 2) {
        scheduler->resume(ticket);
      } else {
        scheduler->serve_at(std::chrono::steady_clock::now(),
                            [scheduler, ticket] { scheduler->resume(ticket); });
      }
      return Turn::Parked;
    });
    schedule.services = 1;
    Scheduler running(schedule);
    scheduler = &running;
    EXPECT_TRUE(running.run().never.empty());
    for (const auto& count : turns) EXPECT_EQ(count, 4);
  }
}

// What was meant for an earlier wait must not cut a later one short.
TEST(Scheduler, ATicketIsGoodForItsOwnWaitOnly) {
  test::FakeClock clock;
  Dag dag(1);
  Scheduler* scheduler = nullptr;
  int turns = 0;
  std::vector<long long> at;
  Schedule schedule = independent(dag, clock, 1, [&](Dag::Id id) {
    at.push_back(clock.passed());
    ++turns;
    if (turns == 1) {
      scheduler->resume_at(scheduler->ticket(id), clock.now() + std::chrono::seconds(5));
      scheduler->resume(scheduler->ticket(id));
    } else if (turns == 2) {
      scheduler->resume_at(scheduler->ticket(id), clock.now() + std::chrono::seconds(30));
    }
    return turns == 3 ? Turn::Done : Turn::Parked;
  });
  Scheduler running(schedule);
  scheduler = &running;
  running.run();
  EXPECT_EQ(at, (std::vector<long long>{0, 0, 30000}));
}

TEST(Scheduler, AParkedVertexKeepsItsNames) {
  test::FakeClock clock;
  Dag dag(2);
  Scheduler* scheduler = nullptr;
  std::vector<std::string> order;
  std::vector<int> turns(2);
  Schedule schedule = independent(dag, clock, 1, [&](Dag::Id id) {
    order.push_back(std::to_string(id));
    if (++turns[id] > 1) return Turn::Done;
    scheduler->resume_at(scheduler->ticket(id), clock.now() + std::chrono::seconds(1));
    return Turn::Parked;
  });
  schedule.exclusive = [](Dag::Id) { return std::vector<std::string>{"node"}; };
  Scheduler running(schedule);
  scheduler = &running;
  running.run();
  EXPECT_EQ(order, (std::vector<std::string>{"0", "0", "1", "1"}));
}

TEST(Scheduler, AStopGivesParkedVerticesATurnAndStartsNothing) {
  Dag dag(3);
  std::atomic<int> level{0}, turns{0};
  Schedule schedule = independent(dag, real_world().clock, 1, [&](Dag::Id id) {
    ++turns;
    if (id == 0 && turns == 1) {
      level = 1;
      return Turn::Parked;
    }
    return Turn::Done;
  });
  schedule.stop_level = [&] { return level.load(); };
  EXPECT_EQ(Scheduler(schedule).run().never, (std::vector<Dag::Id>{1, 2}));
  EXPECT_EQ(turns, 2);
}

TEST(ForAll, WhatThrowsHasFailedAndTheOthersAreWaitedFor) {
  std::atomic<int> ran{0};
  Status status = jobs::for_all(4, [&](size_t i) -> Status {
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
                      real_world().clock,
                      std::vector<bool>(20),
                      std::vector<bool>(20),
                      8,
                      [](Dag::Id) { return std::vector<std::string>(); },
                      [&](Dag::Id) { return ++ran, Turn::Done; },
                      [](Dag::Id, Dag::Id) {},
                      [] { return 0; }};
    bool fine = Scheduler(schedule).run().never.empty();
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
