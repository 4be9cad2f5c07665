// Accessors for the features of a node or network, used by the clouds. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"

namespace radl {

using Json = nlohmann::json;

// The text that a feature must equal, or the first of a list; "" if none.
std::string text_wanted(const ir::Node& node, const std::string& feature);
std::string text_wanted(const ir::Network& network, const std::string& feature);
// True if the feature is 'yes' in any case. The compiler rejects values other than yes and no.
bool says_yes(const ir::Node& node, const std::string& feature);
bool says_yes(const ir::Network& network, const std::string& feature);
bool says_no(const ir::Node& node, const std::string& feature);
// All texts of a feature, in order: 'a, b' or ['a', 'b'].
std::vector<std::string> texts_wanted(const ir::Node& node, const std::string& feature);
// Parses instance_tags = 'name=value,other=value' to {"name": value}. Invalid: malformed, or a name is
// repeated or reserved by radlc (tag_rules.h).
Result<Json> tags_wanted(const ir::Node& node);
// disk.0.os.version: its text with or without '='; "" if none.
std::string os_version_wanted(const ir::Node& node);
// URLs of disk 0.
std::vector<std::string> image_urls(const ir::Node& node);
// A disk's encryption: disk.N.encrypted and disk.N.encryption_key, which implies it.
struct Encryption {
  bool wanted = false;
  std::string key;  // "": the provider's key
};
Encryption encryption_wanted(const ir::Node& node, int disk);
// Invalid: disk.N.encrypted is 'no' but a key is given.
Status check_encryption(const ir::Node& node);
// Requested free GiB of disk 0 beyond its image (disk.0.free_size), rounded up; 0 if not set.
long long free_disk_wanted(const ir::Node& node);
// Size in GiB of a root disk whose spec has "size_gib" or "free_gib", for an image of `image_gib`; 0: the
// image's size.
double root_disk_gib(const Json& root, double image_gib);
// True for a new or existing disk that a machine gets in addition to its root disk.
bool is_further_disk(const ir::Disk& disk);
// Features of the node that no cloud uses, plus those in `unused`, which its cloud does not use; sorted.
// Ignores features that are 'no'.
std::vector<std::string> features_without_effect(const ir::Node& node,
                                                 const std::vector<std::string>& unused = {});
// Same for a network: its features in `unused`.
std::vector<std::string> features_without_effect(const ir::Network& network,
                                                 const std::vector<std::string>& unused);
// Invalid: the `cidr` of a network to be created is not an IPv4 range. '*' stands for an octet.
Status check_range(const ir::Network& network);
// Number of addresses at the ends of a subnet that a cloud reserves, including network and broadcast.
struct KeptAddresses {
  unsigned first = 1, last = 1;
};
// Invalid: an address requested in this network (net_interface.N.ip) is outside of `range` or reserved by the
// cloud. Accepts all if the range is not known yet ("", or with a '*').
Status check_fixed_ips(const ir::Node& node, const ir::Network& network, const std::string& range,
                       KeptAddresses kept);
// True if a number is within the requirement's bounds; ignores its other parts.
bool within(const ir::Requirement& wanted, double value);

}  // namespace radl
