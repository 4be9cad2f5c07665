#include "runtime/steps/program_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "common/restart_policy.h"
#include "runtime/steps/farm/farm_run.h"
#include "runtime/steps/jobs/ending.h"
#include "runtime/steps/jobs/following.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/leaving.h"
#include "runtime/steps/jobs/look_at_all.h"
#include "runtime/steps/jobs/may_run.h"
#include "runtime/steps/jobs/network.h"
#include "runtime/steps/jobs/notices.h"
#include "runtime/steps/jobs/services.h"
#include "runtime/steps/jobs/silence.h"
#include "runtime/steps/program/failure.h"
#include "runtime/steps/program/peer_access.h"
#include "runtime/steps/program/preparing.h"
#include "runtime/steps/program/rejoin.h"
#include "runtime/steps/program/results.h"
#include "runtime/steps/program/short_run.h"
#include "runtime/steps/program/starting.h"
#include "runtime/steps/program/verdict.h"
#include "runtime/steps/step_log.h"

namespace radl {
namespace {

using namespace program;
using jobs::kTakenBack;
using jobs::Process;
using ProgramClock = std::chrono::steady_clock;

// For one member alone, while the others continue.
constexpr RestartPolicy kMemberRestarts{std::chrono::seconds(1), std::chrono::seconds(60),
                                        std::chrono::minutes(10), 6};
constexpr std::chrono::seconds kAfterFailure{5};  // the others may end by themselves
// A member that failed may be a consequence of another; nodes are looked at twice a second.
constexpr std::chrono::milliseconds kOthersSay{1000};

double since(ProgramClock::time_point begin) {
  return std::chrono::duration<double>(ProgramClock::now() - begin).count();
}

class ProgramRun {
 public:
  ProgramRun(const StepContext& context, const ir::Step& step, const std::vector<NodeHandle>& nodes)
      : context_(one_at_a_time(context, emit_)),
        step_(step),
        program_(step.program),
        nodes_(nodes),
        log_(context_, step, step.id),
        job_(jobs::folder_of(step)),
        rules_(end_rules(program_)),
        running_(program_.value("runs_on", "each") == "first" ? 1 : nodes_.size()),
        preparing_(program_, nodes_, members_, *context.context,
                   [this](const std::string& node, const std::string& what) { tell(node, what, "ok"); }),
        starting_(program_, nodes_, members_, preparing_, *context.context, running_),
        peers_(nodes_, members_, *context.context, job_) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      members_.push_back(std::make_unique<jobs::Member>(nodes_[i], *context.context, job_));
      logs_.push_back(std::make_unique<StepLog>(context_, step_, nodes_[i].address));
      logs_.back()->limit_output();  // the node keeps the whole log, and the results get it
      processes_.push_back({starting_.process(i), i});
    }
    facts_.restarts.resize(running_);
    restarts_.resize(running_, kMemberRestarts);
    waits_.resize(running_);
    facts_.ends.resize(running_, -1);
  }

  Result<StepOutcome> run() {
    auto joined = look();
    if (!joined) return std::move(joined).status().at(where());
    Status done = *joined ? Status() : prepare();
    const auto begin = ProgramClock::now();
    const int retries = program_.value("retries", 0);
    bool started = *joined;
    for (facts_.attempts = 1; done.ok(); ++facts_.attempts) {
      if (!started) {
        may_run_.everywhere();
        done = starting_.begin(looks_, run_id_, facts_.attempts);
      }
      started = false;
      if (done.ok()) context_.under_way();
      if (done.ok()) done = follow(std::exchange(ran_before_, std::chrono::seconds(0)));
      if (done.ok() || !again_ || facts_.attempts > retries) break;
      const std::string why = done.message();
      log_.line("FAILED: " + why);
      tell("",
           fmt::format("attempt {} of {} failed ({}); restarting all members", facts_.attempts, retries + 1,
                       why.substr(0, why.find('\n'))),
           "failed", true);
      done = jobs::for_all(nodes_.size(), [&](size_t i) {
        Status kept = members_[i]->keep_logs();
        return kept.ok() ? members_[i]->clear("run-*") : kept;
      });
    }
    facts_.phases["program"] = since(begin);
    Result<StepOutcome> outcome = !done.ok() ? with_logs(std::move(done)).at(where())
                                  : short_   ? Result<StepOutcome>(probed())
                                             : collect();
    const bool runs_on = outcome.status().code() == kLeftRunning;
    if (has_ssh() && !runs_on && !close_peers()) may_run_.everywhere();
    return outcome;
  }

