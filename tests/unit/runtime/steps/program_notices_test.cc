// Programs on machines that their cloud takes back: they are asked to end in time, and start again elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <set>
#include <thread>

#include "runtime/clouds/ec2/instance.h"
#include "runtime/clouds/gce/instance.h"
#include "runtime/steps/jobs/notices.h"
#include "runtime/steps/manifest.h"
#include "tests/support/program_bench.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait_until.h"

namespace radl {
namespace {

using test::contains;
using test::http_answer;
using test::wait_until;

// What a cloud declares, at another server.
Json at_server(Json declared, const std::string& server) {
  for (const char* key : {"url", "session_url"}) {
    if (!declared.contains(key)) continue;
    std::string url = declared[key];
    for (const char* real : {"http://169.254.169.254", "http://metadata.google.internal"})
      if (url.starts_with(real)) url.replace(0, std::string(real).size(), server);
    declared[key] = url;
  }
  return declared;
}

// The first lines that a shell's loop of a node prints. `path`: where it finds programs.
std::vector<std::string> lines_of(const NoticeSpec& spec, const std::string& path, size_t count) {
  const std::string script = "PATH=" + path + "\n( " + jobs::notice_script(spec) + " ) 2>&1 < /dev/null";
  std::vector<std::string> lines;
  // popen's own shell reads the script; it ends with the pipe.
  const test::TemporaryFolder folder;
  const std::string file = folder.path() + "/asks.sh";
  EXPECT_TRUE(write_file_atomic(file, script).ok());
  FILE* pipe = popen(("exec /bin/sh " + file).c_str(), "r");
  char line[4096];
  while (lines.size() < count && fgets(line, sizeof line, pipe)) {
    lines.emplace_back(line);
    if (lines.back().ends_with('\n')) lines.back().pop_back();
  }
  pclose(pipe);
  return lines;
}

// Folders with what the loop needs and one of both programs that can ask.
std::string path_with(const test::TemporaryFolder& folder, const std::string& program) {
  const std::string bin = folder.path() + "/" + program;
  std::filesystem::create_directories(bin);
  for (const std::string& name : {std::string("tr"), std::string("sleep"), program}) {
    for (const char* where : {"/usr/bin/", "/bin/"}) {
      std::error_code error;
      if (std::filesystem::exists(where + name) && !std::filesystem::exists(bin + "/" + name))
        std::filesystem::create_symlink(where + name, bin + "/" + name, error);
    }
  }
  return bin;
}

TEST(Notices, AreAskedForAsEachCloudSaysByWhatANodeHas) {
  const test::TemporaryFolder folder;
  for (const std::string program : {"curl", "python3"}) {
    int asked = 0;
    test::ScriptedServer server([&](const std::string& request) {
      // Amazon's: a session first, which ends once.
      if (request.starts_with("PUT /latest/api/token"))
        return http_answer(200, "", "token-" + std::to_string(++asked));
      if (request.find("/latest/") != std::string::npos) {
        if (test::header_of(request, "X-aws-ec2-metadata-token") == "token-1")
          return http_answer(401, "", "");
        return http_answer(200, "",
                           "{\"action\": \"terminate\",\n \"time\": \"2026-11-22T15:04:0" +
                               std::to_string(++asked % 10) + "Z\"}");
      }
      if (request.find("Metadata-Flavor: Google") != std::string::npos)
        return http_answer(200, "", ++asked % 2 ? "FALSE" : "TRUE");
      return http_answer(404, "", "");
    });
    const std::string path = path_with(folder, program);
    NoticeSpec spec = notice_spec_in(at_server(ec2::spot_notice(), server.url("")));
    spec.every_seconds = 1;
    auto lines = lines_of(spec, path, 2);
    ASSERT_EQ(lines.size(), 2u) << program;
    auto line = jobs::read_notice(lines[0]);
    ASSERT_TRUE(line) << lines[0];
    auto notice = notice_in(spec, line->answer);
    ASSERT_TRUE(notice.ok() && *notice) << lines[0];
    EXPECT_EQ((*notice)->action, "terminate") << program;

    spec = notice_spec_in(at_server(gce::spot_notice(), server.url("")));
    lines = lines_of(spec, path, 2);
    ASSERT_EQ(lines.size(), 2u) << program;
    std::set<bool> noticed;
    for (const std::string& text : lines)
      noticed.insert((*notice_in(spec, jobs::read_notice(text)->answer)).has_value());
    EXPECT_EQ(noticed, (std::set<bool>{false, true})) << program;
  }
  const std::string none = path_with(folder, "none");
  const auto lines = lines_of(notice_spec_in(gce::spot_notice()), none, 1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(jobs::read_notice(lines[0])->cannot);
}

struct TakenBack : test::ProgramBench {
  // worker[1] asks this server.
  void spot(test::ScriptedServer& server) {
    handles[1].attributes["eviction_notice"] = {
        {"url", server.url("/preempted")}, {"says", "TRUE"}, {"action", "preempted"}, {"every_seconds", 1}};
  }
  bool begun() { return contains(log(), "worker[0]  begun") && contains(log(), "worker[1]  begun"); }
  std::string answer(bool taken) { return http_answer(200, "", taken ? "TRUE" : "FALSE"); }
  std::vector<std::string> interruptions() {
    std::lock_guard lock(mutex);
    std::vector<std::string> nodes;
    for (const auto& event : events)
      if (event.kind == "metric" && event.data.value("event", "") == "interruption")
        nodes.push_back(event.node);
    return nodes;
  }
  // Of any task of a farm, on any node.
  std::string checkpoint_of_a_farm(const std::string& name) {
    for (const NodeHandle& node : handles) {
      const std::string jobs = node.attributes.at("home").get<std::string>() + "/.radl/jobs";
      std::error_code error;
      for (std::filesystem::recursive_directory_iterator each(jobs, error), end; each != end;
           each.increment(error))
        if (each->path().filename() == name) return each->path();
    }
    return "";
  }
  std::string checkpoint(size_t node, const std::string& name) {
    auto text = read_file(handles[node].attributes.at("home").get<std::string>() +
                          "/.radl/jobs/p-aaaaaaaaaaaa/checkpoints/" + name);
    return text.ok() ? *text : "";
  }
};

constexpr const char* kGoesOn =
    "echo start >> \"$RADL_CHECKPOINTS/starts\"\n"
    "trap 'echo asked > \"$RADL_CHECKPOINTS/asked\"; exit 0' TERM\n"
    "echo begun; while [ ! -e \"$RADL_CHECKPOINTS/asked\" ]; do sleep 0.05; done; echo went on from it\n";

TEST_F(TakenBack, AllAreAskedToEndAndStartAgainWhenTheMachineIsAnother) {
  test::ScriptedServer server([&](const std::string&) { return answer(begun()); });
  spot(server);
  program(kGoesOn);
  step.program["retries"] = 1;
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), Code::Conflict) << outcome.status().text();
  EXPECT_TRUE(contains(outcome.status().message(), "worker[1] is preempted by its cloud"))
      << outcome.status().text();
  EXPECT_EQ(interruptions(), std::vector<std::string>{"worker[1]"}) << "whoever runs it makes it anew";
  for (size_t node : {0, 1}) {
    EXPECT_EQ(checkpoint(node, "asked"), "asked\n") << "it had the time to write this";
    EXPECT_EQ(checkpoint(node, "starts"), "start\n") << "not again on a machine that goes";
  }
  EXPECT_EQ(left(), 0u);
  // Its members ended with status 0, which is not the program's end.
  handles[1].attributes.erase("eviction_notice");
  context.resume = true;
  outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(checkpoint(0, "starts"), "start\nstart\n");
  EXPECT_TRUE(contains(log(), "went on from it"));
}

TEST_F(TakenBack, TasksOfAFarmRunAgainElsewhereAndUseUpNoTry) {
  const std::string go = nodes.folder.path("go");
  test::ScriptedServer server([&](const std::string&) {
    const auto begun = [&](size_t node) {
      const std::string job = handles[node].attributes.at("home").get<std::string>() + "/.radl/jobs";
      std::error_code error;
      for (std::filesystem::recursive_directory_iterator each(job, error), end; each != end;
           each.increment(error))
        if (each->path().filename() == "begun") return true;
      return false;
    };
    return answer(begun(0) && begun(1));
  });
  spot(server);
  const std::string command = "echo x > \"$RADL_CHECKPOINTS/begun\"; while [ ! -e " + go +
                              " ]; do sleep 0.05; done\n" + "echo $RADL_ATTEMPT > \"$RADL_RESULTS/o\"";
  step.program["main"] = "sh";
  const double one_a_node = 0.6 * std::max(1.0, std::thread::hardware_concurrency() / 2.0);
  Json tasks = Json::array();
  for (const char* name : {"t0", "t1"}) tasks.push_back({{"name", name}, {"command", command}});
  Json farm = {{"tries", 1}, {"needs", {{"cpu", one_a_node}}}};
  farm["tasks"] = tasks;
  step.program["farm"] = farm.dump();
  context.emit = [&, before = context.emit](const StepEvent& event) {
    before(event);
    if (event.data.value("event", "") == "interruption") (void)write_file_atomic(go, "", 0600);
  };
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(interruptions(), std::vector<std::string>{"worker[1]"}) << "whoever runs it makes it anew";
  std::set<std::string> attempts;  // whichever of the nodes was there first has t0
  for (const char* name : {"t0", "t1"})
    attempts.insert(*read_file(nodes.folder.path("results") + "/" + name + "/o"));
  EXPECT_EQ(attempts, (std::set<std::string>{"1\n", "2\n"}));
  const Json table = Json::parse(*read_file(nodes.folder.path("results") + "/table.json"));
  int preemptions = 0;
  for (const Json& task : table) {
    EXPECT_EQ(task["node"], "worker[0]");
    EXPECT_FALSE(task.contains("failed_on")) << task;
    preemptions += task.value("preemptions", 0);
  }
  EXPECT_EQ(preemptions, 1);
}

TEST_F(TakenBack, WaitingTasksOfAFarmWaitForTheNodeThatReplacesTheOnlyOne) {
  handles.erase(handles.begin());
  step.nodes.erase(step.nodes.begin());
  test::ScriptedServer server(
      [&](const std::string&) { return answer(!checkpoint_of_a_farm("begun").empty()); });
  handles[0].attributes["eviction_notice"] = {
      {"url", server.url("/preempted")}, {"says", "TRUE"}, {"action", "preempted"}, {"every_seconds", 1}};
  // It takes longer to end than the run takes to look for tasks that no node can run.
  const std::string command =
      "trap 'sleep 7; exit 0' TERM; echo x > \"$RADL_CHECKPOINTS/begun\"; while :; do sleep 0.05; done";
  step.program["main"] = "sh";
  step.program["grace_seconds"] = 60;
  Json farm = {{"tries", 1}, {"needs", {{"cpu", 0.6 * std::max(1u, std::thread::hardware_concurrency())}}}};
  farm["tasks"] = {{{"name", "t0"}, {"command", command}}, {{"name", "t1"}, {"command", command}}};
  step.program["farm"] = farm.dump();
  std::atomic<bool> missed = false;
  context.emit = [&, before = context.emit](const StepEvent& event) {
    before(event);
    if (event.data.value("event", "") == "member_lost") missed = true;
  };
  context.lets_go = [&] { return missed.load(); };
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), kLeftRunning) << outcome.status().text();
  EXPECT_TRUE(missed) << "whoever runs it may replace the node";
  EXPECT_FALSE(contains(log(), "set aside")) << log();
}

