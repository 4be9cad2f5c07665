// Reads Compute Engine's description of a machine.
#include <algorithm>

#include "runtime/clouds/gce/instance.h"

namespace radl::gce {
namespace {

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

void take_interface(const Json& interface, InstanceNow& now) {
  now.network = partial_of(text_of(interface, "network"));
  now.nic = text_of(interface, "name");
  now.private_ip = text_of(interface, "networkIP");
  for (const Json& access : list_of(interface, "accessConfigs")) {
    now.access = text_of(access, "name");
    now.public_ip = text_of(access, "natIP");
  }
}

}  // namespace

// 30 seconds before. Source: Compute Engine documentation, "Spot VMs", "Handle preemption with a shutdown
// script"; "About VM metadata": the server's address needs no resolver.
Json spot_notice() {
  return {{"url", "http://169.254.169.254/computeMetadata/v1/instance/preempted"},
          {"headers", {{"Metadata-Flavor", "Google"}}},
          {"every_seconds", 1},
          {"says", "TRUE"},
          {"action", "preempt"}};
}

InstanceNow instance_in(const Json& item) {
  InstanceNow now;
  now.id = partial_of(text_of(item, "selfLink"));
  now.name = text_of(item, "name");
  now.status = text_of(item, "status");
  now.message = text_of(item, "statusMessage");
  now.zone = last_part(text_of(item, "zone"));
  now.type.name = last_part(text_of(item, "machineType"));
  if (!has_own_gpus(now.type.name)) {
    for (const Json& one : list_of(item, "guestAccelerators")) {
      now.type.accelerator = last_part(text_of(one, "acceleratorType"));
      now.type.count = static_cast<int>(number_of(one, "acceleratorCount"));
    }
  }
  now.spot = text_of(member(item, "scheduling"), "provisioningModel") == "SPOT";
  for (const Json& interface : list_of(item, "networkInterfaces")) {
    if (now.exposed.networks.empty()) take_interface(interface, now);
    now.exposed.networks.push_back(project_path_of(text_of(interface, "network")));
  }
  for (const Json& tag : list_of(member(item, "tags"), "items"))
    if (tag.is_string()) now.tags.push_back(tag.get<std::string>());
  now.exposed.tags = now.tags;
  for (const Json& account : list_of(item, "serviceAccounts"))
    now.exposed.accounts.push_back(text_of(account, "email"));
  now.tags_print = text_of(member(item, "tags"), "fingerprint");
  now.labels_print = text_of(item, "labelFingerprint");
  if (member(item, "labels").is_object()) now.labels = member(item, "labels");
  now.metadata_print = text_of(member(item, "metadata"), "fingerprint");
  for (const Json& one : list_of(member(item, "metadata"), "items"))
    now.metadata[text_of(one, "key")] = text_of(one, "value");
  for (const Json& disk : list_of(item, "disks")) {
    const std::string device = text_of(disk, "deviceName");
    if (device.starts_with("radlc-")) now.volumes[device.substr(6)] = device;
  }
  return now;
}

ResourcePhase phase_of_instance(const InstanceNow& now) {
  if (now.status == "RUNNING") return ResourcePhase::Ready;
  if (now.status == "TERMINATED" || now.status == "STOPPED" || now.status == "SUSPENDED")
    return ResourcePhase::Stopped;
  // A preempted or deleted machine does not return.
  const bool goes = now.status == "STOPPING" || now.status == "DEPROVISIONING";
  return goes && now.spot ? ResourcePhase::Leaving : ResourcePhase::Pending;
}

void show_instance(Asking& call, const InstanceNow& now, Seen& seen) {
  seen.phase = phase_of_instance(now);
  seen.detail = now.message;
  if (seen.phase == ResourcePhase::Leaving && now.message.empty())
    seen.detail = "a spot machine that Compute Engine preempts";
  seen.spec = {{"tags", own_labels(now.labels)}, {"type", now.type.text()}, {"zone", now.zone}};
  if (Json groups = call.memory.group_names(now.tags); !groups.is_null()) seen.spec["groups"] = groups;
  auto address = call.memory.name_of(now.public_ip);
  seen.spec["address"] = address ? Json(*address) : Json();
  for (const auto& [name, value] : now.labels.items())
    if (name.starts_with("radlc-")) seen.marks[name] = value;
  for (const char* name : {kKeyItem, kUserItem})
    if (now.metadata.contains(name)) seen.marks[name] = now.metadata[name];
  seen.attributes = {{"host", now.public_ip.empty() ? now.private_ip : now.public_ip},
                     {"port", 22},
                     {"user", text_of(now.metadata, kUserItem)},
                     {"private_ip", or_null(now.private_ip)},
                     {"public_ip", or_null(now.public_ip)},
                     {"vm_id", now.id},
                     {"instance_type", now.type.text()},
                     {"zone", now.zone},
                     {"market", now.spot ? "spot" : "on-demand"},
                     {"vpc", or_null(now.network)},
                     {"state", seen.phase == ResourcePhase::Stopped ? "stopped" : "running"}};
  if (now.spot) seen.attributes["eviction_notice"] = spot_notice();
  if (!now.volumes.empty()) seen.attributes["volumes"] = now.volumes;
  if (std::string key = text_of(now.metadata, kKeyItem); !key.empty()) seen.attributes["key"] = key;
}

}  // namespace radl::gce