 private:
  std::string where() const { return fmt::format("program '{}'", program_.value("name", "")); }
  bool has_ssh() const { return program_.value("ssh", false); }
  bool cancelled() const { return context_.context->stop.asked(); }

  void tell(const std::string& node, const std::string& what, const char* state) {
    tell(node, what, state, std::string_view(state) == "failed");
  }
  // `notice`: a line that viewers should not miss.
  void tell(const std::string& node, const std::string& what, const char* state, bool notice) {
    log_.line(fmt::format("{}: {} {}", node, what, state));
    context_.emit(
        {step_.id, node, "task", {{"name", what}, {"state", state}, {"seconds", 0}, {"notice", notice}}});
  }

  // Its members other than the chief may be missing while it runs.
  bool may_miss(size_t node) const { return rules_.alone && node > 0 && node < running_; }

  // True when this very program runs already, or has ended without having been brought back: then it is
  // joined. With `lost = 'alone'` also without nodes that cannot be reached, and members that are yet to be
  // started, since their machines replaced others.
  Result<bool> look() {
    std::vector<Status> unreachable;
    Status looked = jobs::look_at_all(
        members_, preparing_.looking_script(), [this](size_t i) { return may_miss(i); }, looks_, unreachable);
    if (looked.ok()) {
      may_run_.take(looks_);
      looked = preparing_.look(looks_);
    }
    if (!looked.ok()) return looked;
    const Left left = what_is_left(rules_, processes_, looks_, run_id_);
    const bool joins = left.same && left.whole && (left.without.empty() || !left.running || !has_ssh());
    interrupted_ = left.same && !joins;
    for (const Status& why : unreachable)
      if (!joins && !why.ok()) return why;
    if (!joins) return false;
    absent_ = absent_of(left, members_, unreachable);
    if (Status known = join(left.running); !known.ok()) return known;
    return true;
  }

  Status join(bool running) {
    if (Status known = starting_.join(looks_, absent_.arriving); !known.ok()) return known;
    // Their processes are followed there, as ones that have ended.
    Status made = jobs::for_all(nodes_.size(), [&](size_t i) {
      return absent_.arriving.contains(i) ? members_[i]->clear("") : Status();
    });
    if (!made.ok()) return made;
    if (running) ran_before_ = looks_[0].age;
    tell("", running ? "joining the program that is under way" : "the program has ended meanwhile", "ok");
    return {};
  }

  Status prepare() {
    const auto begin = ProgramClock::now();
    if (Status free = check_results_folder(program_); !free.ok()) return free;
    const jobs::Manner manner{stop_signal(), grace()};
    if (Status ended = jobs::end_earlier(members_, looks_, manner, context_.context->stop); !ended.ok())
      return ended;
    may_run_.nowhere();
    Status ready = preparing_.bring(!context_.resume && !interrupted_);
    if (ready.ok() && has_ssh()) ready = peers_.open(job_folder(looks_[0], *members_[0]));
    facts_.phases["preparation"] = since(begin);
    return ready;
  }

  // Also after a failure: it must not take the failure's place. False: something may be left.
  bool close_peers() {
    const Status closed = peers_.close(lost_nodes());
    if (!closed.ok()) tell("", "the key of this run could not be taken away: " + closed.message(), "failed");
    return closed.ok();
  }

