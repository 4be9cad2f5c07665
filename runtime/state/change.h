// What a run writes to a state: plain values, handed to Store::commit() and applied in their order.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/state/snapshot.h"

namespace radl {

// A thing about to be done whose answer could be lost. Written before it is asked for, closed after.
struct Intent {
  enum class Kind { Create, Update, Destroy, Run };
  long long id = 0;
  Kind kind = Kind::Create;
  std::string address;      // of the resource, or the id of the step
  std::string token;        // Create: what the cloud is given
  ResourceRecord resource;  // Create: all but id and attributes; Destroy, Update: as it was
  double opened_at = 0;     // wall seconds
};
std::string_view intent_kind_name(Intent::Kind kind);

namespace state_change {

// Opens an intent; of Destroy the resource is marked as being destroyed as well.
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
// With the records of steps that are only on it.
struct RemoveResource {
  std::string address;
  bool keep_steps = false;    // of a replacement: they stay known until they have run again
  bool forget_begun = false;  // closes what an interrupted run had begun on it
};
// RemoveResource of something that goes on existing: it joins Snapshot::released, and the journal forgets
// that this state has created it.
struct Release {
  std::string address;
};
// What was released is gone, or was imported again.
struct DropReleased {
  std::string cloud, id;
};
// The state, in which nothing is recorded yet, is that of an infrastructure that exists already.
struct TakeLineage {
  std::string lineage;
};
struct PutStep {
  StepRecord record;
};
struct ForgetStep {
  std::string id;
};
// A resource, or a system "a" -> "b", wherever the state names it: also in what its steps depend on and in
// what an interrupted run had begun.
struct Move {
  std::string from, to;
  bool with_recipe = false;  // of a system: its recipe of the same name goes along
};
// The node's `protected_by`.
struct Protect {
  std::string address;
  std::string by;  // empty: it is protected no more
};
// What `radlc scale` has chosen for a system.
struct PutScaling {
  std::string system;
  std::optional<Scaling> chosen;  // none: the file's number holds again
};
// Whose account a cloud was when something was first made there.
struct PutOwner {
  std::string cloud;  // CloudId::text()
  std::string owner;  // as Cloud::owner() says it
};
// The end of a run: outputs, secrets' fingerprints, sources, and a line of history.
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
