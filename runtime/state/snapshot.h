// What the state knows of one infrastructure: plain values, read and written by runtime/state/store.
// Secrets are never in it: {"$secret": NAME} stays as it is, and `secrets` holds salted fingerprints.
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
  Tainted,   // made, but it must be replaced: it never became reachable, or the user said so
  Deleting,  // a destroy was begun and did not end well
};
std::string_view resource_status_name(ResourceStatus status);

struct ResourceRecord {
  std::string address;  // "worker[0]", "network.lan", "key.local"
  std::string type;     // the cloud's own word: "node", "security_group"
  std::string cloud;    // CloudId::text() of where it is
  std::string id;       // the cloud's
  std::string token;    // it was made with
  ResourceStatus status = ResourceStatus::Ready;
  Json spec = Json::object();        // as given to create() or update() last
  Json attributes = Json::object();  // as the cloud showed them last
  std::string system;                // nodes: "worker"; else empty
  int ordinal = 0;
  int number = -1;         // nodes: #N#
  bool reachable = false;  // nodes: a connection has been made since it was created
  Money price_per_hour;
  std::vector<std::string> needs;  // resources that must outlive it: its key and networks
  double created_at = 0;           // wall seconds
  // Nodes: where the file that was applied last says prevent_destroy ("demo.radl:4"); empty: nowhere.
  std::string protected_by;

  bool is_node() const { return !system.empty(); }
};

// A folder of a job (a training, a program) on nodes: `~/.radl/jobs/NAME`. It is recorded before the first of
// its processes starts, and until the folder is removed or its nodes are gone.
struct JobFolder {
  std::string name;
  std::map<std::string, std::string> nodes;  // address -> id of the resource that it is on
  // Addresses of nodes where its processes may still run: nobody has seen all of them end.
  std::vector<std::string> may_run;
  std::string signal = "TERM";  // asks its processes to end
  double grace_seconds = 20;    // then they are killed
  bool operator==(const JobFolder&) const = default;
};
void to_json(Json& json, const JobFolder& folder);
void from_json(const Json& json, JobFolder& folder);

enum class StepStatus {
  Done,
  Failed,
  Interrupted,
  Detached,  // a job that was left running on its nodes
};
std::string_view step_status_name(StepStatus status);
// Of a job: it runs, or may.
inline bool has_not_ended(StepStatus status) {
  return status == StepStatus::Interrupted || status == StepStatus::Detached;
}

struct StepRecord {
  std::string id;  // "worker[0]/tools"
  std::string recipe;
  std::string kind;                            // "native", "ansible", "cloud_init", "training"
  std::vector<std::string> nodes;              // addresses
  std::map<std::string, std::string> made_on;  // address -> resource id that it ran on
  StepStatus status = StepStatus::Done;
  std::string digest;    // of the step itself: recipe, inputs, files, secrets' fingerprints; empty after a
                         // `state mv` of what it names: then the definition tells what changed
  std::string revision;  // over the digest and the revisions of the steps before it on its node
  std::shared_ptr<const Json> definition;     // the step as it was, secrets by reference: shows what changed
  std::map<std::string, std::string> inputs;  // value or step that it used -> fingerprint or revision then
  Json output = Json::object();
  std::vector<JobFolder> jobs;  // of a job: its folders on nodes, the newest last
  std::string error;            // of a failure, redacted
  double seconds = 0;           // it took
  double finished_at = 0;       // wall seconds
};

struct OutputRecord {
  std::string name;
  Json value;  // unknown parts resolved, secrets by reference; null when sensitive
  std::string description;
  bool sensitive = false;
};

// How many nodes a system has by `radlc scale` (runtime/plan/scaling.h).
struct Scaling {
  int of = 0;  // nodes that the file said when they were chosen: it holds as long as it says so
  std::vector<int> ordinals;  // ascending
  bool operator==(const Scaling&) const = default;
};
using Scalings = std::map<std::string, Scaling>;  // by system

// What `radlc state rm` has let go of: it exists, and radlc never touches it again.
struct Released {
  std::string address, type, cloud, id;
  std::vector<std::string> needs;  // ids of what it uses: that stays as long as it does
  bool operator==(const Released&) const = default;
};

struct Snapshot {
  std::string name;           // of the infrastructure
  std::string lineage;        // random, made with the state: two states of one name are distinguished
  std::string salt;           // random, of the fingerprints; never leaves the state
  long long serial = 0;       // grows with every write
  std::string source_digest;  // of the program applied last
  std::vector<std::string> source_paths;
  std::map<std::string, ResourceRecord> resources;  // by address
  std::map<std::string, StepRecord> steps;          // by id
  std::vector<OutputRecord> outputs;                // as declared
  std::map<std::string, std::string> secrets;       // name -> fingerprint
  // Cloud, as CloudId::text() has it -> whose account it was when something was first made there, in the
  // words of Cloud::owner().
  std::map<std::string, std::string> owners;
  Scalings scaled;
  std::vector<Released> released;
  std::string copy_of;  // where the state is that this one is a copy of (home.h); empty: it is none
  // Jobs that run under somebody else's supervision: the step's id -> who, as LockInfo::text() has it.
  std::map<std::string, std::string> supervised;
  size_t open_intents = 0;  // begun, and not known to have ended: of `at_work`, or left by a run before; not
                            // those of supervised jobs
  // The run that holds the state's lock while this is read, as LockInfo::text() has it; empty: none that
  // lives, or the reader itself.
  std::string at_work;

  bool empty() const { return resources.empty() && steps.empty(); }
  // An earlier run was interrupted: recover() before applying.
  bool interrupted() const { return open_intents > 0 && at_work.empty(); }
};

// {"state":3, name, lineage, serial, resources:[..], steps:[..], outputs:[..]}: `radlc show --json`.
Json to_json(const Snapshot& snapshot);
// The same with all that the records hold: also tokens, what steps were and what they used (`radlc state
// export`).
Json whole_json(const Snapshot& snapshot);

// [{"address", "type", "cloud", "id", "needs"}]
Json released_json(const std::vector<Released>& released);

// {"worker": {"of": 2, "nodes": [0, 1, 4]}}
Json scalings_json(const Scalings& scaled);

// What clouds tag an infrastructure's things with: unique also among states of the same name.
std::string infrastructure_tag(const std::string& name, const std::string& lineage);

// HMAC over a secret, salted by the state: tells that it changed, and no more.
std::string secret_fingerprint(const Snapshot& snapshot, const std::string& secret);

}  // namespace radl
