// radlc is killed (SIGKILL, a real process) at every write to its journal and at every point around every
// call of a cloud or a runner, one after another; then apply or destroy is run again. Afterwards every
// machine is there once or not at all, the state knows of each, and no intent is left open.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fault_vfs.h"
#include "tests/support/runtime_bench.h"

namespace radl::test {
namespace {

ir::Program cluster(int workers, const std::string& motd = "hello") {
  return ProgramBuilder()
      .deploy({"server"})
      .deploy({"worker", workers})
      .file("server", "tools", "/etc/motd", motd)
      .file("worker", "tools", "/etc/motd", motd)
      .train("server", "worker")
      .output("ip", ir::unknown("server[0].ip"))
      .build();
}

// What is done to an infrastructure, by the process that is killed and by the one that follows.
enum class Command { ApplyOne, ApplyTwo, Destroy };

class Crash : public testing::Test {
 protected:
  // The n-th point is the n-th write, sync or removal of the state's files, or the n-th place in a cloud
  // or runner.
  struct Where {
    long long write = 0, place = 0;
  };

  static Status run(Bench& bench, Command command) {
    switch (command) {
      case Command::ApplyOne:
        return bench.apply(cluster(1)).status;
      case Command::ApplyTwo:
        return bench.apply(cluster(2, "bye")).status;
      case Command::Destroy:
        return bench.destroy().status;
    }
    return internal_error("no such command");
  }

  static bool killed(Bench& bench, Command command, Where where) {
    return killed(bench, where, [&] { return run(bench, command); });
  }