  // `before`: how long the members have been running.
  Status follow(std::chrono::seconds before) {
    bad_.clear();
    again_ = true;
    over_ = false;
    begun_ = ProgramClock::now() - before;
    jobs::Following::Rules rules;
    rules.behind = ".log";
    rules.whose = [](const std::string&) { return std::optional<std::string>(""); };
    rules.bound = static_cast<bool>(short_);
    rules.on_line = [this](size_t node, const std::string& line) {
      logs_[node]->output(line + "\n");
      short_.take(node, since(begun_), line);
    };
    rules.again = [this](const Process& process, int exit) { return ended(process, exit); };
    rules.start_again = [this](size_t node, const auto&) { return start_again(node); };
    rules.on_usage = [this](const std::string& name, const jobs::Usage& usage) { used(name, usage); };
    rules.unreachable = [this](size_t node, const Status& why) {
      tell(nodes_[node].address, "does not answer: " + why.message(), "failed");
    };
    rules.on_lost = [this](size_t node) {
      if (may_miss(node)) tell_missed(node);
    };
    rules.on_silence = [this](size_t node, bool silent) {
      tell(nodes_[node].address, jobs::silence_text(silent), silent ? "failed" : "ok", true);
    };
    rules.on_notice = [this](size_t node, const EvictionNotice& notice) { noticed(node, notice); };
    rules.cannot_hear = [this](size_t node) { cannot_hear(node); };
    rules.services = [this](size_t node) {
      return context_.program ? jobs::services_on(*context_.program, nodes_[node].address)
                              : std::vector<std::string>();
    };
    rules.on_service = [this](size_t node, const std::string& what) {
      tell(nodes_[node].address, what, "failed");
    };
    rules.verdict = [this](const jobs::Ends& ends) { return verdict(ends); };
    rules.ending = [this](const Status& result) { return ending(result); };
    following_ = std::make_unique<jobs::Following>(members_, processes_, std::move(rules));
    for (const auto& [node, why] : std::exchange(absent_.missed, {})) {
      following_->give_up(node, why);
      tell_missed(node);
    }
    Status done = following_->run();
    for (const auto& log : logs_) log->end_output();
    if (done.code() == kLeftRunning) return done;
    may_run_.take(*following_);
    if ((done.ok() && !short_.was_ended()) || done.code() == Code::Lost) return done;
    // A member that ends well when it is asked to has not come to its end.
    const Status forgotten = jobs::for_all(nodes_.size(), [&](size_t i) {
      return following_->is_lost(i) ? Status() : members_[i]->forget_run();
    });
    if (!forgotten.ok()) log_.line(forgotten.message());
    return done;
  }

  // For viewers of the run (docs/runs.md).
  void used(const std::string& name, const jobs::Usage& usage) {
    for (const Process& process : processes_) {
      if (process.name != name || process.node >= running_) continue;
      emit_metric(process.node, member_metric(usage));
      tell_stopped(process.node, usage.stopped > 0);
    }
  }

  // Once per suspension: it neither works nor ends until a user resumes it.
  void tell_stopped(size_t node, bool stopped) {
    {
      std::lock_guard lock(state_);
      if (!(stopped ? stopped_.insert(node).second : stopped_.erase(node) > 0)) return;
    }
    tell(nodes_[node].address,
         stopped ? "was suspended by a signal; resume it with `kill -CONT` on its node" : "goes on",
         stopped ? "failed" : "ok", true);
  }

  // The cloud says that it takes the node back soon.
  void noticed(size_t node, const EvictionNotice& notice) {
    if (!leaving_.notice(node, notice.time)) return;
    tell(nodes_[node].address,
         "is preempted by its cloud" + (notice.time.empty() ? "" : " (" + notice.time + ")"), "failed");
    // Whoever runs this replaces the machine, and the program starts again there.
    if (program_.value("retries", 0) > 0)
      emit_metric(node, {{"event", "interruption"}, {"action", notice.action}, {"time", notice.time}});
    following_->wake();
  }

  void emit_metric(size_t node, Json data) {
    context_.emit({step_.id, nodes_[node].address, "metric", std::move(data)});
  }

  // The program continues without this member; the caller may replace its machine meanwhile.
  void tell_missed(size_t node) {
    {
      std::lock_guard lock(state_);
      if (over_ || !told_missed_.insert(node).second) return;
    }
    tell(nodes_[node].address, "is missing; the other members continue", "failed");
    if (program_.value("retries", 0) > 0) emit_metric(node, {{"event", "member_lost"}});
  }

  void cannot_hear(size_t node) {
    if (leaving_.cannot_hear(node))
      tell(nodes_[node].address, "has neither curl nor Python: a notice of its cloud is not heard", "failed");
  }

