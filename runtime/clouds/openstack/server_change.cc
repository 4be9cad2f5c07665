// What it takes to make a machine as its spec says.
#include <fmt/format.h>

#include <algorithm>

#include "common/http/url.h"
#include "runtime/clouds/openstack/flavors.h"
#include "runtime/clouds/openstack/networks.h"
#include "runtime/clouds/openstack/server.h"

namespace radl::openstack {
namespace {

Asked act(Asking& call, const std::string& id, Json action, bool again) {
  Asked asked = with_id(post(call.services.compute, call.context, fmt::format("/servers/{}/action", id),
                             std::move(action), true),
                        id);
  asked.again = again && asked.answer == Asked::Answer::Accepted;
  return asked;
}

// Of one that was confirmed a moment ago, servers show the old status for a while and refuse to do it again.
Asked confirm_resize(Asking& call, const std::string& id) {
  Posted posted = post(call.services.compute, call.context, fmt::format("/servers/{}/action", id),
                       {{"confirmResize", nullptr}}, true);
  const bool done = posted.message.find("has not been resized") != std::string::npos ||
                    posted.message.find("vm_state active") != std::string::npos;
  if (posted.accepted() || done) return Asked::accepted_so_far(id);
  return std::move(posted.asked);
}

// Whether the machine has the spec's flavor; otherwise another is requested.
struct Resizing {
  Asked asked;
  bool begun = false;
};

Resizing change_flavor(Asking& call, const Order& order, const ServerNow& now) {
  Resizing none{Asked::accepted(order.id), false};
  auto wanted = flavor_for(call, order);
  if (!wanted.ok()) return {Asked::refused(wanted.status()), true};
  const bool named = order.spec.contains("type");
  if (!named && wanted->type.name != now.flavor) {
    // Its current flavor may fit too: a machine is never stopped for a smaller one.
    auto all = flavors_there(call);
    if (!all.ok()) return {Asked::refused(all.status()), true};
    auto fit = fitting_flavors(wish_of(order), *all, call.cloud.text());
    if (!fit.ok()) return {Asked::refused(fit.status()), true};
    for (const Flavor* one : *fit)
      if (one->type.name == now.flavor) wanted = *one;
  }
  if (wanted->type.name != now.flavor)
    return {act(call, order.id, {{"resize", {{"flavorRef", wanted->id}}}}, true), true};
  const std::string noted = named ? "" : now.flavor;
  if (text_of(now.metadata, kFlavorKey) == noted) return none;
  Posted posted = post(call.services.compute, call.context, fmt::format("/servers/{}/metadata", order.id),
                       {{"metadata", {{kFlavorKey, noted}}}}, true);
  return {with_id(std::move(posted), order.id), false};
}

Asked change_groups(Asking& call, const Order& order, const ServerNow& now) {
  std::vector<std::string> wanted;
  for (const Json& address : order.spec.value("groups", Json::array())) {
    auto id = id_of_reference(order, address.get<std::string>());
    if (!id.ok()) return Asked::refused(id.status());
    wanted.push_back(*id);
  }
  std::sort(wanted.begin(), wanted.end());
  for (const PortNow& port : now.ports) {
    if (wanted.empty() || (port.takes_groups && port.groups == wanted)) continue;
    auto how = opened(call, port);
    if (!how.ok()) return Asked::refused(how.status());
    if (*how == Opened::ByNetwork) continue;
    Json changed = {{"security_groups", wanted}};
    if (*how == Opened::ByHand) changed["port_security_enabled"] = true;
    Asked asked = with_id(post(call.services.network, call.context, "/ports/" + port.id,
                               {{"port", std::move(changed)}}, true, "PUT"),
                          order.id);
    if (asked.answer != Asked::Answer::Accepted) return asked;
  }
  return Asked::accepted(order.id);
}

Asked change_tags(Asking& call, const Order& order, const ServerNow& now) {
  const Json wanted = order.spec.value("tags", Json::object()), there = own_metadata(now.metadata);
  Json added = Json::object();
  for (const auto& [name, value] : wanted.items())
    if (!value.is_null() && there.value(name, Json()) != value) added[name] = value;
  const std::string path = fmt::format("/servers/{}/metadata", order.id);
  Asked asked = Asked::accepted(order.id);
  if (!added.empty())
    asked = with_id(post(call.services.compute, call.context, path, {{"metadata", std::move(added)}}, true),
                    order.id);
  for (const auto& [name, value] : wanted.items()) {
    if (!value.is_null() || !there.contains(name) || asked.answer != Asked::Answer::Accepted) continue;
    asked = gone_or(remove(call.services.compute, call.context, path + "/" + http::percent_encode(name)));
    asked.id = order.id;
  }
  return asked;
}

Asked put_floating(Asking& call, const Order& order, const std::string& floating, const Json& port) {
  return with_id(post(call.services.network, call.context, "/floatingips/" + floating,
                      {{"floatingip", {{"port_id", port}}}}, true, "PUT"),
                 order.id);
}

// The id of the floating address that the machine is to have; "": none.
Result<std::string> floating_wanted(Asking& call, const Order& order) {
  if (const std::string ours = order.spec.value("address", ""); !ours.empty())
    return id_of_reference(order, ours);
  const std::string others = text_of(order.spec, "public_ip");
  if (others.empty()) return std::string();
  auto found = floating_address(call, others);
  if (!found.ok()) return found.status();
  if (call.memory.is_leaving(found->server))
    return Status(Code::Retry,
                  fmt::format("floating address {} belongs to a server that is being deleted", others));
  if (!found->port.empty() && found->server != order.id)
    return invalid(fmt::format("floating address {} is in use by {}", others, found->holder()));
  return found->id;
}

// Which address of somebody else's the file names for the machine is kept with it.
Asked note_address(Asking& call, const Order& order, const ServerNow& now) {
  const std::string wanted = text_of(order.spec, "public_ip");
  if (text_of(now.metadata, kAddressOfOthersKey) == wanted) return Asked::accepted(order.id);
  const std::string path = fmt::format("/servers/{}/metadata", order.id);
  if (!wanted.empty())
    return with_id(post(call.services.compute, call.context, path,
                        {{"metadata", {{kAddressOfOthersKey, wanted}}}}, true),
                   order.id);
  Asked gone = gone_or(
      remove(call.services.compute, call.context, path + "/" + http::percent_encode(kAddressOfOthersKey)));
  gone.id = order.id;
  return gone;
}

Asked change_address(Asking& call, const Order& order, const ServerNow& now) {
  auto id = floating_wanted(call, order);
  if (!id.ok()) return Asked::refused(id.status());
  if (Asked noted = note_address(call, order, now); noted.answer != Asked::Answer::Accepted) return noted;
  const bool has_ours =
      call.memory.name_of(now.floating_ip).has_value() ||
      (!now.floating_ip.empty() && now.floating_ip == text_of(now.metadata, kAddressOfOthersKey));
  if (now.floating_id == *id) return Asked::accepted(order.id);
  if (has_ours) {
    // A port takes one.
    Asked freed = put_floating(call, order, now.floating_id, nullptr);
    if (freed.answer != Asked::Answer::Accepted || id->empty()) return freed;
  }
  if (id->empty()) return Asked::accepted(order.id);
  if (now.ports.empty()) return Asked::refused({Code::Retry, "the machine does not have a port yet"});
  // The first port whose network leads to the address's: Neutron says of the others that they do not.
  Asked asked;
  for (const PortNow& port : now.ports) {
    asked = put_floating(call, order, *id, port.id);
    if (asked.answer != Asked::Answer::Refused || asked.status.code() != Code::NotFound) return asked;
  }
  if (asked.status.code() == Code::NotFound)
    asked.status =
        Status(Code::Invalid, asked.status.message())
            .with_hint(
                "a floating address needs a router between the machine's network and the external one");
  return asked;
}

Asked change_name(Asking& call, const Order& order, const ServerNow& now) {
  const std::string wanted = order.spec.value("name", "");
  if (wanted.empty() || wanted == now.name) return Asked::accepted(order.id);
  return with_id(post(call.services.compute, call.context, "/servers/" + order.id,
                      {{"server", {{"name", wanted}}}}, true, "PUT"),
                 order.id);
}

Asked start(Asking& call, const ServerNow& now) {
  constexpr std::pair<const char*, const char*> kActions[] = {{"SHUTOFF", "os-start"},
                                                              {"SUSPENDED", "resume"},
                                                              {"PAUSED", "unpause"},
                                                              {"SHELVED", "unshelve"},
                                                              {"SHELVED_OFFLOADED", "unshelve"}};
  for (const auto& [status, action] : kActions)
    if (now.status == status) return act(call, now.id, {{action, nullptr}}, false);
  return Asked::accepted(now.id);
}

}  // namespace

Asked change_server(Asking& call, const Order& order, const ServerNow& now) {
  const ResourcePhase phase = phase_of_server(now);
  if (phase == ResourcePhase::Pending) return Asked::accepted_so_far(order.id);
  if (phase == ResourcePhase::Leaving) return Asked::refused(not_found("server " + order.id + " is going"));
  if (phase == ResourcePhase::Broken)
    return Asked::refused(invalid(fmt::format("server {} is in error: {}", order.id, now.fault)));
  if (now.status == "VERIFY_RESIZE") return confirm_resize(call, order.id);
  Resizing resizing = change_flavor(call, order, now);
  if (resizing.begun || resizing.asked.answer != Asked::Answer::Accepted) return resizing.asked;
  for (auto change : {change_groups, change_tags, change_address, change_name}) {
    Asked asked = change(call, order, now);
    if (asked.answer != Asked::Answer::Accepted) return asked;
  }
  return start(call, now);
}

Asked power_server(Asking& call, const Order& order, const ServerNow& now, Power power) {
  const ResourcePhase phase = phase_of_server(now);
  if (phase == ResourcePhase::Pending)
    return Asked::refused({Code::Retry, fmt::format("server {} is being created or changed", order.id)});
  if (phase == ResourcePhase::Leaving) return Asked::refused(not_found("server " + order.id + " is going"));
  if (power == Power::Reboot) return act(call, order.id, {{"reboot", {{"type", "SOFT"}}}}, false);
  if (phase == ResourcePhase::Stopped) return Asked::accepted(order.id);
  return act(call, order.id, {{"os-stop", nullptr}}, false);
}

}  // namespace radl::openstack