  // Runs `work` in a process of its own; true when it was killed, false when it came to its end.
  static bool killed(Bench& bench, Where where, const std::function<Status()>& work) {
    pid_t child = ::fork();
    if (child == 0) {
      FaultVfs vfs;
      vfs.kill_at(where.write);
      std::atomic<long long> places{0};
      auto point = [&](const std::string&) {
        if (++places == where.place) ::kill(::getpid(), SIGKILL);
      };
      bench.cloud.point = point;
      bench.runner.point = point;
      Status status = work();
      ::_exit(status.ok() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    bench.cloud.catch_up();
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "the run failed instead of being killed";
    return WIFSIGNALED(status);
  }

  static void expect_whole(Bench& bench, int workers) {
    std::map<std::string, int> once{{"key.local", 1}, {"network.lan", 1}, {"server[0]", 1}};
    for (int i = 0; i < workers; ++i) once["worker[" + std::to_string(i) + "]"] = 1;
    EXPECT_EQ(bench.cloud.count_by_address(), once);
    Snapshot state = bench.snapshot();
    EXPECT_EQ(state.resources.size(), once.size());
    EXPECT_EQ(state.open_intents, 0u);
    for (const auto& [address, record] : state.resources) {
      EXPECT_TRUE(std::filesystem::exists(bench.folder.path() + "/cloud/" + record.id + "/attributes"))
          << address;
    }
    for (const auto& [id, step] : state.steps) EXPECT_EQ(step.status, StepStatus::Done) << id;
  }

  static void expect_nothing(Bench& bench) {
    EXPECT_EQ(bench.cloud.count(), 0u);
    EXPECT_TRUE(bench.snapshot().empty());
    EXPECT_EQ(bench.snapshot().open_intents, 0u);
  }

  // Kills `first` at each point in turn, starting each time from what `before` leaves; then runs `then`.
  static long long at_every_point(
      std::vector<Command> before, Command first, Command then, bool at_writes,
      const std::function<void(Bench&)>& prepare = [](Bench&) {}) {
    for (long long n = 1;; ++n) {
      SCOPED_TRACE("killed at point " + std::to_string(n));
      Bench bench;
      prepare(bench);
      for (Command command : before) EXPECT_TRUE(run(bench, command).ok());
      Where where;
      (at_writes ? where.write : where.place) = n;
      bool was_killed = killed(bench, first, where);
      Status after = run(bench, then);
      EXPECT_TRUE(after.ok()) << after.text();
      if (then == Command::Destroy) {
        expect_nothing(bench);
      } else {
        int workers = then == Command::ApplyOne ? 1 : 2;
        expect_whole(bench, workers);
        Plan again = bench.plan(then == Command::ApplyOne ? cluster(1) : cluster(2, "bye"));
        EXPECT_FALSE(again.changes_anything()) << render_text(again);
      }
      if (testing::Test::HasFailure() || !was_killed) return n - 1;
    }
  }

  static void at_all_points(std::vector<Command> before, Command first, Command then) {
    long long writes = at_every_point(before, first, then, true);
    long long places = at_every_point(before, first, then, false);
    // The loop is worth something only if there was a good number of points to be killed at.
    EXPECT_GT(writes, 20);
    EXPECT_GT(places, 5);
    std::printf("  killed at each of %lld writes and %lld places\n", writes, places);
  }
};

TEST_F(Crash, FirstApplyThenApply) { at_all_points({}, Command::ApplyOne, Command::ApplyOne); }
TEST_F(Crash, FirstApplyThenDestroy) { at_all_points({}, Command::ApplyOne, Command::Destroy); }
TEST_F(Crash, FirstApplyThenAnotherFile) { at_all_points({}, Command::ApplyTwo, Command::ApplyOne); }
TEST_F(Crash, GrowingThenApply) { at_all_points({Command::ApplyOne}, Command::ApplyTwo, Command::ApplyTwo); }
TEST_F(Crash, ShrinkingThenApply) {
  at_all_points({Command::ApplyTwo}, Command::ApplyOne, Command::ApplyOne);
}
TEST_F(Crash, DestroyThenDestroy) { at_all_points({Command::ApplyTwo}, Command::Destroy, Command::Destroy); }
TEST_F(Crash, DestroyThenApply) { at_all_points({Command::ApplyOne}, Command::Destroy, Command::ApplyOne); }

// A cloud that shows only 20 s later what it made: what is not found at first is there all the same.
void shows_late(Bench& bench) {
  bench.cloud.clock = &bench.fake.clock;
  bench.cloud.appears_after = std::chrono::seconds(20);
  bench.cloud.settle = std::chrono::seconds(60);
}

TEST_F(Crash, FoundNothingThenPresentThenApply) {
  EXPECT_GT(at_every_point({}, Command::ApplyOne, Command::ApplyOne, false, shows_late), 5);
  EXPECT_GT(at_every_point({}, Command::ApplyOne, Command::ApplyOne, true, shows_late), 20);
}
TEST_F(Crash, FoundNothingThenPresentThenDestroy) {
  EXPECT_GT(at_every_point({}, Command::ApplyOne, Command::Destroy, false, shows_late), 5);
}

// A run is killed, and then its database is lost: either nothing was made yet, or the next run refuses.
TEST_F(Crash, AStateThatIsLostAfterwardsIsNotStartedOver) {
  for (bool emptied : {false, true}) {
    for (long long n = 1;; ++n) {
      SCOPED_TRACE(n);
      Bench bench;
      bool was_killed = killed(bench, Command::ApplyOne, {n, 0});
      std::string database = bench.folder.path() + "/.radl/demo/state.db";
      if (std::filesystem::exists(database)) {
        for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(database + end);
        if (emptied) {
          ASSERT_TRUE(write_file_atomic(database, "").ok());
        }
      }
      size_t made = bench.cloud.count();
      Result<std::unique_ptr<Store>> store =
          Store::open(bench.folder.path() + "/.radl", "demo", OpenMode::Create, bench.fake.world);
      EXPECT_TRUE(store.ok() || store.status().code() == Code::Corrupt) << store.status().text();
      EXPECT_TRUE(made == 0 || !store.ok()) << "it would be made a second time";
      if (testing::Test::HasFailure()) return;
      if (!was_killed) break;
    }
  }
}

// An update is killed, the user renames the system, and the next run goes on under the new name: with the
// same machines.
TEST_F(Crash, AnOpenUpdateAndAMove) {
  auto cluster = [](const std::string& worker, double memory) {
    return ProgramBuilder()
        .deploy({"server"})
        .deploy({worker, 2, memory})
        .default_host_names()
        .file(worker, "tools", "/etc/motd", "hello")
        .build();
  };
  auto machines = [](const Bench& bench) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(bench.folder.path() + "/cloud"))
      names.insert(entry.path().filename());
    return names;
  };
  long long kills = 0;
  for (bool at_writes : {false, true}) {
    for (long long n = 1;; ++n) {
      SCOPED_TRACE(n);
      Bench bench;
      bench.cloud.in_place = {"memory.size"};
      ASSERT_TRUE(bench.apply(cluster("worker", 1e9)).status.ok());
      std::set<std::string> before = machines(bench);
      Where where;
      (at_writes ? where.write : where.place) = n;
      bool was_killed = killed(bench, where, [&] { return bench.apply(cluster("worker", 2e9)).status; });
      kills += was_killed;
      {
        std::unique_ptr<Store> store = bench.store();
        ASSERT_TRUE(store->lock("state mv", std::chrono::milliseconds(0)).ok());
        ASSERT_TRUE(store->move("worker", "trainer").ok());
      }
      EXPECT_TRUE(bench.apply(cluster("trainer", 2e9)).status.ok());
      EXPECT_EQ(machines(bench), before);
      EXPECT_EQ(bench.snapshot().open_intents, 0u);
      EXPECT_EQ(bench.snapshot().resources.count("trainer[1]"), 1u);
      EXPECT_EQ(bench.snapshot().resources.size(), before.size());
      if (testing::Test::HasFailure()) return;
      if (!was_killed) break;
    }
  }
  EXPECT_GT(kills, 20);
}

// The run that picks up may be killed as well: again and again, each time a little later.
TEST_F(Crash, KilledAgainAndAgain) {
  Bench bench;
  long long kills = 0;
  for (long long n = 1; n < 400; ++n) {
    if (!killed(bench, Command::ApplyTwo, {n, 0})) break;
    ++kills;
  }
  EXPECT_GT(kills, 10);
  EXPECT_TRUE(run(bench, Command::ApplyTwo).ok());
  expect_whole(bench, 2);
  EXPECT_TRUE(run(bench, Command::Destroy).ok());
  expect_nothing(bench);
}

// A disk that is full from the n-th write on, and then has room again.
TEST_F(Crash, AFullDiskAtEveryWrite) {
  for (int n = 0; n < 60; n += 3) {
    SCOPED_TRACE(n);
    Bench bench;
    // In a process of its own, as a lock that cannot be given back is freed by its owner's end.
    pid_t child = ::fork();
    if (child == 0) {
      FaultVfs vfs;
      std::atomic<int> places{0};
      bench.cloud.point = bench.runner.point = [&](const std::string&) {
        if (places++ == n) vfs.fail_writes(SQLITE_FULL);
      };
      Status status = run(bench, Command::ApplyTwo);
      bool as_expected = places > n ? status.code() == Code::Quota : status.ok();
      ::_exit(as_expected ? 0 : 1);
    }
    int ended = 0;
    ::waitpid(child, &ended, 0);
    EXPECT_EQ(ended, 0) << "a full disk must be reported as such";
    EXPECT_TRUE(run(bench, Command::ApplyTwo).ok());
    expect_whole(bench, 2);
  }
}

}  // namespace
}  // namespace radl::test
