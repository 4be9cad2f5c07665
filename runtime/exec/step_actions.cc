#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <utility>

#include "common/digest.h"
#include "common/files.h"
#include "common/json_values.h"
#include "compiler/ir/elastic_farm.h"
#include "runtime/exec/actions.h"
#include "runtime/exec/job_folders.h"
#include "runtime/exec/names.h"
#include "runtime/exec/retry.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/step_facts.h"
#include "runtime/plan/values.h"
#include "runtime/steps/step_log.h"

namespace radl {

namespace {

// The record as it will stand when the step is done; put as "interrupted" before it begins.
StepRecord record_of(Execution& execution, const ir::Step& step) {
  StepRecord record;
  record.id = step.id;
  record.recipe = step.recipe;
  record.kind = ir::step_kind_name(step.kind);
  record.nodes = step.nodes;
  record.definition = std::make_shared<const Json>(step_definition(step));
  std::map<std::string, const ir::Step*> steps;
  for (const ir::Edge& edge : step.after) {
    if (const ir::Step* before = execution.step_of_program(edge.to)) steps[edge.to] = before;
  }
  execution.read([&](const Snapshot& snapshot) {
    for (const std::string& node : step.nodes) {
      auto found = snapshot.resources.find(node);
      if (found != snapshot.resources.end()) record.made_on[node] = found->second.id;
    }
    for (const std::string& id : steps_below(step, steps)) {
      auto done = snapshot.steps.find(id);
      record.inputs[id] = done == snapshot.steps.end() ? "" : done->second.revision;
    }
    record.digest = step_digest(step, execution.fingerprints());
    record.revision = step_revision(record.digest, record.inputs);
    for (const std::string& name : ir::unknowns_in(step)) {
      if (std::optional<Json> value = known_value(snapshot, name))
        record.inputs[name] = value_fingerprint(*value);
    }
    if (auto before = snapshot.steps.find(step.id); before != snapshot.steps.end()) {
      record.output = before->second.output;
      record.jobs = before->second.jobs;
    }
  });
  return record;
}

// What tells a job from any other that has run in its folder: also values and secrets that it was given.
std::string run_of_job(Execution& execution, const ir::Step& step, const StepRecord& record) {
  return sha256_hex(job_content(step, execution.fingerprints()) + "\n" + Json(record.inputs).dump());
}

EventKind kind_of(const std::string& name) {
  if (name == "task") return EventKind::Task;
  if (name == "metric") return EventKind::Metric;
  return EventKind::Output;
}

StepContext step_context(Execution& execution, const ir::Step& step, const Context& context) {
  StepContext made;
  made.context = &context;
  made.program = execution.run.program;
  made.run_begun = execution.begun;
  made.all_nodes = [&execution, stop = context.stop] { return execution.all_handles(stop); };
  made.log_path = execution.store().log_directory() + "/" + log_file_name(step.id);
  // Unlike the output of other steps, displays show that of a program.
  const bool program = step.kind == ir::StepKind::Program;
  made.emit = [&execution, id = step.id, program](const StepEvent& from) {
    Event event;
    event.kind = kind_of(from.kind);
    event.id = from.step.empty() ? id : from.step;
    event.node = from.node;
    if (from.data.is_string()) {
      event.message = from.data.get<std::string>();
    } else {
      event.data = from.data;
      if (program && event.kind == EventKind::Output) event.data["program"] = true;
    }
    execution.events.emit(std::move(event));
  };
  return made;
}

// A job that is joined again after so long has lost its nodes anew.
constexpr std::chrono::seconds kWellUnderWay{60};

// Since when the job of this attempt runs on all of its nodes. The time in which an attempt waits for a node
// that does not answer is not time in which its job runs: where a node is gone for good it would be tried for
// ever.
using UnderWay = std::optional<std::chrono::steady_clock::time_point>;

// How often a step is tried. Each attempt waits for a node that does not answer: of a job, which has noticed
// that already, there is one more.
RetryHooks step_retries(Execution& execution, const ir::Step& step, ApplyOptions& options, UnderWay& since) {
  RetryHooks hooks = retry_hooks(execution, step.id);
  if (step.kind != ir::StepKind::Program && step.kind != ir::StepKind::Training) return hooks;
  options.attempts = std::min(options.attempts, 2);
  hooks.counts_anew = [&execution, &since] {
    const UnderWay begun = std::exchange(since, std::nullopt);
    return begun && execution.world().clock.now() - *begun > kWellUnderWay;
  };
  return hooks;
}

// What a job has besides: its lease, its turn of the state's lock, and what its runner is given.
struct Job {
  std::string run;          // StepContext::job_run
  bool only_joins = false;  // StepContext::only_joins
  std::set<std::string> may_run;
  std::unique_ptr<JobLease> lease;
  LockShare::Job turn;
  std::atomic<bool> let_go{false};  // its runner must leave it running
  std::optional<int> exit;          // of the member that failed
  // Takes the state's lock, if the record of the job is still this run's. Called before the job is restarted.
  std::function<Status()> take_back;
};

// One attempt after another. A step may be repeated: native ones look before they act and do not repeat what
// cannot be looked at, Ansible's tasks are meant to, and a training goes on from its last checkpoint. Each
// ends first what the one before has left going on the node.
//
// `record`: keeps the outcome of an attempt that succeeded.
Status attempt(Execution& execution, const ir::Step& step, StepRunner& runner, const Context& context,
               bool resume, const Json& previous, Job* job, StepOutcome& outcome, const std::string& log_path,
               const std::function<Status()>& record) {
  StepContext shared = step_context(execution, step, context);
  shared.previous_output = previous;
  shared.log_path = log_path;
  std::set<std::string> ran;
  shared.ran = &ran;
  if (job) {
    shared.job_run = job->run;
    shared.only_joins = job->only_joins;
    shared.may_run = &job->may_run;
    shared.emit = [emit = shared.emit, job](const StepEvent& event) {
      if (json::text_of(event.data, "event") == "exited")
        job->exit = static_cast<int>(std::clamp(json::number_of(event.data, "status"), -1.0, 255.0));
      emit(event);
    };
    shared.lets_go = [&execution, job] {
      if (execution.leaves_jobs() || !job->lease->still_held().ok()) job->let_go = true;
      return job->let_go.load();
    };
  }
  std::vector<NodeHandle> nodes;
  for (const std::string& address : step.nodes) nodes.push_back(execution.handle(address, context.stop));
  ApplyOptions options = execution.options();
  UnderWay since;
  shared.under_way = [&] {
    since = since.value_or(execution.world().clock.now());
    if (job) execution.lock().runs(job->turn);
  };
  const RetryHooks hooks = step_retries(execution, step, options, since);
  Status done = with_retries(options, execution.world(), hooks, [&](int number) {
    if (job && number > 1) {
      if (Status ours = job->take_back(); !ours.ok()) return ours;
    }
    shared.resume = resume || number > 1;
    for (const std::string& address : step.nodes) {
      if (!execution.resource(address) && can_miss(step, address)) continue;  // it could not be created
      Status named = publish_names(execution, address, context);
      if (!named.ok() && !(may_work_later(named.code()) && can_miss(step, address))) return named;
    }
    Result<StepOutcome> result = runner.run(shared, step, nodes);
    if (result.ok()) {
      outcome = std::move(*result);
      return Status();
    }
    Status why = std::move(result).status();
    if (!may_work_later(why.code())) return why;
    if (execution.world().clock.now() >= context.stop.deadline())
      return invalid(why.message());  // no time for another attempt
    // Do not reuse a failed connection.
    for (const std::string& address : step.nodes) execution.drop_connection(address);
    return why;
  });
  if (done.ok() && record) done = record();
  if (done.ok() && outcome.recorded) outcome.recorded();
  return done;
}

}  // namespace

Result<ir::Step> resolved_step(Execution& execution, const ir::Step& step) {
  std::string missing;
  auto unknown_value = [&](const std::string& name) -> std::optional<Json> {
    std::optional<Json> value = execution.known(name);
    if (!value) missing += (missing.empty() ? "" : ", ") + name;
    return value;
  };
  auto secret_value = [&](const std::string& name) -> std::optional<Json> {
    const ir::Secrets* secrets = execution.run.secrets;
    if (secrets) {
      if (auto found = secrets->find(name); found != secrets->end()) return Json(found->second);
    }
    missing += (missing.empty() ? "" : ", ") + ("the secret " + name);
    return std::nullopt;
  };
  ir::Step whole = step;
  for (ir::Resource& resource : whole.resources) {
    resource.properties = ir::substitute(resource.properties, unknown_value, secret_value);
    if (auto name = resource.properties->find(ir::kNameProperty); name != resource.properties->end()) {
      if (name->is_string()) resource.name = name->get<std::string>();
      resource.properties->erase(name);
    }
  }
  whole.training = ir::substitute(whole.training, unknown_value, secret_value);
  whole.program = ir::substitute(whole.program, unknown_value, secret_value);
  if (!missing.empty()) return invalid(step.id + " needs " + missing + ", which is not known");
  return whole;
}

namespace {

// What is done before nodes of an elastic system go: its command, on its node, told which ones they are.
Result<ir::Step> drain_step(Execution& execution, const Action& action) {
  const ir::Step* of = execution.step_of_program(action.spec.value("step", ""));
  if (!of)
    return invalid("the plan drains by '" + action.spec.value("step", "") + "', which is not in the program");
  // The rest of the step may have values that are unknown so far: of nodes that are created while others are
  // removed.
  ir::Step rules = *of;
  std::erase_if(rules.resources, [&](const ir::Resource& resource) {
    return resource.type != "elastic" || resource.name != action.spec.value("elastic", "");
  });
  Result<ir::Step> whole = resolved_step(execution, rules);
  if (!whole.ok()) return whole;
  std::string nodes, ordinals, addresses;
  for (const Json& address : action.spec.at("drains")) {
    std::optional<ResourceRecord> node = execution.resource(address.get<std::string>());
    if (!node) continue;
    nodes += (nodes.empty() ? "" : " ") + node->address;
    ordinals += (ordinals.empty() ? "" : " ") + std::to_string(node->ordinal);
    if (std::optional<Json> ip = node_attribute(*node, "private_ip"); ip && ip->is_string())
      addresses += (addresses.empty() ? "" : " ") + ip->get<std::string>();
  }
  ir::Step drain;
  drain.id = action.id;
  drain.recipe = of->recipe;
  drain.kind = ir::StepKind::Native;
  drain.nodes = action.nodes;
  drain.group = of->group;
  drain.origin = of->origin;
  for (const ir::Resource& resource : whole->resources) {
    drain.resources.push_back(
        {"command", resource.properties->value("drain", ""),
         Json{{"environment",
               {{"RADL_NODES", nodes}, {"RADL_ORDINALS", ordinals}, {"RADL_ADDRESSES", addresses}}},
              {"timeout", resource.properties->value("drain_timeout", 600.0)}},
         resource.origin});
  }
  return drain;
}

// Not recorded: if it does not come to its end, the next plan has it again.
StepDone run_unrecorded(Execution& execution, const ir::Step& step,
                        std::chrono::steady_clock::time_point deadline) {
  auto runner = execution.run.runners.find(ir::StepKind::Native);
  if (runner == execution.run.runners.end() || !runner->second)
    return {Status(Code::Unsupported, step.id + ": this build cannot run native steps")};
  StepDone done;
  done.log = execution.store().log_directory() + "/" + log_file_name(step.id);
  StepOutcome outcome;
  const Context context = execution.context(step.id, deadline, false);
  done.status =
      attempt(execution, step, *runner->second, context, false, Json(), nullptr, outcome, done.log, {});
  done.changes = outcome.changes.size();
  return done;
}

// Members of a job that another run may supervise leave it.
Status drain_job(Execution& execution, const Action& action, std::chrono::steady_clock::time_point deadline) {
  const Snapshot now = execution.snapshot();
  const auto job = now.steps.find(action.spec.value("job", ""));
  if (job == now.steps.end()) return {};
  return end_members(execution, execution.context(action.id, deadline, false), job->second,
                     action.spec.at("drains").get<std::vector<std::string>>());
}

StepDone run_drain(Execution& execution, const Action& action,
                   std::chrono::steady_clock::time_point deadline) {
  if (action.spec.contains("job")) return {drain_job(execution, action, deadline)};
  Result<ir::Step> step = drain_step(execution, action);
  return step.ok() ? run_unrecorded(execution, *step, deadline) : StepDone{step.status()};
}

}  // namespace

Status stop_services(Execution& execution, const Action& action,
                     std::chrono::steady_clock::time_point deadline) {
  if (!action.spec.is_object() || !action.spec.contains("stops")) return {};
  for (const std::string& node : action.nodes) {
    if (!execution.resource(node)) continue;
    ir::Step step;
    step.id = action.id;
    step.kind = ir::StepKind::Native;
    step.nodes = {node};
    for (const Json& name : action.spec["stops"])
      step.resources.push_back(
          {"service", name.get<std::string>(), Json{{"state", "stopped"}, {"enabled", false}}, {}});
    if (Status stopped = run_unrecorded(execution, step, deadline).status; !stopped.ok()) return stopped;
  }
  return {};
}

namespace {

// A step from its record as interrupted to its record as what came of it.
class StepRun {
 public:
  // `whole`: the step with its values and secrets, which the record must not contain.
  StepRun(Execution& execution, const ir::Step& step, const ir::Step& whole, StepRunner& runner)
      : execution_(execution), step_(step), whole_(whole), runner_(runner) {
    if (!ir::is_job(step.kind)) return;
    job_.emplace();
    job_->take_back = [this] { return take_back(); };
  }

