// Looks at the world and changes nothing in it.
#include <algorithm>
#include <set>

#include "common/guarded.h"
#include "runtime/clouds/rules_of_others.h"
#include "runtime/clouds/tags.h"
#include "runtime/exec/actions.h"
#include "runtime/exec/asking.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/host_keys.h"
#include "runtime/exec/owners.h"
#include "runtime/exec/retry.h"
#include "runtime/plan/step_facts.h"
#include "runtime/plan/values.h"
#include "runtime/steps/jobs/member.h"

namespace radl {

namespace {

constexpr std::chrono::milliseconds kLookDeadline = std::chrono::minutes(2);
// One attempt: a machine that refuses now is reported, not waited for.
constexpr std::chrono::milliseconds kNoPatience{0};
// Attributes that clouds show since a later version: a record of an earlier one lacks them, which is no
// drift.
const std::set<std::string> kAddedLater = {"group_id", "public_network"};

class Refresher {
 public:
  Refresher(Execution& execution, const Snapshot& snapshot) : execution_(execution), snapshot_(snapshot) {}

  Result<Observed> look() {
    look_at_clouds();
    auto width = static_cast<size_t>(std::max(execution_.options().parallelism, 1));
    // Steps of one node share its connection, so they are checked one after another.
    std::map<std::string, std::vector<const ir::Step*>> steps;
    if (execution_.run.program) {
      for (const ir::Step& step : execution_.run.program->steps) {
        if (is_to_be_observed(step)) steps[step.nodes[0]].push_back(&step);
      }
    }
    std::vector<const std::pair<const std::string, std::vector<const ir::Step*>>*> lists;
    for (const auto& entry : steps) lists.push_back(&entry);
    (void)for_each_parallel(lists.size(), width, [&](size_t i) {
      const auto& [node, of_node] = *lists[i];
      return noted(node, guarded([&, &node = node, &of_node = of_node]() -> Status {
                     if (Status other = compare_host_key(node); !other.ok()) return other;
                     if (!answers(node)) return {};
                     for (const ir::Step* step : of_node) look_at(*step);
                     return {};
                   }));
    });
    look_at_jobs();
    return observed();
  }

  Result<Observed> glance() {
    look_at_clouds();
    for (const std::string& node : running_) {
      Status compared = noted(node, guarded([&] { return compare_host_key(node); }));
      if (!compared.ok() && execution_.stop_starting()) break;
    }
    return observed();
  }

 private:
  Result<Observed> observed() {
    if (execution_.stop_starting())
      return Status(Code::Cancelled, "stopped while looking at the infrastructure");
    std::sort(observed_.resources.begin(), observed_.resources.end(),
              [](const Drift& a, const Drift& b) { return a.address < b.address; });
    return std::move(observed_);
  }

  bool is_to_be_observed(const ir::Step& step) const {
    auto record = snapshot_.steps.find(step.id);
    if (record == snapshot_.steps.end() || record->second.status != StepStatus::Done || step.nodes.empty())
      return false;
    return std::all_of(step.nodes.begin(), step.nodes.end(),
                       [&](const std::string& node) { return running_.count(node) != 0; });
  }

  // Jobs that may still run, on the nodes where they were started.
  void look_at_jobs() {
    std::vector<const StepRecord*> jobs;
    for (const auto& [id, record] : snapshot_.steps) {
      const LeftRunning left = left_running(record, snapshot_);
      if (!left.newest.empty() || !left.older.empty()) jobs.push_back(&record);
    }
    auto width = static_cast<size_t>(std::max(execution_.options().parallelism, 1));
    (void)for_each_parallel(jobs.size(), width, [&](size_t i) {
      return noted(jobs[i]->id, guarded([&] { return look_at_job(*jobs[i]); }));
    });
  }

  Status look_at_job(const StepRecord& record) {
    const Context context = execution_.context(record.id, execution_.in(kLookDeadline), true);
    std::set<std::string> runs;
    for (const JobFolder& folder : record.jobs) {
      for (const std::string& address : folder.may_run) {
        if (!running_.count(address)) continue;
        if (Result<Remote*> remote = execution_.connect(address, kNoPatience); !remote.ok())
          return remote.status();
        const NodeHandle node = execution_.handle(address);
        auto look = jobs::Member(node, context, folder.name).look("", context.stop);
        if (!look.ok()) return look.status();
        if (look->runs()) runs.insert(address);
      }
    }
    std::lock_guard guard(mutex_);
    observed_.running[record.id].assign(runs.begin(), runs.end());
    return {};
  }

  // The check threw an exception.
  Status noted(const std::string& what, Status status) {
    if (!status.ok()) unknown(what, execution_.events.mask(status.message()));
    return status;
  }

  // The connection is kept for the node's steps.
  bool answers(const std::string& node) {
    if (!execution_.run.connect || execution_.stop_starting()) return true;
    Result<Remote*> remote = execution_.connect(node, kNoPatience);
    if (remote.ok()) return true;
    if (remote.status().code() == Code::Auth) {
      // The host key or the login was rejected, which proves nothing about the node.
      unknown(node, execution_.events.mask(remote.status().text()));
      return false;
    }
    std::lock_guard guard(mutex_);
    observed_.resources.push_back(
        {node, "unreachable", {}, execution_.events.mask(remote.status().message())});
    return false;
  }

