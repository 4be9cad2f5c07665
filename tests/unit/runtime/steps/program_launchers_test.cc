// What launchers need of a program step: the chief's way to its nodes, its end as the end of all, containers,
// the figures of members, GPUs.
#include <gtest/gtest.h>
#include <signal.h>

#include <mutex>
#include <thread>

#include "common/process/process.h"
#include "runtime/clouds/local/node_directory.h"
#include "runtime/clouds/local/node_process.h"
#include "runtime/steps/manifest.h"
#include "runtime/steps/program/facts.h"
#include "runtime/steps/program/launch.h"
#include "runtime/steps/program/verdict.h"
#include "runtime/steps/program_runner.h"
#include "tests/support/faulty_remote.h"
#include "tests/support/program_bench.h"
#include "tests/support/wait_until.h"

namespace radl {
namespace {

using test::contains;
using test::wait_until;

struct LauncherTest : test::ProgramBench {
  std::string home(size_t node) { return handles[node].attributes.at("home"); }
};

TEST_F(LauncherTest, TheChiefReachesItsNodesByAKeyThatIsTakenAwayAfterwards) {
  program(R"sh(
cp "$RADL_HOSTFILE" "$RADL_RESULTS/hosts"
for host in $(echo "$RADL_HOSTS" | tr , ' '); do
  ssh -x "$host" sh "\"\$HOME/$RADL_ENTER\"" sh -c "'echo member \$RADL_MEMBER of \$RADL_MEMBERS it\\'\\''s in \${PWD##*/}'"
done > "$RADL_RESULTS/members"
ssh "${RADL_HOSTS#*,}" 'setsid sleep 600 > /dev/null 2>&1 < /dev/null &'
)sh");
  step.program["runs_on"] = "first";
  step.program["ssh"] = true;
  step.program["workers"] = 2;
  ASSERT_TRUE(make_directories(home(1) + "/.ssh", 0700).ok());
  ASSERT_TRUE(write_file_atomic(home(1) + "/.ssh/authorized_keys", "ssh-ed25519 AAAA ana\n", 0600).ok());
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(nodes.folder.path("results/members")),
            "member 0 of 2 it's in source\nmember 1 of 2 it's in source\n");
  EXPECT_TRUE(contains(*read_file(nodes.folder.path("results/hosts")), " slots=2\n"));
  EXPECT_EQ(left(), 0u) << "what ssh has started on another node went on";
  EXPECT_EQ(*read_file(home(1) + "/.ssh/authorized_keys"), "ssh-ed25519 AAAA ana\n");
  EXPECT_EQ(*read_file(home(0) + "/.ssh/authorized_keys"), "");
  EXPECT_FALSE(std::filesystem::exists(home(0) + "/.radl/jobs/p-aaaaaaaaaaaa/ssh"));
}

TEST_F(LauncherTest, AfterAFailureTheKeyIsGoneToo) {
  program("exit 3");
  step.program["runs_on"] = "first";
  step.program["ssh"] = true;
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(contains(outcome.status().message(), "exit status 3"));
  for (size_t node : {0, 1}) EXPECT_EQ(*read_file(home(node) + "/.ssh/authorized_keys"), "");
}

TEST_F(LauncherTest, ANodeThatOnlyTheLauncherUsesIsMissedWhenItIsKilled) {
  program("echo begun; sleep 600");
  step.program["runs_on"] = "first";
  std::thread killer([&] {
    wait_until([&] { return contains(log(), "worker[0]  begun"); });
    for (int pid : processes(1, false)) kill(pid, SIGKILL);
  });
  auto outcome = run();
  killer.join();
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(contains(outcome.status().message(), "worker[1]"));
  EXPECT_EQ(processes(0, true).size(), 0u);
}

TEST_F(LauncherTest, MembersThatWaitForWorkEndWithTheChief) {
  program(R"sh(
if [ $RADL_MEMBER = 1 ]; then
  trap 'echo asked > "$RADL_CHECKPOINTS/asked"; exit 0' TERM
  touch "$SHARED"
  while :; do sleep 0.05; done
fi
while [ ! -e "$SHARED" ]; do sleep 0.05; done
echo done > "$RADL_RESULTS/end"
)sh");
  step.program["environment"] = {{"SHARED", nodes.folder.path("shared")}};
  step.program["ends"] = "chief";
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(nodes.folder.path("results/end")), "done\n");
  EXPECT_TRUE(read_file(home(1) + "/.radl/jobs/p-aaaaaaaaaaaa/checkpoints/asked").ok())
      << "it was killed at once";
  EXPECT_FALSE(contains(log(), "was killed")) << log();
  EXPECT_EQ(left(), 0u);
}

