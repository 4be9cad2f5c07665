// Two users with different credentials, working folders and stops run 50 applies at once in one process, as a
// service does for them. Build it with -fsanitize=thread to look for data races as well.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "runtime/driver/driver.h"
#include "runtime/state/index.h"
#include "tests/support/buckets.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {
namespace {

using namespace driver;

constexpr int kRunsOfEach = 25, kStopped = 5, kParallelism = 2;
// Of one run besides its own and its workers: what watches its lock, its clouds and its events.
constexpr size_t kHelpers = 6;

struct Person {
  Person(const std::string& called, const ScriptedServer& store)
      : name(called),
        environment(Environment::Variables{{"HOME", folder.path("home")},
                                           {"PATH", "/usr/bin:/bin"},
                                           {"AWS_ACCESS_KEY_ID", "AKID" + called},
                                           {"AWS_SECRET_ACCESS_KEY", "secret of " + called},
                                           {"AWS_REGION", "eu-west-1"},
                                           {"AWS_EC2_METADATA_DISABLED", "true"},
                                           {"AWS_ENDPOINT_URL_S3", store.url("")},
                                           {"RADL_LOCAL_ISOLATION", "off"},
                                           {"RADL_LOCAL_NETWORK", "shared"}}) {}

  const std::string name;
  TemporaryFolder folder{TemporaryFolder::Place::Disk};
  const Environment environment;
};

// One infrastructure of a user's: every second one keeps its state in the user's bucket, the others in a
// folder that is relative to the user's.
struct OneRun {
  OneRun(const Person& user, int number)
      : in_bucket(number % 2 == 0),
        file(user.folder.path("run" + std::to_string(number) + ".radl")),
        world{real_world().clock, real_world().files, real_world().random,
              user.environment.with("RADL_STATE",
                                    in_bucket ? "s3://states-of-" + user.name + "/p" : "states")} {
    std::ofstream(file) << "network n ()\nsystem a (net_interface.0.connection = 'n')\ndeploy a 1\n";
    machinery.cloud = "local";
    machinery.parallelism = kParallelism;
    project.files = {file};
  }

  Status apply(bool stopped) {
    Apply apply(host, {.project = project, .machinery = machinery}, cancellation,
                [](const driver::Notice&) {});
    Status status = apply.load({});
    if (status.ok()) status = apply.begin();
    if (status.ok()) status = apply.make_plan();
    if (!status.ok()) return status;
    if (stopped) cancellation.request();
    return apply.run_round().report.status;
  }
  Status destroy() {
    Cancellation own;
    Destroy destroy(host, {.project = project, .machinery = machinery}, own, [](const driver::Notice&) {});
    Status status = destroy.find();
    if (status.ok()) status = destroy.make_machinery();
    if (status.ok()) status = destroy.begin("");
    if (status.ok()) status = destroy.make_plan();
    if (!status.ok()) return status;
    status = destroy.execute().report.status;
    return status.ok() ? destroy.finish().status() : status;
  }

  const bool in_bucket;
  const std::string file;
  World world;
  Host host{.folder = std::filesystem::path(file).parent_path().string(), .principal = "", .world = &world};
  ProjectOptions project;
  MachineryOptions machinery;
  Cancellation cancellation;
  Status applied, destroyed;
};

size_t threads_now() {
  size_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc/self/task", error), end; !error && at != end;
       at.increment(error))
    ++count;
  return count;
}

TEST(SideBySide, FiftyAppliesOfTwoUsersInOneProcess) {
  ASSERT_FALSE(environment_of_process().has("AWS_ACCESS_KEY_ID")) << "the users' own are looked for";
  Buckets buckets;
  ScriptedServer store([&](const std::string& request) { return buckets.answer(request); });
  Person ana("ana", store), ben("ben", store);
  std::vector<std::unique_ptr<OneRun>> runs;
  for (int i = 0; i < kRunsOfEach; ++i) {
    runs.push_back(std::make_unique<OneRun>(ana, i));
    runs.push_back(std::make_unique<OneRun>(ben, i));
  }
  // Ben stops some of his runs; other users are not affected.
  const auto is_stopped = [&](size_t i) { return i % 2 == 1 && i / 2 < kStopped; };

  const size_t before = threads_now();
  std::atomic<size_t> most{0};
  std::atomic<bool> over{false};
  std::thread counting([&] {
    while (!over) {
      most = std::max(most.load(), threads_now());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const auto all_at_once = [&](auto work) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < runs.size(); ++i) threads.emplace_back([&, i] { work(*runs[i], i); });
    for (std::thread& thread : threads) thread.join();
  };
  all_at_once([&](OneRun& run, size_t i) { run.applied = run.apply(is_stopped(i)); });
  over = true;
  counting.join();
  for (size_t i = 0; i < runs.size(); ++i) {
    const Status& status = runs[i]->applied;
    EXPECT_EQ(status.code(), is_stopped(i) ? Code::Cancelled : Code::Ok) << i << ": " << status.text();
  }
  EXPECT_LE(most, before + 1 + runs.size() * (1 + kParallelism + kHelpers));

  for (const Person* user : {&ana, &ben}) {
    EXPECT_TRUE(std::filesystem::exists(user->folder.path("states/run1/state.db")));
    EXPECT_FALSE(std::filesystem::exists(user->folder.path("states/run2"))) << "that is in the bucket";
    auto known = known_states(user->folder.path("home/.local/state/radlc/infrastructures.json"));
    ASSERT_TRUE(known.ok()) << known.status().text();
    EXPECT_EQ(known->size(), size_t{kRunsOfEach});
  }
  const std::map<std::string, std::set<std::string>> own = {{"states-of-ana", {"AKIDana"}},
                                                            {"states-of-ben", {"AKIDben"}}};
  EXPECT_EQ(buckets.signed_by(), own);

  all_at_once([&](OneRun& run, size_t) { run.destroyed = run.destroy(); });
  for (const auto& run : runs) EXPECT_TRUE(run->destroyed.ok()) << run->file << ": " << run->destroyed.text();
  EXPECT_EQ(buckets.left(), 0u);
}

}  // namespace
}  // namespace radl::test
