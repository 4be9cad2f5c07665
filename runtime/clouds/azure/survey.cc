#include "runtime/clouds/azure/survey.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "common/text.h"
#include "runtime/clouds/azure/images.h"
#include "runtime/clouds/azure/places.h"
#include "runtime/clouds/fitting.h"

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
    facts["image_architectures"][*wanted] = architecture_name(image->architecture);
  }
  return {};
}

// Of a disk that the file names: a machine is in its region and zone, and it is in no other machine.
Status survey_disk(Asking& call, const ir::Node& node, const std::string& feature, const std::string& id) {
  auto there = read(call, id, kDisks);
  if (there.status().code() == Code::NotFound)
    return not_found(feature + ": disk not found").with_hint("Run `az disk list -o table` to see the disks.");
  if (!there.ok()) return Status(there.status()).at(feature);
  const std::string region = text_of(*there, "location"), machine = id_in(text_of(*there, "managedBy"));
  if (!equal_ignoring_case(region, call.cloud.region))
    return invalid(fmt::format("{}: the disk is in {}, but the machine would be in {}", feature, region,
                               call.cloud.region));
  if (!machine.empty() && !to_lower(machine).starts_with(to_lower(group_id(call.context, call.cloud)) + "/"))
    return invalid(fmt::format("{}: it is attached to {}", feature, last_part(machine)));
  std::string zone;
  for (const Json& one : list_of(*there, "zones"))
    if (one.is_string()) zone = one.get<std::string>();
  if (zone == zone_named(node)) return {};
  if (zone.empty())
    return invalid(fmt::format("{}: the disk is in no zone, but the machine would be in zone {}", feature,
                               zone_named(node)));
  return invalid(
             fmt::format("{}: the disk is in zone {}, and a machine must be in that zone too", feature, zone))
      .with_hint(fmt::format("availability_zone = '{}-{}'", call.cloud.region, zone));
}

Status survey_disks(Asking& call, const ir::Program& program) {
  std::set<std::string> looked;  // every node of a system has the whole list
  for (const ir::Node& node : program.nodes) {
    for (const ir::Disk& disk : node.disks) {
      for (const std::string& url : disk.image_urls) {
        auto id = disk_in_url(url);
        if (disk.index == 0 || !id.ok() || id->empty()) continue;
        if (!looked.insert(zone_named(node) + " " + *id).second) continue;
        const std::string feature =
            fmt::format("{}: disk.{}.image.url = '{}'", node.address, disk.index, url);
        if (Status right = survey_disk(call, node, feature, *id); !right.ok()) return right;
      }
    }
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
    for (const Json& one : list_of(sku, "capabilities"))
      if (const std::string value = text_of(one, "value"); text_of(one, "name") == "MaxDataDiskCount") {
        int most = 0;
        if (std::from_chars(value.data(), value.data() + value.size(), most).ec == std::errc())
          facts["data_disks"][name] = most;
      }
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

// One that is disabled can be read, and what it has be removed; nothing can be made.
Status check_state(Asking& call) {
  const std::string path = "subscriptions/" + call.subscription;
  Answer answer = call.manager.call(
      {.method = "GET", .path = path, .version = kSubscriptions, .query = {}, .body = nullptr, .headers = {}},
      waits(call.context));
  if (!answer.ok()) return answer.failure().status;
  const std::string state = text_of(answer.json(), "state"), name = text_of(answer.json(), "displayName");
  if (state != "Disabled" && state != "Deleted") return {};
  return status_of({"ReadOnlyDisabledSubscription",
                    fmt::format("Azure reports that subscription {}{} is {}: nothing can be created in it",
                                call.subscription, name.empty() ? "" : " (" + name + ")", to_lower(state))},
                   409);
}

}  // namespace

Result<Json> take_survey(Asking& call, const ir::Program& program) {
  Json facts = {{"subscription", call.subscription},
                {"restricted", Json::object()},
                {"families", Json::object()},
                {"quotas", Json::object()},
                {"own", Json::object()}};
  if (Status state = check_state(call); !state.ok()) return state;
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
    count_own(facts, type, spot ? Market::Spot : Market::OnDemand);
  }
  if (Status asked = survey_images(call, program, facts); !asked.ok()) return asked;
  if (Status asked = survey_disks(call, program); !asked.ok()) return asked;
  return facts;
}

QuotasTaken quotas_taken(const Survey& survey) {
  return [&survey](const InstanceType& type, Market market) -> std::vector<QuotaTaken> {
    if (market == Market::Spot) return {{kSpotCores, type.cpu}};
    std::vector<QuotaTaken> taken = {{kAllCores, type.cpu}};
    const std::string family = text_of(member(survey.facts, "families"), type.name);
    if (!family.empty()) taken.push_back({family, type.cpu});
    return taken;
  };
}

}  // namespace radl::azure
