#include "runtime/driver/elastic_farms.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "common/human.h"
#include "compiler/ir/elastic_farm.h"
#include "runtime/driver/farm_facts.h"
#include "runtime/driver/project.h"
#include "runtime/exec/retry.h"
#include "runtime/farm/sizing.h"
#include "runtime/plan/farm_notes.h"
#include "runtime/plan/forecast.h"
#include "runtime/state/store.h"

namespace radl::driver {
namespace {

// Until a new node takes tasks, where nothing was measured.
constexpr double kLocalSeconds = 3, kHostSeconds = 20, kCloudSeconds = 120;
constexpr const char* kLease = "30m";  // stop.idle of nodes that do not have their own

double create_seconds_in(const std::string& cloud) {
  if (cloud == "local") return kLocalSeconds;
  return cloud.starts_with("hosts") ? kHostSeconds : kCloudSeconds;
}

std::vector<int> existing_nodes(const Snapshot& snapshot, const std::string& system) {
  std::vector<int> ordinals;
  for (const auto& [address, record] : snapshot.resources)
    if (record.system == system) ordinals.push_back(record.ordinal);
  std::sort(ordinals.begin(), ordinals.end());
  return ordinals;
}

std::vector<int> all_of(const ElasticFarm& elastic) {
  std::vector<int> all(static_cast<size_t>(elastic.most));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::string address_of(const std::string& system, int ordinal) {
  return fmt::format("{}[{}]", system, ordinal);
}

// Sorts nodes on which tasks run to the front of `there`: they stay.
Result<size_t> wanted_count(const ElasticFarm& elastic, std::vector<int>& there,
                            const std::string& work_directory) {
  auto settings = farm::parse_farm(elastic.step.program->value("farm", ""));
  if (!settings) return static_cast<size_t>(elastic.most);  // the plan says what is wrong
  std::set<std::string> existing;
  for (const int ordinal : there) existing.insert(address_of(elastic.system, ordinal));
  auto made = farm_to_be(elastic.step, *settings, work_directory, existing);
  if (!made) return std::move(made).status();
  const auto idle = std::stable_partition(there.begin(), there.end(), [&](int ordinal) {
    return made->busy.contains(address_of(elastic.system, ordinal));
  });
  const auto busy = static_cast<size_t>(idle - there.begin());
  farm::SizeQuestion question{made->trials, settings->trial_needs};
  for (const int ordinal : there) question.there.push_back(address_of(elastic.system, ordinal));
  question.offered = offered_by(elastic.node);
  question.least = settings->elastic.least;
  question.most = static_cast<size_t>(elastic.most);
  question.create_seconds = elastic.create_seconds;
  question.idle_seconds = settings->elastic.idle_seconds;
  question.worth = settings->elastic.worth;
  return std::max(busy, farm::best_size(made->farm, 0, question).nodes);
}

// Existing nodes first, then the lowest free ordinals.
std::vector<int> ordinals_of(size_t count, const std::vector<int>& there, int most) {
  std::set<int> chosen;
  for (const int ordinal : there)
    if (chosen.size() < count && ordinal < most) chosen.insert(ordinal);
  for (int free = 0; chosen.size() < count; ++free) chosen.insert(free);
  return {chosen.begin(), chosen.end()};
}

Result<std::vector<int>> chosen_for(const Project& project, const ElasticFarm& elastic,
                                    std::vector<int> there) {
  const FarmNodes& nodes = project.farm_nodes;
  if (auto asked = nodes.asked.find(elastic.system); asked != nodes.asked.end()) return asked->second;
  if (project.scale || nodes.stay) return there;
  auto count = wanted_count(
      elastic, there,
      work_directory_of(project.state_directory, project.compiled.program.name, project.host->environment()));
  if (!count.ok()) return std::move(count).status();
  return ordinals_of(nodes.keep ? std::max(*count, there.size()) : *count, there, elastic.most);
}

}  // namespace

Result<std::vector<ElasticFarm>> elastic_farms_of(const ir::Program& program,
                                                  const std::map<std::string, int>& deployed) {
  std::vector<ElasticFarm> farms;
  for (const ir::Step& step : program.steps) {
    if (!ir::has_elastic_farm(step)) continue;
    const auto node = std::find_if(program.nodes.begin(), program.nodes.end(), [&](const ir::Node& one) {
      return !step.nodes.empty() && one.address == step.nodes.front();
    });
    if (node == program.nodes.end()) continue;
    const auto count = deployed.find(node->system);
    farms.push_back({step, *node, node->system, count == deployed.end() ? 0 : count->second});
  }
  for (const ElasticFarm& farm : farms) {
    for (const ir::Step& step : program.steps) {
      const bool uses =
          std::find(step.nodes.begin(), step.nodes.end(), farm.node.address) != step.nodes.end();
      if (!uses || !ir::is_job(step.kind) || step.id == farm.step.id) continue;
      return invalid(fmt::format("{} is elastic, and {} uses the same system '{}'", farm.step.id, step.id,
                                 farm.system))
          .with_hint("give the farm a system of its own: its nodes are removed at its end");
    }
  }
  return farms;
}

Status choose_farm_nodes(Project& project, const Snapshot& snapshot, const CloudSet& clouds) {
  for (ElasticFarm& elastic : project.farms) {
    if (project.scale && project.scale->system == elastic.system) continue;
    elastic.create_seconds = create_seconds_in(clouds.id_for(elastic.node));
    auto chosen = chosen_for(project, elastic, existing_nodes(snapshot, elastic.system));
    if (!chosen.ok()) return std::move(chosen).status().at(elastic.step.id);
    if (*chosen == all_of(elastic))
      project.scaled.erase(elastic.system);
    else
      project.scaled[elastic.system] = {elastic.most, std::move(*chosen)};
  }
  return {};
}

void give_farm_leases(Project& project, const CloudSet& clouds) {
  std::set<std::string> noted;
  project.farm_nodes.notes.clear();
  for (ir::Node& node : project.compiled.program.nodes) {
    const bool of_farm = std::any_of(project.farms.begin(), project.farms.end(),
                                     [&](const ElasticFarm& farm) { return farm.system == node.system; });
    const auto own = node.requirements.lower_bound("stop.");
    const bool has_own = own != node.requirements.end() && own->first.starts_with("stop.");
    auto cloud = CloudId::parse(clouds.id_for(node));
    const CloudProvider* provider =
        cloud.ok() ? find_provider(*project.host->providers, cloud->type) : nullptr;
    const bool can = provider != nullptr && provider->leases_nodes;
    if (!of_farm || has_own || provider == nullptr) continue;
    if (can) {
      node.requirements["stop.idle"].equals = kLease;
    } else if (*provider->no_lease != '\0' && noted.insert(node.system).second) {
      project.farm_nodes.notes.push_back(fmt::format(
          "system '{}': its nodes do not end themselves if no radlc follows the farm: {}; `radlc farm "
          "free` or `radlc destroy` removes them",
          node.system, provider->no_lease));
    }
  }
}

void note_ended_farms(const std::vector<ElasticFarm>& farms, const RunReport& round,
                      std::set<std::string>& ended) {
  for (const ActionOutcome& outcome : round.actions) {
    if (std::none_of(farms.begin(), farms.end(), [&](const auto& one) { return one.step.id == outcome.id; }))
      continue;
    const Code code = outcome.status.code();
    const bool tasks_stay = code == Code::Quota || may_work_later(code);
    if (outcome.state == ActionOutcome::State::Done ||
        (outcome.state == ActionOutcome::State::Failed && !tasks_stay))
      ended.insert(outcome.id);
    else
      ended.erase(outcome.id);
  }
}

void forgive_missing_nodes(const std::vector<ElasticFarm>& farms, RunReport& round) {
  using State = ActionOutcome::State;
  const auto is = [&](const std::string& id, State state) {
    return std::any_of(round.actions.begin(), round.actions.end(),
                       [&](const ActionOutcome& one) { return one.id == id && one.state == state; });
  };
  bool forgiven = false;
  for (ActionOutcome& outcome : round.actions) {
    const bool missing = std::any_of(farms.begin(), farms.end(), [&](const ElasticFarm& farm) {
      return outcome.id.starts_with(farm.system + "[") && is(farm.step.id, State::Done);
    });
    // A node that could not be deleted is still paid for.
    if (!missing || outcome.state != State::Failed || outcome.verb == Verb::Delete) continue;
    outcome.state = State::Skipped;
    outcome.detail = "its farm has ended without it";
    outcome.status = {};
    forgiven = true;
  }
  const bool fails = std::any_of(round.actions.begin(), round.actions.end(),
                                 [](const ActionOutcome& one) { return one.state == State::Failed; });
  if (forgiven && !fails && round.lost_lock.ok() && round.status.code() != Code::Cancelled) round.status = {};
}

std::set<std::string> systems_to_free(const std::vector<ElasticFarm>& farms,
                                      const std::set<std::string>& ended, const Snapshot& after) {
  std::set<std::string> systems;
  for (const ElasticFarm& farm : farms) {
    const bool has_nodes = !existing_nodes(after, farm.system).empty();
    const auto record = after.steps.find(farm.step.id);
    const bool runs = record != after.steps.end() && has_not_ended(record->second.status);
    if (ended.contains(farm.step.id) && has_nodes && !runs) systems.insert(farm.system);
  }
  return systems;
}

FarmGrowth growth_of(const Project& project, const Plan& plan, const ElasticFarm& elastic) {
  const size_t now = chosen_ordinals(project, elastic).size();
  Money each;
  bool priced = false;
  for (const ResourceCost& cost : plan.costs) {
    const bool of_system = cost.address.starts_with(elastic.system + "[");
    if (!of_system || cost.after.micros < each.micros) continue;
    each = cost.after;
    priced = cost.priced();
  }
  FarmGrowth growth{static_cast<size_t>(elastic.most), std::nullopt};
  if (!priced) return growth;
  const auto total = plan.totals.price_per_hour.total(each.currency);
  if (const auto& budget = project.farm_nodes.budget; budget && total.ok() && each.micros > 0) {
    const int64_t left = std::max<int64_t>(0, budget->per_hour.micros - total->micros) /
                         static_cast<int64_t>(project.farms.size());
    growth.nodes = std::min(growth.nodes, now + static_cast<size_t>(left / each.micros));
  }
  growth.per_hour = Money{each.micros * static_cast<int64_t>(growth.nodes), each.currency};
  return growth;
}

bool keep_existing_nodes(Project& project, const Snapshot& snapshot, const std::set<std::string>& lost) {
  bool changes = false;
  for (const ElasticFarm& elastic : project.farms) {
    std::vector<int> there = existing_nodes(snapshot, elastic.system);
    std::erase_if(there, [&](int ordinal) { return lost.contains(address_of(elastic.system, ordinal)); });
    std::vector<int>& asked = project.farm_nodes.asked[elastic.system];
    changes |= asked != there;
    asked = std::move(there);
  }
  return changes;
}

Status check_farms_unsupervised(const std::vector<ElasticFarm>& farms, const std::string& system,
                                const Snapshot& now) {
  for (const ElasticFarm& farm : farms) {
    const auto by = now.supervised.find(farm.step.id);
    if (farm.system != system || by == now.supervised.end()) continue;
    return Status(Code::Conflict, farm.step.id + " is running: " + by->second)
        .with_hint("interrupt that radlc, which ends the tasks, or wait for its end");
  }
  return {};
}

void keep_removals(Plan& plan) {
  std::erase_if(plan.actions, [](const Action& action) {
    return action.verb != Verb::Delete && !action.spec.contains("drains");
  });
  plan.barriers.clear();
  for (Action& action : plan.actions) {
    const auto is_left_out = [&](const std::string& id) { return plan.find(id) == nullptr; };
    std::erase_if(action.needs, is_left_out);
    std::erase_if(action.removed_after, is_left_out);
  }
}

std::vector<int> chosen_ordinals(const Project& project, const ElasticFarm& elastic) {
  const auto chosen = project.scaled.find(elastic.system);
  return chosen == project.scaled.end() ? all_of(elastic) : chosen->second.ordinals;
}

std::map<std::string, std::string> farm_systems_of(const Project& project) {
  std::map<std::string, std::string> systems;
  for (const ElasticFarm& elastic : project.farms) {
    if (project.scale && project.scale->system == elastic.system) continue;
    const size_t now = chosen_ordinals(project, elastic).size();
    systems[elastic.system] = fmt::format(
        "{} has {} of '{}' now", elastic.step.id,
        now == 0 ? "no task left and needs no node" : "work for " + counted(now, "node"), elastic.system);
  }
  return systems;
}

}  // namespace radl::driver