  // One query per cloud, for all its records.
  void look_at_clouds() {
    std::map<std::string, std::vector<const ResourceRecord*>> by_cloud;
    for (const auto& [address, record] : snapshot_.resources) by_cloud[record.cloud].push_back(&record);
    for (const auto& [id, records] : by_cloud) {
      if (execution_.stop_starting()) return;
      Cloud* cloud = execution_.run.clouds->find(id);
      Status looked = !cloud
                          ? execution_.run.clouds->why_not(id)
                          : guarded([&, &records = records]() -> Status { return look_at(*cloud, records); });
      if (looked.ok()) continue;
      for (const ResourceRecord* record : records)
        unknown(record->address, execution_.events.mask(looked.text()));
    }
  }

  Status look_at(Cloud& cloud, const std::vector<const ResourceRecord*>& records) {
    Query query;
    for (const ResourceRecord* record : records) {
      query.ids.push_back(record->id);
      query.names[record->id] = record->address;
    }
    std::vector<Seen> seen;
    Status looked = with_retries(execution_.options(), execution_.world(),
                                 retry_hooks(execution_, cloud.id().text()), [&](int) -> Status {
                                   Result<std::vector<Seen>> answer = cloud.look(
                                       execution_.context("", execution_.in(kLookDeadline)), query);
                                   if (!answer.ok()) return answer.status();
                                   seen = std::move(*answer);
                                   return {};
                                 });
    if (!looked.ok()) return looked;
    std::map<std::string, const Seen*> by_id;
    for (const Seen& one : seen) by_id[one.id] = &one;
    for (const ResourceRecord* record : records) {
      auto found = by_id.find(record->id);
      take(*record, found == by_id.end() ? nullptr : found->second, cloud);
    }
    return {};
  }

  void take(const ResourceRecord& record, const Seen* seen, const Cloud& cloud) {
    std::lock_guard guard(mutex_);
    bool gone = !seen || seen->phase == ResourcePhase::Leaving;
    if (!seen && !is_settled(record, cloud)) {
      observed_.unknown[record.address] = "it was made a moment ago and does not show yet";
    } else if (gone) {
      const std::string why = seen && !seen->detail.empty() ? execution_.events.mask(seen->detail)
                                                            : record.id + " does not exist";
      observed_.resources.push_back({record.address, "gone", {}, why});
    } else if (seen->phase == ResourcePhase::Broken) {
      observed_.resources.push_back({record.address, "broken", {}, execution_.events.mask(seen->detail)});
    } else {
      observed_.specs[record.address] = with_tags_of(record.spec, seen->spec);
      add_marks(record, *seen, cloud);
      add_rules_of_others(record, *seen);
      Json attributes = seen->attributes;
      if (observed_.marks.count(record.address))
        attributes = with_marked_attributes(cloud, execution_.context(record.address, {}),
                                            order_for(execution_, record), std::move(attributes));
      if (record.is_node()) {
        observed_.attributes[record.address] = attributes_now(record, attributes);
        if (seen->phase == ResourcePhase::Ready) running_.insert(record.address);
      }
      add_changes(record, attributes);
    }
  }

  // For a machine whose key was trusted on first use: the key that its cloud reports now. Auth: another key.
  Status compare_host_key(const std::string& node) {
    const auto record = snapshot_.resources.find(node);
    if (record == snapshot_.resources.end() || !is_trusted_on_first_use(record->second.attributes)) return {};
    Result<bool> confirmed = confirm_host_key(execution_, record->second, execution_.finishing());
    if (confirmed.status().code() == Code::Auth) execution_.distrust(node, confirmed.status());
    if (!confirmed.ok() && confirmed.status().code() != Code::Auth) return {};  // asked again by the next run
    if (!confirmed.ok()) return confirmed.status();
    if (!*confirmed) return {};
    std::lock_guard guard(mutex_);
    observed_.attributes[node][kHostKeyFrom] = kFromCloud;
    return {};
  }

  // These are not drift: they may predate the infrastructure, and stay.
  void add_rules_of_others(const ResourceRecord& record, const Seen& seen) {
    auto rules = seen.marks.find(kRulesOfOthers);
    if (rules == seen.marks.end() || !rules->is_array()) return;
    Drift noted{record.address, kRulesOfOthers, {}, ""};
    for (const Json& rule : *rules)
      noted.changes.push_back(
          {record.address, execution_.events.mask(rule.get<std::string>()), nullptr, nullptr, ""});
    observed_.resources.push_back(std::move(noted));
  }

