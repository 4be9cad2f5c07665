// The model as JSON values, one for each change: what is kept in a file.
#include "runtime/clouds/simulated/model.h"

namespace radl::simulated {
namespace {

Json seen_json(const Seen& seen) {
  return {{"address", seen.address},
          {"type", seen.type},
          {"id", seen.id},
          {"token", seen.token},
          {"phase", static_cast<int>(seen.phase)},
          {"spec", seen.spec},
          {"attributes", seen.attributes},
          {"detail", seen.detail}};
}

Seen seen_from_json(const Json& json) {
  return {json.at("address"),
          json.at("type"),
          json.at("id"),
          json.at("token"),
          static_cast<ResourcePhase>(json.at("phase").get<int>()),
          json.at("spec"),
          json.at("attributes"),
          json.at("detail")};
}

}  // namespace

Json to_json(const Resource& resource) {
  Json json = {
      {"id", resource.id},
      {"type", resource.type},
      {"infrastructure", resource.infrastructure},
      {"address", resource.address},
      {"token", resource.token},
      {"others", resource.others},
      {"spec", resource.spec},
      {"attributes", resource.attributes},
      {"uses", resource.uses},
      {"price", resource.price_per_hour},
      {"times",
       {resource.created, resource.ready, resource.fails, resource.shown, resource.notice, resource.taken,
        resource.taken_shown, resource.leaving, resource.gone, resource.hidden, resource.stale_until}},
      {"vanishes", resource.vanishes},
      {"stopped", resource.stopped}};
  if (resource.stale) json["stale"] = seen_json(*resource.stale);
  return json;
}

Resource resource_from_json(const Json& json) {
  Resource resource;
  resource.id = json.at("id");
  resource.type = json.at("type");
  resource.infrastructure = json.at("infrastructure");
  resource.address = json.at("address");
  resource.token = json.at("token");
  resource.others = json.at("others");
  resource.spec = json.at("spec");
  resource.attributes = json.at("attributes");
  resource.uses = json.at("uses").get<std::vector<std::string>>();
  resource.price_per_hour = json.at("price").get<Money>();
  Millis* const times[] = {&resource.created, &resource.ready,  &resource.fails,       &resource.shown,
                           &resource.notice,  &resource.taken,  &resource.taken_shown, &resource.leaving,
                           &resource.gone,    &resource.hidden, &resource.stale_until};
  for (size_t i = 0; i < std::size(times); ++i) *times[i] = json.at("times").at(i);
  resource.vanishes = json.at("vanishes");
  resource.stopped = json.at("stopped");
  if (json.contains("stale")) resource.stale = seen_from_json(json.at("stale"));
  return resource;
}

Json Model::totals() const {
  Json billed = Json::object();
  for (const auto& [infrastructure, sum] : closed_) billed[infrastructure] = sum.micros();
  return {{"now", now_}, {"next", next_}, {"billed", std::move(billed)}};
}

std::vector<Json> Model::take_changes() {
  std::vector<Json> changes;
  for (const std::string& id : touched_) {
    const Resource* resource = find(id);
    changes.push_back(resource ? Json{{"resource", to_json(*resource)}} : Json{{"erased", id}});
  }
  if (!changes.empty()) changes.push_back({{"totals", totals()}});
  touched_.clear();
  return changes;
}

std::vector<Json> Model::everything() const {
  std::vector<Json> all;
  for (const auto& [id, resource] : resources_) all.push_back({{"resource", to_json(resource)}});
  for (const auto& [key, id] : by_token_) all.push_back({{"token", {key, id}}});
  all.push_back({{"totals", totals()}});
  return all;
}

void Model::apply_change(const Json& change) {
  if (change.contains("resource")) {
    put(resource_from_json(change.at("resource")));
  } else if (change.contains("erased")) {
    std::string id = change.at("erased");
    if (!find(id)) return;
    if (!released_.count(id)) release(resources_.at(id));
    erase(id);
  } else if (change.contains("token")) {
    by_token_[change.at("token").at(0)] = change.at("token").at(1);
  } else if (change.contains("totals")) {
    const Json& totals = change.at("totals");
    now_ = totals.at("now");
    next_ = totals.at("next");
    closed_.clear();
    for (const auto& [infrastructure, sum] : totals.at("billed").items()) {
      for (const auto& [currency, micros] : sum.items())
        closed_[infrastructure].add({micros.get<int64_t>(), currency});
    }
  }
}

}  // namespace radl::simulated
