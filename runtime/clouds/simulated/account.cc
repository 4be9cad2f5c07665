#include "runtime/clouds/simulated/account.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/clouds/simulated/design.h"
#include "runtime/clouds/simulated/prices.h"

namespace radl::simulated {
namespace {

constexpr Millis kNotice = 120'000;

bool is_type(const std::string& type) {
  return type == "key_pair" || type == "network" || type == "security_group" || type == "address" ||
         type == "volume" || type == "instance";
}

// A machine has these for itself alone.
bool is_attached(const std::string& type) { return type == "volume" || type == "address"; }

// Tags as a request has them: of two with one name the last counts, and that is the file's in the worst case.
struct Tags {
  std::string infrastructure, address, token;
};
Tags tags_of(const std::string& infrastructure, const Order& order, bool files_win) {
  Tags tags{infrastructure, order.address, order.token};
  if (!files_win || !order.spec.contains("tags")) return tags;
  const Json& own = order.spec["tags"];
  tags.infrastructure = own.value(kInfrastructureTag, tags.infrastructure);
  tags.address = own.value(kAddressTag, tags.address);
  tags.token = own.value(kTokenTag, tags.token);
  return tags;
}

// Without the entries marked for removal.
Json spec_of(const Order& order) {
  Json spec = order.spec;
  if (!spec.is_object() || !spec.contains("tags")) return spec;
  Json tags = Json::object();
  for (const auto& [name, value] : spec["tags"].items())
    if (!value.is_null()) tags[name] = value;
  spec["tags"] = std::move(tags);
  return spec;
}

bool is_of_others(const Resource& resource) { return resource.others || resource.token.empty(); }

Asked not_there(const std::string& id) {
  return Asked::refused(not_found(fmt::format("there is no resource '{}'", id)));
}

}  // namespace

Account::Account(std::string region, Faults faults, uint64_t seed)
    : region_(std::move(region)), faults_(faults), draws_(seed) {}

void Account::settle_foreigners(Millis now) {
  constexpr const char* kTypes[] = {"instance", "network", "security_group", "volume", "key_pair", "address"};
  constexpr const char* kAddresses[] = {"worker[0]", "network.lan", "group.lan", "volume.worker[0].1", "",
                                        ""};
  for (size_t i = 0; i < static_cast<size_t>(faults_.foreign); ++i) {
    Resource resource;
    resource.type = kTypes[i % std::size(kTypes)];
    resource.id = model_.next_id(resource.type);
    // Every second one is of another infrastructure, with addresses like one's own.
    resource.others = true;
    if (i % 2 == 0) resource.infrastructure = "somebody-else";
    if (i % 2 == 0) resource.address = kAddresses[i % std::size(kAddresses)];
    resource.attributes = {{"note", "not yours"}};
    resource.created = resource.ready = resource.shown = now;
    model_.put(std::move(resource));
  }
}

Millis Account::drawn_time(double seconds) {
  return static_cast<Millis>((faults_.jitter != 0 ? draws_.around(seconds) : seconds) * 1000);
}

Millis Account::drawn_delay() {
  return faults_.consistency > 0 ? static_cast<Millis>(draws_.between(0, faults_.consistency * 1000)) : 0;
}

void Account::show_late(Resource& resource, const Resource& before) {
  Millis delay = drawn_delay();
  if (delay == 0) return;
  std::optional<Seen> shown = seen_in_lists(before, model_.now());
  resource.stale_until = model_.now() + delay;
  if (shown) {
    resource.stale = std::move(shown);
  } else {
    resource.shown = std::max(resource.shown, resource.stale_until);
  }
}

Asked Account::repeated(const std::string& infrastructure, const Order& order) const {
  const Resource* known = model_.with_token(infrastructure, order.token);
  if (!known || !known->exists(model_.now()) || known->leaving != 0)
    return Asked::refused({Code::Conflict, "the token was used for a resource that is gone"});
  if (known->type != order.type || known->address != order.address || known->spec != spec_of(order))
    return Asked::refused(invalid("the token was used for another request, which made " + known->id));
  return Asked::accepted(known->id);
}

Result<std::vector<std::string>> Account::resolve(const Order& order, const std::string& user) const {
  std::vector<std::string> ids;
  for (const auto& [address, reference] : order.references) {
    const Resource* used = model_.find(reference.id);
    if (!used || used->leaving != 0)
      return not_found(fmt::format("{} ({}) does not exist", address, reference.id));
    // What is too new for the lists is not known to other requests either.
    if (model_.now() < used->shown || model_.now() < used->ready)
      return Status(Code::Retry, fmt::format("{} ({}) is not available yet", address, reference.id));
    if (used->fails != 0) return invalid(fmt::format("{} ({}) is broken", address, reference.id));
    if (is_attached(used->type)) {
      for (const std::string& other : model_.users_of(used->id)) {
        if (other != user)
          return Status(Code::Retry, fmt::format("{} ({}) is attached to {}", address, used->id, other));
      }
    }
    ids.push_back(used->id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

Status Account::check_machine(const Order& order) {
  std::string type = order.spec.value("type", ""), zone = order.spec.value("zone", "");
  if (!instance_type(region_, type)) return invalid(fmt::format("unknown instance type '{}'", type));
  if (std::find(std::begin(kZones), std::end(kZones), zone) == std::end(kZones))
    return invalid(fmt::format("unknown zone '{}'", zone));
  return {};
}

Status Account::check_limit() {
  if (model_.now() >= limited_until_ && draws_.chance(faults_.quota))
    limited_until_ = model_.now() + drawn_time(180);
  bool full = faults_.instance_limit > 0 && static_cast<double>(model_.machines()) >= faults_.instance_limit;
  if (!full && model_.now() >= limited_until_) return {};
  return {Code::Quota, "the account's limit of machines is reached"};
}

Status Account::check_capacity(const Order& order) {
  Millis now = model_.now();
  std::string offer = order.spec.value("type", "") + "/" + order.spec.value("zone", "");
  std::erase_if(sold_out_, [&](const auto& entry) { return entry.second <= now; });
  if (!sold_out_.count(offer) && draws_.chance(faults_.capacity)) sold_out_[offer] = now + drawn_time(240);
  if (!sold_out_.count(offer)) return {};
  return {Code::Quota, fmt::format("no capacity for {} in zone {}", order.spec.value("type", ""),
                                   order.spec.value("zone", ""))};
}

// Properties that only the cloud knows.
void Account::describe(Resource& resource, const Order& order) const {
  uint64_t number = std::strtoull(resource.id.substr(resource.id.rfind('-') + 1).c_str(), nullptr, 16);
  if (resource.type == "network") {
    resource.attributes["cidr"] = fmt::format("10.{}.0.0/16", number % 256);
  } else if (resource.type == "address") {
    resource.attributes["ip"] = fmt::format("198.18.{}.{}", number / 254 % 256, number % 254 + 1);
    resource.price_per_hour = address_price(region_);
  } else if (resource.type == "volume") {
    resource.price_per_hour = volume_price(region_, resource.spec.value("size_bytes", 0.0) / kGiB);
  } else if (resource.type == "instance") {
    const InstanceType* made = instance_type(region_, resource.spec.value("type", ""));
    const Market market = resource.spec.value("spot", false) ? Market::Spot : Market::OnDemand;
    if (made) resource.price_per_hour = made->price(market)->per_hour;
    std::string ip =
        fmt::format("10.{}.{}.{}", number / 64516 % 256, number / 254 % 254 + 1, number % 254 + 1);
    Json public_ip;
    for (const auto& [address, reference] : order.references) {
      const Resource* used = model_.find(reference.id);
      if (used && used->type == "address") public_ip = used->attributes.value("ip", Json());
    }
    resource.attributes = {{"host", public_ip.is_null() ? Json(ip) : public_ip},
                           {"port", 22},
                           {"user", resource.spec.value("user", "radl")},
                           {"host_key", fmt::format("ssh-ed25519 simulated-{}", resource.id)},
                           {"private_ip", ip},
                           {"public_ip", public_ip},
                           {"vm_id", resource.id},
                           {"hostname", resource.spec.value("hostname", "")},
                           {"zone", resource.spec.value("zone", "")}};
  }
}

// Draws whether it fails during its creation, and whether it is preempted later.
void Account::draw_fate(Resource& resource) {
  bool machine = resource.type == "instance";
  if ((machine || resource.type == "volume") && draws_.chance(faults_.broken)) {
    resource.fails =
        resource.created +
        static_cast<Millis>(draws_.unit() * static_cast<double>(resource.ready - resource.created));
  } else if (machine && draws_.chance(faults_.preemption)) {
    resource.taken = resource.ready + kNotice + static_cast<Millis>(draws_.between(0, 900'000));
    resource.notice = resource.taken - kNotice;
    resource.taken_shown = resource.taken + drawn_delay();
    resource.vanishes = draws_.chance(0.5);
  }
}

Asked Account::create(const std::string& infrastructure, const Order& order, Millis now) {
  model_.pass(now);
  if (!is_type(order.type)) return Asked::refused(invalid("unknown resource type '" + order.type + "'"));
  if (order.token.empty()) return Asked::refused(invalid("a token is needed"));
  if (model_.knows_token(infrastructure, order.token)) return repeated(infrastructure, order);
  Result<std::vector<std::string>> uses = resolve(order, "");
  if (!uses.ok()) return Asked::refused(uses.status());
  bool machine = order.type == "instance";
  if (machine) {
    if (Status known = check_machine(order); !known.ok()) return Asked::refused(known);
    if (Status room = check_limit(); !room.ok()) return Asked::refused(room);
    if (Status room = check_capacity(order); !room.ok()) return Asked::refused(room);
  }
  Resource resource;
  resource.id = model_.next_id(order.type);
  resource.type = order.type;
  const Tags tags = tags_of(infrastructure, order, faults_.tags != 0);
  resource.infrastructure = tags.infrastructure;
  resource.address = tags.address;
  resource.token = tags.token;
  resource.spec = spec_of(order);
  resource.uses = std::move(*uses);
  resource.created = model_.now();
  resource.ready = resource.created + drawn_time(machine ? faults_.boot : faults_.boot / 10);
  resource.shown = resource.created + drawn_delay();
  describe(resource, order);
  draw_fate(resource);
  std::string id = resource.id;
  model_.put(std::move(resource));
  return Asked::accepted(id);
}

Asked Account::update(const Order& order, Millis now) {
  model_.pass(now);
  const Resource* known = model_.find(order.id);
  if (!known || !known->exists(model_.now())) return not_there(order.id);
  if (known->leaving != 0) return Asked::refused({Code::Conflict, order.id + " is being destroyed"});
  if (known->fails != 0) return Asked::refused(invalid(order.id + " is broken"));
  if (model_.now() < known->ready)
    return Asked::refused({Code::Retry, order.id + " is being made or changed"});
  Resource changed = *known;
  if (Impact impact = impact_of(known->type, known->spec, order.spec); impact.kind == Impact::Kind::Replace)
    return Asked::refused(invalid(order.id + " cannot be changed so: " + impact.why));
  Result<std::vector<std::string>> uses = resolve(order, order.id);
  if (!uses.ok()) return Asked::refused(uses.status());
  if (known->type == "instance") {
    if (Status right = check_machine(order); !right.ok()) return Asked::refused(right);
    bool restarts = known->stopped || order.spec.value("type", "") != known->spec.value("type", "");
    if (restarts) {
      if (Status room = check_capacity(order); !room.ok()) return Asked::refused(room);
      changed.ready = model_.now() + drawn_time(faults_.boot);
      changed.stopped = false;
    }
  }
  changed.spec = spec_of(order);
  changed.uses = std::move(*uses);
  describe(changed, order);
  show_late(changed, *known);
  foreign_touched_ += is_of_others(*known);
  model_.put(std::move(changed));
  return Asked::accepted(order.id);
}

Asked Account::power(const Order& order, Power power, Millis now) {
  model_.pass(now);
  const Resource* known = model_.find(order.id);
  if (!known || !known->exists(model_.now())) return not_there(order.id);
  if (known->leaving != 0) return Asked::refused({Code::Conflict, order.id + " is being destroyed"});
  if (known->type != "instance" || known->fails != 0)
    return Asked::refused(invalid(order.id + " is not a machine that runs"));
  if (model_.now() < known->ready)
    return Asked::refused({Code::Retry, order.id + " is being made or changed"});
  if (known->stopped)
    return power == Power::Stop ? Asked::accepted(order.id)
                                : Asked::refused(invalid(order.id + " is stopped: start it instead"));
  Resource changed = *known;
  changed.stopped = power == Power::Stop;
  if (power == Power::Reboot) changed.ready = model_.now() + drawn_time(faults_.boot);
  show_late(changed, *known);
  foreign_touched_ += is_of_others(*known);
  model_.put(std::move(changed));
  return Asked::accepted(order.id);
}

Asked Account::destroy(const Order& order, Millis now) {
  model_.pass(now);
  const Resource* known = model_.find(order.id);
  if (!known || known->leaving != 0) return Asked::accepted(order.id);
  if (faults_.in_use != 0 && known->type != "key_pair" && !model_.users_of(order.id).empty()) {
    return Asked::refused(
        {Code::Retry, fmt::format("{} is in use by {}", order.id, *model_.users_of(order.id).begin())});
  }
  Resource leaving = *known;
  leaving.leaving = model_.now();
  leaving.gone = model_.now() + (known->type == "instance" ? drawn_time(faults_.shutdown) : 0);
  show_late(leaving, *known);
  leaving.hidden = std::max(leaving.gone, leaving.stale_until);
  destroyed_.insert(order.id);
  newly_destroyed_.push_back(order.id);
  foreign_touched_ += is_of_others(*known);
  model_.put(std::move(leaving));
  return Asked::accepted(order.id);
}

Asked Account::mark(const std::string& infrastructure, const Order& order, Millis now) {
  model_.pass(now);
  const Resource* known = model_.find(order.id);
  if (!known || known->leaving != 0) return not_there(order.id);
  Resource marked = *known;
  marked.infrastructure = infrastructure;
  marked.address = infrastructure.empty() ? "" : order.address;
  marked.token = infrastructure.empty() ? "" : order.token;
  marked.others = infrastructure.empty();
  show_late(marked, *known);
  model_.put(std::move(marked));
  return Asked::accepted(order.id);
}

std::string Account::plant(const std::string& infrastructure, const std::string& address,
                           const std::string& token, Millis now) {
  model_.pass(now);
  Resource resource;
  resource.id = model_.next_id("instance");
  resource.type = "instance";
  resource.infrastructure = infrastructure;
  resource.address = address;
  resource.token = token;
  resource.others = true;
  resource.attributes = {{"vm_id", resource.id}};
  resource.created = resource.ready = resource.shown = model_.now();
  const std::string id = resource.id;
  model_.put(std::move(resource));
  return id;
}

Json Account::survey(Millis now) {
  model_.pass(now);
  Json sold_out = Json::array();
  for (const auto& [offer, until] : sold_out_)
    if (now < until) sold_out.push_back(offer);
  bool limited = faults_.instance_limit > 0;
  return {{"zones", std::vector<std::string>(std::begin(kZones), std::end(kZones))},
          {"machines", model_.machines()},
          {"machine_limit", limited ? Json(faults_.instance_limit) : Json()},
          {"sold_out", std::move(sold_out)}};
}

Json Account::totals() const {
  return {{"draws", draws_.state()},
          {"limited_until", limited_until_},
          {"sold_out", sold_out_},
          {"foreign_touched", foreign_touched_}};
}

std::vector<Json> Account::take_changes() {
  std::vector<Json> changes = model_.take_changes();
  for (const std::string& id : newly_destroyed_) changes.push_back({{"destroyed", id}});
  newly_destroyed_.clear();
  if (!changes.empty()) changes.push_back({{"account", totals()}});
  return changes;
}

std::vector<Json> Account::everything() const {
  std::vector<Json> all = model_.everything();
  for (const std::string& id : destroyed_) all.push_back({{"destroyed", id}});
  all.push_back({{"account", totals()}});
  return all;
}

void Account::apply_change(const Json& change) {
  if (change.contains("destroyed")) {
    destroyed_.insert(change.at("destroyed").get<std::string>());
    return;
  }
  if (!change.contains("account")) return model_.apply_change(change);
  const Json& totals = change.at("account");
  draws_ = Draws(totals.at("draws").get<uint64_t>());
  limited_until_ = totals.at("limited_until");
  sold_out_ = totals.at("sold_out").get<std::map<std::string, Millis>>();
  foreign_touched_ = totals.at("foreign_touched");
}

}  // namespace radl::simulated
