#include "runtime/providers/local/local_provider.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/net/ssh/keys.h"
#include "runtime/providers/local/isolation.h"
#include "runtime/providers/local/node_directory.h"
#include "runtime/providers/local/node_process.h"

namespace radl::local {
namespace {

// A folder without a record: the making was begun, or the removal, and a run was killed.
Made incomplete(const NodeDirectory& node) { return Made{node.id(), Json::object(), false}; }

std::string key_file(const Context& context) { return context.work_directory + "/id_ed25519"; }

// Parts of a key that a run was writing when it was killed. Only for calls that are made under the state's
// lock.
void remove_unfinished_keys(const Context& context) {
  std::error_code ignored;
  std::vector<std::filesystem::path> parts;
  for (const auto& entry : std::filesystem::directory_iterator(context.work_directory, ignored)) {
    std::string name = entry.path().filename();
    if (name.starts_with("id_ed25519") && name.find(".tmp-") != std::string::npos)
      parts.push_back(entry.path());
  }
  for (const auto& part : parts) std::filesystem::remove(part, ignored);
}

class LocalProvider : public Provider {
 public:
  explicit LocalProvider(Options options) : options_(options) {}
  std::string name() const override { return "local"; }
  Capabilities capabilities() const override;
  Result<Quote> quote(const ir::Node& node, const ir::Program& program) const override;
  Result<Made> create(const Context& context, ResourceKind kind, const std::string& address, const Json& spec,
                      const std::string& token) override;
  Result<std::optional<Made>> find(const Context& context, ResourceKind kind,
                                   const std::string& token) override;
  Result<Made> read(const Context& context, ResourceKind kind, const std::string& id) override;
  Result<Made> update(const Context& context, ResourceKind kind, const std::string& id,
                      const Json& spec) override;
  Status destroy(const Context& context, ResourceKind kind, const std::string& id) override;
  bool updates_in_place(ResourceKind kind, const std::string& spec_field) const override;
  Result<std::vector<Made>> list(const Context& context) override;

 private:
  // The record of a new node, written before anything of it runs.
  Result<Record> reserve(const Context& context, const NodeDirectory& node, const std::string& address,
                         const Json& spec, const std::string& token);
  Result<bool> decide_isolation(const Context& context);
  Made describe(const Context& context, const NodeDirectory& node, const Record& record) const;
  Result<Made> make_key(const Context& context);

