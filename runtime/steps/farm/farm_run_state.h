// The state of a farm's run (farm_run.h): internal to runtime/steps/farm. farm_run.cc has its course,
// farm_nodes.cc what nodes tell it, farm_budget.cc what was approved, and farm_size.cc how many nodes it asks
// for.
#pragma once

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
#include "runtime/farm/sizing.h"
#include "runtime/farm/snapshot.h"
#include "runtime/steps/farm/channel.h"
#include "runtime/steps/farm/farm_parts.h"
#include "runtime/steps/farm/farm_run.h"
#include "runtime/steps/farm/image_source.h"
#include "runtime/steps/farm/inbox.h"
#include "runtime/steps/farm/optuna.h"
#include "runtime/steps/farm/outputs.h"
#include "runtime/steps/farm/pool.h"
#include "runtime/steps/farm/reports.h"
#include "runtime/steps/farm/scheduler.h"
#include "runtime/steps/farm/share_board.h"
#include "runtime/steps/jobs/may_run.h"
#include "runtime/steps/jobs/network.h"
#include "runtime/steps/program/results.h"
#include "runtime/steps/step_log.h"

namespace radl::farm {

class FarmRun {
  using SteadyClock = std::chrono::steady_clock;
  using Errand = std::function<void(const Status& status)>;

 public:
  FarmRun(const StepContext& context, const ir::Step& step, const std::vector<NodeHandle>& nodes,
          FarmSettings settings)
      : context_(context),
        step_(step),
        program_(without_farm(step.program)),
        nodes_(nodes),
        settings_(std::move(settings)),
        scheduler_(scheduler_of(settings_)),
        log_(context_, step, step.id),
        job_(jobs::folder_of(step)),
        folder_(farms_folder(context.context->work_directory) + "/" + job_),
        farm_(settings_.policy),
        outputs_(folder_),
        pool_(program_, nodes_, *context.context, job_, settings_.engine, *scheduler_,
              [this](const std::string& node, const std::string& what) { tell(node, what, "ok"); }) {
    if (settings_.search)
      search_.emplace(*settings_.search, ask_optuna(context_.context->environment, context_.context->stop));
    reports_.assign(nodes_.size(),
                    Reports(settings_.search ? settings_.search->metric : "",
                            [this](std::string_view text) { return log_.mask(std::string(text)); }));
    ready_.assign(nodes_.size(), false);
    leaving_ = missed_ = removing_ = draining_ = anew_ = ready_;
    idle_since_.resize(nodes_.size());
  }

  Result<StepOutcome> run();

 private:
  std::string where() const { return fmt::format("program '{}'", program_.value("name", "")); }

  void tell(const std::string& node, const std::string& what, const char* state);
  // ---- the beginning

  Status begin();
  // Images by address: what there is, and what each task's range holds.
  Status list_images();
  // The tasks as the program has them now: new ones are added, those that it no longer has are cancelled.
  void take_program();
  Status prepare();
  // ---- events

  double now() const { return wall_seconds(); }

  // An error: the table does not take it.
  Status try_record(const Event& event);
  bool record(const Event& event) { return try_record(event).ok(); }
  // The task of a line about its newest attempt, unless that has ended and its output is kept.
  const TaskRecord* current(size_t node, const AgentLine& line) const;
  void errand(size_t node, std::function<Status()> what, Errand then);
  void take(const Message& message);
  void take_line(size_t node, const AgentLine& line);
  void emit_metric(size_t node, Json data);
  // The cloud's answer to whether it takes the node back. If it does, tasks end there and run again
  // elsewhere; whoever runs this replaces the node.
  void noticed(size_t node, const std::string& answer);
  // A node keeps the reports of its tasks until none runs there; if they are many, it gets no more tasks
  // before.
  void forget_reports();
  // Nodes that are quarantined and have no task any more are replaced; a host of the user's is not.
  void replace_faulty();
  // Once: the node may be replaced while the others work.
  void tell_missed(size_t node);
  void connected(size_t node);
  void ended(size_t node, const AgentLine& line);
  void failed(const AgentLine& line, const std::string& lines);
  // Neither runs nor has ended.
  void disappeared(size_t node, const AgentLine& line);
  // ---- a cluster's scheduler (farm_cluster.cc)

  std::string agent_of(size_t node) const;
  // False: the line is none of a cluster's.
  bool take_cluster_line(size_t node, const AgentLine& line);
  void offers(size_t node, const std::string& text);
  // Brings the output of an attempt, and commits it.
  void bring(size_t node, const std::string& task, int attempt, bool results);
  // Tries again soon, or once the node is connected; in the end the attempt has failed.
  void not_brought(size_t node, const std::string& task, int attempt, const Status& why);
  // The output has arrived, if there is one: it is committed by the next settle().
  void commit(size_t node, const std::string& task, int attempt, bool results,
              const std::vector<std::string>& left);
  // Syncs the journal, and then does what the new events allow: outputs are kept, and tasks start and stop.
  Status settle();
  // For readers, a part of the journal at a time.
  void save_snapshot_of_long_journal();
  // ---- the loop

