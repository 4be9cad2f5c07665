// Further disks, which are attached as their machine is made.
#include <fmt/format.h>

#include "runtime/clouds/gce/kind.h"

namespace radl::gce {
namespace {

class Disk : public Kind {
 public:
  const char* type() const override { return "disk"; }
  bool has_labels() const override { return true; }
  const char* collection() const override { return "disks"; }
  Scope scope() const override { return Scope::Zone; }

  Asked update(Asking& call, const Order& order) const override {
    if (auto earlier = earlier_change(call, order)) return std::move(*earlier);
    auto now = read(call, order.id);
    if (!now.ok()) return Asked::refused(now.status());
    const double size = count_of(*now, "sizeGb"), wanted = order.spec.value("size_gib", size);
    if (wanted <= size) return Asked::accepted(order.id);
    return change(call, order, "/resize", {{"sizeGb", std::to_string(static_cast<long long>(wanted))}});
  }

  Json marks(const Context& context, const Order& order) const override { return labels_for(context, order); }

  Impact impact(const Json& before, const Json& after) const override {
    constexpr FixedField kFixed[] = {{"type", "a disk keeps its type"},
                                     {"zone", "a disk stays in its zone"},
                                     {"encryption_key", "the encryption of a disk is fixed at its creation"}};
    if (auto fixed = replaced_for(kFixed, before, after)) return *fixed;
    if (after.value("size_gib", 0.0) < before.value("size_gib", 0.0)) return replace("a disk cannot shrink");
    return {Impact::Kind::InPlace, ""};
  }

 protected:
  Result<Json> body(Asking& call, const Order& order) const override {
    const std::string zone = order.spec.value("zone", "");
    Json body = {{"sizeGb", std::to_string(order.spec.value("size_gib", 10LL))},
                 {"labels", labels_for(call.context, order)}};
    if (order.spec.contains("type"))
      body["type"] =
          fmt::format("{}zones/{}/diskTypes/{}", call.root(), zone, order.spec["type"].get<std::string>());
    if (order.spec.contains("encryption_key"))
      body["diskEncryptionKey"] = {{"kmsKeyName", order.spec["encryption_key"]}};
    return body;
  }

  bool fill(Asking&, const Json& item, Seen& seen) const override {
    const std::string status = text_of(item, "status");
    if (status == "CREATING" || status == "RESTORING") seen.phase = ResourcePhase::Pending;
    if (status == "DELETING") seen.phase = ResourcePhase::Leaving;
    if (status == "FAILED" || status == "UNAVAILABLE") {
      seen.phase = ResourcePhase::Broken;
      seen.detail = "Compute Engine says of the disk: " + status;
    }
    seen.marks = member(item, "labels");
    seen.spec = {{"size_gib", static_cast<long long>(count_of(item, "sizeGb"))}};
    return true;
  }
};

}  // namespace

std::unique_ptr<Kind> make_disk() { return std::make_unique<Disk>(); }

}  // namespace radl::gce
