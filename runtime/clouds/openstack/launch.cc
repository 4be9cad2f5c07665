#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/digest.h"
#include "common/shorten.h"
#include "common/text.h"
#include "runtime/clouds/openstack/flavors.h"
#include "runtime/clouds/openstack/images.h"
#include "runtime/clouds/openstack/networks.h"
#include "runtime/clouds/openstack/server.h"
#include "runtime/clouds/openstack/volumes.h"
#include "runtime/clouds/user_data.h"

namespace radl::openstack {
namespace {

constexpr size_t kLongestName = 255;
constexpr const char* kOwnDisk = "own";  // a further disk that has no id

struct Joined {
  Json networks = Json::array();
  std::string public_network;
  std::vector<std::string> without_groups;  // names of networks that take no security groups
};

Result<NetworkNow> network_of(Asking& call, const Order& order, const Json& wanted) {
  if (const std::string made = text_of(wanted, "made"); !made.empty()) {
    auto id = id_of_reference(order, made);
    if (!id.ok()) return id.status();
    return NetworkNow{*id, "", ""};
  }
  const std::string provider = text_of(wanted, "provider");
  auto found = provider.empty() ? default_network(call) : network_named(call, provider);
  const Status reached = found.ok() ? has_ipv4(*found) : found.status();
  if (!reached.ok()) return Status(reached).at("network " + text_of(wanted, "name"));
  return found;
}

// Two networks of the file may be one of the cloud's: it is joined once.
Result<Joined> join_networks(Asking& call, const Order& order) {
  Joined joined;
  std::set<std::string> ids;
  for (const Json& wanted : order.spec.value("networks", Json::array())) {
    auto network = network_of(call, order, wanted);
    if (!network.ok()) return network.status();
    if (flag_of(wanted, "public")) joined.public_network = network->id;
    if (!ids.insert(network->id).second) continue;
    if (!network->takes_groups) joined.without_groups.push_back(network->name);
    Json one = {{"uuid", network->id}};
    if (const std::string fixed = text_of(wanted, "fixed_ip"); !fixed.empty()) one["fixed_ip"] = fixed;
    joined.networks.push_back(std::move(one));
  }
  return joined;
}

// The root disk as a volume of its own, made of the image.
Result<Json> root_volume(Asking& call, const Order& order, const Image& image, const Flavor& flavor,
                         double least) {
  const Json root = order.spec.value("root", Json::object());
  if (Status there = call.services.volume.present(call.context.stop); !there.ok())
    return there.code() == Code::NotFound
               ? invalid(
                     fmt::format("{}: disk.0.size: flavor {} has {} GiB, {} GiB are needed, and the cloud "
                                 "has no block storage for more",
                                 order.address, flavor.type.name, flavor.disk_gib, least))
               : there;
  Json disk = {{"boot_index", 0},
               {"uuid", image.id},
               {"source_type", "image"},
               {"destination_type", "volume"},
               {"volume_size", static_cast<long long>(std::max(1.0, std::ceil(least)))},
               {"delete_on_termination", true}};
  if (!root.contains("type")) return disk;
  auto typed = call.services.compute.knows("2.67", call.context.stop);
  if (!typed.ok()) return typed.status();
  if (!*typed) return invalid(order.address + ": disk.0.type: the Nova of this cloud does not support it");
  disk["volume_type"] = root["type"];
  return disk;
}

// The id of an existing volume that no machine uses.
Result<std::string> free_volume(Asking& call, const Order& order, const std::string& name) {
  auto volume = volume_named(call, name);
  if (!volume.ok()) return Status(volume.status()).at(order.address);
  if (Status free = is_free(call, *volume); !free.ok()) return Status(free).at(order.address);
  return volume->id;
}

// A volume that outlives the machine.
Json attached(const std::string& volume, int boot_index) {
  return {{"boot_index", boot_index},
          {"uuid", volume},
          {"source_type", "volume"},
          {"destination_type", "volume"},
          {"delete_on_termination", false}};
}

// The root disk: a volume that is there, or the flavor's own, or a new volume where that is too small or the
// file names a kind of disk. Null: the flavor's own.
Result<Json> root_disk(Asking& call, const Order& order, const Image& image, const Flavor& flavor) {
  if (image.is_volume) {
    auto id = free_volume(call, order, image.id);
    if (!id.ok()) return id.status();
    return attached(*id, 0);
  }
  const Json root = order.spec.value("root", Json::object());
  const double free = number_of(root, "free_gib"), wanted = number_of(root, "size_gib"),
               least = std::max(wanted, image.min_disk_gib + free);
  if (wanted > 0 && wanted < image.min_disk_gib)
    return invalid(
        fmt::format("{}: disk.0.size: image {} needs {} GiB", order.address, image.name, image.min_disk_gib));
  const bool too_small = flavor.disk_gib > 0 && flavor.disk_gib < image.min_disk_gib;
  const bool of_volume = root.contains("type") || (std::max(wanted, free) > 0 && flavor.disk_gib < least) ||
                         too_small ||
                         (flavor.disk_gib == 0 && call.services.volume.present(call.context.stop).ok());
  return of_volume ? root_volume(call, order, image, flavor, least) : Result<Json>(Json());
}

// A further disk: one of the machine's own, or a volume by its id.
Result<Json> further_disk(Asking& call, const Order& order, const Json& wanted) {
  if (const double own = number_of(wanted, "own_gib"); own > 0)
    return Json{{"boot_index", -1},
                {"source_type", "blank"},
                {"destination_type", "local"},
                {"volume_size", static_cast<long long>(own)},
                {"delete_on_termination", true}};
  const std::string name = text_of(wanted, "existing");
  auto id = name.empty() ? id_of_reference(order, wanted.get<std::string>()) : free_volume(call, order, name);
  if (!id.ok()) return id.status();
  return attached(*id, -1);
}

Status add_disks(Asking& call, const Order& order, const Image& image, const Flavor& flavor, Json& server) {
  auto root = root_disk(call, order, image, flavor);
  if (!root.ok()) return root.status();
  const Json further = order.spec.value("volumes", Json::object());
  Json disks = Json::array();
  if (!root->is_null())
    disks.push_back(std::move(*root));
  else if (!further.empty())
    disks.push_back({{"boot_index", 0},
                     {"uuid", image.id},
                     {"source_type", "image"},
                     {"destination_type", "local"},
                     {"delete_on_termination", true}});
  if (!image.is_volume && (disks.empty() || text_of(disks.front(), "destination_type") == "local"))
    server["imageRef"] = image.id;
  for (const auto& [letter, wanted] : further.items()) {
    auto disk = further_disk(call, order, wanted);
    if (!disk.ok()) return disk.status();
    server["metadata"][kVolumeKeys + letter] = disk->contains("uuid") ? (*disk)["uuid"] : Json(kOwnDisk);
    disks.push_back(std::move(*disk));
  }
  if (!disks.empty()) server["block_device_mapping_v2"] = std::move(disks);
  return {};
}

Status add_groups(const Order& order, Json& server) {
  Json groups = Json::array();
  for (const Json& address : order.spec.value("groups", Json::array())) {
    auto id = id_of_reference(order, address.get<std::string>());
    if (!id.ok()) return id.status();
    groups.push_back({{"name", *id}});
  }
  server["security_groups"] = std::move(groups);
  return {};
}

}  // namespace

Result<Json> launch_of(Asking& call, const Order& order) {
  const Json& spec = order.spec;
  auto image = find_image(call, spec.value("image", ""));
  if (!image.ok()) return image.status();
  auto flavor = flavor_for(call, order, &*image);
  if (!flavor.ok()) return flavor.status();
  auto joined = join_networks(call, order);
  if (!joined.ok()) return joined.status();
  std::string user = spec.value("user", "");
  if (user.empty()) user = image->user;
  if (user.empty())
    return invalid(fmt::format("{}: the login of image {} is unknown", order.address, image->name))
        .with_hint("name it: disk.0.os.credentials.username");
  Json server = {{"name", beginning_of(name_for(call.context, order), kLongestName)},
                 {"flavorRef", flavor->id},
                 {"networks", joined->networks},
                 {"config_drive", true},
                 {"user_data", base64_encode(user_data_of(spec))},
                 {"metadata", spec.value("tags", Json::object())}};
  // radlc's own is written last: by it the machine is found again.
  Json& metadata = server["metadata"];
  metadata.update(to_metadata(mark_of(call.context, order)));
  metadata[kUserKey] = user;
  metadata[kFlavorKey] = spec.contains("type") ? "" : flavor->type.name;
  if (spec.contains("public_ip")) metadata[kAddressOfOthersKey] = spec["public_ip"];
  if (!joined->public_network.empty()) metadata[kPublicKey] = joined->public_network;
  auto hostname = call.services.compute.knows("2.90", call.context.stop);
  if (!hostname.ok()) return hostname.status();
  const std::string host = spec.value("hostname", "");
  if (*hostname && !host.empty()) server["hostname"] = host.substr(0, host.find('.'));
  if (spec.contains("zone")) server["availability_zone"] = spec["zone"];
  // Nova gives the groups to all ports, or to none: those that take them get them behind it.
  if (joined->without_groups.empty()) {
    if (Status added = add_groups(order, server); !added.ok()) return added;
  } else {
    call.context.log(fmt::format("network {} has no port security: security groups do not protect its ports",
                                 join(joined->without_groups, ", ")));
  }
  if (Status added = add_disks(call, order, *image, *flavor, server); !added.ok()) return added;
  Json body = Json::object();
  for (const auto& [address, reference] : order.references) {
    if (reference.type == "key_pair") {
      server["key_name"] = reference.id;
      metadata[kKeyKey] = reference.attributes.value("key", "");
    } else if (reference.type == "server_group") {
      body["os:scheduler_hints"] = {{"group", reference.id}};
    }
  }
  body["server"] = std::move(server);
  return body;
}

}  // namespace radl::openstack
