#include "runtime/steps/farm/farm_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/steps/farm/farm_run_state.h"
#include "runtime/steps/jobs/for_all.h"

namespace radl::farm {
namespace {

constexpr std::chrono::seconds kBetweenProgress{2};

}  // namespace

Result<StepOutcome> FarmRun::run() {
  Status done = begin();
  if (done.ok()) {
    Channels channels(nodes_, pool_.members(), *context_.context,
                      [this](size_t node) { return agent_of(node); });
    channels_ = &channels;
    lost_since_.assign(nodes_.size(), SteadyClock::now());
    done = channels.open();
    if (done.ok()) done = loop();
    if (done.code() == Code::Cancelled) end_all();
    if (Status settled = settle(); done.ok()) done = settled;
    channels.close();
  }
  if (!done.ok()) return std::move(done).at(where());
  may_run_.nowhere();
  return finish();
}

void FarmRun::tell(const std::string& node, const std::string& what, const char* state) {
  log_.line(fmt::format("{}: {} {}", node, what, state));
  context_.emit(
      {step_.id,
       node,
       "task",
       {{"name", what}, {"state", state}, {"seconds", 0}, {"notice", std::string_view(state) == "failed"}}});
}

Status FarmRun::begin() {
  if (Status usable = program::check_results_folder(program_); !usable.ok()) return usable;
  if (Status made = make_directories(folder_ + kInboxFolder, 0700); !made.ok()) return made;
  Status opened = journal_.open(folder_ + kJournalFile, [&](const Event& event) {
    Status applied = farm_.apply(event);
    if (applied.ok() && search_) search_->observe(event);
    return applied;
  });
  if (!opened.ok()) return opened;
  closed_ = farm_.table().closed();
  if (Status joined =
          board_.join(farms_folder(context_.context->work_directory) + "/" + kSharingFolder, job_);
      !joined.ok())
    return joined;
  if (Status adopted = outputs_.adopt(farm_.table()); !adopted.ok()) return adopted;
  if (Status listed = list_images(); !listed.ok()) return listed;
  take_inbox();
  take_program();
  board_.tell(claim());
  if (Status kept = journal_.flush(); !kept.ok()) return kept;
  forget_requests();
  return prepare();
}

Status FarmRun::list_images() {
  if (settings_.images.empty()) return {};
  const std::string kept =
      fmt::format("{}/images-{}.jsonl", folder_, sha256_hex(settings_.images).substr(0, 16));
  auto source = ImageSource::open(settings_.images, kept, !closed_, *context_.context);
  if (!source) return std::move(source).status();
  images_ = std::move(*source);
  images_->describe(tasks_);
  const size_t all = images_->images().size(), beyond = images_->beyond(tasks_);
  tell("", fmt::format("{} images", all), "ok");
  if (beyond > 0)
    tell("", fmt::format("{} of its images get no prediction: they are after the last range", beyond),
         "failed");
  return {};
}

void FarmRun::take_program() {
  journal_id_ = json::text_of(farm_.table().settings(), "journal");
  if (journal_id_.empty()) journal_id_ = to_hex(random_bytes(16));
  record(farm_event(settings_event(program_, settings_, search_, journal_id_), now()));
  // Nothing starts on a node that this run has not reached.
  for (const auto& [node, known] : std::map<std::string, NodeRecord>(farm_.table().nodes())) {
    if (!known.gone) record(gone_event(node, "not connected yet", now()));
    if (!pool_.find(node)) lose_tasks_of(node, "its node is not part of the farm any more");
  }
  for (const Event& event : changes_of_file(tasks_, farm_.table(), closed_, now())) record(event);
}

Status FarmRun::prepare() {
  if (is_elastic())
    pool_.share_among(static_cast<size_t>(json::number_of(farm_.table().approved()["nodes"], "most")));
  if (nodes_.empty()) {
    // A finished farm needs no node.
    if (!over()) return invalid("has tasks to run, and its system has no nodes");
    record(began_event(now(), nodes_.size()));
    return journal_.flush();
  }
  // Checkpoints of an interrupted farm stay.
  auto left = pool_.prepare(run_of(program_, journal_id_), farm_.table().nodes().empty(), may_run_);
  if (!left) return std::move(left).status();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    anew_[i] = (*left)[i] == Pool::Left::Nothing;
    if ((*left)[i] == Pool::Left::Tasks) {
      tell(nodes_[i].address, "joining its running tasks", "ok");
      continue;
    }
    const bool outputs = (*left)[i] == Pool::Left::Outputs;
    const size_t before = farm_.running_on(nodes_[i].address).size();
    lose_tasks_of(nodes_[i].address, "its node was prepared again", outputs);
    if (const size_t again = before - farm_.running_on(nodes_[i].address).size(); again > 0)
      tell(nodes_[i].address, fmt::format("{} of its tasks run again", again), "ok");
  }
  record(began_event(now(), nodes_.size()));
  return journal_.flush();
}

