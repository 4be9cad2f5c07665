#include "runtime/steps/training_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>

#include "common/json_values.h"
#include "runtime/base/job_members.h"
#include "runtime/steps/jobs/ending.h"
#include "runtime/steps/jobs/following.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/look_at_all.h"
#include "runtime/steps/jobs/may_run.h"
#include "runtime/steps/jobs/network.h"
#include "runtime/steps/jobs/notices.h"
#include "runtime/steps/jobs/process_script.h"
#include "runtime/steps/jobs/services.h"
#include "runtime/steps/jobs/silence.h"
#include "runtime/steps/step_log.h"
#include "runtime/steps/training/found.h"
#include "runtime/steps/training/heard.h"
#include "runtime/steps/training/keeping.h"
#include "runtime/steps/training/leader.h"
#include "runtime/steps/training/newest.h"
#include "runtime/steps/training/parting.h"
#include "runtime/steps/training/restarts.h"
#include "runtime/steps/training/result.h"
#include "runtime/steps/training/starting.h"

namespace radl {
namespace {

using namespace training;
using jobs::Ends;
using jobs::for_all;
using jobs::kTakenBack;
using jobs::Member;
using jobs::Process;
using jobs::ProcessState;
using SteadyClock = std::chrono::steady_clock;

// How long others may take to end: after the end of the chief, and after a cancellation (a checkpoint is
// written).
constexpr std::chrono::seconds kAfterChief{3}, kAfterCancel{20};
constexpr std::chrono::seconds kForTheLast{
    60};  // for the last checkpoint of a training that did not end well

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

class TrainingRun {
 public:
  TrainingRun(const StepContext& context, const ir::Step& step, const std::vector<NodeHandle>& nodes)
      : context_(context),
        step_(step),
        training_(step.training),
        nodes_(nodes),
        log_(context, step, step.id) {
    job_ = jobs::folder_of(step);
    for (const auto& node : nodes_)
      members_.push_back(std::make_unique<Member>(node, *context.context, job_));
  }

  Result<StepOutcome> run() {
    auto layout = make_layout(training_, nodes_);
    if (!layout) return std::move(layout).status().at(where());
    layout_ = *layout;
    auto keeping = Keeping::open(
        training_, [this]() -> Member& { return chief(); }, job_,
        context_.context->work_directory + "/trainings/" + job_, step_.id, context_.context->environment,
        [this](const std::string& line) { log_.line(line); });
    if (!keeping) return std::move(keeping).status().at(where());
    keeping_ = std::move(*keeping);
    Status found = look();
    if (context_.only_joins && !(found.ok() && joined_)) return leave_as_it_is(found);
    if (!found.ok()) return std::move(found).at(where());
    leader_ = std::make_unique<Leader>(layout_, layout_.chief);
    // A chief in a process of its own has nothing to do when it comes back: a server has taken over.
    restarts_ = std::make_unique<Restarts>(
        [this](const Task& task) { return layout_.may_lose(task) && task.type != "chief"; });
    for (const auto& task : layout_.tasks) processes_.push_back({task.file(), task.node});
    following_ = std::make_unique<jobs::Following>(members_, processes_, rules());
    Status begun = joined_ ? join() : prepare();
    if (begun.ok() && !joined_) begun = start();
    if (!begun.ok()) return std::move(begun).at(where());
    if (Status kept = keeping_->start(); !kept.ok()) return std::move(kept).at(where());
    context_.under_way();
    auto begin = SteadyClock::now();
    Status trained = following_->run();
    if (trained.code() == kLeftRunning) return trained;
    may_run_.take(*following_);
    heard_.took("training", seconds_since(begin));
    if (Status kept = keep_last(trained); !kept.ok() && trained.ok()) return std::move(kept).at(where());
    if (!trained.ok()) return std::move(trained).at(where());
    return collect();
  }

 private:
  std::string where() const { return fmt::format("training '{}'", training_.value("name", "")); }
  const Task& lead() const { return layout_.tasks[leader_ ? leader_->task() : layout_.chief]; }
  Member& chief() { return *members_[lead().node]; }
  bool cancelled() const { return context_.context->stop.asked(); }

  void tell(const std::string& node, const std::string& what, const char* state, double seconds = 0) {
    log_.line(fmt::format("{}: {} {}", node, what, state));
    std::lock_guard lock(emit_);
    const bool notice = std::string_view(state) == "failed" || what == jobs::silence_text(false);
    context_.emit({step_.id,
                   node,
                   "task",
                   {{"name", what}, {"state", state}, {"seconds", seconds}, {"notice", notice}}});
  }

