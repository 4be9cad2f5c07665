#include "runtime/clouds/hosts/hosts_cloud.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include "common/files.h"
#include "common/guarded.h"
#include "runtime/clouds/hosts/access.h"
#include "runtime/clouds/hosts/design.h"
#include "runtime/clouds/hosts/machine.h"
#include "runtime/clouds/hosts/root.h"
#include "runtime/clouds/hosts/sight.h"
#include "runtime/clouds/machine_facts.h"
#include "runtime/clouds/takes_over.h"
#include "runtime/net/lease.h"

namespace radl::hosts {
namespace {

constexpr size_t kAtOnce = 16;
// What a machine is does not change in this time unless we change it.
constexpr std::chrono::seconds kLately{10};

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The action may be retried: there was no answer, or an incomplete one.
Status nothing_done(Status why) {
  if (why.code() == Code::Lost || why.code() == Code::Timeout) return {Code::Retry, why.message()};
  return why;
}

class HostsCloud : public Cloud, public TakesOver {
 public:
  explicit HostsCloud(Options options)
      : options_(std::move(options)), access_(options_.ssh_config, options_.connections) {}
  const CloudId& id() const override { return id_; }
  std::vector<std::string> image_schemes() const override { return provider().image_schemes; }

  Result<Survey> survey(const Context& context, const ir::Program& program) override;
  Status can_make(const ir::Node& node, const DesignInput& input) const override {
    return can_be_had(node, input);
  }
  Result<Design> design(const DesignInput& input) const override { return design_hosts(id_, input); }
  Impact impact(const std::string& type, const Json& before, const Json& after) const override {
    return impact_of(type, before, after);
  }

  Asked ask_create(const Context& context, const Order& order) override;
  Asked ask_update(const Context& context, const Order& order) override;
  Asked ask_destroy(const Context& context, const Order& order) override;

  Result<std::vector<Seen>> look(const Context& context, const Query& query) override;
  Status release(const Context& context, const Order& order) override;
  Status take_over(const Context& context, const Order& order) override;
  // Machines are found by the file that names them; each says itself who has taken it.
  Result<std::set<std::string>> infrastructures(const Context&, const std::string&) override {
    return std::set<std::string>();
  }
  bool is_in_work_directory() const override { return true; }
  std::chrono::milliseconds settles_after() const override { return options_.settles_after; }
  Pace pace() const override { return {std::chrono::milliseconds(50), std::chrono::seconds(10)}; }

 private:
  Asked create_key(const Context& context, const Order& order);
  Asked create_host(const Context& context, const Order& order);
  // After the login: looks, takes, and sees that our key is accepted from now on.
  Asked take_machine(const Context& context, Record record, Remote& users);
  Status destroy_key(const Context& context);
  Status destroy_host(const Context& context, const Order& order);

  Result<Json> survey_one(const Context& context, const Machine& machine, const Json& spec);
  Result<Visit> visited_lately(const Context& context, const Record& record);
  // nullopt: it is not taken, or not by us.
  Result<std::optional<Seen>> look_at(const Context& context, const Record& record);

  std::mutex& turn_of(const std::string& id);
  void begin_changes(const Context& context);