TEST_F(LauncherTest, WhatMembersUseIsReported) {
  program("i=0; while [ ! -e \"$SHARED\" ]; do i=$((i+1)); done");
  step.program["environment"] = {{"SHARED", nodes.folder.path("shared")}};
  auto busy = [&](const std::string& node) {
    std::lock_guard lock(mutex);
    for (const auto& event : events) {
      if (event.kind == "metric" && event.node == node && event.data.value("event", "") == "member" &&
          event.data.value("processors", 0.0) > 0.02 && event.data.value("memory_bytes", 0.0) > 1e5)
        return true;
    }
    return false;
  };
  std::thread user([&] {
    wait_until([&] { return busy("worker[0]") && busy("worker[1]"); });
    EXPECT_TRUE(write_file_atomic(nodes.folder.path("shared"), "").ok());
  });
  auto outcome = run();
  user.join();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_TRUE(busy("worker[0]") && busy("worker[1]"));
}

// Containers of podman's own where podman runs, of an image with one program, made here.
struct ContainerTest : LauncherTest {
  static bool shell(const std::string& script) {
    auto ran = run_process(environment_of_process(),
                           {.argv = {"/bin/sh", "-c", script}, .deadline = std::chrono::seconds(60)});
    return ran && ran->exit_status == 0;
  }
  bool podman(const std::string& words) { return shell(with + "podman " + words); }

  void SetUp() override {
    folder = nodes.folder.path("podman");
    ASSERT_TRUE(make_directories(folder).ok());
    // As little as podman can be asked for: containers within containers may set no limits.
    ASSERT_TRUE(
        write_file_atomic(folder + "/containers.conf",
                          "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n"
                          "[engine]\nevents_logger = \"file\"\ncgroup_manager = \"cgroupfs\"\n" +
                              std::string(shell("command -v runc") ? "runtime = \"runc\"\n" : ""))
            .ok());
    ASSERT_TRUE(write_file_atomic(folder + "/storage.conf", "[storage]\ndriver = \"vfs\"\ngraphroot = \"" +
                                                                folder + "/images\"\nrunroot = \"" + folder +
                                                                "/run\"\n")
                    .ok());
    with = "export CONTAINERS_CONF=" + folder + "/containers.conf CONTAINERS_STORAGE_CONF=" + folder +
           "/storage.conf; cd " + folder + "; ";
    if (!shell("command -v podman && [ -x /bin/busybox ]"))
      GTEST_SKIP() << "podman or /bin/busybox is missing: install podman and busybox-static";
    made = shell(with +
                 "mkdir -p root/bin && cp /bin/busybox root/bin/ && ln -s busybox root/bin/sh && echo tiny > "
                 "root/is-an-image && tar -C root -c . | podman import - localhost/tiny:1 && "
                 "podman run --rm --network=host localhost/tiny:1 sh -c true");
    if (!made) GTEST_SKIP() << "podman cannot run a container here";
    step.program["main"] = "sh";
    step.program["arguments"] = {"./run.sh"};
    step.program["image"] = "docker://localhost/tiny:1";
    step.program["environment"] = {{"TOKEN", "it's a secret"},
                                   {"CONTAINERS_CONF", folder + "/containers.conf"},
                                   {"CONTAINERS_STORAGE_CONF", folder + "/storage.conf"}};
  }
  void TearDown() override {
    if (made)
      (void)shell(with + "podman rm -af; podman rmi -f localhost/tiny:1; podman unshare rm -rf images run");
  }

  std::string folder, with;
  bool made = false;
};

TEST_F(ContainerTest, AProgramRunsInItsContainer) {
  program("echo \"$(busybox cat /is-an-image) $RADL_MEMBER $TOKEN\" > \"$RADL_RESULTS/said\"");
  step.program["collect"] = "all";
  auto outcome = run();
  EXPECT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(nodes.folder.path("results/worker[1]/said")), "tiny 1 it's a secret\n");
}

// The container is no child of what has started it.
TEST_F(ContainerTest, AfterAKillNoContainerGoesOn) {
  program("busybox touch \"$RADL_CHECKPOINTS/runs\"; exec busybox sleep 600");
  std::thread killer([&] {
    auto runs = [&](size_t node) {
      return std::filesystem::exists(home(node) + "/.radl/jobs/p-aaaaaaaaaaaa/checkpoints/runs");
    };
    wait_until([&] { return runs(0) && runs(1); });
    for (int pid : processes(1, true)) {
      auto line = read_file("/proc/" + std::to_string(pid) + "/cmdline");
      if (line && line->starts_with(std::string("podman\0run", 10))) kill(pid, SIGKILL);
    }
  });
  auto outcome = run();
  killer.join();
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(contains(outcome.status().message(), "worker[1]: was killed")) << outcome.status().message();
  EXPECT_EQ(left(), 0u);
  EXPECT_TRUE(shell(with + "[ -z \"$(podman ps -q)\" ]"));
}

