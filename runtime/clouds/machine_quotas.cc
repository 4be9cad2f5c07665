#include "runtime/clouds/machine_quotas.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "common/human.h"
#include "common/json_values.h"

namespace radl {
namespace {

using json::member;
using json::number_of;
using json::text_of;

constexpr std::string_view kSpotMark = "/spot";

using Amounts = std::map<std::string, double>;

void add(const CloudId& cloud, const Catalog& catalog, const std::string& name, Market market,
         double machines, const QuotasTaken& taken, Amounts& amounts) {
  InstanceType unknown;
  unknown.name = name;
  auto found = catalog.find(cloud.type, cloud.region, name);
  const InstanceType& type = found.ok() && *found != nullptr ? **found : unknown;
  for (const QuotaTaken& one : taken(type, market)) amounts[one.quota] += one.amount * machines;
}

Amounts taken_by_own(const CloudId& cloud, const Survey& survey, const Catalog& catalog,
                     const QuotasTaken& taken) {
  Amounts amounts;
  for (const auto& [name, machines] : member(survey.facts, "own").items()) {
    const bool spot = name.ends_with(kSpotMark);
    const std::string type = spot ? name.substr(0, name.size() - kSpotMark.size()) : name;
    add(cloud, catalog, type, spot ? Market::Spot : Market::OnDemand, machines.get<double>(), taken, amounts);
  }
  return amounts;
}

// For this infrastructure: what others leave of the limit.
double room_in(const Json& quota, double own) {
  return number_of(quota, "limit") - (number_of(quota, "used") - own);
}

}  // namespace

void count_own(Json& facts, const std::string& type, Market market) {
  Json& count = facts["own"][type + std::string(market == Market::Spot ? kSpotMark : "")];
  count = count.is_number() ? count.get<int>() + 1 : 1;
}

Status check_machine_quotas(const CloudId& cloud, const DesignInput& input, const Design& design,
                            const QuotasTaken& taken, const std::string& more) {
  const Json& quotas = member(input.survey.facts, "quotas");
  if (!quotas.is_object() || quotas.empty()) return {};
  Amounts wanted;
  for (const Wanted& one : design.resources) {
    if (one.node.empty() || one.offers.empty()) continue;
    const Json& spec = one.offers[one.chosen].spec;
    const Market market = text_of(spec, "market") == "spot" ? Market::Spot : Market::OnDemand;
    add(cloud, input.catalog, text_of(spec, "type"), market, 1, taken, wanted);
  }
  Amounts own = taken_by_own(cloud, input.survey, input.catalog, taken);
  for (const auto& [name, need] : wanted) {
    const Json& quota = member(quotas, name);
    if (!quota.is_object() || need <= room_in(quota, own[name])) continue;
    const double limit = number_of(quota, "limit");
    return Status(Code::Quota,
                  fmt::format("{}: the quota {} is {}; {} are in use, and this plan needs {}", cloud.text(),
                              name, plain_number(limit), plain_number(limit - room_in(quota, own[name])),
                              plain_number(need)))
        .with_hint("ask for more: " + more);
  }
  return {};
}

std::vector<QuotaUse> machine_quota_uses(const CloudId& cloud, const InstanceType& type, Market market,
                                         const Survey& survey, const Catalog& catalog,
                                         const QuotasTaken& taken) {
  Amounts own = taken_by_own(cloud, survey, catalog, taken);
  std::vector<QuotaUse> uses;
  for (const QuotaTaken& one : taken(type, market)) {
    const Json& quota = member(member(survey.facts, "quotas"), one.quota);
    if (quota.is_object()) uses.push_back({one.quota, one.amount, room_in(quota, own[one.quota])});
  }
  return uses;
}

}  // namespace radl
