#include <fmt/format.h>

#include <algorithm>

#include "runtime/clouds/ec2/kind.h"

namespace radl::ec2 {
namespace {

Result<std::string> default_vpc(Call& call) {
  std::string id;
  Parameters parameters;
  add_filter(parameters, "is-default", {"true"});
  Status asked = call.api.each(call.context, "DescribeVpcs", parameters, "vpcSet",
                               [&](pugi::xml_node item) { id = text_of(item, "vpcId"); });
  if (!asked.ok()) return asked;
  if (!id.empty()) return id;
  return invalid(fmt::format("region {} has no default VPC", call.cloud.region))
      .with_hint(
          "Set provider_id = 'vpc-ID' or 'vpc-ID.subnet-ID' in the network, or run "
          "`aws ec2 create-default-vpc`.");
}

Result<std::string> vpc_of_subnet(Call& call, const std::string& subnet) {
  std::string id;
  Parameters parameters;
  add_filter(parameters, "subnet-id", {subnet});
  Status asked = call.api.each(call.context, "DescribeSubnets", parameters, "subnetSet",
                               [&](pugi::xml_node item) { id = text_of(item, "vpcId"); });
  if (!asked.ok()) return asked;
  if (!id.empty()) return id;
  return not_found(fmt::format("{} not found in region {}", subnet, call.cloud.region))
      .with_hint("Set the network's provider_id to a VPC or subnet of this region and account.");
}

Result<Vpc> ask_vpc(Call& call, const std::string& given) {
  Vpc vpc;
  vpc.id = given;
  if (given.empty()) {
    auto found = default_vpc(call);
    if (!found.ok()) return found.status();
    vpc.id = *found;
  } else if (given.starts_with("subnet-")) {
    auto found = vpc_of_subnet(call, given);
    if (!found.ok()) return found.status();
    vpc.id = *found;
  }
  Parameters parameters;
  add_filter(parameters, "vpc-id", {vpc.id});
  if (given.empty()) add_filter(parameters, "default-for-az", {"true"});
  Status asked =
      call.api.each(call.context, "DescribeSubnets", parameters, "subnetSet", [&](pugi::xml_node item) {
        if (text_of(item, "state") == "available")
          vpc.subnets.push_back({text_of(item, "subnetId"), text_of(item, "availabilityZone")});
      });
  if (!asked.ok()) return asked;
  if (vpc.subnets.empty())
    return invalid(fmt::format("{} in region {} does not exist or has no subnet", vpc.id, call.cloud.region));
  std::sort(vpc.subnets.begin(), vpc.subnets.end(),
            [](const Subnet& a, const Subnet& b) { return std::tie(a.zone, a.id) < std::tie(b.zone, b.id); });
  return vpc;
}

}  // namespace

Result<Vpc> find_vpc(Call& call, const std::string& id) {
  return call.memory.vpcs.get(id, [&] { return ask_vpc(call, id); });
}

std::string name_for(const Context& context, const Order& order) {
  return order.spec.value("name", context.infrastructure + "/" + order.address);
}

}  // namespace radl::ec2
