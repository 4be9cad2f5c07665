// plan = f(program, state, clouds' designs[, observed]): pure, offline, the same bytes for the same input.
//
// Out: the actions in a total order that respects their edges, each with a reason. runtime/exec executes
// exactly this. Rendered as text (render.h), JSON, DOT; kept in a file (plan_file.h).
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

// What a field's name begins with that is one of radlc's own tags: "marks.radlc:token".
inline constexpr const char* kMarkField = "marks.";

// One field that differs. Unknown values are {"$unknown": ..}, secrets {"$secret": ..}; null is "absent".
struct FieldChange {
  std::string field;
  Json before, after;
  bool forces_replacement = false;
  bool forces_restart = false;
};

struct Action {
  std::string id;  // = address of the resource, or id of the step; unique in the plan
  Verb verb = Verb::Create;
  bool is_step = false;
  std::string type;                // of a resource: the cloud's own word
  std::string cloud;               // of a resource: CloudId::text()
  std::string step_kind;           // of a step: "native", ...
  std::vector<std::string> nodes;  // a node's own address; a step's nodes
  std::string summary;             // what it is, in a few words: "local, 2 cpu, 4 GiB, in lan"
  std::vector<FieldChange> changes;
  // Ids of actions and barriers that must be done before this one makes or runs anything.
  std::vector<std::string> needs;
  // Delete, Replace: ids of actions whose removal must come before this removal.
  std::vector<std::string> removed_after;
  std::string why;
  std::vector<std::string> order;  // why it comes after others: "step 2 follows step 1 (worker[0]/base)"
  std::vector<std::string> uses;   // resources that must outlive it: its key and networks
  Json spec;       // Create, Update, Replace: what the cloud is given, the chosen offer laid over it
  Json base_spec;  // where there are offers: the same without one; offered_spec() makes it that of another
  std::vector<Offer> offers;  // Create, Replace: taken in this order, where the chosen one is not to be had
  size_t chosen = 0;          // of offers
  Money price_per_hour;       // of the chosen offer
  std::optional<double> seconds;  // predicted; absent: nobody knows
  // Of a step, before anything was measured (step_times.h); of a plan that was saved it is not known.
  std::optional<double> usual_seconds;
  bool resume = false;  // Run of a training: from its last checkpoint
  // Run, Forget of a job: nodes where an earlier version of it (still) runs, or may: it is ended there first.
  std::vector<std::string> ends;
  // Run of a job: nodes where this very job (still) runs, or may: it is joined there.
  std::vector<std::string> joins;
  // Run of a job that was left running and can be joined whatever becomes of the actions that it waits for.
  bool rejoins = false;
};

// No action, only a meeting point: over when all that it waits for has ended, in success or in failure. With
// `needs_success` (`after NAME`) only success will do: a failure gives up what waits for it.
struct Barrier {
  std::string id;  // may stand in `needs` of actions and other barriers
  std::vector<std::string> needs;
  bool needs_success = false;
};

struct OutputChange {
  std::string name;
  Verb verb = Verb::Create;  // Create, Update, Delete
  Json before, after;
  bool sensitive = false;
};

// What one resource costs an hour, before and after; 0: it is not there, or costs nothing.
struct ResourceCost {
  std::string address;
  std::string cloud;
  std::string machine;  // "ec2 t3.medium"; "local"
  Money before, after;
  // What it can be, by preference, a type and market each once whatever the zones; empty: there is no choice.
  std::vector<Offer> candidates;
  size_t chosen = 0;  // of candidates
  // False: nothing says what it will cost, and it is counted as nothing.
  bool priced() const { return chosen >= candidates.size() || candidates[chosen].facts.priced; }
};

// What carries this infrastructure's tag in a cloud though the state does not know it, or knows another
// resource of that token: it stays unless somebody asks for its removal by its id.
struct Unowned {
  std::string cloud, id, type;
  std::string address;       // as its tag says; may be empty
  std::string why;           // "its token is not one of this state's"
  std::string text() const;  // "i-1 (instance in ec2:/eu-west-1, tagged worker[0]): its token is not .."
};

// What stays although its removal was asked for.
struct Kept {
  std::string address;
  std::string by;  // what `radlc state rm` released and still uses it: "worker[0] (i-1)"
};

// Infrastructures of this name that exist beside this state's.
struct Elsewhere {
  std::string cloud;
  std::string infrastructure;          // infrastructure_tag()
  std::vector<std::string> resources;  // "worker[0] (i-1)"
};

