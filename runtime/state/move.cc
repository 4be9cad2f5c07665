// `radlc state mv`: a resource, or a system, under a new name wherever the state names it.
#include <algorithm>
#include <set>

#include "compiler/ir/ir.h"
#include "runtime/state/apply_change.h"
#include "runtime/state/records.h"
#include "runtime/state/rows.h"

namespace radl {

namespace {

// What `state mv FROM TO` makes of the names in a state.
class Renaming {
 public:
  // `nodes`: the addresses of all that are there, or begun.
  Renaming(const std::string& from, const std::string& to, std::set<std::string> nodes)
      : from_(from), to_(to), nodes_(std::move(nodes)) {}

  // "worker" -> "trainer" renames worker[0], worker[1], ...; "worker[0]" -> "old[3]" that one only. What was
  // made for one of them alone goes along: "volume.worker[0].1".
  std::string address(const std::string& address) const {
    if (address == from_) return to_;
    bool of_system = from_.find('[') == std::string::npos && address.size() > from_.size() &&
                     address.compare(0, from_.size(), from_) == 0 && address[from_.size()] == '[';
    if (of_system) return to_ + address.substr(from_.size());
    if (nodes_.count(address)) return address;
    const size_t dot = address.find('.'), close = address.find(']');
    if (dot == std::string::npos || close == std::string::npos || close < dot) return address;
    const std::string owner = address.substr(dot + 1, close - dot);
    if (!nodes_.count(owner)) return address;
    return address.substr(0, dot + 1) + this->address(owner) + address.substr(close + 1);
  }

  // "worker[0]/tools"; also the name of a secret that such a step makes, which begins with it.
  std::string step(const std::string& id) const {
    size_t slash = id.find('/');
    bool of_node = slash != std::string::npos && slash > 0 && id[slash - 1] == ']';
    return of_node ? address(id.substr(0, slash)) + id.substr(slash) : id;
  }

  // What a step depends on: the id of a step, or a value, "worker[0].private_ip".
  std::string input(const std::string& name) const {
    if (name.find('/') != std::string::npos) return step(name);
    size_t dot = name.rfind('.');
    return dot == std::string::npos ? name : address(name.substr(0, dot)) + name.substr(dot);
  }

  Json value(const Json& value) const {
    if (ir::is_unknown(value)) return ir::unknown(input(value.at("$unknown").get<std::string>()));
    if (ir::is_secret(value)) return ir::secret(step(value.at("$secret").get<std::string>()));
    if (!value.is_structured()) return value;
    Json renamed = value;
    for (auto at = renamed.begin(); at != renamed.end(); ++at) *at = this->value(*at);
    return renamed;
  }

  // Names of nodes stand as plain text in a training's cluster alone.
  Json definition(const Json& before) const {
    Json renamed = value(before);
    auto training = renamed.find("training");
    if (training == renamed.end() || !training->is_object() || !training->contains("cluster")) return renamed;
    for (Json& role : (*training)["cluster"]) {
      for (Json& node : role) {
        if (node.is_string()) node = address(node.get<std::string>());
      }
    }
    return renamed;
  }

  // True when anything in it is called otherwise now.
  bool apply(ResourceRecord& record) const {
    std::string before = record.address;
    record.address = address(before);
    bool changed = record.address != before;
    if (changed && record.is_node()) set_place(record);
    for (std::string& need : record.needs) {
      std::string now = address(need);
      if (now == need) continue;
      changed = true;
      rename_in(record.spec, need, now);
      need = std::move(now);
    }
    return changed;
  }

  bool apply(StepRecord& record) const {
    StepRecord now = record;
    now.id = step(record.id);
    for (std::string& node : now.nodes) node = address(node);
    now.made_on.clear();
    for (const auto& [node, made] : record.made_on) now.made_on[address(node)] = made;
    now.inputs.clear();
    for (const auto& [name, was] : record.inputs) now.inputs[input(name)] = was;
    if (record.definition) {
      Json renamed = definition(*record.definition);
      // Its digest was over the old names and is no use any more: the definition tells whether it changed.
      if (renamed != *record.definition) now.digest.clear();
      now.definition = std::make_shared<const Json>(std::move(renamed));
    }
    bool changed = now.id != record.id || now.nodes != record.nodes || now.inputs != record.inputs ||
                   now.digest != record.digest;
    record = std::move(now);
    return changed;
  }

  // Invalid: the new name is none for such a thing. Any but a node keeps the word before the point:
  // "network.lan" stays a network.
  Status check(const std::string& before, const ResourceRecord& moved) const {
    const std::string kept = before.substr(0, before.find('.') + 1);
    const bool fits = moved.is_node() ? is_node_address(moved.address)
                                      : moved.address.starts_with(kept) && moved.address.size() > kept.size();
    if (fits) return {};
    Status wrong(Code::Invalid, "'" + moved.address + "' is no address of a " + moved.type);
    if (!moved.is_node()) return std::move(wrong).with_hint("it has to begin with '" + kept + "'");
    return std::move(wrong).with_hint(
        "nodes are moved one by one ('worker[0]' to 'trainer[0]') or with their whole system ('worker' to "
        "'trainer')");
  }

