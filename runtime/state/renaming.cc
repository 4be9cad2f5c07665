#include "runtime/state/renaming.h"

#include "compiler/ir/ir.h"

namespace radl {

namespace {

constexpr std::string_view kJobKinds[] = {"training/", "program/"};  // before the names of jobs' steps

bool is_node_address(const std::string& address) {
  size_t open = address.find('[');
  if (open == 0 || open == std::string::npos || address.back() != ']') return false;
  std::string digits = address.substr(open + 1, address.size() - open - 2);
  return !digits.empty() && digits.size() < 10 && digits.find_first_not_of("0123456789") == std::string::npos;
}

// A spec names what the resource needs by its address.
void rename_in(Json& spec, const std::string& before, const std::string& now) {
  if (spec.is_string() && spec.get_ref<const std::string&>() == before) spec = now;
  if (!spec.is_structured()) return;
  for (Json& part : spec) rename_in(part, before, now);
}

// Splits "worker[3]".
void set_place(ResourceRecord& record) {
  size_t open = record.address.find('[');
  record.system = record.address.substr(0, open);
  record.ordinal = open == std::string::npos ? 0 : std::atoi(record.address.c_str() + open + 1);
}

}  // namespace

// "cifar.tools" of the instance "cifar".
std::string Renaming::member(const std::string& name) const {
  const bool inside = name.size() > from_.size() && name.starts_with(from_) && name[from_.size()] == '.';
  return inside ? to_ + name.substr(from_.size()) : name;
}

std::string Renaming::address(const std::string& address) const {
  if (address == from_) return to_;
  const bool of_system =
      address.size() > from_.size() && address.starts_with(from_) && address[from_.size()] == '[';
  if (of_system) return to_ + address.substr(from_.size());
  if (nodes_.count(address)) return member(address);
  const size_t dot = address.find('.'), close = address.find(']');
  if (dot == std::string::npos) return address;
  if (close != std::string::npos && close > dot) {
    const std::string owner = address.substr(dot + 1, close - dot);
    if (nodes_.count(owner))
      return address.substr(0, dot + 1) + this->address(owner) + address.substr(close + 1);
  }
  return address.substr(0, dot + 1) + member(address.substr(dot + 1));
}

std::string Renaming::recipe(const std::string& name) const {
  return with_recipe_ && name == from_ ? to_ : member(name);
}

std::string Renaming::step(const std::string& id) const {
  for (std::string_view kind : kJobKinds) {
    if (id.starts_with(kind)) return std::string(kind) + member(id.substr(kind.size()));
  }
  size_t slash = id.find('/');
  bool of_node = slash != std::string::npos && slash > 0 && id[slash - 1] == ']';
  if (!of_node) return id;
  const std::string node = id.substr(0, slash), now = address(node);
  // Of another node the recipe of the same name is its own.
  return now + "/" + (now == node ? id.substr(slash + 1) : recipe(id.substr(slash + 1)));
}

std::string Renaming::secret(const std::string& name) const {
  return name.find('/') != std::string::npos ? step(name) : member(name);
}

// What a step depends on: the id of a step, or a value, "worker[0].private_ip".
std::string Renaming::input(const std::string& name) const {
  if (name.find('/') != std::string::npos) return step(name);
  size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : address(name.substr(0, dot)) + name.substr(dot);
}

Json Renaming::value(const Json& value) const {
  if (ir::is_unknown(value)) return ir::unknown(input(value.at("$unknown").get<std::string>()));
  if (ir::is_secret(value)) return ir::secret(secret(value.at("$secret").get<std::string>()));
  if (!value.is_structured()) return value;
  Json renamed = value;
  for (auto at = renamed.begin(); at != renamed.end(); ++at) *at = this->value(*at);
  return renamed;
}

// Names of nodes stand as plain text in a training's cluster and in a program's members alone.
Json Renaming::definition(const Json& before) const {
  Json renamed = value(before);
  auto rename_all = [&](Json& nodes) {
    for (Json& node : nodes) {
      if (node.is_string()) node = address(node.get<std::string>());
    }
  };
  auto training = renamed.find("training");
  if (training != renamed.end() && training->is_object() && training->contains("cluster")) {
    for (Json& role : (*training)["cluster"]) rename_all(role);
  }
  auto program = renamed.find("program");
  if (program != renamed.end() && program->is_object() && program->contains("members"))
    rename_all((*program)["members"]);
  return renamed;
}

bool Renaming::apply(ResourceRecord& record) const {
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

bool Renaming::apply(StepRecord& record) const {
  StepRecord now = record;
  now.id = step(record.id);
  const bool of_it = now.id != record.id;
  if (of_it) now.recipe = recipe(record.recipe);
  for (std::string& node : now.nodes) node = address(node);
  now.made_on.clear();
  for (const auto& [node, made] : record.made_on) now.made_on[address(node)] = made;
  for (JobFolder& job : now.jobs) {
    std::map<std::string, std::string> nodes;
    for (const auto& [node, made] : job.nodes) nodes[address(node)] = made;
    job.nodes = std::move(nodes);
    for (std::string& node : job.may_run) node = address(node);
  }
  now.inputs.clear();
  for (const auto& [name, was] : record.inputs) now.inputs[input(name)] = was;
  if (record.definition) {
    Json renamed = definition(*record.definition);
    if (of_it && renamed.contains("recipe")) renamed["recipe"] = now.recipe;
    // Its digest covers the old names and is useless now: the definition shows whether it changed.
    if (renamed != *record.definition) now.digest.clear();
    now.definition = std::make_shared<const Json>(std::move(renamed));
  }
  bool changed = now.id != record.id || now.nodes != record.nodes || now.inputs != record.inputs ||
                 now.digest != record.digest || now.jobs != record.jobs;
  record = std::move(now);
  return changed;
}

Status Renaming::check(const std::string& before, const ResourceRecord& moved) const {
  const std::string kept = before.substr(0, before.find('.') + 1);
  const bool fits = moved.is_node() ? is_node_address(moved.address)
                                    : moved.address.starts_with(kept) && moved.address.size() > kept.size();
  if (fits) return {};
  Status wrong(Code::Invalid, "'" + moved.address + "' is not the address of a " + moved.type);
  if (!moved.is_node()) return std::move(wrong).with_hint("it has to begin with '" + kept + "'");
  return std::move(wrong).with_hint(
      "nodes are moved one by one ('worker[0]' to 'trainer[0]') or with their whole system ('worker' to "
      "'trainer')");
}

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

}  // namespace radl