  std::optional<Status> goes_on() {
    context_.under_way();
    if (!context_.lets_go()) return part_with_nodes();
    again_ = false;
    set_over();
    return Status(kLeftRunning, "left running on its nodes");
  }

  // On preempted nodes: members that the program may miss end gracefully, and the others continue.
  std::optional<Status> part_with_nodes() {
    const std::map<size_t, std::string> leaving = leaving_.all();
    for (const auto& [node, when] : leaving) {
      if (leaving_.has_parted(node)) continue;
      if (rules_.alone && node > 0 && running_ - leaving.size() >= rules_.least) {
        leaving_.part_with(node);
        tell(nodes_[node].address, "ending its member gracefully; the others continue", "ok");
        (void)members_[node]->signal({processes_[node].name}, stop_signal().c_str());
        continue;
      }
      again_ = false;  // not on this machine
      const bool retried = program_.value("retries", 0) > 0;
      return Status(kTakenBack,
                    fmt::format("{} is preempted by its cloud{}; radlc asked its members to end{}",
                                nodes_[node].address, when.empty() ? "" : " (" + when + ")",
                                retried ? "" : ". With `retries`, they restart on another"));
    }
    return std::nullopt;
  }

  std::string stop_signal() const { return program_.value("stop_signal", "TERM"); }
  std::chrono::milliseconds grace() const {
    return std::chrono::milliseconds(static_cast<long long>(program_.value("grace_seconds", 20.0) * 1000));
  }

  // True: this member alone is started again.
  bool ended(const Process& process, int exit) {
    const size_t i = process.node;
    {
      std::lock_guard lock(state_);
      if (i < running_) facts_.ends[i] = exit;
      if (over_) return false;  // it was asked to end
      if (exit != 0 && !leaving_.has_parted(i)) bad_.push_back(i);
    }
    if (exit != 0 && !arrives(i)) tell(nodes_[i].address, end_text(exit), "failed");
    if (leaving_.has_parted(i)) tell_missed(i);
    if (!rules_.alone || i == 0 || !was_killed(exit) || cancelled()) return false;
    if (auto asked = members_[i]->was_cancelled(); asked && *asked) return false;
    std::lock_guard lock(state_);
    if (leaving_.leaves(i)) return false;
    const auto wait = restarts_[i].next(ProgramClock::now());
    if (!wait) return false;
    waits_[i] = *wait;
    ++facts_.restarts[i];
    std::erase(bad_, i);
    return true;
  }

  // By `radlc cancel`, on any of its nodes. Lost: a node cannot say it.
  Result<bool> was_cancelled() { return program::was_cancelled(members_, *following_); }

  // False: the job ended meanwhile.
  bool wait_before_restart(size_t i) {
    std::unique_lock lock(state_);
    const std::chrono::milliseconds wait = waits_[i];
    if (wait.count() > 0) {
      lock.unlock();
      tell(nodes_[i].address, fmt::format("is started again in {} s", wait.count() / 1000), "ok");
      lock.lock();
    }
    over_news_.wait_for(lock, wait, [this] { return over_ || cancelled(); });
    return !over_ && !cancelled();
  }

  Status start_again(size_t i) {
    if (!wait_before_restart(i)) return Status(Code::Cancelled, "the job has ended");
    const bool is_new = arrives(i);
    Status started = is_new ? arrive(i) : starting_.again(i);
    const std::string how = is_new ? "started" : "started again";
    tell(nodes_[i].address, started.ok() ? how : "could not be " + how + ": " + started.message(),
         started.ok() ? "ok" : "failed", true);
    return started;
  }

  bool arrives(size_t node) {
    std::lock_guard lock(state_);
    return absent_.arriving.contains(node);
  }

  // A member on a machine that replaced another, while the others run.
  Status arrive(size_t i) {
    Status ready = preparing_.bring(i, true);
    if (ready.ok()) ready = members_[i]->exec(":").status();  // what bring() has left to the next command
    if (ready.ok()) ready = members_[i]->write_run(run_id_);
    if (ready.ok()) ready = starting_.again(i);
    if (!ready.ok()) return ready;
    std::lock_guard lock(state_);
    absent_.arriving.erase(i);
    may_run_.at(i);
    return {};
  }

