#include "runtime/steps/program_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "runtime/net/node_path.h"
#include "runtime/steps/jobs/following.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/network.h"
#include "runtime/steps/program/launch.h"
#include "runtime/steps/program/preparing.h"
#include "runtime/steps/program/results.h"
#include "runtime/steps/step_log.h"

namespace radl {
namespace {

using namespace program;
using jobs::Process;
using jobs::ProcessState;
using ProgramClock = std::chrono::steady_clock;

constexpr int kMostRestarts = 5;                      // of one member by itself
constexpr std::chrono::seconds kAfterFailure{5};      // the others may end by themselves
constexpr std::chrono::milliseconds kOthersSay{500};  // a member that failed may be a consequence of another

double since(ProgramClock::time_point begin) {
  return std::chrono::duration<double>(ProgramClock::now() - begin).count();
}

// The emit of a context, one call at a time: members speak in threads of their own.
StepContext one_at_a_time(const StepContext& context, std::mutex& mutex) {
  StepContext made = context;
  made.emit = [&context, &mutex](const StepEvent& event) {
    std::lock_guard lock(mutex);
    context.emit(event);
  };
  return made;
}

class ProgramRun {
 public:
  ProgramRun(const StepContext& context, const ir::Step& step, const std::vector<NodeHandle>& nodes)
      : context_(one_at_a_time(context, emit_)),
        step_(step),
        program_(step.program),
        nodes_(nodes),
        log_(context_, step, step.id),
        job_(jobs::folder_name(program_.value("name", ""), program_.value("identity", step.digest))),
        alone_(program_.value("lost", "all") == "alone"),
        preparing_(program_, nodes_, members_, *context.context,
                   [this](const std::string& node, const std::string& what) { tell(node, what, "ok"); }) {
    const size_t running = program_.value("runs_on", "each") == "first" ? 1 : nodes_.size();
    for (size_t i = 0; i < nodes_.size(); ++i) {
      members_.push_back(std::make_unique<jobs::Member>(nodes_[i], *context.context, job_));
      logs_.push_back(std::make_unique<StepLog>(context_, step_, nodes_[i].address));
      if (i < running) processes_.push_back({process_name(i), i});
    }
    facts_.restarts.resize(processes_.size());
    facts_.ends.resize(processes_.size(), -1);
  }

  Result<StepOutcome> run() {
    auto joined = look();
    if (!joined) return std::move(joined).status().at(where());
    Status done = *joined ? Status() : prepare();
    const auto begin = ProgramClock::now();
    const int retries = program_.value("retries", 0);
    bool started = *joined;
    for (facts_.attempts = 1; done.ok(); ++facts_.attempts) {
      if (!started) done = start();
      started = false;
      if (done.ok()) done = follow();
      if (done.ok() || !again_ || facts_.attempts > retries) break;
      log_.line("FAILED: " + done.message());
      tell("", fmt::format("attempt {} of {} failed, all members start again", facts_.attempts, retries + 1),
           "ok");
      done = jobs::for_all(nodes_.size(), [&](size_t i) { return members_[i]->clear("run-*"); });
    }
    facts_.phases["program"] = since(begin);
    if (!done.ok()) return std::move(done).at(where());
    return collect();
  }

 private:
  std::string where() const { return fmt::format("program '{}'", program_.value("name", "")); }
  bool cancelled() const { return context_.context->stop.asked(); }

  void tell(const std::string& node, const std::string& what, const char* state) {
    log_.line(fmt::format("{}: {} {}", node, what, state));
    context_.emit({step_.id, node, "task", {{"name", what}, {"state", state}, {"seconds", 0}}});
  }

