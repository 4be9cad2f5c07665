// The training runner with a stand-in for the engine: placement, following, loss of processes, joining,
// resuming.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "runtime/steps/training/tasks.h"
#include "tests/unit/runtime/steps/training_case.h"

namespace radl {
namespace {

using test::contains;
using test::TrainingTest;
using test::wait_until;

TEST_F(TrainingTest, BringsTheModelBackWithItsNumbers) {
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  const Json& output = outcome->output;
  EXPECT_EQ(output.at("test_accuracy"), 0.75);
  EXPECT_EQ(output.at("images_per_second"), 1234.0);
  EXPECT_EQ(output.at("model_path"), nodes.folder.path("result/model/model.safetensors"));
  EXPECT_EQ(*read_file(output.at("model_path")), "weights");
  EXPECT_EQ(output.at("model_sha256"), sha256_hex("weights"));
  EXPECT_TRUE(std::filesystem::exists(nodes.folder.path("result/events/a.tfevents")));
  EXPECT_TRUE(std::filesystem::exists(output.at("report_path")));
  EXPECT_EQ(count("step"), 20u);
  EXPECT_EQ(count("started"), 3u);
  EXPECT_EQ(engines(), 0u);
  struct stat info {};
  ASSERT_EQ(stat(job_file("worker[0]", "job.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  Json job = Json::parse(*read_file(job_file("worker[1]", "job-worker-1.json")));
  EXPECT_FALSE(job.at("cluster").contains("chief")) << "the chief is server 0";
  EXPECT_EQ(job.at("cluster").at("worker").size(), 2u);
  EXPECT_GE(job.at("threads"), 1);
}

TEST_F(TrainingTest, MembersOfOneMachineAnswerPrometheusAtPortsOfTheirOwn) {
  step.training["job"]["metrics"] = "127.0.0.1:9400";
  ASSERT_TRUE(run().ok());
  const auto metrics_of = [&](const char* node, const char* task) {
    return Json::parse(*read_file(job_file(node, std::string("job-") + task + ".json"))).at("metrics");
  };
  EXPECT_EQ(metrics_of("server[0]", "ps-0"), "127.0.0.1:9400");
  EXPECT_EQ(metrics_of("worker[0]", "worker-0"), "127.0.0.1:9401");
  EXPECT_EQ(metrics_of("worker[1]", "worker-1"), "127.0.0.1:9402");
}

TEST_F(TrainingTest, RunAgainItStartsAnew) {
  ASSERT_TRUE(run().ok());
  events.clear();
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(count("step"), 20u);
}

TEST_F(TrainingTest, AKilledWorkerIsStartedAgain) {
  step.training["job"]["epochs"] = 25;
  std::thread killer([&] {
    wait_for_steps();
    std::ofstream(job_file("server[0]", "hold")) << "on";
    // It has begun for good when it has said so.
    wait_until([&] { return bool(read_file(job_file("worker[1]", "starts"))); });
    auto pid = read_file(job_file("worker[1]", "worker-1.pid"));
    if (pid) kill(-std::atoi(pid->c_str()), SIGKILL);
    wait_for_another_start();
  });
  auto outcome = run();
  killer.join();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_TRUE(contains(*read_file(context.log_path), "worker-1 ended with"));
  EXPECT_TRUE(contains(*read_file(context.log_path), "worker/1 started again"));
  EXPECT_EQ(*read_file(job_file("worker[1]", "starts")), "worker/1\nworker/1\n");
}

// An engine's shell dies but the engine does not: it must not continue next to the newly started one.
TEST_F(TrainingTest, AnEngineThatHasLostItsShellIsEnded) {
  step.training["job"]["epochs"] = 25;
  std::thread killer([&] {
    wait_for_steps();
    std::ofstream(job_file("server[0]", "hold")) << "on";
    wait_until([&] { return bool(read_file(job_file("worker[1]", "starts"))); });
    auto pid = read_file(job_file("worker[1]", "worker-1.pid"));
    if (pid) kill(std::atoi(pid->c_str()), SIGKILL);
    wait_until([&] { return contains(*read_file(context.log_path), "worker/1 started again"); });
    EXPECT_TRUE(wait_until([&] { return engines_of("worker[1]", "worker-1") == 1; }));
    wait_for_another_start();
  });
  auto outcome = run();
  killer.join();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(job_file("worker[1]", "starts")), "worker/1\nworker/1\n");
  EXPECT_EQ(engines(), 0u);
}

// Another program, in a group of its own, that has been given the number which a training had.
struct Bystander {
  Bystander() : pid(fork()) {
    if (pid == 0) {
      setpgid(0, 0);
      for (;;) pause();
    }
    setpgid(pid, pid);
  }
  ~Bystander() {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  bool alive() const { return waitpid(pid, nullptr, WNOHANG) == 0; }
  pid_t pid;
};

TEST_F(TrainingTest, ANumberThatIsAnothersNowIsLeftAlone) {
  Bystander other;
  const std::string number = std::to_string(other.pid);
  std::string boot = *read_file("/proc/sys/kernel/random/boot_id");
  for (const std::string& record : {number + "\n", number + " 1 " + boot, number + " 1 another-boot\n"}) {
    for (const char* node : {"worker[0]", "worker[1]"}) {
      const std::string name = std::string("worker-") + node[7];
      ASSERT_TRUE(make_directories(std::filesystem::path(job_file(node, "x")).parent_path()).ok());
      ASSERT_TRUE(write_file_atomic(job_file(node, name + ".pid"), record).ok());
      ASSERT_TRUE(write_file_atomic(job_file(node, "job-" + name + ".json"), "{}").ok());
      // Of this very run, so that it is asked whether it can be joined, too.
      ASSERT_TRUE(write_file_atomic(job_file(node, "run.json"), step.digest).ok());
    }
    auto outcome = run();
    ASSERT_TRUE(outcome.ok()) << outcome.status().text();
    EXPECT_EQ(count("step"), 20u) << "nothing was there to be joined";
    EXPECT_TRUE(other.alive()) << record;
    events.clear();
  }
}

TEST_F(TrainingTest, PartsOfFilesThatAKilledRunHasLeftGo) {
  for (const char* part : {"model/model.safetensors.tmp-0123abcd", "report.json.tmp-89abcdef"}) {
    std::string path = nodes.folder.path(std::string("result/") + part);
    ASSERT_TRUE(make_directories(std::filesystem::path(path).parent_path()).ok());
    ASSERT_TRUE(write_file_atomic(path, "part").ok());
  }
  ASSERT_TRUE(write_file_atomic(nodes.folder.path("result/.radl-results"), "").ok());
  ASSERT_TRUE(write_file_atomic(nodes.folder.path("result/mine.tmp-notes"), "mine").ok());
  auto before = umask(077);
  auto outcome = run();
  umask(before);
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(nodes.folder.path("result/mine.tmp-notes")), "mine");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(nodes.folder.path("result"))) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == "mine.tmp-notes" || name.find(".tmp-") == std::string::npos) << name;
    struct stat info {};
    ASSERT_EQ(stat(entry.path().c_str(), &info), 0);
    if (entry.is_regular_file() && name != "mine.tmp-notes") {
      EXPECT_EQ(info.st_mode & 077, 0u) << name;
    }
  }
}

// A worker that dies again and again is given up, and with the last one the training ends.
TEST_F(TrainingTest, WorkersKilledAgainAndAgainEndIt) {
  step.training["job"]["epochs"] = 1000;
  std::atomic<bool> over = false;
  std::thread killer([&] {
    wait_for_steps();
    while (!over) {
      for (const char* node : {"worker[0]", "worker[1]"}) {
        auto pid = read_file(job_file(node, std::string("worker-") + node[7] + ".pid"));
        if (pid && std::atoi(pid->c_str()) > 1) kill(-std::atoi(pid->c_str()), SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  auto begin = std::chrono::steady_clock::now();
  auto outcome = run();
  over = true;
  killer.join();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), Code::Retry);
  EXPECT_TRUE(contains(outcome.status().message(), "was killed"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(3))
      << "half a minute of it are waits";
  EXPECT_EQ(engines(), 0u);
}

TEST_F(TrainingTest, AKilledServerEndsItAndTheNextAttemptGoesOn) {
  step.training["job"]["epochs"] = 15;
  std::thread killer([&] {
    wait_for_steps();
    auto pid = read_file(job_file("server[0]", "ps-0.pid"));
    if (pid) kill(-std::atoi(pid->c_str()), SIGKILL);
  });
  auto outcome = run();
  killer.join();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), Code::Retry);
  EXPECT_EQ(engines(), 0u);
  events.clear();
  context.resume = true;
  outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_LT(count("step"), 150u) << "it begins where it was";
}

TEST_F(TrainingTest, AWrongJobIsReportedWithItsLastLines) {
  step.training["job"]["model"] = "fails";
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), Code::Invalid);
  for (const char* part :
       {"training 't'", "server[0]", "ps/0", "the loss became nan", "Traceback: something is wrong"}) {
    EXPECT_TRUE(contains(outcome.status().message(), part));
  }
  EXPECT_EQ(engines(), 0u);
}

TEST_F(TrainingTest, CancelledItWritesACheckpointAndResumes) {
  step.training["job"]["epochs"] = 30;
  std::atomic<bool> stop{false};
  nodes.context.stop = Stop::when([&] { return stop.load(); });
  std::thread user([&] {
    wait_for_steps();
    stop = true;
  });
  auto outcome = run();
  user.join();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), Code::Cancelled);
  EXPECT_EQ(engines(), 0u);
  stop = false;
  context.resume = true;
  events.clear();
  outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_LT(count("step"), 300u) << "it went on from the checkpoint";
}

