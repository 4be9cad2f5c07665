#include "runtime/providers/local/local_provider.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/net/ssh/keys.h"
#include "runtime/providers/local/hosts_file.h"
#include "runtime/providers/local/isolation.h"
#include "runtime/providers/local/network.h"
#include "runtime/providers/local/node_directory.h"
#include "runtime/providers/local/node_process.h"
#include "runtime/providers/local/price_quote.h"

namespace radl::local {
namespace {

Made network_made(const std::string& id, const std::string& cidr) {
  Made made{id, {{"cidr", cidr}}};
  made.kind = ResourceKind::Network;
  return made;
}

// A folder without a record: the making was begun, or the removal, and a run was killed.
Made incomplete(const NodeDirectory& node) { return Made{node.id(), Json::object(), false}; }

std::string key_file(const Context& context) { return context.work_directory + "/id_ed25519"; }

// Parts of files that a run was writing when it was killed. Only for calls that are made under the state's
// lock.
void remove_unfinished(const Context& context) {
  std::error_code ignored;
  std::vector<std::filesystem::path> parts;
  for (const auto& entry : std::filesystem::directory_iterator(context.work_directory, ignored)) {
    if (entry.path().filename().string().find(".tmp-") != std::string::npos) parts.push_back(entry.path());
  }
  for (const auto& part : parts) std::filesystem::remove(part, ignored);
}

class LocalProvider : public Provider {
 public:
  explicit LocalProvider(Options options) : options_(options) {}
  std::string name() const override { return "local"; }
  bool reads_at_once() const override { return true; }
  Result<Quote> quote(const ir::Node& node, const ir::Program&) const override {
    if (!options_.wrong.empty()) return invalid(options_.wrong);
    return quote_node(node);
  }
  Result<Made> create(const Context& context, ResourceKind kind, const std::string& address, const Json& spec,
                      const std::string& token) override;
  Result<std::optional<Made>> find(const Context& context, ResourceKind kind,
                                   const std::string& token) override;
  Result<Made> read(const Context& context, ResourceKind kind, const std::string& id) override;
  Result<Made> update(const Context& context, ResourceKind kind, const std::string& id,
                      const Json& spec) override;
  Status destroy(const Context& context, ResourceKind kind, const std::string& id) override;
  bool updates_in_place(ResourceKind kind, const std::string& spec_field) const override;
  std::chrono::milliseconds settles_after() const override { return {}; }  // it asks this computer's own disk
  Result<std::vector<Made>> list(const Context& context) override;

 private:
  // The record of a new node, written before anything of it runs.
  Result<Record> reserve(const Context& context, const NodeDirectory& node, const std::string& address,
                         const Json& spec, const std::string& token);
  Result<bool> decide_isolation(const Context& context);
  Result<Network> join_network(const Context& context);
  Result<Network> choose_network(const Context& context);
  Status leave_network(const Context& context);
  Status start(const Context& context, const NodeDirectory& node, Record& record);
  // Tells every node the names of all.
  void publish_names(const Context& context);
  void say_once(const Context& context, const std::string& line);
  Made describe(const Context& context, const NodeDirectory& node, const Record& record) const;
  Result<Made> make_key(const Context& context);