  // True when this very program runs already, or has ended without having been brought back: then it is
  // joined.
  Result<bool> look() {
    looks_.resize(nodes_.size());
    Status looked = jobs::for_all(nodes_.size(), [&](size_t i) -> Status {
      auto look = members_[i]->look();
      if (!look) return look.status();
      looks_[i] = std::move(*look);
      return {};
    });
    if (looked.ok()) looked = preparing_.look();
    if (!looked.ok()) return looked;
    bool same = true, running = false, whole = true;
    for (const auto& look : looks_) same &= look.run == step_.digest;
    for (const Process& process : processes_) {
      const ProcessState state = looks_[process.node].of(process.name);
      running |= state.phase == ProcessState::Phase::Running;
      const bool good = state.phase == ProcessState::Phase::Running ||
                        (state.phase == ProcessState::Phase::Ended && state.exit >= 0 &&
                         (state.exit == 0 || program_.value("may_fail", false)));
      whole &= good || (alone_ && process.node > 0 && state.phase == ProcessState::Phase::Ended);
    }
    interrupted_ = same && !(whole && same);
    if (!same || !whole) return false;
    if (Status known = read_places(); !known.ok()) return known;
    tell("", running ? "joining the program that is under way" : "the program has ended meanwhile", "ok");
    return true;
  }

  Status prepare() {
    const auto begin = ProgramClock::now();
    Status ready = preparing_.bring(!context_.resume && !interrupted_);
    facts_.phases["preparation"] = since(begin);
    return ready;
  }

  Status start() {
    places_.clear();
    std::vector<int> given;  // local nodes share one network
    for (size_t i = 0; i < nodes_.size(); ++i) {
      std::vector<int> used = looks_[i].ports;
      used.insert(used.end(), given.begin(), given.end());
      places_.push_back({jobs::address_of(nodes_[i]), jobs::choose_port(used)});
      given.push_back(places_.back().port);
    }
    if (Status s = write_places(); !s.ok()) return s;
    return jobs::for_all(nodes_.size(), [&](size_t i) -> Status {
      // Before the start: a run that is killed here finds a program whose members are gone, and starts it
      // again with its checkpoints.
      if (Status s = members_[i]->write_run(step_.digest); !s.ok()) return std::move(s).at(nodes_[i].address);
      return i < processes_.size() ? start_member(i) : Status();
    });
  }

  // For a run that joins: a member that it starts again must find the others.
  Status write_places() {
    Json all = Json::array();
    for (const Place& place : places_) all.push_back({{"host", place.host}, {"port", place.port}});
    Status put = members_[0]->put_bytes(all.dump(), "run-places.json", context_.context->stop, 0600);
    return put.ok() ? put : std::move(put).at(nodes_[0].address);
  }

  Status read_places() {
    auto text = members_[0]->read("run-places.json", size_t{1} << 20);
    if (!text) return text.status();
    const Json all = Json::parse(*text, nullptr, false);
    if (!all.is_array() || all.size() != nodes_.size())
      return {Code::Corrupt, nodes_[0].address + ": does not say where its members listen"};
    for (const Json& place : all) places_.push_back({place.value("host", ""), place.value("port", 0)});
    return {};
  }

  Status start_member(size_t i) {
    MemberSetting setting;
    setting.index = i;
    setting.home = looks_[i].home;
    setting.folder = setting.home + "/" + sftp_path(members_[i]->folder());
    setting.facts = preparing_.facts(i);
    const std::string environment = preparing_.environment(i);
    if (!environment.empty()) setting.environment = setting.home + "/" + sftp_path(environment);
    setting.on_this_computer =
        jobs::is_local(nodes_[i])
            ? static_cast<int>(std::count_if(nodes_.begin(), nodes_.end(), jobs::is_local))
            : 1;
    const auto variables = member_variables(program_, places_, setting, facts_.attempts);
    const std::string file = "run-" + process_name(i);
    Status put = members_[i]->put_bytes(member_script(program_, variables, setting), file,
                                        context_.context->stop, 0600);
    if (!put.ok()) return std::move(put).at(nodes_[i].address);
    return members_[i]->start({{process_name(i), "/bin/sh ./" + file}});
  }

