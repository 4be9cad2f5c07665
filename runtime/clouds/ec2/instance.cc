// Machines: creates, changes and deletes them.
#include "runtime/clouds/ec2/instance.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/clouds/ec2/disk_tags.h"
#include "runtime/clouds/ec2/together.h"
#include "runtime/clouds/user_data.h"

namespace radl::ec2 {
namespace {

// What a machine refers to was seen before it is asked for; another part of EC2 may learn of it a little
// later. Source: Amazon EC2 API Reference, "Eventual consistency".
bool does_not_show_yet(const std::string& code) {
  return code == "InvalidGroup.NotFound" || code == "InvalidSecurityGroupID.NotFound" ||
         code == "InvalidKeyPair.NotFound" || code == "InvalidPlacementGroup.Unknown";
}

class Instance : public Kind {
 public:
  const char* type() const override { return "instance"; }
  const char* id_prefix() const override { return "i-"; }

  // Zone by zone: a refusal for want of capacity has made nothing, so the next may be asked at once.
  Asked create(Call& call, const Order& order) const override {
    auto launch = launch_of(call, order);
    if (!launch.ok()) return Asked::refused(launch.status());
    std::string reasons;
    for (size_t i = 0; i < launch->subnets.size(); ++i) {
      const Subnet& subnet = launch->subnets[i];
      const std::string token = i == 0 ? order.token : fmt::format("{}-{}", order.token, i + 1);
      Posted posted = call.api.post(call.context, "RunInstances", launched_in(*launch, subnet, token), false);
      if (posted.accepted()) {
        const std::string id = text_of(posted.root().child("instancesSet").child("item"), "instanceId");
        call.memory.note_made(order.token, id);
        if (i > 0) call.context.log(fmt::format("made in {}: {}", subnet.zone, reasons));
        return order.spec.contains("address") ? Asked::accepted_so_far(id) : Asked::accepted(id);
      }
      if (does_not_show_yet(posted.code)) posted.asked.status = {Code::Retry, posted.asked.status.message()};
      if (posted.asked.answer == Asked::Answer::Unknown || !is_capacity(posted.code)) return posted.asked;
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", subnet.zone, posted.code);
    }
    return Asked::refused(
        Status(Code::Quota, fmt::format("no capacity for {}{}: {}",
                                        order.spec.value("market", "") == "spot" ? "spot " : "",
                                        order.spec.value("type", ""), reasons))
            .with_hint("name more types in instance_type, or more zones and regions in "
                       "availability_zone"));
  }

  Asked update(Call& call, const Order& order) const override {
    auto now = instance(call, order.id);
    if (!now.ok()) return Asked::refused(now.status());
    if (now->state == "pending" || now->state == "stopping") return Asked::accepted_so_far(order.id);
    const std::string type = order.spec.value("type", now->type);
    if (type != now->type) {
      if (now->state != "stopped")
        return so_far(call, "StopInstances", {{"InstanceId.1", order.id}}, order.id);
      Asked typed = plain(call, "ModifyInstanceAttribute",
                          {{"InstanceId", order.id}, {"InstanceType.Value", type}}, order.id);
      if (typed.answer != Asked::Answer::Accepted) return typed;
    }
    Asked asked = update_groups(call, order, *now);
    if (asked.answer == Asked::Answer::Accepted) asked = update_tags(call, order, *now);
    if (asked.answer == Asked::Answer::Accepted) asked = write_disk_tags(call, order, now->disks);
    if (asked.answer == Asked::Answer::Accepted) asked = update_address(call, order, *now);
    if (asked.answer != Asked::Answer::Accepted || now->state == "running") return asked;
    return plain(call, "StartInstances", {{"InstanceId.1", order.id}}, order.id);
  }

  Asked destroy(Call& call, const Order& order) const override {
    call.memory.note_leaving(order.id);
    return ending_.ask(order.id, kEndedTogether, [&](const std::vector<std::string>& ids) {
      Parameters parameters;
      add_list(parameters, "InstanceId", ids);
      return call.api.post(call.context, "TerminateInstances", parameters, true).asked;
    });
  }