  // For resources with radlc's tags. An imported resource of a cloud that cannot tag it has no token.
  void add_marks(const ResourceRecord& record, const Seen& seen, const Cloud& cloud) {
    if (record.token.empty()) return;
    const Json wanted = cloud.marks_of(execution_.context(record.address, {}), order_for(execution_, record));
    for (const auto& [name, value] : wanted.items()) {
      const Json now = seen.marks.contains(name) ? seen.marks[name] : Json();
      if (now != value) observed_.marks[record.address].push_back({record.address, name, now, value, ""});
    }
  }

  bool is_settled(const ResourceRecord& record, const Cloud& cloud) const {
    std::chrono::duration<double> age(execution_.world().clock.wall_seconds() - record.created_at);
    return age >= cloud.settles_after();
  }

  // Compares attributes. The plan compares specs.
  void add_changes(const ResourceRecord& record, const Json& now) {
    bool stopped = is_stopped(now);
    Drift drift{record.address, stopped ? "stopped" : "changed", {}, ""};
    for (const auto& [key, value] : now.items()) {
      const bool recorded = record.attributes.contains(key);
      if (!recorded && kAddedLater.count(key)) continue;
      const Json before = recorded ? record.attributes[key] : Json();
      if (before != value) drift.changes.push_back({record.address, key, value, before, ""});
    }
    if (!drift.changes.empty() || stopped) observed_.resources.push_back(std::move(drift));
  }

  void look_at(const ir::Step& step) {
    if (execution_.stop_starting()) return;
    auto runner = execution_.run.runners.find(step.kind);
    if (runner == execution_.run.runners.end() || !runner->second) return;
    Context context = execution_.context(step.id, execution_.in(kLookDeadline), true);
    StepContext shared;
    shared.context = &context;
    shared.program = execution_.run.program;
    shared.all_nodes = [this] { return execution_.all_handles(); };
    shared.previous_output = snapshot_.steps.at(step.id).output;
    std::vector<NodeHandle> nodes;
    for (const std::string& address : step.nodes) nodes.push_back(execution_.handle(address));
    // If the file has changed, check what was applied: a requested change is not drift.
    const StepRecord& record = snapshot_.steps.at(step.id);
    std::optional<ir::Step> applied;
    if (record.digest != step_digest(step, execution_.fingerprints()))
      applied = applied_step(record, snapshot_, execution_.fingerprints());
    Result<ir::Step> whole = resolved_step(execution_, applied ? *applied : step);
    if (!whole.ok()) return unknown(step.id, whole.status().message());
    Result<std::vector<Change>> changes = runner->second->observe(shared, *whole, nodes);
    if (!changes.ok()) {
      // A kind of step that cannot be checked reports that every time, which is not news.
      if (changes.status().code() != Code::Unsupported)
        unknown(step.id, execution_.events.mask(changes.status().message()));
      return;
    }
    for (Change& change : *changes) mask(change);
    std::lock_guard guard(mutex_);
    observed_.steps[step.id] = std::move(*changes);
  }

  void mask(Change& change) {
    change.diff = execution_.events.mask(change.diff);
    change.before = execution_.events.mask_json(change.before);
    change.after = execution_.events.mask_json(change.after);
  }

  void unknown(const std::string& what, const std::string& why) {
    std::lock_guard guard(mutex_);
    observed_.unknown[what] = why;
  }

  Execution& execution_;
  const Snapshot& snapshot_;
  std::mutex mutex_;
  Observed observed_;
  std::set<std::string> running_;  // nodes with a login attempt in progress
};

// Nothing is begun, so the first request to stop ends every call, and what was not seen is not an answer.
Result<Observed> observed_by(const Run& run, const Snapshot& snapshot,
                             Result<Observed> (Refresher::*look)()) {
  Execution execution(run, snapshot);
  execution.only_looks();
  if (Status ours = check_owners(execution, clouds_of(execution), false); !ours.ok()) return ours;
  Refresher refresher(execution, snapshot);
  Result<Observed> observed = (refresher.*look)();
  const bool stopped = run.cancellation && run.cancellation->stop_starting();
  return stopped ? Result<Observed>(run.cancellation->finishing().check()) : observed;
}

}  // namespace

Result<Observed> refresh(const Run& run, const Snapshot& snapshot) {
  return observed_by(run, snapshot, &Refresher::look);
}

Result<Observed> glance(const Run& run, const Snapshot& snapshot) {
  return observed_by(run, snapshot, &Refresher::glance);
}

Status accept_observed(const Run& run, const Snapshot& snapshot, const Observed& observed) {
  std::set<std::string> drifted;
  for (const Drift& drift : observed.resources)
    if (drift.what != kRulesOfOthers) drifted.insert(drift.address);
  for (const auto& [address, now] : observed.attributes) {
    auto found = snapshot.resources.find(address);
    if (found == snapshot.resources.end() || found->second.attributes == now) continue;
    ResourceRecord record = found->second;
    if (drifted.count(address)) {
      record.attributes = now;
    } else if (is_trusted_on_first_use(record.attributes) && !is_trusted_on_first_use(now)) {
      record.attributes[kHostKeyFrom] = kFromCloud;
    } else {
      continue;
    }
    if (Status put = run.store->put_resource(record); !put.ok()) return put;
  }
  return {};
}

}  // namespace radl
