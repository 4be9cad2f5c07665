// Further disks, which are attached as their machine is made.
#include "runtime/clouds/azure/kind.h"

namespace radl::azure {
namespace {

class Disk : public Kind {
 public:
  const char* type() const override { return "disk"; }
  const char* provider() const override { return "Microsoft.Compute"; }
  const char* collection() const override { return "disks"; }
  const char* version() const override { return kDisks; }

  Asked update(Asking& call, const Order& order) const override {
    if (auto earlier = earlier_change(call, order)) return std::move(*earlier);
    auto now = read(call, order.id, version());
    if (!now.ok()) return Asked::refused(now.status());
    const double size = number_of(member(*now, "properties"), "diskSizeGB");
    const double wanted = order.spec.value("size_gib", size);
    if (wanted <= size) return Asked::accepted(order.id);
    return change(call, order, "PATCH", "",
                  {{"properties", {{"diskSizeGB", static_cast<long long>(wanted)}}}});
  }

  Impact impact(const Json& before, const Json& after) const override {
    constexpr FixedField kFixed[] = {{"type", "a disk keeps its type"},
                                     {"zone", "a disk stays in its zone"},
                                     {"encryption_key", "the encryption of a disk is fixed at its creation"}};
    if (auto fixed = replaced_for(kFixed, before, after)) return *fixed;
    if (after.value("size_gib", 0.0) < before.value("size_gib", 0.0)) return replace("a disk cannot shrink");
    return {Impact::Kind::InPlace, ""};
  }

 protected:
  Result<Json> body(Asking&, const Order& order) const override {
    Json body = {
        {"sku", {{"name", order.spec.value("type", "StandardSSD_LRS")}}},
        {"properties",
         {{"creationData", {{"createOption", "Empty"}}}, {"diskSizeGB", order.spec.value("size_gib", 4LL)}}}};
    if (order.spec.contains("encryption_key"))
      body["properties"]["encryption"] = {{"type", "EncryptionAtRestWithCustomerKey"},
                                          {"diskEncryptionSetId", order.spec["encryption_key"]}};
    if (const std::string zone = order.spec.value("zone", ""); !zone.empty())
      body["zones"] = Json::array({zone});
    return body;
  }

  Status fill(Asking&, const Json& item, Seen& seen) const override {
    const Json& properties = member(item, "properties");
    seen.spec = {{"size_gib", static_cast<long long>(number_of(properties, "diskSizeGB"))}};
    return {};
  }
};

}  // namespace

std::unique_ptr<Kind> make_disk() { return std::make_unique<Disk>(); }

}  // namespace radl::azure
