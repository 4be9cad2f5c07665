// A machine's interface in a subnet: its groups and public address. It stays when its machine is replaced.
#include "runtime/clouds/azure/kind.h"

namespace radl::azure {
namespace {

Result<std::string> subnet_path(Asking& call, const Order& order) {
  const Json wanted = order.spec.value("subnet", Json::object());
  if (const std::string made = text_of(wanted, "made"); !made.empty()) {
    auto id = id_of_reference(order, made);
    return id.ok() ? Result<std::string>(call.full(*id) + "/subnets/" + text_of(wanted, "name")) : id;
  }
  return call.full(text_of(wanted, "provider"));
}

class Interface : public Kind {
 public:
  const char* type() const override { return "interface"; }
  const char* collection() const override { return "networkInterfaces"; }
  Asked update(Asking& call, const Order& order) const override { return put_again(call, order); }

  Impact impact(const Json& before, const Json& after) const override {
    constexpr FixedField kFixed[] = {{"subnet", "an interface stays in its subnet"},
                                     {"fixed_ip", "an interface keeps its address"}};
    if (auto fixed = replaced_for(kFixed, before, after)) return *fixed;
    return {Impact::Kind::InPlace, ""};
  }

 protected:
  Result<Json> body(Asking& call, const Order& order) const override {
    auto subnet = subnet_path(call, order);
    if (!subnet.ok()) return subnet.status();
    auto rules = link_to(call, order, order.spec.value("security_group", ""));
    if (!rules.ok()) return rules.status();
    Json groups = Json::array();
    for (const Json& group : order.spec.value("groups", Json::array())) {
      auto link = link_to(call, order, group.get<std::string>());
      if (!link.ok()) return link.status();
      groups.push_back(std::move(*link));
    }
    const std::string fixed = order.spec.value("fixed_ip", ""), address = order.spec.value("address", "");
    Json inside = {{"subnet", {{"id", *subnet}}},
                   {"primary", true},
                   {"privateIPAllocationMethod", fixed.empty() ? "Dynamic" : "Static"}};
    if (!fixed.empty()) inside["privateIPAddress"] = fixed;
    if (!groups.empty()) inside["applicationSecurityGroups"] = std::move(groups);
    if (!address.empty()) {
      auto link = link_to(call, order, address);
      if (!link.ok()) return link.status();
      inside["publicIPAddress"] = std::move(*link);
    }
    return Json{{"properties",
                 {{"ipConfigurations", Json::array({{{"name", "radlc"}, {"properties", std::move(inside)}}})},
                  {"networkSecurityGroup", std::move(*rules)}}}};
  }

  Status fill(Asking& call, const Json& item, Seen& seen) const override {
    const Json& properties = member(item, "properties");
    const std::string rules = id_in(text_of(member(properties, "networkSecurityGroup"), "id"));
    const Json rule_groups = call.memory.group_names({rules});
    if (!rule_groups.is_null()) seen.spec["security_group"] = rules.empty() ? Json() : rule_groups[0];
    for (const Json& one : list_of(properties, "ipConfigurations")) {
      const Json& inside = member(one, "properties");
      seen.attributes = {{"private_ip", text_of(inside, "privateIPAddress")}};
      const std::string address = id_in(text_of(member(inside, "publicIPAddress"), "id"));
      // What is looked at alone: which addresses of the file these are is not known.
      auto name = call.memory.name_of(address);
      if (address.empty() || name) seen.spec["address"] = name ? Json(*name) : Json();
      std::vector<std::string> groups;
      for (const Json& group : list_of(inside, "applicationSecurityGroups"))
        groups.push_back(id_in(text_of(group, "id")));
      if (Json names = call.memory.group_names(groups); !names.is_null()) seen.spec["groups"] = names;
      break;
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Kind> make_interface() { return std::make_unique<Interface>(); }

}  // namespace radl::azure
