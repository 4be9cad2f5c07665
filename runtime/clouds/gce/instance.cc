// Machines: creates, changes and deletes them.
#include "runtime/clouds/gce/instance.h"

#include <fmt/format.h>

#include "runtime/clouds/gce/disk_types.h"
#include "runtime/clouds/gce/instance_change.h"
#include "runtime/clouds/user_data.h"

namespace radl::gce {
namespace {

class Instance : public Kind {
 public:
  const char* type() const override { return "instance"; }
  bool has_labels() const override { return true; }
  const char* collection() const override { return "instances"; }
  Scope scope() const override { return Scope::Zone; }

  Asked update(Asking& call, const Order& order) const override {
    if (auto earlier = earlier_change(call, order)) return std::move(*earlier);
    auto now = read(call, order.id);
    if (!now.ok()) return Asked::refused(now.status());
    return change_instance(call, order, instance_in(*now),
                           [&](const std::string& action, Json body, Parameters query) {
                             return change(call, order, action, std::move(body), "POST", std::move(query));
                           });
  }

  Asked power(Asking& call, const Order& order, Power power) const override {
    if (auto earlier = earlier_change(call, order)) return std::move(*earlier);
    Asked asked = change(call, order, power == Power::Stop ? "/stop" : "/reset", nullptr);
    asked.again = false;
    return asked;
  }

  Json marks(const Context& context, const Order& order) const override {
    return instance_marks(context, order);
  }

  Impact impact(const Json& before, const Json& after) const override {
    constexpr FixedField kFixed[] = {
        {"image", "a machine keeps its image"},
        {"user", "the login is fixed when the machine is created"},
        {"hostname", "the host name is fixed when the machine is created"},
        {"cloud_init", kUserDataIsFixed},
        {"zone", "a machine stays in its zone"},
        {"networks", "the networks of a machine are fixed when it is created"},
        {"public", "whether a machine has a public address is fixed when it is created"},
        {"root", "the root disk is created with the machine"},
        {"volumes", "disks are attached when the machine is created"},
        {"placement", "a machine stays in its placement group"},
        {"market", "a machine stays in its market"},
        {"stop", "auto-stop is fixed when the machine is created"}};
    if (auto fixed = replaced_for(kFixed, before, after)) return *fixed;
    const MachineType from = parse_type(before.value("type", "")), to = parse_type(after.value("type", ""));
    if (from.text() == to.text()) return {Impact::Kind::InPlace, ""};
    const bool gpus = has_own_gpus(from.name) || has_own_gpus(to.name);
    if (gpus || from.count != to.count || from.accelerator != to.accelerator)
      return replace("GPUs are attached when the machine is created");
    const std::string unsaid = usual_disk(from.name);
    const std::string root =
        after.value("root", Json::object()).value("type", unsaid.empty() ? "pd-standard" : unsaid);
    if (!disk_rules().takes(to.name, root))
      return replace("machines of that type take disks of another kind");
    return {Impact::Kind::Restart, "the machine is stopped to change its type"};
  }

 protected:
  Result<Json> body(Asking& call, const Order& order) const override { return launch_of(call, order); }
  bool fill(Asking& call, const Json& item, Seen& seen) const override {
    const InstanceNow now = instance_in(item);
    if (now.status == "REPAIRING") seen.detail = "Compute Engine repairs its host";
    show_instance(call, now, seen);
    call.machines.insert_or_assign(now.id, now.exposed);
    return true;
  }
  std::string room(const Order& order) const override {
    return fmt::format("{}{} in {}", order.spec.value("type", ""),
                       order.spec.value("market", "") == "spot" ? " (spot)" : "",
                       order.spec.value("zone", ""));
  }
};

}  // namespace

std::unique_ptr<Kind> make_instance() { return std::make_unique<Instance>(); }

}  // namespace radl::gce
