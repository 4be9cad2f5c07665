// `make_plan` computes a plan from the program, the state, the clouds' designs and, optionally, observed
// resources. It is a pure function: offline, and equal input gives equal bytes.
// A plan lists actions, each with a reason, in a total order that respects their dependencies. runtime/exec
// executes exactly these. render.h renders a plan as text (also JSON, DOT); plan_file.h saves it.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"
#include "runtime/clouds/cloud_set.h"
#include "runtime/plan/observed.h"
#include "runtime/state/change.h"

namespace radl {

inline constexpr int kPlanVersion = 2;

enum class Verb { Create, Update, Replace, Delete, Run, Forget };
std::string_view verb_name(Verb verb);  // "create", ...
std::string_view verb_mark(Verb verb);  // "+", "~", "-/+", "-", ">", "x"

// Prefix of fields that are radlc's own tags: "marks.radlc:token".
inline constexpr const char* kMarkField = "marks.";

// A changed field. `{"$unknown": ..}` marks an unknown value, `{"$secret": ..}` a secret; null means absent.
struct FieldChange {
  std::string field;
  Json before, after;
  bool forces_replacement = false;
  bool forces_restart = false;
};

struct Action {
  std::string id;  // resource address or step ID; unique within the plan
  Verb verb = Verb::Create;
  bool is_step = false;
  std::string type;                // for a resource, as the cloud names it
  std::string cloud;               // for a resource: CloudId::text()
  std::string step_kind;           // for a step: "native", ...
  std::vector<std::string> nodes;  // the node's own address, or the step's nodes
  std::string summary;             // short description: "local, 2 cpu, 4 GiB, in lan"
  std::vector<FieldChange> changes;
  // IDs of actions and barriers that must finish before this action creates or runs anything.
  std::vector<std::string> needs;
  // For Delete and Replace: IDs of actions whose removal must finish before this one's removal starts.
  std::vector<std::string> removed_after;
  std::string why;
  std::vector<std::string> order;  // reasons for its position: "step 2 follows step 1 (worker[0]/base)"
  std::vector<std::string> uses;   // resources that must outlive this one, such as its key and networks
  Json spec;       // Create, Update, Replace: spec sent to the cloud, including the chosen offer
  Json base_spec;  // spec without an offer, if there are offers; offered_spec() combines it with one
  std::vector<Offer> offers;  // Create, Replace: fallbacks in this order if the chosen offer is unavailable
  size_t chosen = 0;          // index into offers
  Money price_per_hour;       // of the chosen offer
  std::optional<double> seconds;  // predicted duration; empty if unknown
  // Default duration of a step until it has been measured (step_times.h). Empty in a saved plan.
  std::optional<double> usual_seconds;
  bool resume = false;  // Run of a training: resume from its last checkpoint
  // Run, Forget of a job: nodes where an older version of it runs, or may run. It is ended there first.
  std::vector<std::string> ends;
  // Run of a job: nodes where this job runs, or may run. It is joined there.
  std::vector<std::string> joins;
  // Run of a job that was left running and can be joined whatever happens to the actions before it.
  bool rejoins = false;
};

// A synchronization point. It completes when everything that it waits for has ended, even if some failed.
// With `needs_success` (`after NAME`), any failure skips everything that waits for the barrier.
struct Barrier {
  std::string id;  // may appear in `needs` of actions and other barriers
  std::vector<std::string> needs;
  bool needs_success = false;
};

struct OutputChange {
  std::string name;
  Verb verb = Verb::Create;  // Create, Update, Delete
  Json before, after;
  bool sensitive = false;
};

// Hourly price of a resource before and after the plan. 0 if it does not exist or is free.
struct ResourceCost {
  std::string address;
  std::string cloud;
  std::string machine;  // "ec2 t3.medium"; "local"
  Money before, after;
  // Possible offers by preference, each type and market once regardless of zones; empty: no choice.
  std::vector<Offer> candidates;
  size_t chosen = 0;  // index into candidates
  // False if the price is unknown. Totals then count it as 0.
  bool priced() const { return chosen >= candidates.size() || candidates[chosen].facts.priced; }
};

// A cloud resource with this infrastructure's tag that is not in the state, or whose token belongs to another
// resource there. It is kept unless its removal is requested by ID.
struct Unowned {
  std::string cloud, id, type;
  std::string address;       // from its tag; may be empty
  std::string why;           // "its token is not one of this state's"
  std::string text() const;  // "i-1 (instance in ec2:/eu-west-1, tagged worker[0]): its token is not .."
};

// A resource that is kept although its removal was requested.
struct Kept {
  std::string address;
  std::string by;  // the user released by `radlc state rm`: "worker[0] (i-1)"
};

// An infrastructure of the same name that exists beside this state's.
struct Elsewhere {
  std::string cloud;
  std::string infrastructure;          // infrastructure_tag()
  std::vector<std::string> resources;  // "worker[0] (i-1)"
};

struct PlanTotals {
  int create = 0, update = 0, replace = 0, remove = 0, run = 0, forget = 0;
  MoneySum price_per_hour_before, price_per_hour;  // sums of Plan::costs by currency
  double seconds = 0;                              // longest path through the actions
  bool seconds_complete = true;                    // false if `seconds` omits an action of unknown duration
};

struct Plan {
  int version = kPlanVersion;
  std::string infrastructure;
  bool destroys = false;  // made by make_destroy_plan
  bool partial = false;   // covers only the requested targets
  // Fingerprints of the input. A saved plan is rejected if any of them has changed.
  std::string source_digest;
  std::vector<ir::Source> sources;
  std::string lineage;
  long long serial = 0;
  std::string catalog;                    // date of the oldest price in it; empty: undated
  std::map<std::string, Survey> surveys;  // CloudId::text() -> survey used for the plan; none: catalog only

