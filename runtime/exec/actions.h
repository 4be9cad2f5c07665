// One function for each kind of action: it records the intent, sends the request, waits, and records the
// result. Internal to runtime/exec.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/exec/execution.h"
#include "runtime/exec/park.h"

namespace radl {

// Parameters are references into the plan and the run, which outlive the coroutine.

// Create, and the second half of a replacement. A resource that is still recorded at the address is removed
// first.
Async<Status> make_resource(Execution& execution, Park& park, const Action& action);
Async<Status> update_resource(Execution& execution, Park& park, const Action& action);
// Delete, and the first half of a replacement. Ok if the resource is not recorded.
Async<Status> remove_resource(Execution& execution, Park& park, std::string address, bool keep_steps);

// Requests the removal until the cloud confirms it, and waits until the resource no longer shows.
Async<Status> destroy_and_wait(Execution& execution, Park& park, Cloud& cloud, ResourceRecord record);
// The two halves of destroy_and_wait: the request, and the wait for the proof.
Asked ask_to_destroy(Execution& execution, Cloud& cloud, const ResourceRecord& record);
Async<std::unique_ptr<Sight>> look_for_gone(Execution& execution, Park& park, Cloud& cloud,
                                            const ResourceRecord& record);
// Requests what the record's spec says, in as many requests as the cloud needs, until the cloud shows it.
struct Changing {
  Status status;
  std::unique_ptr<Seen> seen;
  bool certain = true;  // on failure: the resource is unchanged
};
// `before`: the spec of the last request; tags that it has and the record lacks are removed.
// `nothing_to_ask`: only waits. `shown`: result of carry_shown(); null if no plan asks for it.
Async<Changing> change_resource(Execution& execution, Park& park, Cloud& cloud, ResourceRecord record,
                                Json before = Json::object(), bool nothing_to_ask = false,
                                Json shown = nullptr);
// Waits until the resource created with `token` exists, or provably does not: then `seen` is empty. A
// resource that will never become ready is destroyed, counts as missing, and `why` gives the reason.
struct Found {
  Status status;  // not ok: unknown whether the resource exists
  std::unique_ptr<Seen> seen;
  std::string why;
};
Async<Found> wait_for_made(Execution& execution, Park& park, Cloud& cloud, ResourceRecord record,
                           Watch watch);
// Judge what a cloud shows of a resource that is no longer Pending: is it usable, and if not, why.
bool is_made(const Seen& seen);
std::string why_unfit(const Seen& seen);

struct StepDone {
  Status status;
  size_t changes = 0;
  std::string log;
  bool left_running = false;  // a job that continues without this run; `status` is kLeftRunning
};
// Blocks its thread. `deadline` is that of the whole configuration; a training has none.
StepDone run_step(Execution& execution, const Action& action, std::chrono::steady_clock::time_point deadline);

// Stops the services that the plan lists for a step (Action::spec, "stops"), on those of its nodes that
// exist.
Status stop_services(Execution& execution, const Action& action,
                     std::chrono::steady_clock::time_point deadline);

// Returns the step with all values known now, secrets included. Invalid names the missing ones.
Result<ir::Step> resolved_step(Execution& execution, const ir::Step& step);

// Adds to the attributes that a cloud shows of a machine what only a connection reveals: its host key.
Json attributes_now(const ResourceRecord& record, Json seen);
// Returns `seen`, but with the attributes that the cloud reads from radlc's tags (Cloud::marks_of()) as
// recorded in `recorded`. Used if somebody has changed the tags.
Json with_marked_attributes(const Cloud& cloud, const Context& context, const Order& recorded, Json seen);
// Returns the record of the resource that an action creates with this offer, as far as it is known before the
// creation.
ResourceRecord wanted_record(Execution& execution, const Action& action, size_t offer);
Result<Cloud*> cloud_of(Execution& execution, const std::string& id);
// Emits an event about a retry.
void tell_retry(Execution& execution, const std::string& id, const Status& error, int attempt,
                std::chrono::milliseconds wait);
// Hooks that emit these events and end waits on Ctrl-C.
struct RetryHooks;
RetryHooks retry_hooks(Execution& execution, const std::string& id);

}  // namespace radl
