// A public address that a machine has as long as it is there, and keeps when it is made anew.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/text.h"
#include "runtime/clouds/openstack/networks.h"

namespace radl::openstack {
namespace {

class FloatingIp : public Kind {
 public:
  const char* type() const override { return "floating_ip"; }

  Asked create(Asking& call, const Order& order) const override {
    auto network = external_network(call, order.spec.value("network", ""));
    if (!network.ok()) return Asked::refused(network.status());
    Posted posted = post(
        call.services.network, call.context, "/floatingips",
        {{"floatingip",
          {{"floating_network_id", network->id}, {"description", to_line(mark_of(call.context, order))}}}},
        false);
    const Json& made = member(posted.answer, "floatingip");
    const std::string id = text_of(made, "id");
    call.memory.note_name(text_of(made, "floating_ip_address"), order.address);
    return with_id(std::move(posted), id);
  }

  Asked destroy(Asking& call, const Order& order) const override {
    return remove(call.services.network, call.context, "/floatingips/" + order.id).asked;
  }

  Json marks(const Context& context, const Order& order) const override {
    return marks_in_network(context, order);
  }
  Status mark(Asking& call, const Order& order) const override {
    return mark_in_network(call, order, "/floatingips", "floatingip");
  }

  Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const override {
    return look_in_network(
        call, wish, type(), "/floatingips", "floatingips",
        [&](const Json& item, Seen& one) {
          const std::string address = text_of(item, "floating_ip_address");
          one.attributes = {{"public_ip", address}};
          call.memory.note_name(address, call.memory.name_of(one.id).value_or(one.address));
        },
        seen);
  }

  Impact impact(const Json& before, const Json& after) const override {
    if (before == after) return {Impact::Kind::InPlace, ""};
    return replace("a floating address stays in its external network");
  }
};

}  // namespace

Result<FloatingNow> floating_address(Asking& call, const std::string& address) {
  std::vector<std::string> there;
  std::optional<FloatingNow> found;
  Status asked = call.services.network.each(
      "/floatingips", "floatingips", {}, waits(call.context), [&](const Json& item) {
        FloatingNow one{text_of(item, "id"), text_of(item, "floating_ip_address"), text_of(item, "port_id"),
                        text_of(member(item, "port_details"), "device_id")};
        there.push_back(one.address);
        if (one.address == address) found = std::move(one);
      });
  if (!asked.ok()) return asked;
  if (found) return *found;
  std::sort(there.begin(), there.end());
  return not_found(fmt::format("the project has no floating address {}", address))
      .with_hint(
          there.empty()
              ? "the project has none: reserve one with `openstack floating ip create`, or leave it out"
              : "it has " + join(there, ", "));
}

std::unique_ptr<Kind> make_floating_ip() { return std::make_unique<FloatingIp>(); }

}  // namespace radl::openstack