// ---- the parts

TEST(ProgramLaunch, TheNetworkOfAllMembersIsTheSmallest) {
  const Json json = {{"name", "p"}, {"identity", std::string(64, 'a')}, {"python", {{"program", "python3"}}}};
  auto network = [&](const std::vector<std::string>& hosts) {
    std::vector<program::Place> places;
    for (const std::string& host : hosts) places.push_back({host, 20001});
    return program::member_variables(json, places, {}, 1).at("RADL_SUBNET");
  };
  EXPECT_EQ(network({"10.0.0.1", "10.0.0.6"}), "10.0.0.0/29");
  EXPECT_EQ(network({"10.0.0.5"}), "10.0.0.5/32");
  EXPECT_EQ(network({"172.31.1.9", "172.31.44.2"}), "172.31.0.0/18");
  EXPECT_EQ(network({"127.64.3.1", "127.70.0.9"}), "127.0.0.0/8");
  EXPECT_EQ(network({"10.0.0.1", "192.168.0.1"}), "0.0.0.0/1,128.0.0.0/1");
  EXPECT_EQ(network({"10.0.0.1", "[fd00::2]"}), "0.0.0.0/1,128.0.0.0/1");
}

TEST(ProgramLaunch, InAContainerVariablesGoByNameAlone) {
  Json json = {{"name", "p"},
               {"identity", std::string(64, 'a')},
               {"python", {{"program", "python3"}}},
               {"main", "train.py"},
               {"image", "docker://docker.io/library/python:3.12"},
               {"environment", {{"TOKEN", "s3cr3t"}}}};
  program::MemberSetting member;
  member.home = "/home/ana";
  member.folder = "/home/ana/.radl/jobs/p";
  auto last_line = [&](const char* container) {
    member.facts.container = container;
    const auto variables = program::member_variables(json, {{"10.0.0.1", 20001}}, member, 1);
    std::string script = program::member_script(json, variables, member);
    script.pop_back();
    return script.substr(script.rfind('\n') + 1);
  };
  const std::string podman = last_line("podman");
  EXPECT_EQ(podman.find("s3cr3t"), std::string::npos);
  for (const char* part : {"exec podman run --rm --network=host", " --env=TOKEN", " --env=RADL_MEMBER",
                           " --env=RADL_TASK", " --volume='/home/ana/.radl/jobs/p:/home/ana/.radl/jobs/p'",
                           " 'docker.io/library/python:3.12' 'python3' 'train.py'"})
    EXPECT_TRUE(contains(podman, part));
  const std::string apptainer = last_line("apptainer");
  EXPECT_TRUE(contains(apptainer, "exec apptainer exec --bind '/home/ana/.radl/jobs/p'"));
  EXPECT_TRUE(contains(apptainer, " 'docker://docker.io/library/python:3.12' 'python3' 'train.py'"));
}

// A machine whose nvidia-smi is the test's.
struct ProgramNeeds : testing::Test {
  ProgramNeeds() {
    node.address = "worker[0]";
    node.attributes = Json::object();
    node.connect = [this]() -> Result<Remote*> { return &remote; };
  }
  test::TemporaryFolder folder;
  test::ProcessRemote machine{folder.path()};
  test::FaultyRemote remote{machine};
  NodeHandle node;
  Context context{.environment = environment_of_process()};
  jobs::Member member{node, context, "t"};

  Result<program::NodeFacts> facts_of_node() {
    auto look = member.look(program::node_facts_script("python3", true));
    if (!look) return look.status();
    return program::read_node_facts(look->also, node.address);
  }
};

// The answers of nvidia-smi 550 on a machine with two GPUs, recorded: no GPU is needed here.
TEST_F(ProgramNeeds, GpusAreCountedAsNvidiaSmiShowsThem) {
  remote.fake("nvidia-smi", R"sh(cat <<'ANSWER'
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-2f1c7b0e-5f0e-7c0f-8a52-0d2f0e2b6a11)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-a94d3d5e-61a1-93a5-6c0b-6b6f0c8a7d42)
ANSWER)sh");
  auto facts = facts_of_node();
  ASSERT_TRUE(facts.ok()) << facts.status().text();
  EXPECT_EQ(facts->gpus, 2);
  EXPECT_TRUE(program::check_needs({{"gpu", 2}}, *facts, "worker[0]").ok());
  EXPECT_TRUE(contains(program::check_needs({{"gpu", 4}}, *facts, "worker[0]").message(),
                       "worker[0]: the program needs 4 GPUs, and nvidia-smi shows 2"));
  EXPECT_TRUE(facts->gpu_trouble.empty());
}

