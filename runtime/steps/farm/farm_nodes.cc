// What nodes tell a farm's run, and what follows.

#include <fmt/format.h>

#include <algorithm>

#include "runtime/steps/farm/farm_run_state.h"

namespace radl::farm {
namespace {

constexpr std::chrono::seconds kLease{45};  // of a silent node: then its tasks run elsewhere
// How long a login node may be unreachable: its cluster's tasks continue.
constexpr std::chrono::seconds kClusterPatience{600};
constexpr std::chrono::seconds kBetweenChecks{5};
constexpr double kYoung = 15;  // seconds in which a started task is not checked
constexpr int kLastLines = 10;
// Bytes of reports that a node keeps before they are removed once no task runs there, and before it gets no
// more tasks until then.
constexpr size_t kSomeReports = size_t{1} << 20, kManyReports = size_t{64} << 20;
constexpr std::chrono::seconds kBetweenFetches{5};
constexpr int kFetches = 3;       // of an output that cannot be brought; then the attempt has failed
constexpr int kLostFetches = 20;  // the same if the connection breaks

}  // namespace

const TaskRecord* FarmRun::current(size_t node, const AgentLine& line) const {
  if (!farm_.awaits(line.task, line.attempt)) return nullptr;
  const TaskRecord* task = farm_.table().find(line.task);
  return task->node == nodes_[node].address ? task : nullptr;
}

void FarmRun::errand(size_t node, std::function<Status()> what, Errand then) {
  errands_[channels_->errand(node, std::move(what))] = std::move(then);
}

void FarmRun::take(const Message& message) {
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

void FarmRun::take_line(size_t node, const AgentLine& line) {
  if (take_cluster_line(node, line)) return;
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
    case AgentLine::Kind::Gone:
      return disappeared(node, line);
    case AgentLine::Kind::End:
      return ended(node, line);
    case AgentLine::Kind::Notice:
      return noticed(node, line.text);
    default:  // take_cluster_line() does it
      return;
  }
}

void FarmRun::emit_metric(size_t node, Json data) {
  context_.emit({step_.id, nodes_[node].address, "metric", std::move(data)});
}

void FarmRun::noticed(size_t node, const std::string& answer) {
  const std::string& address = nodes_[node].address;
  if (answer.empty())
    return tell(address, "has neither curl nor Python: a notice of its cloud is not heard", "failed");
  auto notice = notice_in(notices_of(nodes_[node]), answer);
  if (!notice.ok() || !*notice || leaving_[node]) return;
  leaving_[node] = true;
  const std::string& time = (*notice)->time;
  tell(address, "is preempted by its cloud" + (time.empty() ? "" : " (" + time + ")"), "failed");
  record(gone_event(address, "its cloud takes it back", now()));
  emit_metric(node, {{"event", "interruption"}, {"action", (*notice)->action}, {"time", time}});
  for (const std::string& name : farm_.running_on(address)) {
    const TaskRecord& task = *farm_.table().find(name);
    if (!task.uncommitted) end_task(task);
  }
}

void FarmRun::forget_reports() {
  if (scheduler_->is_cluster()) return;  // it keeps the reports of each attempt in a file of their own
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!ready_[i] || reports_[i].bytes() < kSomeReports) continue;
    const std::string& address = nodes_[i].address;
    if (!farm_.running_on(address).empty()) {
      if (reports_[i].bytes() < kManyReports || draining_[i]) continue;
      draining_[i] = true;
      record(gone_event(address, "reports of its tasks are removed first", now()));
      continue;
    }
    channels_->send(i, forget_command());
    reports_[i].clear();
    if (draining_[i] && !leaving_[i] && !removing_[i]) record(node_event(address, pool_.capacity(i), now()));
    draining_[i] = false;
  }
}

void FarmRun::replace_faulty() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const auto known = farm_.table().nodes().find(nodes_[i].address);
    const bool faulty = known != farm_.table().nodes().end() && known->second.quarantined;
    if (!faulty || missed_[i] || nodes_[i].cloud.starts_with("hosts") ||
        !farm_.running_on(nodes_[i].address).empty())
      continue;
    missed_[i] = true;
    emit_metric(i, {{"event", "faulty"}});
  }
}