  std::optional<Status> verdict(const jobs::Ends& ends) {
    if (cancelled()) {
      again_ = false;
      return Status(Code::Cancelled, "cancelled; its members were asked to end");
    }
    if (short_.is_over(since(begun_)) &&
        judge(rules_, processes_, leaving_.as_missed(ends, processes_)) == Verdict::GoesOn) {
      short_.end(since(begun_));
      return Status();
    }
    const double timeout = program_.value("timeout_seconds", 0.0);
    if (timeout > 0 && since(begun_) > timeout)
      return Status(Code::Invalid, fmt::format("was not done within {:g} s", timeout));
    switch (judge(rules_, processes_, leaving_.as_missed(ends, processes_))) {
      case Verdict::GoesOn:
        return goes_on();
      case Verdict::Failed:
        return failed();
      case Verdict::Well:
        break;
    }
    auto asked = was_cancelled();
    if (asked && !*asked) return Status();
    again_ = false;
    return asked ? by_command() : asked.status();
  }

  static Status by_command() { return {Code::Invalid, "was cancelled by `radlc cancel`"}; }

  // The first that failed, and those that did within a moment.
  std::vector<FailedMember> failed_members() {
    const auto until = ProgramClock::now() + kOthersSay;
    jobs::Ends ends = following_->ends();
    for (; ends.size() < processes_.size() && ProgramClock::now() < until; ends = following_->ends())
      following_->wait(kOthersSay / 5);
    std::vector<size_t> bad;
    {
      std::lock_guard lock(state_);
      bad = bad_;
    }
    return program::failed_members(members_, processes_, ends, bad);
  }

  std::optional<Status> failed() {
    std::vector<FailedMember> failed = failed_members();
    const Status lost = following_->lost();
    auto on_lost = [&](const FailedMember& each) {
      return following_->is_lost(
          static_cast<size_t>(std::find_if(members_.begin(), members_.end(),
                                           [&](const auto& m) { return m.get() == each.member; }) -
                              members_.begin()));
    };
    if (!lost.ok() && (!rules_.alone || failed.empty() || on_lost(failed[0]))) {
      again_ = false;  // the executor tries again, on new connections
      return Status(Code::Lost, lost.message());
    }
    if (auto asked = was_cancelled(); asked && *asked) {
      again_ = false;
      return by_command();
    }
    std::erase_if(failed, on_lost);
    if (!failed.empty() && failed[0].exit >= 0)
      context_.emit({step_.id, "", "metric", {{"event", "exited"}, {"status", failed[0].exit}}});
    return failure_of(program_, failed,
                      [this](const std::string& text, int lines) { return log_.last_lines(text, lines); });
  }

  jobs::Ending ending(const Status& result) {
    set_over();
    if (result.ok() && !rules_.chief && !short_.was_ended()) return {};
    signal_ = stop_signal();
    return {signal_.c_str(), result.code() == Code::Cancelled || result.code() == kTakenBack
                                 ? grace()
                                 : std::min<std::chrono::milliseconds>(grace(), kAfterFailure)};
  }

  // What ends from now on was asked to.
  void set_over() {
    std::lock_guard lock(state_);
    over_ = true;
    over_news_.notify_all();
  }

  std::vector<bool> lost_nodes() const {
    std::vector<bool> lost;
    for (size_t i = 0; i < nodes_.size(); ++i) lost.push_back(following_ && following_->is_lost(i));
    return lost;
  }
  // For what goes to a bucket.
  std::string scratch() const { return context_.context->work_directory + "/programs/" + job_; }

  // A failure of the program itself names its full logs. A stopped or lost program may still continue.
  Status with_logs(Status failure) {
    if (short_ || !following_ || failure.code() != Code::Invalid) return failure;
    std::vector<std::string> notes;
    auto logs =
        collect_logs(program_, members_, lost_nodes(), running_, scratch(), step_.id, log_.redactor(), notes);
    for (const std::string& note : notes) tell("", note, "ok");
    if (!logs) {
      tell("", "its full logs could not be fetched: " + logs.status().message(), "failed");
      return failure;
    }
    return Status(failure.code(), fmt::format("{}\nThe whole logs are in {}", failure.message(), *logs))
        .with_hint(failure.hint());
  }

