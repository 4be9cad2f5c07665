// The intermediate representation: the contract between the compiler and the runtime.
//
// In: a checked program (compiler/passes). Out: a plan (runtime/plan) or JSON (docs/ir.md, `radlc compile
// -o`).
// Everything is expanded: one Node per node, one Step per action on a node, explicit edges. Property bags
// are JSON values. Two kinds of placeholder stand for values that are not in the text:
//   {"$unknown": "worker[0].ip"}    known only after apply; names the attribute
//   {"$secret": "NAME"}             held in Secrets, never serialized; NAME is stable between runs
// Both may appear wherever a JSON value may, also inside lists and objects. A text with an unknown part is
//   {"$join": ["http://", {"$unknown": "server[0].ip"}, ":8080"]}
// docs/ir.md describes each field, the attributes of unknown values, and what a reader may rely on.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/status.h"

namespace radl::ir {

inline constexpr int kVersion = 2;

using Json = nlohmann::json;

// A JSON value on the heap, so that this header needs only the name of JSON. Copies are deep. An empty box
// reads as null; writing to it fills it. A source that looks inside includes <nlohmann/json.hpp>.
class JsonBox {
 public:
  JsonBox() = default;  // empty
  // Templates, because braces mean something else in JSON: `{{"a", "b"}}` would become a list or a string.
  template <class T>
  requires std::same_as<std::remove_cvref_t<T>, Json> JsonBox(T&& json)
      : json_(held(std::forward<T>(json))) {}
  template <class T>
  requires std::same_as<T, std::string> || std::same_as < std::decay_t<T>,
  char* > || std::same_as<std::decay_t<T>, const char*> JsonBox(const T& text)
      : json_(held(std::string_view(text))) {}
  JsonBox(const JsonBox& other);
  JsonBox(JsonBox&& other) noexcept : json_(other.release()) {}
  JsonBox& operator=(JsonBox other) noexcept {
    std::swap(json_, other.json_);
    return *this;
  }
  ~JsonBox();
  static JsonBox object();  // {}

  explicit operator bool() const { return json_ != nullptr; }
  operator const Json&() const { return **this; }
  operator Json&() { return **this; }
  const Json& operator*() const;
  Json& operator*();
  const Json* operator->() const { return &**this; }
  Json* operator->() { return &**this; }
  // A member of an object; null if a constant box has none of this name.
  const Json& operator[](std::string_view key) const;
  Json& operator[](std::string_view key);

  friend bool operator==(const JsonBox& a, const JsonBox& b) { return a == *b; }
  friend bool operator==(const JsonBox& a, const Json& b);

 private:
  static Json* held(const Json& json);
  static Json* held(Json&& json);
  static Json* held(std::string_view text);
  Json* release() { return std::exchange(json_, nullptr); }

  Json* json_ = nullptr;
};

// Secret name -> value. Kept in memory only.
using Secrets = std::map<std::string, std::string>;

// Source position, for messages of later stages.
struct Origin {
  std::string path;  // as given by the user
  int line = 0;      // from 1; 0: unknown
  int column = 0;
};

struct Source {
  std::string path;
  std::string sha256;
};

// A port open to the outside (radl outports): remote..remote_end on the public side, local on the node.
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
  bool reference = false;  // refers to an existing network of the infrastructure
  std::vector<PortRule> ports;
  JsonBox features = JsonBox::object();  // every feature as written, name -> value
  Origin origin;
};

// A requirement on a node. Numbers have bounds in base units (bytes, count), strings an equal value. A number
// written with '=' sets min, max and equals.
struct Requirement {
  std::optional<double> min, max;
  bool min_strict = false, max_strict = false;
  JsonBox equals;  // text, list, or number written with '='; groups of `contains` as a list
  std::map<std::string, std::string> versions;  // ordered strings, operator -> text: {">=": "20.04"}
  std::string unit;                             // unit without a base unit: "ECU"; else empty
};

struct Soft {
  double weight = 0;
  std::map<std::string, Requirement> requirements;
};

struct Interface {
  int index = 0;
  std::string network;  // name of a Network
  std::string
      host_name;         // #N# replaced by Node::number; without the domain; empty if not written (index > 0)
  std::string domain;    // "localdomain" if none was written
  std::string fixed_ip;  // empty: assigned
  std::string wireguard_ip;  // in a network joined by WireGuard; else empty
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
  int number = 0;       // #N#: unique; an existing node keeps its number (CompileOptions::node_numbers)
  std::string cloud;    // id of the credential that `deploy` names; empty: the default
  std::map<std::string, Requirement> requirements;  // every feature of the system, even unknown ones
  std::vector<Soft> softs;                          // largest weight first
  std::vector<Interface> interfaces;
  std::vector<Disk> disks;
  std::vector<Application> applications;
  std::string user;  // disk.0.os.credentials.username; empty: the provider's default
  // "password", "private_key", "new.password", "vault.password" -> {"$secret": ..}
  std::map<std::string, JsonBox> secrets;
  bool configured = true;  // false: left out of contextualization
  Origin origin;
};

