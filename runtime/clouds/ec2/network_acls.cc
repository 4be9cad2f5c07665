#include "runtime/clouds/ec2/network_acls.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/clouds/rules_of_others.h"

namespace radl::ec2 {
namespace {

// The last entry of each list, which every ACL has: it denies the rest. Source: Amazon VPC User Guide,
// "Custom network ACLs".
constexpr int kFirstOfDefaults = 32767;

struct Entry {
  int number = 0;
  bool out = false, six = false, denies = false;
  std::string traffic, range;
  bool is_all() const { return traffic == "all" && (range == "0.0.0.0/0" || range == "::/0"); }
};

std::string protocol_name(const std::string& number) {
  static const std::map<std::string, std::string> kNames = {
      {"-1", "all"}, {"1", "icmp"}, {"6", "tcp"}, {"17", "udp"}, {"58", "icmpv6"}};
  const auto known = kNames.find(number);
  return known == kNames.end() ? "protocol " + number : known->second;
}

Entry entry_in(pugi::xml_node item) {
  Entry entry;
  entry.number = item.child("ruleNumber").text().as_int();
  entry.out = text_of(item, "egress") == "true";
  entry.denies = text_of(item, "ruleAction") == "deny";
  entry.range = text_of(item, "cidrBlock");
  if (entry.range.empty()) {
    entry.range = text_of(item, "ipv6CidrBlock");
    entry.six = true;
  }
  entry.traffic = protocol_name(text_of(item, "protocol"));
  const std::string from = text_of(item.child("portRange"), "from"),
                    to = text_of(item.child("portRange"), "to");
  if (!from.empty() && entry.traffic != "all") entry.traffic += " " + (from == to ? from : from + "-" + to);
  return entry;
}

// In the order in which EC2 reads them, up to the one after which no other counts. None where that is the
// first one and allows.
std::vector<Entry> deciding(std::vector<Entry> entries, bool out, bool six) {
  std::erase_if(entries, [&](const Entry& one) { return one.out != out || one.six != six; });
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.number < b.number; });
  const auto last =
      std::find_if(entries.begin(), entries.end(), [](const Entry& one) { return one.is_all(); });
  if (last != entries.end()) entries.erase(last + 1, entries.end());
  if (entries.size() == 1 && entries.front().is_all() && !entries.front().denies) entries.clear();
  return entries;
}

std::vector<std::string> texts_of(pugi::xml_node acl) {
  std::vector<Entry> entries;
  for (pugi::xml_node item : acl.child("entrySet").children("item")) entries.push_back(entry_in(item));
  std::vector<std::string> texts;
  for (const bool six : {false, true})
    for (const bool out : {false, true})
      for (const Entry& one : deciding(entries, out, six))
        texts.push_back(fmt::format("network ACL {} rule {} {} {} {} {}", text_of(acl, "networkAclId"),
                                    one.number >= kFirstOfDefaults ? "*" : std::to_string(one.number),
                                    one.denies ? "denies" : "allows", one.traffic, one.out ? "to" : "from",
                                    one.range));
  return texts;
}

}  // namespace

Status add_network_acls(Call& call, const std::map<std::string, std::string>& names,
                        std::map<std::string, Seen>& found) {
  std::map<std::string, std::vector<Seen*>> machines;  // by subnet
  for (auto& [id, seen] : found) {
    const std::string subnet = seen.type == "instance" && names.count(id) ? call.memory.subnet_of(id) : "";
    if (!subnet.empty()) machines[subnet].push_back(&seen);
  }
  std::vector<std::string> subnets;
  for (const auto& [subnet, inside] : machines) subnets.push_back(subnet);
  const auto note = [&](const std::string& subnet, const std::string& text) {
    const auto inside = machines.find(subnet);
    if (inside == machines.end()) return;
    for (Seen* machine : inside->second)
      add_rule_of_others(*machine, fmt::format("{} (subnet {})", text, subnet));
  };
  for (const Selection& portion : in_portions(Selection::By::Ids, subnets)) {
    Status asked = call.api.each(
        call.context, "DescribeNetworkAcls", selected(portion, "association.subnet-id"), "networkAclSet",
        [&](pugi::xml_node acl) {
          for (const std::string& text : texts_of(acl))
            for (pugi::xml_node one : acl.child("associationSet").children("item"))
              note(text_of(one, "subnetId"), text);
        },
        true);
    if (asked.ok() || asked.code() == Code::Unsupported) continue;  // a server of one's own may have none
    if (!may_stay_unknown(asked)) return asked;
    for (const std::string& subnet : portion.values)
      note(subnet, "the network ACL is unknown: " + asked.message() + " (ec2:DescribeNetworkAcls)");
  }
  return {};
}

}  // namespace radl::ec2