Status FarmRun::try_record(const Event& event) {
  if (Status applied = farm_.apply(event); !applied.ok()) return applied;
  journal_.add(event);
  if (search_) search_->observe(event);
  return {};
}

Status FarmRun::loop() {
  for (;;) {
    if (context_.context->stop.asked()) return {Code::Cancelled, "cancelled; its running tasks are ended"};
    if (cancelled_) return invalid("was cancelled by `radlc cancel`");
    context_.under_way();
    if (context_.lets_go()) return {kLeftRunning, "left running on its nodes"};
    for (const Message& message : channels_->take(std::chrono::milliseconds(100))) take(message);
    if (!kept_.ok()) return kept_;
    take_inbox();
    leases();
    checks();
    forget_reports();
    if (Status started = start_tasks(); !started.ok()) return started;
    progress(false);
    if (over()) return {};
    watch_cost();
    watch_size();
    if (is_paused()) {
      if (farm_.table().count(State::Running) == 0 && errands_.empty()) {
        keep_all_logs();
        return paused_status();
      }
      continue;
    }
    if (Status reached = any_node(); !reached.ok()) return reached;
  }
}

bool FarmRun::over() const {
  return farm_.table().is_over() && errands_.empty() && (!search_ || !search_->has_next(farm_.table())) &&
         (started_ || nodes_.empty());
}

Status FarmRun::start_tasks() {
  bool asked = false;
  while (!is_paused()) {
    std::vector<Event> events = next_starts();
    for (const Event& event : events) {
      if (!record(event)) continue;
      started_ = true;
      if (event["event"] == "start") starts_.push_back(event);
      if (event["event"] == "quarantine")
        tell(event["node"], "takes no more tasks: " + event["reason"].get<std::string>(), "failed");
    }
    if (!events.empty()) continue;
    // An external searcher takes its time: what it has chosen starts, and nodes are heard, before it goes on.
    if (asked || !add_trial()) break;
    asked = settings_.search->strategy == Strategy::Optuna;
  }
  for (const std::string& name : search_ ? search_->to_stop(farm_.table()) : std::vector<std::string>())
    stops_[id_of(name, farm_.table().find(name)->attempt)] = name;
  for (const auto& [id, task] : stops_) record(stop_event(task, farm_.table().find(task)->attempt, now()));
  if (!scheduler_->is_cluster()) board_.tell(claim());
  if (Status settled = settle(); !settled.ok()) return settled;
  save_snapshot_of_long_journal();
  started_ = started_ || !farm_.hosts().empty();
  return {};
}

Claim FarmRun::claim() const {
  const std::string user = context_.context->environment("USER");
  Claim own{job_, user, settings_.weight, {}, {}, farm_.waiting_kinds(), waits_since_};
  if (is_paused()) own.wants.clear();
  for (const Host& host : farm_.hosts()) {
    if (host.open) own.nodes[host.name] = host.registered;
    Resources used = host.registered;
    used -= host.remaining;
    if (used != Resources()) own.uses[host.name] = used;
  }
  return own;
}

