// A training on local nodes with a stand-in for the engine (tests/support/fake_engine).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "runtime/clouds/local/node_directory.h"
#include "runtime/clouds/local/node_process.h"
#include "runtime/steps/training_runner.h"
#include "tests/support/paths.h"
#include "tests/support/test_nodes.h"
#include "tests/support/wait_until.h"

namespace radl::test {

struct TrainingTest : testing::Test {
  TrainingTest() {
    set("RADL_TRAIN", test::source_dir() + "/tests/support/fake_engine/radl-train");
    set("XDG_CACHE_HOME", nodes.folder.path("cache"));
    for (const char* address : {"server[0]", "worker[0]", "worker[1]"})
      handles.push_back(nodes.handle(address));
    step.id = "training/t";
    step.kind = ir::StepKind::Training;
    step.digest = "digest-1";
    for (const auto& handle : handles) step.nodes.push_back(handle.address);
    step.training =
        ir::Json{{"name", "t"},
                 {"identity", std::string(64, 'a')},
                 {"result", nodes.folder.path("result")},
                 {"data", {{"source", "subset"}, {"mirror", ""}}},
                 {"cluster",
                  {{"chief", {"server[0]"}}, {"ps", {"server[0]"}}, {"worker", {"worker[0]", "worker[1]"}}}},
                 {"job",
                  {{"job", 1},
                   {"model", "ok"},
                   {"epochs", 2},
                   {"threads", 0},
                   {"dataset", {{"name", "tiny"}, {"directory", "data/tiny"}}}}}};
    context.context = &nodes.context;
    context.run_begun = std::chrono::steady_clock::now();
    context.log_path = nodes.folder.path("step.log");
    context.emit = [this](const StepEvent& event) { events.push_back(event); };
  }
  void set(const std::string& name, std::string value) {
    nodes.context.environment = nodes.context.environment.with(name, std::move(value));
  }
  std::string job_file(const std::string& node, const std::string& below) {
    for (const auto& handle : handles) {
      if (handle.address == node)
        return handle.attributes.at("home").get<std::string>() + "/.radl/jobs/t-aaaaaaaaaaaa/" + below;
    }
    return "";
  }
  Result<StepOutcome> run() { return make_training_runner()->run(context, step, handles); }
  size_t count(const std::string& event) {
    size_t n = 0;
    for (const auto& each : events) n += each.kind == "metric" && each.data.value("event", "") == event;
    return n;
  }
  // Processes of the training on a node, the node's server and our connection apart.
  size_t engines() {
    size_t n = 0;
    for (const auto& handle : handles) {
      local::NodeDirectory directory(nodes.context.work_directory, handle.attributes.at("vm_id"));
      for (int pid : local::processes_of(directory)) {
        auto line = read_file("/proc/" + std::to_string(pid) + "/cmdline");
        n += line && line->find("radl-train") != std::string::npos;
      }
    }
    return n;
  }
  // Those that work on a task's job; the shells around them apart.
  size_t engines_of(const std::string& node, const std::string& task) {
    size_t n = 0;
    for (const auto& handle : handles) {
      if (handle.address != node) continue;
      local::NodeDirectory directory(nodes.context.work_directory, handle.attributes.at("vm_id"));
      for (int pid : local::processes_of(directory)) {
        auto line = read_file("/proc/" + std::to_string(pid) + "/cmdline");
        n += line && line->find(std::string(1, '\0') + "job-" + task + ".json" + '\0') != std::string::npos;
      }
    }
    return n;
  }
  // The chief ends no earlier.
  void wait_for_another_start() {
    wait_until([&] {
      auto starts = read_file(job_file("worker[1]", "starts"));
      return starts && std::count(starts->begin(), starts->end(), '\n') > 1;
    });
    std::filesystem::remove(job_file("server[0]", "hold"));
  }
  void wait_for_steps() {
    bool started = wait_until([&] {
      auto text = read_file(job_file("server[0]", "progress-ps-0.jsonl"));
      return text && text->find("\"step\"") != std::string::npos;
    });
    EXPECT_TRUE(started) << "the training does not start";
  }

  TestNodes nodes;
  std::vector<NodeHandle> handles;
  ir::Step step;
  StepContext context;
  std::vector<StepEvent> events;
};

}  // namespace radl::test