// What else it answers, recorded: each is an error that says what to do.
TEST_F(ProgramNeeds, WhatNvidiaSmiComplainsOfIsSaidWithWhatToDo) {
  auto lacking = [&](const char* answer, int needed) -> Status {
    if (answer != nullptr) remote.fake("nvidia-smi", answer);
    auto facts = facts_of_node();
    if (!facts) return facts.status();
    return program::check_needs({{"gpu", needed}}, *facts, "worker[0]");
  };
  Status lacks = lacking(nullptr, 1);
  EXPECT_EQ(lacks.code(), Code::Unsupported);
  EXPECT_TRUE(contains(lacks.message(), "nvidia-smi is missing")) << lacks.text();
  EXPECT_TRUE(contains(lacks.hint(), "an image with NVIDIA's driver")) << lacks.text();

  const struct {
    const char *answer, *message, *hint;
  } cases[] = {
      {R"sh(printf "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n\n"; exit 9)sh",
       "couldn't communicate with the NVIDIA driver", "modprobe nvidia"},
      {R"sh(printf "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.127\n"; exit 18)sh",
       "does not work: Failed to initialize NVML: Driver/library version mismatch NVML library version: "
       "550.127",
       "restart the node"},
      {R"sh(echo "Failed to initialize NVML: Driver Not Loaded"; exit 9)sh", "Driver Not Loaded",
       "modprobe nvidia"},
      {R"sh(echo "No devices were found"; exit 6)sh", "No devices were found",
       "does the instance type have one?"},
      {R"sh(echo "Failed to initialize NVML: Insufficient Permissions"; exit 4)sh",
       "Insufficient Permissions", "/dev/nvidia*"},
      {R"sh(cat <<'ANSWER'
Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU
GPU 1: Tesla V100-SXM2-16GB (UUID: GPU-a94d3d5e-61a1-93a5-6c0b-6b6f0c8a7d42)
ANSWER
exit 15)sh",
       "shows 1 and says: Unable to determine the device handle", "Xid"},
      {"exit 139", "does not work: exit status 139", "says more"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.answer);
    lacks = lacking(one.answer, 2);
    EXPECT_EQ(lacks.code(), Code::Unsupported);
    EXPECT_TRUE(contains(lacks.message(), "worker[0]: the program needs 2 GPUs, and nvidia-smi"))
        << lacks.text();
    EXPECT_TRUE(contains(lacks.message(), one.message)) << lacks.text();
    EXPECT_TRUE(contains(lacks.hint(), one.hint)) << lacks.text();
  }
  // Parts of a GPU stand below it, and are not GPUs.
  lacks = lacking(R"sh(cat <<'ANSWER'
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-2f1c7b0e-5f0e-7c0f-8a52-0d2f0e2b6a11)
  MIG 3g.40gb     Device  0: (UUID: MIG-6a3f1b3e-7ad4-53a5-9ad2-5f1c7b0e0a11)
  MIG 3g.40gb     Device  1: (UUID: MIG-93ab0c11-7ad4-53a5-9ad2-5f1c7b0e0a12)
ANSWER)sh",
                  2);
  EXPECT_TRUE(contains(lacks.message(), "nvidia-smi shows 1")) << lacks.text();
}

// apptainer itself is not of Debian: what it is started with is recorded, and the program runs without a
// container.
TEST_F(LauncherTest, AProgramRunsInAContainerOfApptainer) {
  std::vector<std::unique_ptr<test::FaultyRemote>> machines;
  for (NodeHandle& handle : handles) {
    auto remote = handle.connect();
    ASSERT_TRUE(remote.ok());
    machines.push_back(std::make_unique<test::FaultyRemote>(**remote));
    machines.back()->fake("podman", "exit 127");
    machines.back()->fake("nvidia-smi", "echo 'GPU 0: NVIDIA A10 (UUID: GPU-2f1c7b0e)'");
    machines.back()->fake("apptainer", R"sh([ "$1" != --version ] || exit 0
printf '%s\n' "$@" > ~/recorded
[ "$1" = exec ] || exit 90
shift
while :; do
  case $1 in
    --nv) shift ;;
    --bind) shift 2 ;;
    --pwd) cd "$2" && shift 2 ;;
    docker://*) break ;;
    *) exit 91 ;;
  esac
