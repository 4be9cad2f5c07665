// Which steps run, and why: exactly those whose content, inputs, node or observation changed, or that did not
// end well.
#include <fmt/format.h>

#include <algorithm>

#include "common/human.h"
#include "compiler/ir/elastic_farm.h"
#include "runtime/plan/build.h"
#include "runtime/plan/farm_notes.h"
#include "runtime/plan/fields.h"
#include "runtime/plan/joining.h"
#include "runtime/plan/step_facts.h"
#include "runtime/plan/step_times.h"
#include "runtime/plan/values.h"

namespace radl {

namespace {

class StepPlanner {
 public:
  explicit StepPlanner(Draft& draft) : draft_(draft), snapshot_(draft.input.snapshot) {
    for (const ir::Step& step : draft.input.program.steps) steps_[step.id] = &step;
    for (const Desired& desired : draft.desired.resources)
      if (desired.node != nullptr) clouds_[desired.wanted.address] = desired.cloud;
    for (const auto& [id, record] : snapshot_.steps) {
      auto& [total, count] = seconds_of_recipe_[record.recipe];
      if (record.status == StepStatus::Done && record.seconds > 0) total += record.seconds, ++count;
    }
  }

  void run() {
    for (const ir::Step& step : draft_.input.program.steps) {
      if (waits_for_job(step)) continue;
      if (step.kind == ir::StepKind::Barrier) continue;
      if (draft_.input.options.leave_jobs && !only_joins(step) && left_alone(step)) continue;
      plan(step);
    }
  }

 private:
  // A job that another run supervises is left alone, with what comes after it.
  bool waits_for_job(const ir::Step& step) {
    auto by = snapshot_.supervised.find(step.id);
    auto record = snapshot_.steps.find(step.id);
    bool waits = by != snapshot_.supervised.end() && ir::is_job(step.kind);
    if (waits) note_supervised(step, by->second);
    for (const ir::Edge& edge : step.after) waits |= waiting_.count(edge.to) != 0;
    for (const std::string& name : ir::unknowns_in(step))
      waits |= waiting_.count(split_unknown(name).owner) != 0;
    if (!waits) return false;
    waiting_.insert(step.id);
    if (record != snapshot_.steps.end()) revisions_[step.id] = record->second.revision;
    return true;
  }

  void note_supervised(const ir::Step& step, const std::string& by) const {
    auto record = snapshot_.steps.find(step.id);
    std::string also = "; changes of it in the file apply once it has ended";
    if (record != snapshot_.steps.end()) {
      if (same_content(step, step_digest(step, draft_.input.secrets), record->second))
        also.clear();
      else if (same_training(step, record->second) && is_scaled(step))
        also = after_semicolon(joining_text(joining(step, record->second.nodes)));
    }
    draft_.plan.notes.push_back(fmt::format("{} keeps running ({}){}", step.id, by, also));
  }

  static std::string after_semicolon(const std::string& text) { return text.empty() ? "" : "; " + text; }

  // Whoever supervises it takes its nodes from the state.
  bool is_scaled(const ir::Step& step) const {
    const PlanOptions& options = draft_.input.options;
    return radl::is_scaled(step, draft_.input.program, options.scaled ? *options.scaled : snapshot_.scaled);
  }

  bool same_training(const ir::Step& step, const StepRecord& record) const {
    return radl::same_training(step, record, snapshot_, draft_.input.secrets);
  }

  // A scale starts no jobs. Nodes that it adds join a running training without a supervisor.
  bool only_joins(const ir::Step& step) const {
    auto record = snapshot_.steps.find(step.id);
    if (record == snapshot_.steps.end() || step.kind != ir::StepKind::Training) return false;
    const std::string digest = step_digest(step, draft_.input.secrets);
    if (!runs_as(step, record->second, digest) || !is_scaled(step)) return false;
    const std::vector<std::string> running = members_on(step, left_running(record->second, snapshot_).newest);
    return can_be_joined(step, running) && !joining(step, running).empty();
  }

  // A job, and what waits for what a job gives for the first time.
  bool left_alone(const ir::Step& step) {
    bool left = ir::is_job(step.kind);
    for (const std::string& name : ir::unknowns_in(step)) {
      auto owner = steps_.find(split_unknown(name).owner);
      left |= owner != steps_.end() && !snapshot_.steps.count(owner->first);
    }
    if (!left) return false;
    auto record = snapshot_.steps.find(step.id);
    if (record != snapshot_.steps.end()) revisions_[step.id] = record->second.revision;
    return true;
  }

