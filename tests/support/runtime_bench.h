// One infrastructure in a temporary folder with everything faked but the state: plan, apply, destroy in one
// line each.
#pragma once

#include <gtest/gtest.h>

#include "runtime/exec/executor.h"
#include "runtime/plan/render.h"
#include "runtime/state/moves.h"
#include "tests/support/disk_cloud.h"
#include "tests/support/fake_runner.h"
#include "tests/support/fake_world.h"
#include "tests/support/runtime_programs.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {

struct Bench {
  TemporaryFolder folder;
  FakeWorld fake;
  DiskCloud cloud{folder.path() + "/cloud"};
  FakeRunner runner;
  CloudSet clouds;
  Catalog catalog;
  Cancellation cancellation;
  ApplyOptions options;
  ir::Secrets secrets;
  PlanOptions plan_options;
  std::vector<EventSink*> sinks;
  Connector connector = always_connected();
  HostKeyReader host_key;

  Bench() { clouds.add(cloud); }

  std::unique_ptr<Store> store(OpenMode mode = OpenMode::Create) {
    Result<std::unique_ptr<Store>> opened = Store::open(folder.path() + "/.radl", "demo", mode, fake.world);
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    return opened.ok() ? std::move(*opened) : nullptr;
  }

  Snapshot snapshot() {
    Result<std::unique_ptr<Store>> opened =
        Store::open(folder.path() + "/.radl", "demo", OpenMode::Read, fake.world);
    if (!opened.ok()) return Snapshot();
    Result<Snapshot> read = (*opened)->snapshot();
    EXPECT_TRUE(read.ok()) << read.status().text();
    return *read;
  }

  Result<Plan> try_plan(const ir::Program& program, const Snapshot& snapshot,
                        const Observed* observed = nullptr) {
    Result<MovedState> moved = moved_state(snapshot, program);
    if (!moved.ok()) return std::move(moved).status();
    return make_plan({program,
                      moved->snapshot,
                      clouds,
                      catalog,
                      fingerprints(snapshot, secrets),
                      observed,
                      {},
                      plan_options,
                      moved->made});
  }

  Plan plan(const ir::Program& program, const Observed* observed = nullptr) {
    Result<Plan> made = try_plan(program, snapshot(), observed);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return made.ok() ? *made : Plan();
  }

  Run run(Store& store, const ir::Program* program) {
    Run run = parts(program);
    run.store = &store;
    return run;
  }

  // All but the store.
  Run parts(const ir::Program* program) {
    Run run;
    run.world = &fake.world;
    run.clouds = &clouds;
    for (ir::StepKind kind : {ir::StepKind::Native, ir::StepKind::Ansible, ir::StepKind::Training})
      run.runners[kind] = &runner;
    run.connect = connector;
    run.host_key = host_key;
    run.program = program;
    run.secrets = &secrets;
    run.sinks = sinks;
    run.cancellation = &cancellation;
    run.options = options;
    return run;
  }

  RunReport apply(const ir::Program& program, const Observed* observed = nullptr) {
    std::unique_ptr<Store> opened = store();
    EXPECT_TRUE(opened->lock("apply", std::chrono::milliseconds(0)).ok());
    Run with = run(*opened, &program);
    Result<Recovery> recovered = recover(with);
    if (!recovered.ok()) {
      RunReport report;
      report.status = recovered.status();
      return report;
    }
    Result<Plan> made = try_plan(program, *opened->snapshot(), observed);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return radl::apply(with, *made);
  }

  // `also`: Run::also.
  RunReport destroy(std::set<std::string> also = {}) {
    std::unique_ptr<Store> opened = store();
    EXPECT_TRUE(opened->lock("destroy", std::chrono::milliseconds(0)).ok());
    Run with = run(*opened, nullptr);
    with.also = also;
    Result<Recovery> recovered = recover(with);
    if (!recovered.ok()) {
      RunReport report;
      report.status = recovered.status();
      return report;
    }
    Snapshot now = *opened->snapshot();
    std::erase_if(now.released, [&](const Released& one) { return also.count(one.id) != 0; });
    return radl::destroy(with, make_destroy_plan(now));
  }

  // `radlc state rm`.
  Status release(const std::string& address) {
    std::unique_ptr<Store> opened = store();
    EXPECT_TRUE(opened->lock("state rm", std::chrono::milliseconds(0)).ok());
    return release_resource(run(*opened, nullptr), address).status();
  }

  Result<Observed> look(const ir::Program& program) {
    std::unique_ptr<Store> opened = store();
    return refresh(run(*opened, &program), *opened->snapshot());
  }
};

// "+ worker[2]" for each action, in order.
inline std::vector<std::string> marks(const Plan& plan) {
  std::vector<std::string> all;
  for (const Action& action : plan.actions)
    all.push_back(std::string(verb_mark(action.verb)) + " " + action.id);
  return all;
}

}  // namespace radl::test
