#include "runtime/clouds/openstack/openstack_cloud.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "common/http/url.h"
#include "common/text.h"
#include "runtime/clouds/cloud_of_kinds.h"
#include "runtime/clouds/console.h"
#include "runtime/clouds/openstack/design.h"
#include "runtime/clouds/openstack/kind.h"
#include "runtime/clouds/openstack/quotas.h"
#include "runtime/clouds/openstack/survey.h"

namespace radl::openstack {
namespace {

std::string host_of(const Result<Settings>& settings) {
  if (!settings.ok()) return "";
  auto url = http::parse_url(settings->of("auth_url"));
  return url.ok() ? to_lower(url->host) : "";
}

class OpenStackCloud : public CloudOfKinds<Kind, Asking> {
 public:
  OpenStackCloud(CloudId id, http::Client& http, const Options& options, Result<Settings> settings)
      : CloudOfKinds(std::move(id), "OpenStack", options.timing),
        place_{id_, host_of(settings), settings.ok() ? settings->egi_site : ""},
        refused_(settings.status()),
        session_(http, settings.ok() ? *settings : Settings()),
        services_(session_),
        caller_(caller_source(http, settings.ok() ? settings->of("auth_url") : "", options.caller)) {
    // What names others by their ids is looked at last.
    for (auto make : {make_key_pair, make_security_group, make_network, make_subnet, make_router,
                      make_floating_ip, make_server_group, make_volume, make_server})
      kinds_.push_back(make());
  }

  std::vector<QuotaUse> quota_uses(const InstanceType& type, Market, const Survey& survey,
                                   const Catalog&) const override {
    return openstack::quota_uses(type, survey);
  }
  Status can_make(const ir::Node& node, const DesignInput& input) const override {
    return check_node(place_, node, input);
  }
  Result<Design> design(const DesignInput& input) const override { return design_resources(place_, input); }
  Asked ask_create(const Context& context, const Order& order) override {
    memory_.note_token(order.token, order.type);
    Asked asked = ask(context, order, [&](const Kind& kind, Asking& call) {
      return memory_.creations.once(
          order.token, timing_.settles_after, [&] { return kind.create(call, order); },
          [&]() -> Result<std::optional<std::string>> {
            std::vector<Seen> seen;
            Status looked = kind.look(call, {{}, {order.token}, false}, seen);
            if (!looked.ok()) return looked;
            return seen.empty() ? std::optional<std::string>() : seen.front().id;
          });
    });
    if (!asked.id.empty()) memory_.note_id(asked.id, order.type);
    return asked;
  }
  Asked ask_image(const Context& context, const Order& order, const std::string& name) override {
    return ask(context, order, [&](const Kind& kind, Asking& call) { return kind.image(call, order, name); });
  }
  Asked ask_destroy(const Context& context, const Order& order) override {
    memory_.creations.forget(order.id);
    return CloudOfKinds::ask_destroy(context, order);
  }

  Result<std::vector<Seen>> look(const Context& context, const Query& query) override;

  Status take_over(const Context& context, const Order& order) override {
    const Kind* kind = kind_of(order.type);
    auto call = asking(context);
    if (!call.ok()) return call.status();
    return kind ? kind->mark(**call, order) : Status();
  }
  Status write_marks(const Context& context, const Order& order) override {
    return take_over(context, order);
  }
  Json marks_of(const Context& context, const Order& order) const override {
    const Kind* kind = kind_of(order.type);
    return kind ? kind->marks(context, order) : Json::object();
  }
  std::optional<Impact> impact_of_lost(const std::string& type, const std::string& needed) const override {
    if (type == "server" && (needed == "security_group" || needed == "floating_ip"))
      return Impact{Impact::Kind::InPlace, ""};
    return Cloud::impact_of_lost(type, needed);
  }

