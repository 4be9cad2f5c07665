// Reads a machine from DescribeInstances.
#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "runtime/clouds/ec2/instance.h"
#include "runtime/clouds/rules_of_others.h"

namespace radl::ec2 {
namespace {

ResourcePhase phase_of_state(const std::string& state) {
  if (state == "running") return ResourcePhase::Ready;
  if (state == "stopped") return ResourcePhase::Stopped;
  if (state == "shutting-down") return ResourcePhase::Leaving;
  return ResourcePhase::Pending;  // pending, stopping
}

std::vector<std::string> groups_in(pugi::xml_node interface) {
  std::vector<std::string> groups;
  for (pugi::xml_node group : interface.child("groupSet").children("item"))
    groups.push_back(text_of(group, "groupId"));
  return groups;
}

// The one that the machine was made with. EC2 lists them in no order that it documents.
pugi::xml_node primary_interface(pugi::xml_node item) {
  pugi::xml_node all = item.child("networkInterfaceSet");
  for (pugi::xml_node interface : all.children("item"))
    if (text_of(interface.child("attachment"), "deviceIndex") == "0") return interface;
  return all.child("item");
}

}  // namespace

// Two minutes before. Source: EC2 User Guide, "Spot Instance interruption notices", "Use the Instance
// Metadata Service" (version 2).
Json spot_notice() {
  const std::string service = "http://169.254.169.254/latest/";
  return {{"url", service + "meta-data/spot/instance-action"},
          {"session_url", service + "api/token"},
          {"session_headers", {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}}},
          {"session_header", "X-aws-ec2-metadata-token"},
          {"every_seconds", 5}};
}

InstanceNow instance_in(pugi::xml_node item) {
  InstanceNow now;
  now.id = text_of(item, "instanceId");
  now.state = text_of(item.child("instanceState"), "name");
  now.type = text_of(item, "instanceType");
  now.vpc = text_of(item, "vpcId");
  now.subnet = text_of(item, "subnetId");
  now.zone = text_of(item.child("placement"), "availabilityZone");
  now.lifecycle = text_of(item, "instanceLifecycle");
  now.reason = text_of(item.child("stateReason"), "message");
  now.reason_code = text_of(item.child("stateReason"), "code");
  if (now.reason.empty()) now.reason = text_of(item, "reason");
  now.public_ip = text_of(item, "ipAddress");
  now.private_ip = text_of(item, "privateIpAddress");
  now.groups = groups_in(item);
  pugi::xml_node interface = primary_interface(item);
  if (now.groups.empty()) now.groups = groups_in(interface);
  for (pugi::xml_node other : item.child("networkInterfaceSet").children("item"))
    if (other != interface)
      now.further.push_back(
          fmt::format("{} with {}", text_of(other, "networkInterfaceId"), join(groups_in(other), ", ")));
  const std::string owner = text_of(interface.child("association"), "ipOwnerId");
  if (owner != "amazon") now.association = text_of(interface.child("association"), "publicIp");
  if (now.public_ip.empty()) now.public_ip = text_of(interface.child("association"), "publicIp");
  std::sort(now.groups.begin(), now.groups.end());
  for (pugi::xml_node disk : item.child("blockDeviceMapping").children("item")) {
    const std::string device = text_of(disk, "deviceName"), volume = text_of(disk.child("ebs"), "volumeId");
    if (device.empty() || volume.empty()) continue;
    now.volumes[device.back()] = volume;
    if (text_of(disk.child("ebs"), "deleteOnTermination") == "true") now.disks.insert(volume);
  }
  now.tags = tags_of(item);
  return now;
}

Json attributes_of(const InstanceNow& now) {
  auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json attributes = {{"host", now.public_ip.empty() ? now.private_ip : now.public_ip},
                     {"port", 22},
                     {"user", tag_of(now.tags, kUserTag)},
                     {"private_ip", or_null(now.private_ip)},
                     {"public_ip", or_null(now.public_ip)},
                     {"vm_id", now.id},
                     {"instance_type", now.type},
                     {"zone", now.zone},
                     {"vpc", or_null(now.vpc)},
                     {"state", now.state == "running" || now.state == "pending" ? "running" : "stopped"}};
  for (const auto& [letter, volume] : now.volumes) attributes["volumes"][std::string(1, letter)] = volume;
  if (now.lifecycle == "spot") attributes["eviction_notice"] = spot_notice();
  if (std::string key = tag_of(now.tags, kKeyTag); !key.empty()) attributes["key"] = key;
  return attributes;
}

Json user_tags(const std::map<std::string, std::string>& tags) {
  Order order;
  order.address = tag_of(tags, kAddressTag);
  Context context;
  context.infrastructure = tag_of(tags, kInfrastructureTag);
  const std::string radlcs = name_in_console(context, order);  // where the file gives no name
  Json own = Json::object();
  for (const auto& [name, value] : tags)
    if (!name.starts_with("radlc:") && !name.starts_with("aws:") && (name != "Name" || value != radlcs))
      own[name] = value;
  return own;
}

std::optional<Seen> seen_instance(Call& call, const InstanceNow& now, bool by_token) {
  const bool ended = now.state == "terminated";
  const bool on_request = now.reason_code == "Client.UserInitiatedShutdown";
  // A machine that this run asked to end is gone; for any other, report why it ended.
  if (ended && (by_token ? on_request : call.memory.is_leaving(now.id))) return std::nullopt;
  Seen seen;
  take_tags(call.context, now.tags, seen);
  seen.type = "instance";
  seen.id = now.id;
  seen.phase = phase_of_state(now.state);
  if (ended) {
    seen.phase = by_token ? ResourcePhase::Broken : ResourcePhase::Leaving;
    seen.detail = fmt::format("{} {}: {}", now.id, by_token ? "ended while it was made" : "has ended",
                              now.reason.empty() ? "EC2 gives no reason" : now.reason);
  }
  seen.spec = {{"type", now.type}, {"tags", user_tags(now.tags)}};
  if (now.lifecycle == "spot") seen.spec["market"] = "spot";
  if (Json groups = call.memory.group_names(now.groups); !groups.is_null()) seen.spec["groups"] = groups;
  // An elastic address shows by its own record; without one the address is EC2's and comes and goes.
  auto address = call.memory.name_of(now.association.empty() ? now.public_ip : now.association);
  seen.spec["address"] = address ? Json(*address) : Json();
  for (const std::string& interface : now.further)
    add_rule_of_others(seen, "network interface " + interface + ", which radlc did not attach");
  seen.attributes = attributes_of(now);
  call.memory.note_disks(now.id, now.disks);
  call.memory.note_subnet(now.id, now.subnet);
  return seen;
}

}  // namespace radl::ec2
