// A cloud whose machines are folders on this disk, so that they outlive the process that asked for them.
//
// A folder ID (infrastructure and token) holds "type" and "address", then "attributes": made in several
// steps, as a real machine is, so that a kill in between leaves a part. Calls can be made to fail, and
// `point` is called between the steps: a test that kills there sees every half-made state.
#pragma once

#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "common/files.h"
#include "runtime/base/world.h"
#include "runtime/clouds/cloud.h"
#include "runtime/clouds/naming.h"

namespace radl::test {

class DiskCloud : public Cloud {
 public:
  explicit DiskCloud(std::string folder, std::string type = "local")
      : folder_(std::move(folder)), id_{std::move(type), "", ""} {
    std::filesystem::create_directories(folder_);
  }

  std::function<void(const std::string& where)> point = [](const std::string&) {};
  // Errors to be given by the next calls of "create", "look", "destroy", "update" for an address ("": for
  // any), before or after the work was done.
  struct Fault {
    std::string call, address;
    Status error;
    bool after_the_work = false;
  };
  void fail_next(Fault fault) {
    std::lock_guard guard(mutex_);
    faults_.push_back(std::move(fault));
  }
  std::atomic<int> creates{0}, destroys{0}, looks{0};
  double price = 0;
  double retry_after = 0;  // seconds that it asks to wait with each refusal
  // An eventually consistent one: what is made shows only `appears_after` later by `clock`, and it says that
  // everything shows after `settle`.
  Clock* clock = nullptr;
  std::chrono::milliseconds appears_after{0}, settle{0};
  std::set<std::string> in_place;  // spec fields that ask_update() can change
  std::set<std::string> later;     // and that ask_create() leaves out: it takes a second request
  std::vector<std::string> keys;   // host_keys()
  std::vector<Offer> offers;       // of every machine; empty: one of `price`
  std::set<std::string> full;      // values of the spec's "size" for which a machine breaks for want of room
  std::string account;             // owner()
  int looks_without_address = 0;   // the first so many looks show machines without theirs

