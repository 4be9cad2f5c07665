#include "runtime/catalog/catalog.h"

#include <nlohmann/json.hpp>
#include <set>

#include "catalog/instances_json.h"

namespace radl {

namespace {

using Json = nlohmann::json;

InstanceType read_type(const Json& json) {
  InstanceType type;
  type.provider = json.at("provider");
  type.region = json.at("region");
  type.name = json.at("name");
  type.cpu = json.at("cpu");
  type.memory_bytes = json.at("memory_mib").get<double>() * 1048576;
  type.gpu = json.at("gpu");
  type.price_per_hour = json.at("price_per_hour");
  return type;
}

}  // namespace

std::optional<InstanceType> Catalog::cheapest(const std::string& provider, const std::string& region,
                                              double cpu, double memory_bytes, double gpu) const {
  std::optional<InstanceType> best;
  for (const InstanceType& type : types) {
    bool fits = type.provider == provider && type.region == region && type.cpu >= cpu &&
                type.memory_bytes >= memory_bytes && type.gpu >= gpu;
    if (!fits) continue;
    bool better = !best || type.price_per_hour < best->price_per_hour ||
                  (type.price_per_hour == best->price_per_hour && type.name < best->name);
    if (better) best = type;
  }
  return best;
}

Result<Catalog> parse_catalog(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return invalid("the catalogue is no JSON object");
  try {
    if (int version = json.at("catalog"); version != 1) {
      return invalid("the catalogue has version " + std::to_string(version) + "; this radlc reads 1");
    }
    Catalog catalog{json.at("as_of"), json.at("source"), json.at("currency"), {}};
    std::set<std::string> seen;
    for (const Json& entry : json.at("types")) {
      InstanceType type = read_type(entry);
      if (!seen.insert(type.provider + "/" + type.region + "/" + type.name).second) {
        return invalid("the catalogue lists " + type.name + " twice");
      }
      if (type.cpu < 0 || type.memory_bytes < 0 || type.gpu < 0 || type.price_per_hour < 0) {
        return invalid("the catalogue has a negative number for " + type.name);
      }
      catalog.types.push_back(std::move(type));
    }
    return catalog;
  } catch (const Json::exception& error) {
    return invalid(std::string("the catalogue cannot be read: ") + error.what());
  }
}

Result<Catalog> built_in_catalog() { return parse_catalog(kInstancesJson); }

}  // namespace radl
