// Machines near each other: a compact placement policy, for `placement_group = 'cluster'`.
#include "runtime/clouds/gce/kind.h"

namespace radl::gce {
namespace {

class Placement : public Kind {
 public:
  const char* type() const override { return "placement"; }
  const char* collection() const override { return "resourcePolicies"; }
  Scope scope() const override { return Scope::Region; }

 protected:
  Result<Json> body(Asking&, const Order&) const override {
    return Json{{"groupPlacementPolicy", {{"collocation", "COLLOCATED"}}}};
  }
  bool fill(Asking&, const Json& item, Seen& seen) const override {
    const std::string status = text_of(item, "status");
    if (status == "CREATING") seen.phase = ResourcePhase::Pending;
    if (status == "DELETING") seen.phase = ResourcePhase::Leaving;
    seen.attributes = {{"name", text_of(item, "name")}};
    return true;
  }
};

}  // namespace

std::unique_ptr<Kind> make_placement() { return std::make_unique<Placement>(); }

}  // namespace radl::gce