 private:
  static bool is_node_address(const std::string& address) {
    size_t open = address.find('[');
    if (open == 0 || open == std::string::npos || address.back() != ']') return false;
    std::string digits = address.substr(open + 1, address.size() - open - 2);
    return !digits.empty() && digits.size() < 10 &&
           digits.find_first_not_of("0123456789") == std::string::npos;
  }

  // A spec names what the resource needs by its address.
  static void rename_in(Json& spec, const std::string& before, const std::string& now) {
    if (spec.is_string() && spec.get_ref<const std::string&>() == before) spec = now;
    if (!spec.is_structured()) return;
    for (Json& part : spec) rename_in(part, before, now);
  }

  // Splits "worker[3]".
  static void set_place(ResourceRecord& record) {
    size_t open = record.address.find('[');
    record.system = record.address.substr(0, open);
    record.ordinal = open == std::string::npos ? 0 : std::atoi(record.address.c_str() + open + 1);
  }

  std::string from_, to_;
  std::set<std::string> nodes_;
};

std::set<std::string> node_addresses(const Snapshot& snapshot, const std::vector<Intent>& begun) {
  std::set<std::string> nodes;
  for (const auto& [address, record] : snapshot.resources) {
    if (record.is_node()) nodes.insert(address);
  }
  for (const Intent& intent : begun) {
    if (intent.resource.is_node()) nodes.insert(intent.address);
  }
  return nodes;
}

// What a move makes of a state: everything under its new name, by its old one.
struct Moved {
  std::vector<std::pair<std::string, ResourceRecord>> resources;
  std::vector<std::pair<std::string, StepRecord>> steps;
  std::vector<Intent> intents;
};

Result<Moved> moved_by(const Renaming& renaming, const Snapshot& before, std::vector<Intent> intents,
                       const std::string& from) {
  Moved moved;
  bool found = false;
  for (const auto& [address, record] : before.resources) {
    ResourceRecord now = record;
    if (!renaming.apply(now)) continue;
    if (now.address != address) {
      found = true;
      if (Status fits = renaming.check(address, now); !fits.ok()) return fits;
      if (before.resources.count(now.address))
        return Status(Code::Exists, "the state has a '" + now.address + "' already");
    }
    moved.resources.emplace_back(address, std::move(now));
  }
  for (const auto& [id, record] : before.steps) {
    StepRecord now = record;
    if (renaming.apply(now)) moved.steps.emplace_back(id, std::move(now));
  }
  for (Intent& intent : intents) {
    bool renamed = renaming.apply(intent.resource);
    found |= renamed && intent.kind == Intent::Kind::Create;
    std::string now =
        intent.kind == Intent::Kind::Run ? renaming.step(intent.address) : renaming.address(intent.address);
    renamed |= now != intent.address;
    intent.address = std::move(now);
    if (renamed) moved.intents.push_back(std::move(intent));
  }
  if (!found) return not_found("the state has no '" + from + "'");
  return moved;
}

Status rename_secret(Database& db, const std::string& from, const std::string& to) {
  if (from == to) return {};
  Result<Statement> row = db.prepare("UPDATE OR REPLACE secrets SET name = ? WHERE name = ?");
  if (!row.ok()) return row.status();
  return row->bind(1, to).bind(2, from).run();
}

}  // namespace

Status apply_move(Writing& writing, const state_change::Move& move) {
  Database& db = writing.db;
  Result<Snapshot> before = read_snapshot(db);
  if (!before.ok()) return before.status();
  // What an interrupted run had begun is found under the new name too.
  Result<std::vector<Intent>> intents = read_open_intents(db);
  if (!intents.ok()) return intents.status();
  const Renaming renaming(move.from, move.to, node_addresses(*before, *intents));
  Result<Moved> moved = moved_by(renaming, *before, std::move(*intents), move.from);
  if (!moved.ok()) return moved.status();
  for (const auto& [address, record] : moved->resources) {
    if (Status gone = delete_resource(db, address, true); !gone.ok()) return gone;
  }
  for (const auto& [address, record] : moved->resources) {
    if (Status put = put_row(db, record); !put.ok()) return put;
  }
  for (const auto& [id, record] : moved->steps) {
    if (Status gone = delete_step(db, id); !gone.ok()) return gone;
  }
  for (const auto& [id, record] : moved->steps) {
    if (Status put = write_step(db, record); !put.ok()) return put;
  }
  for (const auto& [name, fingerprint] : before->secrets) {
    if (Status put = rename_secret(db, name, renaming.step(name)); !put.ok()) return put;
  }
  for (const Intent& intent : moved->intents) {
    if (Status put = rewrite_intent(db, intent); !put.ok()) return put;
  }
  return {};
}

}  // namespace radl
