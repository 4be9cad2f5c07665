#include "runtime/clouds/local/local_cloud.h"
#include "runtime/clouds/local/isolation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>

#include "common/files.h"
#include "runtime/clouds/local/common_network.h"
#include "runtime/clouds/local/design.h"
#include "runtime/clouds/local/gpus.h"
#include "runtime/clouds/local/hosts_file.h"
#include "runtime/clouds/local/node_directory.h"
#include "runtime/clouds/local/node_process.h"
#include "runtime/clouds/local/shared_record.h"
#include "runtime/clouds/local/sight.h"
#include "runtime/clouds/takes_over.h"
#include "runtime/net/ssh/keys.h"

namespace radl::local {
namespace {

// Parts of files that a run was writing when it was killed. Only for calls that are made under the state's
// lock.
void remove_unfinished(const Context& context) {
  std::error_code ignored;
  std::vector<std::filesystem::path> parts;
  for (const std::string& folder : {context.work_directory, context.work_directory + "/shared"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.find(".tmp-") != std::string::npos || name.starts_with("probe-"))
        parts.push_back(entry.path());
    }
  }
  for (const auto& part : parts) std::filesystem::remove_all(part, ignored);
}

Status ensure_key(const Context& context) {
  return ssh::ensure_key_file(key_file(context), "radl-" + context.infrastructure).status();
}

class LocalCloud : public Cloud, public TakesOver {
 public:
  explicit LocalCloud(Options options) : options_(options), network_(std::move(options)) {}
  const CloudId& id() const override { return id_; }

  Result<Survey> survey(const Context&, const ir::Program&) override { return Survey(); }
  Status can_make(const ir::Node& node, const DesignInput&) const override {
    if (!options_.wrong.empty()) return invalid(options_.wrong);
    if (Status made = can_make_node(node); !made.ok() || !asks_for_gpus(node)) return made;
    return check_gpus(node, gpus());
  }
  Result<Design> design(const DesignInput& input) const override {
    if (!options_.wrong.empty()) return invalid(options_.wrong);
    return design_nodes(id_, input);
  }
  Impact impact(const std::string& type, const Json& before, const Json& after) const override {
    return impact_of(type, before, after);
  }

  Asked ask_create(const Context& context, const Order& order) override;
  Asked ask_update(const Context& context, const Order& order) override;
  Asked ask_power(const Context& context, const Order& order, Power power) override;
  Asked ask_destroy(const Context& context, const Order& order) override;

  Result<std::vector<Seen>> look(const Context& context, const Query& query) override;
  Status take_over(const Context& context, const Order& order) override { return mark(context, order); }
  Status release(const Context& context, const Order& order) override {
    Order unmarked = order;
    unmarked.token.clear();
    return mark(context, unmarked);
  }
  // Nodes live in the state's folder, and are lost with it.
  Result<std::set<std::string>> infrastructures(const Context&, const std::string&) override {
    return std::set<std::string>();
  }
  bool is_in_work_directory() const override { return true; }
  std::chrono::milliseconds settles_after() const override { return {}; }  // it asks this computer's own disk
  Pace pace() const override { return {std::chrono::milliseconds(2), std::chrono::milliseconds(50)}; }

 private:
  // Asked when the first node wants some: most plans ask for none.
  const Json& gpus() const {
    std::call_once(gpus_asked_,
                   [this] { gpus_ = gpus_of_this_computer(options_.environment, options_.stop); });
    return gpus_;
  }
  // Records the order's address and token; without a token it has no owner.
  Status mark(const Context& context, const Order& order);
  Asked create_key(const Context& context, const Order& order);
  Asked create_network(const Context& context, const Order& order);
  Asked create_node(const Context& context, const Order& order);
  // The record of a new node, written before anything of it runs.
  Result<Record> reserve(const Context& context, const NodeDirectory& node, const Order& order);
  Status start(const Context& context, const NodeDirectory& node, Record& record);
  // Refused once nothing of the new node is left; Unknown if that fails.
  Asked give_up(const Context& context, const NodeDirectory& node, Status why);
  Status destroy_key(const Context& context);
  Status destroy_network(const Context& context, const std::string& id);
  Status destroy_node(const Context& context, const std::string& id);
  // Tells every node the names of all.
  void publish_names(const Context& context);

  const CloudId id_{"local", "", ""};
  Options options_;
  std::mutex mutex_;  // addresses, the key, the network, and what follows
  CommonNetwork network_;
  mutable std::once_flag gpus_asked_;
  mutable Json gpus_;
  std::set<std::string> making_;  // ids of nodes whose making has not returned
};

void LocalCloud::publish_names(const Context& context) {
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
    // One that is still about to get its view tells all of them itself when it has it.
    Result<bool> told = update_hosts_file(fmt::format("/proc/{}/root", pid), lines);
    if (!told.ok())
      context.log(fmt::format("{}: the names of the nodes: {}", record.address, told.status().message()));
  }
}

