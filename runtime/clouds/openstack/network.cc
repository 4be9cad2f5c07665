// Networks that are made because the file says `create = 'yes'`, each with one subnet.
#include <fmt/format.h>

#include <algorithm>

#include "common/address_range.h"
#include "common/text.h"
#include "runtime/clouds/openstack/design.h"
#include "runtime/clouds/openstack/networks.h"

namespace radl::openstack {
namespace {

class Network : public Kind {
 public:
  const char* type() const override { return "network"; }

  Asked create(Asking& call, const Order& order) const override {
    Posted posted = post(
        call.services.network, call.context, "/networks",
        {{"network",
          {{"name", name_for(call.context, order)}, {"description", to_line(mark_of(call.context, order))}}}},
        false);
    const std::string id = text_of(member(posted.answer, "network"), "id");
    call.memory.note_name(id, order.address);
    return with_id(std::move(posted), id);
  }

  Asked destroy(Asking& call, const Order& order) const override {
    return remove(call.services.network, call.context, "/networks/" + order.id).asked;
  }

  Json marks(const Context& context, const Order& order) const override {
    return marks_in_network(context, order);
  }
  Status mark(Asking& call, const Order& order) const override {
    return mark_in_network(call, order, "/networks", "network");
  }

  Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const override {
    return look_in_network(
        call, wish, type(), "/networks", "networks",
        [&](const Json& item, Seen& one) {
          const std::string status = text_of(item, "status");
          one.phase = status == "BUILD" ? ResourcePhase::Pending : ResourcePhase::Ready;
          one.attributes = {{"name", text_of(item, "name")}};
        },
        seen);
  }
};

constexpr size_t kRangesTried = 65536;

// "10.*.*.0/24": each '*' counts up from 0, the last one fastest.
std::vector<std::string> ranges_of(const std::string& pattern, size_t most) {
  std::vector<std::string> ranges = {""};
  for (char c : pattern) {
    if (c != '*') {
      for (std::string& range : ranges) range += c;
      continue;
    }
    std::vector<std::string> longer;
    for (const std::string& range : ranges)
      for (int octet = 0; octet < 255 && longer.size() < most; ++octet)
        longer.push_back(range + std::to_string(octet));
    ranges = std::move(longer);
  }
  return ranges;
}

std::string first_beside(const std::vector<std::string>& patterns, const std::set<std::string>& taken) {
  for (const std::string& pattern : patterns) {
    for (const std::string& range : ranges_of(pattern, kRangesTried)) {
      const bool overlaps = std::any_of(
          taken.begin(), taken.end(), [&](const std::string& other) { return ranges_overlap(range, other); });
      if (!overlaps) return range;
    }
  }
  return "";
}

class Subnet : public Kind {
 public:
  const char* type() const override { return "subnet"; }

  Asked create(Asking& call, const Order& order) const override {
    auto network = id_of_reference(order, order.spec.value("network", ""));
    if (!network.ok()) return Asked::refused(network.status());
    auto cidr = free_range(call, order.spec.value("cidr", ""));
    if (!cidr.ok()) return Asked::refused(cidr.status());
    Json body = {{"name", name_for(call.context, order)},
                 {"description", to_line(mark_of(call.context, order))},
                 {"network_id", *network},
                 {"ip_version", 4},
                 {"cidr", *cidr}};
    if (order.spec.contains("nameservers")) body["dns_nameservers"] = order.spec["nameservers"];
    if (order.spec.contains("gateway")) body["gateway_ip"] = order.spec["gateway"];
    Posted posted =
        post(call.services.network, call.context, "/subnets", {{"subnet", std::move(body)}}, false);
    const std::string id = text_of(member(posted.answer, "subnet"), "id");
    return with_id(std::move(posted), id);
  }

  Asked destroy(Asking& call, const Order& order) const override {
    return remove(call.services.network, call.context, "/subnets/" + order.id).asked;
  }

  Json marks(const Context& context, const Order& order) const override {
    return marks_in_network(context, order);
  }
  Status mark(Asking& call, const Order& order) const override {
    return mark_in_network(call, order, "/subnets", "subnet");
  }

  Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const override {
    return look_in_network(
        call, wish, type(), "/subnets", "subnets",
        [&](const Json& item, Seen& one) {
          one.attributes = {{"cidr", text_of(item, "cidr")}, {"network_id", text_of(item, "network_id")}};
        },
        seen);
  }

 private:
  // The first that overlaps no subnet that the project sees, and none that this run has just chosen.
  static Result<std::string> free_range(Asking& call, const std::string& pattern) {
    if (pattern.find('*') == pattern.npos) return pattern;
    std::set<std::string> taken;
    Status asked = call.services.network.each("/subnets", "subnets", {}, waits(call.context),
                                              [&](const Json& item) { taken.insert(text_of(item, "cidr")); });
    if (!asked.ok()) return asked;
    std::vector<std::string> patterns = {pattern};
    if (pattern == kUsualRange) patterns.insert(patterns.end(), {"172.16.*.0/24", "192.168.*.0/24"});
    const std::string range = call.memory.choose_range([&](const std::set<std::string>& chosen) {
      std::set<std::string> all = taken;
      all.insert(chosen.begin(), chosen.end());
      return first_beside(patterns, all);
    });
    if (!range.empty()) return range;
    const std::vector<std::string> known(taken.begin(), taken.end());
    return invalid(fmt::format("cidr = '{}': all of these ranges are in use", pattern))
        .with_hint("the project sees subnets with " + join(known, ", ") + ": give a cidr beside them");
  }
};

}  // namespace

std::unique_ptr<Kind> make_network() { return std::make_unique<Network>(); }
std::unique_ptr<Kind> make_subnet() { return std::make_unique<Subnet>(); }

}  // namespace radl::openstack
