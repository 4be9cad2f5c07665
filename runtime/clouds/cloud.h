// What a cloud must do. One implementation a folder: local, hosts, simulated, ec2, ...
//
// A cloud declares and is asked; it never waits. design() says which resources a program needs, without a
// network. ask_create(), ask_update() and ask_destroy() hand in a request and return as soon as the cloud has
// said whether it takes it; look() shows how all that is asked for stands, in as few calls as the cloud's API
// allows. Who waits, repeats, recovers and compares is runtime/exec, in one way for every cloud.
//
// All calls may be made from several threads and honour `Context::stop()`.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"
#include "runtime/base/context.h"
#include "runtime/base/money.h"
#include "runtime/catalog/catalog.h"

namespace radl {

using Json = nlohmann::json;

// Two accounts, or two regions of one account, are two clouds: what is recorded of one is never looked for in
// the other.
struct CloudId {
  std::string type;     // "local", "ec2"
  std::string account;  // empty where there is only one
  std::string region;   // empty where there is only one

  // "local", "ec2:123456789012/eu-west-1", "simulated:/eu": in the state, in plans and in addresses.
  std::string text() const;
  static Result<CloudId> parse(const std::string& text);
  bool operator==(const CloudId&) const = default;
};

// ---- planning ----

// What the cloud has on offer now: images, quotas, default network, zones, spot prices. The only thing of
// planning that takes a network; a plan is made without one unless the user asks for it.
struct Survey {
  double taken_at = 0;  // wall seconds; 0: never taken
  Json facts = Json::object();
};

// What one machine takes of a quota of the account, and how much of it there is for this infrastructure.
struct QuotaUse {
  std::string name;  // as people would ask the cloud for more: "on-demand standard instances, vCPUs"
  double each = 0, room = 0;
};

// What a plan shows of an offer beside its price; nothing is decided by it.
struct OfferFacts {
  std::string market;                    // "on-demand", "spot"; empty: there is one price
  std::string as_of;                     // of when the price is: "2025-11-03"; empty: it is not dated
  bool priced = true;                    // false: it costs something, and nobody knows what
  std::optional<Money> on_demand, spot;  // per hour, as far as they are known
  std::string beside_as_of;              // of when the price in the other market is
  double cpu = 0, memory_bytes = 0, gpu = 0;
  std::string gpu_model;  // "NVIDIA V100"
};

// One way to have a resource, and what it costs.
struct Offer {
  std::string name;  // the instance type, as the cloud calls it
  std::string zone;  // empty: the cloud chooses
  Money price_per_hour;
  Json spec = Json::object();  // laid over Wanted::spec where this offer is taken
  OfferFacts facts;
};

// `spec` with each field of `over` in place of its own, whole; a null takes the field away.
Json laid_over(const Json& spec, const Json& over);
// What ask_create() is given where this offer is taken.
Json offered_spec(const Json& spec, const Offer& offer);

struct Wanted {
  std::string address;  // unique in the infrastructure: "worker[0]", "network.lan", "key.local"
  std::string type;     // the cloud's own word: "instance", "security_group"
  // What ask_create() is given; part of the plan, so no secrets.
  Json spec = Json::object();
  std::vector<std::string> references;  // addresses: made before it, removed after it
  std::string summary;                  // what it is, in a few words: "local, 2 cpu, 4 GiB, in lan"
  std::vector<Offer> offers;            // by preference; empty: it costs nothing
  size_t chosen = 0;                    // of offers
  double seconds = 0;                   // predicted, from asked for to Ready
  std::string node;                     // the address of the ir::Node that it is; empty: no machine
};

struct Design {
  std::vector<Wanted> resources;   // each after what it references
  std::vector<std::string> notes;  // what the reviewer should know, each once
};

struct DesignInput {
  const ir::Program& program;
  std::vector<const ir::Node*> nodes;  // those of this cloud; soft features are decided already
  const Survey& survey;
  const Catalog& catalog;
  // Of the cloud for nodes that name none: its networks are "network.lan", those of any other cloud
  // "network.lan@CLOUD", so that another node in the file never makes a network change hands.
  bool plain_names = true;
};

struct Impact {
  enum class Kind { InPlace, Restart, Replace };
  Kind kind = Kind::Replace;
  std::string why;  // of Restart and Replace: "the host name is fixed when the node is created"
};

// ---- asking ----

// What a resource that is referenced has become.
struct Reference {
  std::string type, id;
  Json attributes = Json::object();
};

struct Order {
  std::string address, type;
  Json spec = Json::object();
  std::map<std::string, Reference> references;  // by address
  std::string token;                            // ask_create: idempotent for it; look() finds by it
  std::string id;                               // ask_update, ask_destroy: the cloud's
  Json attributes = Json::object();             // as recorded last; empty for ask_create
};

struct Asked {
  enum class Answer {
    Accepted,  // it is being done; look() tells how far it is
    Refused,   // nothing was done, and nothing will show up. Code::Retry: ask again later (throttled)
    Unknown,   // the answer was lost: it may have been done; look() by the token tells
  };
  Answer answer = Answer::Unknown;
  std::string id;  // of Accepted, if the cloud has said it already
  // Of Accepted: it takes more than one request (a rule in a new group; a machine that must be stopped before
  // it is changed). As soon as it shows and is not Pending, ask_update() does the next part.
  bool again = false;
  // Why not. Code::Quota: no capacity or quota for this offer; another offer may do.
  Status status;
  double retry_after = 0;  // seconds that the cloud asks to wait before the next attempt; 0: it does not say