  const CloudId id_{kCloudName, "", ""};
  Options options_;
  Access access_;
  std::mutex mutex_;                                          // of what follows, and of the key
  std::map<std::string, std::unique_ptr<std::mutex>> turns_;  // by machine: one request at a time
  std::set<std::string> begun_;                               // work folders that are free of old parts
  // What look() found last, by work folder and machine; nothing after a request to change something.
  std::map<std::string, std::pair<std::chrono::steady_clock::time_point, Visit>> visits_;
};

std::mutex& HostsCloud::turn_of(const std::string& id) {
  std::lock_guard lock(mutex_);
  auto& turn = turns_[id];
  if (!turn) turn = std::make_unique<std::mutex>();
  return *turn;
}

// Before anything is written: later, another thread's parts would be taken for old ones.
void HostsCloud::begin_changes(const Context& context) {
  std::lock_guard lock(mutex_);
  if (begun_.insert(context.work_directory).second) remove_unfinished(context);
  visits_.clear();
}

// ---- planning ----

Result<Json> HostsCloud::survey_one(const Context& context, const Machine& machine, const Json& spec) {
  auto records = load_records(context);
  if (!records) return records.status();
  auto known = std::find_if(records->begin(), records->end(),
                            [&](const Record& record) { return record.id == machine.text(); });
  Record record;
  if (known != records->end()) {
    record = *known;
  } else {
    auto way = access_.way_to(machine, context);
    if (!way) return way.status();
    record = {machine.text(), "host", "", "", spec, *way};
  }
  auto found = visited_lately(context, record);
  if (!found) return std::move(found).status().at(machine.name());
  Json facts = found->facts;
  const Marker& marker = found->marker;
  if (!marker.token.empty() && marker.token != record.token) facts["taken_by"] = marker.infrastructure;
  return facts;
}

// A refresh looks right before it surveys: one visit for both.
Result<Visit> HostsCloud::visited_lately(const Context& context, const Record& record) {
  {
    std::lock_guard lock(mutex_);
    auto last = visits_.find(context.work_directory + "\n" + record.id);
    if (last != visits_.end() && std::chrono::steady_clock::now() < last->second.first + kLately)
      return last->second.second;
  }
  bool by_key = false;
  return access_.visit_machine(context, record, by_key);
}

Result<Survey> HostsCloud::survey(const Context& context, const ir::Program& program) {
  std::vector<std::pair<Machine, Json>> machines;
  for (const ir::Node& node : program.nodes) {
    if (node.cloud.empty() ? !names_a_machine(node) : node.cloud != id_.type) continue;
    auto machine = machine_of(node);
    if (machine) machines.emplace_back(*machine, host_spec(node, machine->text()));
  }
  std::vector<Result<Json>> facts(machines.size(), Status(Code::Internal, "not asked"));
  (void)for_each_parallel(machines.size(), kAtOnce, [&](size_t i) {
    facts[i] = survey_one(context, machines[i].first, machines[i].second);
    return Status();
  });
  Survey survey;
  survey.taken_at =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  survey.facts["machines"] = Json::object();
  Status silent;  // each of those that do not answer
  for (size_t i = 0; i < machines.size(); ++i) {
    if (facts[i]) {
      survey.facts["machines"][machines[i].first.text()] = std::move(*facts[i]);
    } else {
      const Status& why = facts[i].status();
      silent = silent.ok() ? why : Status(silent.code(), silent.message() + "; " + why.message());
    }
  }
  if (!silent.ok()) return silent;
  return survey;
}

// ---- asking ----

Asked HostsCloud::ask_create(const Context& context, const Order& order) {
  begin_changes(context);
  if (order.type == "key") return create_key(context, order);
  if (order.type == "host") return create_host(context, order);
  return Asked::refused(invalid(fmt::format("cloud hosts has no resources of type '{}'", order.type)));
}

Asked HostsCloud::create_key(const Context& context, const Order& order) {
  std::lock_guard lock(mutex_);
  Status made = save_record(context, {kKeyId, "key", order.address, order.token, order.spec, {}});
  if (made.ok()) made = ensure_key(context).status();
  if (made.ok()) return Asked::accepted(kKeyId);
  Status cleared = remove_record(context, kKeyId);
  const bool left = access(key_file(context).c_str(), F_OK) == 0;
  return cleared.ok() && !left ? Asked::refused(std::move(made)) : Asked::unknown(std::move(made));
}

Asked HostsCloud::create_host(const Context& context, const Order& order) {
  auto machine = parse_machine(order.spec.value("machine", ""));
  if (!machine) return Asked::refused(std::move(machine).status().at(order.address));
  const std::string name = who(order.address, *machine);
  std::lock_guard turn(turn_of(machine->text()));
  auto way = access_.way_to(*machine, context);
  if (!way) return Asked::refused(std::move(way).status().at(order.address));
  auto users = access_.as_user(context, *machine, *way, order.spec);
  if (!users) return Asked::refused(std::move(users).status().at(name));
  Asked asked = take_machine(context, {machine->text(), "host", order.address, order.token, order.spec, *way},
                             (*users)->remote());
  if (asked.status.ok()) return asked;
  Status named = std::move(asked.status).at(name);
  asked.status = std::move(named);
  return asked;
}

Asked HostsCloud::take_machine(const Context& context, Record record, Remote& users) {
  const Stop stop = context.stop;
  auto found = visit(users, stop.within(kLogin));
  if (!found) return Asked::refused(nothing_done(found.status()));
  const Marker& marker = found->marker;
  if (!marker.token.empty() && marker.token != record.token) {
    return Asked::refused({Code::Conflict, fmt::format("it is taken by infrastructure '{}' ({})",
                                                       marker.infrastructure, marker.address)});
  }
  std::vector<std::string> wrong = unmet(record.spec.value("requires", Json::object()), found->facts);
  if (marker.token.empty() && !wrong.empty()) return Asked::refused(invalid(unmet_text(wrong)));
  if (Status root = can_become_root(context, record, found->facts, users); !root.ok())
    return Asked::refused(nothing_done(std::move(root)));
  std::unique_lock key(mutex_);
  auto line = ensure_key(context);
  key.unlock();
  if (!line) return Asked::refused(line.status());
  if (Status s = save_record(context, record); !s.ok()) return Asked::refused(s);
  Status taken = take(users, {context.infrastructure, record.token, record.address}, *line, stop);
  if (taken.ok()) {
    auto own = visit(*access_.with_key_alone(context, record), stop.within(kLogin));
    if (own) return Asked::accepted(record.id);
    taken = own.status();
    if (!ssh::is_refused_login(taken)) return Asked::unknown(taken);
    taken = {Code::Auth, "radlc's key is in ~/.ssh/authorized_keys, but its SSH server does not accept it"};
  }
  const Code code = taken.code();
  if (code == Code::Lost || code == Code::Timeout || code == Code::Cancelled) return Asked::unknown(taken);
  // If another user took the machine first, only the record is ours.
  Status undone = code == Code::Conflict ? Status() : give_back(users, record.token, *line, "", Stop());
  if (undone.ok()) undone = remove_record(context, record.id);
  return undone.ok() ? Asked::refused(taken) : Asked::unknown(taken);
}

Asked HostsCloud::ask_update(const Context& context, const Order& order) {
  begin_changes(context);
  std::lock_guard turn(turn_of(order.id));
  auto records = load_records(context);
  if (!records) return Asked::refused(records.status());
  auto record = std::find_if(records->begin(), records->end(),
                             [&](const Record& known) { return known.id == order.id; });
  if (record == records->end())
    return Asked::refused(not_found(order.address + ": this machine is no longer in use"));
  if (record->type == "host") {
    bool by_key = false;
    auto found = access_.visit_machine(context, *record, by_key);
    if (!found) return Asked::refused(nothing_done(std::move(found).status().at(order.address)));
    std::vector<std::string> wrong = unmet(order.spec.value("requires", Json::object()), found->facts);
    if (!wrong.empty()) return Asked::refused(invalid(order.address + ": " + unmet_text(wrong)));
  }
  record->spec = order.spec;
  Status saved = save_record(context, *record);
  return saved.ok() ? Asked::accepted(order.id) : Asked::refused(saved);
}

Asked HostsCloud::ask_destroy(const Context& context, const Order& order) {
  begin_changes(context);
  Status gone = order.id == kKeyId ? destroy_key(context) : destroy_host(context, order);
  return gone.ok() ? Asked::accepted(order.id) : Asked::refused(gone);
}

Status HostsCloud::destroy_key(const Context& context) {
  std::lock_guard lock(mutex_);
  auto records = load_records(context);
  if (!records) return records.status();
  for (const Record& record : *records) {
    if (record.type != "host" || record.token.empty()) continue;
    return {Code::Retry, fmt::format("the key is still in use: {} was not released", record.id)};
  }
  for (const std::string& path : {key_file(context), key_file(context) + ".pub"}) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) return errno_status(errno, path);
  }
  return remove_record(context, kKeyId);
}

