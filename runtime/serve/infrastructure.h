// One infrastructure of the service: its document, the numbers of its machines, and the runs that make it so.
//
// It lives in a folder and is found there again after a restart:
//
//   FOLDER/
//     infrastructure.json   name, begin, machines' numbers, what failed last; mode 0600
//     program.radl          the document (document.h)
//     state/                radlc's own state of it (runtime/state/store.h)
//
// Runs follow one another in a thread of the infrastructure; a run that was interrupted is picked up by the
// next (driver::Apply::begin). Each is done with the settings and
// the accounts of the caller who asked for it, which are held in memory as long as the run.
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
  int number = 0;  // in the order of creation, never given twice
  std::string address;
  bool gone = false;
  bool leaving = false;  // a run that removes it is to come or goes on; not in the file
};

// The program of a document, which is written to `folder` meanwhile. Invalid: what is wrong, a line each.
// Auth: it does what the user is not trusted with.
Result<ir::Program> compile_document(const Settings& settings, const std::string& folder,
                                     const Document& document);

class Infrastructure {
 public:
  // A new one, with nothing in it. Errors: of making the folder and its files.
  static Result<std::shared_ptr<Infrastructure>> create(const Users& users, const std::string& folder,
                                                        const std::string& id, const std::string& owner);
  // That of a folder. NotFound, Corrupt.
  static Result<std::shared_ptr<Infrastructure>> open(const Users& users, const std::string& folder,
                                                      const std::string& id);
  // What exported() gave. It is written to the new folder `fresh`, which becomes `folder` once all of it is
  // right; neither exists yet, and `fresh` may be left after an error. Invalid: it is something else.
  static Result<std::shared_ptr<Infrastructure>> import(const Users& users, const std::string& fresh,
                                                        const std::string& folder, const Json& exported,
                                                        const std::string& owner);
  ~Infrastructure();  // as stop(), and waits
  // Ends what goes on: what is under way is finished and recorded, and nothing more begins.
  void stop();

  const std::string& id() const { return id_; }
  double created() const { return created_; }  // wall seconds
  std::vector<Machine> machines() const;       // those that are not gone, by number
  std::string text() const;                    // the document
  std::string tosca() const;                   // the document as TOSCA, if it came so; else ""
  // The document, the machines and the state, with the keys that log in there, as JSON. Conflict: a run goes
  // on. Invalid: machines live in this service's folder. `closing`: no run begins afterwards.
  Result<std::string> exported(bool closing);
  MachineState state() const;
  MachineState state_of(const Machine& machine) const;
  Result<Snapshot> snapshot() const;
  Json outputs() const;
  // What runs have said: in general, and of one machine (docs/service.md).
  std::string log() const;
  std::string log_of(const Machine& machine) const;
  // The machine as RADL-JSON: its networks, its system with what it has become, its deploy. `with_key`: and
  // with the private key that logs in there, if radlc made one.
  Result<Json> describe(const Machine& machine, bool with_key = false) const;
  // The users whose it is.
  std::vector<std::string> owners() const;
  bool is_touched_by(const Caller& caller) const;
  // Whether it has nodes on the service's computer (is_on_this_computer()), or that cannot be known.
  bool is_here() const;
  // Adds an owner, or leaves it to that one alone.
  Status add_owner(const std::string& user, bool alone);

  // Each of the following checks, changes the document, and runs what follows from it. The future is set when
  // all machines that were asked for exist or have failed, and at the latest when the run is over; its status
  // is not ok where none of them exists. Invalid: the document does not compile; nothing was changed then.
  struct Change {
    std::vector<Machine> made;
    std::shared_future<Status> launched, over;
    Document before;  // what undo() brings back
  };
  Result<Change> start(const Document& document, const Order& order);
  Result<Change> add(const Document& more, const Order& order);
  // After an addition of which nothing exists: the document is as before, and what was made of it goes.
  Result<Change> undo(const Change& change, const Order& order);
  Result<Change> remove(const std::vector<int>& numbers, const Order& order);
  Result<Change> reconfigure(const Document* more, const Order& order);
  // The features of the first system of `more` replace those of the machine's system. Conflict: the system
  // has more machines, which share its features.
  Result<Change> alter(const Machine& machine, const Document& more, const Order& order);
  // Stops, starts or reboots machines. The text of a failure has a line for each machine that failed.
  // `existing_only`: those that could not be created are left out.
  std::shared_future<Status> change_power(const std::vector<Machine>& machines, PowerChange change,
                                          const Order& order, bool existing_only = false);
  // An image of the machine's root disk; *address is the image's.
  std::shared_future<Status> make_image(const Machine& machine, const std::string& name, const Order& order,
                                        std::shared_ptr<std::string> address);
  // Destroys everything. After it succeeded the folder may be removed.
  std::shared_future<Status> destroy(const Order& order);
  // Conflict: machines are being added.
  Status may_be_destroyed() const;

 private:
  struct Job;
  Infrastructure(const driver::Host& host, std::string folder, std::string id);
  driver::ProjectOptions project_options() const;
  driver::ProjectOptions state_options() const;  // without the program
  Json json_locked() const;
  Status save_locked() const;
  Result<Change> change_locked(Document next, std::vector<driver::ScaleRequest> scales, const Order& order);
  void enqueue_locked(Job job);
  void end_run_locked();
  void work();
  Status run_apply(const Job& job, Cancellation& cancellation);
  Status run_destroy(const Order& order, Cancellation& cancellation);
  std::shared_future<Status> enqueue_work(std::function<Status(Cancellation&)> work);
  driver::PowerRequest power_request(const Order& order, const std::string& file) const;
  std::vector<int> ordinals_of(const std::string& system) const;
  std::vector<driver::ScaleRequest> scales_of(const std::set<std::string>& systems) const;

  const driver::Host& host_;  // of the service: reads the state; what changes it is done by the caller's
  const std::string folder_, id_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Document document_;
  std::vector<Machine> machines_;
  std::vector<std::string> owners_;
  double created_ = 0;
  std::string failed_;  // why the last run failed
  std::deque<Job> jobs_;
  std::shared_future<Status> destroyed_;  // of the destroy that goes on
  bool at_work_ = false, adding_ = false, deleting_ = false, stopping_ = false;
  Cancellation* cancellation_ = nullptr;  // of the run that goes on
  std::jthread thread_;
};

}  // namespace radl::serve