  // A short run is only timed: fetch nothing.
  StepOutcome probed() {
    StepOutcome outcome;
    outcome.output = short_.output(std::max(facts_.ends[0], 0), facts_.phases.at("program"), running_,
                                   members_, processes_, *following_);
    return outcome;
  }

  Result<StepOutcome> collect() {
    const auto begin = ProgramClock::now();
    const std::vector<bool> lost = lost_nodes();
    facts_.exit_status = std::max(facts_.ends[0], 0);
    auto collected = collect_results(program_, members_, lost, facts_, scratch(), step_.id, *context_.context,
                                     log_.redactor());
    if (!collected) return std::move(collected).status().at(where());
    for (const std::string& note : collected->notes) tell("", note, "ok");
    if (!collected->missing.empty())
      return Status(Code::Invalid, fmt::format("{}: ended well, but left no '{}'", nodes_[0].address,
                                               fmt::join(collected->missing, "', '")))
          .at(where());
    tell("", fmt::format("fetched the results in {:.1f} s", since(begin)), "ok");
    StepOutcome outcome;
    outcome.output = std::move(collected->output);
    outcome.changes.push_back({where(), "run", nullptr, outcome.output["exit_status"], ""});
    return outcome;
  }

 public:
  // From now on its results count as fetched: a later run starts over and does not join it.
  void mark_collected() {
    const std::vector<bool> lost = lost_nodes();
    (void)jobs::for_all(nodes_.size(), [&](size_t i) -> Status {
      Status written = lost[i] ? Status() : members_[i]->write_run("collected " + run_id_);
      if (!written.ok()) log_.line(fmt::format("{}: {}", nodes_[i].address, written.text()));
      return {};
    });
  }

 private:
  std::mutex emit_, state_;
  const StepContext context_;
  const ir::Step& step_;
  const Json& program_;
  const std::vector<NodeHandle>& nodes_;
  StepLog log_;
  const std::string job_;  // the folder on nodes
  const std::string run_id_ = context_.job_run.empty() ? step_.digest : context_.job_run;
  const EndRules rules_;
  const size_t running_;  // number of nodes with a member; its launcher reaches the others
  std::vector<std::unique_ptr<jobs::Member>> members_;
  std::vector<std::unique_ptr<StepLog>> logs_;  // of each node
  ShortRun short_{program_, nodes_.size()};
  Preparing preparing_;
  Starting starting_;
  PeerAccess peers_;
  std::vector<Process> processes_;
  std::vector<jobs::Member::Look> looks_;
  std::unique_ptr<jobs::Following> following_;
  jobs::MayRun may_run_{context_, nodes_};
  ProgramFacts facts_;
  ProgramClock::time_point begun_;
  jobs::Leaving leaving_;
  bool interrupted_ = false;            // part of an earlier run is gone
  std::chrono::seconds ran_before_{0};  // of a program that was joined: since it was started
  Absent absent_;                       // nodes that the program was joined without
  std::set<size_t> told_missed_;
  bool over_ = false;  // there is a verdict
  std::condition_variable over_news_;
  std::vector<RestartPolicy> restarts_;           // by member
  std::vector<std::chrono::milliseconds> waits_;  // by member: before it is started again
  bool again_ = true;                             // another attempt may help
  std::vector<size_t> bad_;                       // members that failed, the first one first
  std::set<size_t> stopped_;                      // members that a signal has stopped
  std::string signal_;
};

class ProgramRunner : public StepRunner {
 public:
  Result<std::vector<Change>> observe(const StepContext&, const ir::Step& step,
                                      const std::vector<NodeHandle>&) override {
    return Status(Code::Unsupported,
                  fmt::format("step {}: a program cannot be observed without running it", step.id));
  }
  Result<StepOutcome> run(const StepContext& context, const ir::Step& step,
                          const std::vector<NodeHandle>& nodes) override {
    if (step.program->contains("farm")) return farm::run_farm(context, step, nodes);
    auto run = std::make_shared<ProgramRun>(context, step, nodes);
    auto outcome = run->run();
    if (outcome.ok()) outcome->recorded = [run] { run->mark_collected(); };
    return outcome;
  }
};

}  // namespace

std::unique_ptr<StepRunner> make_program_runner() { return std::make_unique<ProgramRunner>(); }

}  // namespace radl