  void plan(const ir::Step& step) {
    std::string digest = step_digest(step, draft_.input.secrets);
    auto found = snapshot_.steps.find(step.id);
    const StepRecord* record = found == snapshot_.steps.end() ? nullptr : &found->second;
    std::string why = reason(step, digest, record);
    if (why.empty()) {
      revisions_[step.id] = record->revision;
      note_left(*record);
      return;
    }
    std::map<std::string, std::string> below;
    for (const std::string& id : steps_below(step, steps_)) below[id] = revisions_[id];
    revisions_[step.id] = step_revision(digest, below);
    add(step, record, digest, std::move(why));
  }

  // Empty: the step is as wanted.
  std::string reason(const ir::Step& step, const std::string& digest, const StepRecord* record) {
    if (!record) {
      bool node_is_new = std::any_of(step.nodes.begin(), step.nodes.end(),
                                     [&](const std::string& node) { return draft_.is_made_anew(node); });
      return node_is_new && step.nodes.size() == 1 ? "its node is new" : "new";
    }
    if (record->status == StepStatus::Failed) return "it failed last time";
    if (record->status == StepStatus::Detached) return "it was left running";
    if (record->status == StepStatus::Interrupted)
      return draft_.input.snapshot.at_work.empty() ? "it was interrupted last time" : "it has not ended";
    if (std::string why = node_reason(step, *record); !why.empty()) return why;
    if (!same_content(step, digest, *record)) return content_reason(step, *record);
    if (std::string why = input_reason(step, *record); !why.empty()) return why;
    if (std::string why = below_reason(step, *record); !why.empty()) return why;
    if (needs_files(step.id) && !known_value(snapshot_, step.id + ".files"))
      return "another program needs its files, and this state does not record them";
    auto missing = draft_.input.options.missing_outputs.find(step.id);
    if (missing != draft_.input.options.missing_outputs.end())
      return "its output is missing: " + missing->second;
    return observed_reason(step);
  }

  // Whether another program has what this one makes as an input. Versions of radlc that did not record the
  // files have left none.
  bool needs_files(const std::string& id) const {
    return std::any_of(steps_.begin(), steps_.end(), [&](const auto& one) {
      if (one.second->kind != ir::StepKind::Program) return false;
      const std::vector<std::string> names = ir::unknowns_in(one.second->program);
      return std::find(names.begin(), names.end(), id + ".files") != names.end();
    });
  }

  std::string node_reason(const ir::Step& step, const StepRecord& record) const {
    if (ir::has_elastic_farm(step)) return "";  // the outputs of what is done are on this computer
    for (const std::string& node : step.nodes) {
      auto before = record.made_on.find(node);
      // A job's nodes are part of its digest, so a new node is not a separate reason.
      if (before == record.made_on.end() && ir::is_job(step.kind)) continue;
      if (draft_.is_made_anew(node)) return node + " is replaced";
      if (before == record.made_on.end()) return node + " is new to it";
      auto now = snapshot_.resources.find(node);
      if (now == snapshot_.resources.end() || before->second != now->second.id)
        return node + " was replaced since";
      // What ran there does not any more. A native step looks first and puts right only what differs.
      if (step.kind == ir::StepKind::Native && draft_.started.count(node)) return node + " is restarted";
    }
    return "";
  }

  bool same_content(const ir::Step& step, const std::string& digest, const StepRecord& record) const {
    if (!record.digest.empty()) return record.digest == digest;
    if (!record.definition || *record.definition != step_definition(step)) return false;
    std::vector<std::string> names = ir::secrets_in(step);
    return std::all_of(names.begin(), names.end(),
                       [&](const std::string& name) { return same_secret(name); });
  }

  bool same_secret(const std::string& name) const {
    auto now = draft_.input.secrets.find(name);
    auto before = snapshot_.secrets.find(name);
    return now != draft_.input.secrets.end() && before != snapshot_.secrets.end() &&
           now->second == before->second;
  }

  std::string content_reason(const ir::Step& step, const StepRecord& record) const {
    if (step.kind == ir::StepKind::Training) return training_reason(step, record);
    if (step.kind == ir::StepKind::Program) return program_reason(step, record);
    if (!record.definition) return "its recipe changed";
    for (const std::string& name : ir::secrets_in(step)) {
      if (!same_secret(name) && *record.definition == step_definition(step))
        return "the secret " + name + " changed";
    }
    if (*record.definition == step_definition(step)) return "a file that it uses changed";
    return "its recipe changed";
  }