Status HostsCloud::destroy_host(const Context& context, const Order& order) {
  std::lock_guard turn(turn_of(order.id));
  auto records = load_records(context);
  if (!records) return records.status();
  auto record = std::find_if(records->begin(), records->end(),
                             [&](const Record& known) { return known.id == order.id; });
  if (record == records->end()) return {};
  auto machine = parse_machine(record->id);
  if (!machine) return machine.status();
  const std::string name = who(record->address, *machine);
  auto failed = [&](Status why) {
    return Status(why.code(), fmt::format("{}: cannot be released: {}", name, why.message()))
        .with_hint("if it is gone for good: radlc state rm " + record->address);
  };
  bool by_key = false;
  auto found = access_.visit_machine(context, *record, by_key);
  if (!found) return failed(nothing_done(found.status()));
  std::unique_ptr<UserLogin> users;
  if (!by_key) {
    auto made = access_.as_user(context, *machine, record->way, record->spec);
    if (!made) return failed(made.status());
    users = std::move(*made);
  }
  auto own = access_.with_key(context, *record);
  Remote& remote = users ? users->remote() : *own;
  auto line = ensure_key(context);
  if (!line) return failed(line.status());
  if (found->marker.token == record->token) {
    Lease lease{context.infrastructure, context.run, "give-back", "-"};
    if (Status s = take_lease(remote, lease, context.stop, context.log); !s.ok()) return failed(s);
  }
  if (Status s = give_back(remote, record->token, *line, sudo_password_of(context, *record), context.stop);
      !s.ok())
    return failed(nothing_done(s));
  own->abandon();
  return remove_record(context, record->id);
}