  size_t count(const std::string& type = "") const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (type.empty() || text(entry.path() / "type") == type) ++count;
    }
    return count;
  }
  std::map<std::string, int> count_by_address() const {
    std::map<std::string, int> counts;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      ++counts[text(entry.path() / "address")];
    return counts;
  }

  void set_attribute(const std::string& id, const std::string& name, const Json& value) {
    std::filesystem::path path = std::filesystem::path(folder_) / id;
    Json now = Json::parse(text(path / "attributes"));
    now[name] = value;
    write(path / "attributes", now.dump());
  }

  const CloudId& id() const override { return id_; }

  Result<Survey> survey(const Context&, const ir::Program&) override { return Survey(); }

  Status can_make(const ir::Node& node, const DesignInput&) const override {
    auto memory = node.requirements.find("memory.size");
    if (memory != node.requirements.end() && *memory->second.min > 1e12)
      return Status(Code::Invalid, "no machine has that much memory");
    return {};
  }

  Result<Design> design(const DesignInput& input) const override {
    Design design;
    Wanted key;
    key.address = key_address(id_);
    key.type = "key";
    key.spec = {{"type", "ed25519"}};
    design.resources.push_back(key);
    for (const ir::Network* network : networks_to_make(input)) {
      Wanted wanted;
      wanted.address = network_address(id_, input, *network);
      wanted.type = "network";
      wanted.spec = network_spec(*network);
      wanted.references = {key.address};
      wanted.summary = network_summary(*network);
      design.resources.push_back(wanted);
    }
    for (const ir::Node* node : input.nodes) design.resources.push_back(machine(input, *node));
    return design;
  }

  Impact impact(const std::string&, const Json& before, const Json& after) const override {
    std::set<std::string> keys;
    for (const Json* side : {&before, &after}) {
      for (const auto& [key, value] : side->items()) keys.insert(key);
    }
    for (const std::string& key : keys) {
      if (before.value(key, Json()) != after.value(key, Json()) && !in_place.count(key))
        return {Impact::Kind::Replace, key + " cannot change in place"};
    }
    return {Impact::Kind::InPlace, ""};
  }

  Asked ask_create(const Context& context, const Order& order) override {
    if (Status fault = take_fault("create", order.address, false); !fault.ok()) return answer(fault, false);
    if (context.stop.asked()) return Asked::refused(Status(Code::Cancelled, "cancelled"));
    std::filesystem::path path = place(context, order.token);
    if (std::filesystem::exists(path / "attributes")) return Asked::accepted(path.filename());
    {
      std::lock_guard guard(mutex_);
      address_of_token_[order.token] = order.address;
    }
    ++creates;
    point("create 1 " + order.address);
    std::filesystem::create_directory(path);
    write(path / "type", order.type);
    write(path / "address", order.address);
    write(path / "token", order.token);
    if (clock) write(path / "made_at", std::to_string(now_ms()));
    point("create 2 " + order.address);
    Json attributes = {{"host", "127.0.0.1"},
                       {"private_ip", "10.0.0." + std::to_string(creates.load())},
                       {"public_ip", nullptr},
                       {"state", "running"},
                       {"spec", order.spec}};
    bool again = false;
    for (const std::string& field : later) again |= attributes["spec"].erase(field) > 0;
    for (const std::string& field : later) attributes["spec"][field] = nullptr;
    write(path / "attributes", attributes.dump());
    point("create 3 " + order.address);
    if (Status fault = take_fault("create", order.address, true); !fault.ok()) return answer(fault, true);
    return again ? Asked::accepted_so_far(path.filename()) : Asked::accepted(path.filename());
  }

  Asked ask_update(const Context&, const Order& order) override {
    if (Status fault = take_fault("update", order.address, false); !fault.ok()) return answer(fault, false);
    std::filesystem::path path = std::filesystem::path(folder_) / order.id;
    Json now = Json::parse(text(path / "attributes"), nullptr, false);
    if (now.is_discarded()) return Asked::refused(Status(Code::NotFound, order.id + " is gone"));
    now["spec"] = order.spec;
    if (now.contains("state")) now["state"] = "running";
    point("update 1 " + order.address);
    write(path / "attributes", now.dump());
    point("update 2 " + order.address);
    return Asked::accepted(order.id);
  }

  Asked ask_destroy(const Context&, const Order& order) override {
    std::filesystem::path path = std::filesystem::path(folder_) / order.id;
    std::string address = text(path / "address");
    if (Status fault = take_fault("destroy", address, false); !fault.ok()) return answer(fault, false);
    ++destroys;
    point("destroy 1 " + address);
    // What identifies it goes last, so that a part of it is still found.
    std::filesystem::remove(path / "attributes");
    std::filesystem::remove(path / "made_at");
    point("destroy 2 " + address);
    std::filesystem::remove_all(path);
    point("destroy 3 " + address);
    if (Status fault = take_fault("destroy", address, true); !fault.ok()) return answer(fault, true);
    return Asked::accepted();
  }

  // The folder's very name holds infrastructure and token, so that not even its first instant is without
  // them.
  Result<std::vector<Seen>> look(const Context& context, const Query& query) override {
    if (Status fault = take_look_fault(query); !fault.ok()) return fault;
    ++looks;
    std::set<std::string> names(query.ids.begin(), query.ids.end());
    std::map<std::string, std::string> tokens;
    for (const std::string& token : query.tokens) tokens[place(context, token).filename()] = token;
    for (const auto& [name, token] : tokens) names.insert(name);
    if (query.everything) {
      for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
        std::string name = entry.path().filename();
        if (name.starts_with(context.infrastructure + "-")) names.insert(name);
      }
    }
    std::vector<Seen> all;
    for (const std::string& name : names) {
      if (is_seen(std::filesystem::path(folder_) / name)) {
        all.push_back(seen(std::filesystem::path(folder_) / name));
        if (all.back().token.empty() && tokens.count(name)) all.back().token = tokens[name];
        if (looks <= looks_without_address && all.back().attributes.contains("host"))
          all.back().attributes["host"] = "";
        const Json& spec = all.back().spec;
        if (spec.is_object() && full.count(spec.value("size", ""))) {
          all.back().phase = ResourcePhase::Broken;
          all.back().detail = "no host has room for it";
          all.back().no_room = true;
        }
      }
    }
    return all;
  }

  // After another process has used the same cloud: its time has passed here as well.
  void catch_up() {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      std::string made_at = clock ? text(entry.path() / "made_at") : "";
      if (!made_at.empty() && std::stoll(made_at) > now_ms())
        clock->sleep(std::chrono::milliseconds(std::stoll(made_at) - now_ms()));
    }
  }

  Result<std::string> owner(const Context&) override { return account; }
  Result<std::vector<std::string>> host_keys(const Context&, const std::string&) override { return keys; }
  std::chrono::milliseconds settles_after() const override { return settle; }
  Pace pace() const override { return {std::chrono::milliseconds(0), std::chrono::milliseconds(1000)}; }

 private:
  long long now_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock->now().time_since_epoch()).count();
  }
  bool is_seen(const std::filesystem::path& path) const {
    if (!std::filesystem::exists(path)) return false;
    std::string made_at = clock ? text(path / "made_at") : "";
    return made_at.empty() || now_ms() >= std::stoll(made_at) + appears_after.count();
  }
  static std::string text(const std::filesystem::path& path) {
    Result<std::string> read = read_file(path.string());
    return read.ok() ? *read : "";
  }
  static void write(const std::filesystem::path& path, const std::string& content) {
    (void)write_file_atomic(path.string(), content);
  }
  static Seen seen(const std::filesystem::path& path) {
    Seen seen;
    seen.id = path.filename();
    seen.type = text(path / "type");
    seen.address = text(path / "address");
    seen.token = text(path / "token");
    Json attributes = Json::parse(text(path / "attributes"), nullptr, false);
    if (attributes.is_discarded()) {
      seen.phase = ResourcePhase::Broken;
      seen.detail = "it was made in part";
      return seen;
    }
    seen.phase = attributes.value("state", "") == "stopped" ? ResourcePhase::Stopped : ResourcePhase::Ready;
    seen.spec = attributes["spec"];
    attributes.erase("spec");
    seen.attributes = std::move(attributes);
    return seen;
  }
  std::filesystem::path place(const Context& context, const std::string& token) const {
    return std::filesystem::path(folder_) / (context.infrastructure + "-" + token.substr(0, 12));
  }
  // What was done all the same, or may have been, is not known to the caller.
  Asked answer(const Status& fault, bool done) const {
    bool lost =
        done || fault.code() == Code::Lost || fault.code() == Code::Timeout || fault.code() == Code::Internal;
    return lost ? Asked::unknown(fault) : Asked::refused(fault, retry_after);
  }
  Wanted machine(const DesignInput& input, const ir::Node& node) const {
    auto memory = node.requirements.find("memory.size");
    Wanted wanted;
    wanted.address = wanted.node = node.address;
    wanted.type = "node";
    wanted.spec = {{"memory.size", memory == node.requirements.end() ? 0 : *memory->second.min},
                   {"host_name", node.interfaces.empty() ? "" : node.interfaces[0].host_name}};
    wanted.references = {key_address(id_)};
    for (const ir::Network* network : networks_of(input, node))
      wanted.references.push_back(network_address(id_, input, *network));
    wanted.offers = offers;
    if (price > 0) wanted.offers.push_back({id_.type, "", Money::of(price), Json::object()});
    wanted.summary = node_summary(node, id_.type, {});
    wanted.seconds = 2;
    return wanted;
  }
  Status take_look_fault(const Query& query) {
    std::vector<std::string> addresses;
    {
      std::lock_guard guard(mutex_);
      for (const std::string& token : query.tokens) {
        auto known = address_of_token_.find(token);
        addresses.push_back(known == address_of_token_.end() ? "" : known->second);
      }
    }
    if (query.everything) addresses.push_back("everything");
    if (addresses.empty()) addresses.push_back("");
    for (const std::string& address : addresses) {
      if (Status fault = take_fault("look", address, false); !fault.ok()) return fault;
    }
    return {};
  }
  Status take_fault(const std::string& call, const std::string& address, bool after) {
    std::lock_guard guard(mutex_);
    for (auto fault = faults_.begin(); fault != faults_.end(); ++fault) {
      bool fits = fault->call == call && fault->after_the_work == after &&
                  (fault->address.empty() || fault->address == address);
      if (!fits) continue;
      Status error = fault->error;
      faults_.erase(fault);
      return error;
    }
    return {};
  }

  std::string folder_;
  CloudId id_;
  std::mutex mutex_;
  std::deque<Fault> faults_;
  std::map<std::string, std::string> address_of_token_;
};

}  // namespace radl::test