TEST_F(TakenBack, WithoutRetriesItFailsAndSaysWhatWouldStartItAgain) {
  test::ScriptedServer server([&](const std::string&) { return answer(begun()); });
  spot(server);
  program(kGoesOn);
  auto outcome = run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(contains(outcome.status().message(), "With `retries`, they restart on another"))
      << outcome.status().text();
  EXPECT_TRUE(interruptions().empty());
  EXPECT_EQ(checkpoint(1, "asked"), "asked\n");
}

TEST_F(TakenBack, WhatCanBeMissedGoesAloneAndTheOthersFinish) {
  test::ScriptedServer server([&](const std::string&) { return answer(begun()); });
  spot(server);
  program("trap 'exit 1' TERM\necho begun\nif [ $RADL_MEMBER = 0 ]; then while [ ! -e '" +
          nodes.folder.path("gone") + "' ]; do sleep 0.05; done; exit 0; fi\nwhile :; do sleep 0.05; done\n");
  step.program["lost"] = "alone";
  std::thread chief([&] {
    wait_until([&] { return contains(log(), "ending its member gracefully") && processes(1, true).empty(); });
    (void)write_file_atomic(nodes.folder.path("gone"), "");
  });
  auto outcome = run();
  chief.join();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_TRUE(contains(log(), "worker[1]: ending its member gracefully; the others continue"));
  EXPECT_FALSE(contains(log(), "started again"));
}

