// Machines near each other, or on hardware of their own: a compact or a spread placement policy.
#include "runtime/clouds/gce/kind.h"

namespace radl::gce {
namespace {

// Of a region ("Create and apply spread placement policies to VMs").
constexpr int kMostDomains = 8;

class Placement : public Kind {
 public:
  const char* type() const override { return "placement"; }
  const char* collection() const override { return "resourcePolicies"; }
  Scope scope() const override { return Scope::Region; }

 protected:
  Result<Json> body(Asking&, const Order& order) const override {
    if (text_of(order.spec, "policy") == "spread")
      return Json{{"groupPlacementPolicy", {{"availabilityDomainCount", kMostDomains}}}};
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
