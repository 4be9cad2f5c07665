#include "runtime/clouds/gce/gce_cloud.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "common/http/http.h"
#include "runtime/clouds/cloud_of_kinds.h"
#include "runtime/clouds/console.h"
#include "runtime/clouds/gce/design.h"
#include "runtime/clouds/gce/foreign_rules.h"
#include "runtime/clouds/gce/kind.h"
#include "runtime/clouds/gce/operations.h"
#include "runtime/clouds/gce/survey.h"

namespace radl::gce {
namespace {

class GceCloud : public CloudOfKinds<Kind, Asking> {
 public:
  GceCloud(CloudId id, http::Client& http, const Options& options, Result<google::Settings> settings,
           const std::string& zone)
      : CloudOfKinds(std::move(id), "Compute Engine", options.timing),
        place_{id_, zone},
        refused_(settings.status()),
        session_(http, settings.ok() ? *settings : google::Settings()),
        service_(session_, session_.settings().compute_url),
        caller_(caller_source(http, session_.settings().compute_url, options.caller)) {
    // What names others (tags, addresses) is looked at last.
    for (auto make : {make_network, make_subnet, make_router, make_firewall, make_address, make_disk,
                      make_placement, make_instance})
      kinds_.push_back(make());
  }

  std::vector<QuotaUse> quota_uses(const InstanceType& type, Market market, const Survey& survey,
                                   const Catalog& catalog) const override {
    return machine_quota_uses(place_.cloud, type, market, survey, catalog, quotas_taken(survey));
  }
  Status can_make(const ir::Node& node, const DesignInput& input) const override {
    return check_node(place_, node, input);
  }
  Result<Design> design(const DesignInput& input) const override { return design_resources(place_, input); }
  Result<std::vector<Seen>> look(const Context& context, const Query& query) override;

  Result<std::string> owner(const Context& context) override {
    auto call = asking(context);
    if (!call.ok()) return call.status();
    google::Answer answer =
        service_.call({.method = "GET", .path = "projects/" + (*call)->project, .query = {}, .body = nullptr},
                      waits(context));
    if (!answer.ok()) return answer.failure().status;
    return text_of(answer.json(), "id");
  }

  Result<std::string> id_named(const Context& context, const std::string& type,
                               const std::string& name) override;
  Json marks_of(const Context& context, const Order& order) const override {
    const Kind* kind = kind_of(order.type);
    return kind ? kind->marks(context, order) : Json::object();
  }
  // Firewall rules and routers are for the network, and tags name no rule: a machine goes on as it is.
  std::optional<Impact> impact_of_lost(const std::string& type, const std::string& needed) const override {
    if (type == "instance" && (needed == "firewall" || needed == "router")) return std::nullopt;
    if (type == "instance" && needed == "address") return Impact{Impact::Kind::InPlace, ""};
    return Cloud::impact_of_lost(type, needed);
  }

  // What carries the mark never changes (the description): a label says that it means nothing any more.
  Status release(const Context& context, const Order& order) override {
    return mark(context, order, [](Json& labels) {
      for (const char* ours : {kInfrastructureLabel, kAddressLabel}) labels.erase(ours);
      labels[kReleasedLabel] = "true";
    });
  }
  Status write_marks(const Context& context, const Order& order) override {
    if (order.type != "disk") return TakesOver::write_marks(context, order);
    return mark(context, order, [&](Json& labels) { labels.update(labels_for(context, order)); });
  }
  Status take_over(const Context& context, const Order& order) override {
    const Kind* kind = kind_of(order.type);
    if (!kind || !kind->has_labels()) return {};
    return mark(context, order, [&](Json& labels) {
      if (labels.contains(kReleasedLabel)) labels.update(labels_for(context, order));
      labels.erase(kReleasedLabel);
    });
  }
  Result<std::set<std::string>> infrastructures(const Context& context, const std::string& name) override;

  // Google's guest agent writes them into the machine's guest attributes, over a way of Google's own; images
  // without it have cloud-init, which writes them to the serial port.
  Result<std::vector<std::string>> host_keys(const Context& context, const std::string& id) override {
    auto call = asking(context);
    if (!call.ok()) return call.status();
    auto found = read(**call, id + "/getGuestAttributes", {{"queryPath", "hostkeys/"}});
    const Code code = found.status().code();
    // Not written yet, or not to be seen by this account.
    const bool none = code == Code::NotFound || code == Code::Auth || code == Code::Invalid;
    if (!found.ok() && !none) return found.status();
    std::vector<std::string> keys;
    for (const Json& item : found.ok() ? list_of(member(*found, "queryValue"), "items") : Json::array()) {
      const std::string type = text_of(item, "key"), value = text_of(item, "value");
      const bool right = type.starts_with("ssh-") || type.starts_with("ecdsa-");
      if (right && !value.empty() && value.find_first_of(" \r\n") == value.npos)
        keys.push_back(type + " " + value);
    }
    if (!keys.empty()) return keys;
    auto port = read(**call, id + "/serialPort", {{"port", "1"}});
    return port.ok() ? host_keys_in(text_of(*port, "contents")) : keys;
  }