  std::string program_reason(const ir::Step& step, const StepRecord& record) const {
    for (const std::string& name : ir::secrets_in(step)) {
      if (!same_secret(name)) return "the secret " + name + " changed";
    }
    const Json before =
        record.definition ? record.definition->value("program", Json::object()) : Json::object();
    std::string text;
    for (const FieldChange& change : differing_fields(before, step_definition(step).at("program"))) {
      if (change.field == "identity" || change.field == "results") continue;
      const std::string name = change.field.substr(0, change.field.find_first_of(".["));
      if (text.find(name) == std::string::npos) text += (text.empty() ? "" : ", ") + name;
    }
    return text.empty() ? "its definition changed" : text + " changed";
  }

  std::string training_reason(const ir::Step& step, const StepRecord& record) const {
    const Json before =
        record.definition ? record.definition->value("training", Json::object()) : Json::object();
    std::vector<std::string> names;
    auto workers = [](const Json& training) -> size_t {
      Json::json_pointer at("/cluster/worker");
      return training.contains(at) ? training.at(at).size() : 0;
    };
    size_t was = workers(before), now = workers(step.training);
    std::string text;
    if (was != now) text = "workers " + std::to_string(was) + " -> " + std::to_string(now);
    for (const FieldChange& change : differing_fields(before, step.training)) {
      bool cluster = change.field.compare(0, 8, "cluster.") == 0;
      if (change.field == "identity" || change.field == "result" || (cluster && was != now)) continue;
      std::string name = change.field.compare(0, 4, "job.") == 0 ? change.field.substr(4) : change.field;
      text += (text.empty() ? "" : ", ") + name + " changed";
    }
    return text.empty() ? "its definition changed" : text;
  }

  std::string input_reason(const ir::Step& step, const StepRecord& record) const {
    for (const std::string& name : ir::unknowns_in(step)) {
      std::string owner = split_unknown(name).owner;
      if (draft_.is_made_anew(owner)) return name + " will change";
      if (draft_.step_actions.count(owner)) return owner + " runs again";
      std::optional<Json> value = known_value(snapshot_, name);
      auto before = record.inputs.find(name);
      if (value && (before == record.inputs.end() || before->second != value_fingerprint(*value))) {
        return name + " changed";
      }
    }
    return "";
  }

  std::string below_reason(const ir::Step& step, const StepRecord& record) {
    for (const std::string& id : steps_below(step, steps_)) {
      auto before = record.inputs.find(id);
      if (before == record.inputs.end() || before->second != revisions_[id]) return "it builds upon " + id;
    }
    return "";
  }

  std::string observed_reason(const ir::Step& step) const {
    const Observed* observed = draft_.input.observed;
    if (!observed) return "";
    auto found = observed->steps.find(step.id);
    if (found == observed->steps.end() || found->second.empty()) return "";
    return "changed on the node: " + found->second.front().resource + " " + found->second.front().what;
  }

  void add(const ir::Step& step, const StepRecord* record, const std::string& digest, std::string why) {
    Action action;
    action.id = step.id;
    action.verb = Verb::Run;
    action.is_step = true;
    action.step_kind = ir::step_kind_name(step.kind);
    action.nodes = step.nodes;
    action.summary = step_summary(step);
    action.changes = changes(step, record, digest);
    if (record) stop_services(*record, action);
    action.usual_seconds = usual(step);
    action.seconds = predicted(step, digest, record);
    // Identifies the computation independently of its name: only that determines the duration.
    if (step.kind == ir::StepKind::Program) {
      action.spec = {{"work", step.program->value("identity", "")}};
      add_farm_note(draft_.input.program, step, draft_.plan.notes);
    }
    if (step.kind == ir::StepKind::Training) {
      if (draft_.input.options.leave_jobs) action.spec = {{"only_joins", true}};
      // Checkpoints in a bucket outlive the nodes and the state, and are kept apart by what is trained.
      const std::string kept = step.training->value("checkpoints", "");
      const bool known = record && same_identity(step, *record);
      action.resume = known ? epochs_of(step.training) >= epochs_before(*record) : !kept.empty();
      if (action.resume)
        why += known ? "; resumes from the last checkpoint"
                     : "; resumes from the last checkpoint in " + kept + ", if one exists";
    }
    if (step.kind == ir::StepKind::Program && record) {
      if (record->status == StepStatus::Done)
        why += named_checkpoints_stay(step);
      else
        add_resumption(step, *record, action, why);
    }
    if (record && ir::is_job(step.kind)) add_left(step, *record, digest, action, why);
    action.why = std::move(why);
    draft_.step_actions[step.id] = draft_.plan.actions.size();
    draft_.plan.actions.push_back(std::move(action));
  }