  StepDone run(const Action& action, std::chrono::steady_clock::time_point deadline) {
    if (job_) job_->only_joins = action.spec.contains("only_joins");
    if (Status begun = begin(); !begun.ok()) return {std::move(begun)};
    done_.log = execution_.store().log_directory() + "/" + log_file_name(step_.id);
    const Context context = execution_.context(
        step_.id, job_ ? std::chrono::steady_clock::time_point::max() : deadline, job_.has_value());
    const bool joins = !action.joins.empty();
    Status ended = job_ ? end_older_folders(execution_, context, whole_, joins, record_.jobs) : Status();
    if (ended.ok()) {
      if (job_) job_->may_run.insert(record_.jobs.back().may_run.begin(), record_.jobs.back().may_run.end());
      ended = attempt(execution_, whole_, runner_, context, action.resume, record_.output,
                      job_ ? &*job_ : nullptr, outcome_, done_.log, [this] { return record_end(Status()); });
      if (job_) record_.jobs.back().may_run.assign(job_->may_run.begin(), job_->may_run.end());
    }
    done_.status = ended;
    if (recorded_) return std::move(done_);
    if (Status recorded = record_end(ended); ended.ok() || !recorded.ok()) done_.status = std::move(recorded);
    return std::move(done_);
  }

 private:
  Status begin() {
    record_ = record_of(execution_, step_);
    if (job_) {
      record_.jobs = with_folder_of(whole_, record_, std::move(record_.jobs));
      job_->run = run_of_job(execution_, step_, record_);
      auto lease =
          execution_.store().lease_job(step_.id, execution_.options().command, false, execution_.now());
      if (!lease.ok()) return std::move(lease).status();
      job_->lease = std::move(*lease);
    }
    Result<Intent> intent = execution_.store().begin_run(record_);
    if (!intent.ok()) return std::move(intent).status();
    intent_ = *intent;
    record_.status = StepStatus::Interrupted;
    execution_.put(record_);
    begun_ = execution_.world().clock.now();
    return {};
  }

