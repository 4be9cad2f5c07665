#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/clouds/gce/disk_types.h"
#include "runtime/clouds/gce/images.h"
#include "runtime/clouds/gce/instance.h"
#include "runtime/clouds/gce/zones.h"
#include "runtime/clouds/user_data.h"
#include "runtime/clouds/wishes.h"
#include "runtime/net/ssh/keys.h"

namespace radl::gce {
namespace {

constexpr const char* kKeyName = "node_key";
constexpr const char* kProduct = "Google Compute Engine";  // as the firmware of its machines says

Json item(const char* key, const std::string& value) { return {{"key", key}, {"value", value}}; }

// Logins by keys of the metadata alone: not by those of the project, and not by OS Login, which would shut
// them out. The guest agent writes host keys where the API shows them (guest attributes).
Result<Json> metadata_of(Asking& call, const Order& order, const std::string& user) {
  auto key = ssh::make_key(call.context.work_directory, kKeyName);
  if (!key.ok()) return key.status();
  Json spec = order.spec;
  AutoStop stop = auto_stop_from_json(spec.value("stop", Json::object()));
  stop.after_seconds = 0;  // Compute Engine itself ends it then (scheduling_of)
  spec.erase("stop");
  Json items = {item("ssh-keys", user + ":" + key->public_line),
                item("block-project-ssh-keys", "TRUE"),
                item("enable-oslogin", "FALSE"),
                item("enable-guest-attributes", "TRUE"),
                item("user-data", user_data_of(spec)),
                item(kKeyItem, key->fingerprint),
                item(kUserItem, user)};
  // All of Google's images run it at each boot, with cloud-init or without.
  if (stop.idle_seconds > 0) items.push_back(item("startup-script", auto_stop_user_data(stop, kProduct)));
  return Json{{"items", std::move(items)}};
}

Result<Json> disks_of(Asking& call, const Order& order, const Image& image) {
  const Json root = order.spec.value("root", Json::object());
  const std::string zone = order.spec.value("zone", "");
  const MachineType type = parse_type(order.spec.value("type", ""));
  double size = number_of(root, "size_gib");
  if (size > 0 && size < image.disk_gib)
    return invalid(
        fmt::format("{}: disk.0.size: image {} needs {} GiB", order.address, image.name, image.disk_gib));
  size = root_disk_gib(root, image.disk_gib);
  Json made = {{"sourceImage", image.path}, {"labels", labels_for(call.context, order)}};
  if (size > 0) made["diskSizeGb"] = std::to_string(static_cast<long long>(size));
  const std::string kind = root.value("type", usual_disk(type.name));
  if (!kind.empty()) made["diskType"] = fmt::format("{}zones/{}/diskTypes/{}", call.root(), zone, kind);
  Json disks = Json::array();
  disks.push_back({{"boot", true}, {"autoDelete", true}, {"initializeParams", std::move(made)}});
  if (root.contains("encryption_key"))
    disks.front()["diskEncryptionKey"] = {{"kmsKeyName", root["encryption_key"]}};
  // In the order of their letters: that is how the kernel names them.
  const Json volumes = order.spec.value("volumes", Json::object());
  for (const auto& [letter, wanted] : volumes.items()) {
    const std::string existing = text_of(wanted, "existing");
    auto id = existing.empty() ? id_of_reference(order, wanted.get<std::string>())
                               : Result<std::string>(disk_path(existing, zone));
    if (!id.ok()) return id.status();
    disks.push_back(
        {{"source", call.root() + *id}, {"autoDelete", false}, {"deviceName", "radlc-" + letter}});
  }
  return disks;
}

Result<Json> interfaces_of(Asking& call, const Order& order) {
  Json interfaces = Json::array();
  for (const Json& wanted : order.spec.value("networks", Json::array())) {
    Json one = Json::object();
    auto path = network_path(call, order, wanted);
    if (!path.ok()) return path.status();
    one["network"] = *path;
    if (const std::string subnet = text_of(wanted, "subnet"); !subnet.empty()) {
      auto id = id_of_reference(order, subnet);
      if (!id.ok()) return id.status();
      one["subnetwork"] = call.root() + *id;
    }
    if (const std::string fixed = text_of(wanted, "fixed_ip"); !fixed.empty()) one["networkIP"] = fixed;
    interfaces.push_back(std::move(one));
  }
  if (interfaces.empty() || !order.spec.value("public", false)) return interfaces;
  Json access = {{"name", "External NAT"}, {"type", "ONE_TO_ONE_NAT"}};
  if (const std::string address = order.spec.value("address", ""); !address.empty()) {
    auto found = order.references.find(address);
    if (found == order.references.end())
      return invalid(fmt::format("{}: {} does not exist", order.address, address));
    access["natIP"] = found->second.attributes.value("public_ip", "");
  }
  interfaces[0]["accessConfigs"] = Json::array({std::move(access)});
  return interfaces;
}

// A machine with graphics processors cannot be moved while it runs; one of the spot market is never moved and
// leaves nothing behind when it is taken back.
Json scheduling_of(const Json& spec, const MachineType& type) {
  Json scheduling = Json::object();
  const bool gpus = type.count > 0 || has_own_gpus(type.name);
  const bool spot = spec.value("market", "") == "spot";
  if (gpus || spot) scheduling["onHostMaintenance"] = "TERMINATE";
  if (spot) {
    scheduling["provisioningModel"] = "SPOT";
    scheduling["instanceTerminationAction"] = "DELETE";
    scheduling["automaticRestart"] = false;
  }
  const Json stop = spec.value("stop", Json::object());
  if (const double after = number_of(stop, "after_seconds"); after > 0) {
    // Also by the cloud itself, for any image.
    scheduling["maxRunDuration"] = {{"seconds", std::to_string(static_cast<long long>(after))}};
    scheduling["instanceTerminationAction"] = text_of(stop, "action") == "stop" && !spot ? "STOP" : "DELETE";
  }
  return scheduling;
}

}  // namespace

std::string MachineType::text() const {
  return count == 0 ? name : fmt::format("{}+{}x{}", name, count, accelerator);
}

MachineType parse_type(const std::string& text) {
  MachineType type;
  const size_t plus = text.find('+'), x = plus == text.npos ? plus : text.find('x', plus);
  type.name = text.substr(0, plus);
  if (x == text.npos) return type;
  std::from_chars(text.data() + plus + 1, text.data() + x, type.count);
  type.accelerator = text.substr(x + 1);
  return type;
}

bool is_arm(const std::string& type) {
  const std::string family = type.substr(0, type.find('-'));
  for (const char* arm : {"t2a", "c4a", "n4a", "a4x"})
    if (family == arm) return true;
  return false;
}

bool needs_hyperdisk(const std::string& type) {
  return type.size() > 2 && type[1] >= '4' && type[1] <= '9' && (type[2] < '0' || type[2] > '9');
}

bool has_own_gpus(const std::string& type) {
  return type.size() > 2 && (type[0] == 'a' || type[0] == 'g') && type[1] >= '2' && type[1] <= '9';
}

Result<Json> launch_of(Asking& call, const Order& order) {
  const Json& spec = order.spec;
  const std::string zone = spec.value("zone", "");
  auto image = find_image(call, spec.value("image", ""));
  if (!image.ok()) return image.status();
  const MachineType type = parse_type(spec.value("type", ""));
  if (!image->architecture.empty() && (image->architecture == "ARM64") != is_arm(type.name))
    return invalid(fmt::format("{}: image {} is for {}, and {} is not", order.address, image->name,
                               image->architecture == "ARM64" ? "arm64" : "x86_64", type.name))
        .with_hint("choose another disk.0.image.url, or omit it and name a distribution (disk.0.os.flavour)");
  Json body = {{"machineType", fmt::format("zones/{}/machineTypes/{}", zone, type.name)}};
  body["machineType"] = call.root() + body["machineType"].get<std::string>();
  if (type.count > 0)
    body["guestAccelerators"] =
        Json::array({{{"acceleratorType",
                       fmt::format("{}zones/{}/acceleratorTypes/{}", call.root(), zone, type.accelerator)},
                      {"acceleratorCount", type.count}}});
  auto disks = disks_of(call, order, *image);
  if (!disks.ok()) return disks.status();
  body["disks"] = std::move(*disks);
  auto interfaces = interfaces_of(call, order);
  if (!interfaces.ok()) return interfaces.status();
  body["networkInterfaces"] = std::move(*interfaces);
  const std::string user = spec.value("user", "");
  auto metadata = metadata_of(call, order, user.empty() ? user_of_image(image->path) : user);
  if (!metadata.ok()) return metadata.status();
  body["metadata"] = std::move(*metadata);
  Json tags = Json::array();
  for (const Json& group : spec.value("groups", Json::array())) {
    const std::string tag = tag_of(call.context, call.cloud, group.get<std::string>());
    call.memory.note_name(tag, group.get<std::string>());
    tags.push_back(tag);
  }
  body["tags"] = {{"items", std::move(tags)}};
  body["labels"] = spec.value("tags", Json::object());
  body["labels"].update(labels_for(call.context, order));  // last: nothing of the file's is in their place
  if (const std::string host = spec.value("hostname", ""); host.find('.') != host.npos)
    body["hostname"] = host;
  if (Json scheduling = scheduling_of(spec, type); !scheduling.empty())
    body["scheduling"] = std::move(scheduling);
  if (const std::string placement = spec.value("placement", ""); !placement.empty()) {
    auto id = id_of_reference(order, placement);
    if (!id.ok()) return id.status();
    body["resourcePolicies"] = {call.root() + *id};
    body["scheduling"]["onHostMaintenance"] = "TERMINATE";
  }
  return body;
}

}  // namespace radl::gce
