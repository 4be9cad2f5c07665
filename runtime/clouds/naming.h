// Resource addresses and summaries, common to all clouds: names of keys, networks and machines.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl {

// "key.local", "key.ec2:1234/eu-west-1".
std::string key_address(const CloudId& cloud);
// "network.lan", or "network.lan@CLOUD" (DesignInput::plain_names).
std::string network_address(const CloudId& cloud, const DesignInput& input, const ir::Network& network);
// "group.lan", like network_address(): the port rules of a network, for clouds that separate them.
std::string group_address(const CloudId& cloud, const DesignInput& input, const ir::Network& network);
// A resource that belongs to one node: "address.worker[0]", "volume.worker[0].1".
std::string part_address(const std::string& kind, const ir::Node& node, int index = -1);
// The host name of its first interface, with domain: "vnode-3.localdomain" if not written.
std::string node_host_name(const ir::Node& node);
// The error if the file names a login (disk.0.os.credentials.username) that Linux does not allow; Ok if it
// names none.
Status check_login_name(const ir::Node& node);
// Host names of its further named interfaces: ["a.localdomain", ..].
Json further_host_names(const ir::Node& node);
// Only the last letter of a device counts, as in the Infrastructure Manager: "hdb" is the second. Without a
// device, the disk's number.
char device_letter(const ir::Disk& disk);
// Notes about a system's disks that are attached as volumes.
std::vector<std::string> disk_notes(const ir::Node& node);
// The networks of the input's nodes that the program declares and creates (no references), in program
// order.
std::vector<const ir::Network*> networks_to_make(const DesignInput& input);
// The networks of this node without duplicates, in interface order.
std::vector<const ir::Network*> networks_of(const DesignInput& input, const ir::Node& node);
// {"name","public","ports":[{protocol,cidr,remote,remote_end,local,local_end}],"features"}.
Json network_spec(const ir::Network& network);
// "public network, 2 port rules".
std::string network_summary(const ir::Network& network);
// "aws:/us-east-1 t3.medium, 2 cpu, 4 GiB, in lan": the instance type with its facts or, if these are
// unknown, the most important requirements.
std::string node_summary(const ir::Node& node, const std::string& cloud, const Offer& offer);

}  // namespace radl