  // Whether this very training runs already, or has ended well without having been brought back: then it is
  // joined.
  Status look() {
    Status looked = jobs::look_at_all(
        members_, "", [this](size_t i) { return has_workers_only(training_, nodes_[i].address); }, looks_,
        unreachable_);
    if (!looked.ok()) return looked;
    may_run_.take(looks_);
    const Layout unnumbered = layout_;
    found_ = find_training(training_, nodes_, looks_, run_id_, layout_);
    joined_ = found_.joinable();
    if (joined_) return {};
    layout_ = unnumbered;
    interrupted_ = found_.same;  // part of it is gone: resume from the last checkpoint
    for (const Status& why : unreachable_)
      if (!why.ok()) return why;
    // The last chief may have been another one than the first.
    if (layout_.succession && (context_.resume || interrupted_))
      if (const std::optional<size_t> node = newest_checkpoint(members_)) lead_from(layout_, *node);
    return {};
  }

  // It may not run: the next start is on all of its nodes.
  Status leave_as_it_is(const Status& found) {
    tell("",
         found.ok() ? "the training does not run; `radlc apply` resumes it with its new nodes"
                    : "the training cannot be joined now: " + found.message(),
         "failed");
    return {kLeftRunning, "left as it is"};
  }

  // Processes of nodes that the training runs without are followed as if they had ended, and arrive() starts
  // them.
  Status join() {
    std::set<size_t> arriving;
    for (size_t node : found_.without) {
      if (found_.running && unreachable_[node].ok())
        arriving.insert(node);
      else
        following_->give_up(node, unreachable_[node].ok()
                                      ? Status(Code::Lost, nodes_[node].address + " has no member")
                                      : unreachable_[node]);
    }
    if (!arriving.empty()) {
      if (Status ready = starting_.join(chief(), arriving); !ready.ok()) return ready;
    }
    tell("", found_.running ? "joining the training that is under way" : "the training has ended meanwhile",
         "ok");
    return {};
  }

  Status prepare() {
    auto begin = SteadyClock::now();
    bool resume = context_.resume || interrupted_;
    const jobs::Manner manner{"TERM", kAfterCancel};
    if (Status ended = jobs::end_earlier(members_, looks_, manner, context_.context->stop); !ended.ok())
      return ended;
    may_run_.nowhere();
    Status done = for_all(nodes_.size(), [&](size_t i) { return starting_.prepare(i, !resume); });
    if (done.ok()) done = keeping_->prepare(resume, context_.context->stop);
    heard_.took("preparation", seconds_since(begin));
    return done;
  }

  Status start() {
    auto begin = SteadyClock::now();
    starting_.begin();
    bool resume = context_.resume || interrupted_;
    may_run_.everywhere();
    Status started = for_all(nodes_.size(), [&](size_t i) { return starting_.start(i, resume); });
    heard_.took("start", seconds_since(begin));
    if (!started.ok()) following_->signal_all("KILL");
    return started;
  }

  // The workers of a new node join the running training.
  Status arrive(size_t i) {
    {
      std::lock_guard lock(state_);
      may_run_.at(i);
    }
    Status started = starting_.arrive(i);
    for (const auto& task : layout_.on(i)) {
      if (started.ok()) restarts_->joined(task.name());
      tell(nodes_[i].address,
           task.name() + (started.ok() ? " joins the training" : " cannot join: " + started.message()),
           started.ok() ? "ok" : "failed");
    }
    return started;
  }

  void on_line(size_t node, const std::string& line) {
    Json news = Json::parse(line, nullptr, false);
    // A joined training reports its steps again, which says nothing about this apply.
    if (leader_->take(news)) {
      log_.line(fmt::format("{}: {} leads the training", nodes_[node].address, lead().name()));
      keeping_->news();
    }
    heard_.take(news, lead().name(),
                joined_ ? std::nullopt : std::optional(seconds_since(context_.run_begun)));
    const std::string event = json::text_of(news, "event");
    if (event == "checkpoint" || event == "evaluated") keeping_->news();
    // Whoever runs this replaces the node (the event names it) and joins or resumes the training.
    if (event == "interruption" && parting_.preempted(node, news)) following_->wake();
    if (event == "peer_lost") restarts_->lost(json::text_of(news, "peer"));
    if (event == "peer_joined") restarts_->joined(json::text_of(news, "peer"));
    // Only radlc itself emits these: they cause nodes to be replaced, or added to farms.
    if (event != "member_lost" && event != "faulty" && event != "resize") emit_metric(node, news);
  }