  // Without a mark, it has no owner.
  Status release(const Context& context, const Order& order) override {
    auto call = asking(context);
    if (!call.ok()) return call.status();
    const Kind* kind = kind_of(order.type);
    if (!kind || kind->is_marked_by_name())
      return Status(Code::Unsupported, order.id + ": its name identifies it for radlc and cannot change");
    Order unmarked = order;
    unmarked.token.clear();
    return kind->mark(**call, unmarked);
  }

  Result<std::set<std::string>> infrastructures(const Context& context, const std::string& name) override;

  Result<std::string> owner(const Context& context) override {
    if (!refused_.ok()) return refused_;
    auto token = session_.token(context.stop);
    if (!token.ok()) return token.status();
    if ((*token)->project_id.empty()) return no_project(session_.settings());
    return (*token)->project_id;
  }

  Result<std::vector<std::string>> host_keys(const Context& context, const std::string& id) override {
    Call call{.method = "POST",
              .path = fmt::format("/servers/{}/action", id),
              .query = {},
              .body = {{"os-getConsoleOutput", Json::object()}},
              .effect = Effect::Repeatable};
    Answer answer = services_.compute.call(call, waits(context));
    // A console is a comfort: clouds may have none, and not let their users see it.
    if (!answer.ok() && answer.failure().http_status >= 400 && answer.failure().http_status < 500)
      return std::vector<std::string>();
    if (!answer.ok()) return answer.failure().status;
    return host_keys_in(text_of(answer.json(), "output"));
  }

 private:
  Result<std::unique_ptr<Asking>> asking(const Context& context) override {
    if (!refused_.ok()) return refused_;
    return std::unique_ptr<Asking>(new Asking{context, services_, memory_, id_, caller_});
  }
  Result<Json> facts_for(Asking& call, const ir::Program& program) override {
    return take_survey(call, program, place_.host);
  }
  CloudMemory& memory() override { return memory_; }
  void note_references(const Order& order) override {
    memory_.note_references(order.references, "floating_ip");
  }

