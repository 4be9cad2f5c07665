// Writes the state that `radlc apply FILE` leaves behind, without making anything. Usage: applied_state FILE
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "compiler/compile.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source.h"
#include "runtime/clouds/local/local_cloud.h"
#include "runtime/exec/executor.h"

namespace radl {
namespace {

// Plans as the local cloud does; whatever is asked for is there at once, as a record.
class RecordedCloud : public Cloud {
 public:
  const CloudId& id() const override { return local_->id(); }
  Result<Survey> survey(const Context&, const ir::Program&) override { return Survey(); }
  Status can_make(const ir::Node& node, const DesignInput& input) const override {
    return local_->can_make(node, input);
  }
  Result<Design> design(const DesignInput& input) const override { return local_->design(input); }
  Impact impact(const std::string& type, const Json& before, const Json& after) const override {
    return local_->impact(type, before, after);
  }
  Asked ask_create(const Context&, const Order& order) override {
    std::lock_guard guard(mutex_);
    Seen& seen = made_[order.token];
    seen.address = order.address;
    seen.type = order.type;
    seen.token = seen.id = order.token;
    seen.phase = ResourcePhase::Ready;
    seen.spec = order.spec;
    seen.attributes = {
        {"host", "127.0.0.1"}, {"private_ip", "127.0.0.1"}, {"public_ip", nullptr}, {"state", "running"}};
    return Asked::accepted(seen.id);
  }
  Asked ask_update(const Context&, const Order& order) override { return Asked::accepted(order.id); }
  Asked ask_destroy(const Context&, const Order&) override { return Asked::accepted(); }
  Result<std::vector<Seen>> look(const Context&, const Query& query) override {
    std::lock_guard guard(mutex_);
    std::vector<Seen> all;
    for (const std::vector<std::string>* names : {&query.tokens, &query.ids}) {
      for (const std::string& name : *names) {
        if (auto found = made_.find(name); found != made_.end()) all.push_back(found->second);
      }
    }
    return all;
  }
  std::chrono::milliseconds settles_after() const override { return {}; }
  Pace pace() const override { return local_->pace(); }

 private:
  std::unique_ptr<Cloud> local_ = local::make_cloud({});
  std::mutex mutex_;
  std::map<std::string, Seen> made_;  // by token, which is the id as well
};

class NothingToDo : public StepRunner {
 public:
  Result<std::vector<Change>> observe(const StepContext&, const ir::Step&,
                                      const std::vector<NodeHandle>&) override {
    return std::vector<Change>();
  }
  Result<StepOutcome> run(const StepContext&, const ir::Step&, const std::vector<NodeHandle>&) override {
    return StepOutcome();
  }
};

int fail(const Status& status) {
  std::fprintf(stderr, "%s\n", status.text().c_str());
  return 1;
}

int write_state(const std::string& file) {
  SourceMap sources;
  Diagnostics diagnostics;
  std::optional<Compiled> compiled = compile({file}, {}, sources, diagnostics);
  if (!compiled) return fail(Status(Code::Invalid, file + " does not compile"));
  Result<std::unique_ptr<Store>> store =
      Store::open(default_state_directory(file), compiled->program.name, OpenMode::Create, real_world());
  if (!store.ok()) return fail(store.status());
  if (Status locked = (*store)->lock("apply", std::chrono::milliseconds(0)); !locked.ok())
    return fail(locked);
  RecordedCloud cloud;
  CloudSet clouds;
  clouds.add(cloud);
  const Catalog catalog = built_in_catalog();
  Result<Snapshot> empty = (*store)->snapshot();
  if (!empty.ok()) return fail(empty.status());
  Result<Plan> plan = make_plan({compiled->program, *empty, clouds, catalog, {}, nullptr, {}, {}});
  if (!plan.ok()) return fail(plan.status());
  NothingToDo runner;
  Run run;
  run.world = &real_world();
  run.store = store->get();
  run.clouds = &clouds;
  run.runners = {{ir::StepKind::Native, &runner}};
  run.program = &compiled->program;
  run.secrets = &compiled->secrets;
  RunReport report = apply(run, *plan);
  return report.status.ok() ? 0 : fail(report.status);
}

}  // namespace
}  // namespace radl

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: applied_state FILE\n");
    return 2;
  }
  return radl::write_state(argv[1]);
}