// The chief waits for what a member on another machine writes.
constexpr const char* kWaitsForMember =
    "echo start >> \"$RADL_CHECKPOINTS/starts\"\necho begun\n"
    "if [ $RADL_MEMBER = 1 ]; then [ ! -e GATE ] || touch GATE.passed; while [ ! -e GATE.passed ]; do sleep "
    "0.05; "
    "done; exit 0; fi\nwhile [ ! -e GATE.passed ]; do sleep 0.05; done\n";

struct Missed : TakenBack {
  Missed() {
    std::string script = kWaitsForMember;
    for (size_t at = 0; (at = script.find("GATE", at)) != script.npos; at += gate.size())
      script.replace(at, 4, gate);
    program(script);
    step.program["lost"] = "alone";
    step.program["retries"] = 1;
  }
  std::vector<std::string> missed() {
    std::lock_guard lock(mutex);
    std::vector<std::string> nodes;
    for (const auto& event : events)
      if (event.kind == "metric" && event.data.value("event", "") == "member_lost")
        nodes.push_back(event.node);
    return nodes;
  }
  // Until the other members run without worker[1]; then they are let go of.
  void run_until_missed() {
    context.lets_go = [this] { return !missed().empty(); };
    EXPECT_EQ(run().status().code(), kLeftRunning);
    EXPECT_EQ(missed(), std::vector<std::string>{"worker[1]"});
    context.lets_go = [] { return false; };
    std::lock_guard lock(mutex);
    events.clear();
  }

