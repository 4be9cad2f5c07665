#include "runtime/clouds/ec2/quotas.h"

#include <fmt/format.h>

#include <array>
#include <map>

namespace radl::ec2 {
namespace {

constexpr std::array<std::string_view, 11> kStandard = {"a",  "c", "d", "h", "i", "im",
                                                        "is", "m", "r", "t", "z"};

// "g4dn.xlarge" -> "g"
std::string_view letters_of(std::string_view type) {
  return type.substr(0, type.find_first_of("0123456789-."));
}

}  // namespace

VcpuQuota vcpu_quota(const std::string& instance_type, bool spot) {
  const std::string_view letters = letters_of(instance_type);
  for (std::string_view standard : kStandard) {
    if (letters != standard) continue;
    return spot ? VcpuQuota{"L-34B43A08", "spot standard instances (A, C, D, H, I, M, R, T, Z)"}
                : VcpuQuota{"L-1216C47A", "on-demand standard instances (A, C, D, H, I, M, R, T, Z)"};
  }
  if (letters == "g" || letters == "gr" || letters == "vt")
    return spot ? VcpuQuota{"L-3819A6DF", "spot G and VT instances"}
                : VcpuQuota{"L-DB2E81BA", "on-demand G and VT instances"};
  if (letters != "p") return {};
  if (!spot) return {"L-417A185B", "on-demand P instances"};
  const bool older =
      instance_type.starts_with("p2") || instance_type.starts_with("p3") || instance_type.starts_with("p4");
  return older ? VcpuQuota{"L-7212CCBC", "spot P2, P3 and P4 instances"} : VcpuQuota{};
}

std::vector<std::string> quota_notes(const CloudId& cloud, const Design& design, const Survey& survey) {
  if (auto why = survey.facts.find("quotas_unknown"); why != survey.facts.end() && why->is_string())
    return {fmt::format("{}: the account's quotas are not known: {}", cloud.text(), why->get<std::string>())};
  const auto quotas = survey.facts.find("quotas");
  if (quotas == survey.facts.end() || !quotas->is_object()) return {};
  struct Need {
    VcpuQuota quota;
    double cpu = 0;
  };
  std::map<std::string, Need> needs;
  for (const Wanted& wanted : design.resources) {
    if (wanted.node.empty() || wanted.chosen >= wanted.offers.size()) continue;
    const Offer& offer = wanted.offers[wanted.chosen];
    VcpuQuota quota = vcpu_quota(offer.name, offer.facts.market == "spot");
    if (quota.code.empty()) continue;
    Need& need = needs[quota.code];
    need.quota = std::move(quota);
    need.cpu += offer.facts.cpu;
  }
  std::vector<std::string> notes;
  for (const auto& [code, need] : needs) {
    const auto limit = quotas->find(code);
    if (limit == quotas->end() || !limit->is_number() || need.cpu <= limit->get<double>()) continue;
    notes.push_back(fmt::format(
        "{}: the plan needs {:g} vCPUs of {}, but the account's quota is {:g}, including what already "
        "runs there; request a higher quota from AWS "
        "(Service Quotas, {}), or use fewer machines or other types",
        cloud.text(), need.cpu, need.quota.name, limit->get<double>(), code));
  }
  return notes;
}

std::vector<QuotaUse> quota_uses(const InstanceType& type, Market market, const Survey& survey) {
  const VcpuQuota quota = vcpu_quota(type.name, market == Market::Spot);
  const auto quotas = survey.facts.find("quotas");
  if (quota.code.empty() || quotas == survey.facts.end() || !quotas->is_object()) return {};
  const auto limit = quotas->find(quota.code);
  if (limit == quotas->end() || !limit->is_number()) return {};
  return {{fmt::format("vCPUs of {} ({})", quota.name, quota.code), type.cpu, limit->get<double>()}};
}

}  // namespace radl::ec2
