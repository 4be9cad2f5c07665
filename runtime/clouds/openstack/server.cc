// Machines: creates, changes and deletes them.
#include "runtime/clouds/openstack/server.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/http/url.h"
#include "runtime/clouds/openstack/flavors.h"
#include "runtime/clouds/user_data.h"

namespace radl::openstack {
namespace {

class Server : public Kind {
 public:
  const char* type() const override { return "server"; }

  Asked create(Asking& call, const Order& order) const override {
    auto body = launch_of(call, order);
    if (!body.ok()) return Asked::refused(body.status());
    const bool groups_follow = !member(*body, "server").contains("security_groups");
    Posted posted = post(call.services.compute, call.context, "/servers", std::move(*body), false);
    if (!posted.accepted()) return posted.asked;
    const std::string id = text_of(member(posted.answer, "server"), "id");
    // A floating address is given to a machine that has its port.
    const bool more = order.spec.contains("address") || order.spec.contains("public_ip") || groups_follow;
    return more ? Asked::accepted_so_far(id) : Asked::accepted(id);
  }

  Asked update(Asking& call, const Order& order) const override {
    std::vector<ServerNow> found;
    if (Status asked = one_by_one(call, {order.id}, found); !asked.ok()) return Asked::refused(asked);
    if (found.empty()) return Asked::refused(not_found("server " + order.id + " is gone"));
    if (Status asked = add_addresses(call, found); !asked.ok()) return Asked::refused(asked);
    return change_server(call, order, found.front());
  }

  Asked power(Asking& call, const Order& order, Power power) const override {
    std::vector<ServerNow> found;
    if (Status asked = one_by_one(call, {order.id}, found); !asked.ok()) return Asked::refused(asked);
    if (found.empty()) return Asked::refused(not_found("server " + order.id + " is gone"));
    return power_server(call, order, found.front(), power);
  }

  // Nova answers without the id before 2.45: the image is known by its name then.
  Asked image(Asking& call, const Order& order, const std::string& name) const override {
    Posted posted = post(call.services.compute, call.context, fmt::format("/servers/{}/action", order.id),
                         {{"createImage", {{"name", name}}}}, false);
    if (!posted.accepted()) return std::move(posted.asked);
    const std::string id = text_of(posted.answer, "image_id");
    auto keystone = http::parse_url(call.services.session.settings().of("auth_url"));
    if (!keystone.ok()) return Asked::refused(keystone.status());
    return Asked::accepted(fmt::format("ost://{}/{}", keystone->host, id.empty() ? name : id));
  }

  Asked destroy(Asking& call, const Order& order) const override {
    call.memory.note_leaving(order.id);
    return remove(call.services.compute, call.context, "/servers/" + order.id).asked;
  }

  Json marks(const Context& context, const Order& order) const override {
    return server_marks(context, order);
  }
  Status mark(Asking& call, const Order& order) const override {
    return mark_in_metadata(call, call.services.compute, "/servers", order, marks(call.context, order));
  }

  Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const override {
    std::vector<ServerNow> found;
    Status asked = wish.only_few_ids() ? one_by_one(call, wish.ids, found) : all_of(call, wish, found);
    if (asked.ok() && !found.empty()) asked = add_addresses(call, found);
    if (!asked.ok()) return asked;
    for (const ServerNow& now : found)
      if (auto one = seen_server(call, now)) seen.push_back(std::move(*one));
    return {};
  }

  Impact impact(const Json& before, const Json& after) const override {
    constexpr FixedField kFixed[] = {{"image", "a machine keeps its image"},
                                     {"user", "the login is fixed when the machine is created"},
                                     {"hostname", "the host name is fixed when the machine is created"},
                                     {"cloud_init", kUserDataIsFixed},
                                     {"zone", "a machine stays in its zone"},
                                     {"networks", "the networks of a machine are fixed when it is created"},
                                     {"root", "the root disk is created with the machine"},
                                     {"volumes", "disks are attached when the machine is created"},
                                     {"server_group", "a machine stays in its server group"},
                                     {"stop", "auto-stop is fixed when the machine is created"}};
    if (auto fixed = replaced_for(kFixed, before, after)) return *fixed;
    if (differs(before, after, "type") || differs(before, after, "flavor"))
      return {Impact::Kind::Restart, "the machine is stopped to change its flavor"};
    return {Impact::Kind::InPlace, ""};
  }

 private:
  // Flavors by id are for clouds older than 2.47.
  static std::vector<Flavor> known_flavors(Asking& call) {
    auto named = call.services.compute.knows("2.47", call.context.stop);
    if (named.ok() && *named) return {};
    auto flavors = flavors_there(call);
    return flavors.ok() ? *flavors : std::vector<Flavor>();
  }

  static Status one_by_one(Asking& call, const std::set<std::string>& ids, std::vector<ServerNow>& found) {
    const auto flavors = known_flavors(call);
    for (const std::string& id : ids) {
      auto one = read(call.services.compute, call.context, "/servers/" + id);
      if (one.ok())
        found.push_back(server_in(member(*one, "server"), flavors));
      else if (one.status().code() != Code::NotFound)
        return one.status();
    }
    return {};
  }

  static Status all_of(Asking& call, const Wish& wish, std::vector<ServerNow>& found) {
    const auto flavors = known_flavors(call);
    Status asked = call.services.compute.each(
        "/servers/detail", "servers", {}, waits(call.context), [&](const Json& item) {
          ServerNow now = server_in(item, flavors);
          if (!now.id.empty() && wish.wants(call.context, now.id, from_metadata(now.metadata)))
            found.push_back(std::move(now));
        });
    return asked.ok() ? add_faults(call, flavors, found) : asked;
  }

  // Lists do not say why a server that got no host is in error; each by itself does.
  static Status add_faults(Asking& call, const std::vector<Flavor>& flavors, std::vector<ServerNow>& found) {
    for (ServerNow& now : found) {
      if (now.status != "ERROR" || !now.fault.empty()) continue;
      auto one = read(call.services.compute, call.context, "/servers/" + now.id);
      if (one.ok()) now = server_in(member(*one, "server"), flavors);
      if (!one.ok() && one.status().code() != Code::NotFound) return one.status();
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Kind> make_server() { return std::make_unique<Server>(); }

}  // namespace radl::openstack
