// A public address that a machine keeps when it is stopped or replaced: `elastic_ip = 'yes'`.
#include "runtime/clouds/gce/kind.h"

namespace radl::gce {
namespace {

class Address : public Kind {
 public:
  const char* type() const override { return "address"; }
  bool has_labels() const override { return true; }
  const char* collection() const override { return "addresses"; }
  Scope scope() const override { return Scope::Region; }

 protected:
  Result<Json> body(Asking&, const Order&) const override { return Json{{"addressType", "EXTERNAL"}}; }
  bool fill(Asking& call, const Json& item, Seen& seen) const override {
    const std::string address = text_of(item, "address");
    if (text_of(item, "status") == "RESERVING" || address.empty()) seen.phase = ResourcePhase::Pending;
    seen.attributes = {{"public_ip", address}};
    call.memory.note_name(address, seen.address);
    return true;
  }
};

}  // namespace

std::unique_ptr<Kind> make_address() { return std::make_unique<Address>(); }

}  // namespace radl::gce