Result<Record> LocalCloud::reserve(const Context& context, const NodeDirectory& node, const Order& order) {
  if (Status s = make_directories(context.work_directory, 0700); !s.ok()) return s;
  remove_unfinished(context);
  if (Status s = ensure_key(context); !s.ok()) return s;
  if (node.exists()) return node.load();
  auto isolated = network_.isolated(context);
  if (!isolated) return isolated.status();
  // Without a process tree of its own it would be this computer that ends.
  if (order.spec.contains("stop") && !*isolated) {
    return Status(Code::Unsupported, order.address + ": stop.after and stop.idle need an isolated node: " +
                                         why_not_isolated(context));
  }
  auto network = network_.join(context);
  if (!network) return network.status();
  if (network->own() && !*isolated)
    return Status(Code::Unsupported,
                  "the other nodes have a network of their own, which needs isolation: destroy them first");
  std::vector<std::string> taken;
  for (const auto& other : all_nodes(context.work_directory)) {
    if (auto record = other.load()) taken.push_back(record->host);
  }
  auto host = network->own()
                  ? network_address(*network, taken)
                  : Result<std::string>(loopback_address(context.infrastructure, order.address, taken));
  if (!host) return host.status();
  Record record;
  record.id = node.id();
  record.token = order.token;
  record.infrastructure = context.infrastructure;
  record.address = order.address;
  record.host = *host;
  record.network = network->name;
  record.egress = network->egress == Egress::Open;
  record.user = login_name();
  record.hostname = order.spec.value("hostname", "node");
  record.isolated = *isolated;
  record.spec = order.spec;
  if (Status s = node.make(); !s.ok()) return s;
  if (Status s = node.save(record); !s.ok()) return s;
  return record;
}

// Starts a node that does not run, and with it what a reboot has taken away.
Status LocalCloud::start(const Context& context, const NodeDirectory& node, Record& record) {
  // What a run that was cut short has started, if anything.
  if (Status s = end_processes(node); !s.ok()) return s;
  if (!record.network.empty()) {
    std::lock_guard lock(mutex_);
    if (auto network = network_.join(context); !network) return network.status();
  }
  Status started = start_node(node, record, context);
  if (!started.ok()) return std::move(started).at(record.address);
  if (!record.isolated && record.spec.contains("disks"))
    context.log(record.address + ": its data disks are not mounted: it has no file system of its own");
  return {};
}

Asked LocalCloud::give_up(const Context& context, const NodeDirectory& node, Status why) {
  Status cleared = destroy_node(context, node.id());
  return cleared.ok() ? Asked::refused(std::move(why)) : Asked::unknown(std::move(why));
}

Asked LocalCloud::create_node(const Context& context, const Order& order) {
  NodeDirectory node(context.work_directory, node_id(order.address, order.token));
  Result<Record> record = Status(Code::Internal, "");
  {
    std::lock_guard lock(mutex_);
    if (!making_.insert(node.id()).second) return Asked::accepted(node.id());  // another thread is at it
    record = reserve(context, node, order);
  }
  const bool was_whole = record.ok() && record->whole;
  Status made = record.status();
  if (made.ok() && (!was_whole || !node_runs(node))) {
    made = start(context, node, *record);
    if (made.ok() && !was_whole) {
      record->whole = true;
      made = node.save(*record);
    }
    if (made.ok()) publish_names(context);
  }
  const bool keep = was_whole || (!record.ok() && node.exists());  // foreign files, or a damaged record
  Asked answer = made.ok() ? Asked::accepted(node.id())
                 : keep    ? Asked::unknown(made)
                           : give_up(context, node, made);
  std::lock_guard lock(mutex_);
  making_.erase(node.id());
  return answer;
}

Asked LocalCloud::create_network(const Context& context, const Order& order) {
  std::lock_guard lock(mutex_);
  remove_unfinished(context);
  const std::string id = node_id(order.address, order.token);
  Status made = save_shared(context.work_directory, {id, "network", order.address, order.token, order.spec});
  if (made.ok()) made = network_.join(context).status();
  if (made.ok()) return Asked::accepted(id);
  Status cleared = network_.leave(context, id);
  if (cleared.ok()) cleared = remove_shared(context.work_directory, id);
  return cleared.ok() ? Asked::refused(std::move(made)) : Asked::unknown(std::move(made));
}

Status LocalCloud::mark(const Context& context, const Order& order) {
  std::lock_guard lock(mutex_);
  if (order.type == "node") {
    const NodeDirectory node(context.work_directory, order.id);
    auto record = node.load();
    if (!record) return record.status();
    record->address = order.address;
    record->token = order.token;
    return node.save(*record);
  }
  auto shared = load_shared(context.work_directory);
  if (!shared) return shared.status();
  for (SharedRecord& record : *shared) {
    if (record.id != order.id) continue;
    record.token = order.token;
    return save_shared(context.work_directory, record);
  }
  return not_found(order.address + " is gone");
}

Asked LocalCloud::create_key(const Context& context, const Order& order) {
  std::lock_guard lock(mutex_);
  remove_unfinished(context);
  Status made = save_shared(context.work_directory, {kKeyId, "key", order.address, order.token, order.spec});
  if (made.ok()) made = ensure_key(context);
  if (made.ok()) return Asked::accepted(kKeyId);
  Status cleared = remove_shared(context.work_directory, kKeyId);
  const bool left = access(key_file(context).c_str(), F_OK) == 0;
  return cleared.ok() && !left ? Asked::refused(std::move(made)) : Asked::unknown(std::move(made));
}

