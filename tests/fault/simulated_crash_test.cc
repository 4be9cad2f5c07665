// The simulated cloud is killed with the process that asks it: SIGKILL just before each call that changes
// something outside of the process (kill_points.cc, preloaded), be it a write of the journal or of the
// account's own file. Each run is this program again, as a process of its own; the next one goes on from what
// it left. Machines take their time, and lists show late what was made or destroyed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "common/files.h"
#include "runtime/clouds/simulated/simulated_cloud.h"
#include "runtime/exec/executor.h"
#include "runtime/plan/render.h"
#include "runtime/trial/virtual_world.h"
#include "tests/support/fake_runner.h"
#include "tests/support/runtime_programs.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {
namespace {

ir::Program program_of(const std::string& command) {
  const bool second = command == "change";
  return ProgramBuilder()
      .deploy({"server"})
      .deploy({"worker", second ? 2 : 1})
      .file("worker", "tools", "/etc/motd", second ? "bye" : "hello")
      .build();
}

// Virtual time that goes on where the last process was, however that ended: it is kept in a file, in memory
// that both have, so that keeping it is no call at which one could be killed.
class KeptClock : public Clock {
 public:
  explicit KeptClock(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR);
    void* memory =
        file < 0 ? MAP_FAILED : ::mmap(nullptr, sizeof *millis_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) throw std::runtime_error(path + " cannot be mapped");
    ::close(file);
    millis_ = static_cast<std::atomic<long long>*>(memory);
  }
  ~KeptClock() override { ::munmap(millis_, sizeof *millis_); }
  KeptClock(const KeptClock&) = delete;
  KeptClock& operator=(const KeptClock&) = delete;
  static bool make(const std::string& path) {
    return write_file_atomic(path, std::string(sizeof(std::atomic<long long>), '\0')).ok();
  }

  double wall_seconds() override { return 1.7e9 + static_cast<double>(millis_->load()) / 1000; }
  std::chrono::steady_clock::time_point now() override {
    return std::chrono::steady_clock::time_point(std::chrono::hours(1000)) +
           std::chrono::milliseconds(millis_->load());
  }
  void sleep(std::chrono::milliseconds time) override {
    if (time.count() > 0) *millis_ += time.count();
  }
  bool passes_by_itself() const override { return false; }

 private:
  std::atomic<long long>* millis_ = nullptr;
};

// One process's view of the folder: the account, the state and the time.
class Life {
 public:
  explicit Life(const std::string& folder) : folder_(folder), clock_(folder + "/time"), random_(::getpid()) {
    simulated::Options options;
    options.file = folder + "/account";
    options.faults.latency = 0.2;
    options.faults.boot = 40;
    options.faults.shutdown = 10;
    options.faults.consistency = 30;
    options.faults.page_size = 3;
    options.faults.foreign = 4;
    auto made = simulated::SimulatedCloud::make(options, clock_);
    if (!made.ok()) throw std::runtime_error(made.status().text());
    cloud_ = std::move(*made);
    clouds_.add(*cloud_);
    clouds_.fallback = cloud_->id().text();
  }

  Status run(const std::string& command) {
    auto store = Store::open(folder_ + "/.radl", "demo", OpenMode::Create, world_);
    if (!store.ok()) return store.status();
    if (Status locked = (*store)->lock(command, std::chrono::milliseconds(0)); !locked.ok()) return locked;
    const ir::Program program = program_of(command);
    Cancellation cancellation;
    FakeRunner runner;
    Run run;
    run.world = &world_;
    run.store = store->get();
    run.clouds = &clouds_;
    run.runners[ir::StepKind::Native] = &runner;
    run.connect = always_connected();
    run.secrets = &secrets_;
    run.cancellation = &cancellation;
    run.program = command == "destroy" ? nullptr : &program;
    if (auto recovered = recover(run); !recovered.ok()) return std::move(recovered).status();
    auto state = (*store)->snapshot();
    if (!state.ok()) return state.status();
    if (command == "destroy") return destroy(run, make_destroy_plan(*state)).status;
    auto plan = plan_of(program, *state);
    return plan.ok() ? apply(run, *plan).status : plan.status();
  }

