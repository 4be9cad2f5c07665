// The state of one infrastructure as plain values, read and written by runtime/state/store. Contains no
// secrets: {"$secret": NAME} stays a reference, and `secrets` holds salted fingerprints.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/money.h"

namespace radl {

using Json = nlohmann::json;

enum class ResourceStatus {
  Ready,
  Tainted,   // must be replaced: it never became reachable, or the user requested it
  Deleting,  // a destroy was started but did not succeed
};
std::string_view resource_status_name(ResourceStatus status);

struct ResourceRecord {
  std::string address;  // "worker[0]", "network.lan", "key.local"
  std::string type;     // the cloud's own term: "node", "security_group"
  std::string cloud;    // CloudId::text() of its location
  std::string id;       // the cloud's ID
  std::string token;    // of its creation
  ResourceStatus status = ResourceStatus::Ready;
  Json spec = Json::object();        // as last passed to create() or update()
  Json attributes = Json::object();  // as last shown by the cloud
  std::string system;                // nodes: "worker"; else empty
  int ordinal = 0;
  int number = -1;         // nodes: #N#
  bool reachable = false;  // nodes: connected at least once since creation
  Money price_per_hour;
  std::vector<std::string> needs;  // resources that must outlive it: its key and networks
  double created_at = 0;           // wall-clock seconds
  // Nodes: position of prevent_destroy in the last applied file ("demo.radl:4"); empty: none.
  std::string protected_by;

  bool is_node() const { return !system.empty(); }
};

// A job's (training's, program's) folder on nodes: `~/.radl/jobs/NAME`. Recorded from before its first
// process starts until the folder or its nodes are removed.
struct JobFolder {
  std::string name;
  std::map<std::string, std::string> nodes;  // address -> ID of the resource it is on
  // Nodes where its processes may still run, because not all were seen to end.
  std::vector<std::string> may_run;
  std::string signal = "TERM";  // signal that asks its processes to end
  double grace_seconds = 20;    // time until they are killed
  bool operator==(const JobFolder&) const = default;
};
void to_json(Json& json, const JobFolder& folder);
void from_json(const Json& json, JobFolder& folder);

enum class StepStatus {
  Done,
  Failed,
  Interrupted,
  Detached,  // a job left running on its nodes
};
std::string_view step_status_name(StepStatus status);
// For a job: it runs, or may run.
inline bool has_not_ended(StepStatus status) {
  return status == StepStatus::Interrupted || status == StepStatus::Detached;
}

struct StepRecord {
  std::string id;  // "worker[0]/tools"
  std::string recipe;
  std::string kind;                            // "native", "ansible", "cloud_init", "training"
  std::vector<std::string> nodes;              // addresses
  std::map<std::string, std::string> made_on;  // address -> resource ID that it ran on
  StepStatus status = StepStatus::Done;
  std::string digest;    // of the step itself: recipe, inputs, files, fingerprints of secrets; empty after a
                         // `state mv` of something it names: then the definition shows what changed
  std::string revision;  // combines the digest with the revisions of earlier steps on its node
  std::shared_ptr<const Json> definition;     // the step as applied, secrets by reference, to show changes
  std::map<std::string, std::string> inputs;  // value or step used -> its fingerprint or revision then
  Json output = Json::object();
  std::vector<JobFolder> jobs;  // for a job: its folders on nodes, newest last
  std::string error;            // of a failure, redacted
  double seconds = 0;           // duration
  double finished_at = 0;       // wall-clock seconds
};

struct OutputRecord {
  std::string name;
  Json value;  // unknown parts resolved, secrets by reference; null if sensitive
  std::string description;
  bool sensitive = false;
};

// The number of a system's nodes chosen by `radlc scale` (runtime/plan/scaling.h).
struct Scaling {
  int of = 0;                 // the file's number at that time; the choice holds while it is unchanged
  std::vector<int> ordinals;  // ascending
  bool operator==(const Scaling&) const = default;
};
using Scalings = std::map<std::string, Scaling>;  // by system

// A resource released by `radlc state rm`: it exists, but radlc never touches it again.
struct Released {
  std::string address, type, cloud, id;
  std::vector<std::string> needs;  // IDs of what it uses, which is kept as long as it exists
  bool operator==(const Released&) const = default;
};

struct Snapshot {
  std::string name;           // of the infrastructure
  std::string lineage;        // random, created with the state: distinguishes states of one name
  std::string salt;           // random, for fingerprints; never leaves the state
  long long serial = 0;       // increases with every write
  std::string source_digest;  // of the last applied program
  std::vector<std::string> source_paths;
  std::map<std::string, ResourceRecord> resources;  // by address
  std::map<std::string, StepRecord> steps;          // by id
  std::vector<OutputRecord> outputs;                // as declared
  std::map<std::string, std::string> secrets;       // name -> fingerprint
  // CloudId::text() -> account when something was first created there, from
  // Cloud::owner().
  std::map<std::string, std::string> owners;
  Scalings scaled;
  std::vector<Released> released;
  std::string copy_of;  // location of the original, if this is a copy (home.h); else empty
  // Jobs supervised by another process: step ID -> supervisor, as LockInfo::text().
  std::map<std::string, std::string> supervised;
  size_t open_intents = 0;  // started and not known to have ended: by `at_work`, or left by an earlier run;
                            // without those of supervised jobs
  // The run holding the state's lock at the time of reading, as LockInfo::text(); empty: no live run, or the
  // reader itself.
  std::string at_work;

  bool empty() const { return resources.empty() && steps.empty(); }
  // An earlier run was interrupted: call recover() before applying.
  bool interrupted() const { return open_intents > 0 && at_work.empty(); }
};

// {"state":3, name, lineage, serial, resources:[..], steps:[..], outputs:[..]}: `radlc show --json`.
Json to_json(const Snapshot& snapshot);
// Same with everything in the records: also tokens, definitions of steps and what they used (`radlc state
// export`).
Json whole_json(const Snapshot& snapshot);

// [{"address", "type", "cloud", "id", "needs"}]
Json released_json(const std::vector<Released>& released);

// {"worker": {"of": 2, "nodes": [0, 1, 4]}}
Json scalings_json(const Scalings& scaled);

// The tag on an infrastructure's cloud resources; unique even among states with the same name.
std::string infrastructure_tag(const std::string& name, const std::string& lineage);

// HMAC of a secret, salted with the state's salt: reveals only whether it changed.
std::string secret_fingerprint(const Snapshot& snapshot, const std::string& secret);

}  // namespace radl
