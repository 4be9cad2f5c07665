// A program step on two real nodes of this computer, its program a shell script.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/base/local_digest.h"
#include "runtime/clouds/local/node_directory.h"
#include "runtime/clouds/local/node_process.h"
#include "runtime/steps/manifest.h"
#include "runtime/steps/program_runner.h"
#include "tests/support/test_nodes.h"
#include "tests/support/wait_until.h"

namespace radl::test {

struct ProgramBench : testing::Test {
  ProgramBench() {
    nodes.context.environment = nodes.context.environment.with("XDG_CACHE_HOME", nodes.folder.path("cache"));
    for (const char* address : {"worker[0]", "worker[1]"}) handles.push_back(nodes.handle(address));
    step.id = "program/p";
    step.kind = ir::StepKind::Program;
    step.digest = "digest-1";
    for (const auto& handle : handles) step.nodes.push_back(handle.address);
    step.program = ir::Json{{"name", "p"},
                            {"identity", std::string(64, 'a')},
                            {"members", step.nodes},
                            {"main", "./run.sh"},
                            {"python", {{"program", "python3"}}},
                            {"results", nodes.folder.path("results")},
                            {"grace_seconds", 5},
                            {"retries", 0}};
    context.context = &nodes.context;
    context.log_path = nodes.folder.path("step.log");
    context.emit = [this](const StepEvent& event) {
      std::lock_guard lock(mutex);
      events.push_back(event);
    };
  }
  // The program's folder with this shell script.
  void program(const std::string& script) {
    const std::string folder = nodes.folder.path("source");
    ASSERT_TRUE(make_directories(folder).ok());
    ASSERT_TRUE(write_file_atomic(folder + "/run.sh", "#!/bin/sh\n" + script, 0755).ok());
    step.program["source"] = {{"kind", "folder"}, {"path", folder}, {"sha256", *path_digest(folder)}};
  }
  Result<StepOutcome> run() { return make_program_runner()->run(context, step, handles); }
  std::string log() {
    auto text = read_file(context.log_path);
    return text ? *text : "";
  }
  // The processes of the job on a node, or all of the node.
  std::vector<int> processes(size_t node, bool of_job) {
    std::vector<int> found;
    local::NodeDirectory directory(nodes.context.work_directory, handles[node].attributes.at("vm_id"));
    for (int pid : local::processes_of(directory)) {
      auto environment = read_file("/proc/" + std::to_string(pid) + "/environ");
      if (!of_job || (environment && environment->find("RADL_TASK=") != std::string::npos))
        found.push_back(pid);
    }
    return found;
  }
  // What does not end: a shell that has written how its program ended may not be gone at once.
  size_t left() {
    auto all = [&] { return processes(0, true).size() + processes(1, true).size(); };
    wait_until([&] { return all() == 0; }, std::chrono::seconds(10));
    return all();
  }

  TestNodes nodes;
  std::vector<NodeHandle> handles;
  ir::Step step;
  StepContext context;
  std::mutex mutex;
  std::vector<StepEvent> events;
};

}  // namespace radl::test