// A Barrier runs nothing. It means "RADL's step N has ended", so that n nodes need 2n edges instead
// of n*n. It ends when all steps before it have ended, even if some failed (a failed node does not
// block the others); other edges require success. Plans do not show it, and the state does not store
// it.
enum class StepKind { Native, Ansible, CloudInit, Training, Program, Barrier };

// One resource of a native recipe: file '/etc/motd' ( content = 'x' ).
struct Resource {
  std::string type;  // a type of compiler/resources/resource_schema.h
  std::string name;  // '/etc/motd'; with `$name` among the properties, as plans show it
  // A command's text that is known only after apply is stored under kNameProperty.
  JsonBox properties = JsonBox::object();
  Origin origin;
};

inline constexpr const char* kNameProperty = "$name";

// A dependency between steps, with the reason shown in the plan.
struct Edge {
  std::string to;      // ID of the step that must finish first
  std::string reason;  // "step 2 follows step 1", "after tools", "same node"
};

struct Step {
  std::string
      id;  // "worker[0]/tools"; a job has one step over all of its nodes: "training/cifar", "program/mnist"
  std::string recipe;  // "tools"
  StepKind kind = StepKind::Native;
  std::vector<std::string>
      nodes;      // addresses: exactly one; one or more for Training and Program; none for Barrier
  int group = 0;  // RADL's step number (a barrier over all nodes)
  std::vector<Edge> after;
  std::vector<Resource> resources;       // Native
  std::string body;                      // Ansible, CloudInit: the recipe's text
  bool needs_success = false;            // Barrier: requires that all steps before it succeed (`after NAME`)
  JsonBox training = JsonBox::object();  // docs/ir.md, "Training steps"
  JsonBox program = JsonBox::object();   // docs/ir.md, "Program steps"
  std::string digest;  // SHA-256 over the recipe and the inputs and files it depends on (not over `after`)
  Origin origin;
};

struct Output {
  std::string name;
  JsonBox value;
  std::string description;
  bool sensitive = false;
  Origin origin;
};

// A rename: `to` in this program was `from` when it was applied. Names a system, node, network or module
// instance, with prefix. Listed in the order of application.
struct Move {
  std::string from, to;
  Origin origin;
};

// An Ansible control host (the `ansible` block).
struct AnsibleHost {
  std::string name, host, user;
  std::map<std::string, JsonBox> secrets;
  Origin origin;
};

struct Program {
  int version = kVersion;
  std::string name;             // the infrastructure: description's name, else the file's stem
  std::vector<Source> sources;  // every file read, in order; `source_digest` covers them all
  std::string source_digest;
  std::map<std::string, JsonBox> inputs;  // sensitive ones as {"$secret": ..}
  std::vector<Network> networks;
  std::vector<AnsibleHost> ansible_hosts;
  std::vector<Node> nodes;  // in deploy order
  std::vector<Step> steps;  // in an order that respects `after`
  std::vector<Output> outputs;
  std::vector<Move> moves;
  bool contextualize = true;               // false after `contextualize ()`: configure nothing
  double max_time_seconds = 7200;          // for the whole configuration
  std::map<std::string, JsonBox> options;  // option ansible_version = ...
};

// "native", "ansible", "cloud_init", "training", "program", "barrier"
std::string_view step_kind_name(StepKind kind);
// A training or program: one step over several nodes, which chooses its nodes itself and outlives radlc.
inline bool is_job(StepKind kind) { return kind == StepKind::Training || kind == StepKind::Program; }

Json to_json(const Program& program);
// Invalid: a newer version, a missing field or a wrong type; names the field. The result passes verify().
Result<Program> from_json(const Json& json);
// Parses JSON text. Also Invalid if the text is not JSON or is nested deeper than 64.
Result<Program> parse_program(std::string_view text);

// Checks the invariants that every stage relies on: IDs and addresses are unique, references resolve, the
// order of `steps` respects `after`, and each kind of step has its required fields. Invalid names the first
// violation.
Status verify(const Program& program);

// True when the value is {"$unknown": ..}, {"$secret": ..} or {"$join": [..]}.
bool is_unknown(const Json& value);
bool is_secret(const Json& value);
bool is_join(const Json& value);
Json unknown(std::string attribute);
Json secret(std::string name);
// Names of all unknown values, or of all secrets, anywhere inside; sorted, without duplicates.
std::vector<std::string> unknowns_in(const Json& value);
std::vector<std::string> secrets_in(const Json& value);
// Same for everything in the step (resources, training, program).
std::vector<std::string> unknowns_in(const Step& step);
std::vector<std::string> secrets_in(const Step& step);
// Replaces unknown values and secrets, and joins strings that become complete. `look_up` maps the inner name
// to a value, or returns nullopt to keep the placeholder.
using LookUp = std::function<std::optional<Json>(const std::string& name)>;
Json substitute(const Json& value, const LookUp& unknown_value, const LookUp& secret_value);

}  // namespace radl::ir