void FarmRun::tell_missed(size_t node) {
  if (!missed_[node]) emit_metric(node, {{"event", "member_lost"}});
  missed_[node] = true;
}

void FarmRun::connected(size_t node) {
  const std::string& address = nodes_[node].address;
  ready_[node] = true;
  lost_since_[node].reset();
  reports_[node].clear();  // the agent sends all lines again
  draining_[node] = false;
  missed_[node] = false;
  auto known = farm_.table().nodes().find(address);
  const Resources has = pool_.capacity(node);
  if (!scheduler_->is_cluster() && !leaving_[node] && !removing_[node] &&
      (known == farm_.table().nodes().end() || known->second.gone || known->second.registered != has))
    record(node_event(address, has, now(), anew_[node]));
  anew_[node] = false;
  std::vector<std::string> ids;
  for (const std::string& name : farm_.running_on(address))
    ids.push_back(id_of(name, farm_.table().find(name)->attempt));
  channels_->send(node, beat_command() + keep_command(ids));
  // Requests that an earlier connection, or an earlier radlc, may not have passed on.
  for (const std::string& name : farm_.running_on(address)) {
    const TaskRecord& task = *farm_.table().find(name);
    const std::string id = id_of(name, task.attempt);
    if (sending_.contains(id)) continue;
    // Of an earlier radlc's starts, those that have not arrived never will.
    const bool earlier = task.started < begun_at_;
    // A cluster's attempts are checked only here.
    if (task.uncommitted || earlier || scheduler_->is_cluster() || now() - task.started >= kYoung)
      channels_->send(node, check_command(id));
    if (!task.uncommitted && (task.cancelling || task.stopping || timed_out_.contains(id))) end_task(task);
  }
}

void FarmRun::ended(size_t node, const AgentLine& line) {
  const TaskRecord* task = current(node, line);
  if (task == nullptr || !ending_.insert(id_of(line.task, line.attempt)).second) return;
  // It had ended before, but its output was not fetched: radlc was killed, or failed to fetch it.
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

void FarmRun::failed(const AgentLine& line, const std::string& lines) {
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

void FarmRun::bring(size_t node, const std::string& task, int attempt, bool results) {
  if (!results) return commit(node, task, attempt, false, {});
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
        commit(node, task, attempt, true, *left);
        for (const std::string& link : *left)
          tell(nodes_[node].address,
               fmt::format("task {}: '{}' in its output is a link to a folder, or out of the output, "
                           "and was not fetched",
                           task, link),
               "failed");
      });
}

void FarmRun::not_brought(size_t node, const std::string& task, int attempt, const Status& why) {
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
  const std::string text = "its output could not be fetched: " + log_.mask(why.text());
  tell(nodes_[node].address, fmt::format("task {}: {}", task, text), "failed");
  record(end_event(task, attempt, End::Failed, -1, text, now()));
}

void FarmRun::commit(size_t node, const std::string& task, int attempt, bool results,
                     const std::vector<std::string>& left) {
  if (kept_.ok() && record(commit_event(task, attempt, now(), results, left)))
    arrived_.push_back({node, task, attempt, results});
}

Status FarmRun::settle() {
  if (Status kept = journal_.flush(); !kept.ok()) return kept;
  forget_requests();
  for (const Arrived& output : std::exchange(arrived_, {})) {
    Status kept = output.results ? outputs_.keep(output.task, output.attempt) : outputs_.remove(output.task);
    if (!kept.ok()) return kept;
    if (output.results) channels_->send(output.node, drop_command(id_of(output.task, output.attempt)));
  }
  for (const Event& start : std::exchange(starts_, {})) send_start(start);
  for (const auto& [id, task] : std::exchange(stops_, {})) end_task(*farm_.table().find(task));
  return {};
}

