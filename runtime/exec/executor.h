// Executes a plan: a scheduler over the action graph.
//
// While only jobs are running, the state's lock is released (lock_share.h), and other runs may change
// anything; each job is protected by its own lease. The remaining actions are executed as planned; those
// affected by other changes fail.
//
// Every create, update, destroy and step is recorded before it is requested (Store::begin) and closed
// afterwards, so that recover() can pick up a run killed at any instruction. Order of calls, with the lock
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
  Keep,     // leave failed resources as they are; continue with independent actions
  Retry,    // also retry failed actions up to `rounds` times after the rest
  Destroy,  // destroy everything that this run created
};

// Makes one attempt to connect to a node; the executor repeats it while a node boots. Auth is final;
// NotFound, Retry, Timeout and Lost are retried. A login rejected while `Context::booting` is Retry, because
// sshd responds before the key is installed.
using Connector = std::function<Result<std::unique_ptr<Remote>>(const ir::Node& node, const Json& attributes,
                                                                const Context& context)>;

// Which of these machines, by attributes, accept connections now. Probes all at once within about a second.
// Also true if that cannot be determined from here.
using Answering = std::function<std::vector<bool>(const std::vector<Json>& attributes, const Stop& stop)>;

// Reads the host key (OpenSSH public key line) that a machine shows, if its cloud does not report it.
using HostKeyReader = std::function<Result<std::string>(const Json& attributes, const Context& context)>;

struct ApplyOptions {
  int parallelism = 10;
  OnError on_error = OnError::Keep;
  std::string command = "apply";  // name of the run in the lock and in leases of jobs
  bool detach = false;            // leave jobs running once nothing else is in progress
  int rounds = 2;                 // for OnError::Retry
  int attempts = 4;               // of a call that fails with Retry, Timeout or Lost
  std::chrono::milliseconds first_wait{500}, longest_wait{20000};  // between attempts; doubled, with jitter
  std::chrono::milliseconds create_deadline{std::chrono::minutes(10)};  // from the request to ready
  std::chrono::milliseconds boot_deadline{std::chrono::minutes(5)};     // from created to reachable
};

// The environment of a run. All pointers must outlive the call.
struct Run {
  World* world = nullptr;
  Store* store = nullptr;
  const CloudSet* clouds = nullptr;
  std::map<ir::StepKind, StepRunner*> runners;
  Connector connect;                     // empty: never connects to nodes (a plan without steps)
  Answering answering;                   // empty: tries a login immediately
  HostKeyReader host_key;                // empty: every cloud reports its machines' keys
  const ir::Program* program = nullptr;  // nullptr for recover() and destroy()
  const ir::Secrets* secrets = nullptr;
  std::vector<EventSink*> sinks;
  Cancellation* cancellation = nullptr;
  Stop let_go = {};  // if requested: like ApplyOptions::detach from then on
  ApplyOptions options;
  // For destroy(): IDs of foreign resources with the infrastructure's tag (Unowned) that are to be destroyed
  // too.
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
  size_t changes = 0;  // of a step
  std::string log;     // path of a step's full log
  // The status, prefixed with the action unless its message already names it.
  Status told() const;
};

struct RunReport {
  std::vector<ActionOutcome> actions;     // in the plan's order
  Status status;                          // ok, Cancelled, or the first failure
  Status lost_lock;                       // not ok: another run has it now, or may have it; same as `status`
  std::vector<std::string> left_running;  // IDs of jobs that continue without this run, which skips them
  std::vector<std::string> leftovers;     // "worker[1] (local-3f..): reason": what destroy could not remove
  std::vector<Unowned> unowned;           // kept by destroy, because their removal was not requested
  std::vector<OutputRecord> outputs;
  double seconds = 0;
  size_t done() const, failed() const, skipped() const;
};

struct Recovery {
  size_t adopted = 0, removed = 0, repeated = 0, closed = 0;
  size_t total() const { return adopted + removed + repeated + closed; }
};

// Looks up every open intent of an earlier run by its token: adopts complete resources, removes incomplete
// ones, repeats a destroy, marks a step as interrupted. Searches a cloud for all open intents at once, and
// repeats that until the cloud has settled (Cloud::settles_after) if something is missing. Fails as a whole
// if a cloud cannot be queried; nothing is lost.
Result<Recovery> recover(const Run& run);

RunReport apply(const Run& run, const Plan& plan);
// Executes a destroy plan, then lists the remaining resources of each cloud and removes those that this state
// created, unless the plan was partial. Other tagged resources stay and are listed (RunReport::unowned).
RunReport destroy(const Run& run, const Plan& plan);

// What a destroy would keep (Plan::unowned). `forget`: deletes records of released resources that are gone,
// which requires the lock; otherwise writes nothing.
struct Others {
  std::vector<Unowned> unowned;
  std::map<std::string, std::string> unseen;  // clouds that could not be queried, and why
};
Result<Others> look_for_others(const Run& run, bool forget = true);

// A released resource whose mark cannot be removed, because it is a name or description.
struct StillMarked {
  std::string address, id, cloud;
};
// `radlc state rm`: removes radlc's tags from the resource, which keeps running, and deletes its record
// permanently. Returns resources that keep their mark. NotFound: not in the state. `keep_tags`: does not
// contact the cloud; a destroy will list the tagged resource but keep it.
Result<std::vector<StillMarked>> release_resource(const Run& run, const std::string& address,
                                                  bool keep_tags = false);

// Inspects the actual state: resources by one look at each cloud, steps by their runners.
// Read-only.
Result<Observed> refresh(const Run& run, const Snapshot& snapshot);

// The part of a refresh with which an apply begins: one look at each cloud. Does not connect to nodes.
Result<Observed> glance(const Run& run, const Snapshot& snapshot);

// Records changed attributes found by a refresh. Missing resources stay recorded; the plan recreates them.
// Requires the lock.
Status accept_observed(const Run& run, const Snapshot& snapshot, const Observed& observed);

// Records the cloud's resource `id` as the one that `plan` would create at `address`; the next plan shows the
// differences from the file. Requires the lock. Exists: already recorded. NotFound: missing in the file or
// the cloud. Invalid: another kind of resource. `login_key`: fingerprint of the key for logins to a node
// (key_places.h); empty: from the cloud's tags, if present.
Result<ResourceRecord> import_resource(const Run& run, const Plan& plan, const std::string& address,
                                       const std::string& name, const std::string& login_key = "");

// Infrastructures of this name with resources in these clouds, except the context's own. `failed`: clouds
// that could not tell, and why.
Result<std::vector<Elsewhere>> existing_of(const CloudSet& clouds, const std::set<std::string>& ids,
                                           const Context& context, const std::string& name,
                                           std::map<std::string, std::string>& failed);

// Rebuilds an empty state from its infrastructure's tags: records everything in the clouds that `plan` would
// create. Requires the lock. Exists: the state has resources.
struct Imported {
  std::vector<std::string> addresses;
  std::vector<Unowned> left;  // tagged but not recorded
};
Result<Imported> import_all(const Run& run, const Plan& plan);

// Steps whose output names a local or bucket file that `exists` reports as missing, for
// PlanOptions::missing_outputs.
std::map<std::string, std::string> missing_outputs(
    const Snapshot& snapshot, const std::function<bool(const std::string& path)>& exists);

// The program's outputs with values from the state; includes sensitive values if secrets are given.
std::vector<OutputRecord> resolve_outputs(const ir::Program& program, const Snapshot& snapshot,
                                          const ir::Secrets* secrets);

}  // namespace radl
