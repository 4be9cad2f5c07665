#include "runtime/plan/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "common/human.h"
#include "compiler/ir/elastic_farm.h"
#include "compiler/resources/resource_schema.h"
#include "runtime/base/job_members.h"
#include "runtime/plan/build.h"
#include "runtime/plan/ordinals.h"
#include "runtime/plan/step_facts.h"

namespace radl {

namespace {

std::string text_of(const Json& properties, const char* name) {
  auto found = properties.find(name);
  return found != properties.end() && found->is_string() ? found->get<std::string>() : std::string();
}

double number_of(const Json& properties, const char* name, double otherwise) {
  auto found = properties.find(name);
  return found != properties.end() && found->is_number() ? found->get<double>() : otherwise;
}

// null if there is none.
Json command_of(const Json& properties, const char* name) {
  auto found = properties.find(name);
  return found == properties.end() || *found == "" ? Json() : *found;
}

ElasticRules rules_of(const ir::Step& step, const ir::Resource& resource) {
  const Json& given = resource.properties;
  ElasticRules rules;
  rules.name = resource.name;
  rules.system = text_of(given, "system");
  rules.node = step.nodes.front();
  rules.step = step.id;
  rules.min = static_cast<int>(number_of(given, "min", 0));
  if (const double max = number_of(given, "max", -1); max >= 0) rules.max = static_cast<int>(max);
  rules.idle_seconds = number_of(given, "idle", rules.idle_seconds);
  rules.directory = text_of(given, "directory");
  rules.wanted = command_of(given, "wanted");
  rules.drains = !command_of(given, "drain").is_null();
  rules.drain_seconds = number_of(given, "drain_timeout", rules.drain_seconds);
  return rules;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string nodes_text(size_t count) { return counted(count, "node"); }

// Nodes that are removed, or replaced because the file has changed. Excludes lost nodes.
std::vector<std::string> leaving(const Draft& draft) {
  std::vector<std::string> addresses;
  for (const Action& action : draft.plan.actions) {
    const bool changed = std::any_of(action.changes.begin(), action.changes.end(),
                                     [](const FieldChange& change) { return change.forces_replacement; });
    const bool goes = action.verb == Verb::Delete || (action.verb == Verb::Replace && changed);
    if (goes && !action.is_step && !action.nodes.empty()) addresses.push_back(action.id);
  }
  return addresses;
}

// Whether other workers of a training continue without these of its nodes.
bool trains_without(const StepRecord& job, const std::vector<std::string>& lost) {
  return job.kind == ir::step_kind_name(ir::StepKind::Training) && job.definition &&
         continues_without(job.definition->value("training", Json::object()), lost);
}

// The plan joins it where it runs.
bool is_joined(const Draft& draft, const StepRecord& record) {
  auto action = draft.step_actions.find(record.id);
  return action != draft.step_actions.end() && !draft.plan.actions[action->second].joins.empty();
}

// Jobs that continue during this plan: they have not ended, and the plan does not affect them.
bool goes_on(const Draft& draft, const StepRecord& record) {
  const bool stays = draft.input.options.leave_jobs ? has_not_ended(record.status)
                                                    : draft.input.snapshot.supervised.count(record.id) != 0;
  return stays && ir::is_job_type(record.kind);
}

// Ok if the job continues without these members.
Status check_job(const StepRecord& job, const std::vector<std::string>& gone) {
  std::vector<std::string> lost;
  for (const std::string& node : job.nodes) {
    if (std::find(gone.begin(), gone.end(), node) != gone.end()) lost.push_back(node);
  }
  if (lost.empty() || trains_without(job, lost)) return {};
  const Json program = job.definition ? job.definition->value("program", Json::object()) : Json::object();
  if (ir::has_elastic_farm(program)) return {};  // its tasks run again elsewhere, or later
  const bool alone = program.value("lost", "") == "alone";
  const size_t least = alone ? program.value("least", size_t{1}) : job.nodes.size();
  const bool chief = lost.front() == job.nodes.front();
  if (alone && !chief && job.nodes.size() - lost.size() >= least) return {};
  const std::string needs = alone && chief              ? "its first member " + job.nodes.front()
                            : least == job.nodes.size() ? "all of its " + nodes_text(least)
                                                        : "at least " + nodes_text(least);
  return Status(Code::Conflict, fmt::format("{} has not ended and needs {}: {} cannot be removed or replaced",
                                            job.id, needs, joined(lost)))
      .with_hint("wait for its end (radlc queue), or end it: radlc cancel " +
                 job.id.substr(job.id.find('/') + 1));
}

// Removals of nodes. What is half removed has been drained.
std::vector<size_t> removals(const Draft& draft,
                             const std::function<bool(const ResourceRecord& node)>& of_these) {
  std::vector<size_t> found;
  const Plan& plan = draft.plan;
  for (size_t i = 0; i < plan.actions.size(); ++i) {
    const Action& action = plan.actions[i];
    if (action.is_step || action.verb != Verb::Delete) continue;
    const auto record = draft.input.snapshot.resources.find(action.id);
    if (record != draft.input.snapshot.resources.end() && record->second.status != ResourceStatus::Deleting &&
        of_these(record->second))
      found.push_back(i);
  }
  return found;
}

// Nodes are drained before they are removed.
void add_drain(Draft& draft, Action drain, const std::vector<size_t>& removed) {
  Plan& plan = draft.plan;
  drain.verb = Verb::Run;
  drain.is_step = true;
  drain.step_kind = ir::step_kind_name(ir::StepKind::Native);
  drain.spec["drains"] = Json::array();
  std::vector<std::string> names;
  for (const size_t i : removed) {
    plan.actions[i].removed_after.push_back(drain.id);
    names.push_back(plan.actions[i].id);
    drain.spec["drains"].push_back(plan.actions[i].id);
  }
  drain.seconds = 10;  // the running work has an unknown duration
  drain.why = joined(names) + (names.size() == 1 ? " is removed" : " are removed");
  draft.step_actions[drain.id] = plan.actions.size();
  plan.actions.push_back(std::move(drain));
}

// Members of a job leave it before their nodes go.
void leave_before(Draft& draft, const StepRecord& job) {
  const std::vector<size_t> removed = removals(draft, [&](const ResourceRecord& node) {
    return std::find(job.nodes.begin(), job.nodes.end(), node.address) != job.nodes.end();
  });
  const auto stays = std::find_if(job.nodes.begin(), job.nodes.end(), [&](const std::string& node) {
    return std::none_of(removed.begin(), removed.end(),
                        [&](size_t i) { return draft.plan.actions[i].id == node; });
  });
  if (removed.empty() || stays == job.nodes.end()) return;
  Action drain;
  drain.id = job.id + "/drain";
  drain.nodes = {*stays};
  drain.spec = {{"job", job.id}};
  drain.summary = "members of " + job.id;
  if (is_joined(draft, job)) draft.plan.actions[draft.step_actions.at(job.id)].needs.push_back(drain.id);
  add_drain(draft, std::move(drain), removed);
}

void drain_before(Draft& draft, const ElasticRules& rules) {
  Plan& plan = draft.plan;
  const std::vector<size_t> removed =
      removals(draft, [&](const ResourceRecord& node) { return node.system == rules.system; });
  if (removed.empty()) return;
  Action drain;
  drain.id = fmt::format("{}/drain {}", rules.node, rules.system);
  // Two schedulers of one node may have the same system: a node of HDFS and of Spark.
  if (draft.step_actions.count(drain.id)) drain.id += " of " + rules.name;
  drain.nodes = {rules.node};
  drain.spec = {{"step", rules.step}, {"elastic", rules.name}};
  drain.summary = "elastic '" + rules.name + "'";
  if (draft.resource_action(rules.node)) drain.needs.push_back(rules.node);
  // Its node learns of the new list of nodes when they are drained.
  for (Action& action : plan.actions) {
    if (action.is_step && action.verb == Verb::Run && action.nodes == drain.nodes &&
        !action.spec.contains("drains"))
      action.needs.push_back(drain.id);
  }
  add_drain(draft, std::move(drain), removed);
}

}  // namespace

std::vector<ElasticRules> elastic_rules(const ir::Program& program) {
  std::vector<ElasticRules> all;
  for (const ir::Step& step : program.steps) {
    for (const ir::Resource& resource : step.resources) {
      if (resource.type == "elastic") all.push_back(rules_of(step, resource));
    }
  }
  return all;
}

Status check_elastic(const ir::Program& program) {
  for (const ir::Step& step : program.steps) {
    for (const ir::Resource& resource : step.resources) {
      if (resource.type != "elastic") continue;
      for (const char* name : {"system", "min", "max", "idle", "directory", "drain_timeout"}) {
        auto found = resource.properties->find(name);
        if (found == resource.properties->end()) continue;
        if (ir::unknowns_in(*found).empty() && ir::secrets_in(*found).empty()) continue;
        return invalid(fmt::format("elastic '{}' of {}: '{}' must be known when it is planned", resource.name,
                                   step.id, name));
      }
    }
  }
  return {};
}

Result<std::vector<int>> chosen_nodes(const std::string& system, const std::vector<int>& now,
                                      const ScaleWish& wish) {
  std::set<int> left(now.begin(), now.end());
  for (const int ordinal : wish.without) {
    if (left.erase(ordinal) == 0)
      return not_found(fmt::format("no node {}[{}]; existing: {}[{}]", system, ordinal, system, ranges(now)));
  }
  const size_t count = wish.count ? static_cast<size_t>(*wish.count) : left.size();
  if (!wish.without.empty() && count > left.size())
    return invalid(fmt::format("without the nodes that --node names, '{}' has {}, fewer than {}", system,
                               nodes_text(left.size()), count));
  while (left.size() > count) left.erase(std::prev(left.end()));
  for (int free = 0; left.size() < count; ++free) left.insert(free);
  return std::vector<int>(left.begin(), left.end());
}

Status check_bounds(const std::vector<ElasticRules>& rules, const std::string& system, size_t count) {
  for (const ElasticRules& each : rules) {
    if (each.system != system) continue;
    const std::string who = fmt::format("elastic '{}' of {}", each.name, each.step);
    if (count < static_cast<size_t>(each.min))
      return invalid(fmt::format("'{}' has at least {} ({}), not {}", system,
                                 nodes_text(static_cast<size_t>(each.min)), who, count));
    if (each.max && count > static_cast<size_t>(*each.max))
      return invalid(fmt::format("'{}' has at most {} ({}), not {}", system,
                                 nodes_text(static_cast<size_t>(*each.max)), who, count));
  }
  return {};
}

Scalings still_chosen(const Scalings& scaled, const std::map<std::string, int>& deployed) {
  Scalings still;
  for (const auto& [system, chosen] : scaled) {
    auto count = deployed.find(system);
    if (count != deployed.end() && count->second == chosen.of) still[system] = chosen;
  }
  return still;
}

Status plan_scaling(Draft& draft) {
  if (Status known = check_elastic(draft.input.program); !known.ok()) return known;
  const Snapshot& snapshot = draft.input.snapshot;
  const PlanOptions& options = draft.input.options;
  const Scalings& now = options.scaled ? *options.scaled : snapshot.scaled;
  for (const auto& [system, chosen] : now) {
    auto farm = options.farm_systems.find(system);
    draft.plan.notes.push_back(farm != options.farm_systems.end()
                                   ? farm->second + fmt::format("; the file allows {}", chosen.of)
                                   : fmt::format("`radlc scale` set '{}' to {}; the file says {}", system,
                                                 nodes_text(chosen.ordinals.size()), chosen.of));
    auto before = snapshot.scaled.find(system);
    if (before == snapshot.scaled.end() || before->second != chosen)
      draft.plan.scaled.push_back({system, chosen});
  }
  for (const auto& [system, chosen] : snapshot.scaled) {
    if (now.count(system)) continue;
    if (!options.farm_systems.count(system))
      draft.plan.notes.push_back(fmt::format("'{}' follows the file again; `radlc scale` had set it to {}",
                                             system, nodes_text(chosen.ordinals.size())));
    draft.plan.scaled.push_back({system, std::nullopt});
  }
  const std::vector<std::string> gone = leaving(draft);
  for (const auto& [id, record] : snapshot.steps) {
    if (!goes_on(draft, record)) continue;
    if (Status stays = check_job(record, gone); !stays.ok()) return stays;
  }
  return {};
}

namespace {

// Only `radlc autoscale` asks a scheduler how many nodes it wants (Slurm writes its requests itself, and
// `radlc submit` checks whether anything reads them).
void note_autoscale(Draft& draft) {
  for (const ElasticRules& rules : elastic_rules(draft.input.program)) {
    if (rules.wanted.is_null() || !draft.step_actions.contains(rules.step)) continue;
    draft.plan.notes.push_back(
        fmt::format("nodes of '{}' are added and removed by elastic '{}' only while "
                    "`radlc autoscale{}` runs",
                    rules.system, rules.name, draft.input.options.project_words));
  }
}

}  // namespace

void plan_drains(Draft& draft) {
  if (!draft.input.options.leave_jobs) note_autoscale(draft);
  for (const auto& [id, record] : draft.input.snapshot.steps)
    if ((goes_on(draft, record) || is_joined(draft, record)) &&
        record.kind == ir::step_kind_name(ir::StepKind::Training))
      leave_before(draft, record);
  for (const ElasticRules& rules : elastic_rules(draft.input.program)) {
    if (!rules.drains || draft.is_made_anew(rules.node)) continue;
    // Before its step has run nothing knows of the nodes.
    auto step = draft.input.snapshot.steps.find(rules.step);
    if (step != draft.input.snapshot.steps.end() && step->second.status == StepStatus::Done)
      drain_before(draft, rules);
  }
}

}  // namespace radl