void FarmRun::save_snapshot_of_long_journal() {
  constexpr size_t kPart = size_t{4} << 20;
  if (journal_.size() < snapshot_at_ + std::max(kPart, snapshot_at_ / 4)) return;
  snapshot_at_ = journal_.size();
  // Readers that do without it replay more.
  if (journal_.is_synced()) (void)save_snapshot(folder_, farm_, snapshot_at_);
}

void FarmRun::end_task(const TaskRecord& task) {
  auto node = pool_.find(task.node);
  if (!node || channels_ == nullptr) return;  // connected() does it
  const std::string id = id_of(task.task.name, task.attempt);
  channels_->send(*node, stop_command(id, program_.value("stop_signal", "TERM")));
  kills_.add(id, *node, grace());
}

void FarmRun::leases() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (scheduler_->is_cluster()) continue;  // its tasks do not depend on the login node
    if (lost_since_[i] && SteadyClock::now() - *lost_since_[i] >= kLease) {
      lose_tasks_of(nodes_[i].address, "its node does not answer");
      tell_missed(i);
    }
    if (!leaving_[i] || !farm_.running_on(nodes_[i].address).empty()) continue;
    tell_missed(i);
    if (!lost_since_[i]) lost_since_[i] = SteadyClock::now();
  }
}

void FarmRun::lose_tasks_of(const std::string& address, const std::string& why, bool running) {
  for (const std::string& name : farm_.running_on(address)) {
    const TaskRecord& task = *farm_.table().find(name);
    if (!running || !task.uncommitted) record(end_event(name, task.attempt, End::Lost, -1, why, now()));
  }
}

void FarmRun::set_aside() {
  // A missing or preempted node may be replaced.
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (!ready_[i] || leaving_[i] || removing_[i] || draining_[i]) return;
  if (scheduler_->is_cluster() && farm_.hosts().empty()) return;  // its capacity is not known yet
  for (const Event& event : set_aside_events(farm_, now()))
    if (record(event))
      tell("",
           fmt::format("task {} is set aside: {}", json::text_of(event, "task"),
                       json::text_of(event, "reason")),
           "failed");
  if (kept_.ok() && search_ && farm_.fits_nowhere(settings_.trial_needs) && search_->has_next(farm_.table()))
    kept_ = invalid("a trial " + farm_.why_waiting(settings_.trial_needs));
}

Status FarmRun::any_node() const {
  const auto patience = scheduler_->is_cluster() ? kClusterPatience : 2 * kLease;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if ((ready_[i] && !leaving_[i]) || !lost_since_[i] || SteadyClock::now() - *lost_since_[i] < patience)
      return {};
  }
  return {Code::Lost, "none of its nodes answers"};
}

void FarmRun::checks() {
  for (const auto& [id, node] : kills_.due()) channels_->send(node, stop_command(id, "KILL"));
  for (const auto& [id, node] : fetch_again_.due())
    channels_->send(node, check_command(id));  // it reports its end again
  if (SteadyClock::now() >= next_beat_) {
    next_beat_ = SteadyClock::now() + kBetweenBeats;
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (ready_[i]) channels_->send(i, beat_command());
  }
  if (SteadyClock::now() < next_check_) return;
  next_check_ = SteadyClock::now() + kBetweenChecks;
  set_aside();
  replace_faulty();
  const double timeout = program_.value("timeout_seconds", 0.0);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (const std::string& name : farm_.running_on(nodes_[i].address)) {
      const TaskRecord& task = *farm_.table().find(name);
      const std::string id = id_of(name, task.attempt);
      const auto sent = sent_.find(id);
      const double ran = now() - (sent == sent_.end() ? task.started : sent->second);
      const bool begun = !scheduler_->is_cluster() || !task.machine.empty();
      if (task.uncommitted || !begun || sending_.contains(id) ||
          ran < std::min(kYoung, timeout > 0 ? timeout : kYoung))
        continue;
      if (ready_[i] && !scheduler_->is_cluster()) channels_->send(i, check_command(id));
      if (timeout > 0 && ran > timeout && timed_out_.insert(id).second) end_task(task);
    }
  }
}

}  // namespace radl::farm