  Asked power(Call& call, const Order& order, Power power) const override {
    return plain(call, power == Power::Stop ? "StopInstances" : "RebootInstances",
                 {{"InstanceId.1", order.id}}, order.id);
  }

  // NoReboot: for a consistent file system, the user stops the machine first.
  Asked image(Call& call, const Order& order, const std::string& name) const override {
    Posted posted = call.api.post(call.context, "CreateImage",
                                  {{"InstanceId", order.id}, {"Name", name}, {"NoReboot", "true"}}, false);
    if (posted.accepted())
      posted.asked.id = fmt::format("aws://{}/{}", call.cloud.region, text_of(posted.root(), "imageId"));
    return std::move(posted.asked);
  }

  Status look(Call& call, const Selection& selection, std::vector<Seen>& seen) const override {
    if (selection.by == Selection::By::Tokens) return look_by_tokens(call, selection.values, seen);
    Parameters parameters;
    // EC2 shows terminated machines for an hour. Of those that were asked to go nobody wants to know why.
    const bool all_leave = selection.by == Selection::By::Ids &&
                           std::all_of(selection.values.begin(), selection.values.end(),
                                       [&](const std::string& id) { return call.memory.is_leaving(id); });
    // It stands in front: servers that compare in this order do not look for the tags of what is gone.
    if (all_leave || selection.by == Selection::By::Infrastructure)
      add_filter(parameters, "instance-state-name",
                 {"pending", "running", "shutting-down", "stopping", "stopped"});
    parameters = selected(selection, "instance-id", std::move(parameters));
    return each_instance(call, parameters, [&](const InstanceNow& now) {
      if (auto one = seen_instance(call, now, false)) seen.push_back(std::move(*one));
    });
  }

  Impact impact(const Json& before, const Json& after) const override {
    constexpr FixedField kFixed[] = {
        {"image", "a machine keeps its image"},
        {"user", "the login is fixed when the machine is created"},
        {"hostname", "the host name is fixed when the machine is created"},
        {"cloud_init", kUserDataIsFixed},
        {"zone", "a machine stays in its zone"},
        {"vpc", "a machine stays in its VPC"},
        {"subnet", "a machine stays in its subnet"},
        {"public", "whether a machine has a public address is fixed when it is made"},
        {"market", "a machine is bought on demand or as spot"},
        {"max_price", "the highest price is fixed when the machine is requested"},
        {"root", "disks are made with the machine"},
        {"disks", "disks are made with the machine"},
        {"profile", "the instance profile is given when the machine is made"},
        {"placement_group", "a machine stays in its placement group"},
        {"stop", "auto-stop is fixed when the machine is created"}};
    if (auto fixed = replaced_for(kFixed, before, after)) return *fixed;
    if (differs(before, after, "type"))
      return {Impact::Kind::Restart, "the machine is stopped to change its type"};
    return {Impact::Kind::InPlace, ""};
  }

 private:
  // Without a size EC2 answers in pages of its own liking.
  static constexpr const char* kPage = "1000";
  static constexpr size_t kEndedTogether = 200;

  static Status each_instance(Call& call, Parameters parameters,
                              const std::function<void(const InstanceNow&)>& take) {
    parameters.emplace_back("MaxResults", kPage);
    return call.api.each(call.context, "DescribeInstances", parameters, "reservationSet",
                         [&](pugi::xml_node reservation) {
                           for (pugi::xml_node item : reservation.child("instancesSet").children("item"))
                             take(instance_in(item));
                         });
  }

  // Those whose ids EC2 has said already by these.
  static Status look_by_tokens(Call& call, const std::vector<std::string>& tokens, std::vector<Seen>& seen) {
    Selection known{Selection::By::Ids, {}}, unknown{Selection::By::Tokens, {}};
    for (const std::string& token : tokens) {
      auto id = call.memory.made_for(token);
      (id ? known : unknown).values.push_back(id.value_or(token));
    }
    for (const Selection& selection : {known, unknown}) {
      if (selection.values.empty()) continue;
      Status asked = each_instance(call, selected(selection, "instance-id"), [&](const InstanceNow& now) {
        if (auto one = seen_instance(call, now, true)) seen.push_back(std::move(*one));
      });
      if (!asked.ok()) return asked;
    }
    return {};
  }

