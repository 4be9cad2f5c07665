// Executes exactly a plan: a scheduler over the action graph.
//
// While nothing but jobs is under way, the state's lock is given back (lock_share.h), and other runs may
// change what they like; each job is held by a lease of its own. What comes after is done as planned, except
// for what was changed meanwhile: that fails.
//
// Every create, update, destroy and step is recorded before it is asked for (Store::begin) and closed
// after, so a run that is killed at any instruction is picked up by recover(). Order of calls, with the lock
// held:
//   recover -> snapshot -> make_plan -> apply           (or make_destroy_plan -> destroy)
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/stop.h"
#include "runtime/base/world.h"
#include "runtime/exec/events.h"
#include "runtime/net/remote.h"
#include "runtime/plan/plan.h"
#include "runtime/state/store.h"
#include "runtime/steps/step_runner.h"

namespace radl {

enum class OnError {
  Keep,     // what failed is left as it is; what does not need it goes on
  Retry,    // and what failed is tried again, up to `rounds` times, after the rest is done
  Destroy,  // everything that this run made is destroyed again
};

// One attempt to connect to a node; the executor repeats it while a node boots. Auth is final, NotFound,
// Retry, Timeout and Lost are tried again: a login that is refused while `Context::booting` is Retry, since
// sshd answers before the key is in place.
using Connector = std::function<Result<std::unique_ptr<Remote>>(const ir::Node& node, const Json& attributes,
                                                                const Context& context)>;

// Which of these machines, by their attributes, take connections now: asked all at once, within about a
// second. True as well where that cannot be known from here.
using Answering = std::function<std::vector<bool>(const std::vector<Json>& attributes, const Stop& stop)>;

// The host key (OpenSSH public key line) that a machine shows now, for one whose cloud does not tell it.
using HostKeyReader = std::function<Result<std::string>(const Json& attributes, const Context& context)>;

struct ApplyOptions {
  int parallelism = 10;
  OnError on_error = OnError::Keep;
  std::string command = "apply";  // as the lock and leases of jobs name the run
  bool detach = false;            // jobs are left running once nothing else is under way
  int rounds = 2;                 // of OnError::Retry
  int attempts = 4;               // of one call that fails with Retry, Timeout or Lost
  std::chrono::milliseconds first_wait{500}, longest_wait{20000};  // between attempts; doubled, with jitter
  std::chrono::milliseconds create_deadline{std::chrono::minutes(10)};  // from asked for to ready
  std::chrono::milliseconds boot_deadline{std::chrono::minutes(5)};     // from created to reachable
};

// What a run needs. All pointers outlive the call.
struct Run {
  World* world = nullptr;
  Store* store = nullptr;
  const CloudSet* clouds = nullptr;
  std::map<ir::StepKind, StepRunner*> runners;
  Connector connect;                     // empty: nodes are not connected to (a plan without steps)
  Answering answering;                   // empty: a login is tried right away
  HostKeyReader host_key;                // empty: every cloud tells the keys of its machines
  const ir::Program* program = nullptr;  // nullptr for recover() and destroy()
  const ir::Secrets* secrets = nullptr;
  std::vector<EventSink*> sinks;
  Cancellation* cancellation = nullptr;
  Stop let_go = {};  // asked: as ApplyOptions::detach from now on
  ApplyOptions options;
  // destroy(): ids of what carries the infrastructure's tag and is not this state's (Unowned), and is to go
  // all the same.
  std::set<std::string> also = {};
};

struct ActionOutcome {
  enum class State { Done, Failed, Skipped };
  std::string id;
  Verb verb = Verb::Create;
  State state = State::Done;
  Status status;       // of a failure
  std::string detail;  // why it was skipped
  double seconds = 0;
  size_t changes = 0;  // a step's
  std::string log;     // path of a step's full log
  // The status with the action in front, where its message names neither that nor what it is of.
  Status told() const;
};

struct RunReport {
  std::vector<ActionOutcome> actions;     // in the plan's order
  Status status;                          // ok, Cancelled, or the first failure
  Status lost_lock;                       // not ok: another run has it now, or may; `status` says the same
  std::vector<std::string> left_running;  // ids of jobs that run on without this run: they are skipped
  std::vector<std::string> leftovers;     // "worker[1] (local-3f..): reason": what destroy could not remove
  std::vector<Unowned> unowned;           // what destroy has left alone, as nobody asked for its removal
  std::vector<OutputRecord> outputs;
  double seconds = 0;
  size_t done() const, failed() const, skipped() const;
};

struct Recovery {
  size_t adopted = 0, removed = 0, repeated = 0, closed = 0;
  size_t total() const { return adopted + removed + repeated + closed; }
};

// Looks up every open intent of an earlier run by its token: a finished thing is adopted, a half-made one
// removed, a destroy repeated, a step marked as interrupted. All that is open in a cloud is looked for at
// once, and where nothing is found until the cloud has settled (Cloud::settles_after). Fails as a whole when
// a cloud cannot be asked; nothing is lost.
Result<Recovery> recover(const Run& run);

RunReport apply(const Run& run, const Plan& plan);
// Executes a destroy plan, then asks the clouds what is left and removes what this state has created; not
// after a plan for a part. What carries the tag otherwise stays, and is listed (RunReport::unowned).
RunReport destroy(const Run& run, const Plan& plan);

// What a destroy would leave alone (Plan::unowned). `forget`: forgets what was released and is gone, which
// needs the lock; otherwise nothing is written.
struct Others {
  std::vector<Unowned> unowned;
  std::map<std::string, std::string> unseen;  // clouds that could not be asked, and why
};
Result<Others> look_for_others(const Run& run, bool forget = true);

// Something released whose mark its cloud never changes: a name, or a description.
struct StillMarked {
  std::string address, id, cloud;
};
// `radlc state rm`: takes radlc's tags off the resource, which goes on running, and forgets it for good.
// Returns what keeps its mark all the same. NotFound: the state has no such resource. `keep_tags`: nothing is
// asked of its cloud; what carries the tag then is listed by a destroy, and left alone.
Result<std::vector<StillMarked>> release_resource(const Run& run, const std::string& address,
                                                  bool keep_tags = false);

// Looks at the world: the resources by one look at each cloud, the steps through their runners. Changes
// nothing.
Result<Observed> refresh(const Run& run, const Snapshot& snapshot);

// The part of a refresh that an apply begins with: one look at each cloud. Nobody is connected to.
Result<Observed> glance(const Run& run, const Snapshot& snapshot);

// Takes attributes that a refresh found changed into the state. What is gone stays recorded: the plan makes
// it again. Needs the lock.
Status accept_observed(const Run& run, const Snapshot& snapshot, const Observed& observed);

// Records what the cloud has under `id` as the resource that `plan` would create at `address`; the next plan
// shows in what it differs from the file. Needs the lock. Exists: it is recorded already; NotFound: the file
// or the cloud has no such thing; Invalid: it is something else. `login_key`: the fingerprint of the key that
// logs in to a node (key_places.h); empty: the cloud's tags say it, or nobody does.
Result<ResourceRecord> import_resource(const Run& run, const Plan& plan, const std::string& address,
                                       const std::string& name, const std::string& login_key = "");

// Infrastructures of this name that have something in these clouds, apart from the context's own. `failed`:
// clouds that do not tell, and why not.
Result<std::vector<Elsewhere>> existing_of(const CloudSet& clouds, const std::set<std::string>& ids,
                                           const Context& context, const std::string& name,
                                           std::map<std::string, std::string>& failed);

// Rebuilds an empty state from the tags of its infrastructure: records all that its clouds have of what
// `plan` would create. Needs the lock. Exists: the state has resources.
struct Imported {
  std::vector<std::string> addresses;
  std::vector<Unowned> left;  // what carries the tag and is not recorded
};
Result<Imported> import_all(const Run& run, const Plan& plan);

// Steps whose output names a file, on this computer or in a bucket, that `exists` says is not there any more:
// for PlanOptions::missing_outputs.
std::map<std::string, std::string> missing_outputs(
    const Snapshot& snapshot, const std::function<bool(const std::string& path)>& exists);

// The program's outputs with what the state knows; sensitive values included when secrets are given.
std::vector<OutputRecord> resolve_outputs(const ir::Program& program, const Snapshot& snapshot,
                                          const ir::Secrets* secrets);

}  // namespace radl
