// What holds all that an infrastructure has in a region. Its name is of these alone, so that everything can
// be looked for without knowing of it; its tags have the token.
#include <fmt/format.h>

#include "runtime/clouds/azure/kind.h"

namespace radl::azure {
namespace {

class ResourceGroup : public Kind {
 public:
  const char* type() const override { return "resource_group"; }
  const char* collection() const override { return "resourceGroups"; }
  const char* version() const override { return kResources; }
  std::string id_of(Asking& call, const Order&) const override { return group_id(call.context, call.cloud); }
  bool has_id(const std::string& id) const override {
    return id.starts_with("resourceGroups/") && id.find('/', 15) == id.npos;
  }

  // Deleting a group deletes everything in it, so foreign resources prevent it.
  Asked destroy(Asking& call, const Order& order) const override {
    if (Status empty = check_empty(call, order.id); !empty.ok()) return Asked::refused(empty);
    return Kind::destroy(call, order);
  }

  Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const override {
    std::set<std::string> ids = wish.ids;
    if (wish.everything || !wish.tokens.empty()) ids.insert(group_id(call.context, call.cloud));
    for (const std::string& id : ids) {
      auto item = read(call, id, version());
      if (!item.ok() && item.status().code() != Code::NotFound) return item.status();
      const Mark mark = item.ok() ? mark_in(*item) : Mark();
      if (!item.ok() || !wish.wants(call.context, id, mark)) continue;
      Seen one;
      one.id = id;
      one.type = type();
      one.phase = phase_of(text_of(member(*item, "properties"), "provisioningState"));
      take_mark(call.context, mark, one);
      one.marks = member(*item, "tags");
      one.attributes = {{"name", text_of(*item, "name")}};
      seen.push_back(std::move(one));
    }
    return {};
  }

 protected:
  Result<Json> body(Asking&, const Order&) const override { return Json::object(); }
  Status fill(Asking&, const Json&, Seen&) const override { return {}; }

 private:
  static Status check_empty(Asking& call, const std::string& id) {
    auto inside = list(call, id + "/resources", kResources);
    if (!inside.ok()) return inside.status();
    const std::string prefix = name_prefix(call.context, call.cloud);
    for (const Json& item : **inside) {
      const std::string name = text_of(item, "name");
      const Mark mark = mark_in(item);
      const bool released = member(member(item, "tags"), kReleasedTag).is_string();
      // All that is recorded has gone by now. What still carries the mark is going, or is another's copy of
      // it.
      if (mark.ours(call.context))
        return Status(Code::Retry,
                      fmt::format("{} still holds {} ({})", last_part(id), name, text_of(item, "type")));
      if (!released && last_part(id_in(text_of(item, "id"))).starts_with(prefix)) continue;
      return Status(Code::Conflict, fmt::format("{} holds {} ({}), which radlc did not make", last_part(id),
                                                name, text_of(item, "type")))
          .with_hint("move it to another resource group or delete it, then destroy again");
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Kind> make_resource_group() { return std::make_unique<ResourceGroup>(); }

}  // namespace radl::azure
