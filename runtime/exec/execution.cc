#include "runtime/exec/execution.h"

#include <algorithm>
#include <utility>

#include "runtime/exec/host_keys.h"
#include "runtime/exec/jump.h"
#include "runtime/exec/retry.h"
#include "runtime/plan/values.h"

namespace radl {

namespace {

Redactor redactor_for(const Run& run) { return run.secrets ? Redactor(*run.secrets) : Redactor(); }

// What cannot be recorded must not be begun.
Stop finishing_of(const Run& run) {
  Stop asked = run.cancellation ? run.cancellation->finishing() : Stop();
  Store* store = run.store;
  if (!store) return asked;
  return asked.or_when(Stop::when([store] { return !store->can_write(); })).or_when(store->lost());
}

// Without its lock a run does nothing more: what it asks for now, another run may have made or given up.
Stop now_of(const Run& run) {
  Stop asked = run.cancellation ? run.cancellation->now() : Stop();
  return run.store ? asked.or_when(run.store->lost()) : asked;
}

}  // namespace

Execution::Execution(const Run& given, Snapshot snapshot)
    : run(given),
      events(given.sinks, redactor_for(given), given.world->clock),
      finishing_(finishing_of(given)),
      now_(now_of(given)),
      lock_(
          given.store, given.options.command, [this](const LockInfo& holder) { note_waiting(holder); },
          [this] { return read_again(); }),
      snapshot_(std::move(snapshot)) {
  if (run.secrets) fingerprints_ = radl::fingerprints(snapshot_, *run.secrets);
  if (!run.program) return;
  nodes_.reserve(run.program->nodes.size());
  for (const ir::Node& node : run.program->nodes) nodes_.push_back(&node);
  std::sort(nodes_.begin(), nodes_.end(),
            [](const ir::Node* a, const ir::Node* b) { return a->address < b->address; });
  for (const ir::Step& step : run.program->steps) steps_[step.id] = &step;
}

Context Execution::context(const std::string& id, std::chrono::steady_clock::time_point deadline,
                           bool is_job) {
  Context context;
  {
    std::lock_guard guard(mutex_);
    context.infrastructure = infrastructure_tag(snapshot_.name, snapshot_.lineage);
  }
  context.work_directory = store().work_directory();
  context.run = run_id_;
  context.stop = (is_job ? finishing_ : now_).until(deadline);
  context.log = [this, id](const std::string& line) {
    Event event;
    event.id = id;
    event.message = line;
    events.emit(std::move(event));
  };
  context.secrets = run.secrets;
  context.environment = run.world->environment;
  context.shared = shared_;
  return context;
}

Snapshot Execution::snapshot() const {
  std::lock_guard guard(mutex_);
  return snapshot_;
}

std::optional<ResourceRecord> Execution::resource(const std::string& address) const {
  std::lock_guard guard(mutex_);
  auto found = snapshot_.resources.find(address);
  if (found == snapshot_.resources.end()) return std::nullopt;
  return found->second;
}

std::optional<StepRecord> Execution::step(const std::string& id) const {
  std::lock_guard guard(mutex_);
  auto found = snapshot_.steps.find(id);
  if (found == snapshot_.steps.end()) return std::nullopt;
  return found->second;
}

std::optional<Json> Execution::known(const std::string& unknown_name) const {
  std::lock_guard guard(mutex_);
  return known_value(snapshot_, unknown_name);
}

void Execution::put(const ResourceRecord& record) {
  std::lock_guard guard(mutex_);
  snapshot_.resources[record.address] = record;
}

void Execution::put(const StepRecord& record) {
  std::lock_guard guard(mutex_);
  snapshot_.steps[record.id] = record;
}

void Execution::remove_resource(const std::string& address, bool keep_steps) {
  drop_connection(address);
  std::lock_guard guard(mutex_);
  snapshot_.resources.erase(address);
  if (keep_steps) return;
  std::erase_if(snapshot_.steps, [&](const auto& entry) {
    const std::vector<std::string>& nodes = entry.second.nodes;
    return std::none_of(nodes.begin(), nodes.end(),
                        [&](const std::string& node) { return snapshot_.resources.count(node) != 0; });
  });
}

void Execution::forget(const std::string& step) {
  std::lock_guard guard(mutex_);
  snapshot_.steps.erase(step);
}

const OpenCreation& Execution::put_open_creation(const std::string& address, OpenCreation open) {
  std::lock_guard guard(mutex_);
  return open_creations_[address] = std::move(open);
}

const OpenCreation* Execution::open_creation(const std::string& address) const {
  std::lock_guard guard(mutex_);
  auto found = open_creations_.find(address);
  return found == open_creations_.end() ? nullptr : &found->second;
}

std::optional<OpenCreation> Execution::take_open_creation(const std::string& address) {
  std::lock_guard guard(mutex_);
  auto found = open_creations_.extract(address);
  if (!found) return std::nullopt;
  return std::move(found.mapped());
}

void Execution::put_unresolved(const Intent& intent) {
  std::lock_guard guard(mutex_);
  unresolved_[intent.address] = intent;
}

std::optional<Intent> Execution::take_unresolved(const std::string& address) {
  std::lock_guard guard(mutex_);
  auto found = unresolved_.find(address);
  if (found == unresolved_.end()) return std::nullopt;
  Intent intent = std::move(found->second);
  unresolved_.erase(found);
  return intent;
}

const ir::Node* Execution::node(const std::string& address) const {
  auto found = std::lower_bound(
      nodes_.begin(), nodes_.end(), address,
      [](const ir::Node* node, const std::string& sought) { return node->address < sought; });
  return found == nodes_.end() || (*found)->address != address ? nullptr : *found;
}

const ir::Step* Execution::step_of_program(const std::string& id) const {
  auto found = steps_.find(id);
  return found == steps_.end() ? nullptr : found->second;
}

NodeHandle Execution::handle(const std::string& address, const Stop& stop) {
  NodeHandle handle;
  handle.address = address;
  handle.node = node(address);
  std::optional<ResourceRecord> record = resource(address);
  if (record) handle.attributes = record->attributes;
  if (record) handle.cloud = record->cloud;
  if (record && is_private(*record)) {
    auto jump = read([&](const Snapshot& known) { return jump_for(known, *record); });
    if (jump) {
      Result<Json> reached =
          attributes_through(*record, *jump, store().work_directory(), world().environment);
      if (reached.ok()) handle.attributes = std::move(*reached);
    }
  }
  // The key that it got when it was created.
  if (record && record->spec.contains("cloud_init"))
    handle.attributes["cloud_init"] = record->spec["cloud_init"];
  // A machine that has responded once gets less time than a booting one.
  const std::chrono::milliseconds patience = !record             ? std::chrono::milliseconds(0)
                                             : record->reachable ? std::chrono::milliseconds(30000)
                                                                 : options().boot_deadline;
  handle.connect = [this, address, patience, stop] { return connect(address, patience, stop); };
  return handle;
}

std::vector<NodeHandle> Execution::all_handles(const Stop& stop) {
  std::vector<std::string> addresses;
  {
    std::lock_guard guard(mutex_);
    if (run.program) {
      for (const ir::Node& node : run.program->nodes) {
        if (snapshot_.resources.count(node.address)) addresses.push_back(node.address);
      }
    }
  }
  std::vector<NodeHandle> handles;
  for (const std::string& address : addresses) handles.push_back(handle(address, stop));
  return handles;
}

std::shared_ptr<Execution::Connection> Execution::connection(const std::string& address) {
  std::lock_guard guard(mutex_);
  std::shared_ptr<Connection>& slot = connections_[address];
  if (!slot) slot = std::make_shared<Connection>();
  return slot;
}

Result<Remote*> Execution::connect(const std::string& address, std::chrono::milliseconds patience,
                                   const Stop& stop) {
  std::shared_ptr<Connection> slot = connection(address);
  std::lock_guard guard(slot->mutex);
  if (slot->remote) return slot->remote.get();
  const auto end = std::min(in(patience), stop.deadline());
  for (std::chrono::milliseconds wait(50);; wait = std::min(wait * 2, std::chrono::milliseconds(2000))) {
    Result<std::unique_ptr<Remote>> made = attempt(address, end);
    if (made.ok()) {
      slot->remote = std::move(*made);
      return slot->remote.get();
    }
    Code code = made.status().code();
    if (!may_work_later(code) && code != Code::NotFound) return made.status();
    if (stop_starting() || stop.asked())
      return Status(Code::Cancelled, "stopped while waiting for " + address);
    if (world().clock.now() + wait >= end) {
      return Status(Code::Timeout, address + " did not become reachable: " + made.status().message());
    }
    if (!sleep_unless(world().clock, wait, finishing_))
      return Status(Code::Cancelled, "stopped while waiting for " + address);
  }
}

Status Execution::connect_once(const std::string& address, std::chrono::steady_clock::time_point end) {
  std::shared_ptr<Connection> slot = connection(address);
  std::lock_guard guard(slot->mutex);
  if (slot->remote) return {};
  Result<std::unique_ptr<Remote>> made = attempt(address, end);
  if (made.ok()) slot->remote = std::move(*made);
  return slot->remote ? Status() : made.status();
}

// At the first contact with a machine: what it shows is pinned, and must be what the cloud knows of it, as
// far as the cloud knows something.
Status Execution::learn_host_key(ResourceRecord& record, const std::optional<ResourceRecord>& jump,
                                 const Context& context) {
  Result<std::string> shown = internal_error("not asked");
  if (jump) {
    std::shared_ptr<Connection> through = connection(jump->address);
    std::lock_guard guard(through->mutex);
    if (!through->remote) return Status(Code::Retry, jump->address + " has been lost");
    shown = host_key_seen_from(*through->remote, record, context.stop);
  } else {
    shown = run.host_key(record.attributes, context);
  }
  if (!shown.ok()) return shown.status();
  bool confirmed = false;
  if (Cloud* cloud = run.clouds->find(record.cloud)) {
    Result<bool> told = is_key_of_cloud(*cloud, context, record.id, *shown);
    if (told.status().code() == Code::Auth)
      return Status(told.status())
          .with_hint("another machine may be answering at " + record.attributes.value("host", "its address"));
    if (!told.ok()) context.log("cannot get the host key from the cloud: " + told.status().message());
    confirmed = told.ok() && *told;
  }
  record.attributes["host_key"] = shown->substr(0, shown->find(' ', shown->find(' ') + 1));
  record.attributes[kHostKeyFrom] = confirmed ? kFromCloud : kFromFirstUse;
  if (Status kept = store().put_resource(record); !kept.ok()) return kept;
  put(record);
  context.log(confirmed ? "host key confirmed by the cloud"
                        : "host key trusted on first use: the cloud does not tell it (yet)");
  return {};
}

void Execution::distrust(const std::string& address, const Status& why) {
  {
    std::lock_guard guard(mutex_);
    distrusted_.emplace(address, why);
  }
  drop_connection(address);
}

Result<std::unique_ptr<Remote>> Execution::attempt(const std::string& address,
                                                   std::chrono::steady_clock::time_point end) {
  std::optional<ResourceRecord> record = resource(address);
  if (!record) return Status(Code::NotFound, address + " does not exist");
  {
    std::lock_guard guard(mutex_);
    if (auto found = distrusted_.find(address); found != distrusted_.end()) return found->second;
  }
  if (!run.connect) return Status(Code::Unsupported, "this run has no way to connect to " + address);
  Context contact = context(address, end);
  contact.booting = !record->reachable;
  // If the file no longer has it, end what an earlier program runs.
  ir::Node of_earlier;
  of_earlier.address = address;
  const ir::Node* wanted = node(address) ? node(address) : &of_earlier;
  const Json known = record->attributes.value("host_key", Json());
  const bool unknown = run.host_key && (known.is_null() || known == "");
  Result<std::optional<ResourceRecord>> leading = leading_to(*record);
  if (!leading.ok()) return leading.status();
  std::optional<ResourceRecord> jump = std::move(*leading);
  if (jump) {
    if (Status there = connect_once(jump->address, end); !there.ok()) return there;
    jump = resource(jump->address);
    if (!jump) return Status(Code::Retry, address + ": the machine that leads to it is gone");
  }
  if (unknown) {
    if (Status learned = learn_host_key(*record, jump, contact); !learned.ok()) return learned;
  }
  if (!jump) return run.connect(*wanted, record->attributes, contact);
  Result<Json> reached = attributes_through(*record, *jump, store().work_directory(), world().environment);
  if (!reached.ok()) return reached.status();
  return run.connect(*wanted, *reached, contact);
}

namespace {

bool is_same(const ResourceRecord& a, const ResourceRecord& b) {
  return a.id == b.id && a.token == b.token && a.status == b.status && a.spec == b.spec;
}
bool is_same(const StepRecord& a, const StepRecord& b) {
  return a.status == b.status && a.digest == b.digest && a.revision == b.revision && a.made_on == b.made_on;
}

template <class Record>
void note_differing(const std::map<std::string, Record>& before, const std::map<std::string, Record>& now,
                    std::set<std::string>& differing) {
  for (const auto& [id, record] : before) {
    auto found = now.find(id);
    if (found == now.end() || !is_same(record, found->second)) differing.insert(id);
  }
  for (const auto& [id, record] : now)
    if (!before.count(id)) differing.insert(id);
}

}  // namespace

void Execution::note_waiting(const LockInfo& holder) {
  Event event;
  event.message = "waiting for the lock: " + holder.text();
  events.emit(std::move(event));
}

// What a run that was killed may have created is for the next run to look up, and so is what this one was
// creating and another run has settled.
void Execution::note_creations(const std::vector<Intent>& open) {
  for (const Intent& intent : open) {
    if (intent.kind == Intent::Kind::Create && !open_creations_.count(intent.address))
      disturbed_.insert(intent.address);
  }
  for (const auto& [address, creation] : open_creations_) {
    const bool is_open = std::any_of(
        open.begin(), open.end(), [id = creation.intent](const Intent& intent) { return intent.id == id; });
    if (!is_open) disturbed_.insert(address);
  }
}

Status Execution::read_again() {
  Result<Snapshot> now = store().snapshot();
  if (!now.ok()) return now.status();
  Result<std::vector<Intent>> open = std::vector<Intent>();
  if (now->open_intents > 0) open = store().open_intents();
  if (!open.ok()) return open.status();
  std::vector<std::string> moved;
  {
    std::lock_guard guard(mutex_);
    note_differing(snapshot_.resources, now->resources, disturbed_);
    note_differing(snapshot_.steps, now->steps, disturbed_);
    note_creations(*open);
    for (const auto& [address, record] : snapshot_.resources) {
      auto found = now->resources.find(address);
      if (found == now->resources.end() || found->second.id != record.id) moved.push_back(address);
    }
    snapshot_ = std::move(*now);
  }
  for (const std::string& address : moved) drop_connection(address);
  return {};
}

bool Execution::is_disturbed(const std::string& id) const {
  std::lock_guard guard(mutex_);
  return disturbed_.count(id) != 0;
}

Status Execution::check_undisturbed(const Action& action) const {
  std::vector<std::string> all = action.nodes;
  all.push_back(action.id);
  all.insert(all.end(), action.uses.begin(), action.uses.end());
  for (const std::string& id : all) {
    if (is_disturbed(id))
      return Status(Code::Conflict, id + " was changed by another run while jobs of this one ran")
          .with_hint("run the same command again: it plans for what exists now");
  }
  if (action.verb != Verb::Delete && action.verb != Verb::Replace) return {};
  std::lock_guard guard(mutex_);
  for (const std::string& address : disturbed_) {
    auto found = snapshot_.resources.find(address);
    if (found == snapshot_.resources.end()) continue;
    const std::vector<std::string>& needs = found->second.needs;
    if (std::find(needs.begin(), needs.end(), action.id) != needs.end())
      return Status(Code::Conflict, action.id + " is used by " + address + " now, which another run created")
          .with_hint("run the same command again: it plans for what exists now");
  }
  return {};
}

void Execution::note_failed(const std::string& address) {
  std::lock_guard guard(mutex_);
  failed_.insert(address);
}

Result<std::optional<ResourceRecord>> Execution::leading_to(const ResourceRecord& record) const {
  if (!is_private(record)) return std::optional<ResourceRecord>();
  Snapshot there = snapshot();
  const std::optional<ResourceRecord> any = jump_for(there, record);
  std::lock_guard guard(mutex_);
  for (const std::string& address : failed_) there.resources.erase(address);
  if (auto jump = jump_for(there, record)) return jump;
  if (any)
    return Status(Code::Unsupported, record.address + ": it has no public address, and " + any->address +
                                         ", which leads to it, could not be reached");
  std::string failed;
  for (const ir::Node* node : nodes_) {
    const std::string& address = node->address;
    if (address == record.address || snapshot_.resources.count(address)) continue;
    if (!failed_.count(address))
      return Status(Code::Retry,
                    record.address + " has no public address: it waits for a machine that leads to it");
    failed += (failed.empty() ? "" : ", ") + address;
  }
  if (failed.empty()) return std::optional<ResourceRecord>();
  return Status(Code::Unsupported, record.address + ": it has no public address, and " + failed +
                                       ", which leads to it, could not be made");
}

bool Execution::news_for(const std::string& address, const std::string& text) {
  std::lock_guard guard(mutex_);
  return std::exchange(told_[address], text) != text;
}

void Execution::drop_connection(const std::string& address) {
  std::shared_ptr<Connection> slot = connection(address);
  std::lock_guard guard(slot->mutex);
  if (slot->remote) slot->remote->abandon();
  slot->remote.reset();
}

}  // namespace radl
