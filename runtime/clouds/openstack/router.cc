// The way out of a network that was made: a router between it and an external network.
#include <fmt/format.h>

#include "runtime/clouds/openstack/networks.h"

namespace radl::openstack {
namespace {

class Router : public Kind {
 public:
  const char* type() const override { return "router"; }

  Asked create(Asking& call, const Order& order) const override {
    auto external = external_network(call, order.spec.value("external", ""));
    if (!external.ok()) return Asked::refused(external.status());
    Posted posted = post(call.services.network, call.context, "/routers",
                         {{"router",
                           {{"name", name_for(call.context, order)},
                            {"description", to_line(mark_of(call.context, order))},
                            {"external_gateway_info", {{"network_id", external->id}}}}}},
                         false);
    if (!posted.accepted()) return posted.asked;
    return Asked::accepted_so_far(text_of(member(posted.answer, "router"), "id"));
  }

  Asked update(Asking& call, const Order& order) const override {
    auto subnet = id_of_reference(order, order.spec.value("subnet", ""));
    if (!subnet.ok()) return Asked::refused(subnet.status());
    auto there = subnets_of(call, order.id);
    if (!there.ok()) return Asked::refused(there.status());
    if (there->count(*subnet)) return Asked::accepted(order.id);
    return with_id(
        post(call.services.network, call.context, fmt::format("/routers/{}/add_router_interface", order.id),
             {{"subnet_id", *subnet}}, true, "PUT"),
        order.id);
  }

  // Its interfaces first: with them it is in use.
  Asked destroy(Asking& call, const Order& order) const override {
    auto there = subnets_of(call, order.id);
    if (!there.ok()) return Asked::refused(there.status());
    for (const std::string& subnet : *there) {
      Asked gone = gone_or(post(call.services.network, call.context,
                                fmt::format("/routers/{}/remove_router_interface", order.id),
                                {{"subnet_id", subnet}}, true, "PUT"));
      if (gone.answer != Asked::Answer::Accepted) return gone;
    }
    return remove(call.services.network, call.context, "/routers/" + order.id).asked;
  }

  Json marks(const Context& context, const Order& order) const override {
    return marks_in_network(context, order);
  }
  Status mark(Asking& call, const Order& order) const override {
    return mark_in_network(call, order, "/routers", "router");
  }

  Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const override {
    const size_t others = seen.size();
    Status looked = look_in_network(
        call, wish, type(), "/routers", "routers",
        [&](const Json& item, Seen& one) {
          if (text_of(item, "status") == "ERROR") {
            one.phase = ResourcePhase::Broken;
            one.detail = "Neutron says that the router is in error";
          }
          one.attributes = {
              {"name", text_of(item, "name")},
              {"external_network", text_of(member(item, "external_gateway_info"), "network_id")}};
        },
        seen);
    // One that never got its interface, or has lost it, leads nowhere.
    for (size_t i = others; looked.ok() && i < seen.size(); ++i) {
      auto subnets = subnets_of(call, seen[i].id);
      if (!subnets.ok()) return subnets.status();
      if (subnets->empty()) seen[i].spec = {{"subnet", nullptr}};
    }
    return looked;
  }

  Impact impact(const Json& before, const Json& after) const override {
    Json joined = before;
    if (before.contains("subnet") && before["subnet"].is_null() && after.contains("subnet"))
      joined["subnet"] = after["subnet"];
    if (joined == after) return {Impact::Kind::InPlace, ""};
    return replace("a router connects one subnet to one external network");
  }

 private:
  static Result<std::set<std::string>> subnets_of(Asking& call, const std::string& router) {
    std::set<std::string> subnets;
    Status asked = call.services.network.each(
        "/ports", "ports", {{"device_id", router}}, waits(call.context), [&](const Json& item) {
          if (!text_of(item, "device_owner").starts_with("network:router_interface") &&
              !text_of(item, "device_owner").starts_with("network:ha_router_replicated_interface"))
            return;
          for (const Json& fixed : list_of(item, "fixed_ips")) subnets.insert(text_of(fixed, "subnet_id"));
        });
    if (!asked.ok()) return asked;
    return subnets;
  }
};

}  // namespace

std::unique_ptr<Kind> make_router() { return std::make_unique<Router>(); }

}  // namespace radl::openstack