TEST_F(TrainingTest, ARunOfAKilledRadlcIsJoined) {
  step.training["job"]["epochs"] = 20;
  int child = fork();
  if (child == 0) {
    (void)run();
    _exit(0);
  }
  wait_for_steps();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_GE(engines(), 3u) << "the training goes on without us";
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(job_file("server[0]", "starts")), "ps/0\n") << "it was not started again";
  EXPECT_EQ(count("step"), 200u) << "all its progress is reported";
}

// The node of a worker: the others continue, and a worker of the new node joins them.
TEST_F(TrainingTest, AnInterruptedWorkersReplacementJoinsTheRunningTraining) {
  step.training["job"]["epochs"] = 10;
  std::atomic<bool> replaced{false};  // whoever runs this is about to replace the node
  context.emit = [&](const StepEvent& event) {
    events.push_back(event);
    if (event.kind == "metric" && event.data.value("event", "") == "member_lost") replaced = true;
  };
  context.lets_go = [&] { return replaced.load(); };
  std::thread cloud([&] {
    wait_for_steps();
    std::ofstream(job_file("server[0]", "hold")) << "on";
    wait_until([&] { return bool(read_file(job_file("worker[1]", "starts"))); });
    std::ofstream(job_file("worker[1]", "notice")) << "soon";
  });
  auto outcome = run();
  cloud.join();
  EXPECT_EQ(outcome.status().code(), kLeftRunning) << outcome.status().text();
  EXPECT_EQ(count("interruption"), 1u);
  EXPECT_EQ(count("member_lost"), 1u);
  EXPECT_EQ(engines_of("server[0]", "ps-0"), 1u);
  EXPECT_EQ(engines_of("worker[0]", "worker-0"), 1u);
  EXPECT_EQ(engines_of("worker[1]", "worker-1"), 0u);

  std::filesystem::remove_all(job_file("worker[1]", ""));  // as on a new node
  context.lets_go = [] { return false; };
  std::thread joined([&] {
    wait_until([&] { return engines_of("worker[1]", "worker-1") == 1; });
    std::filesystem::remove(job_file("server[0]", "hold"));
  });
  outcome = run();
  joined.join();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  for (const auto& [node, task] :
       {std::pair("server[0]", "ps/0\n"), {"worker[0]", "worker/0\n"}, {"worker[1]", "worker/1\n"}})
    EXPECT_EQ(*read_file(job_file(node, "starts")), task) << "once";
  const auto job_of = [&](const char* node, const char* task) {
    return Json::parse(*read_file(job_file(node, std::string("job-") + task + ".json")));
  };
  EXPECT_EQ(job_of("worker[1]", "worker-1")["cluster"]["ps"], job_of("server[0]", "ps-0")["cluster"]["ps"]);
  EXPECT_TRUE(job_of("server[0]", "ps-0").contains("directories"));
  EXPECT_FALSE(job_of("worker[1]", "worker-1").contains("directories")) << "only the chief writes results";
  EXPECT_EQ(*read_file(job_file("worker[1]", "job.key")), *read_file(job_file("server[0]", "job.key")));
}

