// Existing machines: taken by one infrastructure, used with its key, and given back as they were.
#include "runtime/clouds/hosts/hosts_cloud.h"
#include "runtime/base/sudo_secret.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/shell_quote.h"
#include "runtime/net/lease.h"
#include "runtime/steps/native_runner.h"
#include "tests/support/existing_machine.h"
#include "tests/support/second_login.h"
#include "tests/support/test_target.h"

namespace radl {
namespace {

using test::contains;
using test::ExistingMachine;
using Answer = Asked::Answer;

Order order_for(const std::string& machine, const std::string& address = "worker[0]") {
  return test::TestNodes::order("host", address, {{"machine", machine}, {"requires", Json::object()}},
                                "token-" + address);
}

// One infrastructure that uses such machines.
struct Infrastructure {
  explicit Infrastructure(const std::string& config) : cloud(hosts::make_cloud({config, {}})) {
    context.infrastructure = "test-" + to_hex(random_bytes(4));
    context.work_directory = folder.path("work");
    context.secrets = &secrets;
    context.run = "run-1";
    context.log = [this](const std::string& line) { log += line + "\n"; };
  }

  Asked take(const Order& order) { return cloud->ask_create(context, order); }
  Asked give_back(const std::string& id, const std::string& type = "host") {
    Order order;
    order.address = "worker[0]";
    order.type = type;
    order.id = id;
    return cloud->ask_destroy(context, order);
  }
  std::vector<Seen> look(const Query& query) {
    auto seen = cloud->look(context, query);
    EXPECT_TRUE(seen.ok()) << seen.status().text();
    return seen ? *seen : std::vector<Seen>();
  }
  std::optional<Seen> find(const std::string& token) {
    auto seen = look({{token}, {}, false});
    return seen.empty() ? std::nullopt : std::optional<Seen>(seen.front());
  }
  Seen taken(const Order& order) {
    Asked asked = take(order);
    EXPECT_EQ(asked.answer, Answer::Accepted) << asked.status.text();
    auto seen = find(order.token);
    EXPECT_TRUE(seen) << order.address;
    return seen.value_or(Seen());
  }