struct PlanTotals {
  int create = 0, update = 0, replace = 0, remove = 0, run = 0, forget = 0;
  MoneySum price_per_hour_before, price_per_hour;  // the sums of Plan::costs, by currency
  double seconds = 0;                              // the longest path through the actions
  bool seconds_complete = true;  // false: some action's time is not known and not in `seconds`
};

struct Plan {
  int version = kPlanVersion;
  std::string infrastructure;
  bool destroys = false;  // made by make_destroy_plan
  bool partial = false;   // made with targets: what else there is to do was left out
  // What it was made of; a saved plan is refused when any of it moved on.
  std::string source_digest;
  std::vector<ir::Source> sources;
  std::string lineage;
  long long serial = 0;
  std::string catalog;                    // of the oldest price in it; empty: none is dated
  std::map<std::string, Survey> surveys;  // CloudId::text() -> what it was made with; none: the catalog alone

  std::vector<Action> actions;
  std::vector<Barrier> barriers;
  std::vector<OutputChange> outputs;
  std::vector<state_change::Move> moves;         // of the state, before anything else is done
  std::vector<state_change::PutScaling> scaled;  // what the state is to know of `radlc scale` from now on
  // Nodes that stay: what their prevent_destroy is from now on (ResourceRecord::protected_by).
  std::map<std::string, std::string> protections;
  // Resources that a refresh found to be as the file asks for while the state has them otherwise (a change
  // whose answer was lost, or made by hand): their specs, which are to be recorded.
  std::map<std::string, Json> as_found;
  std::vector<Drift> drift;  // changes made behind radlc's back, apart from those asked for
  // Of a refresh: what could not be looked at, and why. Not of what is made anew anyway.
  std::map<std::string, std::string> unseen;
  // Of every node, before or after, by system and ordinal; then of what else costs, by address.
  std::vector<ResourceCost> costs;
  std::vector<Unowned> unowned;  // of a destroy, where the clouds were asked
  std::vector<Kept> kept;        // not removed, as long as what uses it exists
  std::vector<Elsewhere>
      elsewhere;  // of a plan for a state that has nothing yet, where the clouds were asked
  std::vector<std::string> notes;
  PlanTotals totals;

  bool changes_anything() const {
    return !actions.empty() || !outputs.empty() || !moves.empty() || !protections.empty() ||
           !as_found.empty() || !scaled.empty();
  }
  const Action* find(const std::string& id) const;
};

struct PlanOptions {
  std::set<std::string> replace;  // addresses that must be made anew
  // Only these, with what they need: addresses of resources, ids of steps, names of systems (all their nodes,
  // with their steps). Empty: everything.
  std::set<std::string> targets;
  std::map<std::string, std::string> missing_outputs;  // steps whose output is not where it was: id -> what
  // What `radlc scale` has chosen, as the program was compiled with; absent: what the state has.
  std::optional<Scalings> scaled;
  // Systems whose nodes an elastic farm chooses, not `radlc scale`, and a sentence about the choice.
  std::map<std::string, std::string> farm_systems;
  // Trainings and programs are left as they are; of a scale, which works beside them.
  bool leave_jobs = false;
  std::string today;          // "2026-11-22": prices much older are noted; empty: not compared
  std::string caller;         // what SSH is opened for by RADL_CALLER_CIDR; empty: it is not set
  std::string project_words;  // " FILE --state DIR": what names this project in a command that a note gives
};

struct PlanInput {
  const ir::Program& program;
  const Snapshot& snapshot;  // an empty one when there is no state yet
  const CloudSet& clouds;
  const Catalog& catalog;
  // Fingerprint of each secret of the program (fingerprints()).
  std::map<std::string, std::string> secrets;
  const Observed* observed = nullptr;     // of a refresh
  std::map<std::string, Survey> surveys;  // CloudId::text() -> of a refresh
  PlanOptions options;
  std::vector<state_change::Move> moves = {};  // that were made in `snapshot` already (state/moves.h)
};

// Invalid: a node that its cloud cannot make, an unknown cloud, a cycle: everything wrong in one message a
// line.
Result<Plan> make_plan(const PlanInput& input);
// Everything in the state, in the reverse order of its making.
Plan make_destroy_plan(const Snapshot& snapshot);
// Only the targets (addresses, names of systems), and what needs them. Invalid: one that is not in the state.
Result<Plan> make_destroy_plan(const Snapshot& snapshot, const std::set<std::string>& targets);

// Fingerprints of all secrets, salted by the state.
std::map<std::string, std::string> fingerprints(const Snapshot& snapshot, const ir::Secrets& secrets);

// {"plan": kPlanVersion, ...}; docs/plan.md has every key. Unknown keys are to be ignored by readers.
Json to_json(const Plan& plan);
Result<Plan> plan_from_json(const Json& json);

}  // namespace radl
