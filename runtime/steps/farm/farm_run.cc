#include "runtime/steps/farm/farm_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "common/digest.h"
#include "common/files.h"
#include "common/human.h"
#include "common/json_values.h"
#include "runtime/farm/journal.h"
#include "runtime/farm/rehearsal.h"
#include "runtime/farm/settings.h"
#include "runtime/steps/farm/channel.h"
#include "runtime/steps/farm/farm_parts.h"
#include "runtime/steps/farm/inbox.h"
#include "runtime/steps/farm/optuna.h"
#include "runtime/steps/farm/outputs.h"
#include "runtime/steps/farm/pool.h"
#include "runtime/steps/farm/reports.h"
#include "runtime/steps/jobs/may_run.h"
#include "runtime/steps/jobs/network.h"
#include "runtime/steps/program/results.h"
#include "runtime/steps/step_log.h"

namespace radl::farm {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Errand = std::function<void(const Status& status)>;

constexpr std::chrono::seconds kLease{45};  // of a silent node: then its tasks run elsewhere
constexpr std::chrono::seconds kBetweenChecks{5};
constexpr std::chrono::seconds kBetweenProgress{2};
constexpr std::chrono::seconds kBetweenForecasts{2};
constexpr size_t kMeasuredTasks = 3;  // finished ones, before their lengths count for a forecast
constexpr double kSlack = 5;          // seconds beyond the approved band: tasks also start and are brought
constexpr double kYoung = 15;         // seconds in which a started task is not checked
constexpr int kLastLines = 10;
constexpr std::chrono::seconds kBetweenFetches{5};
constexpr int kFetches = 3;       // of an output that cannot be brought; then the attempt has failed
constexpr int kLostFetches = 20;  // the same if the connection breaks

class FarmRun {
 public:
  FarmRun(const StepContext& context, const ir::Step& step, const std::vector<NodeHandle>& nodes,
          FarmSettings settings)
      : context_(context),
        step_(step),
        program_(without_farm(step.program)),
        nodes_(nodes),
        settings_(std::move(settings)),
        log_(context_, step, step.id),
        job_(jobs::folder_of(step)),
        folder_(farms_folder(context.context->work_directory) + "/" + job_),
        farm_(settings_.policy),
        outputs_(folder_),
        pool_(program_, nodes_, *context.context, job_, settings_.engine,
              [this](const std::string& node, const std::string& what) { tell(node, what, "ok"); }) {
    if (settings_.search)
      search_.emplace(*settings_.search, ask_optuna(context_.context->environment, context_.context->stop));
    reports_.assign(nodes_.size(),
                    Reports(settings_.search ? settings_.search->metric : "",
                            [this](std::string_view text) { return log_.mask(std::string(text)); }));
    ready_.assign(nodes_.size(), false);
    leaving_ = missed_ = ready_;
  }

  Result<StepOutcome> run() {
    Status done = begin();
    if (done.ok()) {
      Channels channels(nodes_, pool_.members(), *context_.context, settings_.metrics);
      channels_ = &channels;
      lost_since_.assign(nodes_.size(), SteadyClock::now());
      done = channels.open();
      if (done.ok()) done = loop();
      if (done.code() == Code::Cancelled) end_all();
      if (Status kept = journal_.flush(); done.ok()) done = kept;
      channels.close();
    }
    if (!done.ok()) return std::move(done).at(where());
    may_run_.nowhere();
    return finish();
  }

 private:
  std::string where() const { return fmt::format("program '{}'", program_.value("name", "")); }

  void tell(const std::string& node, const std::string& what, const char* state) {
    log_.line(fmt::format("{}: {} {}", node, what, state));
    context_.emit({step_.id,
                   node,
                   "task",
                   {{"name", what},
                    {"state", state},
                    {"seconds", 0},
                    {"notice", std::string_view(state) == "failed"}}});
  }

  // ---- the beginning

