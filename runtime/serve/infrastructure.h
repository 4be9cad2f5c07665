// One infrastructure of the service: its document, the numbers of its machines, and the runs that create it.
//
// It is stored in a folder, so it survives a restart:
//
//   FOLDER/
//     infrastructure.json   name, creation time, machines' numbers, last failure; mode 0600
//     program.radl          the document (document.h)
//     state/                its state (runtime/state/store.h), unless Settings::states is elsewhere
//
// Runs execute one after another on the infrastructure's thread. The next run recovers an interrupted one
// (driver::Apply::begin). Each uses the settings and accounts of
// the caller who requested it, kept in memory during the run.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/stop.h"
#include "runtime/driver/driver.h"
#include "runtime/driver/power.h"
#include "runtime/serve/caller.h"
#include "runtime/serve/document.h"
#include "runtime/serve/im_state.h"
#include "runtime/serve/users.h"

namespace radl::serve {

struct Machine {
  int number = 0;  // in order of creation, never reused
  std::string address;
  bool gone = false;
  bool leaving = false;  // a pending or active run removes it; not stored
};

// Compiles a document, which it writes to `folder` meanwhile. Invalid: lists the errors, one per line. Auth:
// the program does something that the user is not trusted with.
Result<ir::Program> compile_document(const Settings& settings, const std::string& folder,
                                     const std::string& state, const Document& document);

class Infrastructure {
 public:
  // Creates an empty infrastructure. Errors: those of creating the folder and its files.
  static Result<std::shared_ptr<Infrastructure>> create(const Users& users, const std::string& folder,
                                                        const std::string& id, const std::string& owner);
  // Opens the infrastructure of a folder. NotFound, Corrupt.
  static Result<std::shared_ptr<Infrastructure>> open(const Users& users, const std::string& folder,
                                                      const std::string& id);
  // Imports the result of exported(). Writes to the new folder `fresh`, which becomes `folder` once it is
  // complete. Neither may exist; `fresh` may remain after an error. Invalid: not an export.
  static Result<std::shared_ptr<Infrastructure>> import(const Users& users, const std::string& fresh,
                                                        const std::string& folder, const Json& exported,
                                                        const std::string& owner);
  ~Infrastructure();  // calls stop() and waits
  // Ends the active run: actions in progress are finished and recorded, and nothing more starts.
  void stop();

  const std::string& id() const { return id_; }
  double created() const { return created_; }  // wall seconds
  std::vector<Machine> machines() const;       // existing ones, by number
  std::string text() const;                    // the document
  std::string tosca() const;                   // the document as sent if it was TOSCA; else ""
  // Returns document, machines and state with the login keys, as JSON. Conflict: a run is active. Invalid:
  // machines are in this service's folder. `closing`: no run starts afterwards.
  Result<std::string> exported(bool closing);
  MachineState state() const;
  MachineState state_of(const Machine& machine) const;
  Result<Snapshot> snapshot() const;
  Json outputs() const;
  // Output of the runs: in general, and for one machine (docs/service.md).
  std::string log() const;
  std::string log_of(const Machine& machine) const;
  // Returns the machine as RADL-JSON: its networks, its system with its current properties, and its deploy.
  // `with_key`: includes the login key if radlc created one.
  Result<Json> describe(const Machine& machine, bool with_key = false) const;
  // The users who own it.
  std::vector<std::string> owners() const;
  bool is_touched_by(const Caller& caller) const;
  // True if it has nodes on the service's computer (is_on_this_computer()), or if that is unknown.
  bool is_here() const;
  // Adds an owner, or makes it the only one.
  Status add_owner(const std::string& user, bool alone);

  // Each of these functions checks and changes the document, and starts the resulting run. `launched` is set
  // when all requested machines exist or have failed, at the latest when the run ends. Its status is not ok
  // if none of them exists. Invalid: the document does not compile; nothing has changed.
  struct Change {
    std::vector<Machine> made;
    std::shared_future<Status> launched, over;
    Document before;  // restored by undo()
  };
  Result<Change> start(const Document& document, const Order& order);
  Result<Change> add(const Document& more, const Order& order);
  // After an addition that created nothing: restores the document and removes the remains.
  Result<Change> undo(const Change& change, const Order& order);
  Result<Change> remove(const std::vector<int>& numbers, const Order& order);
  Result<Change> reconfigure(const Document* more, const Order& order);
  // Replaces features of the machine's system by those of the first system of `more`. Conflict: the system
  // has other machines, which share its features.
  Result<Change> alter(const Machine& machine, const Document& more, const Order& order);
  // Stops, starts or reboots machines. An error has a line for each failed machine. `existing_only`: skips
  // machines that could not be created.
  std::shared_future<Status> change_power(const std::vector<Machine>& machines, PowerChange change,
                                          const Order& order, bool existing_only = false);
  // Creates an image of the machine's root disk, whose address becomes *address.
  std::shared_future<Status> make_image(const Machine& machine, const std::string& name, const Order& order,
                                        std::shared_ptr<std::string> address);
  // Destroys everything. After success, the folder may be removed.
  std::shared_future<Status> destroy(const Order& order);
  // Conflict: machines are being added.
  Status may_be_destroyed() const;
  // After it was destroyed: what a bucket still has of its state.
  void forget_state() const;

 private:
  struct Job;
  Infrastructure(const driver::Host& host, std::string folder, std::string id);
  driver::ProjectOptions project_options() const;
  std::string run_folder() const;  // of the events of its runs
  bool has_state() const;
  driver::ProjectOptions state_options() const;  // without the program
  Json json_locked() const;
  Status save_locked() const;
  Result<Change> change_locked(Document next, std::vector<driver::ScaleRequest> scales, const Order& order);
  void enqueue_locked(Job job);
  void end_run_locked();
  void work();
  Status run_apply(const Job& job, Cancellation& cancellation);
  Status keep_record(const Order& order, const Cancellation& cancellation) const;
  Status run_destroy(const Order& order, Cancellation& cancellation);
  std::shared_future<Status> enqueue_work(std::function<Status(Cancellation&)> work);
  driver::PowerRequest power_request(const Order& order, const std::string& file) const;
  std::vector<int> ordinals_of(const std::string& system) const;
  std::vector<driver::ScaleRequest> scales_of(const std::set<std::string>& systems) const;

  const driver::Host& host_;  // the service's, for reading the state; changes use the caller's host
  const std::string folder_, id_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Document document_;
  std::vector<Machine> machines_;
  std::vector<std::string> owners_;
  std::string states_;  // as Workspace::states_
  double created_ = 0;
  std::string failed_;  // why the last run failed
  std::deque<Job> jobs_;
  std::shared_future<Status> destroyed_;  // of the active destroy
  bool at_work_ = false, adding_ = false, deleting_ = false, stopping_ = false;
  Cancellation* cancellation_ = nullptr;  // of the active run
  std::jthread thread_;
};

}  // namespace radl::serve