// The record stays without a token, for who imports it again. A machine that is gone for good can be released
// as well: then nothing is known of it any more.
Status HostsCloud::release(const Context& context, const Order& order) {
  begin_changes(context);
  if (order.id == kKeyId) return remove_record(context, kKeyId);
  std::lock_guard turn(turn_of(order.id));
  auto records = load_records(context);
  if (!records) return records.status();
  auto record = std::find_if(records->begin(), records->end(),
                             [&](const Record& known) { return known.id == order.id; });
  if (record == records->end()) return {};
  if (Status freed = unmark(*access_.with_key(context, *record), record->token, context.stop); !freed.ok()) {
    context.log(fmt::format("{}: ~/.radl/taken-by remains on it: {}", order.address, freed.message()));
    return remove_record(context, record->id);
  }
  record->token.clear();
  return save_record(context, *record);
}

Status HostsCloud::take_over(const Context& context, const Order& order) {
  begin_changes(context);
  std::lock_guard turn(turn_of(order.id));
  auto records = load_records(context);
  if (!records) return records.status();
  auto record = std::find_if(records->begin(), records->end(),
                             [&](const Record& known) { return known.id == order.id; });
  if (record == records->end() || record->type != "host") return {};
  auto line = ensure_key(context);
  if (!line) return line.status();
  Status taken = take(*access_.with_key(context, *record),
                      {context.infrastructure, order.token, order.address}, *line, context.stop);
  if (!taken.ok()) return taken;
  record->token = order.token;
  record->address = order.address;
  return save_record(context, *record);
}

// ---- looking ----

Result<std::optional<Seen>> HostsCloud::look_at(const Context& context, const Record& record) {
  bool by_key = false;
  auto found = access_.visit_machine(context, record, by_key);
  if (!found) {
    auto machine = parse_machine(record.id);
    const std::string name = machine ? who(record.address, *machine) : record.address;
    return Status(found.status().code(), fmt::format("{}: cannot check whether it is still in use: {}", name,
                                                     found.status().message()));
  }
  {
    std::lock_guard lock(mutex_);
    visits_[context.work_directory + "\n" + record.id] = {std::chrono::steady_clock::now(), *found};
  }
  if (found->marker.token != record.token) return std::optional<Seen>();
  return std::optional<Seen>(host_seen(context, record, *found, by_key));
}

Result<std::vector<Seen>> HostsCloud::look(const Context& context, const Query& query) {
  auto records = load_records(context);
  if (!records) return records.status();
  const Record* key = nullptr;
  std::vector<const Record*> hosts;
  for (const Record& record : *records) {
    if (record.id == kKeyId) key = &record;
    const bool named = (query.everything && !record.token.empty()) || among(query.ids, record.id) ||
                       among(query.tokens, record.token);
    if (record.type == "host" && named) hosts.push_back(&record);
  }
  std::vector<Result<std::optional<Seen>>> found(hosts.size(), Status(Code::Internal, "not asked"));
  (void)for_each_parallel(hosts.size(), kAtOnce, [&](size_t i) {
    found[i] = look_at(context, *hosts[i]);
    return Status();
  });
  std::vector<Seen> all;
  for (auto& one : found) {
    if (!one) return one.status();
    if (*one) all.push_back(std::move(**one));
  }
  if (query.everything || among(query.ids, kKeyId) || (key && among(query.tokens, key->token))) {
    std::lock_guard lock(mutex_);
    auto seen = key_seen(context, key);
    if (!seen) return seen.status();
    if (*seen) all.push_back(std::move(**seen));
  }
  return all;
}

}  // namespace

Options options_of(const Environment& environment, ssh::Connections* connections) {
  Options options;
  options.connections = connections;
  options.ssh_config = environment("RADL_SSH_CONFIG");
  return options;
}

std::unique_ptr<Cloud> make_cloud(const Options& options) { return std::make_unique<HostsCloud>(options); }

}  // namespace radl::hosts
