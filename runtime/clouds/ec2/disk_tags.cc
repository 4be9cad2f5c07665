#include "runtime/clouds/ec2/disk_tags.h"

#include <algorithm>

namespace radl::ec2 {
namespace {

using Tags = std::map<std::string, std::string>;

// By disk.
Result<std::map<std::string, Tags>> tags_of_disks(Call& call, const std::vector<std::string>& disks) {
  std::map<std::string, Tags> found;
  for (const Selection& portion : in_portions(Selection::By::Ids, disks)) {
    Status asked =
        call.api.each(call.context, "DescribeVolumes", selected(portion, "volume-id"), "volumeSet",
                      [&](pugi::xml_node item) { found[text_of(item, "volumeId")] = tags_of(item); });
    if (!asked.ok()) return asked;
  }
  return found;
}

Json lacking(const Tags& wanted, const Tags& now) {
  Json names = Json::array();
  for (const auto& [name, value] : wanted)
    if (tag_of(now, name.c_str()) != value) names.push_back(name);
  return names;
}

Tags wanted_tags(Call& call, const std::string& address, const std::string& token) {
  return {{kInfrastructureTag, call.context.infrastructure}, {kAddressTag, address}, {kTokenTag, token}};
}

}  // namespace

Status add_disk_tags(Call& call, const std::map<std::string, std::string>& names,
                     std::map<std::string, Seen>& found) {
  std::map<std::string, std::string> machines;  // by disk
  std::vector<std::string> disks;
  for (const auto& [id, seen] : found) {
    const bool tagged = seen.type == "instance" && !seen.marks.value(kTokenTag, "").empty();
    if (!tagged || !names.count(id)) continue;
    for (const std::string& disk : call.memory.disks_of(id)) {
      machines[disk] = id;
      disks.push_back(disk);
    }
  }
  if (disks.empty()) return {};
  auto tags = tags_of_disks(call, disks);
  if (tags.status().code() == Code::Auth) {
    call.context.log("tags of disks are not compared: " + tags.status().message());
    return {};
  }
  if (!tags.ok()) return tags.status();
  for (const auto& [disk, now] : *tags) {
    const auto machine = machines.find(disk);
    if (machine == machines.end()) continue;
    Seen& seen = found.at(machine->second);
    Json names_of_tags =
        lacking(wanted_tags(call, names.at(machine->second), seen.marks.value(kTokenTag, "")), now);
    if (!names_of_tags.empty()) seen.spec[kDiskTags][disk] = std::move(names_of_tags);
  }
  return {};
}

Asked write_disk_tags(Call& call, const Order& order, const std::set<std::string>& disks) {
  if (order.token.empty() || disks.empty()) return Asked::accepted(order.id);
  auto tags = tags_of_disks(call, {disks.begin(), disks.end()});
  if (tags.status().code() == Code::Auth) return Asked::accepted(order.id);  // the plan showed no drift
  if (!tags.ok()) return Asked::refused(tags.status());
  const Tags wanted = wanted_tags(call, order.address, order.token);
  std::vector<std::string> ids;
  for (const auto& [disk, now] : *tags)
    if (!lacking(wanted, now).empty()) ids.push_back(disk);
  if (ids.empty()) return Asked::accepted(order.id);
  Parameters parameters;
  add_list(parameters, "ResourceId", ids);
  size_t number = 0;
  for (const auto& [name, value] : wanted) {
    ++number;
    parameters.emplace_back("Tag." + std::to_string(number) + ".Key", name);
    parameters.emplace_back("Tag." + std::to_string(number) + ".Value", value);
  }
  Posted posted = call.api.post(call.context, "CreateTags", parameters, true);
  if (posted.accepted()) posted.asked.id = order.id;
  return std::move(posted.asked);
}

}  // namespace radl::ec2