std::vector<Event> FarmRun::next_starts() {
  const bool waits = farm_.table().count(State::Waiting) > 0;
  if (!waits) waits_since_ = 0;
  if (waits && waits_since_ == 0) waits_since_ = now();
  if (scheduler_->is_cluster()) return farm_.next(now());
  std::optional<ShareBoard::Turn> turn;
  if (!board_.alone()) turn.emplace(board_, claim(), now(), settings_.policy.reserve_after);
  const Farm::Others others{
      [&](const std::string& node) { return turn->taken_by_others(node); },
      [&](const Resources& needs, const std::string& node) { return turn->may_start(needs, node); }};
  std::vector<Event> events = farm_.next(now(), turn ? &others : nullptr);
  if (!turn && events.empty()) return events;
  Claim own = claim();
  for (const Event& event : events) {
    const TaskRecord* task = farm_.table().find(json::text_of(event, "task"));
    if (event["event"] != "start" || task == nullptr) continue;
    own.uses[event["node"]] += task->task.needs;
    own.waits_since = waits_since_ = now();
  }
  turn ? turn->tell(own) : board_.tell(own);
  return events;
}

bool FarmRun::add_trial() {
  if (!search_ || !kept_.ok() || farm_.table().count(State::Waiting) > 0) return false;
  auto trial = next_trial(*search_, farm_, settings_.trial_needs);
  if (!trial) kept_ = trial.status();
  if (!trial || !*trial) return false;
  if (record(add_event(**trial, now()))) return true;
  kept_ = invalid(fmt::format("the next trial would be called '{}', and another task is", (*trial)->name))
              .with_hint("`radlc destroy` forgets the farm's tasks; or give the search another name");
  return false;
}

void FarmRun::send_start(const Event& start) {
  const TaskRecord task = *farm_.table().find(start["task"]);
  const auto node = pool_.find(task.node);
  if (!node) return;
  const std::string name = task.task.name, id = id_of(name, task.attempt);
  if (!task.task.spec.contains("from") && !task.task.spec.contains(kImages))
    return channels_->send(*node, start_command(id, pool_.script(*node, task)));
  sending_.insert(id);
  errand(
      *node, [this, node, task] { return send_needs(*node, task); },
      [this, node, task, name, id](const Status& sent) {
        sending_.erase(id);
        if (!farm_.awaits(name, task.attempt)) return;
        if (leaving_[*node])
          return static_cast<void>(record(
              end_event(name, task.attempt, End::Preempted, -1, "its cloud took its node back", now())));
        const bool ends = farm_.table().find(name)->cancelling;
        if (sent.ok() && !ends) {
          sent_[id] = now();
          return channels_->send(*node, start_command(id, pool_.script(*node, task)));
        }
        const std::string why = "what it starts from was not sent: " + sent.message();
        record(end_event(name, task.attempt, ends ? End::Cancelled : End::Lost, -1, why, now()));
      });
}

Status FarmRun::send_needs(size_t node, const TaskRecord& task) {
  const Json& spec = task.task.spec;
  const Context& context = *context_.context;
  if (spec.contains("from")) {
    if (Status sent = send_parent(pool_.member(node), outputs_, task, context); !sent.ok()) return sent;
  }
  if (!spec.contains(kImages) || !images_) return {};
  const int seconds = valid_seconds(program_.value("timeout_seconds", 0.0), scheduler_->is_cluster());
  auto list = images_->signed_list(spec[kImages], seconds, context.stop);
  if (!list) return std::move(list).status();
  return pool_.member(node).put_bytes(*list, images_file(task.task.name, task.attempt), context.stop, 0600);
}

std::chrono::milliseconds FarmRun::grace() const {
  return std::chrono::milliseconds(static_cast<long long>(program_.value("grace_seconds", 20.0) * 1000));
}

void FarmRun::take_inbox() {
  for (Request& request : read_inbox(folder_ + kInboxFolder)) {
    Event& event = request.event;
    requests_.push_back(request.path);
    if (event.is_null()) {
      tell("", "is not a request to the farm, and is removed: " + request.path, "failed");
      continue;
    }
    event["at"] = now();
    if (Status taken = try_record(event); !taken.ok()) {
      tell("", fmt::format("request '{}' has no effect: {}", json::text_of(event, "event"), taken.message()),
           "failed");
      continue;
    }
    const TaskRecord* task = farm_.table().find(json::text_of(event, "task"));
    if (task && task->cancelling) end_task(*task);
  }
}