  // Call once. For a job, takes the state's lock first; what other runs have removed stays removed.
  Status record_end(const Status& ended) {
    recorded_ = true;
    if (job_) {
      const Status ours = take_back();
      if (execution_.is_disturbed(step_.id) && !execution_.lock().given_back())
        (void)execution_.store().commit({state_change::Close{intent_.id, "removed"}});
      if (!ours.ok()) return ours;
      record_.jobs.back().may_run.assign(job_->may_run.begin(), job_->may_run.end());
    }
    record_.seconds = std::chrono::duration<double>(execution_.world().clock.now() - begun_).count();
    record_.finished_at = execution_.world().clock.wall_seconds();
    done_.left_running = job_ && (job_->let_go || job_->only_joins) && ended.code() == kLeftRunning;
    record_.status = ended.ok()                        ? StepStatus::Done
                     : done_.left_running              ? StepStatus::Detached
                     : ended.code() == Code::Cancelled ? StepStatus::Interrupted
                                                       : StepStatus::Failed;
    record_.error = done_.left_running ? "" : execution_.events.mask(ended.message());
    if (ended.ok()) {
      if (ir::has_elastic_farm(step_)) record_.nodes.clear();  // its results outlive the nodes
      record_.output = std::move(outcome_.output);
      done_.changes = outcome_.changes.size();
    } else if (job_ && !done_.left_running) {
      if (record_.output.is_object()) record_.output.erase("exit_status");
      if (job_->exit) record_.output["exit_status"] = *job_->exit;
    }
    Status closed = execution_.store().finish_run(intent_, record_);
    if (closed.ok()) execution_.put(record_);
    return closed;
  }