  Options options_;
  std::mutex mutex_;  // addresses, the key
};

Capabilities LocalProvider::capabilities() const {
  Capabilities c;
  c.features = {"cpu.count",
                "cpu.arch",
                "memory.size",
                "net_interface.connection",
                "net_interface.dns_name",
                "disk.applications",
                "disk.os.name",
                "disk.os.flavour"};
  c.isolates_network = false;  // nodes share the loopback network: each has its own address on it
  c.has_public_addresses = false;
  return c;
}

std::optional<double> number_wanted(const ir::Node& node, const std::string& feature) {
  auto found = node.wants.find(feature);
  return found == node.wants.end() ? std::nullopt : found->second.min;
}

std::string text_wanted(const ir::Node& node, const std::string& feature) {
  auto found = node.wants.find(feature);
  if (found == node.wants.end() || !found->second.equals || !found->second.equals->is_string()) return "";
  std::string text = found->second.equals->get<std::string>();
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Result<Quote> LocalProvider::quote(const ir::Node& node, const ir::Program&) const {
  auto cannot = [&](const std::string& why) {
    return Status(Code::Invalid, fmt::format("{}: {}", node.address, why));
  };
  std::string os = text_wanted(node, "disk.0.os.name");
  if (!os.empty() && os != "linux")
    return cannot(fmt::format("disk.0.os.name = '{}': provider local makes nodes of this Linux machine", os));
  if (number_wanted(node, "gpu.count").value_or(0) > 0)
    return cannot("gpu.count: provider local has no GPU to give");
  Quote quote;
  quote.instance_type = "local";
  quote.seconds_to_ready = 0.2;
  std::string host = node.interfaces.empty() || node.interfaces[0].host_name.empty()
                         ? fmt::format("vnode-{}", node.number)
                         : node.interfaces[0].host_name;
  std::string domain = node.interfaces.empty() || node.interfaces[0].domain.empty()
                           ? "localdomain"
                           : node.interfaces[0].domain;
  quote.spec = {{"hostname", host + "." + domain}, {"number", node.number}};
  if (auto cpus = number_wanted(node, "cpu.count")) quote.spec["cpu_count"] = *cpus;
  if (auto memory = number_wanted(node, "memory.size")) quote.spec["memory_bytes"] = *memory;
  if (!node.user.empty())
    quote.notes.push_back(
        fmt::format("{}: the login is this machine's user, not '{}'", node.address, node.user));
  for (const auto& disk : node.disks) {
    if (disk.index > 0)
      quote.notes.push_back(fmt::format("{}: disk {} is not made: a local node has this machine's disk",
                                        node.address, disk.index));
  }
  for (const auto& interface : node.interfaces) {
    if (!interface.fixed_ip.empty())
      quote.notes.push_back(fmt::format("{}: address {} is not given: a local node has a loopback address",
                                        node.address, interface.fixed_ip));
  }
  return quote;
}

Result<bool> LocalProvider::decide_isolation(const Context& context) {
  if (options_.isolation == Isolation::Off) return false;
  std::string why = why_not_isolated(context.work_directory);
  if (why.empty()) return true;
  if (options_.isolation == Isolation::Required)
    return Status(Code::Unsupported, "nodes cannot be isolated here: " + why);
  return false;
}

Result<Made> LocalProvider::make_key(const Context& context) {
  auto line = ssh::ensure_key_file(key_file(context), "radl-" + context.infrastructure);
  if (!line) return line.status();
  Made made{"key", {{"public_key", *line}, {"private_key_path", key_file(context)}}};
  made.kind = ResourceKind::Key;
  return made;
}

Result<Record> LocalProvider::reserve(const Context& context, const NodeDirectory& node,
                                      const std::string& address, const Json& spec,
                                      const std::string& token) {
  std::lock_guard lock(mutex_);
  if (Status s = make_directories(context.work_directory, 0700); !s.ok()) return s;
  if (auto key = make_key(context); !key) return key.status();
  if (node.exists()) return node.load();
  auto isolated = decide_isolation(context);
  if (!isolated) return isolated.status();
  std::vector<std::string> taken;
  for (const auto& other : all_nodes(context.work_directory)) {
    if (auto record = other.load()) taken.push_back(record->host);
  }
  if (Status s = node.make(); !s.ok()) return s;
  Record record;
  record.id = node.id();
  record.token = token;
  record.infrastructure = context.infrastructure;
  record.address = address;
  record.host = loopback_address(context.infrastructure, address, taken);
  record.user = login_name();
  record.hostname = spec.value("hostname", "node");
  record.isolated = *isolated;
  record.spec = spec;
  if (Status s = node.save(record); !s.ok()) return s;
  return record;
}

Made LocalProvider::describe(const Context& context, const NodeDirectory& node, const Record& record) const {
  bool runs = node_runs(node);
  Made made{record.id, Json::object(), runs};
  std::string home = node.path("home");
  made.attributes = {{"host", record.host},
                     {"port", record.port},
                     {"user", record.user},
                     {"host_key", record.host_key},
                     {"private_key_path", key_file(context)},
                     {"private_ip", record.host},
                     {"public_ip", nullptr},
                     {"vm_id", record.id},
                     {"hostname", record.hostname},
                     {"home", home},
                     {"local_directory", node.path()},
                     {"isolation", record.isolated ? Json{"files", "hostname", "processes"} : Json::array()},
                     {"state", runs ? "running" : "stopped"}};
  if (!record.isolated) made.attributes["confined_to"] = home;
  return made;
}

Result<Made> LocalProvider::create(const Context& context, ResourceKind kind, const std::string& address,
                                   const Json& spec, const std::string& token) {
  if (kind == ResourceKind::Network) return Made{"loopback:" + address, {{"cidr", "127.0.0.0/8"}}};
  if (kind == ResourceKind::Volume)
    return Status(Code::Unsupported, "provider local has no volumes: a node's disk is this machine's");
  if (kind == ResourceKind::Key) {
    std::lock_guard lock(mutex_);
    if (Status s = make_directories(context.work_directory, 0700); !s.ok()) return s;
    remove_unfinished_keys(context);
    return make_key(context);
  }
  NodeDirectory node(context.work_directory, node_id(address, token));
  auto record = reserve(context, node, address, spec, token);
  if (!record) return record.status();
  if (!node_runs(node)) {
    // What a run that was cut short has started, if anything.
    if (Status s = end_processes(node); !s.ok()) return s;
    if (!record->isolated && options_.isolation == Isolation::Auto) {
      context.log(fmt::format("{}: shares this machine's file system and processes ({})", address,
                              why_not_isolated(context.work_directory)));
    }
    if (Status s = start_node(node, *record, context.deadline, context.cancelled); !s.ok())
      return std::move(s).at(address);
  }
  return describe(context, node, *record);
}

Result<std::optional<Made>> LocalProvider::find(const Context& context, ResourceKind kind,
                                                const std::string& token) {
  if (kind == ResourceKind::Key) {
    if (access(key_file(context).c_str(), F_OK) != 0) return std::optional<Made>();
    std::lock_guard lock(mutex_);
    remove_unfinished_keys(context);
    auto made = make_key(context);
    if (!made) return made.status();
    return std::optional<Made>(*made);
  }
  if (kind != ResourceKind::Node) return std::optional<Made>();
  for (const auto& node : all_nodes(context.work_directory)) {
    if (!id_is_of_token(node.id(), token)) continue;
    if (!node.exists()) return std::optional<Made>(incomplete(node));
    auto record = node.load();
    if (!record) return record.status();
    if (record->token == token) return std::optional<Made>(describe(context, node, *record));
  }
  return std::optional<Made>();
}

Result<Made> LocalProvider::read(const Context& context, ResourceKind kind, const std::string& id) {
  if (kind == ResourceKind::Network) return Made{id, {{"cidr", "127.0.0.0/8"}}};
  if (kind == ResourceKind::Key) {
    if (access(key_file(context).c_str(), F_OK) != 0) return not_found("the infrastructure's key is gone");
    std::lock_guard lock(mutex_);
    return make_key(context);
  }
  NodeDirectory node(context.work_directory, id);
  auto record = node.load();
  if (!record)
    return record.status().code() == Code::NotFound ? not_found(id + ": the node's folder is gone")
                                                    : record.status();
  return describe(context, node, *record);
}

Result<Made> LocalProvider::update(const Context& context, ResourceKind kind, const std::string& id,
                                   const Json& spec) {
  if (kind != ResourceKind::Node) return read(context, kind, id);
  NodeDirectory node(context.work_directory, id);
  auto record = node.load();
  if (!record) return record.status();
  record->spec = spec;
  if (Status s = node.save(*record); !s.ok()) return s;
  if (!node_runs(node)) {
    if (Status s = end_processes(node); !s.ok()) return s;
    if (Status s = start_node(node, *record, context.deadline, context.cancelled); !s.ok())
      return std::move(s).at(record->address);
  }
  return describe(context, node, *record);
}

Status LocalProvider::destroy(const Context& context, ResourceKind kind, const std::string& id) {
  if (kind == ResourceKind::Network || kind == ResourceKind::Volume) return {};
  std::error_code ignored;
  if (kind == ResourceKind::Key) {
    std::lock_guard lock(mutex_);
    std::filesystem::remove(key_file(context), ignored);
    std::filesystem::remove(key_file(context) + ".pub", ignored);
    return {};
  }
  if (id.empty() || id.find('/') != std::string::npos || id[0] == '.')
    return invalid(fmt::format("'{}' names no local node", id));
  NodeDirectory node(context.work_directory, id);
  if (Status s = end_processes(node); !s.ok()) return s;
  if (Status s = node.remove(); !s.ok()) return s;
  if (access(node.path().c_str(), F_OK) == 0) return {Code::Retry, node.path() + ": is still there"};
  return {};
}

bool LocalProvider::updates_in_place(ResourceKind kind, const std::string& spec_field) const {
  return kind != ResourceKind::Node || spec_field != "hostname";
}

Result<std::vector<Made>> LocalProvider::list(const Context& context) {
  std::vector<Made> all;
  for (const auto& node : all_nodes(context.work_directory)) {
    auto record = node.load();
    if (!record && record.status().code() != Code::NotFound) return record.status();
    all.push_back(record ? describe(context, node, *record) : incomplete(node));
  }
  if (access(key_file(context).c_str(), F_OK) == 0) {
    std::lock_guard lock(mutex_);
    auto key = make_key(context);
    if (!key) return key.status();
    all.push_back(std::move(*key));
  }
  return all;
}

}  // namespace

Options options_from_environment() {
  const char* text = std::getenv("RADL_LOCAL_ISOLATION");
  std::string_view value = text ? text : "auto";
  if (value == "off") return {Isolation::Off};
  if (value == "required") return {Isolation::Required};
  return {Isolation::Auto};
}

std::unique_ptr<Provider> make_provider(const Options& options) {
  return std::make_unique<LocalProvider>(options);
}

}  // namespace radl::local
