#include "runtime/run/planning.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "common/text.h"
#include "runtime/exec/executor.h"
#include "runtime/plan/measured.h"
#include "runtime/run/architectures.h"
#include "runtime/run/sources_sent.h"
#include "runtime/state/moves.h"
#include "runtime/state/renaming.h"
#include "runtime/steps/dataset.h"
#include "runtime/steps/dataset_look.h"
#include "runtime/steps/model_look.h"
#include "runtime/steps/result_look.h"
#include "runtime/steps/training/bucket_folder.h"

namespace radl {

namespace {

constexpr std::chrono::seconds kOneLookAtABucket{60};  // with its repetitions

// Buckets are asked where clouds are. What cannot be looked at counts as there: it is not trained again for
// that.
bool output_is_there(World& world, const std::string& path, bool may_ask, const Stop& stop,
                     std::map<std::string, std::string>& failed) {
  if (!training::is_bucket(path)) return world.files.exists(path);
  if (!may_ask || stop.asked()) return true;
  auto there = training::is_in_bucket(path, world.environment, stop.within(kOneLookAtABucket));
  if (there.ok()) return *there;
  failed[path] = there.status().message();
  return true;
}

// What was looked at by its old names.
Observed moved_observed(const Observed& observed, const Snapshot& before,
                        const std::vector<state_change::Move>& moves) {
  Observed now = observed;
  std::set<std::string> nodes = node_addresses(before, {});
  for (const state_change::Move& move : moves) {
    const Renaming renaming(move, nodes);
    auto name = [&](const std::string& old) {
      return old.find('/') == std::string::npos ? renaming.address(old) : renaming.step(old);
    };
    auto rename_keys = [&](auto& by_name) {
      std::remove_reference_t<decltype(by_name)> renamed;
      for (auto& [old, value] : by_name) renamed[name(old)] = std::move(value);
      by_name = std::move(renamed);
    };
    for (Drift& drift : now.resources) drift.address = name(drift.address);
    rename_keys(now.attributes);
    rename_keys(now.specs);
    rename_keys(now.marks);
    rename_keys(now.steps);
    rename_keys(now.unknown);
    std::set<std::string> renamed;
    for (const std::string& node : nodes) renamed.insert(renaming.address(node));
    nodes = std::move(renamed);
  }
  return now;
}

// A cloud knows nothing of an image that another one's nodes start from.
ir::Program with_nodes(const ir::Program& program, const std::vector<const ir::Node*>& nodes) {
  ir::Program part;
  part.name = program.name;
  part.networks = program.networks;
  for (const ir::Node* node : nodes) part.nodes.push_back(*node);
  return part;
}

// What the clouds would refuse of the machines that a plan creates, each once.
std::vector<std::string> refused_in_advance(const Plan& plan, const CloudSet& clouds,
                                            const Context& context) {
  std::map<std::string, std::vector<Order>> orders;
  for (const Action& action : plan.actions) {
    if (action.is_step || action.nodes.empty()) continue;
    if (action.verb != Verb::Create && action.verb != Verb::Replace) continue;
    Order order;
    order.address = action.id;
    order.type = action.type;
    order.spec = action.spec;
    order.token = "asked-in-advance";
    orders[action.cloud].push_back(std::move(order));
  }
  std::vector<std::string> refused;
  for (const auto& [id, of_cloud] : orders) {
    Cloud* cloud = clouds.find(id);
    if (!cloud) continue;
    for (std::string& text : cloud->refused_in_advance(context, of_cloud))
      if (std::find(refused.begin(), refused.end(), text) == refused.end())
        refused.push_back(std::move(text));
  }
  return refused;
}

Context context_of(const PlanQuestion& question, const ir::Program& program, const Snapshot& snapshot,
                   const std::string& work_directory) {
  Context context;
  context.stop = question.stop;
  context.infrastructure = infrastructure_tag(program.name, snapshot.lineage);
  context.work_directory = work_directory;
  context.secrets = question.secrets;
  context.environment = question.world->environment;
  if (question.tell) context.log = question.tell;
  return context;
}

// A state that has nothing may be one that was lost: what it had carries the infrastructure's name.
Status note_existing(const PlanQuestion& question, const Snapshot& snapshot,
                     const std::string& work_directory, Plan& plan) {
  constexpr size_t kNamed = 8;
  std::set<std::string> clouds;
  for (const Action& action : plan.actions)
    if (!action.is_step) clouds.insert(action.cloud);
  const std::string& name = question.program->name;
  std::map<std::string, std::string> failed;
  auto existing =
      existing_of(*question.clouds, clouds, context_of(question, *question.program, snapshot, work_directory),
                  name, failed);
  if (!existing.ok()) return existing.status();
  plan.elsewhere = std::move(*existing);
  for (const Elsewhere& one : plan.elsewhere) {
    const size_t more = one.resources.size() > kNamed ? one.resources.size() - kNamed : 0;
    const std::vector<std::string> named(one.resources.begin(),
                                         one.resources.end() - static_cast<ptrdiff_t>(more));
    plan.notes.push_back(one.infrastructure + " exists already in " + one.cloud + ": " + join(named, ", ") +
                         (more > 0 ? " and " + std::to_string(more) + " more" : "") +
                         ". If that is this infrastructure and its state was lost, `radlc import --all" +
                         question.project_words + "` rebuilds the state and `radlc destroy --from-cloud " +
                         one.infrastructure + "` removes it; this plan creates another one beside it");
  }
  for (const auto& [cloud, why] : failed)
    plan.notes.push_back(cloud + " could not be asked whether an infrastructure named " + name +
                         " exists there already: " + why);
  return {};
}

}  // namespace

Result<std::map<std::string, Survey>> survey_clouds(const PlanQuestion& question, const ir::Program& program,
                                                    const Snapshot& snapshot,
                                                    const std::string& work_directory,
                                                    std::map<std::string, std::string>& failed) {
  const Context context = context_of(question, program, snapshot, work_directory);
  std::map<std::string, std::vector<const ir::Node*>> used;
  for (const ir::Node& node : program.nodes) used[question.clouds->id_for(node)].push_back(&node);
  std::map<std::string, Survey> surveys;
  for (const auto& [id, nodes] : used) {
    Cloud* cloud = question.clouds->find(id);
    if (!cloud) continue;  // the plan says so
    auto survey = used.size() == 1 ? cloud->survey(context, program)
                                   : cloud->survey(context, with_nodes(program, nodes));
    if (Status stopped = question.stop.check(); !stopped.ok()) return stopped;
    if (survey.ok()) {
      surveys[id] = std::move(*survey);
    } else {
      const std::string& hint = survey.status().hint();
      failed["cloud " + id] = survey.status().message() + (hint.empty() ? "" : " (" + hint + ")");
    }
  }
  return surveys;
}

Result<Plan> make_plan_of(const PlanQuestion& question, const Snapshot& before, const Observed* observed,
                          const std::string& work_directory) {
  MovedState moved;  // a state may be large: it is copied only where something moves
  if (!question.program->moves.empty()) {
    Result<MovedState> made = moved_state(before, *question.program);
    if (!made.ok()) return std::move(made).status();
    moved = std::move(*made);
  }
  const Snapshot& snapshot = moved.made.empty() ? before : moved.snapshot;
  std::optional<Observed> renamed;
  if (observed && !moved.made.empty())
    observed = &renamed.emplace(moved_observed(*observed, before, moved.made));
  if (question.prepare) {
    if (Status prepared = question.prepare(snapshot); !prepared.ok()) return prepared;
  }
  std::map<std::string, std::string> failed;
  const Placement placement =
      place_nodes(*question.program, snapshot, *question.clouds, *question.catalog, question.no_room);
  PlanInput input{.program = placement.of(*question.program),
                  .snapshot = snapshot,
                  .clouds = *question.clouds,
                  .catalog = *question.catalog,
                  .secrets = fingerprints(snapshot, *question.secrets),
                  .observed = observed,
                  .surveys = {},
                  .options = {},
                  .moves = moved.made};
  if (question.refresh) {
    auto surveys = survey_clouds(question, input.program, snapshot, work_directory, failed);
    if (!surveys.ok()) return std::move(surveys).status();
    input.surveys = std::move(*surveys);
  }
  input.options.replace = question.replace;
  for (const ir::Node& node : input.program.nodes)
    if (question.lost.contains(node.address)) input.options.replace.insert(node.address);
  input.options.targets = question.targets;
  input.options.project_words = question.project_words;
  input.options.caller = question.caller;
  if (question.scaled != nullptr) input.options.scaled = *question.scaled;
  if (question.farm_systems) input.options.farm_systems = question.farm_systems();
  input.options.leave_jobs = question.leave_jobs;
  input.options.today = utc_time(question.world->clock.wall_seconds()).substr(0, 10);
  input.options.missing_outputs = missing_outputs(snapshot, [&](const std::string& path) {
    return output_is_there(*question.world, path, question.refresh || observed != nullptr, question.stop,
                           failed);
  });
  if (Status stopped = question.stop.check(); !stopped.ok()) return stopped;
  auto plan = make_plan(input);
  if (Status stopped = question.stop.check(); !stopped.ok()) return stopped;
  if (!plan.ok()) return plan;
  if (question.refresh) {
    const Context context = context_of(question, input.program, snapshot, work_directory);
    for (std::string& text : refused_in_advance(*plan, *question.clouds, context))
      plan->notes.push_back(std::move(text));
  }
  if (snapshot.resources.empty() && (question.refresh || observed != nullptr)) {
    if (Status asked = note_existing(question, snapshot, work_directory, *plan); !asked.ok()) return asked;
  }
  plan->unseen.insert(failed.begin(), failed.end());
  plan->notes.insert(plan->notes.end(), placement.notes.begin(), placement.notes.end());
  add_candidates_left(input, placement, *plan);
  if (Status told = tell_sources(*question.program, snapshot, work_directory, *plan); !told.ok()) return told;
  if (!plan->actions.empty() && question.measured) use_measured(*plan, question.measured());
  std::set<std::string> steps;
  for (const Action& action : plan->actions)
    if (action.verb == Verb::Run) steps.insert(action.id);
  if (auto engine = find_engine(question.world->environment); engine.ok()) {
    Status fit = check_architectures(*question.program, steps, *plan, snapshot, *question.catalog,
                                     architecture_of_program(*engine));
    if (!fit.ok()) return fit;
  }
  if (Status models = look_at_models(*question.program, steps, question.world->environment, question.stop);
      !models.ok())
    return models;
  auto looked = look_at_datasets(*question.program, steps, question.world->environment, question.stop);
  if (!looked.ok()) return std::move(looked).status();
  plan->notes.insert(plan->notes.end(), looked->begin(), looked->end());
  auto results = look_at_result_folders(*question.program, steps);
  if (!results.ok()) return std::move(results).status();
  plan->notes.insert(plan->notes.end(), results->begin(), results->end());
  return plan;
}

}  // namespace radl
