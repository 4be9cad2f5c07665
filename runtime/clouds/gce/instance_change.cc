#include "runtime/clouds/gce/instance_change.h"

#include <fmt/format.h>

#include <algorithm>

namespace radl::gce {
namespace {

// Nothing to do for a part of the spec.
std::optional<Asked> change_tags(Asking& call, const Order& order, const InstanceNow& now, const Send& send) {
  if (!order.spec.contains("groups")) return std::nullopt;
  std::vector<std::string> wanted;
  for (const Json& group : order.spec["groups"]) {
    wanted.push_back(tag_of(call.context, call.cloud, group.get<std::string>()));
    call.memory.note_name(wanted.back(), group.get<std::string>());
  }
  std::vector<std::string> there = now.tags;
  std::sort(wanted.begin(), wanted.end());
  std::sort(there.begin(), there.end());
  if (wanted == there) return std::nullopt;
  return send("/setTags", {{"items", wanted}, {"fingerprint", now.tags_print}}, {});
}

std::optional<Asked> change_labels(Asking& call, const Order& order, const InstanceNow& now,
                                   const Send& send) {
  Json wanted = now.labels;
  // An imported machine has none of radlc's.
  if (!order.token.empty()) wanted.update(labels_for(call.context, order));
  const Json tags = order.spec.value("tags", Json::object());
  for (const auto& [name, value] : tags.items()) {
    if (value.is_null()) {
      wanted.erase(name);
    } else {
      wanted[name] = value;
    }
  }
  if (wanted == now.labels) return std::nullopt;
  return send("/setLabels", {{"labels", wanted}, {"labelFingerprint", now.labels_print}}, {});
}

// What of the metadata a login needs. The keys in it are never changed.
std::optional<Asked> change_metadata(Asking& call, const Order& order, const InstanceNow& now,
                                     const Send& send) {
  Json items = now.metadata;
  const Json marks = instance_marks(call.context, order);
  for (const char* name : {kKeyItem, kUserItem})
    if (marks.contains(name)) items[name] = marks[name];
  if (order.token.empty() || items == now.metadata) return std::nullopt;
  Json list = Json::array();
  for (const auto& [name, value] : items.items()) list.push_back({{"key", name}, {"value", value}});
  return send("/setMetadata", {{"items", std::move(list)}, {"fingerprint", now.metadata_print}}, {});
}

std::optional<Asked> change_address(Asking& call, const Order& order, const InstanceNow& now,
                                    const Send& send) {
  const std::string wanted = order.spec.value("address", "");
  const bool has_own = call.memory.name_of(now.public_ip).has_value();
  std::string address;
  if (!wanted.empty()) {
    auto found = order.references.find(wanted);
    if (found == order.references.end())
      return Asked::refused(invalid(fmt::format("{}: {} does not exist", order.address, wanted)));
    address = found->second.attributes.value("public_ip", "");
  }
  const bool right = wanted.empty() ? !has_own : now.public_ip == address;
  if (right || !order.spec.value("public", false)) return std::nullopt;
  // It has one at a time: the existing one is removed first.
  if (!now.access.empty())
    return send("/deleteAccessConfig", nullptr,
                {{"accessConfig", now.access}, {"networkInterface", now.nic}});
  Json access = {{"name", "External NAT"}, {"type", "ONE_TO_ONE_NAT"}};
  if (!address.empty()) access["natIP"] = address;
  return send("/addAccessConfig", std::move(access), {{"networkInterface", now.nic}});
}

std::optional<Asked> change_type(Asking& call, const Order& order, const InstanceNow& now, const Send& send) {
  const MachineType wanted = parse_type(order.spec.value("type", now.type.text()));
  if (wanted.name == now.type.name) return std::nullopt;
  if (phase_of_instance(now) != ResourcePhase::Stopped) return send("/stop", nullptr, {});
  return send(
      "/setMachineType",
      {{"machineType", fmt::format("{}zones/{}/machineTypes/{}", call.root(), now.zone, wanted.name)}}, {});
}

// Restores the public address that someone removed from a machine.
std::optional<Asked> give_address(Asking&, const Order& order, const InstanceNow& now, const Send& send) {
  if (!order.spec.value("public", false) || !now.access.empty()) return std::nullopt;
  return send("/addAccessConfig", {{"name", "External NAT"}, {"type", "ONE_TO_ONE_NAT"}},
              {{"networkInterface", now.nic}});
}

std::optional<Asked> start(Asking&, const Order&, const InstanceNow& now, const Send& send) {
  if (phase_of_instance(now) != ResourcePhase::Stopped) return std::nullopt;
  return send(now.status == "SUSPENDED" ? "/resume" : "/start", nullptr, {});
}

}  // namespace

Json instance_marks(const Context& context, const Order& order) {
  Json marks = labels_for(context, order);
  const std::string user = text_of(order.attributes, "user"), key = text_of(order.attributes, "key");
  if (!user.empty()) marks[kUserItem] = user;
  if (!key.empty()) marks[kKeyItem] = key;
  return marks;
}

Asked change_instance(Asking& call, const Order& order, const InstanceNow& now, const Send& send) {
  const ResourcePhase phase = phase_of_instance(now);
  if (phase == ResourcePhase::Pending) return Asked::accepted_so_far(order.id);
  if (phase == ResourcePhase::Leaving) return Asked::refused(not_found("machine " + now.name + " is going"));
  for (auto part :
       {change_tags, change_labels, change_metadata, change_type, change_address, give_address, start})
    if (auto asked = part(call, order, now, send)) return std::move(*asked);
  return Asked::accepted(order.id);
}

}  // namespace radl::gce
