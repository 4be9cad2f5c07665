// The intermediate representation: THE contract between the compiler and the runtime.
//
// In: a checked program (compiler/passes). Out: plan (runtime/plan), or JSON (docs/ir.md, `radlc compile -o`).
// Everything is expanded: one Node for each machine, one Step for each thing done on a node, explicit edges.
// Property bags are JSON values. Two kinds of value stand for something that is not in the text:
//   {"$unknown": "worker[0].ip"}    known only after apply; names the attribute it will be
//   {"$secret": "NAME"}             held in Secrets, never serialised; NAME is stable between runs
// Both may stand wherever a JSON value may, and inside lists and objects. Text that contains an unknown part is
//   {"$join": ["http://", {"$unknown": "server[0].ip"}, ":8080"]}
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"

namespace radl::ir {

inline constexpr int kVersion = 1;

using Json = nlohmann::json;

// Secret name -> value. Lives in memory only.
using Secrets = std::map<std::string, std::string>;

// Where something was written, for messages of later stages.
struct Origin {
  std::string path;  // as the user named it
  int line = 0;      // from 1; 0: unknown
  int column = 0;
};

struct Source {
  std::string path;
  std::string sha256;
};

// A port opened to the outside (radl outports). remote..remote_end on the public side, local on the machine.
struct PortRule {
  std::string protocol = "tcp";  // tcp, udp, icmp
  std::string cidr = "0.0.0.0/0";
  int remote = 0, remote_end = 0;
  int local = 0, local_end = 0;
};

struct Network {
  std::string address;  // "network.lan"
  std::string name;     // "lan"
  bool is_public = false;
  bool reference = false;  // stands for one that the infrastructure has already
  std::vector<PortRule> ports;
  Json features = Json::object();  // every feature as written, name -> value
  Origin origin;
};

// What is asked of a machine. Numbers carry bounds in base units (bytes, count), texts an equal value.
struct Want {
  std::optional<double> min, max;
  bool min_strict = false, max_strict = false;
  std::optional<Json> equals;  // text, list, or number written with '='
};

struct Soft {
  double weight = 0;
  std::map<std::string, Want> wants;
};

struct Interface {
  int index = 0;
  std::string network;    // name of a Network
  std::string host_name;  // #N# replaced; without the domain
  std::string domain;     // "localdomain" if none was written
  std::string fixed_ip;   // empty: assigned
};

struct Disk {
  int index = 0;
  std::optional<double> size_bytes;
  std::string device, mount_path, fstype, type;
  std::vector<std::string> image_urls;
};

struct Application {
  std::string name, version, path;
  bool preinstalled = false;
};

struct Node {
  std::string address;  // "worker[0]"
  std::string system;   // "worker"; with module prefix "cifar.worker"
  int ordinal = 0;      // 0 .. count-1 within the system
  int number = 0;       // #N#: unique in the infrastructure, stable while it exists
  std::string cloud;    // id of the credential that `deploy` names; empty: the default
  std::map<std::string, Want> wants;  // every feature of the system, by name, also unknown ones
  std::vector<Soft> softs;            // largest weight first
  std::vector<Interface> interfaces;
  std::vector<Disk> disks;
  std::vector<Application> applications;
  std::string user;                    // disk.0.os.credentials.username; empty: the provider's default
  std::map<std::string, Json> secrets;  // "password", "private_key", "new.password", "vault.password" -> {"$secret": ..}
  bool configured = true;              // false: left out of contextualization
  Origin origin;
};

enum class StepKind { Native, Ansible, CloudInit, Training };

// One resource of a native recipe: file '/etc/motd' ( content = 'x' ).
struct Resource {
  std::string type;  // file, directory, package, command, service, download, upload, wait_for, user, mount
  std::string name;  // '/etc/motd'
  Json properties = Json::object();
  Origin origin;
};

// Why one step waits for another: shown in the plan.
struct Edge {
  std::string to;      // step id that must be done first
  std::string reason;  // "step 2 follows step 1", "after tools", "same node"
};

struct Step {
  std::string id;      // "worker[0]/tools"; a training has one step over all of its nodes: "training/cifar"
  std::string recipe;  // "tools"
  StepKind kind = StepKind::Native;
  std::vector<std::string> nodes;  // addresses; exactly one unless kind is Training
  int group = 0;                   // RADL's step number (a barrier over all nodes)
  std::vector<Edge> after;
  std::vector<Resource> resources;  // Native
  std::string body;                 // Ansible, CloudInit: the recipe's text
  Json training = Json::object();   // Training: see docs/ir.md, "Training steps"
  std::string digest;               // SHA-256 over recipe, inputs and files that it depends on (not over `after`)
  Origin origin;
};

struct Output {
  std::string name;
  Json value;
  std::string description;
  bool sensitive = false;
  Origin origin;
};

// An Ansible control host (the `ansible` sentence).
struct AnsibleHost {
  std::string name, host, user;
  std::map<std::string, Json> secrets;
  Origin origin;
};

struct Program {
  int version = kVersion;
  std::string name;             // the infrastructure: description's name, else the file's stem
  std::vector<Source> sources;  // every file read, in order; the digest of all is `source_digest`
  std::string source_digest;
  std::map<std::string, Json> inputs;  // sensitive ones as {"$secret": ..}
  std::vector<Network> networks;
  std::vector<AnsibleHost> ansible_hosts;
  std::vector<Node> nodes;  // in deploy order
  std::vector<Step> steps;  // in an order that respects `after`
  std::vector<Output> outputs;
  bool contextualize = true;         // false: `contextualize ()`, nothing is configured
  double max_time_seconds = 7200;    // for the whole configuration
  std::map<std::string, Json> options;  // option ansible_version = ...
};

Json to_json(const Program& program);
// Invalid for a newer version, a missing field or a wrong type: names the field.
Result<Program> from_json(const Json& json);

}  // namespace radl::ir
