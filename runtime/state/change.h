// Changes that a run writes to a state: plain values, passed to Store::commit() and applied in order.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/state/snapshot.h"

namespace radl {

// An operation whose response could be lost. Written before the request, closed after it.
struct Intent {
  enum class Kind { Create, Update, Destroy, Run };
  long long id = 0;
  Kind kind = Kind::Create;
  std::string address;      // of the resource, or the step's ID
  std::string token;        // Create: the token sent to the cloud
  ResourceRecord resource;  // Create: all but ID and attributes; Destroy, Update: the previous record
  double opened_at = 0;     // wall-clock seconds
};
std::string_view intent_kind_name(Intent::Kind kind);

namespace state_change {

// Opens an intent. For Destroy, also marks the resource as being destroyed.
struct Begin {
  Intent intent;
};
struct Close {
  long long intent = 0;
  std::string outcome;  // "done", "nothing", or a step's status
};
struct PutResource {
  ResourceRecord record;
};
// Also removes records of steps that exist only on it.
struct RemoveResource {
  std::string address;
  bool keep_steps = false;    // for a replacement: they stay until they have run again
  bool forget_begun = false;  // closes intents of an interrupted run on it
};
// Removes a resource that continues to exist: it joins Snapshot::released, and the journal forgets that this
// state created it.
struct Release {
  std::string address;
};
// A released resource no longer exists, or was imported again.
struct DropReleased {
  std::string cloud, id;
};
// Gives a still empty state the lineage of an existing infrastructure.
struct TakeLineage {
  std::string lineage;
};
struct PutStep {
  StepRecord record;
};
struct ForgetStep {
  std::string id;
};
// Renames a resource, or a system "a" -> "b", everywhere in the state, including step dependencies and
// intents of interrupted runs.
struct Move {
  std::string from, to;
  bool with_recipe = false;  // for a system: also renames the recipe of the same name
};
// Sets the node's `protected_by`.
struct Protect {
  std::string address;
  std::string by;  // empty: no longer protected
};
// The choice of `radlc scale` for a system.
struct PutScaling {
  std::string system;
  std::optional<Scaling> chosen;  // nullopt: the file's number applies again
};
// The account of a cloud when something was first created there.
struct PutOwner {
  std::string cloud;  // CloudId::text()
  std::string owner;  // from Cloud::owner()
};
// The end of a run: outputs, fingerprints of secrets, sources, and a line of history.
struct CloseRun {
  std::vector<OutputRecord> outputs;
  std::map<std::string, std::string> secrets;
  std::string source_digest;
  std::vector<std::string> source_paths;
  std::string command, summary;
};

}  // namespace state_change

using StateChange = std::variant<state_change::Begin, state_change::Close, state_change::PutResource,
                                 state_change::RemoveResource, state_change::Release,
                                 state_change::DropReleased, state_change::TakeLineage, state_change::PutStep,
                                 state_change::ForgetStep, state_change::Move, state_change::Protect,
                                 state_change::PutScaling, state_change::PutOwner, state_change::CloseRun>;

}  // namespace radl