  // Services that have left the recipe.
  void stop_services(const StepRecord& record, Action& action) const {
    const std::vector<std::string> names = services_left(record, draft_.input.program);
    if (names.empty()) return;
    action.spec = {{"stops", names}};
    for (FieldChange& change : action.changes) {
      for (const std::string& name : names)
        if (change.field == "service '" + name + "'") change.after = "stopped";
    }
  }

  // Empty: it names no folder for them; those of an earlier version are removed with that version.
  static std::string named_checkpoints_stay(const ir::Step& step) {
    const auto named = step.program->find("checkpoints");
    if (named == step.program->end()) return "";
    return fmt::format("; the checkpoints in {} stay, and it can resume from them",
                       named->is_string() ? named->get<std::string>() : "the folder of `checkpoints`");
  }

  // What happens to the checkpoints of an unfinished program.
  void add_resumption(const ir::Step& step, const StepRecord& record, Action& action,
                      std::string& why) const {
    const std::string input = input_reason(step, record), stay = named_checkpoints_stay(step);
    if (!same_identity(step, record)) {
      why += "; it starts over: " + program_reason(step, record) +
             (stay.empty() ? ", so its checkpoints are not used" : stay);
      if (!stay.empty()) return;
      const Json before = record.definition ? record.definition->value("program", Json()) : Json();
      if (before.is_object() && before.value("arguments", Json()) != step.program->value("arguments", Json()))
        draft_.plan.notes.push_back(
            step.id +
            ": other arguments make it another program, which has no checkpoints yet. Put arguments "
            "that only a resumed run gets, such as --resume, into `resume_arguments`");
    } else if (input.empty()) {
      action.resume = true;
      why += "; its checkpoints are kept";
    } else if (input.ends_with("runs again")) {
      action.resume = true;
      why += stay.empty() ? "; its checkpoints are kept if " + input.substr(0, input.find(' ')) +
                                " yields the same again"
                          : stay;
    } else {
      why += "; it starts over: " + input + stay;
    }
  }

  // For a finished job: a node was lost before it could confirm that nothing runs there.
  void note_left(const StepRecord& record) const {
    const LeftRunning left = left_running(record, snapshot_);
    if (left.newest.empty()) return;
    draft_.plan.notes.push_back(
        fmt::format("{} is done, and may still run on {}: end it there by `radlc cancel{} {}`", record.id,
                    fmt::join(left.newest, ", "), draft_.input.options.project_words, record.id));
  }

  // What an earlier run may have left going, and what this one removes.
  void add_left(const ir::Step& step, const StepRecord& record, const std::string& digest, Action& action,
                std::string& why) const {
    LeftRunning left = left_running(record, snapshot_);
    const char* runs = "may still run";
    if (draft_.input.observed) {
      const auto& running = draft_.input.observed->running;
      if (auto found = running.find(step.id); found != running.end()) {
        runs = "still runs";
        for (std::vector<std::string>* nodes : {&left.newest, &left.older})
          std::erase_if(*nodes, [&](const std::string& node) { return !is_one_of(found->second, node); });
      }
    }
    action.ends = left.older;
    if (runs_as(step, record, digest)) {
      action.joins = members_on(step, left.newest);
    } else {
      for (const std::string& node : left.newest)
        if (!is_one_of(action.ends, node)) action.ends.push_back(node);
    }
    action.rejoins = record.status == StepStatus::Detached && can_be_joined(step, action.joins);
    if (!action.joins.empty())
      why += fmt::format("; it {} on {} and is joined there", runs, fmt::join(action.joins, ", "));
    why += after_semicolon(joining_text(joining(step, action.joins)));
    if (!action.ends.empty())
      why +=
          fmt::format("; an earlier version {} on {} and is ended first", runs, fmt::join(action.ends, ", "));
    const Json& job = step.kind == ir::StepKind::Program ? step.program : step.training;
    const std::string results = job.value("results", job.value("result", ""));
    if (!record.output.empty() && record.output.value("report_path", "") == results + "/report.json")
      action.changes.push_back({"results", "of the earlier run in " + results, "replaced as a whole", false});
    for (const JobFolder* folder : folders_to_remove(step, record))
      action.changes.push_back({"~/.radl/jobs/" + folder->name,
                                "of an earlier version, on " + counted(folder->nodes.size(), "node"),
                                "removed", false});
  }

