#include "runtime/trial/truth.h"

#include <fmt/format.h>

#include <optional>

#include "runtime/trial/phase.h"

namespace radl {
namespace {

using Kind = Finding::Kind;
using simulated::SimulatedCloud;

// What radlc has recorded: nullopt while there is no state.
struct Recorded {
  Snapshot snapshot;
  std::vector<Intent> open;
  std::string tag;
};

std::optional<Recorded> recorded(TrialWorld& world, std::vector<Finding>& findings) {
  Result<std::unique_ptr<Store>> store = world.open_store(OpenMode::Read);
  if (store.status().code() == Code::NotFound) return std::nullopt;
  Result<Snapshot> snapshot = store.ok() ? (*store)->snapshot() : Result<Snapshot>(store.status());
  if (!snapshot.ok()) {
    findings.push_back({Kind::Untrue, "the state cannot be read: " + snapshot.status().message()});
    return std::nullopt;
  }
  Result<std::vector<Intent>> open = (*store)->open_intents();
  if (!open.ok()) {
    findings.push_back({Kind::Untrue, "the journal cannot be read: " + open.status().message()});
    return std::nullopt;
  }
  std::string tag = infrastructure_tag(snapshot->name, snapshot->lineage);
  return Recorded{std::move(*snapshot), std::move(*open), std::move(tag)};
}

bool is_open(const Recorded& known, Intent::Kind kind, const std::string& id) {
  for (const Intent& intent : known.open)
    if (intent.kind == kind && intent.resource.id == id) return true;
  return false;
}

// Everything that radlc made is in the state, or in the journal.
void check_forgotten(SimulatedCloud& cloud, const Recorded& known, std::vector<Finding>& findings) {
  std::set<std::string> ids, tokens;
  for (const auto& [address, record] : known.snapshot.resources)
    if (record.cloud == cloud.id().text()) ids.insert(record.id);
  for (const Intent& intent : known.open) {
    tokens.insert(intent.token);
    ids.insert(intent.resource.id);
  }
  for (const Released& one : known.snapshot.released) ids.insert(one.id);
  for (const Seen& seen : cloud.all_of(known.tag)) {
    if (seen.phase == ResourcePhase::Leaving || ids.count(seen.id) || tokens.count(seen.token)) continue;
    findings.push_back(
        {Kind::Forgotten, fmt::format("{} ({}) is in {} and neither in the state nor in the journal",
                                      seen.address, seen.id, cloud.id().text())});
  }
}

// Two of one address, apart from what `state rm` has let go of.
void check_doubled(SimulatedCloud& cloud, const Recorded& known, std::vector<Finding>& findings) {
  std::set<std::string> released;
  for (const Released& one : known.snapshot.released) released.insert(one.id);
  std::map<std::string, int> count;
  for (const Seen& seen : cloud.all_of(known.tag)) {
    if (seen.phase == ResourcePhase::Leaving || released.count(seen.id)) continue;
    if (++count[seen.address] != 2) continue;
    findings.push_back({Kind::Doubled, seen.address + " occurs more than once in " + cloud.id().text()});
  }
}

// What the state says to be there is not known to be gone.
void check_records(TrialWorld& world, const Recorded& known, std::vector<Finding>& findings) {
  for (const auto& [address, record] : known.snapshot.resources) {
    if (record.status == ResourceStatus::Deleting) continue;
    SimulatedCloud* cloud = world.cloud_named(record.cloud);
    if (!cloud) {
      findings.push_back({Kind::Untrue, address + ": the state has it in " + record.cloud});
    } else if (cloud->was_destroyed(record.id) && !is_open(known, Intent::Kind::Destroy, record.id)) {
      findings.push_back(
          {Kind::Untrue, fmt::format("{} ({}) is {} for the state, and radlc has destroyed it", address,
                                     record.id, resource_status_name(record.status))});
    }
  }
}

void check_specs(TrialWorld& world, const Recorded& known, const std::set<std::string>& tampered,
                 std::vector<Finding>& findings) {
  std::map<std::string, Json> specs;
  for (SimulatedCloud* cloud : world.all_clouds)
    for (const Seen& seen : cloud->all_of(known.tag)) specs[cloud->id().text() + " " + seen.id] = seen.spec;
  for (const auto& [address, record] : known.snapshot.resources) {
    auto real = specs.find(record.cloud + " " + record.id);
    if (real == specs.end() || tampered.count(record.id) || real->second == record.spec) continue;
    findings.push_back({Kind::Untrue, fmt::format("{} ({}) is {} for the state, and really {}", address,
                                                  record.id, record.spec.dump(), real->second.dump())});
  }
}

void check_steps(TrialWorld& world, const Recorded& known, const ir::Program& program,
                 std::vector<Finding>& findings) {
  std::map<std::string, const ir::Step*> steps;
  for (const ir::Step& step : program.steps) steps[step.id] = &step;
  for (const auto& [id, record] : known.snapshot.steps) {
    if (record.status != StepStatus::Done) {
      findings.push_back({Kind::Untrue, id + " is not done after an apply that said it is"});
      continue;
    }
    auto step = steps.find(id);
    if (step == steps.end()) continue;
    for (const auto& [node, machine] : record.made_on) {
      if (!world.machines->has_run(id, step->second->digest, machine))
        findings.push_back({Kind::Untrue, fmt::format("{} is done for the state, and has not run on {} ({})",
                                                      id, node, machine)});
    }
  }
}

}  // namespace

std::vector<Finding> findings_at_any_time(TrialWorld& world) {
  std::vector<Finding> findings;
  std::optional<Recorded> known = recorded(world, findings);
  for (SimulatedCloud* cloud : world.all_clouds) {
    for (const std::string& infrastructure : cloud->infrastructures()) {
      if (!known || infrastructure != known->tag)
        findings.push_back(
            {Kind::Forgotten, "resources of " + infrastructure + ", of which there is no state"});
    }
    if (size_t touched = cloud->foreign_touched(); touched > 0)
      findings.push_back({Kind::Foreign, fmt::format("{} requests changed what belongs to others", touched)});
    if (!known) continue;
    check_doubled(*cloud, *known, findings);
    check_forgotten(*cloud, *known, findings);
  }
  if (known) check_records(world, *known, findings);
  return findings;
}

std::vector<Finding> findings_after_apply(TrialWorld& world, const TrialSubject& subject,
                                          const ir::Program& program, const std::set<std::string>& tampered) {
  std::vector<Finding> findings;
  std::optional<Recorded> known = recorded(world, findings);
  if (!known) {
    if (findings.empty()) findings.push_back({Kind::Untrue, "there is no state after an apply"});
    return findings;
  }
  for (const Intent& intent : known->open)
    findings.push_back(
        {Kind::Untrue, intent.address + " is open in the journal after an apply that is done"});
  check_specs(world, *known, tampered, findings);
  check_steps(world, *known, program, findings);
  Result<Plan> again = plan_now(world, subject, program, known->snapshot, nullptr);
  if (!again.ok()) {
    findings.push_back({Kind::Untrue, "no plan can be made after an apply: " + again.status().message()});
    return findings;
  }
  for (const Action& action : again->actions)
    findings.push_back({Kind::Untrue, fmt::format("after an apply that is done the plan would {} {}: {}",
                                                  verb_name(action.verb), action.id, action.why)});
  return findings;
}

std::vector<Finding> findings_after_destroy(TrialWorld& world) {
  std::vector<Finding> findings;
  std::optional<Recorded> known = recorded(world, findings);
  if (!known) return findings;
  // Apart from what something uses that `state rm` released.
  std::set<std::string> kept, kept_names;
  for (const Kept& one : make_destroy_plan(known->snapshot).kept) kept.insert(one.address);
  for (const auto& [address, record] : known->snapshot.resources) {
    if (kept.count(address))
      kept_names.insert(address + " (" + record.id + ")");
    else
      findings.push_back({Kind::Untrue, address + " is in the state after a destroy that is done"});
  }
  for (const Intent& intent : known->open)
    findings.push_back(
        {Kind::Untrue, intent.address + " is open in the journal after a destroy that is done"});
  // What is being shut down has its time; from then on nothing may be there, or cost anything.
  world.clock.sleep(std::chrono::hours(1));
  for (SimulatedCloud* cloud : world.all_clouds) {
    for (const std::string& one : cloud->standing(known->tag).left)
      if (!kept_names.count(one)) findings.push_back({Kind::Left, one + " in " + cloud->id().text()});
    MoneySum before = cloud->standing(known->tag).billed;
    world.clock.sleep(std::chrono::hours(1));
    if (!(cloud->standing(known->tag).billed == before))
      findings.push_back({Kind::Billed, "something in " + cloud->id().text() + " still costs money"});
  }
  return findings;
}

}  // namespace radl