  Status begin() {
    if (Status usable = program::check_results_folder(program_); !usable.ok()) return usable;
    if (Status made = make_directories(folder_ + kInboxFolder, 0700); !made.ok()) return made;
    Status opened = journal_.open(folder_ + kJournalFile, [&](const Event& event) {
      closed_ = json::text_of(event, "event") == "closed";
      Status applied = farm_.apply(event);
      if (applied.ok() && search_) search_->observe(event);
      return applied;
    });
    if (!opened.ok()) return opened;
    if (Status adopted = outputs_.adopt(farm_.table()); !adopted.ok()) return adopted;
    take_inbox();
    take_program();
    if (Status kept = journal_.flush(); !kept.ok()) return kept;
    forget_requests();
    return prepare();
  }

  // The tasks as the program has them now: new ones are added, those that it no longer has are cancelled.
  void take_program() {
    journal_id_ = json::text_of(farm_.table().settings(), "journal");
    if (journal_id_.empty()) journal_id_ = to_hex(random_bytes(16));
    record(farm_event(settings_event(program_, settings_, search_, journal_id_), now()));
    // Nothing starts on a node that this run has not reached.
    for (const auto& [node, known] : std::map<std::string, NodeRecord>(farm_.table().nodes())) {
      if (!known.gone) record(gone_event(node, "not connected yet", now()));
      if (!pool_.find(node)) lose_tasks_of(node, "its node is not part of the farm any more");
    }
    for (const Event& event : changes_of_file(settings_.tasks, farm_.table(), closed_, now())) record(event);
  }

  Status prepare() {
    // Checkpoints of an interrupted farm stay.
    auto left = pool_.prepare(run_of(program_, journal_id_), farm_.table().nodes().empty(), may_run_);
    if (!left) return std::move(left).status();
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if ((*left)[i] == Pool::Left::Tasks) {
        tell(nodes_[i].address, "joining its running tasks", "ok");
        continue;
      }
      const bool outputs = (*left)[i] == Pool::Left::Outputs;
      const size_t before = farm_.running_on(nodes_[i].address).size();
      lose_tasks_of(nodes_[i].address, "its node was prepared anew", outputs);
      if (const size_t again = before - farm_.running_on(nodes_[i].address).size(); again > 0)
        tell(nodes_[i].address, fmt::format("{} of its tasks run again", again), "ok");
    }
    record(began_event(now()));
    return journal_.flush();
  }

  // ---- events

  double now() const { return wall_seconds(); }

  // False: the table does not take it.
  bool record(const Event& event) {
    if (!farm_.apply(event).ok()) return false;
    journal_.add(event);
    if (search_) search_->observe(event);
    return true;
  }

  // The task of a line about its newest attempt, unless that has ended and its output is kept.
  const TaskRecord* current(size_t node, const AgentLine& line) const {
    if (!farm_.awaits(line.task, line.attempt)) return nullptr;
    const TaskRecord* task = farm_.table().find(line.task);
    return task->node == nodes_[node].address ? task : nullptr;
  }

  void errand(size_t node, std::function<Status()> what, Errand then) {
    errands_[channels_->errand(node, std::move(what))] = std::move(then);
  }

  void take(const Message& message) {
    switch (message.kind) {
      case Message::Kind::Line:
        return take_line(message.node, message.line);
      case Message::Kind::Disconnected:
        ready_[message.node] = false;
        if (!lost_since_[message.node]) {
          lost_since_[message.node] = SteadyClock::now();
          record(gone_event(nodes_[message.node].address, message.status.message(), now()));
          tell(nodes_[message.node].address, "cannot be reached: " + message.status.message(), "failed");
        }
        return;
      case Message::Kind::Done: {
        Errand then = std::move(errands_[message.number]);
        errands_.erase(message.number);
        return then(message.status);
      }
    }
  }