  std::vector<Action> actions;
  std::vector<Barrier> barriers;
  std::vector<OutputChange> outputs;
  std::vector<state_change::Move> moves;         // of the state, made first
  std::vector<state_change::PutScaling> scaled;  // what the state stores about `radlc scale` from now on
  // Nodes that stay: their new value of prevent_destroy (ResourceRecord::protected_by).
  std::map<std::string, std::string> protections;
  // Resources that already match the file although the state says otherwise, for example after a lost
  // response or a manual change. `apply` records these specs.
  std::map<std::string, Json> as_found;
  std::vector<Drift> drift;  // changes outside radlc, except those that the file requests
  // Resources that a refresh could not inspect, with the reason. Excludes resources that the plan replaces.
  std::map<std::string, std::string> unseen;
  // Every node, before or after, by system and ordinal; then other resources with costs, by address.
  std::vector<ResourceCost> costs;
  std::vector<Unowned> unowned;  // for a destroy, if the clouds were queried
  std::vector<Kept> kept;        // not removed as long as their users exist
  std::vector<Elsewhere>
      elsewhere;  // for a plan whose state has no resources yet, if the clouds were queried for others
  std::vector<std::string> notes;
  PlanTotals totals;

  bool changes_anything() const {
    return !actions.empty() || !outputs.empty() || !moves.empty() || !protections.empty() ||
           !as_found.empty() || !scaled.empty();
  }
  const Action* find(const std::string& id) const;
};

struct PlanOptions {
  std::set<std::string> replace;  // addresses to replace
  // Limits the plan to these and what they need: resource addresses, step IDs, names of systems (all their
  // nodes with their steps). Empty: everything.
  std::set<std::string> targets;
  std::map<std::string, std::string> missing_outputs;  // step ID -> missing output
  // Choices of `radlc scale` with which the program was compiled; nullopt: those in the state.
  std::optional<Scalings> scaled;
  // Systems whose nodes an elastic farm chooses, not `radlc scale`, with a sentence about the choice.
  std::map<std::string, std::string> farm_systems;
  // Leave trainings and programs untouched. Set by a scale, which runs beside them.
  bool leave_jobs = false;
  std::string today;          // "2026-11-22": date to check the age of prices; empty: not checked
  std::string caller;         // addresses for SSH from RADL_CALLER_CIDR; empty: not set
  std::string project_words;  // " FILE --state DIR": names this project in commands that notes suggest
};

struct PlanInput {
  const ir::Program& program;
  const Snapshot& snapshot;  // empty if there is no state yet
  const CloudSet& clouds;
  const Catalog& catalog;
  // Fingerprint of each of the program's secrets (fingerprints()).
  std::map<std::string, std::string> secrets;
  const Observed* observed = nullptr;     // from a refresh
  std::map<std::string, Survey> surveys;  // CloudId::text() -> survey of a refresh
  PlanOptions options;
  std::vector<state_change::Move> moves = {};  // already made in `snapshot` (state/moves.h)
};

// Invalid: a cloud cannot create a node, a cloud is unknown, or dependencies form a cycle. The message lists
// every error, one per line.
Result<Plan> make_plan(const PlanInput& input);
// Removes everything in the state, in reverse order of creation.
Plan make_destroy_plan(const Snapshot& snapshot);
// Removes only the targets (addresses, names of systems) and what needs them. Invalid: an unknown target.
Result<Plan> make_destroy_plan(const Snapshot& snapshot, const std::set<std::string>& targets);

// Fingerprints of all secrets, salted with the state's salt.
std::map<std::string, std::string> fingerprints(const Snapshot& snapshot, const ir::Secrets& secrets);

// {"plan": kPlanVersion, ...}; docs/plan.md has every key. Readers must ignore unknown keys.
Json to_json(const Plan& plan);
Result<Plan> plan_from_json(const Json& json);

}  // namespace radl