void FarmRun::forget_requests() {
  std::error_code error;
  for (const std::string& path : requests_) std::filesystem::remove(path, error);
  requests_.clear();
}

void FarmRun::progress(bool last) {
  if (!last && SteadyClock::now() < next_progress_) return;
  next_progress_ = SteadyClock::now() + kBetweenProgress;
  const std::string text = progress_text(farm_.table(), search_ ? search_->settings().trials : 0);
  if (text == progress_) return;
  progress_ = text;
  tell("", text, "ok");
}

void FarmRun::end_all() {
  auto running = [this] { return running_tasks(farm_.table()); };
  kills_.clear();
  for (const TaskRecord& task : running()) end_task(task);
  const auto until = SteadyClock::now() + grace() + std::chrono::seconds(5);
  while (!running().empty() && SteadyClock::now() < until) {
    for (const Message& message : channels_->take(std::chrono::milliseconds(100))) {
      if (message.kind != Message::Kind::Line || message.line.kind != AgentLine::Kind::End) continue;
      const TaskRecord* task = current(message.node, message.line);
      if (task == nullptr || task->uncommitted) continue;
      const auto& line = message.line;
      record(end_event(line.task, line.attempt, End::Preempted, line.status, "interrupted", now()));
    }
    checks();
  }
  for (const TaskRecord& task : running())
    record(end_event(task.task.name, task.attempt, End::Preempted, -1, "interrupted", now()));
}

Result<StepOutcome> FarmRun::finish() {
  progress(true);
  (void)record(closed_event(now()));
  if (Status kept = journal_.flush(); !kept.ok()) return kept;
  (void)save_snapshot(folder_, farm_, journal_.size());  // readers that do without it replay all
  std::vector<bool> lost;
  for (bool ready : ready_) lost.push_back(!ready);
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - begun_).count();
  auto published = publish({program_, step_.id, farm_.table(), search_ ? &*search_ : nullptr, outputs_,
                            settings_.merge, folder_, seconds, images_ ? images_->images().size() : 0},
                           pool_.members(), lost, *context_.context, log_.redactor());
  if (!published) return std::move(published).status().at(where());
  for (const std::string& note : published->notes) tell("", note, "ok");
  if (Status failures = failures_of(farm_.table(), program_); !failures.ok())
    return std::move(failures).at(where());
  StepOutcome outcome;
  outcome.output = std::move(published->output);
  outcome.changes.push_back({where(), "run", nullptr, outcome.output["tasks"], ""});
  return outcome;
}

Result<StepOutcome> run_farm(const StepContext& context, const ir::Step& step,
                             const std::vector<NodeHandle>& nodes) {
  auto settings = parse_farm(step.program->value("farm", ""));
  if (!settings) return std::move(settings).status().at(step.id);
  if (Status usable = check_cluster(*settings, step.program, nodes); !usable.ok())
    return std::move(usable).at(step.id);
  if (!step.program->value("elastic", false))
    return std::make_unique<FarmRun>(context, step, nodes, std::move(*settings))->run();
  // A node that could not be created must not hold up the others. It has no cloud.
  if (!nodes.empty() &&
      std::all_of(nodes.begin(), nodes.end(), [](const NodeHandle& one) { return one.cloud.empty(); }))
    return invalid("none of its nodes could be created").at(step.id);
  std::vector<char> reached(nodes.size(), false);  // not bool: several threads write
  const Status all = jobs::for_all(nodes.size(), [&](size_t i) -> Status {
    auto remote = nodes[i].connect();
    reached[i] = remote.ok();
    return remote.ok() ? Status() : std::move(remote).status().at(nodes[i].address);
  });
  std::vector<NodeHandle> there;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (reached[i]) there.push_back(nodes[i]);
  if (there.empty() && !all.ok()) return all;
  return std::make_unique<FarmRun>(context, step, there, std::move(*settings))->run();
}

}  // namespace radl::farm