  void take_line(size_t node, const AgentLine& line) {
    auto reports = reports_[node].take(line, now());
    if (!reports) return tell(nodes_[node].address, reports.status().message(), "failed");
    for (const Event& report : *reports) record(report);
    switch (line.kind) {
      case AgentLine::Kind::Ready:
        return connected(node);
      case AgentLine::Kind::Cancelled:
        cancelled_ = true;
        return;
      case AgentLine::Kind::Line:
      case AgentLine::Kind::Piece:
        return;
      case AgentLine::Kind::Gone: {
        const std::string id = id_of(line.task, line.attempt);
        if (!current(node, line) || ending_.contains(id)) return;
        record(end_event(line.task, line.attempt, End::Lost, -1, "its process is gone", now()));
        return channels_->send(node, stop_command(id, "KILL"));  // it may only have started late
      }
      case AgentLine::Kind::End:
        return ended(node, line);
      case AgentLine::Kind::Notice:
        return noticed(node, line.text);
    }
  }

  void emit_metric(size_t node, Json data) {
    context_.emit({step_.id, nodes_[node].address, "metric", std::move(data)});
  }

  // The cloud's answer to whether it takes the node back. If it does, tasks end there and run again
  // elsewhere; whoever runs this replaces the node.
  void noticed(size_t node, const std::string& answer) {
    const std::string& address = nodes_[node].address;
    if (answer.empty())
      return tell(address, "has neither curl nor Python: a notice of its cloud is not heard", "failed");
    auto notice = notice_in(notices_of(nodes_[node]), answer);
    if (!notice.ok() || !*notice || leaving_[node]) return;
    leaving_[node] = true;
    const std::string& time = (*notice)->time;
    tell(address, "is taken back by its cloud" + (time.empty() ? "" : " (" + time + ")"), "failed");
    record(gone_event(address, "its cloud takes it back", now()));
    emit_metric(node, {{"event", "interruption"}, {"action", (*notice)->action}, {"time", time}});
    for (const std::string& name : farm_.running_on(address)) {
      const TaskRecord& task = *farm_.table().find(name);
      if (!task.uncommitted) end_task(task);
    }
  }

  // Once: the node may be replaced while the others work.
  void tell_missed(size_t node) {
    if (!missed_[node]) emit_metric(node, {{"event", "member_lost"}});
    missed_[node] = true;
  }

  void connected(size_t node) {
    const std::string& address = nodes_[node].address;
    ready_[node] = true;
    lost_since_[node].reset();
    reports_[node].clear();  // the agent tells all lines again
    missed_[node] = false;
    auto known = farm_.table().nodes().find(address);
    const Resources has = pool_.capacity(node);
    if (!leaving_[node] &&
        (known == farm_.table().nodes().end() || known->second.gone || known->second.registered != has))
      record(node_event(address, has, now()));
    std::vector<std::string> ids;
    for (const std::string& name : farm_.running_on(address))
      ids.push_back(id_of(name, farm_.table().find(name)->attempt));
    channels_->send(node, keep_command(ids));
    // Requests that an earlier connection, or an earlier radlc, may not have passed on.
    for (const std::string& name : farm_.running_on(address)) {
      const TaskRecord& task = *farm_.table().find(name);
      const std::string id = id_of(name, task.attempt);
      if (sending_.contains(id)) continue;
      if (task.uncommitted || now() - task.started >= kYoung) channels_->send(node, check_command(id));
      if (!task.uncommitted && (task.cancelling || task.stopping || timed_out_.contains(id))) end_task(task);
    }
  }

