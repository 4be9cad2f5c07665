// Addresses and summaries that all clouds share: one way to name a key, a network, a machine.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl {

// "key.local", "key.ec2:1234/eu-west-1".
std::string key_address(const CloudId& cloud);
// "network.lan", or "network.lan@CLOUD" (DesignInput::plain_names).
std::string network_address(const CloudId& cloud, const DesignInput& input, const ir::Network& network);
// "group.lan", as network_address(): the port rules of a network, where a cloud keeps them apart.
std::string group_address(const CloudId& cloud, const DesignInput& input, const ir::Network& network);
// What is made for one node alone: "address.worker[0]", "volume.worker[0].1".
std::string part_address(const std::string& kind, const ir::Node& node, int index = -1);
// Of its first interface, with the domain: "vnode-3.localdomain" where none was written.
std::string node_host_name(const ir::Node& node);
// What is wrong with the login that the file names (disk.0.os.credentials.username), where no Linux makes one
// of that name; ok where it names none.
Status check_login_name(const ir::Node& node);
// Of its further interfaces that have names of their own: ["a.localdomain", ..].
Json further_host_names(const ir::Node& node);
// Of a device only the last letter counts, as for the Infrastructure Manager: "hdb" is the second. Without a
// device by the disk's number.
char device_letter(const ir::Disk& disk);
// What a reviewer should know of the disks of its system, where they are attached as volumes.
std::vector<std::string> disk_notes(const ir::Node& node);
// The networks that a node of the input is in and that the program declares and has made (no references), in
// the program's order.
std::vector<const ir::Network*> networks_to_make(const DesignInput& input);
// Those that this node is in, each once, in the order of its interfaces.
std::vector<const ir::Network*> networks_of(const DesignInput& input, const ir::Node& node);
// {"name","public","ports":[{protocol,cidr,remote,remote_end,local,local_end}],"features"}.
Json network_spec(const ir::Network& network);
// "public network, 2 port rules".
std::string network_summary(const ir::Network& network);
// "aws:/us-east-1 t3.medium, 2 cpu, 4 GiB, in lan": the instance type and what it has, or, where its facts
// are not known, the few requirements that everybody looks for.
std::string node_summary(const ir::Node& node, const std::string& cloud, const Offer& offer);

}  // namespace radl
