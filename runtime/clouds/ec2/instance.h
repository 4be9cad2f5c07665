// Machines: what RunInstances is given for a spec, and what DescribeInstances tells of one. Internal to this
// folder; instance.cc asks.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/clouds/ec2/kind.h"

namespace radl::ec2 {

// The parameters of RunInstances, but for the subnet's.
struct Launch {
  Parameters parameters;
  std::vector<Subnet> subnets;  // to be tried one after the other while one has no capacity
  bool is_public = true;
  std::vector<std::string> groups;  // ids
};
// Asks for the image and the VPC where they are not known. Invalid and NotFound name what cannot be had.
Result<Launch> launch_of(Call& call, const Order& order);
// With the network interface in that subnet. `token`: by which EC2 knows the request again.
Parameters launched_in(const Launch& launch, const Subnet& subnet, const std::string& token);

// An <item> of instancesSet.
struct InstanceNow {
  std::string id, state, type, zone, vpc, subnet, lifecycle, reason, reason_code;
  std::string public_ip, private_ip, association;  // of an elastic address
  std::vector<std::string> groups;                 // ids, sorted
  std::map<std::string, std::string> tags;
  std::map<char, std::string> volumes;  // by the last letter of the device, the root's among them
  std::vector<std::string> further;     // "eni-2 with sg-3": interfaces that somebody attached later
  std::set<std::string> disks;          // of volumes: those that end with the machine, as launched
};
InstanceNow instance_in(pugi::xml_node item);
// nullopt: it is gone (terminated). `by_token`: one that nobody ended is Broken, and says why.
std::optional<Seen> seen_instance(Call& call, const InstanceNow& now, bool by_token);
Json attributes_of(const InstanceNow& now);
// `eviction_notice` of a spot machine: how it asks itself whether it is taken back (docs/job.md).
Json spot_notice();
// The user's own tags, and what it is called.
Json user_tags(const std::map<std::string, std::string>& tags);

}  // namespace radl::ec2
