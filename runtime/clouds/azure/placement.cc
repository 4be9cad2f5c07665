// Machines near each other: a proximity placement group, for `placement_group = 'cluster'`.
#include "runtime/clouds/azure/kind.h"

namespace radl::azure {
namespace {

class Placement : public Kind {
 public:
  const char* type() const override { return "placement"; }
  const char* provider() const override { return "Microsoft.Compute"; }
  const char* collection() const override { return "proximityPlacementGroups"; }
  const char* version() const override { return kCompute; }

 protected:
  Result<Json> body(Asking&, const Order&) const override {
    return Json{{"properties", {{"proximityPlacementGroupType", "Standard"}}}};
  }
  Status fill(Asking&, const Json& item, Seen& seen) const override {
    seen.attributes = {{"name", text_of(item, "name")}};
    return {};
  }
};

}  // namespace

std::unique_ptr<Kind> make_placement() { return std::make_unique<Placement>(); }

}  // namespace radl::azure
