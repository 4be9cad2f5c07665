// Further disks: volumes of Cinder, which are attached as their machine is made.
#include <fmt/format.h>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {
namespace {

ResourcePhase phase_of_volume(const std::string& status) {
  if (status.starts_with("error")) return ResourcePhase::Broken;
  if (status == "deleting") return ResourcePhase::Leaving;
  const bool there = status == "available" || status == "in-use" || status == "reserved";
  return there ? ResourcePhase::Ready : ResourcePhase::Pending;
}

class Volume : public Kind {
 public:
  const char* type() const override { return "volume"; }
  bool may_be_missing() const override { return true; }

  Asked create(Asking& call, const Order& order) const override {
    if (Status there = call.services.volume.present(call.context.stop); !there.ok()) {
      if (there.code() != Code::NotFound) return Asked::refused(there);
      return Asked::refused(
          invalid(there.message()).with_hint("the file's further disks need block storage"));
    }
    Json volume = {{"name", name_for(call.context, order)},
                   {"size", order.spec.value("size_gib", 1)},
                   {"metadata", to_metadata(mark_of(call.context, order))}};
    if (order.spec.contains("type")) volume["volume_type"] = order.spec["type"];
    if (order.spec.contains("zone")) volume["availability_zone"] = order.spec["zone"];
    if (order.spec.contains("snapshot")) volume["snapshot_id"] = order.spec["snapshot"];
    Posted posted =
        post(call.services.volume, call.context, "/volumes", {{"volume", std::move(volume)}}, false);
    const std::string id = text_of(member(posted.answer, "volume"), "id");
    return with_id(std::move(posted), id);
  }

  Asked update(Asking& call, const Order& order) const override {
    auto now = read(call.services.volume, call.context, "/volumes/" + order.id);
    if (!now.ok()) return Asked::refused(now.status());
    const double size = number_of(member(*now, "volume"), "size"),
                 wanted = order.spec.value("size_gib", size);
    if (wanted <= size) return Asked::accepted(order.id);
    const std::string status = text_of(member(*now, "volume"), "status");
    auto online = call.services.volume.knows("3.42", call.context.stop);
    if (!online.ok()) return Asked::refused(online.status());
    if (status == "in-use" && !*online)
      return Asked::refused(invalid("this cloud enlarges a volume only while it is detached"));
    return with_id(post(call.services.volume, call.context, fmt::format("/volumes/{}/action", order.id),
                        {{"os-extend", {{"new_size", static_cast<long long>(wanted)}}}}, true),
                   order.id);
  }

  Asked destroy(Asking& call, const Order& order) const override {
    Posted posted = remove(call.services.volume, call.context, "/volumes/" + order.id);
    // "Volume status must be available or ...": the machine that has it is going.
    const bool busy = posted.http_status == 400 && posted.message.find("status must be") != std::string::npos;
    if (busy) return Asked::refused({Code::Retry, posted.asked.status.message()});
    return posted.asked;
  }

  Json marks(const Context& context, const Order& order) const override {
    return marks_in_metadata(context, order);
  }
  Status mark(Asking& call, const Order& order) const override {
    return mark_in_metadata(call, call.services.volume, "/volumes", order, marks(call.context, order));
  }

  Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const override {
    return call.services.volume.each(
        "/volumes/detail", "volumes", {}, waits(call.context), [&](const Json& item) {
          const Mark mark = from_metadata(member(item, "metadata"));
          Seen one;
          one.id = text_of(item, "id");
          if (one.id.empty() || !wish.wants(call.context, one.id, mark)) return;
          take_mark(call.context, mark, one);
          one.marks = member(item, "metadata");
          one.type = type();
          one.phase = phase_of_volume(text_of(item, "status"));
          if (one.phase == ResourcePhase::Broken) one.detail = "Cinder says: " + text_of(item, "status");
          one.spec = {{"size_gib", static_cast<long long>(number_of(item, "size"))}};
          seen.push_back(std::move(one));
        });
  }

  Impact impact(const Json& before, const Json& after) const override {
    constexpr FixedField kFixed[] = {{"type", "a volume keeps its type"},
                                     {"zone", "a volume stays in its zone"},
                                     {"snapshot", "the snapshot of a volume is fixed when it is created"},
                                     {"name", "a volume keeps its name"}};
    if (auto fixed = replaced_for(kFixed, before, after)) return *fixed;
    if (after.value("size_gib", 0.0) < before.value("size_gib", 0.0))
      return replace("a volume cannot shrink");
    return {Impact::Kind::InPlace, ""};
  }
};

}  // namespace

std::unique_ptr<Kind> make_volume() { return std::make_unique<Volume>(); }

}  // namespace radl::openstack