  // A lost job stays lost, even if the caller gives up.
  Status take_back() {
    if (!lost_.ok()) return lost_;
    JobLease& lease = *job_->lease;
    const Stop lost = Stop::when([&lease] { return !lease.still_held().ok(); });
    Status locked = lease.still_held();
    if (locked.ok()) locked = execution_.lock().ends(job_->turn, execution_.now().or_when(lost));
    if (Status held = lease.still_held(); !held.ok()) {
      execution_.lock().forget(job_->turn);
      execution_.note_taken_over();
      return lost_ = std::move(held).at(step_.id);
    }
    if (!locked.ok() || !execution_.is_disturbed(step_.id)) return locked;
    return {Code::Conflict, step_.id + " was removed or changed by another run while it ran"};
  }

  Execution& execution_;
  const ir::Step &step_, &whole_;
  StepRunner& runner_;
  std::optional<Job> job_;
  StepRecord record_;
  Intent intent_;
  std::chrono::steady_clock::time_point begun_;
  StepOutcome outcome_;
  StepDone done_;
  bool recorded_ = false;
  Status lost_;  // not ok: another run has taken the job over
};

}  // namespace

StepDone run_step(Execution& execution, const Action& action,
                  std::chrono::steady_clock::time_point deadline) {
  if (action.spec.contains("drains")) return run_drain(execution, action, deadline);
  if (Status stopped = stop_services(execution, action, deadline); !stopped.ok()) return {stopped};
  const ir::Step* step = execution.step_of_program(action.id);
  if (!step) return {invalid("the plan runs '" + action.id + "', which is not in the program")};
  auto runner = execution.run.runners.find(step->kind);
  if (runner == execution.run.runners.end() || !runner->second) {
    return {Status(Code::Unsupported, action.id + ": this build cannot run " +
                                          std::string(ir::step_kind_name(step->kind)) + " steps")};
  }
  Result<ir::Step> whole = resolved_step(execution, *step);
  if (!whole.ok()) return {whole.status()};
  return StepRun(execution, *step, *whole, *runner->second).run(action, deadline);
}

}  // namespace radl
