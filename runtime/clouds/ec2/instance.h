// Machines: builds RunInstances from a spec and parses DescribeInstances. Internal to this folder;
// instance.cc sends the requests.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/clouds/ec2/kind.h"

namespace radl::ec2 {

// The parameters of RunInstances, without the subnet.
struct Launch {
  Parameters parameters;
  std::vector<Subnet> subnets;  // to be tried in order while one has no capacity
  bool is_public = true;
  std::vector<std::string> groups;  // IDs
};
// Looks up image and VPC unless cached. Invalid and NotFound name what is unavailable.
Result<Launch> launch_of(Call& call, const Order& order);
// Adds the network interface in that subnet. `token`: the idempotency token for EC2.
Parameters launched_in(const Launch& launch, const Subnet& subnet, const std::string& token);

// An <item> of instancesSet.
struct InstanceNow {
  std::string id, state, type, zone, vpc, subnet, lifecycle, reason, reason_code;
  std::string public_ip, private_ip, association;  // of an elastic address
  std::vector<std::string> groups;                 // IDs, sorted
  std::map<std::string, std::string> tags;
  std::map<char, std::string> volumes;  // by the last letter of the device; includes the root
  std::vector<std::string> further;     // "eni-2 with sg-3": interfaces attached later by others
  std::set<std::string> disks;          // volumes that are deleted with the machine, as launched
};
InstanceNow instance_in(pugi::xml_node item);
// nullopt: terminated. `by_token`: a machine that ended by itself is Broken, with the reason.
std::optional<Seen> seen_instance(Call& call, const InstanceNow& now, bool by_token);
Json attributes_of(const InstanceNow& now);
// `eviction_notice` of a spot machine: how it detects its own interruption (docs/job.md).
Json spot_notice();
// The user's own tags, and the name.
Json user_tags(const std::map<std::string, std::string>& tags);

}  // namespace radl::ec2