  Status follow() {
    first_bad_.reset();
    again_ = true;
    begun_ = ProgramClock::now();
    jobs::Following::Rules rules;
    rules.behind = ".log";
    rules.whose = [](const std::string&) { return std::optional<std::string>(""); };
    rules.on_line = [this](size_t node, const std::string& line) { logs_[node]->output(line + "\n"); };
    rules.again = [this](const Process& process, int exit) { return ended(process, exit); };
    rules.start_again = [this](size_t node, const auto&) { return start_again(node); };
    rules.unreachable = [this](size_t node, const Status& why) {
      tell(nodes_[node].address, "does not answer: " + why.message(), "failed");
    };
    rules.verdict = [this](const jobs::Ends& ends) { return verdict(ends); };
    rules.ending = [this](const Status& result) { return ending(result); };
    following_ = std::make_unique<jobs::Following>(members_, processes_, std::move(rules));
    return following_->run();
  }

  // True: this member alone is started again.
  bool ended(const Process& process, int exit) {
    const size_t i = process.node;
    const bool killed = exit < 0 || exit >= 128;
    {
      std::lock_guard lock(state_);
      facts_.ends[i] = exit;
      if (exit != 0 && !first_bad_) first_bad_ = i;
    }
    if (exit != 0)
      tell(nodes_[i].address, killed ? "was killed" : fmt::format("ended with exit status {}", exit),
           "failed");
    if (!alone_ || i == 0 || !killed || cancelled() || was_cancelled(i)) return false;
    std::lock_guard lock(state_);
    if (++facts_.restarts[i] > kMostRestarts) return false;
    if (first_bad_ == i) first_bad_.reset();
    return true;
  }

  // By `radlc cancel`.
  bool was_cancelled(size_t i) { return members_[i]->read("cancelled", 1).ok(); }

  Status start_again(size_t i) {
    Status started = start_member(i);
    tell(nodes_[i].address,
         started.ok() ? "started again" : "could not be started again: " + started.message(),
         started.ok() ? "ok" : "failed");
    return started;
  }

  std::optional<Status> verdict(const jobs::Ends& ends) {
    if (cancelled()) {
      again_ = false;
      return Status(Code::Cancelled, "cancelled; its members were asked to end");
    }
    const double timeout = program_.value("timeout_seconds", 0.0);
    if (timeout > 0 && since(begun_) > timeout)
      return Status(Code::Invalid, fmt::format("was not done within {:g} s", timeout));
    size_t well = 0, working = 0;
    for (const Process& process : processes_) {
      auto end = ends.find(process.name);
      working += end == ends.end();
      well += end != ends.end() && end->second == 0;
    }
    const bool chief_ended = ends.contains(process_name(0));
    if (working == 0 && well == processes_.size()) return Status();
    if (program_.value("may_fail", false) && chief_ended && ends.at(process_name(0)) >= 0 && working == 0)
      return Status();
    if (!alone_)
      return well + working == processes_.size() || may_still_fail(ends) ? std::nullopt : failed(ends);
    // A member that was given up is missed as long as there are enough others.
    for (const auto& [name, exit] : ends) {
      if (exit > 0 && exit < 128) return failed(ends);
    }
    if (chief_ended && ends.at(process_name(0)) != 0) return failed(ends);
    if (working == 0) return Status();
    if (working + well < program_.value("least", size_t{1})) return failed(ends);
    return std::nullopt;
  }

  // Exit statuses of its own are no failure, and the others may still be at work.
  bool may_still_fail(const jobs::Ends& ends) const {
    return program_.value("may_fail", false) &&
           std::all_of(ends.begin(), ends.end(), [](const auto& end) { return end.second >= 0; });
  }

