#include "runtime/clouds/ec2/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "common/shorten.h"

namespace radl::ec2 {
namespace {

constexpr size_t kValuesInAFilter = 200;

aws::CallOptions call_options(const Context& context, aws::Effect effect) {
  aws::CallOptions options;
  options.effect = effect;
  options.stop = context.stop;
  return options;
}

bool among(std::string_view code, std::initializer_list<std::string_view> codes) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

bool is_quota(const std::string& code) {
  return !aws::is_throttling(code) &&
         (code.ends_with("LimitExceeded") || code == "MaxSpotInstanceCountExceeded");
}

}  // namespace

bool is_capacity(const std::string& code) {
  return among(code, {"InsufficientInstanceCapacity", "InsufficientHostCapacity",
                      "InsufficientReservedInstanceCapacity", "InsufficientCapacity", "Unsupported",
                      "SpotMaxPriceTooLow", "InsufficientCapacityOnHost", "InsufficientFreeAddressesInSubnet",
                      "UnfulfillableCapacity"});
}

namespace {

// What a user can do about an error of EC2's. Source: Amazon EC2 API Reference, "Error codes".
std::string hint_of(const std::string& code) {
  if (is_quota(code) && code.starts_with("Address"))
    return "Release an unused elastic address, or request a higher quota from AWS (Service Quotas).";
  if (is_quota(code))
    return "Run `radlc check-auth` to see the account's quotas in this region. Request a higher quota from "
           "AWS (Service Quotas), or use another region or instance_type.";
  if (code.ends_with(".Duplicate"))
    return "It exists but does not belong to this infrastructure. Delete it, or choose another name in the "
           "file.";
  if (code.starts_with("InvalidAMIID"))
    return "An image has a different ID in each region. Its owner may also have removed it or made it "
           "private.";
  if (code.starts_with("InvalidVpcID") || code.starts_with("InvalidSubnet"))
    return "Set the network's provider_id to a VPC or subnet of this region and account.";
  if (code == "PendingVerification")
    return "AWS verifies new accounts, which takes up to four hours. Try again later.";
  if (code == "Blocked") return "AWS has blocked the account. Ask AWS Support.";
  if (code == "Unsupported") return "Use another instance_type or availability zone.";
  return "";
}

Status coded(Code code, const Status& status) {
  return Status(code, status.message()).with_hint(status.hint());
}

Status coded_status(const aws::Failure& failure) {
  const std::string& code = failure.reason;
  if (is_capacity(code) || is_quota(code)) return coded(Code::Quota, failure.status);
  if (code.find("NotFound") != code.npos || code == "InvalidPlacementGroup.Unknown")
    return coded(Code::NotFound, failure.status);
  // A 404 without an EC2 error code is from a gateway or a wrong endpoint, not about a resource.
  if (failure.status.code() == Code::NotFound)
    return Status(Code::Invalid, failure.status.message())
        .with_hint("This is not a response of EC2. Check the endpoint (AWS_ENDPOINT_URL_EC2).");
  if (code.ends_with(".Duplicate")) return coded(Code::Exists, failure.status);
  if (among(code, {"DependencyViolation", "InvalidGroup.InUse", "IncorrectInstanceState", "IncorrectState",
                   "InvalidIPAddress.InUse", "ResourceInUse", "InvalidPlacementGroup.InUse"}))
    return coded(Code::Retry, failure.status);
  return failure.status;
}

}  // namespace

Status status_of(const aws::Failure& failure) {
  Status status = coded_status(failure);
  if (!status.hint().empty()) return status;
  return std::move(status).with_hint(hint_of(failure.reason));
}

bool lacks_action(const aws::Failure& failure) {
  return failure.http_status == 501 ||
         among(failure.reason, {"InvalidAction", "UnknownOperation", "UnknownOperationException",
                                "NotImplemented", "UnsupportedOperation"});
}

Status Api::each(const Context& context, const std::string& action, Parameters parameters, const char* set,
                 const std::function<void(pugi::xml_node)>& take, bool may_be_unknown) const {
  aws::CallOptions options = call_options(context, aws::Effect::Reads);
  options.may_be_unknown = may_be_unknown;
  const size_t without_page = parameters.size();
  bool doubted = false;
  std::set<std::string> pages;
  while (true) {
    aws::Answer answer = client_.call(action, parameters, options);
    if (!answer.ok() && may_be_unknown) {
      if (lacks_action(answer.failure())) return {Code::Unsupported, answer.failure().status.message()};
      // Some servers respond with a plain 500 to unsupported actions, but so does any gateway occasionally. A
      // second one is not a coincidence.
      if (answer.failure().http_status == 500 && answer.failure().reason.empty()) {
        if (doubted) return {Code::Unsupported, answer.failure().status.message()};
        doubted = true;
        continue;
      }
    }
    if (!answer.ok()) return status_of(answer.failure());
    for (pugi::xml_node item : answer.root().child(set).children("item")) take(item);
    const std::string next = answer.field("nextToken");
    if (next.empty()) return {};
    if (!pages.insert(next).second)
      return {Code::Corrupt, "ec2 " + action + ": the answer's pages go round in a circle"};
    parameters.resize(without_page);
    parameters.emplace_back("NextToken", next);
  }
}

Result<aws::Answer> Api::read(const Context& context, const std::string& action,
                              const Parameters& parameters) const {
  aws::Answer answer = client_.call(action, parameters, call_options(context, aws::Effect::Reads));
  if (answer.ok()) return answer;
  // EC2's word for what this very resource does not support.
  if (answer.failure().reason == "UnsupportedOperation")
    return Status(Code::Unsupported, answer.failure().status.message());
  return status_of(answer.failure());
}

Posted Api::post(const Context& context, const std::string& action, const Parameters& parameters,
                 bool again_is_harmless) const {
  aws::Answer answer =
      client_.call(action, parameters,
                   call_options(context, again_is_harmless ? aws::Effect::Repeatable : aws::Effect::Once));
  Posted posted;
  if (answer.ok()) {
    posted.asked = Asked::accepted();
    posted.answer.emplace(std::move(answer));
    return posted;
  }
  const aws::Failure& failure = answer.failure();
  posted.code = failure.reason;
  Status why = status_of(failure);
  switch (failure.kind) {
    case aws::Failure::Kind::Unknown:
      posted.asked = Asked::unknown(std::move(why));
      break;
    case aws::Failure::Kind::Throttled:
      posted.asked = Asked::refused(coded(Code::Retry, why));
      break;
    case aws::Failure::Kind::NotSent:
    case aws::Failure::Kind::Refused:
      posted.asked = Asked::refused(std::move(why));
      break;
  }
  return posted;
}

void add_list(Parameters& parameters, const std::string& name, const std::vector<std::string>& values) {
  for (size_t i = 0; i < values.size(); ++i)
    parameters.emplace_back(fmt::format("{}.{}", name, i + 1), values[i]);
}

void add_filter(Parameters& parameters, const std::string& name, const std::vector<std::string>& values) {
  size_t next = 1;
  for (const auto& [known, value] : parameters)
    next += known.starts_with("Filter.") && known.ends_with(".Name");
  parameters.emplace_back(fmt::format("Filter.{}.Name", next), name);
  add_list(parameters, fmt::format("Filter.{}.Value", next), values);
}

std::vector<Selection> in_portions(Selection::By by, const std::vector<std::string>& values) {
  std::vector<Selection> portions;
  for (size_t first = 0; first < values.size(); first += kValuesInAFilter) {
    size_t last = std::min(values.size(), first + kValuesInAFilter);
    portions.push_back(
        {by, {values.begin() + static_cast<long>(first), values.begin() + static_cast<long>(last)}});
  }
  return portions;
}

Parameters selected(const Selection& selection, const std::string& id_filter, Parameters first) {
  Parameters parameters = std::move(first);
  switch (selection.by) {
    case Selection::By::Tokens:
      add_filter(parameters, std::string("tag:") + kTokenTag, selection.values);
      break;
    case Selection::By::Ids:
      add_filter(parameters, id_filter, selection.values);
      break;
    case Selection::By::Infrastructure:
      add_filter(parameters, std::string("tag:") + kInfrastructureTag, selection.values);
      break;
  }
  return parameters;
}

void add_tags(Parameters& parameters, const std::string& resource_type,
              const std::map<std::string, std::string>& tags) {
  size_t next = 1;
  for (const auto& [known, value] : parameters)
    next += known.starts_with("TagSpecification.") && known.ends_with(".ResourceType");
  const std::string name = fmt::format("TagSpecification.{}", next);
  parameters.emplace_back(name + ".ResourceType", resource_type);
  size_t number = 0;
  for (const auto& [key, value] : tags) {
    ++number;
    parameters.emplace_back(fmt::format("{}.Tag.{}.Key", name, number), key);
    parameters.emplace_back(fmt::format("{}.Tag.{}.Value", name, number), value);
  }
}

// For people alone: shortened where it is too long.
std::string name_in_console(const Context& context, const Order& order) {
  return shorten(context.infrastructure + " " + order.address, kLongestTagValue);
}

std::map<std::string, std::string> own_tags(const Context& context, const Order& order) {
  return {{kInfrastructureTag, context.infrastructure},
          {kAddressTag, order.address},
          {kTokenTag, order.token},
          {"Name", name_in_console(context, order)}};
}

std::map<std::string, std::string> marks_of(const Context& context, const Order& order) {
  auto tags = own_tags(context, order);
  tags.erase("Name");  // people may call it otherwise
  auto keep = [&](const char* tag, const std::string& value) {
    if (!value.empty()) tags[tag] = value;
  };
  const std::string user = order.attributes.value("user", "");
  if (order.type == "instance") keep(kUserTag, user.empty() ? order.spec.value("user", "") : user);
  keep(kKeyTag, order.attributes.value("key", ""));
  return tags;
}

std::map<std::string, std::string> tags_of(pugi::xml_node item) {
  std::map<std::string, std::string> tags;
  for (pugi::xml_node tag : item.child("tagSet").children("item"))
    tags[text_of(tag, "key")] = text_of(tag, "value");
  return tags;
}

void take_tags(const Context& context, const std::map<std::string, std::string>& tags, Seen& seen) {
  for (const auto& [name, value] : tags)
    if (name.starts_with("radlc:")) seen.marks[name] = value;
  if (tag_of(tags, kInfrastructureTag) != context.infrastructure) return;
  seen.address = tag_of(tags, kAddressTag);
  seen.token = tag_of(tags, kTokenTag);
}

std::string tag_of(const std::map<std::string, std::string>& tags, const char* name) {
  auto found = tags.find(name);
  return found == tags.end() ? std::string() : found->second;
}

std::string text_of(pugi::xml_node node, const char* child) { return node.child(child).text().get(); }

}  // namespace radl::ec2
