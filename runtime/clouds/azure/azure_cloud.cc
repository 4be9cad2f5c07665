#include "runtime/clouds/azure/azure_cloud.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "common/http/http.h"
#include "common/http/url.h"
#include "common/text.h"
#include "runtime/clouds/azure/admin_rules.h"
#include "runtime/clouds/azure/design.h"
#include "runtime/clouds/azure/kind.h"
#include "runtime/clouds/azure/survey.h"
#include "runtime/clouds/cloud_of_kinds.h"
#include "runtime/clouds/console.h"

namespace radl::azure {
namespace {

constexpr size_t kLargestLog = 4 << 20;
constexpr double kFewLeft = 50;  // requests
constexpr std::chrono::milliseconds kRarely{30'000};

class AzureCloud : public CloudOfKinds<Kind, Asking> {
 public:
  AzureCloud(CloudId id, http::Client& http, const Options& options, Result<Settings> settings)
      : CloudOfKinds(std::move(id), "Azure", options.timing),
        refused_(settings.status()),
        session_(http, settings.ok() ? *settings : options.places),
        manager_(session_),
        caller_(caller_source(http, session_.settings().site.manager, options.caller)) {
    // Inspects resources that reference others last.
    for (auto make :
         {make_resource_group, make_address, make_nat_gateway, make_network, make_group, make_security_group,
          make_interface, make_disk, make_placement, make_image, make_machine})
      kinds_.push_back(make());
  }

  std::vector<QuotaUse> quota_uses(const InstanceType& type, Market market, const Survey& survey,
                                   const Catalog& catalog) const override {
    return machine_quota_uses(id_, type, market, survey, catalog, quotas_taken(survey));
  }
  Status can_make(const ir::Node& node, const DesignInput& input) const override {
    return check_node(id_, node, input);
  }
  Result<Design> design(const DesignInput& input) const override { return design_resources(id_, input); }
  Result<std::vector<Seen>> look(const Context& context, const Query& query) override;

  Result<std::string> owner(const Context& context) override {
    auto call = asking(context);
    if (!call.ok()) return call.status();
    // The subscription that the Resource Manager accepts with these credentials, not the configured one.
    Answer answer = manager_.call({.method = "GET",
                                   .path = "subscriptions/" + (*call)->subscription,
                                   .version = kSubscriptions,
                                   .query = {},
                                   .body = nullptr,
                                   .headers = {}},
                                  waits(context));
    if (!answer.ok()) return answer.failure().status;
    return text_of(answer.json(), "subscriptionId");
  }

  Result<std::string> id_named(const Context& context, const std::string& type,
                               const std::string& name) override;

  Status write_marks(const Context& context, const Order& order) override {
    return mark(context, order, [&](Json& tags) { tags.update(azure::marks_of(context, order)); });
  }
  Json marks_of(const Context& context, const Order& order) const override {
    return azure::marks_of(context, order);
  }
  std::optional<Impact> impact_of_lost(const std::string& type, const std::string& needed) const override {
    if (type == "interface" && (needed == "address" || needed == "group" || needed == "security_group"))
      return Impact{Impact::Kind::InPlace, ""};
    return Cloud::impact_of_lost(type, needed);
  }
  Status take_over(const Context& context, const Order& order) override {
    return mark(context, order, [&](Json& tags) {
      if (tags.contains(kReleasedTag)) tags.update(azure::marks_of(context, order));
      tags.erase(kReleasedTag);
    });
  }
  // Its resource group is not removed while it is in there, and knows it by the last tag.
  Status release(const Context& context, const Order& order) override {
    return mark(context, order, [](Json& tags) {
      for (const char* ours : {kInfrastructureTag, kAddressTag, kTokenTag}) tags.erase(ours);
      tags[kReleasedTag] = "true";
    });
  }
  Result<std::set<std::string>> infrastructures(const Context& context, const std::string& name) override;

  // cloud-init writes them to the console, whose log Azure gives by an address of its own.
  Result<std::vector<std::string>> host_keys(const Context& context, const std::string& id) override {
    const std::vector<std::string> none;
    auto call = asking(context);
    if (!call.ok()) return call.status();
    Posted posted = send(**call, "POST", id + "/retrieveBootDiagnosticsData", kCompute, nullptr);
    // No log yet, or not to be seen by these credentials: then they are learned at the first contact.
    const std::string url = text_of(posted.accepted_as.document, "serialConsoleLogBlobUri");
    if (!posted.accepted() || url.empty()) return none;
    http::Request request;
    request.url = url;  // its query is its password
    request.largest_answer = kLargestLog;
    request.stop = context.stop;
    auto log = session_.http().send(request, http::Retries{});
    return log.ok() && log->ok() ? host_keys_in(log->body) : none;
  }

  // Where few requests are left before Azure throttles, looks are rarer.
  Pace pace() const override {
    Pace pace = timing_.pace;
    const double left = manager_.remaining();
    if (left >= 0 && left < kFewLeft) pace.longest = std::max(pace.longest, kRarely);
    return pace;
  }

 private:
  Status mark(const Context& context, const Order& order, const std::function<void(Json&)>& change) {
    const Kind* kind = kind_of(order.type);
    auto call = asking(context);
    if (!call.ok()) return call.status();
    if (!kind) return no_kind(order.type);
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
    auto now = read(**call, order.id, kind->version());
    if (!now.ok()) return now.status();
    Json tags = member(*now, "tags");
    if (!tags.is_object()) tags = Json::object();
    const Json before = tags;
    change(tags);
    if (tags == before) return {};
    Posted posted = send(**call, "PATCH", order.id, kind->version(), {{"tags", std::move(tags)}});
    if (!posted.accepted()) return posted.asked.status;
    memory_.operations.began(order.id,
                             {posted.accepted_as.operation,
                              Effect::Changes,
                              kind->type(),
                              context.infrastructure,
                              order.address,
                              "",
                              "",
                              {}},
                             posted.accepted_as.retry_after);
    return finish();
  }

  // The configured subscription, else the only one that the credentials see.
  Result<std::string> subscription(const Stop& stop) {
    const Settings& settings = session_.settings();
    if (!settings.subscription.empty()) return settings.subscription;
    return memory_.subscriptions.get("", [&]() -> Result<std::string> {
      std::vector<std::string> found;
      Status asked =
          manager_.each({.method = "GET",
                         .path = "subscriptions",
                         .version = kSubscriptions,
                         .query = {},
                         .body = nullptr,
                         .headers = {}},
                        stop, [&](const Json& one) { found.push_back(text_of(one, "subscriptionId")); });
      if (!asked.ok()) return asked;
      if (found.size() == 1) return found.front();
      return Status(Code::Auth, fmt::format("{} sees {} subscriptions of Azure, and machines belong to one",
                                            settings.credential.origin, found.size()))
          .with_hint("set AZURE_SUBSCRIPTION_ID; `az account list` shows them");
    });
  }

  Result<std::unique_ptr<Asking>> asking(const Context& context) override {
    if (!refused_.ok()) return refused_;
    auto subscription = this->subscription(context.stop);
    if (!subscription.ok()) return subscription.status();
    return std::unique_ptr<Asking>(
        new Asking{context, manager_, memory_, id_, std::move(*subscription), caller_, {}});
  }

  Result<Json> facts_for(Asking& call, const ir::Program& program) override {
    return take_survey(call, program);
  }
  CloudMemory& memory() override { return memory_; }
  void note_references(const Order& order) override {
    for (const auto& [address, reference] : order.references) memory_.note_name(reference.id, address);
  }

  const Status refused_;  // not ok: there are no credentials
  Session session_;
  Manager manager_;
  Memory memory_;
  const CallerSource caller_;
};

Result<std::vector<Seen>> AzureCloud::look(const Context& context, const Query& query) {
  auto call = asking(context);
  if (!call.ok()) return call.status();
  memory_.note_names(query.names);
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
    if (Status added = add_admin_rules(**call, found); !added.ok()) return added;
  }
  return values_of(std::move(found));
}

// Each has a resource group of its own in a region.
Result<std::set<std::string>> AzureCloud::infrastructures(const Context& context, const std::string& name) {
  auto call = asking(context);
  if (!call.ok()) return call.status();
  auto groups = list(**call, "resourceGroups", kResources);
  if (!groups.ok()) return groups.status();
  std::set<std::string> found;
  for (const Json& group : **groups) {
    const Mark mark = mark_in(group);
    const bool here = text_of(group, "location") == id_.region;
    if (here && !mark.token.empty() && is_tag_of(mark.infrastructure, name))
      found.insert(mark.infrastructure);
  }
  return found;
}

// "/subscriptions/S/resourceGroups/G/..", as the portal and `az` show it.
Result<std::string> AzureCloud::id_named(const Context& context, const std::string& type,
                                         const std::string& name) {
  auto call = asking(context);
  if (!call.ok()) return call.status();
  const std::string id = id_in(name), lower = to_lower(name);
  const bool whole = lower.starts_with("/subscriptions/");
  if (whole && !lower.starts_with("/" + to_lower((*call)->root())))
    return invalid(fmt::format("{} is of another subscription than {}", name, (*call)->subscription));
  const Kind* kind = kind_of(type);
  const bool known =
      std::any_of(kinds_.begin(), kinds_.end(), [&](const auto& one) { return one->has_id(id); });
  if (known && !id.ends_with('/')) return id;
  const std::string form =
      kind ? fmt::format("/providers/{}/{}/NAME", kind->provider(), kind->collection()) : "/..";
  return invalid(fmt::format("'{}' is not a resource ID of Azure", name))
      .with_hint(fmt::format(
          "an id is /subscriptions/SUBSCRIPTION/resourceGroups/GROUP{}; `az resource list --query "
          "[].id` shows them",
          form));
}

}  // namespace

std::unique_ptr<Cloud> make_cloud(const CloudId& id, http::Client& http, const Options& options,
                                  Result<Settings> settings) {
  return std::make_unique<AzureCloud>(id, http, options, std::move(settings));
}

}  // namespace radl::azure