  // Everything once, as the state says, and nothing left to do; after "destroy" nothing at all.
  void expect_done(const std::string& command) {
    auto store = Store::open(folder_ + "/.radl", "demo", OpenMode::Read, world_);
    Snapshot state;
    if (store.ok()) state = *(*store)->snapshot();
    EXPECT_EQ(state.open_intents, 0u);
    std::vector<std::string> there;
    for (const std::string& name : cloud_->infrastructures()) {
      simulated::Standing standing = cloud_->standing(name);
      there.insert(there.end(), standing.left.begin(), standing.left.end());
      EXPECT_TRUE(standing.doubled.empty()) << standing.doubled.front();
    }
    EXPECT_EQ(cloud_->foreign_touched(), 0u);
    EXPECT_EQ(there.size(), state.resources.size()) << testing::PrintToString(there);
    for (const auto& [address, record] : state.resources) EXPECT_TRUE(cloud_->exists(record.id)) << address;
    if (command == "destroy") {
      EXPECT_TRUE(state.resources.empty());
      return;
    }
    EXPECT_EQ(state.resources.count("server[0]"), 1u);
    auto plan = plan_of(program_of(command), state);
    ASSERT_TRUE(plan.ok()) << plan.status().text();
    EXPECT_FALSE(plan->changes_anything()) << render_text(*plan);
  }

 private:
  Result<Plan> plan_of(const ir::Program& program, const Snapshot& state) {
    return make_plan({program, state, clouds_, catalog_, fingerprints(state, secrets_), nullptr, {}, {}, {}});
  }

  const std::string folder_;
  KeptClock clock_;
  SeededRandom random_;
  World world_{clock_, real_world().files, random_};
  std::unique_ptr<simulated::SimulatedCloud> cloud_;
  CloudSet clouds_;
  Catalog catalog_;
  ir::Secrets secrets_;
};

enum class End { Done, Killed, Failed };

// `command` as a process of its own, killed at its n-th point; 0: never.
End process(const std::string& folder, const std::string& command, long long n) {
  const pid_t child = ::fork();
  if (child == 0) {
    char self[4096] = {};
    if (::readlink("/proc/self/exe", self, sizeof self - 1) < 0) ::_exit(9);
    const std::string library =
        std::string(self).substr(0, std::string(self).rfind('/')) + "/libradl_kill_points.so";
    if (n > 0) {
      ::setenv("RADL_KILL_AT", std::to_string(n).c_str(), 1);
      ::setenv("LD_PRELOAD", library.c_str(), 1);
    }
    ::execl(self, self, "--run", folder.c_str(), command.c_str(), nullptr);
    ::_exit(9);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGKILL ? End::Killed : End::Failed;
  return WEXITSTATUS(status) == 0 ? End::Done : End::Failed;
}

// Kills `first` at each point in turn, then runs `then`.
void at_every_point(const std::vector<std::string>& before, const std::string& first,
                    const std::string& then) {
  TemporaryFolder start;
  std::filesystem::create_directories(start.path("standing"));
  ASSERT_TRUE(KeptClock::make(start.path("standing/time")));
  for (const std::string& command : before)
    ASSERT_EQ(process(start.path("standing"), command, 0), End::Done) << command;
  long long n = 0;
  for (End end = End::Killed; end == End::Killed && !testing::Test::HasFailure();) {
    SCOPED_TRACE(first + " was killed at point " + std::to_string(++n));
    TemporaryFolder folder;
    const std::string place = folder.path("standing");
    std::filesystem::copy(start.path("standing"), place, std::filesystem::copy_options::recursive);
    if (!before.empty()) {  // the copy takes the place of the original
      auto store = Store::open(place + "/.radl", "demo", OpenMode::Create, real_world());
      ASSERT_TRUE(store.ok()) << store.status().text();
      ASSERT_TRUE((*store)->adopt().ok());
    }
    end = process(place, first, n);
    ASSERT_NE(end, End::Failed);
    ASSERT_EQ(process(place, then, 0), End::Done) << then;
    Life(place).expect_done(then);
  }
  // The loop is worth something only if there was a good number of points to be killed at.
  EXPECT_GT(n, 30);
  std::printf("  killed at each of %lld points\n", n - 1);
}

TEST(SimulatedCrash, ApplyThenApply) { at_every_point({}, "apply", "apply"); }
TEST(SimulatedCrash, ApplyThenDestroy) { at_every_point({}, "apply", "destroy"); }
TEST(SimulatedCrash, AChangeThenTheChange) { at_every_point({"apply"}, "change", "change"); }
TEST(SimulatedCrash, DestroyThenDestroy) { at_every_point({"apply"}, "destroy", "destroy"); }

}  // namespace

int run_alone(const std::string& folder, const std::string& command) {
  Status done = Life(folder).run(command);
  if (!done.ok()) std::fprintf(stderr, "%s: %s\n", command.c_str(), done.text().c_str());
  return done.ok() ? 0 : 1;
}

}  // namespace radl::test

int main(int count, char** words) {
  if (count == 4 && std::strcmp(words[1], "--run") == 0) return radl::test::run_alone(words[2], words[3]);
  testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
