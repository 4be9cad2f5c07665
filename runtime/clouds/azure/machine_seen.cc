// Reads Azure's description of a machine.
#include "common/text.h"
#include "runtime/clouds/azure/machine.h"
#include "runtime/clouds/rules_of_others.h"

namespace radl::azure {
namespace {

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

// "PowerState/running", "ProvisioningState/failed/AllocationFailed".
void take_statuses(const Json& view, MachineNow& now) {
  for (const Json& one : list_of(view, "statuses")) {
    const std::string code = text_of(one, "code");
    if (code.starts_with("PowerState/")) now.power = code.substr(11);
    if (!code.starts_with("ProvisioningState/failed/")) continue;
    const Status said = status_of({code.substr(25), text_of(one, "message")}, 409);
    now.detail = said.text();
  }
}

// The item of a list with that ID; null if missing.
const Json* with_id(const std::vector<Json>& items, const std::string& id) {
  for (const Json& item : items)
    if (id_in(text_of(item, "id")) == id) return &item;
  return nullptr;
}

struct Addresses {
  std::string inside, outside, subnet;
};

Result<Addresses> addresses_of(Asking& call, const std::string& interface) {
  Addresses found;
  const std::string folder = group_id(call.context, call.cloud) + "/providers/Microsoft.Network/";
  auto interfaces = list(call, folder + "networkInterfaces", kNetwork);
  if (!interfaces.ok()) return interfaces.status();
  const Json* item = with_id(**interfaces, interface);
  if (!item) return found;
  for (const Json& one : list_of(member(*item, "properties"), "ipConfigurations")) {
    const Json& inside = member(one, "properties");
    found.inside = text_of(inside, "privateIPAddress");
    found.subnet = text_of(member(inside, "subnet"), "id");
    const std::string address = id_in(text_of(member(inside, "publicIPAddress"), "id"));
    if (address.empty()) continue;
    auto addresses = list(call, folder + "publicIPAddresses", kNetwork);
    if (!addresses.ok()) return addresses.status();
    if (const Json* of = with_id(**addresses, address))
      found.outside = text_of(member(*of, "properties"), "ipAddress");
  }
  return found;
}

}  // namespace

// At least 30 seconds before; events of a machine's neighbours show too. Source: Azure documentation,
// "Scheduled Events for Linux VMs".
Json spot_notice(const std::string& machine) {
  return {{"url", "http://169.254.169.254/metadata/scheduledevents?api-version=2020-07-01"},
          {"headers", {{"Metadata", "true"}}},
          {"every_seconds", 1},
          {"list", "Events"},
          {"where", {{"EventType", "Preempt"}, {"Resources", machine}}},
          {"action", "EventType"},
          {"time", "NotBefore"}};
}

MachineNow machine_in(const Json& item) {
  const Json& properties = member(item, "properties");
  MachineNow now;
  now.id = id_in(text_of(item, "id"));
  now.name = text_of(item, "name");
  now.provisioning = text_of(properties, "provisioningState");
  now.type = text_of(member(properties, "hardwareProfile"), "vmSize");
  now.user = text_of(member(properties, "osProfile"), "adminUsername");
  now.spot = text_of(properties, "priority") == "Spot";
  for (const Json& zone : list_of(item, "zones"))
    if (zone.is_string()) now.zone = zone.get<std::string>();
  for (const Json& one : list_of(member(properties, "networkProfile"), "networkInterfaces")) {
    std::string id = id_in(text_of(one, "id"));
    if (now.interface.empty()) {
      now.interface = std::move(id);
      continue;
    }
    if (flag_of(member(one, "properties"), "primary")) std::swap(now.interface, id);
    now.further.push_back(std::move(id));
  }
  if (member(item, "tags").is_object()) now.tags = member(item, "tags");
  for (const Json& disk : list_of(member(properties, "storageProfile"), "dataDisks")) {
    // The letter that the file gave it is in the disk's place: 0 is a.
    const int place = static_cast<int>(number_of(disk, "lun"));
    now.volumes[std::string(1, static_cast<char>('a' + place))] = "lun" + std::to_string(place);
  }
  take_statuses(member(properties, "instanceView"), now);
  return now;
}

ResourcePhase phase_of_machine(const MachineNow& now) {
  const ResourcePhase phase = phase_of(now.provisioning);
  const bool off = now.power == "stopped" || now.power == "deallocated";
  // A change that failed leaves the machine as it was.
  if (phase == ResourcePhase::Broken)
    return now.power == "running" ? ResourcePhase::Ready : off ? ResourcePhase::Stopped : phase;
  if (phase != ResourcePhase::Ready) return phase;
  if (off) return ResourcePhase::Stopped;
  return now.power == "running" || now.power.empty() ? ResourcePhase::Ready : ResourcePhase::Pending;
}

Status show_machine(Asking& call, const MachineNow& now, Seen& seen) {
  seen.phase = phase_of_machine(now);
  seen.detail = now.detail;
  auto addresses = addresses_of(call, now.interface);
  if (!addresses.ok()) return addresses.status();
  seen.spec = {{"tags", own_tags(now.tags)}, {"type", now.type}, {"zone", or_null(now.zone)}};
  call.networks[now.id] = addresses->subnet.substr(0, to_lower(addresses->subnet).find("/subnets/"));
  for (const std::string& interface : now.further)
    add_rule_of_others(seen, "network interface " + interface + ", which radlc did not attach");
  const std::string& host = addresses->outside.empty() ? addresses->inside : addresses->outside;
  seen.attributes = {{"host", host},
                     {"port", 22},
                     {"user", now.user},
                     {"private_ip", or_null(addresses->inside)},
                     {"public_ip", or_null(addresses->outside)},
                     {"vm_id", now.id},
                     {"instance_type", now.type},
                     {"zone", now.zone.empty() ? call.cloud.region : call.cloud.region + "-" + now.zone},
                     {"market", now.spot ? "spot" : "on-demand"},
                     {"state", seen.phase == ResourcePhase::Stopped ? "stopped" : "running"}};
  if (now.spot) seen.attributes["eviction_notice"] = spot_notice(now.name);
  if (!now.volumes.empty()) seen.attributes["volumes"] = now.volumes;
  if (std::string key = text_of(now.tags, kKeyTag); !key.empty()) seen.attributes["key"] = key;
  return {};
}

}  // namespace radl::azure
