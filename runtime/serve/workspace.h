// An infrastructure of the service's own API: a folder with its program, its plans, its runs and its results.
//
//   FOLDER/about.json      name, owner and runs
//   FOLDER/program.radl    the program of the last plan, unless it consists of uploads
//   FOLDER/plans/ID.json   a plan as shown; the newest ones, and all that were run
//   FOLDER/plans/ID.plan   the saved plan for an apply, until its run ends
//   FOLDER/files/          uploads; also a complete program with its modules and data
//   FOLDER/state/NAME/     the state (runtime/state/store.h), unless Settings::states is elsewhere
//   FOLDER/runs/           events of runs; the state's own copies are removed with it
//   FOLDER/result/         results of trainings with `result = 'result'`
//   FOLDER/receipt.json    of a destroy
//
// A run does only what its plan has shown. Runs execute one after another, each on a thread of its own. A
// scale does not wait for an apply that supervises jobs: it begins beside the apply, and has the state's lock
// while it changes the nodes. recover() continues a run that was cut off by the end of the service.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/stop.h"
#include "runtime/driver/driver.h"
#include "runtime/serve/memory_file.h"
#include "runtime/serve/plan_query.h"
#include "runtime/serve/users.h"

namespace radl::serve {

struct WorkspaceRun {
  enum class State { Queued, Running, Done, Failed, Stopped };
  std::string id;       // "WORKSPACE-3"
  std::string command;  // "apply", "scale", "destroy"
  std::string plan;     // id of its plan
  std::string by;       // requesting user
  State state = State::Queued;
  bool recovered = false;                  // the service ended meanwhile, so the plan is made again
  bool stop_asked = false;                 // a user stopped it, so no service continues it
  double asked = 0, begun = 0, ended = 0;  // wall-clock seconds; 0: not yet
  std::string code, why, hint;             // of a failure
  std::vector<std::string> logs;           // ids of the driver's runs (runtime/run/event_log.h), oldest first
  std::vector<std::string> notes;          // the driver's notices outside its events; at most kMostNotes
  bool over() const { return state != State::Queued && state != State::Running; }
};
std::string_view state_name(WorkspaceRun::State state);  // "queued", ...
Json to_json(const WorkspaceRun& run);

class Workspace {
 public:
  // Creates an empty workspace. `temporary`: it belongs to one command, which removes it unless it is run.
  // Errors: those of creating the folder and its files. `users` must outlive the result.
  static Result<std::shared_ptr<Workspace>> create(Users& users, const std::string& folder,
                                                   const std::string& id, const std::string& name,
                                                   const std::string& owner, bool temporary);
  // Opens the workspace of a folder. NotFound, Corrupt.
  static Result<std::shared_ptr<Workspace>> open(Users& users, const std::string& folder,
                                                 const std::string& id);
  // Called when a run is queued, starts or ends, before its record is written: "run.queued", "run.started",
  // "run.finished". The workspace holds its mutex during the call.
  using Listener =
      std::function<void(const Workspace& of, const WorkspaceRun& run, const std::string& event)>;
  void listen(Listener listener) { listener_ = std::move(listener); }  // call before recover()
  // Continues interrupted runs.
  void recover();
  ~Workspace();  // calls stop() and waits
  // Ends plans and runs: started actions are finished and recorded. The next service continues the runs.
  void stop();

  const std::string& id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& owner() const { return owner_; }
  double created() const { return created_; }
  double last_used() const { return last_used_; }  // wall-clock seconds; of its files and plans
  const std::string& folder() const { return folder_; }
  // The `directory` of its Store, as it was when the workspace was created, whatever Settings::states is now.
  // A bucket is accessed with the credentials of the service's own user, so states of other users are never
  // in one.
  std::string state_place() const;
  std::string work_directory() const;                  // of its state (runtime/state/store.h)
  std::string log_path(const std::string& log) const;  // of the events of a run of the driver
  // The program's text; several files are concatenated. "": there is none yet.
  std::string program() const;
  // Same for these sources, or for the current ones if they are empty. NotFound: one was not uploaded.
  Result<std::string> program_of(const ProjectSources& sources) const;
  std::string result_folder() const;  // folder of `result = 'result'`

