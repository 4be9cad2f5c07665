// One function an action: the journal's intent, what is asked, the waits, and what came of it. Internal to
// runtime/exec.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/exec/execution.h"
#include "runtime/exec/park.h"

namespace radl {

// Parameters are references into the plan and the run: they outlive the coroutine.

// Create, and the second half of a replacement. Something of that address that is still recorded is removed
// first.
Async<Status> make_resource(Execution& execution, Park& park, const Action& action);
Async<Status> update_resource(Execution& execution, Park& park, const Action& action);
// Delete, and the first half of a replacement. Ok when it is not recorded (any more).
Async<Status> remove_resource(Execution& execution, Park& park, std::string address, bool keep_steps);

// Asks until the cloud says that it is gone, and no look shows it any more.
Async<Status> destroy_and_wait(Execution& execution, Park& park, Cloud& cloud, ResourceRecord record);
// Its two halves: the request, and what proves that it was done.
Asked ask_to_destroy(Execution& execution, Cloud& cloud, const ResourceRecord& record);
Async<std::unique_ptr<Sight>> look_for_gone(Execution& execution, Park& park, Cloud& cloud,
                                            const ResourceRecord& record);
// Asks for what the record's spec says, in as many requests as the cloud takes for it, until a look shows it.
struct Changing {
  Status status;
  std::unique_ptr<Seen> seen;
  bool certain = true;  // of a failure: it is as it was
};
// `before`: the spec that it was asked for with last; of the tags there, those that the record lacks go.
// `nothing_to_ask`: the look alone. `shown`: of carry_shown(); null if no plan asks for it.
Async<Changing> change_resource(Execution& execution, Park& park, Cloud& cloud, ResourceRecord record,
                                Json before = Json::object(), bool nothing_to_ask = false,
                                Json shown = nullptr);
// Waits until what `token` made is there, or proven not to be: then `seen` is empty. Something that will
// never become ready is destroyed, which is "not there" as well, and `why` says so.
struct Found {
  Status status;  // it is not known: what was asked for may be there
  std::unique_ptr<Seen> seen;
  std::string why;
};
Async<Found> wait_for_made(Execution& execution, Park& park, Cloud& cloud, ResourceRecord record,
                           Watch watch);
// Of what a look shows of it, not Pending: whether it will do, and why not.
bool is_made(const Seen& seen);
std::string why_unfit(const Seen& seen);

struct StepDone {
  Status status;
  size_t changes = 0;
  std::string log;
  bool left_running = false;  // a job that runs on without this run; `status` is kLeftRunning
};
// Holds its thread. `deadline` is of the whole configuration; a training has none.
StepDone run_step(Execution& execution, const Action& action, std::chrono::steady_clock::time_point deadline);

// The services that the plan stops for a step (Action::spec, "stops"), on those of its nodes that are there.
Status stop_services(Execution& execution, const Action& action,
                     std::chrono::steady_clock::time_point deadline);

// The step with every value that is known now, secrets included; Invalid names what is missing.
Result<ir::Step> resolved_step(Execution& execution, const ir::Step& step);

// What a cloud shows of a machine, with what only a connection tells: its host key.
Json attributes_now(const ResourceRecord& record, Json seen);
// `seen`, with the attributes that the cloud reads from radlc's tags as `recorded` has them: somebody has
// changed the tags. Those are the attributes that Cloud::marks_of() writes.
Json with_marked_attributes(const Cloud& cloud, const Context& context, const Order& recorded, Json seen);
// What an action makes, as far as it is known before it is made, where that one of its offers is taken.
ResourceRecord wanted_record(Execution& execution, const Action& action, size_t offer);
Result<Cloud*> cloud_of(Execution& execution, const std::string& id);
// Tells of a retry as an event.
void tell_retry(Execution& execution, const std::string& id, const Status& error, int attempt,
                std::chrono::milliseconds wait);
// Hooks that do so and end waits on Ctrl-C.
struct RetryHooks;
RetryHooks retry_hooks(Execution& execution, const std::string& id);

}  // namespace radl