  Status loop();
  bool over() const;
  bool is_paused() const { return !farm_.table().paused().is_null(); }

  Status paused_status() const;
  Rehearsal rehearse_what_is_left() const;
  // A run that would take longer than was approved, and so cost more, starts no more tasks.
  void watch_cost();
  // ---- an elastic farm's nodes

  // The plan that was approved allows it other nodes.
  bool is_elastic() const;
  bool lengths_are_given() const;  // of every task, by the file
  TrialsLeft trials_left() const;  // of a search
  bool has_waiting() const;        // tasks that no node runs yet
  void watch_size();
  SizeQuestion size_question() const;
  // Once: then whoever runs this lets it go, and runs it again on these nodes.
  void ask_for_nodes(const std::vector<int>& ordinals, const std::string& why);
  bool is_idle(size_t node);
  std::vector<size_t> idle_nodes();
  void remove_idle_nodes(const std::vector<size_t>& idle);
  void ask_for_more();
  // Before a run that is not over ends, and its nodes with it.
  void keep_all_logs();
  void tell_logs(size_t node, const Status& kept);
  // New trials while there is room, and what is placed. Nothing starts before the journal has it.
  Status start_tasks();
  bool add_trial();
  // ---- other farms on the same nodes

  Claim claim() const;
  std::vector<Event> next_starts();
  void send_start(const Event& start);
  // What an attempt needs on its node besides its script: a trial's parent, the list of its images.
  Status send_needs(size_t node, const TaskRecord& task);
  // Asks a task to end, and kills it after the grace.
  void end_task(const TaskRecord& task);
  std::chrono::milliseconds grace() const;
  // Of a node that has been silent for too long the tasks run elsewhere.
  void leases();
  // `running`: only those that have not ended; the node has the outputs of the others.
  void lose_tasks_of(const std::string& address, const std::string& why, bool running = false);
  // Tasks that no node will ever run must not keep the farm, and what its nodes cost, going.
  void set_aside();
  // Lost: the executor connects anew, replaces nodes, or reports it.
  Status any_node() const;
  void checks();
  // Requests of `radlc farm cancel|retry|add`.
  void take_inbox();
  // The journal has them now.
  void forget_requests();
  void progress(bool last);
  // ---- the end

  // What the user interrupts uses up no try.
  void end_all();
  Result<StepOutcome> finish();
  const StepContext context_;
  const ir::Step& step_;
  const Json program_;
  const std::vector<NodeHandle>& nodes_;
  const FarmSettings settings_;
  const std::unique_ptr<Scheduler> scheduler_;
  StepLog log_;
  const std::string job_, folder_;
  std::string journal_id_;  // of this journal, in its first event
  Farm farm_;
  Journal journal_;
  std::optional<Search> search_;
  std::vector<Task> tasks_ = settings_.tasks;  // with what their ranges hold
  std::unique_ptr<ImageSource> images_;        // nullptr: none by address
  Outputs outputs_;
  Pool pool_;
  ShareBoard board_;
  double waits_since_ = 0;  // of the claim
  jobs::MayRun may_run_{context_, nodes_};
  Channels* channels_ = nullptr;
  std::map<size_t, Errand> errands_;
  std::vector<std::optional<SteadyClock::time_point>> lost_since_;  // also if it is leaving and runs no task
  std::vector<bool> ready_;
  std::vector<bool> anew_;      // prepared by this run
  std::vector<bool> removing_;  // idle, and no longer asked for
  std::vector<bool> draining_;  // no more tasks before its reports are removed
  bool resizes_ = false;        // other nodes were asked for
  std::vector<std::optional<SteadyClock::time_point>> idle_since_;
  std::vector<bool> leaving_, missed_;  // taken back by its cloud; told to whoever may replace it
  std::vector<Reports> reports_;        // by node
  std::set<std::string> sending_;       // attempts whose parent's output is on its way
  std::map<std::string, double> sent_;  // attempts: when it had arrived
  struct Arrived {
    size_t node;
    std::string task;
    int attempt;
    bool results;
  };
  std::vector<Arrived> arrived_;              // committed by events that are not synced yet
  std::vector<Event> starts_;                 // the same of starts
  size_t snapshot_at_ = 0;                    // bytes of the journal that the last snapshot has
  std::vector<std::string> requests_;         // files of the inbox that the journal is about to have
  std::map<std::string, int> fetches_;        // by attempt: how often its output was not brought
  Timers kills_, fetch_again_;                // of attempts
  std::set<std::string> ending_, timed_out_;  // attempts
  std::map<std::string, std::string> stops_;  // attempt -> task, to be stopped by the search
  SteadyClock::time_point next_check_, next_beat_, next_progress_, next_forecast_, next_size_,
      begun_ = SteadyClock::now();
  const double begun_at_ = wall_seconds();
  std::string progress_;
  std::atomic<bool> cancelled_{false};
  bool closed_ = false;   // the journal's last run came to its end
  bool started_ = false;  // some node is there
  Status kept_;
};

// Invalid: the farm's scheduler cannot work with these nodes.
Status check_cluster(const FarmSettings& settings, const Json& program, const std::vector<NodeHandle>& nodes);

}  // namespace radl::farm
