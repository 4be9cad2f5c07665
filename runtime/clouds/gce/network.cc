// Networks created because of `create = 'yes'`: each has one subnet in the region, and a router for outbound
// traffic of machines without a public address.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/clouds/gce/foreign_rules.h"
#include "runtime/clouds/gce/kind.h"
#include "runtime/clouds/shown.h"

namespace radl::gce {
namespace {

class Network : public Kind {
 public:
  const char* type() const override { return "network"; }
  const char* collection() const override { return "networks"; }
  Scope scope() const override { return Scope::Global; }

  // Switches off the rules of others that the plan has shown, one after the other. They are not deleted: they
  // are not radlc's.
  Asked update(Asking& call, const Order& order) const override {
    if (auto earlier = earlier_change(call, order)) return std::move(*earlier);
    const Json shown = shown_before(order, kForeignRules).value_or(Json());
    if (shown.empty()) return Asked::accepted(order.id);
    auto rules = foreign_rules(call, call.project);
    if (!rules.ok()) return Asked::refused(rules.status());
    for (const ForeignRule& rule : *rules) {
      if (rule.network != call.root() + order.id ||
          std::find(shown.begin(), shown.end(), rule.text) == shown.end())
        continue;
      return change_other(call, order, rule.id, {{"name", last_part(rule.id)}, {"disabled", true}}, "PATCH");
    }
    return Asked::accepted(order.id);
  }

  Impact impact(const Json& before, const Json& after) const override {
    Json old = before, wanted = after;
    for (Json* spec : {&old, &wanted}) spec->erase(kForeignRules);
    return Kind::impact(old, wanted);
  }

 protected:
  Result<Json> body(Asking&, const Order&) const override {
    return Json{{"autoCreateSubnetworks", false}, {"routingConfig", {{"routingMode", "REGIONAL"}}}};
  }
  bool fill(Asking&, const Json& item, Seen& seen) const override {
    seen.attributes = {{"name", text_of(item, "name")}};
    return true;
  }
};

// The first "10.N.0.0/24" that `*` stands for; networks of one's own do not share addresses, so that any will
// do.
std::string first_range(std::string range) {
  for (char& c : range)
    if (c == '*') c = '0';
  return range;
}

class Subnet : public Kind {
 public:
  const char* type() const override { return "subnet"; }
  const char* collection() const override { return "subnetworks"; }
  Scope scope() const override { return Scope::Region; }

 protected:
  Result<Json> body(Asking& call, const Order& order) const override {
    auto network = id_of_reference(order, order.spec.value("network", ""));
    if (!network.ok()) return network.status();
    return Json{{"network", call.root() + *network},
                {"ipCidrRange", first_range(order.spec.value("cidr", ""))},
                {"privateIpGoogleAccess", true}};
  }
  bool fill(Asking&, const Json& item, Seen& seen) const override {
    seen.attributes = {{"cidr", text_of(item, "ipCidrRange")}};
    return true;
  }
};

class Router : public Kind {
 public:
  const char* type() const override { return "router"; }
  const char* collection() const override { return "routers"; }
  Scope scope() const override { return Scope::Region; }

 protected:
  Result<Json> body(Asking& call, const Order& order) const override {
    auto network = id_of_reference(order, order.spec.value("network", ""));
    if (!network.ok()) return network.status();
    const Json nat = {{"name", "radlc"},
                      {"natIpAllocateOption", "AUTO_ONLY"},
                      {"sourceSubnetworkIpRangesToNat", "ALL_SUBNETWORKS_ALL_IP_RANGES"}};
    return Json{{"network", call.root() + *network}, {"nats", Json::array({nat})}};
  }
  bool fill(Asking&, const Json& item, Seen& seen) const override {
    seen.attributes = {{"name", text_of(item, "name")}};
    return true;
  }
};

}  // namespace

std::unique_ptr<Kind> make_network() { return std::make_unique<Network>(); }
std::unique_ptr<Kind> make_subnet() { return std::make_unique<Subnet>(); }
std::unique_ptr<Kind> make_router() { return std::make_unique<Router>(); }

}  // namespace radl::gce
