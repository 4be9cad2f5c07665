#include "runtime/steps/training_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <set>

#include "common/digest.h"
#include "common/json_values.h"
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
#include "runtime/steps/training/data.h"
#include "runtime/steps/training/engine_bundle.h"
#include "runtime/steps/training/keeping.h"
#include "runtime/steps/training/restarts.h"
#include "runtime/steps/training/result.h"

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

constexpr size_t kLargestJob = 1 << 20, kLargestKey = 1 << 12;  // bytes
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
        log_(context, step, step.id),
        data_(training_, *context.context, [this](const std::string& line) {
          log_.line(line);
          context_.context->log(line);
        }) {
    job_ = jobs::folder_of(step);
    for (const auto& node : nodes_)
      members_.push_back(std::make_unique<Member>(node, *context.context, job_));
  }

  Result<StepOutcome> run() {
    auto layout = make_layout(training_, nodes_);
    if (!layout) return std::move(layout).status().at(where());
    layout_ = *layout;
    auto keeping = Keeping::open(
        training_, chief(), job_, context_.context->work_directory + "/trainings/" + job_, step_.id,
        context_.context->environment, [this](const std::string& line) { log_.line(line); });
    if (!keeping) return std::move(keeping).status().at(where());
    keeping_ = std::move(*keeping);
    restarts_ = std::make_unique<Restarts>(layout_.tasks[layout_.chief].name());
    for (const auto& task : layout_.tasks) processes_.push_back({task.file(), task.node});
    following_ = std::make_unique<jobs::Following>(members_, processes_, rules());
    auto joined = look();
    if (!joined) return std::move(joined).status().at(where());
    joined_ = *joined;
    if (!joined_) {
      Status started = prepare();
      if (started.ok()) started = start();
      if (!started.ok()) return std::move(started).at(where());
    }
    if (Status kept = keeping_->start(); !kept.ok()) return std::move(kept).at(where());
    context_.under_way();
    auto begin = SteadyClock::now();
    Status trained = following_->run();
    if (trained.code() == kLeftRunning) return trained;
    may_run_.take(*following_);
    facts_.phases["training"] = seconds_since(begin);
    if (Status kept = keep_last(trained); !kept.ok() && trained.ok()) return std::move(kept).at(where());
    if (!trained.ok()) return std::move(trained).at(where());
    return collect();
  }

 private:
  std::string where() const { return fmt::format("training '{}'", training_.value("name", "")); }
  Member& chief() { return *members_[layout_.tasks[layout_.chief].node]; }
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

  // True when this very training runs already, or has ended well without having been brought back: then it is
  // joined. It may run without nodes of workers: a new node's workers join it, and a node that cannot be
  // reached is missed.
  Result<bool> look() {
    std::vector<Status> unreachable;
    Status looked = jobs::look_at_all(
        members_, "", [this](size_t i) { return layout_.can_miss({i}); }, looks_, unreachable);
    if (!looked.ok()) return looked;
    may_run_.take(looks_);
    std::set<size_t> absent;
    bool same = true, running = false, whole = true;
    for (size_t i = 0; i < looks_.size(); ++i) {
      if (looks_[i].run.empty()) absent.insert(i);
      same &= looks_[i].run.empty() || looks_[i].run == run_id_;
    }
    same &= absent.empty() || layout_.can_miss(absent);
    for (const Task& task : layout_.tasks) {
      if (absent.contains(task.node)) continue;
      ProcessState state = looks_[task.node].of(task.file());
      running |= state.phase == ProcessState::Phase::Running;
      bool good = state.phase == ProcessState::Phase::Running ||
                  (state.phase == ProcessState::Phase::Ended && state.exit == 0);
      // A lost worker does not end a training; the chief and the servers do.
      const bool may_be_lost = task.type == "worker" && &task != &layout_.tasks[layout_.chief];
      whole &= good || (may_be_lost && state.phase == ProcessState::Phase::Ended);
    }
    if (same && whole) {
      if (Status ready = join(absent, unreachable, running); !ready.ok()) return ready;
      tell("", running ? "joining the training that is under way" : "the training has ended meanwhile", "ok");
      return true;
    }
    for (const Status& why : unreachable)
      if (!why.ok()) return why;
    interrupted_ = same;  // part of it is gone: go on from the last checkpoint
    return false;
  }

  // `absent`: nodes that the training runs without. Processes of new ones are followed as if they had ended,
  // and arrive() starts them.
  Status join(const std::set<size_t>& absent, const std::vector<Status>& unreachable, bool running) {
    for (size_t node : absent) {
      if (running && unreachable[node].ok())
        arriving_.insert(node);
      else
        following_->give_up(node, unreachable[node].ok()
                                      ? Status(Code::Lost, nodes_[node].address + " has no member")
                                      : unreachable[node]);
    }
    if (arriving_.empty()) return {};
    const std::string lead = "job-" + layout_.tasks[layout_.chief].file() + ".json";
    auto job = chief().read(lead, kLargestJob), key = chief().read("job.key", kLargestKey);
    if (!job || !key) return (job ? key : job).status();
    auto cluster = cluster_of(*job, layout_);
    if (!cluster) return std::move(cluster).status().at(chief().address());
    cluster_ = std::move(*cluster);
    key_ = std::move(*key);
    for (auto& task : layout_.tasks)
      if (arriving_.contains(task.node)) choose_port(task);
    return for_all(nodes_.size(),
                   [&](size_t i) { return arriving_.contains(i) ? members_[i]->clear("") : Status(); });
  }

  Status prepare() {
    auto begin = SteadyClock::now();
    bool resume = context_.resume || interrupted_;
    const jobs::Manner manner{"TERM", kAfterCancel};
    if (Status ended = jobs::end_earlier(members_, looks_, manner, context_.context->stop); !ended.ok())
      return ended;
    may_run_.nowhere();
    Status done = for_all(nodes_.size(), [&](size_t i) { return prepare_node(i, !resume); });
    if (done.ok()) done = keeping_->prepare(resume, context_.context->stop);
    facts_.phases["preparation"] = seconds_since(begin);
    return done;
  }

  // `fresh`: without what an earlier attempt has left.
  Status prepare_node(size_t i, bool fresh) {
    if (Status s = members_[i]->clear(files_of_a_run(fresh)); !s.ok()) return s;
    auto engine = place_engine(nodes_[i], *context_.context);
    if (!engine) return std::move(engine).status().at(nodes_[i].address);
    engines_[i] = *engine;
    const std::string directory = training_.at("job").at("dataset").value("directory", "");
    if (!layout_.needs_data(i) || directory.empty()) return {};
    auto begun = SteadyClock::now();
    auto brought = data_.bring(nodes_[i], *members_[i], directory);
    if (!brought) return std::move(brought).status();
    if (*brought) tell(nodes_[i].address, "dataset " + data_.name(), "ok", seconds_since(begun));
    return {};
  }

  // Local nodes share one network; a port that one has been given is not free for the next.
  void choose_port(Task& task) {
    auto used = looks_[task.node].ports;
    for (const auto& other : layout_.tasks) used.push_back(other.port);
    task.port = jobs::choose_port(used);
  }

  Status start() {
    auto begin = SteadyClock::now();
    for (auto& task : layout_.tasks) choose_port(task);
    key_ = to_hex(random_bytes(32)) + "\n";
    bool resume = context_.resume || interrupted_;
    may_run_.everywhere();
    Status started = for_all(nodes_.size(), [&](size_t i) { return start_node(i, resume); });
    facts_.phases["start"] = seconds_since(begin);
    if (!started.ok()) following_->signal_all("KILL");
    return started;
  }

  Status start_node(size_t i, bool resume) {
    const std::vector<Task> here = tasks_of(i);
    const int threads = threads_of(training_, layout_, nodes_);
    for (const auto& task : here) {
      Json job = job_of(training_, layout_, task, nodes_, looks_[i].home, threads, resume);
      if (!cluster_.is_null()) {
        std::lock_guard lock(state_);
        cluster_[task.type][task.index] = job["cluster"][task.type][task.index];
        job["cluster"] = cluster_;
      }
      if (Status s = write_job(*members_[i], task, job, key_, context_.context->stop); !s.ok())
        return std::move(s).at(nodes_[i].address);
    }
    // Written before the start: a run that is killed here finds a training whose processes are gone, and
    // resumes.
    if (Status s = members_[i]->write_run(run_id_); !s.ok()) return std::move(s).at(nodes_[i].address);
    return here.empty() ? Status() : members_[i]->start(launches(engines_[i], here));
  }

  // The workers of a node that replaced another join the running training.
  Status arrive(size_t i) {
    Status started = prepare_node(i, true);
    if (started.ok()) {
      std::lock_guard lock(state_);
      may_run_.at(i);
    }
    if (started.ok()) started = start_node(i, true);
    for (const auto& task : tasks_of(i)) {
      if (started.ok()) restarts_->joined(task.name());
      tell(nodes_[i].address,
           task.name() + (started.ok() ? " joins the training" : " cannot join: " + started.message()),
           started.ok() ? "ok" : "failed");
    }
    std::lock_guard lock(state_);
    arriving_.erase(i);
    return started;
  }

  bool arrives(size_t node) {
    std::lock_guard lock(state_);
    return arriving_.contains(node);
  }

  std::vector<Task> tasks_of(size_t node) const {
    std::vector<Task> here;
    for (const auto& task : layout_.tasks) {
      if (task.node == node) here.push_back(task);
    }
    return here;
  }

  void on_line(size_t node, const std::string& line) {
    Json news = Json::parse(line, nullptr, false);
    const std::string event = json::text_of(news, "event"), task = json::text_of(news, "task");
    {
      std::lock_guard lock(state_);
      if (event == "finished" &&
          (task == layout_.tasks[layout_.chief].name() || news.contains("test_accuracy")))
        facts_.finished = news;
      for (const char* key : {"message", "note"})
        if (auto said = news.find(key); said != news.end() && said->is_string())
          *said = in_properties(said->get<std::string>());
      if (event == "failed") failures_[task] = json::text_of(news, "message");
      if ((event == "step" || event == "finished") && news.contains("sent_bytes_per_step"))
        for (const char* key : {"sent_bytes_per_step", "received_bytes_per_step", "round_trip_seconds",
                                "link_bytes_per_second"})
          if (news.contains(key) && news[key].is_number()) facts_.exchange[key] = news[key];
      if (event == "dataset") facts_.dataset_note = json::text_of(news, "note");
      // Of a training that was joined the steps are reported again: they say nothing about this apply.
      if (event == "step" && !facts_.first_step && !joined_)
        facts_.first_step = seconds_since(context_.run_begun);
    }
    if (event == "checkpoint" || event == "evaluated") keeping_->news();
    if (event == "interruption") preempted(node, news);
    if (event == "peer_lost") restarts_->lost(json::text_of(news, "peer"));
    if (event == "peer_joined") restarts_->joined(json::text_of(news, "peer"));
    std::lock_guard lock(emit_);
    context_.emit({step_.id, nodes_[node].address, "metric", news});
  }

  // The cloud will preempt the node. Its workers leave by themselves, and the others continue; if the
  // training cannot do without it, all end with a checkpoint. Whoever runs this replaces the node (the event
  // names it) and joins or resumes the training.
  void preempted(size_t node, const Json& said) {
    std::lock_guard lock(state_);
    const std::string when = json::text_of(said, "time");  // not every cloud says it
    if (!leaving_.emplace(node, when).second) return;
    log_.line(preemption_text(node, when));
    following_->wake();
  }

  std::string preemption_text(size_t node, const std::string& when) const {
    return nodes_[node].address + " is preempted by its cloud " + (when.empty() ? "soon" : "at " + when);
  }

  std::map<size_t, std::string> leaving() {
    std::lock_guard lock(state_);
    return leaving_;
  }

  // Nodes that are about to be preempted or cannot be reached any more.
  std::optional<Status> part_with_nodes(const Ends& ends) {
    const std::map<size_t, std::string> leaving = this->leaving();
    std::set<size_t> missed;
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (leaving.contains(i) || following_->is_lost(i)) missed.insert(i);
    if (missed.empty()) return std::nullopt;
    if (!leaving.empty() && !layout_.can_miss(missed)) {
      const auto& [node, when] = *leaving.rbegin();
      return Status(kTakenBack, preemption_text(node, when) + "; a checkpoint was asked for");
    }
    for (size_t node : missed) {
      const bool over = std::all_of(processes_.begin(), processes_.end(), [&](const Process& process) {
        return process.node != node || ends.contains(process.name);
      });
      if (over && layout_.can_miss(missed)) tell_missed(node);
    }
    return std::nullopt;
  }

  // The training goes on without this node: whoever runs this may replace it meanwhile.
  void tell_missed(size_t node) {
    {
      std::lock_guard lock(state_);
      if (!told_missed_.insert(node).second) return;
    }
    tell(nodes_[node].address, "is missing; the other members continue", "failed");
    std::lock_guard lock(emit_);
    context_.emit({step_.id, nodes_[node].address, "metric", {{"event", "member_lost"}}});
  }

  // True: the process is to be started again.
  bool on_end(const Process& process, int exit) {
    if (arrives(process.node)) return true;
    if (exit != 0) {
      log_.line(fmt::format("{}: {} ended with {}", nodes_[process.node].address, process.name,
                            exit < 0 ? "a signal" : std::to_string(exit)));
    }
    if (leaving().contains(process.node)) return false;
    // By `radlc scale`, which removes its node, or by `radlc cancel`.
    if (auto asked = members_[process.node]->was_cancelled(); asked && *asked) return false;
    for (const auto& task : tasks_of(process.node)) {
      if (task.file() == process.name && !cancelled() && restarts_->again(task, exit)) return true;
    }
    return false;
  }

  Status start_again(size_t node, const std::vector<std::string>& files) {
    if (arrives(node)) return arrive(node);
    std::vector<Task> again;
    for (const auto& task : tasks_of(node)) {
      if (std::find(files.begin(), files.end(), task.file()) != files.end()) again.push_back(task);
    }
    auto engine =
        place_engine(nodes_[node], *context_.context);  // a joined training was started by another run
    Status started = engine ? members_[node]->start(launches(*engine, again)) : engine.status();
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

  // When the chief has ended, or the training cannot go on.
  std::optional<Status> verdict(const Ends& ends) {
    const Standing now = standing(layout_, ends);
    if (now.failed) return failure(ends, *now.failed);
    if (now.done) return Status();
    if (std::optional<Status> ended = part_with_nodes(ends)) return ended;
    if (cancelled()) return Status(Code::Cancelled, "cancelled; a checkpoint was asked for");
    context_.under_way();
    if (context_.lets_go()) {
      restarts_->end();
      return Status(kLeftRunning, "left running on its nodes");
    }
    end_hung();
    return std::nullopt;
  }

  Status failure(const Ends& ends, const Task& task) {
    following_->wait(std::chrono::milliseconds(500));  // the others have time to say why
    const int exit = ends.at(task.file());
    std::string said;
    {
      std::lock_guard lock(state_);
      said = failures_[task.name()];
    }
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
    auto output = keeping_->result(facts_, context_.context->stop);
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
  std::vector<Engine> engines_ = std::vector<Engine>(nodes_.size());
  Layout layout_;
  bool interrupted_ = false, joined_ = false;
  std::unique_ptr<Restarts> restarts_;
  RunFacts facts_;
  std::vector<Process> processes_;
  std::unique_ptr<jobs::Following> following_;
  jobs::MayRun may_run_{context_, nodes_};

  TrainingData data_;
  std::mutex emit_, state_;
  std::map<std::string, std::string> failures_;  // by Task::name()
  std::map<size_t, std::string> leaving_;        // nodes that are about to be preempted -> when
  std::set<size_t> arriving_;                    // new nodes whose workers are yet to join
  std::set<size_t> told_missed_;
  std::string key_;
  Json cluster_;  // of the training that new workers join
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
