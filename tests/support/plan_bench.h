// Plans without a world: what a plan would do is taken for done, and the state it would leave is in memory.
#pragma once

#include <gtest/gtest.h>

#include "runtime/plan/plan.h"
#include "runtime/plan/render.h"
#include "runtime/plan/step_facts.h"
#include "runtime/plan/values.h"
#include "tests/support/fake_cloud.h"
#include "tests/support/runtime_programs.h"

namespace radl::test {

constexpr double kGiB = 1073741824.0;

struct PlanBench {
  FakeCloud cloud;
  CloudSet clouds;
  Catalog catalog;
  ir::Secrets secrets;
  PlanOptions options;
  Snapshot snapshot;
  Observed observed;  // of the next plans, where `refreshed`
  bool refreshed = false;
  std::map<std::string, Survey> surveys;
  std::function<Json(const ir::Step&)> output = [](const ir::Step&) { return Json::object(); };

  PlanBench() {
    clouds.add(cloud);
    snapshot.name = "demo";
    snapshot.lineage = "lineage";
    snapshot.salt = "salt";
  }

  Result<Plan> try_plan(const ir::Program& program) {
    return make_plan({program, snapshot, clouds, catalog, fingerprints(snapshot, secrets),
                      refreshed ? &observed : nullptr, surveys, options});
  }

  Plan plan(const ir::Program& program) {
    Result<Plan> made = try_plan(program);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return made.ok() ? std::move(*made) : Plan();
  }

  // Plans, and takes all of it for done.
  void applied(const ir::Program& program) { done(program, plan(program)); }

  void done(const ir::Program& program, const Plan& plan) {
    std::map<std::string, const ir::Step*> steps;
    for (const ir::Step& step : program.steps) steps[step.id] = &step;
    for (const Action& action : plan.actions) {
      if (!action.is_step) {
        done(program, action);
      } else if (action.verb == Verb::Forget) {
        snapshot.steps.erase(action.id);
      } else {
        ran(*steps.at(action.id), steps);
      }
    }
    snapshot.source_digest = program.source_digest;
    snapshot.secrets = fingerprints(snapshot, secrets);
    snapshot.outputs.clear();
    for (const ir::Output& wanted : program.outputs) {
      Json value = ir::substitute(wanted.value,
                                  [&](const std::string& name) { return known_value(snapshot, name); }, {});
      snapshot.outputs.push_back({wanted.name, wanted.sensitive ? Json() : value, "", wanted.sensitive});
    }
    ++snapshot.serial;
  }

 private:
  void done(const ir::Program& program, const Action& action) {
    if (action.verb == Verb::Delete) {
      snapshot.resources.erase(action.id);
      std::erase_if(snapshot.steps, [&](const auto& step) {
        return std::none_of(step.second.nodes.begin(), step.second.nodes.end(),
                            [&](const std::string& node) { return snapshot.resources.count(node) != 0; });
      });
      return;
    }
    ResourceRecord& record = snapshot.resources[action.id];
    if (action.verb != Verb::Update) {
      record = {};
      record.address = action.id;
      record.id = "id-" + std::to_string(++made_);
      record.attributes = {{"private_ip", "10.0.0." + std::to_string(made_)}, {"state", "running"}};
    }
    record.type = action.type;
    record.cloud = action.cloud;
    record.spec = action.spec;
    record.needs = action.uses;
    record.price_per_hour = action.price_per_hour;
    for (const ir::Node& node : program.nodes) {
      if (node.address != action.id) continue;
      record.system = node.system;
      record.ordinal = node.ordinal;
      record.number = node.number;
    }
  }

  void ran(const ir::Step& step, const std::map<std::string, const ir::Step*>& steps) {
    StepRecord record;
    record.id = step.id;
    record.recipe = step.recipe;
    record.kind = ir::step_kind_name(step.kind);
    record.nodes = step.nodes;
    for (const std::string& node : step.nodes) record.made_on[node] = snapshot.resources.at(node).id;
    for (const std::string& id : steps_below(step, steps)) record.inputs[id] = snapshot.steps[id].revision;
    record.digest = step_digest(step, fingerprints(snapshot, secrets));
    record.revision = step_revision(record.digest, record.inputs);
    for (const std::string& name : ir::unknowns_in(step)) {
      if (std::optional<Json> value = known_value(snapshot, name))
        record.inputs[name] = value_fingerprint(*value);
    }
    record.definition = std::make_shared<const Json>(step_definition(step));
    record.output = output(step);
    snapshot.steps[step.id] = std::move(record);
  }

  int made_ = 0;
};

// "+ worker[2]" for each action, in order.
inline std::vector<std::string> marks(const Plan& plan) {
  std::vector<std::string> all;
  for (const Action& action : plan.actions)
    all.push_back(std::string(verb_mark(action.verb)) + " " + action.id);
  return all;
}

}  // namespace radl::test