  void emit_metric(size_t node, const Json& news) {
    std::lock_guard lock(emit_);
    context_.emit({step_.id, nodes_[node].address, "metric", news});
  }

  void tell_missed(size_t node) {
    tell(nodes_[node].address, "is missing; the other members continue", "failed");
    emit_metric(node, {{"event", "member_lost"}});
  }

  // True: the process is to be started again.
  bool on_end(const Process& process, int exit) {
    if (starting_.arrives(process.node)) return true;
    if (exit != 0) {
      log_.line(fmt::format("{}: {} ended with {}", nodes_[process.node].address, process.name,
                            exit < 0 ? "a signal" : std::to_string(exit)));
    }
    if (parting_.leaves(process.node)) return false;
    // By `radlc scale`, which removes its node, or by `radlc cancel`.
    if (auto asked = members_[process.node]->was_cancelled(); asked && *asked) return false;
    for (const auto& task : layout_.on(process.node)) {
      if (task.file() == process.name && !cancelled() && restarts_->again(task, exit)) return true;
    }
    return false;
  }

  Status start_again(size_t node, const std::vector<std::string>& files) {
    if (starting_.arrives(node)) return arrive(node);
    std::vector<Task> again;
    for (const auto& task : layout_.on(node)) {
      if (std::find(files.begin(), files.end(), task.file()) != files.end()) again.push_back(task);
    }
    Status started = starting_.restart(node, again);
    for (const auto& task : again) {
      tell(nodes_[node].address,
           task.name() + (started.ok() ? " started again" : " could not be started again"),
           started.ok() ? "ok" : "failed");
    }
    return started;
  }

  // Processes that do not answer the chief any more (stopped, or hanging) make room for new ones.
  void end_hung() {
    for (const std::string& name : restarts_->hung()) {
      for (const auto& task : layout_.tasks) {
        if (task.name() != name || following_->ends().contains(task.file())) continue;
        log_.line(fmt::format("{}: {} does not answer; killing it", nodes_[task.node].address, name));
        (void)members_[task.node]->signal({task.file()}, "KILL");
      }
    }
  }

  jobs::Following::Rules rules() {
    jobs::Following::Rules rules;
    rules.before = "progress-";
    rules.behind = ".jsonl";
    rules.whose = [](const std::string& line) -> std::optional<std::string> {
      const Json news = Json::parse(line, nullptr, false);
      if (!news.is_object()) return std::nullopt;
      return json::text_of(news, "task");
    };
    rules.on_line = [this](size_t node, const std::string& line) { on_line(node, line); };
    rules.again = [this](const Process& process, int exit) { return on_end(process, exit); };
    rules.start_again = [this](size_t node, const auto& files) { return start_again(node, files); };
    rules.services = [this](size_t node) {
      return context_.program ? jobs::services_on(*context_.program, nodes_[node].address)
                              : std::vector<std::string>();
    };
    rules.on_service = [this](size_t node, const std::string& what) {
      tell(nodes_[node].address, what, "failed");
    };
    rules.on_silence = [this](size_t node, bool silent) {
      tell(nodes_[node].address, jobs::silence_text(silent), silent ? "failed" : "ok");
    };
    rules.unreachable = [this](size_t node, const Status& why) {
      tell(nodes_[node].address, "does not answer: " + why.message(), "failed");
    };
    rules.verdict = [this](const Ends& ends) { return verdict(ends); };
    rules.ending = [this](const Status& result) { return ending(result); };
    return rules;
  }

  jobs::Ending ending(const Status& result) {
    restarts_->end();
    // When the chief has ended well the others do so by themselves.
    if (result.ok()) return {nullptr, kAfterChief};
    if (result.code() == Code::Cancelled || result.code() == kTakenBack) return {"TERM", kAfterCancel};
    return {"KILL", std::chrono::seconds(0)};
  }

  // When the chief has ended, or the training cannot continue.
  std::optional<Status> verdict(const Ends& ends) {
    const Standing now = standing(layout_, leader_->task(), leader_->finished(), ends);
    if (now.failed) return failure(ends, *now.failed);
    if (now.done) return Status();
    if (std::optional<Status> ended = parting_.check(ends, *following_)) return ended;
    if (cancelled()) return Status(Code::Cancelled, "cancelled; a checkpoint was requested");
    context_.under_way();
    if (!starting_.any_arrives() && context_.lets_go()) {
      restarts_->end();
      return Status(kLeftRunning, "left running on its nodes");
    }
    end_hung();
    return std::nullopt;
  }