  static Result<InstanceNow> instance(Call& call, const std::string& id) {
    InstanceNow found;
    Status asked = each_instance(call, selected({Selection::By::Ids, {id}}, "instance-id"),
                                 [&](const InstanceNow& now) { found = now; });
    if (!asked.ok()) return asked;
    if (found.id.empty()) return Status(Code::Retry, "instance " + id + " does not show");
    if (found.state == "terminated" || found.state == "shutting-down")
      return Status(Code::Conflict, fmt::format("instance {} is gone: {}", id, found.reason));
    return found;
  }

  static Asked plain(Call& call, const char* action, const Parameters& parameters, const std::string& id) {
    Posted posted = call.api.post(call.context, action, parameters, true);
    if (posted.accepted()) posted.asked.id = id;
    return std::move(posted.asked);
  }

  static Asked so_far(Call& call, const char* action, const Parameters& parameters, const std::string& id) {
    Asked asked = plain(call, action, parameters, id);
    asked.again = asked.answer == Asked::Answer::Accepted;
    return asked;
  }

  static Asked update_groups(Call& call, const Order& order, const InstanceNow& now) {
    std::vector<std::string> wanted;
    for (const Json& address : order.spec.value("groups", Json::array())) {
      auto found = order.references.find(address.get<std::string>());
      if (found == order.references.end())
        return Asked::refused(
            invalid(fmt::format("{}: {} does not exist", order.address, address.get<std::string>())));
      wanted.push_back(found->second.id);
    }
    std::sort(wanted.begin(), wanted.end());
    if (wanted.empty() || wanted == now.groups) return Asked::accepted(order.id);
    Parameters parameters = {{"InstanceId", order.id}};
    add_list(parameters, "GroupId", wanted);
    return plain(call, "ModifyInstanceAttribute", parameters, order.id);
  }

  static Asked update_tags(Call& call, const Order& order, const InstanceNow& now) {
    Json wanted = order.spec.value("tags", Json::object());
    const Json there = user_tags(now.tags);
    // Without a name of the file's own it gets radlc's back.
    if (wanted.contains("Name") && wanted["Name"].is_null())
      wanted["Name"] = name_in_console(call.context, order);
    Parameters added = {{"ResourceId.1", order.id}}, removed = added;
    size_t number = 0;
    for (const auto& [name, value] : wanted.items()) {
      if (value.is_null() || there.value(name, Json()) == value) continue;
      added.emplace_back(fmt::format("Tag.{}.Key", ++number), name);
      added.emplace_back(fmt::format("Tag.{}.Value", number), value.get<std::string>());
    }
    number = 0;
    for (const auto& [name, value] : wanted.items())
      if (value.is_null() && there.contains(name))
        removed.emplace_back(fmt::format("Tag.{}.Key", ++number), name);
    Asked asked = Asked::accepted(order.id);
    if (added.size() > 1) asked = plain(call, "CreateTags", added, order.id);
    if (removed.size() > 1 && asked.answer == Asked::Answer::Accepted)
      asked = plain(call, "DeleteTags", removed, order.id);
    return asked;
  }

  static Asked update_address(Call& call, const Order& order, const InstanceNow& now) {
    const std::string wanted = order.spec.value("address", "");
    auto found = order.references.find(wanted);
    if (wanted.empty()) {
      auto known = call.memory.name_of(now.public_ip);
      if (!known) return Asked::accepted(order.id);
      return plain(call, "DisassociateAddress", {{"PublicIp", now.public_ip}}, order.id);
    }
    if (found == order.references.end())
      return Asked::refused(invalid(fmt::format("{}: {} does not exist", order.address, wanted)));
    const std::string address = found->second.attributes.value("public_ip", "");
    call.memory.note_name(address, wanted);
    if (now.public_ip == address) return Asked::accepted(order.id);
    return plain(
        call, "AssociateAddress",
        {{"AllocationId", found->second.id}, {"InstanceId", order.id}, {"AllowReassociation", "true"}},
        order.id);
  }

  mutable Together ending_;
};

}  // namespace

std::unique_ptr<Kind> make_instance() { return std::make_unique<Instance>(); }

}  // namespace radl::ec2
