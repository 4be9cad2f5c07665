#include "runtime/clouds/simulated/model.h"

#include <algorithm>

namespace radl::simulated {
namespace {

const std::set<std::string> kNobody;

std::string_view id_prefix(const std::string& type) {
  if (type == "instance") return "i-";
  if (type == "volume") return "vol-";
  if (type == "address") return "ip-";
  if (type == "security_group") return "sg-";
  if (type == "network") return "net-";
  return "key-";
}

std::string token_key(const std::string& infrastructure, const std::string& token) {
  return infrastructure + "\n" + token;
}

Money cost_of(const Resource& resource, Millis now) {
  Millis end = resource.leaving != 0 ? std::min(now, resource.gone) : now;
  constexpr Millis kHour = 3600 * 1000;
  return {resource.price_per_hour.micros * std::max<Millis>(end - resource.created, 0) / kHour,
          resource.price_per_hour.currency};
}

}  // namespace

Seen seen_now(const Resource& resource, Millis now) {
  Seen seen;
  seen.address = resource.address;
  seen.token = resource.token;
  seen.type = resource.type;
  seen.id = resource.id;
  seen.spec = resource.spec;
  seen.attributes = resource.attributes;
  if (resource.leaving != 0) {
    seen.phase = ResourcePhase::Leaving;
  } else if (resource.fails != 0 && now >= resource.fails) {
    seen.phase = ResourcePhase::Broken;
    seen.detail = "the cloud could not make it: internal error on launch";
  } else if (now < resource.ready) {
    seen.phase = ResourcePhase::Pending;
  } else {
    seen.phase = resource.stopped ? ResourcePhase::Stopped : ResourcePhase::Ready;
  }
  if (resource.type == "instance") {
    bool runs = seen.phase == ResourcePhase::Ready;
    seen.attributes["state"] = runs ? "running" : "stopped";
    if (runs && resource.notice != 0 && now >= resource.notice) seen.detail = "the cloud takes it back soon";
    if (resource.stopped) seen.detail = "it was stopped";
  }
  return seen;
}

std::optional<Seen> seen_in_lists(const Resource& resource, Millis now) {
  if (now < resource.shown || (resource.leaving != 0 && now >= resource.hidden)) return std::nullopt;
  if (resource.stale && now < resource.stale_until) return resource.stale;
  return seen_now(resource, now);
}

std::string Model::next_id(const std::string& type) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string digits(8, '0');
  uint64_t number = next_++;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, number >>= 4)
    *digit = kHex[number & 15];
  return std::string(id_prefix(type)) + digits;
}

void Model::put(Resource resource) {
  const std::string id = resource.id;
  auto [at, is_new] = resources_.try_emplace(id);
  if (is_new) {
    index(resource);
    machines_ += resource.type == "instance";
  } else {
    for (const std::string& used : at->second.uses) users_[used].erase(id);
    const Resource& before = at->second;
    if (before.infrastructure != resource.infrastructure || before.token != resource.token) {
      // What it has cost so far stays with whom it belonged to.
      closed_[before.infrastructure].add(cost_of(before, now_));
      resource.created = std::max(resource.created, now_);
      unindex(before);
      index(resource);
    }
  }
  at->second = std::move(resource);
  if (!released_.count(id)) {
    for (const std::string& used : at->second.uses) users_[used].insert(id);
  }
  schedule(at->second);
  if (keeps_changes_) touched_.insert(id);
}

void Model::index(const Resource& resource) {
  by_infrastructure_[resource.infrastructure].insert(resource.id);
  if (!resource.token.empty() && !resource.others)
    by_token_[token_key(resource.infrastructure, resource.token)] = resource.id;
}

void Model::unindex(const Resource& resource) {
  auto own = by_infrastructure_.find(resource.infrastructure);
  own->second.erase(resource.id);
  if (own->second.empty()) by_infrastructure_.erase(own);
  auto known = by_token_.find(token_key(resource.infrastructure, resource.token));
  if (known != by_token_.end() && known->second == resource.id) by_token_.erase(known);
}

const Resource* Model::find(const std::string& id) const {
  auto found = resources_.find(id);
  return found == resources_.end() ? nullptr : &found->second;
}

bool Model::knows_token(const std::string& infrastructure, const std::string& token) const {
  return by_token_.count(token_key(infrastructure, token)) != 0;
}

const Resource* Model::with_token(const std::string& infrastructure, const std::string& token) const {
  auto found = by_token_.find(token_key(infrastructure, token));
  return found == by_token_.end() ? nullptr : find(found->second);
}

const std::set<std::string>& Model::ids_of(const std::string& infrastructure) const {
  auto found = by_infrastructure_.find(infrastructure);
  return found == by_infrastructure_.end() ? kNobody : found->second;
}

const std::set<std::string>& Model::users_of(const std::string& id) const {
  auto found = users_.find(id);
  return found == users_.end() ? kNobody : found->second;
}

MoneySum Model::billed(const std::string& infrastructure) const {
  auto closed = closed_.find(infrastructure);
  MoneySum sum = closed == closed_.end() ? MoneySum() : closed->second;
  for (const std::string& id : ids_of(infrastructure)) sum.add(cost_of(resources_.at(id), now_));
  return sum;
}

void Model::pass(Millis now) {
  // Clocks of computers are set back at times; what has happened has happened.
  while (!due_.empty() && due_.begin()->first <= now) {
    auto [time, id] = *due_.begin();
    now_ = std::max(now_, time);
    Resource& resource = resources_.at(id);
    if (resource.leaving == 0) take_back(resource);
    if (resource.leaving != 0 && resource.gone <= now_ && !released_.count(id)) release(resource);
    if (resource.leaving != 0 && resource.gone <= now_ && resource.hidden <= now_) {
      erase(id);
    } else {
      schedule(resource);
      if (keeps_changes_) touched_.insert(id);
    }
  }
  now_ = std::max(now_, now);
}

void Model::take_back(Resource& resource) {
  if (resource.taken_shown > now_) {
    if (std::optional<Seen> shown = seen_in_lists(resource, now_)) resource.stale = std::move(shown);
    resource.stale_until = std::max(resource.taken_shown, resource.stale_until);
  }
  if (resource.vanishes) {
    resource.leaving = resource.gone = resource.taken;
    resource.hidden = std::max(resource.gone, resource.taken_shown);
  }
  resource.stopped = true;
  resource.taken = resource.notice = 0;
}

void Model::release(const Resource& resource) {
  for (const std::string& used : resource.uses) users_[used].erase(resource.id);
  machines_ -= resource.type == "instance";
  released_.insert(resource.id);
}

void Model::schedule(const Resource& resource) {
  unschedule(resource.id);
  Millis next = resource.taken;
  if (resource.leaving != 0) next = released_.count(resource.id) ? resource.hidden : resource.gone;
  if (next == 0) return;
  due_.emplace(next, resource.id);
  due_of_[resource.id] = next;
}

void Model::unschedule(const std::string& id) {
  auto known = due_of_.find(id);
  if (known == due_of_.end()) return;
  due_.erase({known->second, id});
  due_of_.erase(known);
}

void Model::erase(const std::string& id) {
  const Resource& resource = resources_.at(id);
  closed_[resource.infrastructure].add(cost_of(resource, resource.gone));
  auto own = by_infrastructure_.find(resource.infrastructure);
  own->second.erase(id);
  if (own->second.empty()) by_infrastructure_.erase(own);
  users_.erase(id);
  released_.erase(id);
  unschedule(id);
  resources_.erase(id);
  if (keeps_changes_) touched_.insert(id);
}

}  // namespace radl::simulated