  // Makes a plan, as JSON (docs/plan.md) with "id" and "infrastructure". Changes only the program. Invalid:
  // the program does not compile; the message has the findings, and `findings` has them as JSON. Conflict:
  // another plan is being made, or a run is active and the program differs. Auth: the owner is no longer
  // trusted.
  Result<Json> plan(PlanQuery query, Json& findings);
  Result<Json> read_plan(const std::string& plan) const;  // NotFound
  // Queues a run of the plan. `secrets`: "name=value" of its secret inputs, held only in memory. NotFound.
  // Conflict: the plan was already run. Invalid: it exceeds its max_cost, or a secret input is missing.
  Result<WorkspaceRun> run(const std::string& plan, const std::string& by,
                           const std::vector<std::string>& secrets = {});
  std::vector<WorkspaceRun> runs() const;  // oldest first
  std::optional<WorkspaceRun> find_run(const std::string& run) const;
  // The first call ends the run gracefully, the second immediately. False: it has ended.
  bool stop_run(const std::string& run);
  bool busy() const;
  // Checks whether files may be uploaded now. Conflict: an active run may read them. Auth: `may_apply` is
  // false, and a plan that may have been approved uses them.
  Status takes_files(bool may_apply) const;
  // Accepts no further plan, run or file. Conflict: one is in progress, or resources exist or may exist.
  // Auth: `may_apply` is false, and it is not a draft.
  Status close_for_removal(bool may_apply);
  // True if it was never run, and is temporary or has no uploads.
  bool is_spare_draft() const;
  bool temporary() const { return temporary_; }

  Result<Snapshot> snapshot() const;
  // Returns a row of the list: {"id","name","state","nodes","price_per_hour",...}. Reads the state if it has
  // changed.
  Json summary() const;
  std::optional<Json> receipt() const;

 private:
  struct Facts {
    std::string stamp;  // of the state's files
    Json row;
  };
  Workspace(Users& users, std::string folder, std::string id, std::string owner);
  ProjectSources current_sources() const;
  driver::ProjectOptions project_options(const ProjectSources& sources) const;
  // The stored accounts of the owner; "": none.
  Result<std::string> accounts() const { return users_.vault().get(owner_); }
  driver::MachineryOptions machinery_options(const MemoryFile& accounts, const PlanQuery& query) const;
  void prune_plans() const;
  std::string plan_path(const std::string& plan) const { return folder_ + "/plans/" + plan + ".json"; }
  std::string saved_path(const std::string& plan) const { return folder_ + "/plans/" + plan + ".plan"; }
  Status save_locked() const;
  // Makes the query's program the current one; query.sources then lists what to compile.
  Status use_program(PlanQuery& query);
  // Conflict: the program is not the one that may_compile() authorized.
  Status check_unchanged(const PlanQuery& query) const;
  Status compile(const PlanQuery& query, driver::Project& project, Json& findings) const;
  Result<Json> plan_apply(const PlanQuery& query, Cancellation& cancellation, Json& findings);
  Result<Json> plan_destroy(const PlanQuery& query, Cancellation& cancellation);
  Json shown(const PlanQuery& query, const driver::Preview& preview) const;
  Status keep_plan(const Json& plan, const std::string& saved) const;
  void forget_old_runs_locked();
  // A run in progress.
  struct Active {
    Cancellation cancellation;
    bool is_beside = false;  // another run was in progress when it began
    bool had_lock = false;   // of the state
    std::jthread thread;
  };
  bool may_begin_locked(const WorkspaceRun& run) const;
  void start_locked();
  void work(const WorkspaceRun& job, Active& active);
  Status execute(const WorkspaceRun& run, Active& active);
  Status run_apply(const WorkspaceRun& run, Active& active);
  Status run_destroy(const WorkspaceRun& run, Cancellation& cancellation);
  Status write_receipt(const WorkspaceRun& run, const Snapshot& before, const driver::Destroyed& done,
                       const driver::DestroyLeft* left, const MoneySum& cost) const;
  void got_lock(const std::string& run, const std::string& log);
  std::string run_folder() const;  // of the state
  void keep_log(const std::string& log) const;
  driver::Tell notes_of(const std::string& run);
  WorkspaceRun* find_locked(const std::string& run);
  const WorkspaceRun* find_locked(const std::string& run) const;
  void end_locked(WorkspaceRun& run, WorkspaceRun::State state, const Status& why);
  void tell(const WorkspaceRun& run, const char* event) const {
    if (listener_) listener_(*this, run, event);
  }

  std::string bucket_stamp() const;

  Users& users_;
  const Settings settings_;  // the owner's
  const std::string folder_, id_, owner_;
  std::string name_;
  double created_ = 0;
  Listener listener_;
  bool temporary_ = false;
  std::string states_;  // Settings::states when it was created; "": the state is in folder_
  mutable std::atomic<double> last_used_ = 0;
  mutable std::mutex mutex_;
  ProjectSources sources_;  // of the current program; without files: program.radl
  std::vector<WorkspaceRun> runs_;
  std::deque<std::string> queue_;
  std::map<std::string, std::vector<std::string>> secrets_;  // run -> secret inputs, until the run ends
  bool stopping_ = false, removed_ = false;
  std::map<std::string, std::unique_ptr<Active>> active_;  // by run
  std::vector<std::jthread> ended_;                        // threads of runs that are over
  std::condition_variable run_ended_;
  mutable std::mutex facts_mutex_;
  mutable Facts facts_;
  Cancellation* planning_ = nullptr;  // of the plan in progress; one at a time
};

}  // namespace radl::serve
