// A provider whose machines are folders on this disk, so that they outlive the process that asked for them.
//
// A folder ID (infrastructure and token) holds "kind" and "address", then "attributes": made in several
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
#include "runtime/providers/provider.h"

namespace radl::test {

class DiskProvider : public Provider {
 public:
  explicit DiskProvider(std::string folder, std::string name = "local")
      : folder_(std::move(folder)), name_(std::move(name)) {
    std::filesystem::create_directories(folder_);
  }

  std::function<void(const std::string& where)> point = [](const std::string&) {};
  // Errors to be given by the next calls of "create", "find", "read", "destroy", "list", "update" for an
  // address
  // ("" : for any), before or after the work was done.
  struct Fault {
    std::string call, address;
    Status error;
    bool after_the_work = false;
  };
  void fail_next(Fault fault) {
    std::lock_guard guard(mutex_);
    faults_.push_back(std::move(fault));
  }
  std::atomic<int> creates{0}, destroys{0};
  double price = 0;
  // An eventually consistent one: what is made shows only `appears_after` later by `clock`, and it says that
  // everything shows after `settle`.
  Clock* clock = nullptr;
  std::chrono::milliseconds appears_after{0}, settle{0};
  std::set<std::string> in_place;  // spec fields that update() can change

  size_t count(const std::string& kind = "") const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (kind.empty() || text(entry.path() / "kind") == kind) ++count;
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
    Made now = made(path);
    now.attributes[name] = value;
    write(path / "attributes", now.attributes.dump());
  }

  std::string name() const override { return name_; }

  Result<Quote> quote(const ir::Node& node, const ir::Program&) const override {
    Quote quote;
    quote.instance_type = name_;
    quote.price_per_hour = price;
    quote.seconds_to_ready = 2;
    auto memory = node.requirements.find("memory.size");
    if (memory != node.requirements.end() && *memory->second.min > 1e12)
      return Status(Code::Invalid, "no machine has that much memory");
    quote.spec = {{"memory.size", memory == node.requirements.end() ? 0 : *memory->second.min},
                  {"host_name", node.interfaces.empty() ? "" : node.interfaces[0].host_name}};
    return quote;
  }

  Result<Made> create(const Context& context, ResourceKind kind, const std::string& address, const Json& spec,
                      const std::string& token) override {
    if (Status fault = take_fault("create", address, false); !fault.ok()) return fault;
    if (context.cancelled()) return Status(Code::Cancelled, "cancelled");
    ++creates;
    point("create 1 " + address);
    std::filesystem::path path =
        std::filesystem::path(folder_) / (context.infrastructure + "-" + token.substr(0, 12));
    std::filesystem::create_directory(path);
    write(path / "kind", std::string(resource_kind_name(kind)));
    write(path / "address", address);
    if (clock) write(path / "made_at", std::to_string(now_ms()));
    point("create 2 " + address);
    Json attributes = {{"host", "127.0.0.1"},
                       {"private_ip", "10.0.0." + std::to_string(creates.load())},
                       {"public_ip", nullptr},
                       {"state", "running"},
                       {"spec", spec}};
    write(path / "attributes", attributes.dump());
    point("create 3 " + address);
    if (Status fault = take_fault("create", address, true); !fault.ok()) return fault;
    return made(path);
  }

  // The folder's very name holds infrastructure and token, so that not even its first instant is without
  // them.
  Result<std::optional<Made>> find(const Context& context, ResourceKind, const std::string& token) override {
    if (Status fault = take_fault("find", "", false); !fault.ok()) return fault;
    std::filesystem::path path =
        std::filesystem::path(folder_) / (context.infrastructure + "-" + token.substr(0, 12));
    if (!is_seen(path)) return std::optional<Made>();
    return std::optional<Made>(made(path));
  }

  Result<Made> read(const Context&, ResourceKind, const std::string& id) override {
    if (Status fault = take_fault("read", "", false); !fault.ok()) return fault;
    std::filesystem::path path = std::filesystem::path(folder_) / id;
    if (!is_seen(path)) return Status(Code::NotFound, id + " is gone");
    return made(path);
  }

  Result<Made> update(const Context&, ResourceKind, const std::string& id, const Json& spec) override {
    if (Status fault = take_fault("update", "", false); !fault.ok()) return fault;
    std::filesystem::path path = std::filesystem::path(folder_) / id;
    Made now = made(path);
    now.attributes["spec"] = spec;
    if (now.attributes.contains("state")) now.attributes["state"] = "running";
    point("update 1 " + text(path / "address"));
    write(path / "attributes", now.attributes.dump());
    point("update 2 " + text(path / "address"));
    return now;
  }

  Status destroy(const Context&, ResourceKind, const std::string& id) override {
    std::filesystem::path path = std::filesystem::path(folder_) / id;
    std::string address = text(path / "address");
    if (Status fault = take_fault("destroy", address, false); !fault.ok()) return fault;
    ++destroys;
    point("destroy 1 " + address);
    // What identifies it goes last, so that a part of it is still found.
    std::filesystem::remove(path / "attributes");
    std::filesystem::remove(path / "made_at");
    point("destroy 2 " + address);
    std::filesystem::remove_all(path);
    point("destroy 3 " + address);
    return take_fault("destroy", address, true);
  }

  std::chrono::milliseconds settles_after() const override { return settle; }

  bool updates_in_place(ResourceKind, const std::string& field) const override {
    return in_place.count(field) != 0;
  }

  Result<std::vector<Made>> list(const Context& context) override {
    if (Status fault = take_fault("list", "", false); !fault.ok()) return fault;
    std::vector<Made> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      std::string name = entry.path().filename();
      if (!is_seen(entry.path())) continue;
      if (name.compare(0, context.infrastructure.size() + 1, context.infrastructure + "-") == 0) {
        all.push_back(made(entry.path()));
      }
    }
    return all;
  }

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
  static Made made(const std::filesystem::path& path) {
    Made made;
    made.id = path.filename();
    std::string kind = text(path / "kind");
    made.kind = kind == "key"       ? ResourceKind::Key
                : kind == "network" ? ResourceKind::Network
                                    : ResourceKind::Node;
    Json attributes = Json::parse(text(path / "attributes"), nullptr, false);
    made.complete = !attributes.is_discarded();
    if (made.complete) made.attributes = std::move(attributes);
    return made;
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

  std::string folder_, name_;
  std::mutex mutex_;
  std::deque<Fault> faults_;
};

}  // namespace radl::test
