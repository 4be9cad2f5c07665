#include "runtime/clouds/azure/survey.h"

#include <fmt/format.h>

#include <map>

#include "common/human.h"
#include "runtime/clouds/azure/images.h"

namespace radl::azure {
namespace {

constexpr const char* kAllCores = "cores";
constexpr const char* kSpotCores = "lowPriorityCores";

Status survey_images(Asking& call, const ir::Program& program, Json& facts) {
  facts["images"] = Json::object();
  for (const ir::Node& node : program.nodes) {
    auto wanted = image_wanted(node);
    if (!wanted.ok() || !snapshot_of(*wanted).empty() || facts["images"].contains(*wanted)) continue;
    auto image = find_image(call, *wanted);
    if (!image.ok()) return Status(image.status()).at(node.address);
    facts["images"][*wanted] = image->reference;
  }
  return {};
}

Status survey_types(Asking& call, Json& facts) {
  auto skus = list(call, "providers/Microsoft.Compute/skus", kSkus,
                   {{"$filter", fmt::format("location eq '{}'", call.cloud.region)}});
  if (!skus.ok()) return skus.status();
  for (const Json& sku : **skus) {
    if (text_of(sku, "resourceType") != "virtualMachines") continue;
    const std::string name = text_of(sku, "name");
    facts["families"][name] = text_of(sku, "family");
    for (const Json& one : list_of(sku, "restrictions")) {
      const std::string why = text_of(one, "reasonCode");
      if (text_of(one, "type") == "Location") facts["restricted"][name]["region"] = why;
      for (const Json& zone : list_of(member(one, "restrictionInfo"), "zones"))
        if (text_of(one, "type") == "Zone" && zone.is_string())
          facts["restricted"][name][zone.get<std::string>()] = why;
    }
  }
  return {};
}

struct Need {
  double wanted = 0, ours = 0;
};

}  // namespace

Result<Json> take_survey(Asking& call, const ir::Program& program) {
  Json facts = {{"subscription", call.subscription},
                {"restricted", Json::object()},
                {"families", Json::object()},
                {"quotas", Json::object()},
                {"own", Json::object()}};
  if (Status asked = survey_types(call, facts); !asked.ok()) return asked;
  auto usages =
      list(call, fmt::format("providers/Microsoft.Compute/locations/{}/usages", call.cloud.region), kCompute);
  if (!usages.ok()) return usages.status();
  for (const Json& one : **usages)
    facts["quotas"][text_of(member(one, "name"), "value")] = {{"limit", number_of(one, "limit")},
                                                              {"used", number_of(one, "currentValue")}};
  auto own = list(call, group_id(call.context, call.cloud) + "/providers/Microsoft.Compute/virtualMachines",
                  kCompute, {{"$expand", "instanceView"}});
  if (!own.ok()) return own.status();
  for (const Json& one : **own) {
    const std::string type = text_of(member(member(one, "properties"), "hardwareProfile"), "vmSize");
    const bool spot = text_of(member(one, "properties"), "priority") == "Spot";
    Json& count = facts["own"][type + (spot ? "/spot" : "")];
    count = count.is_number() ? count.get<int>() + 1 : 1;
  }
  if (Status asked = survey_images(call, program, facts); !asked.ok()) return asked;
  return facts;
}

Status check_quotas(const CloudId& cloud, const DesignInput& input, const Design& design) {
  const Json& quotas = member(input.survey.facts, "quotas");
  if (!quotas.is_object() || quotas.empty()) return {};
  std::map<std::string, Need> needs;
  auto count = [&](const std::string& type, bool spot, double machines, double Need::*where) {
    auto found = input.catalog.find("azure", cloud.region, type);
    if (!found.ok() || !*found) return;
    const double cpu = (*found)->cpu * machines;
    if (spot) {
      needs[kSpotCores].*where += cpu;
      return;
    }
    needs[kAllCores].*where += cpu;
    if (const std::string family = text_of(member(input.survey.facts, "families"), type); !family.empty())
      needs[family].*where += cpu;
  };
  for (const Wanted& wanted : design.resources) {
    if (wanted.node.empty() || wanted.offers.empty()) continue;
    const Json& spec = wanted.offers[wanted.chosen].spec;
    count(text_of(spec, "type"), text_of(spec, "market") == "spot", 1, &Need::wanted);
  }
  for (const auto& [type, machines] : member(input.survey.facts, "own").items())
    count(type.substr(0, type.find('/')), type.ends_with("/spot"), machines.get<double>(), &Need::ours);
  for (const auto& [name, need] : needs) {
    const Json& one = member(quotas, name);
    if (!one.is_object()) continue;
    const double limit = number_of(one, "limit"), others = number_of(one, "used") - need.ours;
    if (need.wanted + others <= limit) continue;
    return Status(Code::Quota,
                  fmt::format("the quota {} in {} is {} vCPUs, others use {} of it, and this needs {}", name,
                              cloud.region, plain_number(limit), plain_number(others),
                              plain_number(need.wanted)))
        .with_hint("ask for more: portal.azure.com, Quotas, or `az quota update`");
  }
  return {};
}

std::vector<QuotaUse> quota_uses(const InstanceType& type, Market market, const Survey& survey) {
  std::vector<std::string> names = {kSpotCores};
  if (market != Market::Spot) names = {kAllCores, text_of(member(survey.facts, "families"), type.name)};
  std::vector<QuotaUse> uses;
  for (const std::string& name : names) {
    const Json& one = member(member(survey.facts, "quotas"), name);
    if (!name.empty() && one.is_object())
      uses.push_back({"vCPUs of " + name, type.cpu, number_of(one, "limit") - number_of(one, "used")});
  }
  return uses;
}

}  // namespace radl::azure
