// A runner that writes down what it was asked to run, and a connection that is always there.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <set>

#include "runtime/exec/executor.h"

namespace radl::test {

class NoRemote : public Remote {
 public:
  Result<ExecResult> exec(const std::string&, const ExecOptions&) override { return ExecResult(); }
  Result<bool> put_file(const std::string&, const std::string&, unsigned, const Stop&) override {
    return true;
  }
  Result<bool> put_bytes(std::string_view, const std::string&, unsigned, const Stop&) override {
    return true;
  }
  Status get_file(const std::string&, const std::string&, const Stop&) override { return {}; }
  Result<RemoteFile> stat(const std::string& path, const Stop&) override {
    return Status(Code::NotFound, path);
  }
};

class FakeRunner : public StepRunner {
 public:
  struct Ran {
    std::string id;
    Json properties;  // of the first resource, as it was resolved
    bool resume = false;
    Json previous;
  };
  std::vector<Ran> ran;
  std::map<std::string, std::vector<Status>> errors;  // step -> errors of the next calls
  std::map<std::string, std::vector<Change>> drift;   // step -> what observe() finds
  std::function<void(const std::string& where)> point = [](const std::string&) {};
  std::function<void(const StepContext&, const ir::Step&)> during = [](const StepContext&, const ir::Step&) {
  };
  std::function<void(const ir::Step&)> recorded = [](const ir::Step&) {};  // StepOutcome::recorded
  std::function<Json(const ir::Step&)> output = [](const ir::Step&) { return Json::object(); };
  std::atomic<int> running{0}, most{0};

  Result<std::vector<Change>> observe(const StepContext&, const ir::Step& step,
                                      const std::vector<NodeHandle>&) override {
    std::lock_guard guard(mutex_);
    return drift.count(step.id) ? drift[step.id] : std::vector<Change>();
  }

  Result<StepOutcome> run(const StepContext& context, const ir::Step& step,
                          const std::vector<NodeHandle>& nodes) override {
    int now = ++running;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    struct Leave {
      std::atomic<int>& count;
      ~Leave() { --count; }
    } leave{running};
    point("run 1 " + step.id);
    for (const NodeHandle& node : nodes) {
      Result<Remote*> remote = node.connect();
      if (!remote.ok()) return remote.status();
    }
    during(context, step);
    std::lock_guard guard(mutex_);
    Json properties = step.resources.empty() ? step.training : step.resources[0].properties;
    ran.push_back({step.id, properties, context.resume, context.previous_output});
    if (auto& waiting = errors[step.id]; !waiting.empty()) {
      Status error = waiting.front();
      waiting.erase(waiting.begin());
      return error;
    }
    drift.erase(step.id);
    if (context.may_run) context.may_run->clear();
    point("run 2 " + step.id);
    StepOutcome outcome;
    outcome.output = output(step);
    outcome.recorded = [this, &step] { recorded(step); };
    outcome.changes.push_back({"it", "run", nullptr, nullptr, ""});
    return outcome;
  }

  std::set<std::string> ids() const {
    std::set<std::string> all;
    for (const Ran& one : ran) all.insert(one.id);
    return all;
  }

 private:
  std::mutex mutex_;
};

inline Connector always_connected() {
  return [](const ir::Node&, const Json&, const Context&) -> Result<std::unique_ptr<Remote>> {
    return std::unique_ptr<Remote>(std::make_unique<NoRemote>());
  };
}

}  // namespace radl::test
