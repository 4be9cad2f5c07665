#include "runtime/exec/operations.h"

#include <memory>

#include "common/guarded.h"

namespace radl {

namespace {

Schedule schedule_of(Execution& execution, const WorkGraph& what) {
  Schedule schedule{what.dag, execution.world().clock};
  schedule.tolerant = what.tolerant.empty() ? std::vector<bool>(what.dag.size()) : what.tolerant;
  schedule.barrier = what.barrier.empty() ? std::vector<bool>(what.dag.size()) : what.barrier;
  schedule.parallelism = execution.options().parallelism;
  schedule.services =
      static_cast<int>(execution.run.clouds->ids().size()) + 1;  // one per cloud, and the recorder
  schedule.stop_level = [&execution] { return execution.stop_level(); };
  schedule.exclusive = [&what](Dag::Id id) {
    return what.exclusive ? what.exclusive(id) : std::vector<std::string>();
  };
  schedule.skipped = [&what](Dag::Id id, Dag::Id cause) {
    if (what.skipped) what.skipped(id, cause);
  };
  return schedule;
}

}  // namespace

OperationsOver run_operations(Execution& execution, const WorkGraph& what) {
  std::vector<std::unique_ptr<Operation<Status>>> running(what.dag.size());
  std::vector<char> well(what.dag.size());  // char: each thread writes its own
  Schedule schedule = schedule_of(execution, what);
  Scheduler* scheduler = nullptr;
  Watchers* watchers = nullptr;
  schedule.run = [&](Dag::Id id) {
    std::unique_ptr<Operation<Status>>& operation = running[id];
    bool over = true;
    Status ended = guarded([&]() -> Status {
      if (!operation) {
        operation = std::make_unique<Operation<Status>>(Park(execution, *scheduler, *watchers, id));
        operation->start(what.begin(id, operation->park()));
      }
      over = operation->advance();
      return over ? operation->take() : Status();
    });
    if (!over && ended.ok()) return Turn::Parked;
    well[id] = guarded([&]() -> Status { return what.ended(id, std::move(ended)); }).ok();
    operation.reset();
    return well[id] ? Turn::Done : Turn::Failed;
  };
  schedule.has_room = [&] { return watchers->recorder().has_room(); };
  Scheduler made(schedule);
  Watchers watching(execution, made);
  scheduler = &made;
  watchers = &watching;
  Scheduled over = made.run();
  OperationsOver result{std::move(over.status), std::move(over.never), {}, {well.begin(), well.end()}};
  for (Dag::Id id = 0; id < running.size(); ++id) {
    if (running[id]) result.cut.push_back(id);
  }
  return result;
}

}  // namespace radl
