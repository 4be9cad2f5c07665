#include "runtime/clouds/ec2/ec2_cloud.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "common/aws/service_quotas.h"
#include "common/digest.h"
#include "common/text.h"
#include "runtime/clouds/cloud_of_kinds.h"
#include "runtime/clouds/console.h"
#include "runtime/clouds/ec2/design.h"
#include "runtime/clouds/ec2/disk_tags.h"
#include "runtime/clouds/ec2/kind.h"
#include "runtime/clouds/ec2/network_acls.h"
#include "runtime/clouds/ec2/quotas.h"
#include "runtime/clouds/ec2/survey.h"
#include "runtime/clouds/loaded.h"

namespace radl::ec2 {
namespace {

class Ec2Cloud : public CloudOfKinds<Kind, Call> {
 public:
  Ec2Cloud(CloudId id, http::Client& client, const Options& options,
           std::shared_ptr<aws::CredentialSource> credentials, aws::QueryService ec2, aws::QueryService sts)
      : CloudOfKinds(std::move(id), "EC2", options.timing),
        options_(options),
        query_(client, credentials, ec2),
        sts_(client, credentials, std::move(sts)),
        api_(query_),
        http_(client),
        credentials_(credentials),
        caller_(caller_source(client, ec2.endpoint, options.caller)) {
    // What names others by their ids is looked at last.
    for (auto make :
         {make_security_group, make_elastic_ip, make_placement_group, make_key_pair, make_instance})
      kinds_.push_back(make());
  }

  std::vector<QuotaUse> quota_uses(const InstanceType& type, Market market, const Survey& survey,
                                   const Catalog&) const override {
    return ec2::quota_uses(type, market, survey);
  }
  Status can_make(const ir::Node& node, const DesignInput& input) const override {
    return check_node(id_, node, input);
  }
  Result<Design> design(const DesignInput& input) const override { return design_resources(id_, input); }
  std::vector<std::string> refused_in_advance(const Context& context,
                                              const std::vector<Order>& orders) override {
    Call call = call_of(context);
    return refused_launches(call, orders);
  }

  Asked ask_image(const Context& context, const Order& order, const std::string& name) override {
    return ask(context, order, [&](const Kind& kind, Call& call) { return kind.image(call, order, name); });
  }

  Result<std::string> id_named(const Context& context, const std::string& type,
                               const std::string& name) override;
  Status take_over(const Context& context, const Order& order) override;
  Status write_marks(const Context& context, const Order& order) override {
    return take_over(context, order);
  }
  Json marks_of(const Context& context, const Order& order) const override {
    return ec2::marks_of(context, order);
  }
  std::optional<Impact> impact_of_lost(const std::string& type, const std::string& needed) const override {
    if (type == "instance" && (needed == "security_group" || needed == "elastic_ip"))
      return Impact{Impact::Kind::InPlace, ""};
    return Cloud::impact_of_lost(type, needed);
  }
  Status release(const Context& context, const Order& order) override;
  Result<std::set<std::string>> infrastructures(const Context& context, const std::string& name) override;
  Result<std::vector<Seen>> look(const Context& context, const Query& query) override;

  Result<std::string> owner(const Context& context) override {
    auto identity = aws::caller_identity(sts_, context.stop);
    if (!identity.ok()) return identity.status();
    return identity->account;
  }

  // Without `Latest` EC2 answers with what it kept of the console minutes ago, or with nothing. Types that
  // are not built on Nitro have no other.
  Result<std::vector<std::string>> host_keys(const Context& context, const std::string& id) override {
    auto answer = api_.read(context, "GetConsoleOutput", {{"InstanceId", id}, {"Latest", "true"}});
    if (answer.status().code() == Code::Unsupported)
      answer = api_.read(context, "GetConsoleOutput", {{"InstanceId", id}});
    if (!answer.ok()) return answer.status();
    auto console = base64_decode(answer->field("output"));
    if (!console.ok()) return std::vector<std::string>();
    return host_keys_in(*console);
  }

 private:
  // A server of one's own that speaks EC2's API has no quotas at AWS's Service Quotas.
  void survey_quotas(const Stop& stop, Json& facts) {
    if (!options_.configuration) return;
    const auto mine = aws::endpoint_of(*options_.configuration, "ec2", id_.region),
               theirs = aws::endpoint_of(*options_.configuration, "service_quotas", id_.region);
    const auto of_aws = [](const Result<std::string>& endpoint) {
      return endpoint.ok() && endpoint->find(".amazonaws.") != std::string::npos;
    };
    if (of_aws(mine) != of_aws(theirs)) return;
    auto quotas = aws::ec2_quotas({http_, *options_.configuration, credentials_, id_.region, stop});
    if (quotas.ok())
      facts["quotas"] = *quotas;
    else
      facts["quotas_unknown"] = quotas.status().message();
  }

