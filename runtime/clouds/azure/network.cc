// The virtual network of an infrastructure, with a subnet for each network that the file makes, and the
// gateway by which machines without a public address reach the outside.
#include "runtime/clouds/azure/kind.h"

namespace radl::azure {
namespace {

Result<Json> subnets_of(Asking& call, const Order& order) {
  Json subnets = Json::array();
  const Json wanted = order.spec.value("subnets", Json::object());
  for (const auto& [name, range] : wanted.items()) {
    Json properties = {{"addressPrefix", range}};
    if (const std::string nat = order.spec.value("nat", ""); !nat.empty()) {
      auto link = link_to(call, order, nat);
      if (!link.ok()) return link.status();
      properties["natGateway"] = std::move(*link);
    }
    subnets.push_back({{"name", name}, {"properties", std::move(properties)}});
  }
  return subnets;
}

class Network : public Kind {
 public:
  const char* type() const override { return "network"; }
  const char* collection() const override { return "virtualNetworks"; }

  // A subnet with machines in it stays until they have gone.
  Asked update(Asking& call, const Order& order) const override {
    if (auto earlier = earlier_change(call, order)) return std::move(*earlier);
    auto now = read(call, order.id, version());
    if (!now.ok()) return Asked::refused(now.status());
    auto body = this->body(call, order);
    if (!body.ok()) return Asked::refused(body.status());
    Json& subnets = (*body)["properties"]["subnets"];
    for (const Json& there : list_of(member(*now, "properties"), "subnets")) {
      const bool wanted = order.spec.value("subnets", Json::object()).contains(text_of(there, "name"));
      const Json& properties = member(there, "properties");
      if (wanted || list_of(properties, "ipConfigurations").empty()) continue;
      subnets.push_back({{"name", text_of(there, "name")},
                         {"properties", {{"addressPrefix", text_of(properties, "addressPrefix")}}}});
    }
    (*body)["location"] = text_of(*now, "location");
    (*body)["tags"] = member(*now, "tags");
    Asked asked = change(call, order, "PUT", "", std::move(*body));
    asked.again = false;
    return asked;
  }

  Impact impact(const Json& before, const Json& after) const override {
    const Json was = before.value("subnets", Json::object()), is = after.value("subnets", Json::object());
    for (const auto& [name, range] : was.items())
      if (is.contains(name) && is[name] != range) return replace("a subnet keeps its addresses");
    return {Impact::Kind::InPlace, ""};
  }

 protected:
  Result<Json> body(Asking& call, const Order& order) const override {
    auto subnets = subnets_of(call, order);
    if (!subnets.ok()) return subnets.status();
    return Json{{"properties",
                 {{"addressSpace", {{"addressPrefixes", order.spec.value("ranges", Json::array())}}},
                  {"subnets", std::move(*subnets)}}}};
  }

  Status fill(Asking& call, const Json& item, Seen& seen) const override {
    const Json& properties = member(item, "properties");
    Json subnets = Json::object(), nat;
    for (const Json& one : list_of(properties, "subnets")) {
      const Json& inner = member(one, "properties");
      subnets[text_of(one, "name")] = text_of(inner, "addressPrefix");
      const std::string gateway = id_in(text_of(member(inner, "natGateway"), "id"));
      if (!gateway.empty()) nat = call.memory.name_of(gateway).value_or(gateway);
    }
    seen.spec = {{"subnets", subnets},
                 {"ranges", list_of(member(properties, "addressSpace"), "addressPrefixes")}};
    // Which address of the file the gateway is, is known once it was seen.
    if (nat.is_null() || !nat.get<std::string>().starts_with("resourceGroups/")) seen.spec["nat"] = nat;
    seen.attributes = {{"name", text_of(item, "name")}};
    return {};
  }
};

class NatGateway : public Kind {
 public:
  const char* type() const override { return "nat_gateway"; }
  const char* collection() const override { return "natGateways"; }

 protected:
  Result<Json> body(Asking& call, const Order& order) const override {
    auto address = link_to(call, order, order.spec.value("address", ""));
    if (!address.ok()) return address.status();
    return Json{{"sku", {{"name", "Standard"}}},
                {"properties", {{"publicIpAddresses", Json::array({std::move(*address)})}}}};
  }
  Status fill(Asking& call, const Json& item, Seen& seen) const override {
    seen.attributes = {{"name", text_of(item, "name")}};
    call.memory.note_name(seen.id, seen.address);
    return {};
  }
};

}  // namespace

std::unique_ptr<Kind> make_network() { return std::make_unique<Network>(); }
std::unique_ptr<Kind> make_nat_gateway() { return std::make_unique<NatGateway>(); }

}  // namespace radl::azure
