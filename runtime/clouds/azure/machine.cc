// Machines: creates, changes and deletes them.
#include "runtime/clouds/azure/machine.h"
#include "runtime/clouds/user_data.h"

#include <fmt/format.h>

namespace radl::azure {
namespace {

class Machine : public Kind {
 public:
  const char* type() const override { return "machine"; }
  const char* provider() const override { return "Microsoft.Compute"; }
  const char* collection() const override { return "virtualMachines"; }
  const char* version() const override { return kCompute; }

  // The next of the changes that are to do; Accepted without `again`: there is none.
  Asked update(Asking& call, const Order& order) const override {
    if (auto earlier = earlier_change(call, order)) return std::move(*earlier);
    auto item = read(call, order.id, version(), {{"$expand", "instanceView"}});
    if (!item.ok()) return Asked::refused(item.status());
    const MachineNow now = machine_in(*item);
    const ResourcePhase phase = phase_of_machine(now);
    if (phase == ResourcePhase::Pending) return Asked::accepted_so_far(order.id);
    if (phase == ResourcePhase::Leaving)
      return Asked::refused(not_found("machine " + now.name + " is going"));
    // null: to be taken away. What somebody else put there stays (runtime/clouds/tags.h).
    Json tags = now.tags;
    const Json wanted = order.spec.value("tags", Json::object());
    for (const auto& [name, value] : wanted.items()) {
      if (value.is_null())
        tags.erase(name);
      else
        tags[name] = value;
    }
    if (tags != now.tags) return change(call, order, "PATCH", "", {{"tags", std::move(tags)}});
    const std::string type = order.spec.value("type", now.type);
    if (type != now.type) {
      // Elsewhere than on its present host there may be room for the other type.
      if (now.power != "deallocated") return change(call, order, "POST", "/deallocate", nullptr);
      return change(call, order, "PATCH", "", {{"properties", {{"hardwareProfile", {{"vmSize", type}}}}}});
    }
    if (phase == ResourcePhase::Stopped) return change(call, order, "POST", "/start", nullptr);
    return Asked::accepted(order.id);
  }

  // A machine that is only powered off is paid for: it is deallocated.
  Asked power(Asking& call, const Order& order, Power power) const override {
    if (auto earlier = earlier_change(call, order)) return std::move(*earlier);
    Asked asked = change(call, order, "POST", power == Power::Stop ? "/deallocate" : "/restart", nullptr);
    asked.again = false;
    return asked;
  }

  Impact impact(const Json& before, const Json& after) const override {
    constexpr FixedField kFixed[] = {
        {"image", "a machine keeps its image"},
        {"user", "the login is fixed when the machine is created"},
        {"hostname", "the host name is fixed when the machine is created"},
        {"cloud_init", kUserDataIsFixed},
        {"zone", "a machine stays in its zone"},
        {"interface", "a machine keeps its network interface"},
        {"root", "the root disk is created with the machine"},
        {"volumes", "disks are attached when the machine is created"},
        {"placement", "a machine stays in its placement group"},
        {"market", "a machine stays in its market"},
        {"max_price", "the highest price is fixed when the machine is requested"}};
    if (auto fixed = replaced_for(kFixed, before, after)) return *fixed;
    if (!differs(before, after, "type")) return {Impact::Kind::InPlace, ""};
    return {Impact::Kind::Restart, "the machine is stopped to change its type"};
  }

 protected:
  Result<Json> body(Asking& call, const Order& order) const override { return launch_of(call, order); }
  Parameters list_query() const override { return {{"$expand", "instanceView"}}; }
  // A repeated creation request never changes an existing machine.
  Parameters create_headers() const override { return {{"If-None-Match", "*"}}; }
  Status fill(Asking& call, const Json& item, Seen& seen) const override {
    return show_machine(call, machine_in(item), seen);
  }
  std::string room(Asking& call, const Order& order) const override {
    const std::string zone = order.spec.value("zone", "");
    return fmt::format("{}{} in {}{}", order.spec.value("type", ""),
                       order.spec.value("market", "") == "spot" ? " (spot)" : "", call.cloud.region,
                       zone.empty() ? "" : "-" + zone);
  }
};

}  // namespace

std::unique_ptr<Kind> make_machine() { return std::make_unique<Machine>(); }

}  // namespace radl::azure