Asked LocalCloud::ask_create(const Context& context, const Order& order) {
  if (order.type == "node") return create_node(context, order);
  if (order.type == "network") return create_network(context, order);
  if (order.type == "key") return create_key(context, order);
  return Asked::refused(invalid(fmt::format("cloud local has no resources of type '{}'", order.type)));
}

Result<std::vector<Seen>> LocalCloud::look(const Context& context, const Query& query) {
  std::unique_lock lock(mutex_);
  const std::set<std::string> making = making_;
  lock.unlock();
  auto all = look_around(context, query);
  if (!all) return all;
  for (Seen& seen : *all) {
    if (seen.phase != ResourcePhase::Broken || !making.count(seen.id)) continue;
    seen.phase = ResourcePhase::Pending;
    seen.detail.clear();
  }
  return all;
}

// Keys and networks have nothing that could change but what the record says of them.
Asked LocalCloud::ask_update(const Context& context, const Order& order) {
  if (order.type != "node") {
    std::lock_guard lock(mutex_);
    auto shared = load_shared(context.work_directory);
    if (!shared) return Asked::refused(shared.status());
    for (SharedRecord& record : *shared) {
      if (record.id != order.id) continue;
      record.spec = order.spec;
      Status saved = save_shared(context.work_directory, record);
      return saved.ok() ? Asked::accepted(order.id) : Asked::refused(saved);
    }
    return Asked::refused(not_found(order.address + ": is gone"));
  }
  NodeDirectory node(context.work_directory, order.id);
  auto record = node.load();
  if (!record) {
    return Asked::refused(record.status().code() == Code::NotFound
                              ? not_found(order.id + ": the node's folder is gone")
                              : record.status());
  }
  if (!node_runs(node)) {
    if (Status s = start(context, node, *record); !s.ok()) return Asked::refused(s);
  }
  record->spec = order.spec;
  if (Status s = node.save(*record); !s.ok()) return Asked::refused(s);
  publish_names(context);
  return Asked::accepted(order.id);
}

// A node that is stopped keeps its folder and its address.
Asked LocalCloud::ask_power(const Context& context, const Order& order, Power power) {
  NodeDirectory node(context.work_directory, order.id);
  auto record = node.load();
  if (!record) return Asked::refused(record.status());
  if (power == Power::Stop) {
    Status ended = end_processes(node);
    return ended.ok() ? Asked::accepted(order.id) : Asked::refused(ended);
  }
  if (!node_runs(node)) return Asked::refused(invalid(order.address + " is stopped: start it instead"));
  if (Status started = start(context, node, *record); !started.ok()) return Asked::refused(started);
  publish_names(context);
  return Asked::accepted(order.id);
}

Status LocalCloud::destroy_key(const Context& context) {
  std::lock_guard lock(mutex_);
  remove_unfinished(context);
  for (const std::string& path : {key_file(context), key_file(context) + ".pub"}) {
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) return errno_status(error.value(), path);
  }
  // It goes last of all: what a run has left that was stopped while it removed the last node goes with it.
  if (Status s = network_.leave(context); !s.ok()) return s;
  return remove_shared(context.work_directory, kKeyId);
}

// The record goes last, so that a removal cut short is found again.
Status LocalCloud::destroy_network(const Context& context, const std::string& id) {
  std::lock_guard lock(mutex_);
  if (Status s = network_.leave(context, id); !s.ok()) return s;
  return remove_shared(context.work_directory, id);
}

Status LocalCloud::destroy_node(const Context& context, const std::string& id) {
  NodeDirectory node(context.work_directory, id);
  if (Status s = end_processes(node); !s.ok()) return s;
  if (Status s = node.remove(); !s.ok()) return s;
  if (access(node.path().c_str(), F_OK) == 0) return {Code::Retry, node.path() + ": is still there"};
  publish_names(context);
  std::lock_guard lock(mutex_);
  return network_.leave(context);
}

Asked LocalCloud::ask_destroy(const Context& context, const Order& order) {
  if (order.id.empty() || order.id.find('/') != std::string::npos || order.id[0] == '.')
    return Asked::refused(invalid(fmt::format("'{}' names nothing of cloud local", order.id)));
  Status gone = order.type == "key"       ? destroy_key(context)
                : order.type == "network" ? destroy_network(context, order.id)
                                          : destroy_node(context, order.id);
  return gone.ok() ? Asked::accepted(order.id) : Asked::refused(gone);
}

}  // namespace

Options options_of(const Environment& environment) {
  Options options;
  options.environment = environment;
  // Which of `names` the variable holds; the first one where it is not set.
  auto choice = [&](const char* variable, const std::vector<std::string>& names) -> size_t {
    const std::string text = environment(variable);
    if (text.empty()) return 0;
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

std::unique_ptr<Cloud> make_cloud(const Options& options) { return std::make_unique<LocalCloud>(options); }

}  // namespace radl::local
