// What a provider of machines must do. One implementation a folder: local, hosts, ec2, ...
//
// All calls block, may be made from several threads, and honour `Context::cancelled` and `Context::deadline`.
// The caller (runtime/exec) has written an intent with `token` before `create`, and closes it afterwards;
// after a crash it asks `find(token)`. So create must attach the token to what it makes, in a way that
// survives a crash between "asked for" and "answered".
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/stop.h"
#include "compiler/ir/ir.h"

namespace radl {

using Json = nlohmann::json;

struct Context {
  std::string infrastructure;  // id, unique; names and tags carry it
  std::string work_directory;  // private to this infrastructure (mode 0700), kept beside the state
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::function<bool()> cancelled = [] { return false; };
  Stop stop() const { return Stop::when(cancelled).until(deadline); }
  std::string run;       // of this run of radlc, unique; empty where nothing is changed
  bool booting = false;  // connecting: the machine has not been reached before
  std::function<void(const std::string& line)> log = [](const std::string&) {};
  const ir::Secrets* secrets = nullptr;
  // create() and update() of a node: the attributes of what it needs (its key, its networks), by address.
  std::map<std::string, Json> made;
};

enum class ResourceKind { Key, Network, Node };
// "key", "network", "node": in the state, in plans and in events.
constexpr std::string_view resource_kind_name(ResourceKind kind) {
  switch (kind) {
    case ResourceKind::Key:
      return "key";
    case ResourceKind::Network:
      return "network";
    case ResourceKind::Node:
      return "node";
  }
  return "unknown";
}

// What the plan asks for besides the quoted nodes, and in this order: one Key (address "key.PROVIDER", spec
// {"type":"ed25519"}), then each Network that a node of this provider is in and that is no reference (address
// "network.lan", spec
// {"name","public","ports":[{protocol,cidr,remote,remote_end,local,local_end}],"features"}), then the nodes.
// Removed in the reverse order.

// The machine a node becomes, chosen at plan time: offline and deterministic.
struct Quote {
  std::string instance_type;  // "local"
  double price_per_hour = 0;  // in `currency`
  std::string currency = "USD";
  double seconds_to_ready = 0;  // predicted
  Json spec = Json::object();   // what create() is given; part of the plan, so no secrets
  std::vector<std::string> notes;
};

// What was made. `attributes` of a Node holds at least: host, port, user, host_key (OpenSSH public key line),
// private_ip, public_ip (may be null), and vm_id; and `state`, "running" or "stopped", where it is known.
struct Made {
  std::string id;
  Json attributes = Json::object();
  bool complete =
      true;  // find() and list(): false when create() had not finished; the caller destroys it by `id`
  ResourceKind kind = ResourceKind::Node;  // list(): what it is
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string name() const = 0;
  // Pure: no network, same answer for the same input. Invalid names the feature that cannot be had.
  virtual Result<Quote> quote(const ir::Node& node, const ir::Program& program) const = 0;

  // Invalid, NotFound, Exists, Conflict, Auth, Quota and Unsupported are refusals: nothing was made, or
  // find() shows it now. After any other error it is looked for.
  virtual Result<Made> create(const Context& context, ResourceKind kind, const std::string& address,
                              const Json& spec, const std::string& token) = 0;
  // What create(token) made, or nullopt when nothing of it can be seen. Proof that there is nothing only when
  // asked `settles_after()` after create() or later.
  virtual Result<std::optional<Made>> find(const Context& context, ResourceKind kind,
                                           const std::string& token) = 0;
  // How long after a request find(), read() and list() may still not show what came of it; 0 where they
  // always do. An intent whose answer was lost stays open that long, and nothing of its address is made
  // meanwhile.
  virtual std::chrono::milliseconds settles_after() const = 0;
  // The present attributes; NotFound when it is gone.
  virtual Result<Made> read(const Context& context, ResourceKind kind, const std::string& id) = 0;
  // True where read() of a node asks nothing outside of this computer: apply looks at such nodes each time.
  virtual bool reads_at_once() const { return false; }
  // Changes in place what can be; Unsupported makes the plan a replacement.
  virtual Result<Made> update(const Context& context, ResourceKind kind, const std::string& id,
                              const Json& spec) = 0;
  // Destroys and verifies; ok when it was gone already.
  virtual Status destroy(const Context& context, ResourceKind kind, const std::string& id) = 0;
  // True when changing this spec field can be done by update() instead of a replacement. Field "state" of a
  // Node: update() starts a machine that is stopped.
  virtual bool updates_in_place(ResourceKind kind, const std::string& spec_field) const = 0;
  // Everything that carries this infrastructure's name or tag: destroy lists what is left.
  virtual Result<std::vector<Made>> list(const Context& context) = 0;
};

}  // namespace radl