// Its replacement was refused: the others are followed on.
TEST_F(TrainingTest, IsJoinedWithoutAWorkersNodeThatCannotBeReached) {
  step.training["job"]["epochs"] = 10;
  std::atomic<bool> left{false}, missed{false};
  context.lets_go = [&] { return left.load(); };
  context.emit = [&](const StepEvent& event) {
    if (event.kind == "metric" && event.data.value("event", "") == "member_lost") missed = true;
  };
  std::thread others([&] {
    wait_for_steps();
    std::ofstream(job_file("server[0]", "hold")) << "on";
    left = true;
  });
  auto outcome = run();
  others.join();
  ASSERT_EQ(outcome.status().code(), kLeftRunning) << outcome.status().text();
  left = false;
  handles[2].connect = [] { return Status(Code::Lost, "gone"); };
  std::thread release([&] {
    EXPECT_TRUE(wait_until([&] { return missed.load(); }));
    std::filesystem::remove(job_file("server[0]", "hold"));
  });
  outcome = run();
  release.join();
  EXPECT_TRUE(outcome.ok()) << outcome.status().text();
}

// The chief's own node: all end with a checkpoint, since it has to be replaced first.
TEST_F(TrainingTest, TheInterruptionOfTheChiefsNodeEndsAllAndTheNextAttemptResumes) {
  step.training["job"]["epochs"] = 10;
  std::thread cloud([&] {
    wait_for_steps();
    std::ofstream(job_file("server[0]", "hold")) << "on";
    std::ofstream(job_file("server[0]", "notice")) << "soon";
  });
  auto outcome = run();
  cloud.join();
  EXPECT_EQ(outcome.status().code(), Code::Conflict) << outcome.status().text();
  EXPECT_EQ(engines(), 0u);
  for (const char* file : {"hold", "notice"}) std::filesystem::remove(job_file("server[0]", file));
  events.clear();
  context.resume = true;
  outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_LT(count("step"), 100u) << "it begins where it was";
}

