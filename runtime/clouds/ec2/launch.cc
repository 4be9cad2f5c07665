#include <fmt/format.h>

#include <algorithm>

#include "common/digest.h"
#include "common/text.h"
#include "runtime/clouds/auto_stop.h"
#include "runtime/clouds/ec2/images.h"
#include "runtime/clouds/ec2/instance.h"
#include "runtime/clouds/ec2/placing.h"
#include "runtime/clouds/user_data.h"
#include "runtime/clouds/wishes.h"

namespace radl::ec2 {
namespace {

void add_disk(Parameters& parameters, size_t number, const std::string& device, const Json& disk) {
  const std::string name = fmt::format("BlockDeviceMapping.{}.", number);
  parameters.emplace_back(name + "DeviceName", device);
  parameters.emplace_back(name + "Ebs.DeleteOnTermination", "true");
  if (disk.contains("size_gib"))
    parameters.emplace_back(name + "Ebs.VolumeSize", std::to_string(disk["size_gib"].get<long long>()));
  parameters.emplace_back(name + "Ebs.VolumeType", disk.value("type", "gp3"));
  if (disk.value("encrypted", false)) parameters.emplace_back(name + "Ebs.Encrypted", "true");
  if (disk.contains("encryption_key"))
    parameters.emplace_back(name + "Ebs.KmsKeyId", disk["encryption_key"].get<std::string>());
  if (disk.contains("snapshot"))
    parameters.emplace_back(name + "Ebs.SnapshotId", disk["snapshot"].get<std::string>());
}

Status add_disks(Parameters& parameters, const Order& order, const Image& image) {
  size_t number = 0;
  if (order.spec.contains("root")) {
    const Json& root = order.spec["root"];
    if (root.contains("size_gib") && root["size_gib"].get<double>() < image.root_gib)
      return invalid(
          fmt::format("{}: disk.0.size: image {} needs {} GiB", order.address, image.id, image.root_gib));
    Json sized = root;
    if (const double wanted = root_disk_gib(root, image.root_gib); wanted > 0)
      sized["size_gib"] = static_cast<long long>(wanted);
    add_disk(parameters, ++number, image.root_device, sized);
  }
  for (const Json& disk : order.spec.value("disks", Json::array()))
    add_disk(parameters, ++number, disk.value("device", ""), disk);
  return {};
}

void add_spot(Parameters& parameters, const Json& spec) {
  if (spec.value("market", "") != "spot") return;
  parameters.emplace_back("InstanceMarketOptions.MarketType", "spot");
  parameters.emplace_back("InstanceMarketOptions.SpotOptions.SpotInstanceType", "one-time");
  if (spec.contains("max_price"))
    parameters.emplace_back("InstanceMarketOptions.SpotOptions.MaxPrice",
                            spec["max_price"].get<std::string>());
}

Status add_references(Launch& launch, const Order& order, std::string& key) {
  for (const auto& [address, reference] : order.references) {
    if (reference.type == "key_pair") {
      launch.parameters.emplace_back("KeyName", reference.attributes.value("name", ""));
      key = reference.attributes.value("key", "");
    } else if (reference.type == "placement_group") {
      launch.parameters.emplace_back("Placement.GroupName", reference.id);
    }
  }
  for (const Json& address : order.spec.value("groups", Json::array())) {
    auto found = order.references.find(address.get<std::string>());
    if (found == order.references.end())
      return invalid(fmt::format("{}: {} does not exist", order.address, address.get<std::string>()));
    launch.groups.push_back(found->second.id);
  }
  return {};
}

std::vector<std::string> zones_of(const Json& spec) {
  if (spec.contains("zone")) return {spec["zone"].get<std::string>()};
  return spec.value("zones", std::vector<std::string>());
}

// In the order in which they are tried.
std::vector<Subnet> subnets_for(const Vpc& vpc, const Json& spec) {
  const std::string subnet = spec.value("subnet", "");
  std::vector<Subnet> there, fit;
  for (const Subnet& one : vpc.subnets)
    if (subnet.empty() || one.id == subnet) there.push_back(one);
  const std::vector<std::string> zones = zones_of(spec);
  if (zones.empty()) return there;
  for (const std::string& zone : zones) {
    for (const Subnet& one : there) {
      const bool known =
          std::any_of(fit.begin(), fit.end(), [&](const Subnet& other) { return other.id == one.id; });
      if (!known && (one.zone == zone || region_of_zone(one.zone) == zone)) fit.push_back(one);
    }
  }
  return fit;
}

}  // namespace

Result<Launch> launch_of(Call& call, const Order& order) {
  const Json& spec = order.spec;
  auto image = find_image(call, spec.value("image", ""));
  if (!image.ok()) return image.status();
  auto vpc = find_vpc(call, spec.value("vpc", ""));
  if (!vpc.ok()) return vpc.status();
  Launch launch;
  launch.subnets = subnets_for(*vpc, spec);
  if (launch.subnets.empty())
    return not_found(fmt::format("{}: {} has no subnet {}", order.address, vpc->id,
                                 spec.contains("subnet") ? spec["subnet"].get<std::string>()
                                                         : "in zone " + join(zones_of(spec), ", ")));
  launch.is_public = spec.value("public", true);
  const std::string type = spec.value("type", "");
  launch.parameters = {{"ImageId", image->id},
                       {"InstanceType", type},
                       {"MinCount", "1"},
                       {"MaxCount", "1"},
                       {"MetadataOptions.HttpTokens", "required"}};
  std::string key;
  if (Status added = add_references(launch, order, key); !added.ok()) return added;
  if (Status added = add_disks(launch.parameters, order, *image); !added.ok()) return added;
  add_spot(launch.parameters, spec);
  if (spec.contains("profile")) {
    const std::string profile = spec["profile"].get<std::string>();
    launch.parameters.emplace_back(
        profile.starts_with("arn:") ? "IamInstanceProfile.Arn" : "IamInstanceProfile.Name", profile);
  }
  if (spec.contains("stop"))
    launch.parameters.emplace_back("InstanceInitiatedShutdownBehavior",
                                   auto_stop_from_json(spec["stop"]).terminate ? "terminate" : "stop");
  launch.parameters.emplace_back("UserData", base64_encode(user_data_of(spec)));
  // radlc's own are written last: by them the machine is found again.
  std::map<std::string, std::string> tags;
  const Json own = spec.value("tags", Json::object());
  for (const auto& [name, value] : own.items()) tags[name] = value.get<std::string>();
  const bool named = tags.count("Name") != 0;
  for (const auto& [name, value] : own_tags(call.context, order))
    if (name != "Name" || !named) tags[name] = value;
  std::string user = spec.value("user", "");
  if (user.empty()) user = user_of_image(image->name);
  tags[kUserTag] = user.empty() ? "ec2-user" : user;
  tags[kKeyTag] = key;
  add_tags(launch.parameters, "instance", tags);
  // Tags the disks, so that any disk left behind by a machine is found again.
  add_tags(launch.parameters, "volume", own_tags(call.context, order));
  return launch;
}

Parameters launched_in(const Launch& launch, const Subnet& subnet, const std::string& token) {
  Parameters parameters = launch.parameters;
  parameters.emplace_back("ClientToken", token);
  const std::string name = "NetworkInterface.1.";
  parameters.emplace_back(name + "DeviceIndex", "0");
  parameters.emplace_back(name + "SubnetId", subnet.id);
  parameters.emplace_back(name + "AssociatePublicIpAddress", launch.is_public ? "true" : "false");
  parameters.emplace_back(name + "DeleteOnTermination", "true");
  add_list(parameters, name + "SecurityGroupId", launch.groups);
  return parameters;
}

}  // namespace radl::ec2