  static Asked accepted(std::string id = {}) { return {Answer::Accepted, std::move(id), false, {}, 0}; }
  static Asked accepted_so_far(std::string id) { return {Answer::Accepted, std::move(id), true, {}, 0}; }
  static Asked refused(Status why, double retry_after = 0) {
    return {Answer::Refused, {}, false, std::move(why), retry_after};
  }
  static Asked unknown(Status why) { return {Answer::Unknown, {}, false, std::move(why), 0}; }
};

// ---- looking ----

enum class ResourcePhase {
  Pending,  // being made or changed
  Ready,
  Stopped,  // a machine that is there and does not run
  Broken,   // it is there and will not become ready; `detail` says why. To be destroyed
  Leaving,  // being destroyed
};
std::string_view phase_name(ResourcePhase phase);  // "pending", ...

// What is there. What is gone is not shown (a cloud that keeps terminated machines in its lists leaves them
// out).
struct Seen {
  std::string address, type, id, token;  // address and token as far as the cloud keeps them (tags)
  ResourcePhase phase = ResourcePhase::Pending;
  // The fields of the spec that can be observed, each whole, as they are now: laid over what was asked for
  // last and compared with what is wanted; and what `radlc import` takes over.
  Json spec = Json::object();
  // Of a machine at least: host, port, user, host_key (OpenSSH public key line), private_ip, public_ip (may
  // be null), vm_id, and state ("running" or "stopped"). Of one that the cloud may take back, where its own
  // services say so before: eviction_notice, how it asks them (`interruption` of docs/job.md).
  Json attributes = Json::object();
  // The tags of radlc's own that it carries now, by name: compared with Cloud::marks_of().
  Json marks = Json::object();
  std::string detail;
  bool no_room = false;  // of Broken: for want of capacity or quota; another offer may do
};

struct Query {
  std::vector<std::string> tokens;
  std::vector<std::string> ids;
  bool everything = false;  // that carries the infrastructure's tag
  // What the state calls ids, also those whose tags somebody changed: by id.
  std::map<std::string, std::string> names;
};

// What ask_power() does to a machine. ask_update() starts one that is stopped.
enum class Power {
  Stop,    // it keeps its disks and its identity, and look() shows it as Stopped
  Reboot,  // look() may show it as Ready all along
};

// Between two looks while something is pending: `first` after asking, doubled up to `longest`.
struct Pace {
  std::chrono::milliseconds first{1000}, longest{5000};
};

class Cloud {
 public:
  virtual ~Cloud() = default;
  virtual const CloudId& id() const = 0;
  // What the addresses of images that it serves begin with: "ssh" of 'ssh://gpu1'.
  virtual std::vector<std::string> image_schemes() const { return {}; }

