// One native step on one real node.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/steps/native_runner.h"
#include "tests/support/test_nodes.h"

namespace radl::test {

struct StepsFixture {
  explicit StepsFixture(local::Isolation isolation = local::Isolation::Off)
      : nodes(isolation), handle(nodes.handle("worker[0]")) {
    step.id = "worker[0]/tools";
    step.recipe = "tools";
    step.nodes = {"worker[0]"};
    step.digest = "1";
    context.context = &nodes.context;
    context.log_path = nodes.folder.path("step.log");
    context.emit = [this](const StepEvent& event) { events.push_back(event); };
  }
  void add(const std::string& type, const std::string& name, Json properties) {
    step.resources.push_back({type, name, std::move(properties), {}});
  }
  // Runs the step and gives what was changed, or fails the test.
  std::vector<Change> run() {
    auto outcome = runner->run(context, step, {handle});
    if (!outcome) {
      ADD_FAILURE() << outcome.status().text();
      return {};
    }
    output = outcome->output;
    return outcome->changes;
  }
  std::vector<Change> observe() {
    auto changes = runner->observe(context, step, {handle});
    if (!changes) {
      ADD_FAILURE() << changes.status().text();
      return {};
    }
    return *changes;
  }
  Status error() {
    auto outcome = runner->run(context, step, {handle});
    return outcome ? Status() : outcome.status();
  }
  std::string home(const std::string& below) {
    return handle.attributes.at("home").get<std::string>() + "/" + below;
  }
  std::string shell(const std::string& command) {
    auto result = (*handle.connect())->exec(command);
    return result ? result->out : result.status().text();
  }

  TestNodes nodes;
  NodeHandle handle;
  ir::Step step;
  StepContext context;
  std::vector<StepEvent> events;
  Json output;
  std::unique_ptr<StepRunner> runner = make_native_runner();
};

}  // namespace radl::test