  Result<std::unique_ptr<Call>> asking(const Context& context) override {
    return std::unique_ptr<Call>(new Call{context, api_, memory_, id_, caller_});
  }
  Call call_of(const Context& context) { return {context, api_, memory_, id_, caller_}; }
  Result<Json> facts_for(Call& call, const ir::Program& program) override {
    auto identity = aws::caller_identity(sts_, call.context.stop);
    if (!identity.ok()) return identity.status();
    auto facts = take_survey(call, program);
    if (!facts.ok()) return facts;
    (*facts)["account"] = identity->account;
    survey_quotas(call.context.stop, *facts);
    return facts;
  }
  CloudMemory& memory() override { return memory_; }
  void note_references(const Order& order) override {
    memory_.note_references(order.references, "elastic_ip");
  }

  Result<std::string> tagged_id(const Context& context, const Order& order);

  const Options options_;
  aws::QueryClient query_, sts_;
  Api api_;
  http::Client& http_;
  std::shared_ptr<aws::CredentialSource> credentials_;
  Memory memory_;
  const CallerSource caller_;
};

Result<std::vector<Seen>> Ec2Cloud::look(const Context& context, const Query& query) {
  Call call = call_of(context);
  memory_.note_names(query.names);
  std::map<std::string, Seen> found;  // by id: what is named in more than one way is shown once
  for (const auto& kind : kinds_) {
    std::vector<std::string> ids, tokens;
    for (const std::string& id : query.ids)
      if (id.starts_with(kind->id_prefix())) ids.push_back(id);
    for (const std::string& token : query.tokens)
      if (memory_.type_of_token(token).value_or(kind->type()) == kind->type()) tokens.push_back(token);
    std::vector<Selection> selections = in_portions(Selection::By::Ids, ids);
    for (Selection& more : in_portions(Selection::By::Tokens, tokens)) selections.push_back(std::move(more));
    if (query.everything) selections.push_back({Selection::By::Infrastructure, {context.infrastructure}});
    for (const Selection& selection : selections) {
      std::vector<Seen> seen;
      // Resources requested by id exist; the rest of a list may be of a type that the server lacks.
      const bool by_id = selection.by == Selection::By::Ids;
      if (!by_id && memory_.is_missing(kind->type())) continue;
      Status asked = kind->look(call, selection, seen);
      if (asked.code() == Code::Unsupported && !by_id && kind->may_be_missing()) {
        memory_.note_missing(kind->type());
        continue;
      }
      if (!asked.ok()) return asked;
      for (Seen& one : seen) {
        // The token is another infrastructure's.
        if (selection.by == Selection::By::Tokens && one.token.empty()) continue;
        found.insert_or_assign(one.id, std::move(one));
      }
    }
  }
  if (Status compared = add_disk_tags(call, query.names, found); !compared.ok()) return compared;
  if (Status added = add_network_acls(call, query.names, found); !added.ok()) return added;
  return values_of(std::move(found));
}

// A placement group is known by its name, and carries tags by its id.
Result<std::string> Ec2Cloud::tagged_id(const Context& context, const Order& order) {
  if (order.type != "placement_group") return order.id;
  auto seen = look(context, {.tokens = {}, .ids = {order.id}, .everything = false, .names = {}});
  if (!seen.ok()) return seen.status();
  if (seen->empty()) return not_found(order.id + " is gone");
  return seen->front().attributes.value("group_id", "");
}

// A security group may be named by its name.
Result<std::string> Ec2Cloud::id_named(const Context& context, const std::string& type,
                                       const std::string& name) {
  if (type != "security_group" || name.starts_with("sg-")) return name;
  std::vector<std::string> ids;
  Status asked = api_.each(context, "DescribeSecurityGroups",
                           {{"Filter.1.Name", "group-name"}, {"Filter.1.Value.1", name}}, "securityGroupInfo",
                           [&](pugi::xml_node item) { ids.push_back(text_of(item, "groupId")); });
  if (!asked.ok()) return asked;
  if (ids.empty()) return not_found(id_.text() + " has no security group named " + name);
  if (ids.size() > 1) return invalid("several security groups are named " + name + ": " + join(ids, ", "));
  return ids.front();
}

Status Ec2Cloud::take_over(const Context& context, const Order& order) {
  auto id = tagged_id(context, order);
  if (!id.ok()) return id.status();
  Parameters parameters = {{"ResourceId.1", *id}};
  size_t number = 0;
  for (const auto& [name, value] : ec2::marks_of(context, order)) {
    parameters.emplace_back(fmt::format("Tag.{}.Key", ++number), name);
    parameters.emplace_back(fmt::format("Tag.{}.Value", number), value);
  }
  return api_.post(context, "CreateTags", parameters, true).asked.status;
}

// A machine's disks carry the same tags.
Status Ec2Cloud::release(const Context& context, const Order& order) {
  auto id = tagged_id(context, order);
  if (!id.ok()) return id.status();
  std::vector<std::string> ids = {std::move(*id)};
  if (order.type == "instance") {
    auto seen = look(context, {.tokens = {}, .ids = {order.id}, .everything = false, .names = {}});
    if (!seen.ok()) return seen.status();
    if (seen->empty()) return not_found(order.id + " is gone");
    const Json volumes = seen->front().attributes.value("volumes", Json::object());
    for (const auto& [letter, volume] : volumes.items()) ids.push_back(volume.get<std::string>());
  }
  Parameters parameters;
  add_list(parameters, "ResourceId", ids);
  size_t number = 0;
  for (const char* tag : {kInfrastructureTag, kAddressTag, kTokenTag})
    parameters.emplace_back(fmt::format("Tag.{}.Key", ++number), tag);
  return api_.post(context, "DeleteTags", parameters, true).asked.status;
}

// Each has a security group from its beginning to its end.
Result<std::set<std::string>> Ec2Cloud::infrastructures(const Context& context, const std::string& name) {
  std::string pattern;
  for (char c : name) {
    if (c == '*' || c == '?' || c == '\\') pattern += '\\';
    pattern += c;
  }
  Parameters parameters;
  add_filter(parameters, std::string("tag:") + kInfrastructureTag, {pattern + "-*"});
  std::set<std::string> found;
  Status asked =
      api_.each(context, "DescribeSecurityGroups", parameters, "securityGroupInfo", [&](pugi::xml_node item) {
        std::string tag = tag_of(tags_of(item), kInfrastructureTag);
        if (is_tag_of(tag, name)) found.insert(std::move(tag));
      });
  if (!asked.ok()) return asked;
  return found;
}

class Family : public CloudFamily {
 public:
  Family(const Environment& environment, LoadOptions load) : loaded_(environment, std::move(load)) {}
  const std::string& type() const override { return provider().type; }
  std::vector<std::string> image_schemes() const override { return provider().image_schemes; }

