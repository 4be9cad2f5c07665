// What the features of a node or a network say, as the clouds read them. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"

namespace radl {

using Json = nlohmann::json;

// The text that a feature must be equal to, or the first of a list; "" where there is none.
std::string text_wanted(const ir::Node& node, const std::string& feature);
std::string text_wanted(const ir::Network& network, const std::string& feature);
// Of a feature that is 'yes' or 'no', in whatever case; the compiler refuses any other word.
bool says_yes(const ir::Node& node, const std::string& feature);
bool says_yes(const ir::Network& network, const std::string& feature);
bool says_no(const ir::Node& node, const std::string& feature);
// All that a feature names, in its order: 'a, b' or ['a', 'b'].
std::vector<std::string> texts_wanted(const ir::Node& node, const std::string& feature);
// {"name": value} of instance_tags = 'name=value,other=value'. Invalid: it is not of that form, or a name is
// there twice or is radlc's own (tag_rules.h).
Result<Json> tags_wanted(const ir::Node& node);
// disk.0.os.version: an equal value of it, or the text behind '='; "" where there is none.
std::string os_version_wanted(const ir::Node& node);
// Of disk 0.
std::vector<std::string> image_urls(const ir::Node& node);
// How a disk is to be encrypted: disk.N.encrypted and disk.N.encryption_key, which asks for it as well.
struct Encryption {
  bool wanted = false;
  std::string key;  // "": the provider's own
};
Encryption encryption_wanted(const ir::Node& node, int disk);
// Invalid: disk.N.encrypted is 'no' beside a key.
Status check_encryption(const ir::Node& node);
// GiB that disk 0 is to have beside what its image takes (disk.0.free_size), rounded up; 0: nothing is said.
long long free_disk_wanted(const ir::Node& node);
// GiB of a root disk whose spec says "size_gib" or "free_gib", for an image that takes so many; 0: as many as
// the image has.
double root_disk_gib(const Json& root, double image_gib);
// Whether it is one beside the root disk that a machine gets: a new one, or one that is there already.
bool is_further_disk(const ir::Disk& disk);
// Features of the node that no cloud uses, and those of `unused`, which its cloud does not use; sorted. A
// feature that is 'no' asks for nothing.
std::vector<std::string> features_without_effect(const ir::Node& node,
                                                 const std::vector<std::string>& unused = {});
// The same of a network: those of `unused` that it has.
std::vector<std::string> features_without_effect(const ir::Network& network,
                                                 const std::vector<std::string>& unused);
// Invalid: the `cidr` of a network that is made is no range of IPv4 addresses. '*' stands for an octet.
Status check_range(const ir::Network& network);
// Addresses at the ends of a subnet that a cloud keeps for itself, network and broadcast included.
struct KeptAddresses {
  unsigned first = 1, last = 1;
};
// Invalid: an address that the node asks for in this network (net_interface.N.ip) is not one of `range`, or
// one that the cloud keeps. A range that is not known yet ("", or with a '*') refuses nothing.
Status check_fixed_ips(const ir::Node& node, const ir::Network& network, const std::string& range,
                       KeptAddresses kept);
// Whether a number is within the bounds; nothing else of the requirement is looked at.
bool within(const ir::Requirement& wanted, double value);

}  // namespace radl
