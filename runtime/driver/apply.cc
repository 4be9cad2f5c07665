#include "runtime/driver/apply.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "common/guarded.h"
#include "common/store_address.h"
#include "runtime/driver/farm_facts.h"
#include "runtime/driver/given_back.h"
#include "runtime/driver/scaled_jobs.h"
#include "runtime/driver/states.h"
#include "runtime/steps/training/bucket_folder.h"

namespace radl::driver {
namespace {

constexpr std::chrono::seconds kLookAtBuckets{60};
// Interval between checks of nodes that a job has lost, during a round.
constexpr std::chrono::seconds kCheckSuspectsEvery{15}, kReportEvery{1};
// The same of the nodes that `radlc scale` has chosen, in a folder and in a bucket.
constexpr std::chrono::seconds kCheckScalingEvery{3}, kCheckBucketEvery{15};

// Nothing has vanished or broken that a saved plan takes to be there. `now`: a plan made after a look.
Status check_world_unmoved(const Plan& saved, const Plan& now) {
  for (const Drift& drift : now.drift) {
    if (drift.what != "gone" && drift.what != "broken") continue;
    const bool known = std::any_of(saved.drift.begin(), saved.drift.end(), [&](const Drift& other) {
      return other.address == drift.address && other.what == drift.what;
    });
    if (known) continue;
    return Status(Code::Conflict, fmt::format("{} is {} since the plan was saved: {}", drift.address,
                                              drift.what, drift.detail))
        .with_hint("plan again, with --refresh");
  }
  return {};
}

// A job that has ended is not joined: to run it again is for an apply that somebody approves.
Status check_has_not_ended(const Plan& plan, const Snapshot& now, const std::string& job) {
  const auto record = now.steps.find(job);
  if (record == now.steps.end() || has_not_ended(record->second.status) || !plan.find(job)) return {};
  const std::string& error = record->second.error;
  return Status(Code::Conflict, job + " has ended meanwhile" + (error.empty() ? "" : ": " + error))
      .with_hint("`radlc apply` runs it again");
}

// `replaces`: also replaces nodes that were interrupted meanwhile.
Status check_only_joins(const Plan& plan, const std::string& job, bool replaces) {
  for (const Action& action : plan.actions) {
    const bool expected = action.id == job && action.verb == Verb::Run &&
                          (!action.joins.empty() || (action.resume && action.changes.empty()));
    if (expected || replaces) continue;
    return Status(Code::Conflict, action.id + " would change as well (" + action.why + "): " + job +
                                      " is not what the file describes any more")
        .with_hint("`radlc plan` shows all of it, `radlc apply` does it");
  }
  return {};
}

}  // namespace

Apply::Apply(const Host& host, ApplyRequest request, Cancellation& cancellation, Tell tell)
    : host_(host),
      request_(std::move(request)),
      cancellation_(cancellation),
      tell_(std::move(tell)),
      next_(host.world->clock),
      begun_(host.world->clock.wall_seconds()) {}

Apply::~Apply() = default;

Run Apply::parts() const {
  Run parts = machinery_->run();
  parts.program = &project_->compiled.program;
  parts.secrets = &project_->compiled.secrets;
  parts.options.on_error = request_.on_error;
  parts.options.detach = detaches();
  parts.let_go = leaving_.token();
  if (request_.on_error != OnError::Destroy)
    parts.let_go = parts.let_go.or_when(Stop::when([this] { return next_.is_due(); }));
  return parts;
}

OnError on_error_named(std::string_view name) {
  if (name == "retry") return OnError::Retry;
  return name == "destroy" ? OnError::Destroy : OnError::Keep;
}

// A saved plan brings its own sources, inputs and place of the state.
Status Apply::read_saved() {
  const PlanRequest& asked = request_.plan;
  if (asked.refresh || !asked.replace.empty() || !asked.targets.empty())
    return invalid(
        "a saved plan is applied as it is: --refresh, --replace and --target belong to `radlc plan`");
  ProjectOptions& project = request_.project;
  auto saved = read_plan_file(project.files.front());
  if (!saved.ok()) return std::move(saved).status();
  if (Status moved = check_sources_unmoved(saved->plan); !moved.ok()) return moved;
  project.files = saved->files;
  project.module_path = saved->module_path;
  for (const auto& [name, value] : saved->inputs) project.inputs.push_back(name + "=" + value);
  if (project.state.empty()) project.state = saved->state_directory;
  project.name = saved->program.name;
  saved_ = std::move(*saved);
  return {};
}

Status Apply::load(AskInput ask) {
  const std::vector<std::string>& files = request_.project.files;
  if (files.size() == 1 && is_plan_file(files.front())) {
    if (Status read = read_saved(); !read.ok()) return read;
  }
  project_->scale = request_.scale;
  project_->farm_nodes.keep = request_.keep;
  project_->farm_nodes.stay = !request_.job.empty();
  return load_project(host_, request_.project, std::move(ask), *project_);
}

Status Apply::begin() {
  if (!machinery_) {
    auto machinery = make_machinery(host_, request_.machinery, cancellation_.finishing());
    if (!machinery.ok()) return std::move(machinery).status();
    machinery_ = std::move(*machinery);
  }
  const std::string &directory = project_->state_directory, &name = project_->compiled.program.name;
  auto run = begin_run(host_, parts(), directory, name, request_.scale ? OpenMode::Write : OpenMode::Create,
                       request_.scale ? "scale" : "apply", request_.lock_timeout, cancellation_, tell_);
  if (!run.ok()) return std::move(run).status();
  run_ = std::move(*run);
  run_->events().note(next_);
  if (Status kept = remember(host_, directory, name); !kept.ok())
    tell_({Notice::Kind::Note, "`radlc list` will not show " + name + ": " + kept.text()});
  return recover_left(*run_, tell_);
}

Result<Plan> Apply::decide() {
  auto plan = run_->plan(question_of(*project_, *machinery_, request_.plan, tell_));
  if (!plan.ok()) return plan;
  auto snapshot = run_->snapshot();
  if (!snapshot.ok()) return std::move(snapshot).status();
  tell_what_stays(*plan, *snapshot);
  if (request_.scale && request_.scale->frees)
    if (Status free = check_farms_unsupervised(project_->farms, request_.scale->system, *snapshot);
        !free.ok())
      return free;
  if (frees()) keep_removals(*plan);
  if (!request_.job.empty() && !project_->farm_nodes.frees) {
    // In later rounds it has failed with the nodes that are replaced.
    Status joins = replacing_ ? Status() : check_has_not_ended(*plan, *snapshot, request_.job);
    if (!joins.ok()) return joins;
    if (Status only = check_only_joins(*plan, request_.job, replacing_); !only.ok()) return only;
  }
  if (!saved_) return plan;
  if (Status moved = check_state_unmoved(saved_->plan, *snapshot); !moved.ok()) return moved;
  if (Status moved = check_world_unmoved(saved_->plan, *plan); !moved.ok()) return moved;
  if (saved_->plan.source_digest != plan->source_digest) {
    return Status(Code::Conflict, "the saved plan was made from other sources or inputs")
        .with_hint("plan again");
  }
  return saved_->plan;
}

void Apply::forecast() {
  auto forecasts = plan_forecasts(plan_, *project_, *machinery_, cancellation_.finishing());
  forecasts_ = forecasts.ok() ? std::move(*forecasts) : std::vector<PlanForecast>();
  if (!forecasts.ok()) tell_({Notice::Kind::Note, "nothing is forecast: " + forecasts.status().text()});
}

Status Apply::make_plan() {
  auto plan = decide();
  if (!plan.ok()) return std::move(plan).status();
  plan_ = std::move(*plan);
  within_ = hold_to_max_cost(request_.plan, plan_);
  forecast();
  return cancellation_.finishing().check();
}

Status Apply::check_buckets() const {
  const Stop stop = cancellation_.finishing();
  for (const ir::Step& step : project_->compiled.program.steps) {
    const Action* action = plan_.find(step.id);
    if (!ir::is_job(step.kind) || action == nullptr || action->verb != Verb::Run) continue;
    const Json& job = step.kind == ir::StepKind::Program ? step.program : step.training;
    Status open = training::check_buckets(job, host_.environment(), stop.within(kLookAtBuckets));
    if (!open.ok()) return std::move(open).at(step.id);
  }
  return {};
}

// Where the nodes that a region had no room for may go.
RoomSought Apply::seek_room(const RunReport& report) {
  std::map<std::string, std::string> failed;
  for (const ActionOutcome& outcome : report.actions) {
    if (outcome.state == ActionOutcome::State::Failed && outcome.status.code() == Code::Quota)
      failed[outcome.id] = outcome.status.message();
  }
  if (failed.empty() || report.status.code() == Code::Cancelled) return {};
  auto now = run_->snapshot();
  if (!now.ok()) return {};
  const NoRoom& known = request_.plan.no_room;
  const Placement placement =
      place_nodes(project_->compiled.program, *now, machinery_->clouds(), machinery_->catalog(), known);
  return room_elsewhere(placement, *now, plan_, known, failed, begun_);
}

bool Apply::frees() const { return project_->farm_nodes.frees || (request_.scale && request_.scale->frees); }

// Nodes that a job has lost are replaced only if their cloud says that they do not exist.
void Apply::check_suspects() {
  const std::set<std::string> suspects = next_.suspects();
  if (suspects.empty()) return;
  auto seen = run_->glance();
  if (!seen.ok()) return;
  std::set<std::string> gone;
  for (const Drift& drift : seen->resources)
    if (drift.what == "gone" && suspects.contains(drift.address)) gone.insert(drift.address);
  next_.found_gone(gone);
}

// Whether trainings of this plan run here, for which `radlc scale` may choose other nodes.
bool Apply::follows_scaling() const {
  return !detaches() && request_.on_error != OnError::Destroy &&
         std::any_of(plan_.actions.begin(), plan_.actions.end(), [](const Action& action) {
           return action.verb == Verb::Run && action.step_kind == ir::step_kind_name(ir::StepKind::Training);
         });
}

void Apply::check_scaling() {
  auto now = run_->snapshot();
  if (!now.ok() || now->serial == scaling_checked_ || !now->at_work.empty() || now->open_intents > 0) return;
  scaling_checked_ = now->serial;
  const ScaledJobs scaled = scaled_jobs(*project_, *now);
  if (scaled.changes) next_.follow_scaling();
  if (!scaled.refused.empty() && std::exchange(scaling_refused_, scaled.refused) != scaled.refused)
    next_.refuse_scaling(scaled.refused);
}

// While the plan is executed, a thread of its own checks lost nodes and scalings, and reports what is decided
// about them; without trainings it begins with the first lost node.
RunReport Apply::execute() {
  StopSource over;
  Threads threads;
  std::atomic<bool> begun{false};
  const auto attend = [&] {
    Clock& clock = host_.world->clock;
    const bool scales = follows_scaling();
    const auto scaling_every =
        is_store_address(project_->state_directory) ? kCheckBucketEvery : kCheckScalingEvery;
    auto next_check = clock.now(), next_scaling = next_check;
    do {
      (void)guarded([&]() -> Status {
        if (scales && clock.now() >= next_scaling) {
          check_scaling();
          next_scaling = clock.now() + scaling_every;
        }
        if (clock.now() >= next_check) {
          check_suspects();
          next_check = clock.now() + kCheckSuspectsEvery;
        }
        for (auto& [node, text] : next_.take_news()) {
          Event event;
          event.id = node;
          event.time = host_.world->clock.wall_seconds();
          event.message = std::move(text);
          run_->events().emit(event);
        }
        return {};
      });
    } while (over.token().sleep(kReportEvery));
  };
  const auto begin = [&] {
    if (!begun.exchange(true)) (void)threads.start(attend);
  };
  next_.begin(plan_, project_->compiled.program, begin);
  if (follows_scaling()) begin();
  RunReport report = run_->apply(plan_);
  over.request();
  threads.join();
  return report;
}

// The wait before a round that may do what this one could not; nothing: no other round would.
std::optional<std::chrono::milliseconds> Apply::wait_for_next(const RunReport& report,
                                                              const RoomSought& room) const {
  const Code ended = report.status.code();
  if (ended == Code::Cancelled || request_.on_error == OnError::Destroy) return std::nullopt;
  const bool stays = !detaches() && !leaving_.requested();
  if (report.status.ok() && (report.left_running.empty() || !stays)) return std::nullopt;
  if (room.elsewhere) return std::chrono::milliseconds(0);
  return next_.wait();
}

// The round after the last one removes the nodes of farms that have ended; the report is of both.
void Apply::free_farms(ApplyRound& round) {
  if (before_freeing_) {
    RunReport whole = std::move(*before_freeing_);
    whole.actions.insert(whole.actions.end(), round.report.actions.begin(), round.report.actions.end());
    whole.leftovers.insert(whole.leftovers.end(), round.report.leftovers.begin(),
                           round.report.leftovers.end());
    if (whole.status.ok()) whole.status = round.report.status;
    whole.seconds += round.report.seconds;
    round.report = std::move(whole);
    before_freeing_.reset();
    return;
  }
  const bool stays = request_.keep || request_.scale || request_.on_error == OnError::Destroy;
  const bool cancelled = round.report.status.code() == Code::Cancelled;
  if (stays || cancelled || round.goes_on || !round.after.ok()) return;
  const std::set<std::string> systems = systems_to_free(project_->farms, ended_farms_, *round.after);
  if (systems.empty()) return;
  for (const std::string& system : systems) project_->farm_nodes.asked[system] = {};
  project_->farm_nodes.frees = true;
  before_freeing_ = round.report;
  round.goes_on = true;
}

ApplyRound Apply::run_round() {
  ApplyRound round;
  if (!approved_) {  // later rounds do what was approved for the first
    approved_ = true;
    Status told = approve_farms(plan_, *project_, forecasts_, run_->store().work_directory(),
                                host_.world->clock.wall_seconds());
    if (!told.ok()) {  // without it, a farm would have no limit
      round.report.status =
          Status(told.code(), "what you approved of the farms cannot be recorded: " + told.text());
      round.after = run_->snapshot();
      run_->store().unlock();
      return round;
    }
  }
  if (std::exchange(growth_dropped_, false)) {
    Status told = limit_farms(*project_, run_->store().work_directory(), host_.world->clock.wall_seconds());
    if (!told.ok()) tell_({Notice::Kind::Note, "farms may ask for more nodes again: " + told.text()});
  }
  round.report = execute();
  forgive_missing_nodes(project_->farms, round.report);
  const RunReport& done = round.report;
  note_ended_farms(project_->farms, done, ended_farms_);
  RoomSought room;
  if (request_.on_error != OnError::Destroy) {
    room = seek_room(done);
    if (!done.status.ok()) check_suspects();
    round.lost = next_.lost();
  }
  const auto wait = wait_for_next(done, room);
  round.goes_on = wait.has_value();
  round.wait = wait_ = wait.value_or(std::chrono::milliseconds(0));
  replacing_ |= !round.lost.empty() || !next_.asked().empty();
  // Whatever the next round is for, a farm keeps the nodes that it did not ask to change.
  project_->farm_nodes.asked = next_.asked();
  for (const ElasticFarm& farm : project_->farms)
    project_->farm_nodes.asked.emplace(farm.system, chosen_ordinals(*project_, farm));
  round.room = std::move(room.why);
  request_.plan.replace.clear();
  request_.plan.lost.clear();
  for (const auto& [address, when] : round.lost) request_.plan.lost.insert(address);
  if (room.elsewhere) request_.plan.no_room = std::move(room.no_room);

  RunFigures figures = run_->figures(plan_, done);
  predict_training(forecasts_, figures);
  round.after = run_->snapshot();
  if (round.after.ok()) measure_jobs(plan_, done, *round.after, figures);
  round.figures_kept = keep_figures(host_, std::move(figures), project_->state_directory);
  if (round.after.ok())
    round.trainings_kept = keep_trainings(plan_, *project_, *machinery_, done, *round.after);
  free_farms(round);
  if (!round.goes_on) run_->store().unlock();  // a slow listener must not block other runs
  return round;
}

// Called if prices have risen since the approval. Elastic farms then keep their present nodes and get no
// more. Returns false if the plan gave them no more nodes anyway.
bool Apply::drop_growth(const Status& within) {
  const auto now = run_->snapshot();
  if (!now.ok() || !keep_existing_nodes(*project_, *now, request_.plan.lost)) return false;
  tell_({Notice::Kind::Note, "elastic farms get no more nodes: " + within.message()});
  growth_dropped_ = true;
  return true;
}

// What was approved is done again for nodes that were lost, as the file says it (spot, or on demand if it
// allows that): they are replaced, and what ran there resumes from its checkpoints.
Status Apply::plan_next_round() {
  saved_.reset();
  if (wait_.count() > 0) {
    if (Status waited = run_->pause(wait_, tell_waiting(tell_)); !waited.ok()) return waited;
  }
  // What this round left open, and other runs that had the lock meanwhile.
  if (Status recovered = recover_left(*run_, tell_); !recovered.ok()) return recovered;
  const std::string sources = project_->compiled.program.source_digest;
  auto plan = decide();
  if (!plan.ok()) return std::move(plan).status();
  if (project_->compiled.program.source_digest != sources)
    return Status(Code::Conflict, "the files have changed since this apply began; its jobs keep running")
        .with_hint("run `radlc apply` again to apply the new files; it joins the running jobs");
  Status within = hold_to_max_cost(request_.plan, *plan);
  if (!within.ok() && drop_growth(within)) {
    if (plan = decide(); !plan.ok()) return std::move(plan).status();
    within = hold_to_max_cost(request_.plan, *plan);
  }
  if (!within.ok()) return within;
  plan_ = std::move(*plan);
  forecast();
  return {};
}

}  // namespace radl::driver