  const Place place_;
  const Status refused_;  // not ok: there are no credentials
  Session session_;
  Services services_;
  Memory memory_;
  const CallerSource caller_;
};

Result<std::vector<Seen>> OpenStackCloud::look(const Context& context, const Query& query) {
  auto call = asking(context);
  if (!call.ok()) return call.status();
  memory_.note_names(query.names);
  std::map<std::string, Seen> found;  // by id: what is named in more than one way is shown once
  for (const auto& kind : kinds_) {
    const auto wish = wish_for<Wish>(*kind, query, [&](const std::string& id) {
      return memory_.type_of_id(id).value_or(kind->type()) == kind->type();
    });
    if (wish.ids.empty() && wish.tokens.empty() && !wish.everything) continue;
    if (memory_.is_missing(kind->type())) continue;
    if (kind->may_be_missing()) {
      Status there = services_.volume.present(context.stop);
      if (there.code() == Code::NotFound) {
        memory_.note_missing(kind->type());
        continue;
      }
      if (!there.ok()) return there;
    }
    std::vector<Seen> seen;
    Status asked = kind->look(**call, wish, seen);
    if (!asked.ok()) return asked;
    for (Seen& one : seen) {
      memory_.note_id(one.id, one.type);
      memory_.note_name(one.id, one.address);
      found.insert_or_assign(one.id, std::move(one));
    }
  }
  return values_of(std::move(found));
}

// Resources that cost money: servers and volumes; and networks, which are created first and removed last.
Result<std::set<std::string>> OpenStackCloud::infrastructures(const Context& context,
                                                              const std::string& name) {
  if (!refused_.ok()) return refused_;
  std::set<std::string> found;
  const auto take = [&](const Mark& mark) {
    if (!mark.token.empty() && is_tag_of(mark.infrastructure, name)) found.insert(mark.infrastructure);
  };
  const auto of_metadata = [&](const Json& item) { take(from_metadata(member(item, "metadata"))); };
  const auto of_line = [&](const Json& item) { take(from_line(text_of(item, "description"))); };
  const http::Waits patience = waits(context);
  Status asked = services_.compute.each("/servers/detail", "servers", {}, patience, of_metadata);
  if (asked.ok() && services_.volume.present(context.stop).ok())
    asked = services_.volume.each("/volumes/detail", "volumes", {}, patience, of_metadata);
  if (asked.ok()) asked = services_.network.each("/networks", "networks", {}, patience, of_line);
  if (asked.ok())
    asked = services_.network.each("/security-groups", "security_groups", {}, patience, of_line);
  if (!asked.ok()) return asked;
  return found;
}

}  // namespace

Asked Kind::power(Asking&, const Order& order, Power) const {
  return Asked::refused(invalid(fmt::format("{}: a {} is not a machine", order.address, type())));
}

Asked Kind::image(Asking&, const Order& order, const std::string&) const {
  return Asked::refused(invalid(fmt::format("{}: a {} is not a machine", order.address, type())));
}

Asked Kind::update(Asking&, const Order& order) const {
  return Asked::refused(invalid(fmt::format("{}: a {} is never changed", order.address, type())));
}

Impact Kind::impact(const Json& before, const Json& after) const {
  if (before == after) return {Impact::Kind::InPlace, ""};
  return replace(fmt::format("a {} is never changed", type()));
}

Result<std::string> id_of_reference(const Order& order, const std::string& address) {
  auto found = order.references.find(address);
  if (found == order.references.end())
    return invalid(fmt::format("{}: {} does not exist", order.address, address));
  return found->second.id;
}

namespace {
constexpr const char* kDescription = "description";
}

std::string name_for(const Context& context, const Order& order) {
  return order.spec.value("name", context.infrastructure + "/" + order.address);
}

Status mark_in_network(Asking& call, const Order& order, const std::string& path, const std::string& key) {
  Json body = {{key, {{"description", to_line(mark_of(call.context, order))}}}};
  return post(call.services.network, call.context, path + "/" + order.id, std::move(body), true, "PUT")
      .asked.status;
}

Status mark_in_metadata(Asking& call, Service& service, const std::string& path, const Order& order,
                        Json marks) {
  return post(service, call.context, path + "/" + order.id + "/metadata", {{"metadata", std::move(marks)}},
              true)
      .asked.status;
}

Json marks_in_network(const Context& context, const Order& order) {
  return {{kDescription, to_line(mark_of(context, order))}};
}

Json marks_in_metadata(const Context& context, const Order& order) {
  Json marks = to_metadata(mark_of(context, order));
  const std::string user = text_of(order.attributes, "user"), key = text_of(order.attributes, "key");
  if (!user.empty()) marks[kUserKey] = user;
  if (!key.empty()) marks[kKeyKey] = key;
  return marks;
}

Status look_in_network(Asking& call, const Wish& wish, const char* type, const std::string& path,
                       const std::string& key, const std::function<void(const Json&, Seen&)>& fill,
                       std::vector<Seen>& seen) {
  return call.services.network.each(path, key, {}, waits(call.context), [&](const Json& item) {
    const Mark mark = from_line(text_of(item, "description"));
    Seen one;
    one.id = text_of(item, "id");
    if (one.id.empty() || !wish.wants(call.context, one.id, mark)) return;
    take_mark(call.context, mark, one);
    one.marks = {{kDescription, text_of(item, kDescription)}};
    one.type = type;
    one.phase = ResourcePhase::Ready;
    call.memory.note_name(one.id, one.address);
    fill(item, one);
    seen.push_back(std::move(one));
  });
}

std::unique_ptr<Cloud> make_cloud(const CloudId& id, http::Client& http, const Options& options,
                                  Result<Settings> settings) {
  return std::make_unique<OpenStackCloud>(id, http, options, std::move(settings));
}

}  // namespace radl::openstack