  Status failure(const Ends& ends, const Task& task) {
    following_->wait(std::chrono::milliseconds(500));  // the others have time to say why
    const int exit = ends.at(task.file());
    const std::string said = heard_.failure_of(task.name());
    const Status lost = following_->lost();
    std::string message = fmt::format("{}: task {}: {}", nodes_[task.node].address, task.name(),
                                      !said.empty() ? said : jobs::end_text(exit));
    if (!lost.ok()) {
      message += "; " + lost.message();
    } else if (auto tail = members_[task.node]->log_tail(task.file(), 20); tail && !tail->empty()) {
      message += "\n" + log_.last_lines(*tail, 20);
    }
    return {exit == 1 ? Code::Invalid : exit == 130 ? Code::Cancelled : Code::Retry, message};
  }

  // What the chief has written at last: of a training that was cancelled or has failed it is worth some time.
  Status keep_last(const Status& trained) {
    const Stop stop = trained.ok() ? context_.context->stop : Stop().within(kForTheLast);
    Status kept = keeping_->finish(stop);
    if (!kept.ok() && !trained.ok()) log_.line("the last checkpoint could not be sent: " + kept.message());
    return kept;
  }

  Result<StepOutcome> collect() {
    auto output = keeping_->result(heard_.facts(), context_.context->stop);
    if (!output) return std::move(output).status().at(where());
    StepOutcome outcome;
    outcome.output = std::move(*output);
    outcome.changes.push_back({where(), "model", nullptr, outcome.output["model_sha256"], ""});
    return outcome;
  }

 public:
  // From now on it counts as brought back: a later run starts anew and does not join it. A node that was lost
  // has nothing to be joined.
  void mark_collected() {
    (void)for_all(nodes_.size(), [&](size_t i) -> Status {
      Status written = members_[i]->write_run("collected " + run_id_);
      if (!written.ok()) log_.line(fmt::format("{}: {}", nodes_[i].address, written.text()));
      return {};
    });
  }

 private:
  const StepContext& context_;
  const ir::Step& step_;
  const Json& training_;
  const std::vector<NodeHandle>& nodes_;
  StepLog log_;
  std::string job_;  // the folder of the training, on nodes and in buckets
  const std::string run_id_ = context_.job_run.empty() ? step_.digest : context_.job_run;
  std::vector<std::unique_ptr<Member>> members_;
  std::unique_ptr<Keeping> keeping_;
  std::vector<Member::Look> looks_;
  std::vector<Status> unreachable_;  // by node
  Layout layout_;
  Found found_;
  bool interrupted_ = false, joined_ = false;
  std::unique_ptr<Leader> leader_;
  std::unique_ptr<Restarts> restarts_;
  Heard heard_;
  std::vector<Process> processes_;
  std::unique_ptr<jobs::Following> following_;
  jobs::MayRun may_run_{context_, nodes_};

  std::mutex emit_, state_;
  Parting parting_{training_, nodes_, processes_, [this](const std::string& line) { log_.line(line); },
                   [this](size_t node) { tell_missed(node); }};
  Starting starting_{{*context_.context, training_, nodes_, members_, looks_, layout_, run_id_},
                     [this](const std::string& node, const std::string& what, const char* state,
                            double seconds) { tell(node, what, state, seconds); },
                     [this](const std::string& line) {
                       log_.line(line);
                       context_.context->log(line);
                     }};
};

class TrainingRunner : public StepRunner {
 public:
  // Whether the output is what is wanted shows in the state and on this computer; the nodes have no part in
  // it.
  Result<std::vector<Change>> observe(const StepContext&, const ir::Step& step,
                                      const std::vector<NodeHandle>&) override {
    return Status(Code::Unsupported,
                  fmt::format("step {}: a training cannot be observed without running it", step.id));
  }
  Result<StepOutcome> run(const StepContext& context, const ir::Step& step,
                          const std::vector<NodeHandle>& nodes) override {
    auto run = std::make_shared<TrainingRun>(context, step, nodes);
    auto outcome = run->run();
    if (outcome.ok()) outcome->recorded = [run] { run->mark_collected(); };
    return outcome;
  }
};

}  // namespace

std::unique_ptr<StepRunner> make_training_runner() { return std::make_unique<TrainingRunner>(); }

}  // namespace radl