  test::TemporaryFolder folder;
  ir::Secrets secrets;
  Context context{.environment = environment_of_process()};
  std::string log;
  std::unique_ptr<Cloud> cloud;
};

std::string run(const Infrastructure& ours, const Seen& seen, const std::string& command) {
  auto target = test::target_of(seen.attributes, ours.context.work_directory);
  if (!target) return target.status().text();
  auto result = ssh::make_remote(*target)->exec(command);
  return result ? result->out + result->err : result.status().text();
}

struct HostsTest : testing::Test {
  HostsTest() { user.knows("gpu1", machine); }
  test::SshUser user;
  ExistingMachine machine{user.public_key};
  Infrastructure ours{user.config()};
};

TEST_F(HostsTest, AMachineIsTakenByItsNameAndReachedWithOurKey) {
  Seen seen = ours.taken(order_for("ssh://gpu1"));
  EXPECT_EQ(seen.phase, ResourcePhase::Ready) << seen.detail;
  EXPECT_EQ(seen.id, "ssh://gpu1");
  EXPECT_EQ(seen.address, "worker[0]");
  EXPECT_EQ(seen.attributes.at("host"), machine.host) << "as ~/.ssh/config says";
  EXPECT_EQ(seen.attributes.at("port"), machine.port);
  EXPECT_EQ(seen.attributes.at("home"), machine.home());
  EXPECT_EQ(seen.attributes.at("private_ip"), machine.host);
  EXPECT_TRUE(seen.attributes.at("public_ip").is_null());
  EXPECT_GE(seen.attributes.at("cpu_count").get<double>(), 1);
  EXPECT_GE(seen.attributes.at("memory_bytes").get<double>(), 1 << 28);
  EXPECT_EQ(seen.attributes.at("os"), "linux");
  user.has_key(false);
  user.forgets_host_keys();
  EXPECT_EQ(run(ours, seen, "echo $HOME"), machine.home() + "\n")
      << "from now on without the user's own means";
  const std::string keys = *read_file(machine.home(".ssh/authorized_keys"));
  EXPECT_TRUE(keys.ends_with("\n# by hand\n" + user.public_key));
  struct stat info {};
  ASSERT_EQ(::stat(machine.home(".ssh/authorized_keys").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640U) << "as the user has it";
}

TEST_F(HostsTest, AnAccountThatRunsNoCommandsIsRefusedWithWhatItPrints) {
  ExistingMachine closed{user.public_key, {"ForceCommand echo Please log in as admin.; exit 142"}};
  user.knows("closed", closed);
  const auto before = closed.files();
  Asked refused = ours.take(order_for("ssh://closed"));
  EXPECT_EQ(refused.answer, Answer::Refused);
  EXPECT_TRUE(contains(refused.status.message(), "Please log in as admin."));
  EXPECT_EQ(closed.files(), before);
}

TEST_F(HostsTest, ALoginThatIsRefusedNamesTheKeysThatWereTried) {
  const std::string missing = ours.folder.path("no-such-key");
  const std::string config = ours.folder.path("config");
  user.has_key(false);
  ASSERT_TRUE(
      write_file_atomic(config, "Host *\n  IdentityFile " + missing + "\n" + *read_file(user.config()), 0600)
          .ok());
  Infrastructure theirs(config);
  Asked refused = theirs.take(order_for("ssh://gpu1"));
  EXPECT_EQ(refused.status.code(), Code::Auth) << refused.status.text();
  EXPECT_TRUE(contains(refused.status.message(), missing + ": no such file"));
}

TEST_F(HostsTest, GivenBackItIsAsItWas) {
  auto before = machine.files();
  Seen seen = ours.taken(order_for("ssh://gpu1"));
  EXPECT_NE(machine.files(), before);
  EXPECT_EQ(ours.give_back(seen.id).answer, Answer::Accepted);
  EXPECT_EQ(machine.files(), before);
  EXPECT_TRUE(ours.look({{}, {}, true}).empty() || ours.look({{}, {}, true}).front().type == "key");
  EXPECT_EQ(ours.give_back(seen.id).answer, Answer::Accepted) << "gone already is fine";
  EXPECT_EQ(ours.give_back("key", "key").answer, Answer::Accepted);
  EXPECT_TRUE(std::filesystem::is_empty(ours.context.work_directory));
}

TEST_F(HostsTest, WhatOurStepsKeepGoesAndWhatRecipesMadeAndTheUserHasStays) {
  std::filesystem::create_directories(machine.home(".radl/work"));
  std::ofstream(machine.home(".radl/work/state")) << "of an infrastructure that is run from there";
  auto before = machine.files();
  Seen seen = ours.taken(order_for("ssh://gpu1"));
  ir::Node node;
  node.address = "worker[0]";
  ir::Step step;
  step.id = "worker[0]/tools";
  step.nodes = {"worker[0]"};
  step.resources.push_back(
      {"file", machine.home("large"), ir::Json{{"content", std::string(1 << 20, 'x')}}, {}});
  auto remote = ssh::make_remote(*test::target_of(seen.attributes, ours.context.work_directory));
  NodeHandle handle;
  handle.address = "worker[0]";
  handle.node = &node;
  handle.attributes = seen.attributes;
  handle.connect = [&]() -> Result<Remote*> { return remote.get(); };
  StepContext context;
  context.context = &ours.context;
  context.log_path = ours.folder.path("step.log");
  auto outcome = make_native_runner()->run(context, step, {handle});
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  for (const char* part : {"cache", "datasets", "engine", "jobs", "lease", "stage"})
    std::filesystem::create_directories(machine.home(std::string(".radl/") + part));
  EXPECT_EQ(ours.give_back(seen.id).answer, Answer::Accepted);
  auto after = machine.files();
  EXPECT_EQ(after.erase("large"), 1u) << "what a recipe made is what the user asked for";
  EXPECT_EQ(after, before);
}

TEST_F(HostsTest, WhatStillRunsForAStepEndsBeforeItIsGivenBack) {
  Seen seen = ours.taken(order_for("ssh://gpu1"));
  auto remote = ssh::make_remote(*test::target_of(seen.attributes, ours.context.work_directory));
  Lease lease{ours.context.infrastructure, "an earlier run", "worker[0]/tools", "-"};
  const std::string began = machine.home("began");
  (void)remote->exec("setsid /bin/sh -c " +
                     shell_quote(under_lease(lease, "echo $$ > " + began + "; exec sleep 600")) +
                     " >/dev/null 2>&1 </dev/null &");
  ASSERT_TRUE(test::wait_until([&] { return std::filesystem::exists(began); }));
  ASSERT_TRUE(test::wait_until([&] { return !read_file(began)->empty(); }));
  int pid = std::stoi(*read_file(began));
  EXPECT_EQ(ours.give_back(seen.id).answer, Answer::Accepted);
  EXPECT_TRUE(test::wait_until([&] { return process_start_time(pid) == 0; }));
}

TEST_F(HostsTest, AProgramThatStillRunsEndsBeforeItsMachineIsGivenBack) {
  Seen seen = ours.taken(order_for("ssh://gpu1"));
  const std::string started =
      run(ours, seen,
          "mkdir -p ~/.radl/jobs/p-1 && cd ~/.radl/jobs/p-1\n"
          "RADL_TASK=\"$PWD/member-0:\" setsid sh -c 'trap \"touch ~/asked; exit\" TERM; touch begun; "
          "while :; do sleep 0.05; done' < /dev/null > /dev/null 2>&1 &\n"
          "while [ ! -e begun ]; do sleep 0.01; done; grep -lF \"RADL_TASK=$PWD/\" /proc/[0-9]*/environ");
  ASSERT_TRUE(contains(started, "/environ"));
  EXPECT_EQ(ours.give_back(seen.id).answer, Answer::Accepted);
  EXPECT_TRUE(std::filesystem::exists(machine.home("asked"))) << "it may write a checkpoint";
  const std::string path = started.substr(0, started.find('\n'));
  auto environment = read_file(path);
  EXPECT_FALSE(environment.ok() && environment->find("RADL_TASK=") != std::string::npos) << path;
}

TEST_F(HostsTest, TakenTwiceWithOneTokenIsTakenOnce) {
  Seen first = ours.taken(order_for("ssh://gpu1"));
  auto files = machine.files();
  Seen second = ours.taken(order_for("ssh://gpu1"));
  EXPECT_EQ(first.id, second.id);
  EXPECT_EQ(first.attributes.at("host_key"), second.attributes.at("host_key"));
  EXPECT_EQ(machine.files(), files);
}

TEST_F(HostsTest, AMachineOfAnotherUserIsRejectedAndUnchanged) {
  ours.taken(order_for("ssh://gpu1"));
  auto files = machine.files();
  Infrastructure others(user.config());
  Order order = order_for("ssh://gpu1");
  order.token = "another";
  Asked asked = others.take(order);
  EXPECT_EQ(asked.answer, Answer::Refused);
  EXPECT_EQ(asked.status.code(), Code::Conflict);
  EXPECT_TRUE(contains(asked.status.message(), ours.context.infrastructure));
  Order second = order_for("ssh://gpu1", "worker[1]");
  EXPECT_EQ(ours.take(second).status.code(), Code::Conflict) << "nor can another node of ours be it";
  EXPECT_EQ(others.give_back("ssh://gpu1").answer, Answer::Accepted) << "it never had it";
  EXPECT_EQ(machine.files(), files);
  EXPECT_TRUE(others.look({{}, {}, true}).empty());
  EXPECT_EQ(ours.find("token-worker[0]")->phase, ResourcePhase::Ready);
}

TEST_F(HostsTest, AnAddressWithUserAndPortNeedsNoName) {
  Seen seen = ours.taken(
      order_for("ssh://" + machine.user() + "@" + machine.host + ":" + std::to_string(machine.port)));
  EXPECT_EQ(run(ours, seen, "echo ok"), "ok\n");
}

TEST_F(HostsTest, AMachineBehindAJumpHostIsReachedByTheConfiguration) {
  ExistingMachine inner(user.public_key);
  user.knows("inner", inner, "  ProxyJump gpu1\n");
  auto before = inner.files(), gate = machine.files();
  Seen seen = ours.taken(order_for("ssh://inner"));
  EXPECT_EQ(seen.phase, ResourcePhase::Ready) << seen.detail;
  EXPECT_EQ(run(ours, seen, "echo $HOME"), inner.home() + "\n");
  // From the gate, not from here.
  EXPECT_TRUE(contains(run(ours, seen, "echo $SSH_CONNECTION"), " " + inner.host + " "));
  EXPECT_EQ(machine.files(), gate) << "a gate is only passed";
  EXPECT_EQ(ours.give_back(seen.id).answer, Answer::Accepted);
  EXPECT_EQ(inner.files(), before);
}

TEST_F(HostsTest, AMachineThatDoesNotAnswerIsNamedAndNotTakenForGone) {
  Order order = order_for("ssh://gpu1");
  machine.stop();
  Asked asked = ours.take(order);
  EXPECT_EQ(asked.answer, Answer::Refused);
  EXPECT_EQ(asked.status.code(), Code::Retry) << asked.status.text();
  EXPECT_TRUE(contains(asked.status.message(), "worker[0] (gpu1)"));
  EXPECT_TRUE(ours.look({{order.token}, {}, false}).empty()) << "it was never asked to";
  machine.start();
  Seen seen = ours.taken(order);
  machine.stop();
  auto looked = ours.cloud->look(ours.context, {{}, {}, true});
  ASSERT_FALSE(looked.ok());
  EXPECT_TRUE(contains(looked.status().message(), "worker[0] (gpu1)"));
  Asked back = ours.give_back(seen.id);
  EXPECT_EQ(back.answer, Answer::Refused);
  EXPECT_TRUE(contains(back.status.message(), "worker[0] (gpu1)"));
  EXPECT_TRUE(contains(back.status.hint(), "state rm worker[0]"));
  EXPECT_NE(ours.give_back("key", "key").answer, Answer::Accepted) << "it is still needed";
  machine.start();
  EXPECT_EQ(ours.give_back(seen.id).answer, Answer::Accepted);
}

TEST_F(HostsTest, LoginsThatAreRefusedAreErrorsOfTheirOwn) {
  auto before = machine.files();
  user.has_key(false);
  Asked asked = ours.take(order_for("ssh://gpu1"));
  EXPECT_EQ(asked.answer, Answer::Refused);
  EXPECT_EQ(asked.status.code(), Code::Auth);
  EXPECT_TRUE(contains(asked.status.message(), "LOGIN REFUSED"));
  user.has_key(true);
  user.forgets_host_keys();
  asked = ours.take(order_for("ssh://gpu1"));
  EXPECT_EQ(asked.status.code(), Code::Auth);
  EXPECT_TRUE(contains(asked.status.message(), "host key is unknown"));
  EXPECT_TRUE(contains(asked.status.hint(), "`ssh -F '" + user.config() + "' gpu1`")) << asked.status.hint();
  const std::string port = std::to_string(machine.port);
  asked = ours.take(order_for("ssh://" + machine.user() + "@" + machine.host + ":" + port));
  EXPECT_TRUE(contains(asked.status.hint(), " -p " + port + " " + machine.user() + "@" + machine.host + "`"))
      << asked.status.hint();
  user.trusts(machine.address(), ssh::make_ed25519("another machine")->public_line);
  asked = ours.take(order_for("ssh://gpu1"));
  EXPECT_EQ(asked.status.code(), Code::Auth);
  EXPECT_TRUE(contains(asked.status.message(), "host key mismatch"));
  EXPECT_EQ(machine.files(), before);
}

TEST_F(HostsTest, APrivateKeyOfTheFileIsUsedAndNotKept) {
  user.has_key(false);
  Order order = order_for("ssh://gpu1");
  order.spec["credentials"]["private_key"] = {{"$secret", "KEY"}};
  Asked asked = ours.take(order);
  EXPECT_EQ(asked.answer, Answer::Refused);
  EXPECT_TRUE(contains(asked.status.message(), "secret KEY"));
  ours.secrets["KEY"] = user.private_key();
  Seen seen = ours.taken(order);
  EXPECT_EQ(run(ours, seen, "echo ok"), "ok\n");
  const std::string secret = user.private_key().substr(200, 60);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ours.context.work_directory)) {
    if (entry.is_regular_file()) {
      EXPECT_FALSE(contains(*read_file(entry.path().string()), secret)) << entry.path();
    }
  }
}

TEST_F(HostsTest, AMachineThatIsLessThanAskedForIsRefused) {
  auto before = machine.files();
  Order order = order_for("ssh://gpu1");
  order.spec["requires"] = {{"cpu.count", {{"min", 100000}}}, {"gpu.count", {{"min", 1000}}}};
  Asked asked = ours.take(order);
  EXPECT_EQ(asked.answer, Answer::Refused);
  EXPECT_EQ(asked.status.code(), Code::Invalid);
  EXPECT_TRUE(contains(asked.status.message(), "cpu.count >= 100000: it has "));
  EXPECT_TRUE(contains(asked.status.message(), "; gpu.count >= 1000: it has ")) << "all of it at once";
  EXPECT_EQ(machine.files(), before);
  // What it has no longer shows as a difference.
  ours.taken(order_for("ssh://gpu1"));
  order.id = "ssh://gpu1";
  EXPECT_EQ(ours.cloud->ask_update(ours.context, order).status.code(), Code::Invalid);
  order.spec["requires"] = {{"cpu.count", {{"min", 1}}}};
  EXPECT_EQ(ours.cloud->ask_update(ours.context, order).answer, Answer::Accepted);
  EXPECT_EQ(ours.find(order.token)->spec.at("requires"), order.spec["requires"]);
}

TEST_F(HostsTest, AKeyThatTheServerDoesNotLookAtIsTakenAwayAgain) {
  test::TemporaryFolder elsewhere;
  ASSERT_TRUE(write_file_atomic(elsewhere.path("keys"), user.public_key + "\n").ok());
  ExistingMachine other(user.public_key, {"AuthorizedKeysFile " + elsewhere.path("keys")});
  user.knows("other", other);
  auto before = other.files();
  Asked asked = ours.take(order_for("ssh://other"));
  EXPECT_EQ(asked.answer, Answer::Refused);
  EXPECT_EQ(asked.status.code(), Code::Auth);
  EXPECT_TRUE(contains(asked.status.message(), "authorized_keys"));
  EXPECT_EQ(other.files(), before);
}

TEST_F(HostsTest, WhatAStoppedRunBeganIsBrokenAndCanBeGivenBack) {
  auto before = machine.files();
  ours.taken(order_for("ssh://gpu1"));
  // A kill between the marker and the key.
  ASSERT_TRUE(
      write_file_atomic(machine.home(".ssh/authorized_keys"), "# by hand\n" + user.public_key, 0640).ok());
  auto after = hosts::make_cloud({user.config(), {}});  // another radlc
  auto seen = after->look(ours.context, {{"token-worker[0]"}, {}, false});
  ASSERT_TRUE(seen.ok()) << seen.status().text();
  ASSERT_EQ(seen->size(), 1u);
  EXPECT_EQ(seen->front().phase, ResourcePhase::Broken);
  EXPECT_EQ(ours.give_back("ssh://gpu1").answer, Answer::Accepted);
  EXPECT_EQ(machine.files(), before);
}

// Each program of the scripts fails once, at each of its calls.
TEST_F(HostsTest, WhateverFailsOnTheMachineIsAnErrorAndLeavesNothingThatIsNotFoundAgain) {
  auto before = machine.files();
  std::filesystem::create_directories(machine.programs());
  const std::string count = machine.programs() + "/.count";
  auto fail_at = [&](const std::string& program, int call) {
    const std::string real = find_program(environment_of_process(), program);
    std::ofstream(machine.programs() + "/" + program)
        << "#!/bin/sh\nn=$(/bin/cat " << count << " 2>/dev/null)\nn=$((${n:-0} + 1))\necho $n > " << count
        << "\n[ $n != " << call << " ] || exit 9\nexec " << real << " \"$@\"\n";
    std::filesystem::permissions(machine.programs() + "/" + program, std::filesystem::perms::owner_all);
    std::filesystem::remove(count);
  };
  int failures = 0;
  for (const std::string program : {"mkdir", "ln", "rm", "sed", "grep", "readlink", "cp", "cat", "mv"}) {
    for (int call = 1; call <= 3; ++call) {
      SCOPED_TRACE(program + " " + std::to_string(call));
      fail_at(program, call);
      Asked asked = ours.take(order_for("ssh://gpu1"));
      Asked back = ours.give_back("ssh://gpu1");
      failures += asked.answer != Answer::Accepted || back.answer != Answer::Accepted;
      std::filesystem::remove(machine.programs() + "/" + program);
      EXPECT_EQ(ours.give_back("ssh://gpu1").answer, Answer::Accepted);
      if (machine.files() != before) {
        EXPECT_EQ(machine.files(), before);
        return;
      }
    }
  }
  EXPECT_GE(failures, 9);
}

// radlc is killed while it takes a machine: what the next one finds by the token can be given back, and where
// it finds nothing there is nothing.
TEST_F(HostsTest, KilledAtAnyTimeItIsFoundByTheTokenOrNotThere) {
  auto before = machine.files();
  const Order order = order_for("ssh://gpu1");
  int found = 0, nothing = 0;
  for (int wait_ms = 20; wait_ms < 1300; wait_ms += 120) {
    SCOPED_TRACE(wait_ms);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      (void)ours.take(order);
      ::pause();
    }
    usleep(static_cast<useconds_t>(wait_ms) * 1000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ASSERT_TRUE(test::wait_until([&] { return !machine.is_busy(); }));
    Infrastructure next(user.config());
    next.context = ours.context;
    auto seen = next.find(order.token);
    ++(seen ? found : nothing);
    if (seen) {
      EXPECT_EQ(next.give_back(seen->id).answer, Answer::Accepted);
    }
    ASSERT_EQ(machine.files(), before);
    ASSERT_TRUE(test::wait_until([&] { return !machine.is_busy(); }));
  }
  EXPECT_GT(found, 0);
  EXPECT_GT(nothing, 0);
}

TEST_F(HostsTest, ASurveyTellsWhatMachinesAreAndWhoHasThem) {
  ir::Program program;
  ir::Node& node = program.nodes.emplace_back();
  node.address = "worker[0]";
  node.system = "worker";
  node.disks.push_back({});
  node.disks[0].image_urls = {"ssh://gpu1"};
  auto survey = ours.cloud->survey(ours.context, program);
  ASSERT_TRUE(survey.ok()) << survey.status().text();
  EXPECT_GT(survey->taken_at, 0);
  const Catalog catalog;
  const DesignInput input{program, {&node}, *survey, catalog};
  EXPECT_TRUE(ours.cloud->can_make(node, input).ok());
  node.requirements["memory.size"].min = 1e18;
  EXPECT_TRUE(contains(ours.cloud->can_make(node, input).message(), "worker[0]: gpu1: memory.size >= "));
  EXPECT_TRUE(ours.cloud->can_make(node, {program, {&node}, Survey(), catalog}).ok())
      << "without a survey the file's word is taken";
  node.requirements.clear();
  Infrastructure others(user.config());
  others.taken(order_for("ssh://gpu1"));
  auto again = ours.cloud->survey(ours.context, program);
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_TRUE(contains(ours.cloud->can_make(node, {program, {&node}, *again, catalog}).message(),
                       "taken by infrastructure '" + others.context.infrastructure));
  machine.stop();
  auto silent = ours.cloud->survey(ours.context, program);
  ASSERT_FALSE(silent.ok());
  EXPECT_TRUE(contains(silent.status().message(), "gpu1"));
  program.nodes.push_back(node);
  program.nodes[1].address = "worker[1]";
  program.nodes[1].disks[0].image_urls = {"ssh://127.0.0.1:9"};
  silent = ours.cloud->survey(ours.context, program);
  ASSERT_FALSE(silent.ok());
  for (const char* each : {"gpu1", "127.0.0.1:9: its host key is unknown"})
    EXPECT_TRUE(contains(silent.status().message(), each)) << "all of them at once";
}

// A user of its own, with a password and without ~/.ssh, needs a machine of its own.
struct IsolatedHostsTest : testing::Test {
  void SetUp() override {
    test::skip_without_isolation();
    if (IsSkipped()) return;
    nodes = std::make_unique<test::TestNodes>(local::Isolation::Required);
    made = nodes->make("machine[0]");
    attributes = test::second_login(made, login);
    root(" rm -r /home/bob/.ssh");
    user.trusts("[" + attributes.at("host").get<std::string>() + "]:2222", attributes.at("host_key"));
    user.has_key(false);
    order = order_for("ssh://bob@" + attributes.at("host").get<std::string>() + ":2222");
    order.spec["credentials"]["password"] = {{"$secret", "PASSWORD"}};
  }
  std::string root(const std::string& command) {
    auto target = test::target_of(made.attributes);
    if (!target) return target.status().text();
    auto result = ssh::make_remote(*target)->exec(command);
    return result ? result->out + result->err : result.status().text();
  }
  test::SecondLogin login;
  std::unique_ptr<test::TestNodes> nodes;
  Seen made;
  Json attributes;
  test::SshUser user;
  Order order;
};

TEST_F(IsolatedHostsTest, APasswordOpensAMachineAndLeavesNoTrace) {
  Infrastructure ours(user.config());
  const std::string before = root("cd /home/bob && find . | sort");
  ours.secrets["PASSWORD"] = "wrong";
  Asked refused = ours.take(order);
  EXPECT_EQ(refused.answer, Answer::Refused);
  EXPECT_EQ(refused.status.code(), Code::Auth) << refused.status.text();
  ours.secrets["PASSWORD"] = login.password;
  Seen seen = ours.taken(order);
  EXPECT_EQ(run(ours, seen, "id -un"), "bob\n");
  EXPECT_EQ(seen.attributes.at("sudo"), "password");
  EXPECT_TRUE(
      contains(ours.log, "sudo does not accept the password of user 'bob': what needs root will fail"));
  EXPECT_EQ(root("stat -c %a /home/bob/.ssh /home/bob/.ssh/authorized_keys"), "700\n600\n");
  ours.secrets.clear();
  EXPECT_EQ(ours.give_back(seen.id).answer, Answer::Accepted) << "our key is enough to give it back";
  EXPECT_EQ(root("cd /home/bob && find . | sort"), before);
}

TEST_F(IsolatedHostsTest, APasswordForSudoIsTriedBeforeAMachineIsTaken) {
  root("printf 'bob ALL=(ALL) ALL\n' > /etc/sudoers.d/bob; chmod 440 /etc/sudoers.d/bob");
  Infrastructure ours(user.config());
  ours.secrets = {{"PASSWORD", login.password}, {kSudoSecret, "wrong"}};
  order.spec["credentials"]["password"] = {{"$secret", "PASSWORD"}};
  ours.taken(order);  // what the file gives the login comes first
  EXPECT_FALSE(contains(ours.log, "what needs root will fail")) << ours.log;
  EXPECT_FALSE(contains(ours.log, login.password));
  EXPECT_EQ(ours.give_back("ssh://bob@" + attributes.at("host").get<std::string>() + ":2222").answer,
            Answer::Accepted);
}

}  // namespace
}  // namespace radl
