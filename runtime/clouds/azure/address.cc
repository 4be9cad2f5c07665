// A public address. It stays when its machine is replaced.
#include "runtime/clouds/azure/kind.h"

namespace radl::azure {
namespace {

class Address : public Kind {
 public:
  const char* type() const override { return "address"; }
  const char* collection() const override { return "publicIPAddresses"; }

 protected:
  Result<Json> body(Asking&, const Order&) const override {
    return Json{{"sku", {{"name", "Standard"}}},
                {"properties", {{"publicIPAllocationMethod", "Static"}, {"publicIPAddressVersion", "IPv4"}}}};
  }
  Status fill(Asking& call, const Json& item, Seen& seen) const override {
    const std::string address = text_of(member(item, "properties"), "ipAddress");
    if (address.empty() && seen.phase == ResourcePhase::Ready) seen.phase = ResourcePhase::Pending;
    seen.attributes = {{"public_ip", address}};
    call.memory.note_name(seen.id, seen.address);
    return {};
  }
};

}  // namespace

std::unique_ptr<Kind> make_address() { return std::make_unique<Address>(); }

}  // namespace radl::azure