  const std::string gate = nodes.folder.path("gate");
};

TEST_F(Missed, AMemberOnAnotherMachineJoinsTheOthers) {
  test::ScriptedServer server([&](const std::string&) { return answer(begun()); });
  spot(server);
  run_until_missed();
  // The machine is replaced.
  const auto place = handles[1].address;
  handles[1] = nodes.handle("spare[0]");
  handles[1].address = place;
  ASSERT_TRUE(write_file_atomic(gate, "").ok());
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(checkpoint(0, "starts"), "start\n") << "the chief ran on";
  EXPECT_EQ(checkpoint(1, "starts"), "start\n") << "on the other machine";
  EXPECT_TRUE(missed().empty());
  EXPECT_EQ(left(), 0u);
}

TEST_F(Missed, TheOthersAreJoinedWithoutANodeThatCannotBeReached) {
  test::ScriptedServer server([&](const std::string&) { return answer(begun()); });
  spot(server);
  run_until_missed();
  handles[1].connect = []() -> Result<Remote*> { return Status(Code::Lost, "it is gone"); };
  context.lets_go = [this] {
    if (!missed().empty()) (void)write_file_atomic(gate + ".passed", "");
    return false;
  };
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(checkpoint(0, "starts"), "start\n");
  EXPECT_EQ(missed(), std::vector<std::string>{"worker[1]"});
}

TEST_F(TakenBack, ATimeoutCountsFromTheStartOfTheProgram) {
  program("echo begun\nwhile [ ! -e '" + nodes.folder.path("gone") + "' ]; do sleep 0.05; done\n");
  context.lets_go = [this] { return begun(); };
  ASSERT_EQ(run().status().code(), kLeftRunning);
  context.lets_go = [] { return false; };
  // It was started an hour ago.
  const std::string job = "/.radl/jobs/p-aaaaaaaaaaaa/run.json";
  for (const auto& handle : handles)
    std::filesystem::last_write_time(handle.attributes.at("home").get<std::string>() + job,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  step.program["timeout_seconds"] = 1800;
  auto outcome = run();
  EXPECT_EQ(outcome.status().code(), Code::Invalid) << outcome.status().text();
  EXPECT_TRUE(contains(outcome.status().message(), "1800 s"));
  EXPECT_EQ(left(), 0u);
}

TEST_F(TakenBack, WhatWasCancelledAndEndedWellHasNotFinished) {
  program(kGoesOn);
  std::atomic<bool> stop{false};
  nodes.context.stop = Stop::when([&] { return stop.load(); });
  std::thread user([&] {
    wait_until([&] { return begun(); });
    stop = true;
  });
  EXPECT_EQ(run().status().code(), Code::Cancelled);
  user.join();
  stop = false;
  context.resume = true;
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(checkpoint(0, "starts"), "start\nstart\n") << "it is not taken for one that has ended meanwhile";
}

}  // namespace
}  // namespace radl