  std::optional<Status> failed(const jobs::Ends& ends) {
    following_->wait(kOthersSay);
    size_t bad = 0;
    {
      std::lock_guard lock(state_);
      if (first_bad_) bad = *first_bad_;
    }
    for (size_t i = 0; i < processes_.size(); ++i) {
      auto end = ends.find(processes_[i].name);
      if (!first_bad_ && end != ends.end() && end->second != 0) bad = i;
    }
    const Status lost = following_->lost();
    if (!lost.ok() && (!alone_ || following_->is_lost(bad))) {
      again_ = false;  // the executor tries again, on new connections
      return Status(Code::Lost, lost.message());
    }
    if (was_cancelled(bad)) {
      again_ = false;
      return Status(Code::Invalid, "was cancelled by `radlc cancel`");
    }
    auto end = ends.find(processes_[bad].name);
    const int exit = end == ends.end() ? -1 : end->second;
    std::string message = fmt::format(
        "{}: {}", nodes_[bad].address,
        exit < 0 || exit >= 128 ? std::string("was killed") : fmt::format("ended with exit status {}", exit));
    if (auto tail = members_[bad]->log_tail(process_name(bad), 20); tail && !tail->empty())
      message += "\n" + log_.last_lines(*tail, 20);
    return Status(Code::Invalid, message);
  }

  jobs::Ending ending(const Status& result) {
    if (result.ok()) return {};
    signal_ = program_.value("stop_signal", "TERM");
    const std::chrono::milliseconds grace(
        static_cast<long long>(program_.value("grace_seconds", 20.0) * 1000));
    return {signal_.c_str(), result.code() == Code::Cancelled
                                 ? grace
                                 : std::min<std::chrono::milliseconds>(grace, kAfterFailure)};
  }

  Result<StepOutcome> collect() {
    const auto begin = ProgramClock::now();
    std::vector<bool> lost;
    for (size_t i = 0; i < nodes_.size(); ++i) lost.push_back(following_->is_lost(i));
    facts_.exit_status = std::max(facts_.ends[0], 0);
    auto collected = collect_results(program_, members_, lost, facts_,
                                     context_.context->work_directory + "/programs/" + job_,
                                     *context_.context, log_.redactor());
    if (!collected) return std::move(collected).status().at(where());
    if (!collected->missing.empty())
      return Status(Code::Invalid, fmt::format("{}: ended well, but left no '{}'", nodes_[0].address,
                                               fmt::join(collected->missing, "', '")))
          .at(where());
    // From now on it counts as brought back: a later run starts anew and does not join it.
    Status marked = jobs::for_all(nodes_.size(), [&](size_t i) -> Status {
      Status written = lost[i] ? Status() : members_[i]->write_run("collected " + step_.digest);
      return i == 0 ? written : Status();
    });
    if (!marked.ok()) return std::move(marked).at(where());
    tell("", fmt::format("results brought back in {:.1f} s", since(begin)), "ok");
    StepOutcome outcome;
    outcome.output = std::move(collected->output);
    outcome.changes.push_back({where(), "run", nullptr, outcome.output["exit_status"], ""});
    return outcome;
  }

  std::mutex emit_, state_;
  const StepContext context_;
  const ir::Step& step_;
  const Json& program_;
  const std::vector<NodeHandle>& nodes_;
  StepLog log_;
  const std::string job_;  // the folder on nodes
  const bool alone_;       // a lost member is started again by itself
  std::vector<std::unique_ptr<jobs::Member>> members_;
  std::vector<std::unique_ptr<StepLog>> logs_;  // of each node
  Preparing preparing_;
  std::vector<Process> processes_;
  std::vector<jobs::Member::Look> looks_;
  std::vector<Place> places_;
  std::unique_ptr<jobs::Following> following_;
  ProgramFacts facts_;
  ProgramClock::time_point begun_;
  bool interrupted_ = false;         // part of an earlier run is gone
  bool again_ = true;                // another attempt may help
  std::optional<size_t> first_bad_;  // the member that failed first
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
    return ProgramRun(context, step, nodes).run();
  }
};

}  // namespace

std::unique_ptr<StepRunner> make_program_runner() { return std::make_unique<ProgramRunner>(); }

}  // namespace radl
