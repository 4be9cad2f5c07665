// The driver as a front end that is not the command line uses it: values and notices, several users in one
// process.
#include "runtime/driver/driver.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "runtime/state/index.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {
namespace {

using namespace driver;

constexpr const char* kTwoSystems =
    "network n ()\nsystem a (net_interface.0.connection = 'n')\nsystem b (net_interface.0.connection = 'n')\n"
    "deploy a 1\ndeploy b 2\n";

// One user: a home, a project and what the runs said.
struct User {
  explicit User(const std::string& text = kTwoSystems) {
    host.folder = folder.path();
    host.world = &world;
    std::ofstream(folder.path("demo.radl")) << text;
    request.project.files = {folder.path("demo.radl")};
    request.machinery.cloud = "local";
  }
  Tell tell() {
    return [this](const driver::Notice& notice) { told.push_back(notice.text); };
  }
  std::unique_ptr<Apply> apply() { return std::make_unique<Apply>(host, request, cancellation, tell()); }

  void set(const std::string& name, std::string value) {
    world.environment = world.environment.with(name, std::move(value));
  }

  TemporaryFolder folder;
  World world{real_world().clock, real_world().files, real_world().random,
              Environment(Environment::Variables{{"HOME", folder.path("home")}, {"PATH", "/usr/bin:/bin"}})};
  Host host;
  ApplyRequest request;
  Cancellation cancellation;
  std::vector<std::string> told;
};

size_t creations(const Plan& plan) {
  size_t count = 0;
  for (const Action& action : plan.actions) count += !action.is_step && action.verb == Verb::Create;
  return count;
}

TEST(Driver, FilesOfAUserFollowTheHostAndNotTheProcess) {
  World world{real_world().clock, real_world().files, real_world().random};
  const Host host{.folder = "/", .principal = "", .world = &world};
  EXPECT_EQ(host.data_file("x"), "") << "there is no home";
  world.environment = Environment(Environment::Variables{{"HOME", "/home/ana"}});
  EXPECT_EQ(host.state_file("x"), "/home/ana/.local/state/radlc/x");
  EXPECT_EQ(host.catalog_file("ec2"), "/home/ana/.local/share/radlc/catalog/ec2.catalog");
  world.environment = world.environment.with("XDG_DATA_HOME", "relative");
  EXPECT_EQ(host.data_file("x"), "/home/ana/.local/share/radlc/x");
  world.environment = world.environment.with("XDG_DATA_HOME", "/data");
  EXPECT_EQ(host.data_file("x"), "/data/radlc/x");
}

TEST(Driver, FindingsOfTheCompilerAreValues) {
  User user("deploy missing 1\n");
  auto apply = user.apply();
  const Status loaded = apply->load({});
  EXPECT_EQ(loaded.code(), Code::Invalid);
  EXPECT_EQ(loaded.message(), "");
  EXPECT_GT(apply->project().diagnostics.errors(), 0u);
}

TEST(Driver, AnInputIsAskedOfTheFrontEndOnce) {
  User user(
      "radl 2\ninput nodes ( type = integer )\nnetwork n ()\nsystem a (net_interface.0.connection = 'n')\n"
      "deploy a input.nodes\n");
  int asked = 0;
  auto apply = user.apply();
  const Status loaded =
      apply->load([&](const std::string& name, const std::string&, bool) -> std::optional<std::string> {
        EXPECT_EQ(name, "nodes");
        ++asked;
        return "3";
      });
  ASSERT_TRUE(loaded.ok()) << loaded.text();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(apply->project().deployed.at("a"), 3);
}

TEST(Driver, PlansWithTheLockAndSaysWhoHoldsIt) {
  User user;
  user.host.principal = "ana@example.org";
  auto first = user.apply();
  ASSERT_TRUE(first->load({}).ok());
  ASSERT_TRUE(first->begin().ok());
  ASSERT_TRUE(first->make_plan().ok());
  EXPECT_GE(creations(first->plan()), 3u);
  EXPECT_TRUE(first->asks_approval());
  auto second = user.apply();
  ASSERT_TRUE(second->load({}).ok());
  const Status held = second->begin();
  EXPECT_EQ(held.code(), Code::Conflict);
  EXPECT_NE(held.hint().find("radlc state unlock"), std::string::npos);
  EXPECT_NE(held.message().find("ana@example.org"), std::string::npos) << held.text();
}

// As in a service: the process goes on.
TEST(Driver, ALockIsFreeOnceItsRunHasEnded) {
  User user;
  auto first = user.apply();
  ASSERT_TRUE(first->load({}).ok());
  ASSERT_TRUE(first->begin().ok());
  first.reset();
  auto second = user.apply();
  ASSERT_TRUE(second->load({}).ok());
  EXPECT_TRUE(second->begin().ok());
}

TEST(Driver, ASavedPlanNeedsNoApprovalAndIsRefusedOnceItsSourcesChange) {
  User user;
  Project project;
  ASSERT_TRUE(load_project(user.host, user.request.project, {}, project).ok());
  Preview preview;
  Status seen =
      preview_apply(project, {user.request.machinery, {}, true}, user.cancellation, user.tell(), preview);
  ASSERT_TRUE(seen.ok()) << seen.text();
  EXPECT_TRUE(preview.snapshot.resources.empty());
  std::ofstream(user.folder.path("saved")) << saved_plan_of(project, preview.plan);
  user.request.project.files = {user.folder.path("saved")};
  auto apply = user.apply();
  const Status loaded = apply->load({});
  ASSERT_TRUE(loaded.ok()) << loaded.text();
  EXPECT_FALSE(apply->asks_approval());
  ASSERT_TRUE(apply->begin().ok());
  ASSERT_TRUE(apply->make_plan().ok());
  EXPECT_EQ(creations(apply->plan()), creations(preview.plan));
  std::ofstream(user.folder.path("demo.radl"), std::ios::app) << "# changed\n";
  EXPECT_EQ(user.apply()->load({}).code(), Code::Conflict);
}

TEST(Driver, AutoscaleNeedsAResourceThatSaysWhichNodesAreWanted) {
  User user;
  Project project;
  ASSERT_TRUE(load_project(user.host, user.request.project, {}, project).ok());
  Autoscale autoscale(project, user.request.project, user.tell());
  EXPECT_EQ(autoscale.begin().code(), Code::Invalid);
  EXPECT_TRUE(autoscale.steps().empty());
}

TEST(Driver, UsersOfOneProcessDoNotSeeEachOther) {
  constexpr int kUsers = 8;
  std::vector<std::unique_ptr<User>> users;
  for (int i = 0; i < kUsers; ++i) {
    users.push_back(std::make_unique<User>());
    users[i]->set("RADL_STATE", "states-" + std::to_string(i));
  }
  std::vector<Status> ended(kUsers);
  std::vector<size_t> made(kUsers);
  std::vector<std::thread> threads;
  for (int i = 0; i < kUsers; ++i) {
    threads.emplace_back([&, i] {
      auto apply = users[i]->apply();
      Status& status = ended[i];
      status = apply->load({});
      if (status.ok()) status = apply->begin();
      if (status.ok()) status = apply->make_plan();
      made[i] = creations(apply->plan());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kUsers; ++i) {
    EXPECT_TRUE(ended[i].ok()) << ended[i].text();
    EXPECT_GE(made[i], 3u);
    const std::string states = users[i]->folder.path("states-" + std::to_string(i));
    auto names = list_states(states, users[i]->world.environment);
    ASSERT_TRUE(names.ok()) << names.status().text();
    EXPECT_EQ(*names, std::vector<std::string>{"demo"});
    auto known = known_states(users[i]->host.infrastructures_index());
    ASSERT_TRUE(known.ok()) << known.status().text();
    ASSERT_EQ(known->size(), 1u);
    EXPECT_EQ(known->front().directory, states);
  }
}

}  // namespace
}  // namespace radl::test