done
shift
exec "$@")sh");
    // The connection belongs to the function that is replaced.
    handle.connect = [machine = machines.back().get(), own = handle.connect]() -> Result<Remote*> {
      return machine;
    };
  }
  program("echo \"$RADL_MEMBER of $RADL_MEMBERS, $TOKEN\" > \"$RADL_RESULTS/said\"; echo \"$1\"");
  step.program["image"] = "docker://docker.io/library/python:3.12";
  step.program["arguments"] = {"two words"};
  step.program["environment"] = {{"TOKEN", "it's a secret"}};
  step.program["collect"] = "all";
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(nodes.folder.path("results/worker[1]/said")), "1 of 2, it's a secret\n");
  EXPECT_TRUE(contains(log(), "two words"));
  const std::string words = *read_file(home(1) + "/recorded");
  const std::string job = home(1) + "/.radl/jobs/p-aaaaaaaaaaaa";
  EXPECT_EQ(words, "exec\n--nv\n--bind\n" + job + "," + home(1) + "/.radl/trees," + job +
                       "/checkpoints\n--pwd\n" + job +
                       "/source\ndocker://docker.io/library/python:3.12\n./run.sh\ntwo words\n");
}

TEST(MemberUsage, RatesComeFromTwoReadings) {
  auto first = jobs::read_usage("usage member-0 100.0 200 1024 1000 500 - 1");
  auto second = jobs::read_usage("usage member-0 102.0 500 2048 5000 2500 87.5 0");
  ASSERT_TRUE(first && second);
  const jobs::Usage usage = jobs::usage_between(*first, *second);
  EXPECT_DOUBLE_EQ(usage.processors, 1.5);
  EXPECT_DOUBLE_EQ(usage.memory_bytes, 2048 * 1024);
  EXPECT_DOUBLE_EQ(usage.received, 2000);
  EXPECT_DOUBLE_EQ(usage.sent, 1000);
  EXPECT_DOUBLE_EQ(*usage.gpu, 0.875);
  EXPECT_EQ(usage.stopped, 0) << "what counts is the last reading";
  EXPECT_EQ(jobs::usage_between(*second, *first).stopped, 1);
  EXPECT_DOUBLE_EQ(jobs::usage_between(*second, *first).processors, 0)
      << "what has ended takes its counters along";
  EXPECT_FALSE(jobs::read_usage("usage member-0 100.0"));
  EXPECT_FALSE(jobs::read_usage("grep: /proc/1/environ: Permission denied"));
}

TEST(ProgramVerdict, WhoseEndIsTheEndOfAll) {
  using program::judge;
  using program::Verdict;
  const std::vector<jobs::Process> processes = {{"member-0", 0}, {"member-1", 1}, {"member-2", 2}};
  const program::EndRules all, chief{.chief = true}, alone{.alone = true, .least = 2},
      may_fail{.may_fail = true};
  auto of = [&](const program::EndRules& rules, jobs::Ends ends) { return judge(rules, processes, ends); };
  EXPECT_EQ(of(all, {}), Verdict::GoesOn);
  EXPECT_EQ(of(all, {{"member-1", 0}}), Verdict::GoesOn);
  EXPECT_EQ(of(all, {{"member-1", 1}}), Verdict::Failed);
  EXPECT_EQ(of(all, {{"member-0", 0}, {"member-1", 0}, {"member-2", 0}}), Verdict::Well);
  EXPECT_EQ(of(chief, {{"member-0", 0}}), Verdict::Well);
  EXPECT_EQ(of(chief, {{"member-0", 1}}), Verdict::Failed);
  EXPECT_EQ(of(chief, {{"member-2", -1}}), Verdict::Failed) << "the chief waits for it";
  EXPECT_EQ(of(chief, {{"member-2", 0}}), Verdict::GoesOn);
  EXPECT_EQ(of(alone, {{"member-2", -1}}), Verdict::GoesOn);
  EXPECT_EQ(of(alone, {{"member-1", -1}, {"member-2", -1}}), Verdict::Failed);
  EXPECT_EQ(of(alone, {{"member-2", 3}}), Verdict::Failed) << "it was not lost, it failed";
  EXPECT_EQ(of(alone, {{"member-0", -1}}), Verdict::Failed);
  EXPECT_EQ(of(may_fail, {{"member-1", 4}}), Verdict::GoesOn);
  EXPECT_EQ(of(may_fail, {{"member-0", 4}, {"member-1", 4}, {"member-2", 0}}), Verdict::Well);
}

}  // namespace
}  // namespace radl
