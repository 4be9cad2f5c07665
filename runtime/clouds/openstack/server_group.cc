// Machines close to each other, or far apart. Its name holds what is marked: it has nothing else.
#include <fmt/format.h>

#include <set>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {
namespace {

constexpr size_t kPage = 500;

class ServerGroup : public Kind {
 public:
  const char* type() const override { return "server_group"; }
  bool is_marked_by_name() const override { return true; }

  Asked create(Asking& call, const Order& order) const override {
    auto one_policy = call.services.compute.knows("2.64", call.context.stop);
    if (!one_policy.ok()) return Asked::refused(one_policy.status());
    const std::string policy = order.spec.value("policy", "soft-anti-affinity");
    auto soft = call.services.compute.knows("2.15", call.context.stop);
    if (!soft.ok()) return Asked::refused(soft.status());
    if (policy.starts_with("soft-") && !*soft)
      return Asked::refused(
          Status(Code::Unsupported,
                 fmt::format("{}: this Nova does not offer microversion 2.15, which {} needs", order.address,
                             policy))
              .with_hint("leave placement_group away"));
    Json group = {{"name", to_line(mark_of(call.context, order))}};
    if (*one_policy)
      group["policy"] = policy;
    else
      group["policies"] = {policy};
    Posted posted = post(call.services.compute, call.context, "/os-server-groups",
                         {{"server_group", std::move(group)}}, false);
    const std::string id = text_of(member(posted.answer, "server_group"), "id");
    return with_id(std::move(posted), id);
  }

  Asked destroy(Asking& call, const Order& order) const override {
    return remove(call.services.compute, call.context, "/os-server-groups/" + order.id).asked;
  }

  // Its pages go by offset, unlike all others, and a cloud may give less in one than was asked for: the last
  // one is known by having nothing new.
  Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const override {
    std::set<std::string> ids;
    for (size_t offset = 0;; offset = ids.size()) {
      auto page = read(call.services.compute, call.context, "/os-server-groups",
                       {{"limit", std::to_string(kPage)}, {"offset", std::to_string(offset)}});
      if (!page.ok()) return page.status();
      for (const Json& item : list_of(*page, "server_groups"))
        if (ids.insert(text_of(item, "id")).second) take(call, wish, item, seen);
      if (ids.size() == offset) return {};
    }
  }

 private:
  void take(Asking& call, const Wish& wish, const Json& item, std::vector<Seen>& seen) const {
    const Mark mark = from_line(text_of(item, "name"));
    Seen one;
    one.id = text_of(item, "id");
    if (one.id.empty() || !wish.wants(call.context, one.id, mark)) return;
    take_mark(call.context, mark, one);
    one.type = type();
    one.phase = ResourcePhase::Ready;
    std::string policy = text_of(item, "policy");
    const Json& policies = list_of(item, "policies");
    if (policy.empty() && !policies.empty() && policies[0].is_string())
      policy = policies[0].get<std::string>();
    one.spec = {{"policy", policy}};
    one.attributes = {{"name", text_of(item, "name")}};
    seen.push_back(std::move(one));
  }
};

}  // namespace

std::unique_ptr<Kind> make_server_group() { return std::make_unique<ServerGroup>(); }

}  // namespace radl::openstack