  void ended(size_t node, const AgentLine& line) {
    const TaskRecord* task = current(node, line);
    if (task == nullptr || !ending_.insert(id_of(line.task, line.attempt)).second) return;
    // It had ended before, and nobody brought its output: radlc was killed, or could not bring it.
    if (task->uncommitted) return bring(node, line.task, line.attempt, line.results);
    // It was asked to end: how it did says nothing. What ends well meanwhile runs again.
    if (leaving_[node] && !task->stopping && !task->cancelling)
      return static_cast<void>(record(end_event(line.task, line.attempt, End::Preempted, line.status,
                                                "its cloud took its node back", now())));
    if (line.status == 0 || task->stopping) {
      const End how = line.status == 0 ? End::Succeeded : End::Stopped;
      if (record(end_event(line.task, line.attempt, how, line.status, "", now())) &&
          farm_.table().find(line.task)->uncommitted)
        bring(node, line.task, line.attempt, line.results);
      return;
    }
    auto lines = std::make_shared<std::string>();
    const std::string log = fmt::format("farm/logs/{}", id_of(line.task, line.attempt));
    errand(
        node,
        [this, node, log, lines]() -> Status {
          auto asked = pool_.member(node).was_cancelled();
          if (asked && *asked) cancelled_ = true;
          auto tail = pool_.member(node).log_tail(log, kLastLines);
          if (tail) *lines = *tail;
          return {};
        },
        [this, line, lines](const Status&) { failed(line, *lines); });
  }

  void failed(const AgentLine& line, const std::string& lines) {
    if (cancelled_) return;
    const std::string id = id_of(line.task, line.attempt);
    const std::string reason =
        timed_out_.contains(id) ? "exceeded its timeout" : log_.last_lines(lines, kLastLines);
    if (!record(end_event(line.task, line.attempt, End::Failed, line.status, reason, now()))) return;
    const TaskRecord* task = farm_.table().find(line.task);
    if (task->state == State::Cancelled) return;
    tell(task->node,
         fmt::format("task {} ended with exit status {}{}", line.task, line.status,
                     task->state == State::Failed ? ": set aside" : ", and is retried"),
         "failed");
  }

  // Brings the output of an attempt, and commits it.
  void bring(size_t node, const std::string& task, int attempt, bool results) {
    if (!results) return static_cast<void>(commit(task, attempt, false, {}));
    const std::string id = id_of(task, attempt), to = outputs_.arriving(task, attempt);
    auto left = std::make_shared<std::vector<std::string>>();
    errand(
        node,
        [this, node, id, to, left]() -> Status {
          auto fetched = bring_output(pool_.member(node), id, to);
          if (fetched) *left = std::move(fetched->left);
          return fetched ? Status() : std::move(fetched).status();
        },
        [this, node, task, attempt, id, left](const Status& fetched) {
          if (!fetched.ok()) return not_brought(node, task, attempt, fetched);
          if (!commit(task, attempt, true, *left)) return;
          for (const std::string& link : *left)
            tell(nodes_[node].address,
                 fmt::format("task {}: '{}' in its output is a link to what is neither a file nor within the "
                             "output, and was not brought",
                             task, link),
                 "failed");
          channels_->send(node, drop_command(id));
        });
  }

  // Tries again soon, or once the node is connected; in the end the attempt has failed.
  void not_brought(size_t node, const std::string& task, int attempt, const Status& why) {
    if (why.code() == Code::Quota) {  // no other attempt would find room on this computer
      if (kept_.ok()) kept_ = why;
      return;
    }
    const std::string id = id_of(task, attempt);
    ending_.erase(id);
    if (!ready_[node] || !farm_.awaits(task, attempt)) return;
    if (++fetches_[id] < (why.code() == Code::Lost ? kLostFetches : kFetches)) {
      fetch_again_.add(id, node, kBetweenFetches);
      return;
    }
    const std::string text = "its output could not be brought: " + log_.mask(why.text());
    tell(nodes_[node].address, fmt::format("task {}: {}", task, text), "failed");
    record(end_event(task, attempt, End::Failed, -1, text, now()));
  }

  // False: the attempt is not the newest any more, or its output is not safe (kept_).
  bool commit(const std::string& task, int attempt, bool results, const std::vector<std::string>& left) {
    if (!kept_.ok() || !record(commit_event(task, attempt, now(), results, left))) return false;
    // Not before the journal has it.
    kept_ = journal_.flush();
    if (kept_.ok()) kept_ = results ? outputs_.keep(task, attempt) : outputs_.remove(task);
    return kept_.ok();
  }

