#include "runtime/clouds/openstack/openstack_cloud.h"

#include <fmt/format.h>

#include <ctime>
#include <map>
#include <set>

#include "common/http/url.h"
#include "common/text.h"
#include "runtime/clouds/caller.h"
#include "runtime/clouds/console.h"
#include "runtime/clouds/openstack/design.h"
#include "runtime/clouds/openstack/kind.h"
#include "runtime/clouds/openstack/quotas.h"
#include "runtime/clouds/openstack/survey.h"
#include "runtime/clouds/takes_over.h"

namespace radl::openstack {
namespace {

std::string host_of(const Result<Settings>& settings) {
  if (!settings.ok()) return "";
  auto url = http::parse_url(settings->of("auth_url"));
  return url.ok() ? to_lower(url->host) : "";
}

class OpenStackCloud : public Cloud, public TakesOver {
 public:
  OpenStackCloud(CloudId id, http::Client& http, const Options& options, Result<Settings> settings)
      : id_(std::move(id)),
        timing_(options.timing),
        place_{id_, host_of(settings), settings.ok() ? settings->egi_site : ""},
        refused_(settings.status()),
        session_(http, settings.ok() ? *settings : Settings()),
        services_(session_) {
    caller_ = [&http, url = settings.ok() ? settings->of("auth_url") : "",
               given = options.caller](const Stop& stop) -> Result<std::string> {
      if (!given.empty()) return given;
      return caller_cidr(http, url, stop);
    };
    // What names others by their ids is looked at last.
    for (auto make : {make_key_pair, make_security_group, make_network, make_subnet, make_router,
                      make_floating_ip, make_server_group, make_volume, make_server})
      kinds_.push_back(make());
  }

  const CloudId& id() const override { return id_; }

  Result<Survey> survey(const Context& context, const ir::Program& program) override {
    if (!refused_.ok()) return refused_;
    Asking call = asking(context);
    auto facts = take_survey(call, program, place_.host);
    if (!facts.ok()) return facts.status();
    Survey survey;
    survey.taken_at = static_cast<double>(std::time(nullptr));
    survey.facts = std::move(*facts);
    return survey;
  }

  std::vector<QuotaUse> quota_uses(const InstanceType& type, Market, const Survey& survey,
                                   const Catalog&) const override {
    return openstack::quota_uses(type, survey);
  }
  Status can_make(const ir::Node& node, const DesignInput& input) const override {
    return check_node(place_, node, input);
  }
  Result<Design> design(const DesignInput& input) const override { return design_resources(place_, input); }
  Impact impact(const std::string& type, const Json& before, const Json& after) const override {
    const Kind* kind = kind_of(type);
    if (before == after) return {Impact::Kind::InPlace, ""};
    return kind ? kind->impact(before, after) : replace("OpenStack has no resources of that type");
  }

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
  Asked ask_update(const Context& context, const Order& order) override {
    return ask(context, order, [&](const Kind& kind, Asking& call) { return kind.update(call, order); });
  }
  Asked ask_power(const Context& context, const Order& order, Power power) override {
    return ask(context, order,
               [&](const Kind& kind, Asking& call) { return kind.power(call, order, power); });
  }
  Asked ask_image(const Context& context, const Order& order, const std::string& name) override {
    return ask(context, order, [&](const Kind& kind, Asking& call) { return kind.image(call, order, name); });
  }
  Asked ask_destroy(const Context& context, const Order& order) override {
    memory_.creations.forget(order.id);
    return ask(context, order, [&](const Kind& kind, Asking& call) { return kind.destroy(call, order); });
  }

  Result<std::vector<Seen>> look(const Context& context, const Query& query) override;

  Status take_over(const Context& context, const Order& order) override {
    const Kind* kind = kind_of(order.type);
    Asking call = asking(context);
    return kind ? kind->mark(call, order) : Status();
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
    if (!refused_.ok()) return refused_;
    const Kind* kind = kind_of(order.type);
    if (!kind || kind->is_marked_by_name())
      return Status(Code::Unsupported, order.id + ": its name identifies it for radlc and cannot change");
    Asking call = asking(context);
    Order unmarked = order;
    unmarked.token.clear();
    return kind->mark(call, unmarked);
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
  bool trusts_on_first_use() const override { return true; }

  std::chrono::milliseconds settles_after() const override { return timing_.settles_after; }
  Pace pace() const override { return timing_.pace; }
  bool resolves_names() const override { return false; }

 private:
  Asking asking(const Context& context) { return {context, services_, memory_, id_, caller_}; }

  const Kind* kind_of(const std::string& type) const {
    for (const auto& kind : kinds_)
      if (type == kind->type()) return kind.get();
    return nullptr;
  }

  template <class How>
  Asked ask(const Context& context, const Order& order, How how) {
    if (!refused_.ok()) return Asked::refused(refused_);
    const Kind* kind = kind_of(order.type);
    if (!kind)
      return Asked::refused(invalid(fmt::format("OpenStack has no resources of type '{}'", order.type)));
    memory_.note_references(order.references, "floating_ip");
    Asking call = asking(context);
    Asked asked = how(*kind, call);
    if (asked.status.ok() || asked.status.message().starts_with(order.address)) return asked;
    asked.status = std::move(asked.status).at(order.address);
    return asked;
  }

  // The part of the query that may be of this type.
  Wish wish_for(const Kind& kind, const Query& query) const {
    Wish wish{{}, {}, query.everything};
    for (const std::string& id : query.ids)
      if (memory_.type_of_id(id).value_or(kind.type()) == kind.type()) wish.ids.insert(id);
    for (const std::string& token : query.tokens)
      if (memory_.type_of_token(token).value_or(kind.type()) == kind.type()) wish.tokens.insert(token);
    return wish;
  }

  const CloudId id_;
  const Timing timing_;
  const Place place_;
  const Status refused_;  // not ok: there are no credentials
  Session session_;
  Services services_;
  Memory memory_;
  std::function<Result<std::string>(const Stop&)> caller_;
  std::vector<std::unique_ptr<Kind>> kinds_;
};

Result<std::vector<Seen>> OpenStackCloud::look(const Context& context, const Query& query) {
  if (!refused_.ok()) return refused_;
  Asking call = asking(context);
  memory_.note_names(query.names);
  std::map<std::string, Seen> found;  // by id: what is named in more than one way is shown once
  for (const auto& kind : kinds_) {
    const Wish wish = wish_for(*kind, query);
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
    Status asked = kind->look(call, wish, seen);
    if (!asked.ok()) return asked;
    for (Seen& one : seen) {
      memory_.note_id(one.id, one.type);
      memory_.note_name(one.id, one.address);
      found.insert_or_assign(one.id, std::move(one));
    }
  }
  std::vector<Seen> all;
  for (auto& [id, seen] : found) all.push_back(std::move(seen));
  return all;
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