 private:
  Status mark(const Context& context, const Order& order, const std::function<void(Json&)>& change) {
    const Kind* kind = kind_of(order.type);
    if (!kind || !kind->has_labels())
      return Status(Code::Unsupported,
                    order.id + ": its description identifies it for radlc and cannot change");
    auto call = asking(context);
    if (!call.ok()) return call.status();
    auto finish = [&] {
      return memory_.operations.finish(
          order.id,
          [&] {
            return poll_operations(**call,
                                   [&](const std::string& id, const Operation&) { return id == order.id; });
          },
          timing_.pace, context.stop);
    };
    // An earlier change may not show yet, and the resource takes no other one until it is done.
    if (Status earlier = finish(); earlier.code() == Code::Cancelled || earlier.code() == Code::Timeout)
      return earlier;
    auto now = read(**call, order.id);
    if (!now.ok()) return now.status();
    Json labels = member(*now, "labels");
    if (!labels.is_object()) labels = Json::object();
    const Json before = labels;
    change(labels);
    if (labels == before) return {};
    Posted posted =
        post(**call, order.id + "/setLabels",
             {{"labels", std::move(labels)}, {"labelFingerprint", text_of(*now, "labelFingerprint")}});
    if (!posted.accepted()) return posted.asked.status;
    memory_.operations.began(
        order.id,
        {posted.operation, Effect::Changes, kind->type(), context.infrastructure, order.address, "", "", {}});
    return finish();
  }

  Result<std::unique_ptr<Asking>> asking(const Context& context) override {
    if (!refused_.ok()) return refused_;
    auto project = session_.project(context.stop);
    if (!project.ok()) return project.status();
    return std::unique_ptr<Asking>(new Asking{context, service_, memory_, id_, std::move(*project), caller_});
  }

  Result<Json> facts_for(Asking& call, const ir::Program& program) override {
    return take_survey(call, program);
  }
  CloudMemory& memory() override { return memory_; }
  void note_references(const Order& order) override { memory_.note_references(order.references, "address"); }

  // The network tags of the groups whose rules the state has, also where somebody changed their marks: a
  // rule's address is its group's, or begins with it.
  void note_groups(const Context& context, const Query& query) {
    for (const auto& [id, address] : query.names) {
      for (size_t end = address.size(); end != address.npos && end > 0; end = address.rfind('.', end - 1)) {
        const std::string group = address.substr(0, end);
        memory_.note_name(tag_of(context, id_, group), group);
      }
    }
  }

  const Place place_;
  const Status refused_;  // not ok: there are no credentials
  google::Session session_;
  google::Service service_;
  Memory memory_;
  const CallerSource caller_;
};

Result<std::vector<Seen>> GceCloud::look(const Context& context, const Query& query) {
  auto call = asking(context);
  if (!call.ok()) return call.status();
  memory_.note_names(query.names);
  note_groups(context, query);
  // Before the lists: what is done by then is in them.
  Status polled = poll_operations(**call, [&](const std::string& id, const Operation& one) {
    return is_wanted(context, query, id, one);
  });
  if (!polled.ok()) return polled;
  std::map<std::string, Seen> found;  // by id: what is named in more than one way is shown once
  for (const auto& kind : kinds_) {
    const auto wish = wish_for<Wish>(*kind, query, [&](const std::string& id) { return kind->has_id(id); });
    if (wish.empty()) continue;
    std::vector<Seen> seen;
    if (Status asked = kind->look(**call, wish, seen); !asked.ok()) return asked;
    for (Seen& one : seen) found.insert_or_assign(one.id, std::move(one));
  }
  memory_.operations.add_to(context, query, found);
  if (!query.names.empty()) {
    if (Status added = add_foreign_rules(**call, found); !added.ok()) return added;
    if (Status added = add_policy_rules(**call, found); !added.ok()) return added;
  }
  return values_of(std::move(found));
}

// Machines and disks of the region, and the networks, which are created first and removed last.
Result<std::set<std::string>> GceCloud::infrastructures(const Context& context, const std::string& name) {
  auto call = asking(context);
  if (!call.ok()) return call.status();
  std::set<std::string> found;
  const auto take = [&](const Json& item) {
    const Mark mark = mark_in(item);
    if (!mark.token.empty() && is_tag_of(mark.infrastructure, name)) found.insert(mark.infrastructure);
  };
  for (const char* collection : {"instances", "disks"}) {
    Status asked = service_.each((*call)->root() + "aggregated/" + collection,
                                 google::Scopes{collection, id_.region}, {}, waits(context), take);
    if (!asked.ok()) return asked;
  }
  Status asked =
      service_.each((*call)->root() + "global/networks", google::Scopes{}, {}, waits(context), take);
  if (!asked.ok()) return asked;
  return found;
}

// "https://..../projects/P/zones/Z/instances/N" and what is left of it from any '/' on.
Result<std::string> GceCloud::id_named(const Context& context, const std::string& type,
                                       const std::string& name) {
  auto call = asking(context);
  if (!call.ok()) return call.status();
  const Kind* kind = kind_of(type);
  std::string id = name;
  if (const std::string path = project_path_of(name); !path.empty()) {
    if (!path.starts_with((*call)->root()))
      return invalid(fmt::format("{} is of another project than {}", name, (*call)->project));
    id = partial_of(path);
  }
  if (id.starts_with('/')) id.erase(0, 1);
  const std::string place = !kind || kind->scope() == Scope::Zone ? "" : kind->place(**call, {});
  if (!place.empty() && id.find('/') == id.npos) return place + "/" + id;
  const bool known =
      std::any_of(kinds_.begin(), kinds_.end(), [&](const auto& one) { return one->has_id(id); });
  if (known && !id.ends_with('/')) return id;
  return invalid(fmt::format("'{}' is not a resource ID of Compute Engine", name))
      .with_hint(fmt::format(
          "an id is a path: {}/NAME; `gcloud compute {} list --uri` shows them",
          place.empty() ? fmt::format("zones/ZONE/{}", kind ? kind->collection() : "instances") : place,
          kind ? kind->collection() : "instances"));
}

}  // namespace

std::unique_ptr<Cloud> make_cloud(const CloudId& id, http::Client& http, const Options& options,
                                  Result<google::Settings> settings, const std::string& zone) {
  return std::make_unique<GceCloud>(id, http, options, std::move(settings), zone);
}

}  // namespace radl::gce