  Options options_;
  std::mutex mutex_;  // addresses, the key, the network
  std::set<std::string> said_;
  std::set<std::string> raised_;  // networks that this process has seen to
};

void LocalProvider::say_once(const Context& context, const std::string& line) {
  if (said_.insert(context.infrastructure + "\n" + line).second) context.log(line);
}

Result<bool> LocalProvider::decide_isolation(const Context& context) {
  if (options_.isolation == Isolation::Off) return false;
  std::string why = why_not_isolated(context.work_directory);
  if (why.empty()) return true;
  if (options_.isolation == Isolation::Required)
    return Status(Code::Unsupported, "nodes cannot be isolated here: " + why);
  say_once(context, fmt::format("local nodes share this computer's files, processes and network ({})", why));
  return false;
}

// The kind of network for an infrastructure that has none yet.
Result<Network> LocalProvider::choose_network(const Context& context) {
  using enum NetworkChoice;
  auto isolated = decide_isolation(context);
  if (!isolated) return isolated.status();
  bool must = options_.network == Own || options_.network == Closed ||
              (options_.network == Auto && options_.isolation == Isolation::Required);
  if (options_.network == Shared || (!*isolated && !must)) return Network();
  Egress egress = options_.network == Closed ? Egress::Closed : Egress::Open;
  std::string why = *isolated ? why_no_network(egress) : "the nodes themselves are not isolated";
  if (why.empty()) return new_network(context.infrastructure, egress);
  if (must) return Status(Code::Unsupported, "nodes cannot have a network of their own here: " + why);
  say_once(context,
           fmt::format("local nodes share this computer's network, by loopback addresses ({})", why));
  return Network();
}

// The network that all nodes of the infrastructure are in; it is there when this returns.
Result<Network> LocalProvider::join_network(const Context& context) {
  if (Status s = make_directories(context.work_directory, 0700); !s.ok()) return s;
  auto known = load_network(context.work_directory);
  if (!known) return known.status();
  if (!*known) {
    for (const auto& node : all_nodes(context.work_directory)) {
      if (auto record = node.load()) known = std::optional<Network>(network_of(*record));
    }
    if (!*known) {
      auto chosen = choose_network(context);
      if (!chosen) return chosen;
      known = std::optional<Network>(*chosen);
    }
    if (Status s = save_network(context.work_directory, **known); !s.ok()) return s;
  }
  if (!raised_.count((*known)->name)) {
    if (Status s = raise_network(**known, context.infrastructure); !s.ok()) return s;
    raised_.insert((*known)->name);
  }
  return **known;
}

// The last node has gone: so does its network.
Status LocalProvider::leave_network(const Context& context) {
  std::lock_guard lock(mutex_);
  if (!all_nodes(context.work_directory).empty()) return {};
  raised_.clear();
  return remove_network(context.work_directory, context.infrastructure);
}

void LocalProvider::publish_names(const Context& context) {
  std::lock_guard lock(mutex_);
  std::vector<Record> records;
  for (const auto& node : all_nodes(context.work_directory)) {
    auto record = node.load();
    if (record && record->port != 0) records.push_back(std::move(*record));
  }
  const std::string lines = host_lines(records);
  for (const Record& record : records) {
    if (!record.isolated) continue;
    int pid = inner_process({context.work_directory, record.id});
    if (pid == 0) continue;
    Status told = update_hosts_file(fmt::format("/proc/{}/root", pid), lines);
    if (!told.ok())
      context.log(fmt::format("{}: the names of the nodes: {}", record.address, told.message()));
  }
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
  remove_unfinished(context);
  if (auto key = make_key(context); !key) return key.status();
  if (node.exists()) return node.load();
  auto isolated = decide_isolation(context);
  if (!isolated) return isolated.status();
  auto network = join_network(context);
  if (!network) return network.status();
  if (network->own() && !*isolated)
    return Status(Code::Unsupported,
                  "the other nodes have a network of their own, which takes isolation: destroy them first");
  std::vector<std::string> taken;
  for (const auto& other : all_nodes(context.work_directory)) {
    if (auto record = other.load()) taken.push_back(record->host);
  }
  Record record;
  record.id = node.id();
  record.token = token;
  record.infrastructure = context.infrastructure;
  record.address = address;
  auto host = network->own() ? network_address(*network, taken)
                             : Result<std::string>(loopback_address(context.infrastructure, address, taken));
  if (!host) return host.status();
  record.host = *host;
  record.network = network->name;
  record.egress = network->egress == Egress::Open;
  record.user = login_name();
  record.hostname = spec.value("hostname", "node");
  record.isolated = *isolated;
  record.spec = spec;
  if (Status s = node.make(); !s.ok()) return s;
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
                     {"isolation", Json::array()},
                     {"state", runs ? "running" : "stopped"}};
  if (record.isolated)
    made.attributes["isolation"] = {"files", "hostname", "processes"};
  else
    made.attributes["confined_to"] = home;
  if (!record.network.empty()) made.attributes["isolation"].push_back("network");
  return made;
}

// Starts a node that does not run, and with it what a reboot has taken away.
Status LocalProvider::start(const Context& context, const NodeDirectory& node, Record& record) {
  // What a run that was cut short has started, if anything.
  if (Status s = end_processes(node); !s.ok()) return s;
  if (!record.network.empty()) {
    std::lock_guard lock(mutex_);
    if (auto network = join_network(context); !network) return network.status();
  }
  Status started = start_node(node, record, context.deadline, context.cancelled);
  if (!started.ok()) return std::move(started).at(record.address);
  if (!record.isolated && record.spec.contains("disks"))
    context.log(record.address + ": its data disks are not mounted: it has no file system of its own");
  return {};
}

Result<Made> LocalProvider::create(const Context& context, ResourceKind kind, const std::string& address,
                                   const Json& spec, const std::string& token) {
  if (kind == ResourceKind::Network) {
    std::lock_guard lock(mutex_);
    remove_unfinished(context);
    auto network = join_network(context);
    if (!network) return network.status();
    return network_made((network->own() ? network->name : "loopback") + ":" + address, network->cidr());
  }
  if (kind == ResourceKind::Key) {
    std::lock_guard lock(mutex_);
    if (Status s = make_directories(context.work_directory, 0700); !s.ok()) return s;
    remove_unfinished(context);
    return make_key(context);
  }
  NodeDirectory node(context.work_directory, node_id(address, token));
  auto record = reserve(context, node, address, spec, token);
  if (!record) return record.status();
  if (!node_runs(node)) {
    if (Status s = start(context, node, *record); !s.ok()) return s;
    publish_names(context);
  }
  return describe(context, node, *record);
}

Result<std::optional<Made>> LocalProvider::find(const Context& context, ResourceKind kind,
                                                const std::string& token) {
  if (kind == ResourceKind::Key) {
    if (access(key_file(context).c_str(), F_OK) != 0) return std::optional<Made>();
    std::lock_guard lock(mutex_);
    remove_unfinished(context);
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
  if (kind == ResourceKind::Network) {
    auto network = load_network(context.work_directory);
    if (!network) return network.status();
    return network_made(id, network->value_or(Network()).cidr());
  }
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
    if (Status s = start(context, node, *record); !s.ok()) return s;
  }
  publish_names(context);
  return describe(context, node, *record);
}

Status LocalProvider::destroy(const Context& context, ResourceKind kind, const std::string& id) {
  if (kind == ResourceKind::Network) return leave_network(context);
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
  publish_names(context);
  return leave_network(context);
}

bool LocalProvider::updates_in_place(ResourceKind kind, const std::string& spec_field) const {
  return kind != ResourceKind::Node || (spec_field != "hostname" && spec_field != "disks");
}

Result<std::vector<Made>> LocalProvider::list(const Context& context) {
  std::vector<Made> all;
  for (const auto& node : all_nodes(context.work_directory)) {
    auto record = node.load();
    if (!record && record.status().code() != Code::NotFound) return record.status();
    all.push_back(record ? describe(context, node, *record) : incomplete(node));
  }
  auto network = load_network(context.work_directory);
  if (!network) return network.status();
  if (*network && (*network)->own()) all.push_back(network_made((*network)->name, (*network)->cidr()));
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
  Options options;
  // Which of `names` the variable holds; the first one where it is not set.
  auto choice = [&](const char* variable, const std::vector<std::string>& names) -> size_t {
    const char* text = std::getenv(variable);
    if (!text || !*text) return 0;
    auto found = std::find(names.begin(), names.end(), text);
    if (found != names.end()) return static_cast<size_t>(found - names.begin());
    options.wrong = fmt::format("{}={}: must be one of {}", variable, text, fmt::join(names, ", "));
    return 0;
  };
  constexpr Isolation kIsolation[] = {Isolation::Auto, Isolation::Off, Isolation::Required};
  constexpr NetworkChoice kNetwork[] = {NetworkChoice::Auto, NetworkChoice::Shared, NetworkChoice::Own,
                                        NetworkChoice::Closed};
  options.isolation = kIsolation[choice("RADL_LOCAL_ISOLATION", {"auto", "off", "required"})];
  options.network = kNetwork[choice("RADL_LOCAL_NETWORK", {"auto", "shared", "own", "closed"})];
  return options;
}

std::unique_ptr<Provider> make_provider(const Options& options) {
  return std::make_unique<LocalProvider>(options);
}

}  // namespace radl::local