  bool has_credentials(const std::string& account) const override {
    const auto options = loaded_.options();
    return options.ok() && (*options)->has_credentials(account);
  }

  std::string region_for(const ir::Node& node) const override {
    const std::string named = region_named(node);
    if (!named.empty()) return named;
    const auto options = loaded_.options();
    return options.ok() ? (*options)->default_region : "";
  }

  Result<std::unique_ptr<Cloud>> make(const CloudId& id) override {
    const auto options = loaded_.options();
    if (!options.ok()) return options.status();
    if (id.region.empty())
      return invalid("cloud ec2: no region is named")
          .with_hint(
              "Set AWS_REGION, `region` in ~/.aws/config, or availability_zone = 'eu-west-1' in the file.");
    if (!aws::is_region_name(id.region))
      return invalid(fmt::format("cloud ec2: '{}' is not a region", id.region));
    auto credentials = (*options)->credentials(id.account);
    if (!credentials.ok()) return credentials.status();
    auto ec2 = aws::query_service(*(*options)->configuration, "ec2", id.region);
    if (!ec2.ok()) return ec2.status();
    auto sts = aws::query_service(*(*options)->configuration, "sts", id.region);
    if (!sts.ok()) return sts.status();
    return std::unique_ptr<Cloud>(std::make_unique<Ec2Cloud>(
        id, loaded_.http(), **options, std::move(*credentials), std::move(*ec2), std::move(*sts)));
  }

 private:
  const Loaded<Options> loaded_;
};

}  // namespace

Asked Kind::power(Call&, const Order& order, Power) const {
  return Asked::refused(invalid(fmt::format("{}: a {} is not a machine", order.address, type())));
}

Asked Kind::image(Call&, const Order& order, const std::string&) const {
  return Asked::refused(invalid(fmt::format("{}: a {} is not a machine", order.address, type())));
}

Result<Options> options_of(http::Client& http) {
  Options options;
  auto configuration = aws::Configuration::load(http.environment());
  if (!configuration.ok()) return configuration.status();
  options.configuration = *configuration;
  auto region = options.configuration->region();
  if (!region.ok()) return region.status();
  options.default_region = *region;
  if (Status taken = take_timing(http.environment(), "RADL_EC2", options); !taken.ok()) return taken;
  options.credentials = [&http, configuration = options.configuration](
                            const std::string& account) -> Result<std::shared_ptr<aws::CredentialSource>> {
    if (!account.empty())
      return invalid(fmt::format("there are no credentials named '{}'", account))
          .with_hint("--auth FILE, RADL_AUTH or IM_AUTH names the file that has them");
    return aws::default_credentials(http, configuration);
  };
  options.has_credentials = [configuration = options.configuration](const std::string& account) {
    return account.empty() && aws::credentials_configured(*configuration);
  };
  return options;
}

std::unique_ptr<CloudFamily> make_family(const Environment& environment, LoadOptions load) {
  return std::make_unique<Family>(environment, std::move(load));
}

}  // namespace radl::ec2