TEST_F(TrainingTest, TheEngineItselfTrainsOnThreeNodes) {
  const char* named = getenv("RADL_REAL_ENGINE");
  std::string engine = named ? named : test::build_dir() + "/bin/radl-train";
  set("RADL_TRAIN", engine);
  set("RADL_CIFAR10_SUBSET", test::source_dir() + "/examples/cifar10/subset");
  step.training["job"] = {{"job", 1},
                          {"model", "lenet"},
                          {"epochs", 1},
                          {"batch_size", 100},
                          {"threads", 0},
                          {"sync", {{"mode", "async"}}},
                          {"dataset", {{"name", "cifar10"}, {"directory", "data/cifar10"}}}};
  auto begin = std::chrono::steady_clock::now();
  double first_step = 0;
  context.emit = [&](const StepEvent& event) {
    events.push_back(event);
    if (first_step == 0 && event.kind == "metric" && event.data.value("event", "") == "step") {
      first_step = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
  };
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  RecordProperty("seconds_to_first_step", std::to_string(first_step));
  std::string shown = outcome->output.dump();
  EXPECT_TRUE(std::filesystem::exists(nodes.folder.path("result/model/model.safetensors"))) << shown;
  EXPECT_TRUE(std::filesystem::exists(nodes.folder.path("result/model/model.onnx"))) << shown;
  EXPECT_GT(outcome->output.at("test_accuracy").get<double>(), 0.05) << shown;
  EXPECT_GT(outcome->output.at("images_per_second").get<double>(), 0) << shown;
  EXPECT_EQ(engines(), 0u);
  std::cout << "first step after " << first_step << " s; " << shown << "\n";
}

// The engine speaks of the job file's keys, which nobody who writes a `.radl` file knows.
TEST(TrainingWords, AreThoseOfTheProperties) {
  using training::in_properties;
  EXPECT_EQ(in_properties("training diverged (lower the learning rate, schedule.peak)"),
            "training diverged (lower the learning rate, learning_rate)");
  EXPECT_EQ(in_properties("schedule.peak (0.1, now 0.2), optimizer.name, dataset.shape."),
            "learning_rate (0.1, now 0.2), optimizer, image_size.");
  EXPECT_EQ(in_properties("my.schedule.peak schedule.peaks schedule.peak.x"),
            "my.schedule.peak schedule.peaks schedule.peak.x");
}

TEST(TrainingLayout, PutsTheChiefIntoTheFirstServer) {
  std::vector<NodeHandle> nodes(2);
  nodes[0].address = "s[0]";
  nodes[1].address = "w[0]";
  for (auto& node : nodes) node.attributes = {{"private_ip", "10.0.0.1"}};
  Json training{{"cluster", {{"chief", {"s[0]"}}, {"ps", {"s[0]"}}, {"worker", {"w[0]"}}}},
                {"job", {{"dataset", Json::object()}}}};
  auto layout = training::make_layout(training, nodes);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->tasks.size(), 2u);
  EXPECT_EQ(layout->tasks[layout->chief].name(), "ps/0");
  training["cluster"]["chief"] = {"w[0]"};
  layout = training::make_layout(training, nodes);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->tasks[layout->chief].name(), "chief/0");
  EXPECT_TRUE(layout->needs_data(1));
  EXPECT_FALSE(layout->needs_data(0));
  training["job"]["sync"]["mode"] = "allreduce";
  training["cluster"] = {{"chief", {"w[0]"}}, {"ps", Json::array()}, {"worker", {"w[0]", "s[0]"}}};
  layout = training::make_layout(training, nodes);
  ASSERT_TRUE(layout.ok());
  ASSERT_EQ(layout->tasks.size(), 2u) << "workers only";
  EXPECT_EQ(layout->tasks[layout->chief].name(), "worker/0");
  EXPECT_TRUE(layout->needs_data(0));
  training["cluster"]["worker"] = {"x[0]"};
  EXPECT_FALSE(training::make_layout(training, nodes).ok());
}

}  // namespace
}  // namespace radl