  // --- planning; pure but for survey() ---
  // Of a program with this cloud's nodes and no others.
  virtual Result<Survey> survey(const Context& context, const ir::Program& program) = 0;
  // Ok when such a machine can be had: decides soft features. Invalid names the feature that stands against
  // it.
  virtual Status can_make(const ir::Node& node, const DesignInput& input) const = 0;
  // Of the quotas that a survey knows, those that a machine of the type takes from.
  virtual std::vector<QuotaUse> quota_uses(const InstanceType&, Market, const Survey&, const Catalog&) const {
    return {};
  }
  // Every resource that the nodes need: keys, networks, rules, addresses, volumes and the nodes themselves.
  // Same answer for same input. Every node of the input passes can_make().
  virtual Result<Design> design(const DesignInput& input) const = 0;
  // By values: growing a disk may be done in place and shrinking it not. "state" of a machine ("stopped" ->
  // "running"): whether ask_update() can start it.
  virtual Impact impact(const std::string& type, const Json& before, const Json& after) const = 0;
  // What a resource of `type` takes if one that it references, of type `needed`, was deleted outside of radlc
  // and is created again. nullopt: nothing, it goes on as it is. InPlace: ask_update() attaches the new one.
  // A key pair is never a reason to touch a machine.
  virtual std::optional<Impact> impact_of_lost(const std::string& type, const std::string& needed) const;
  // The tags of its own that radlc writes on what it creates for this order, by name. Empty: the cloud keeps
  // none that can be written again (TakesOver::take_over()).
  virtual Json marks_of(const Context&, const Order&) const { return Json::object(); }
  // Whether the first login at a machine may come before the cloud can tell its host key (host_keys()).
  virtual bool trusts_on_first_use() const { return false; }

  // --- asking ---
  // Asks the cloud, without creating anything, whether these orders for machines would be allowed. Each
  // text names a permission that the credentials lack. Empty: nothing is refused, or the cloud cannot
  // say.
  virtual std::vector<std::string> refused_in_advance(const Context&, const std::vector<Order>&) {
    return {};
  }
  virtual Asked ask_create(const Context& context, const Order& order) = 0;
  virtual Asked ask_update(const Context& context, const Order& order) = 0;
  // Stops or reboots a machine. Accepted if it is stopped already and is to be. Unsupported: this cloud
  // cannot.
  virtual Asked ask_power(const Context& context, const Order& order, Power power);
  // Copies the root disk of a machine to a new image of the account, called `name`. Accepted with the image's
  // address for disk.0.image.url as its id; the image may not be usable yet. Unsupported: this cloud cannot.
  virtual Asked ask_image(const Context& context, const Order& order, const std::string& name);
  // Accepted when it is gone already; a NotFound is believed of what was made settles_after() ago.
  virtual Asked ask_destroy(const Context& context, const Order& order) = 0;

  // --- looking ---
  // Everything that the query names and that is there, in any order, each once; what is not there is left
  // out. An error when that cannot be found out.
  virtual Result<std::vector<Seen>> look(const Context& context, const Query& query) = 0;
  // Whose resources these are, as the cloud says itself: an account's number. Asked before anything is looked
  // up, since to other credentials all that an infrastructure has would seem to be gone. Empty: there is only
  // one.
  virtual Result<std::string> owner(const Context&) { return std::string(); }
  // The host keys of a machine (OpenSSH public key lines) as the cloud knows them, by a way that nobody on
  // the path to the machine can change. Empty: not (yet) known.
  virtual Result<std::vector<std::string>> host_keys(const Context&, const std::string&) {
    return std::vector<std::string>();
  }
  // Whether machines find each other by the names of the file without anybody's doing.
  virtual bool resolves_names() const { return true; }
  // How long after a request look() may still not show what came of it; 0 where it always does. An intent
  // whose answer was lost stays open that long.
  virtual std::chrono::milliseconds settles_after() const = 0;
  virtual Pace pace() const { return {}; }
};

}  // namespace radl