  // ---- the loop

  Status loop() {
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
      if (Status started = start_tasks(); !started.ok()) return started;
      progress(false);
      if (over()) return {};
      watch_cost();
      if (is_paused()) {
        if (farm_.table().count(State::Running) == 0 && errands_.empty()) return paused_status();
        continue;
      }
      if (Status reached = any_node(); !reached.ok()) return reached;
    }
  }

  bool over() const {
    return farm_.table().is_over() && errands_.empty() && (!search_ || !search_->has_next(farm_.table())) &&
           started_;
  }

  bool is_paused() const { return !farm_.table().paused().is_null(); }

  Status paused_status() const {
    return invalid("is paused: " + json::text_of(farm_.table().paused(), "reason"))
        .with_hint(
            "`radlc apply` shows the new forecast, and continues once you approve it; `radlc destroy` "
            "frees its nodes");
  }

  // A run that would take longer than was approved, and so cost more, starts no more tasks.
  void watch_cost() {
    const Table& table = farm_.table();
    const Json& most = json::member(json::member(table.approved(), "seconds"), "high");
    if (is_paused() || !most.is_number() || SteadyClock::now() < next_forecast_) return;
    const SteadyClock::time_point begun = SteadyClock::now();
    const double passed = now() - json::number_of(table.approved(), "began", now());
    double total = passed;
    if (table.count(State::Finished) + table.count(State::Stopped) >= kMeasuredTasks) {
      const size_t trials =
          search_ ? search_->settings().trials - std::min(search_->settings().trials, search_->suggested())
                  : 0;
      const Rehearsal rest = rehearse_rest(farm_, now(), trials, settings_.trial_needs);
      if (rest.known) total += rest.seconds;
    }
    next_forecast_ = SteadyClock::now() +
                     std::max<SteadyClock::duration>(kBetweenForecasts, 20 * (SteadyClock::now() - begun));
    if (total <= most.get<double>() + kSlack) return;
    const std::string why =
        fmt::format("it {} {}, and at most {} was approved", total > passed ? "would take" : "has taken",
                    duration_text(total), duration_text(most.get<double>()));
    if (record(pause_event(total, why, now())))
      tell("", "paused: " + why + "; running tasks end, and no others start", "failed");
  }

  // New trials while there is room, and what is placed. Nothing starts before the journal has it.
  Status start_tasks() {
    std::vector<Event> starts;
    while (!is_paused()) {
      std::vector<Event> events = farm_.next(now());
      for (const Event& event : events) {
        if (!record(event)) continue;
        started_ = true;
        if (event["event"] == "start") starts.push_back(event);
        if (event["event"] == "quarantine")
          tell(event["node"], "takes no more tasks: " + event["reason"].get<std::string>(), "failed");
      }
      if (events.empty() && !add_trial()) break;
    }
    for (const std::string& name : search_ ? search_->to_stop(farm_.table()) : std::vector<std::string>())
      stops_[id_of(name, farm_.table().find(name)->attempt)] = name;
    for (const auto& [id, task] : stops_) record(stop_event(task, farm_.table().find(task)->attempt, now()));
    if (Status kept = journal_.flush(); !kept.ok()) return kept;
    forget_requests();
    for (const Event& start : starts) send_start(start);
    for (const auto& [id, task] : stops_) end_task(*farm_.table().find(task));
    stops_.clear();
    started_ = started_ || !farm_.hosts().empty();
    return {};
  }

  bool add_trial() {
    if (!search_ || !kept_.ok() || farm_.table().count(State::Waiting) > 0) return false;
    auto trial = next_trial(*search_, farm_, settings_.trial_needs);
    if (!trial) kept_ = trial.status();
    return trial && *trial && record(add_event(**trial, now()));
  }

  void send_start(const Event& start) {
    const TaskRecord task = *farm_.table().find(start["task"]);
    const auto node = pool_.find(task.node);
    if (!node) return;
    const std::string name = task.task.name, id = id_of(name, task.attempt);
    if (!task.task.spec.contains("from"))
      return channels_->send(*node, start_command(id, pool_.script(*node, task)));
    sending_.insert(id);
    errand(
        *node,
        [this, node, task] { return send_parent(pool_.member(*node), outputs_, task, *context_.context); },
        [this, node, task, name, id](const Status& sent) {
          sending_.erase(id);
          const bool ends = farm_.table().find(name)->cancelling;
          if (sent.ok() && !ends && farm_.awaits(name, task.attempt))
            return channels_->send(*node, start_command(id, pool_.script(*node, task)));
          const std::string why = "the output that it starts from was not sent: " + sent.message();
          record(end_event(name, task.attempt, ends ? End::Cancelled : End::Lost, -1, why, now()));
        });
  }

  // Asks a task to end, and kills it after the grace.
  void end_task(const TaskRecord& task) {
    auto node = pool_.find(task.node);
    if (!node || channels_ == nullptr) return;  // connected() does it
    const std::string id = id_of(task.task.name, task.attempt);
    channels_->send(*node, stop_command(id, program_.value("stop_signal", "TERM")));
    kills_.add(id, *node, grace());
  }

  std::chrono::milliseconds grace() const {
    return std::chrono::milliseconds(static_cast<long long>(program_.value("grace_seconds", 20.0) * 1000));
  }

  // Of a node that has been silent for too long the tasks run elsewhere.
  void leases() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (lost_since_[i] && SteadyClock::now() - *lost_since_[i] >= kLease) {
        lose_tasks_of(nodes_[i].address, "its node does not answer");
        tell_missed(i);
      }
      if (leaving_[i] && farm_.running_on(nodes_[i].address).empty()) tell_missed(i);
    }
  }

  // `running`: only those that have not ended; the node has the outputs of the others.
  void lose_tasks_of(const std::string& address, const std::string& why, bool running = false) {
    for (const std::string& name : farm_.running_on(address)) {
      const TaskRecord& task = *farm_.table().find(name);
      if (!running || !task.uncommitted) record(end_event(name, task.attempt, End::Lost, -1, why, now()));
    }
  }

  // Tasks that no node will ever run must not keep the farm, and what its nodes cost, going.
  void set_aside() {
    if (std::find(ready_.begin(), ready_.end(), false) != ready_.end()) return;
    for (const Event& event : set_aside_events(farm_, now()))
      if (record(event))
        tell("",
             fmt::format("task {} is set aside: {}", json::text_of(event, "task"),
                         json::text_of(event, "reason")),
             "failed");
    if (kept_.ok() && search_ && farm_.fits_nowhere(settings_.trial_needs) &&
        search_->has_next(farm_.table()))
      kept_ = invalid("a trial " + farm_.why_waiting(settings_.trial_needs));
  }

  // Lost: the executor connects anew, replaces nodes, or reports it.
  Status any_node() const {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (ready_[i] || !lost_since_[i] || SteadyClock::now() - *lost_since_[i] < 2 * kLease) return {};
    }
    return {Code::Lost, "none of its nodes answers"};
  }

  void checks() {
    for (const auto& [id, node] : kills_.due()) channels_->send(node, stop_command(id, "KILL"));
    for (const auto& [id, node] : fetch_again_.due())
      channels_->send(node, check_command(id));  // it tells its end again
    if (SteadyClock::now() < next_check_) return;
    next_check_ = SteadyClock::now() + kBetweenChecks;
    set_aside();
    const double timeout = program_.value("timeout_seconds", 0.0);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const std::string& name : farm_.running_on(nodes_[i].address)) {
        const TaskRecord& task = *farm_.table().find(name);
        const std::string id = id_of(name, task.attempt);
        if (task.uncommitted || now() - task.started < std::min(kYoung, timeout > 0 ? timeout : kYoung))
          continue;
        if (ready_[i] && !sending_.contains(id)) channels_->send(i, check_command(id));
        if (timeout > 0 && now() - task.started > timeout && timed_out_.insert(id).second) end_task(task);
      }
    }
  }

  // Requests of `radlc farm cancel|retry|add`.
  void take_inbox() {
    for (Request& request : read_inbox(folder_ + kInboxFolder)) {
      Event& event = request.event;
      requests_.push_back(request.path);
      if (event.is_null()) {
        tell("", "is not a request to the farm, and is removed: " + request.path, "failed");
        continue;
      }
      event["at"] = now();
      if (!record(event)) continue;
      const TaskRecord* task = farm_.table().find(json::text_of(event, "task"));
      if (task && task->cancelling) end_task(*task);
    }
  }

  // The journal has them now.
  void forget_requests() {
    std::error_code error;
    for (const std::string& path : requests_) std::filesystem::remove(path, error);
    requests_.clear();
  }

  void progress(bool last) {
    if (!last && SteadyClock::now() < next_progress_) return;
    next_progress_ = SteadyClock::now() + kBetweenProgress;
    const std::string text = progress_text(farm_.table(), search_ ? search_->settings().trials : 0);
    if (text == progress_) return;
    progress_ = text;
    tell("", text, "ok");
  }

  // ---- the end

  // What the user interrupts uses up no try.
  void end_all() {
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

  Result<StepOutcome> finish() {
    progress(true);
    journal_.add({{"event", "closed"}, {"at", now()}});
    if (Status kept = journal_.flush(); !kept.ok()) return kept;
    std::vector<bool> lost;
    for (bool ready : ready_) lost.push_back(!ready);
    const double seconds = std::chrono::duration<double>(SteadyClock::now() - begun_).count();
    auto published = publish({program_, step_.id, farm_.table(), search_ ? &*search_ : nullptr, outputs_,
                              settings_.merge, folder_, seconds},
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

  const StepContext context_;
  const ir::Step& step_;
  const Json program_;
  const std::vector<NodeHandle>& nodes_;
  const FarmSettings settings_;
  StepLog log_;
  const std::string job_, folder_;
  std::string journal_id_;  // of this journal, in its first event
  Farm farm_;
  Journal journal_;
  std::optional<Search> search_;
  Outputs outputs_;
  Pool pool_;
  jobs::MayRun may_run_{context_, nodes_};
  Channels* channels_ = nullptr;
  std::map<size_t, Errand> errands_;
  std::vector<std::optional<SteadyClock::time_point>> lost_since_;
  std::vector<bool> ready_;
  std::vector<bool> leaving_, missed_;  // taken back by its cloud; told to whoever may replace it
  std::vector<Reports> reports_;              // by node
  std::set<std::string> sending_;             // attempts whose parent's output is on its way
  std::vector<std::string> requests_;         // files of the inbox that the journal is about to have
  std::map<std::string, int> fetches_;        // by attempt: how often its output was not brought
  Timers kills_, fetch_again_;                // of attempts
  std::set<std::string> ending_, timed_out_;  // attempts
  std::map<std::string, std::string> stops_;  // attempt -> task, to be stopped by the search
  SteadyClock::time_point next_check_, next_progress_, next_forecast_, begun_ = SteadyClock::now();
  std::string progress_;
  std::atomic<bool> cancelled_{false};
  bool closed_ = false;   // the journal's last run came to its end
  bool started_ = false;  // some node is there
  Status kept_;
};

}  // namespace

Result<StepOutcome> run_farm(const StepContext& context, const ir::Step& step,
                             const std::vector<NodeHandle>& nodes) {
  auto settings = parse_farm(step.program.value("farm", ""));
  if (!settings) return std::move(settings).status().at(step.id);
  return std::make_unique<FarmRun>(context, step, nodes, std::move(*settings))->run();
}

}  // namespace radl::farm