  // What runs, if anything does, is this very job. The workers of a training may be others by now.
  bool runs_as(const ir::Step& step, const StepRecord& record, const std::string& digest) const {
    if (!has_not_ended(record.status) || !input_reason(step, record).empty()) return false;
    const bool same_nodes = record.nodes == step.nodes || ir::has_elastic_farm(step);
    return (same_content(step, digest, record) && same_nodes) || same_training(step, record);
  }

  // Others have left it, or are about to.
  static std::vector<std::string> members_on(const ir::Step& step, const std::vector<std::string>& running) {
    std::vector<std::string> nodes;
    for (const std::string& node : running)
      if (is_one_of(step.nodes, node)) nodes.push_back(node);
    return nodes;
  }

  static double epochs_of(const Json& training) {
    return training.value("job", Json::object()).value("epochs", 0.0);
  }
  // A checkpoint that is beyond the new end is of no use.
  static double epochs_before(const StepRecord& record) {
    return record.definition ? epochs_of(record.definition->value("training", Json::object())) : 0;
  }

  static bool same_identity(const ir::Step& step, const StepRecord& record) {
    const Json& job = step.kind == ir::StepKind::Program ? step.program : step.training;
    auto now = job.find("identity");
    if (!record.definition || now == job.end()) return false;
    const Json before = record.definition->value(std::string(ir::step_kind_name(step.kind)), Json::object());
    return before.value("identity", Json()) == *now;
  }

  std::vector<FieldChange> changes(const ir::Step& step, const StepRecord* record,
                                   const std::string& digest) const {
    std::vector<FieldChange> all;
    if (record && record->definition && !same_content(step, digest, *record)) {
      all = definition_changes(*record->definition, step_definition(step));
    }
    return all;
  }

  static Json by_name(const Json& definition) {
    Json flat = Json::object();
    for (const Json& resource : definition.value("resources", Json::array())) {
      flat[resource.value("type", "") + " '" + resource.value("name", "") + "'"] =
          resource.value("properties", Json());
    }
    return flat;
  }

  static std::vector<FieldChange> definition_changes(const Json& before, const Json& after) {
    std::vector<FieldChange> all;
    Json old_resources = by_name(before), new_resources = by_name(after);
    for (const auto& [name, properties] : new_resources.items()) {
      if (!old_resources.contains(name)) {
        all.push_back({name, nullptr, "added to the recipe", false});
        continue;
      }
      for (FieldChange& change : differing_fields(old_resources[name], properties)) {
        change.field = name + " " + change.field;
        all.push_back(std::move(change));
      }
    }
    for (const auto& [name, properties] : old_resources.items()) {
      if (!new_resources.contains(name)) {
        all.push_back({name, "in the recipe", "stays on the node", false});
      }
    }
    std::string old_body = before.value("body", ""), new_body = after.value("body", "");
    if (old_body != new_body) all.push_back({"recipe", old_body, new_body, false});
    for (const char* job : {"training", "program"}) {
      const Json old_job = before.value(job, Json::object()), new_job = after.value(job, Json::object());
      for (FieldChange& change : differing_fields(old_job, new_job)) {
        if (change.field != "identity") all.push_back(std::move(change));
      }
    }
    return all;
  }

  // The duration of an edited job is unknown here, because it computes something else.
  std::optional<double> predicted(const ir::Step& step, const std::string& digest,
                                  const StepRecord* record) const {
    if (ir::is_job(step.kind) && record && !same_content(step, digest, *record)) return std::nullopt;
    if (record && record->status == StepStatus::Done && record->seconds > 0) return record->seconds;
    if (ir::is_job(step.kind)) return usual(step);
    if (auto known = seconds_of_recipe_.find(step.recipe);
        known != seconds_of_recipe_.end() && known->second.second) {
      return known->second.first / known->second.second;
    }
    return usual(step);
  }

  std::optional<double> usual(const ir::Step& step) const {
    const std::string cloud = step.nodes.empty() ? "" : cloud_of(step.nodes.front());
    return usual_seconds(step, cloud.substr(0, cloud.find(':')));
  }

  std::string cloud_of(const std::string& node) const {
    auto found = clouds_.find(node);
    return found == clouds_.end() ? "" : found->second;
  }

  Draft& draft_;
  const Snapshot& snapshot_;
  std::map<std::string, const ir::Step*> steps_;
  std::map<std::string, std::string> revisions_;  // after this plan
  std::set<std::string> waiting_;                 // steps that waits_for_job() leaves alone
  std::map<std::string, std::pair<double, int>> seconds_of_recipe_;
  std::map<std::string, std::string> clouds_;  // by a node's address
};

}  // namespace

void plan_steps(Draft& draft) { StepPlanner(draft).run(); }

}  // namespace radl
