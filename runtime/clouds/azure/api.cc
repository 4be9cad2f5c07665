#include "runtime/clouds/azure/api.h"

#include "common/text.h"
#include "runtime/clouds/azure/machine.h"

namespace radl::azure {
namespace {

// A provider's word as the service writes it now: it keeps no promise about letters.
constexpr const char* kWords[] = {"resourceGroups",
                                  "providers",
                                  "Microsoft.Compute",
                                  "Microsoft.Network",
                                  "virtualMachines",
                                  "disks",
                                  "images",
                                  "snapshots",
                                  "galleries",
                                  "versions",
                                  "virtualNetworks",
                                  "subnets",
                                  "networkInterfaces",
                                  "publicIPAddresses",
                                  "networkSecurityGroups",
                                  "applicationSecurityGroups",
                                  "natGateways",
                                  "proximityPlacementGroups"};

std::string known_word(const std::string& word) {
  const std::string lower = to_lower(word);
  for (const char* known : kWords)
    if (to_lower(known) == lower) return known;
  return lower;
}

}  // namespace

Posted send(Asking& call, const std::string& method, const std::string& id, const char* version, Json body,
            Parameters headers) {
  Posted posted;
  Answer answer = call.manager.call({.method = method,
                                     .path = call.root() + id,
                                     .version = version,
                                     .query = {},
                                     .body = std::move(body),
                                     .headers = std::move(headers)},
                                    waits(call.context), &posted.accepted_as);
  if (answer.ok()) {
    posted.asked = Asked::accepted();
    return posted;
  }
  const Failure& failure = answer.failure();
  switch (failure.kind) {
    case Failure::Kind::Unknown:
      posted.asked = Asked::unknown(failure.status);
      break;
    case Failure::Kind::Throttled:
      posted.asked = Asked::refused({Code::Retry, failure.status.message()}, failure.retry_after);
      break;
    case Failure::Kind::NotSent:
    case Failure::Kind::Refused:
      posted.asked = Asked::refused(failure.status);
      break;
  }
  return posted;
}

Result<Json> read(Asking& call, const std::string& id, const char* version, const Parameters& query) {
  Answer answer = call.manager.call({.method = "GET",
                                     .path = call.root() + id,
                                     .version = version,
                                     .query = query,
                                     .body = nullptr,
                                     .headers = {}},
                                    waits(call.context));
  if (!answer.ok()) return answer.failure().status;
  return answer.json();
}

Result<const std::vector<Json>*> list(Asking& call, const std::string& path, const char* version,
                                      const Parameters& query) {
  if (auto found = call.listed.find(path); found != call.listed.end()) return &found->second;
  std::vector<Json> items;
  Status asked = call.manager.each({.method = "GET",
                                    .path = call.root() + path,
                                    .version = version,
                                    .query = query,
                                    .body = nullptr,
                                    .headers = {}},
                                   waits(call.context), [&](const Json& item) { items.push_back(item); });
  if (!asked.ok() && asked.code() != Code::NotFound) return asked;
  if (!asked.ok()) items.clear();
  return &(call.listed[path] = std::move(items));
}

std::string group_id(const Context& context, const CloudId& cloud) {
  std::string name = name_prefix(context, cloud);
  name.pop_back();
  return "resourceGroups/" + name;
}

std::string id_in(const std::string& arm_id) {
  std::string id;
  bool inside = false;
  for (std::string_view part : split(arm_id, '/')) {
    const std::string word = known_word(std::string(part));
    inside |= word == "resourceGroups";
    if (inside) id += (id.empty() ? "" : "/") + word;
  }
  return id;
}

std::string last_part(const std::string& id) {
  const size_t at = id.rfind('/');
  return at == id.npos ? id : id.substr(at + 1);
}

Status poll_operations(Asking& call, const Operations::Wanted& wanted) {
  Operations& operations = call.memory.operations;
  for (const auto& [id, url] : operations.open(wanted)) {
    auto now = call.manager.progress(url, waits(call.context));
    // Azure keeps operations for some days. If one no longer exists, the resource itself shows the result.
    if (!now.ok() && now.status().code() != Code::NotFound) return now.status();
    if (!now.ok() || now->done)
      operations.done(id, url, now.ok() ? now->failed : Status());
    else
      operations.not_before(id, url, now->retry_after);
  }
  return {};
}

Json marks_of(const Context& context, const Order& order) {
  Json marks = {
      {kInfrastructureTag, context.infrastructure}, {kAddressTag, order.address}, {kTokenTag, order.token}};
  const std::string key = text_of(order.attributes, "key");
  if (!key.empty()) marks[kKeyTag] = key;
  return marks;
}

Json tags_for(const Context& context, const Order& order) {
  Json tags = order.spec.value("tags", Json::object());
  tags.update(marks_of(context, order));
  return tags;
}

Json own_tags(const Json& tags) {
  Json own = Json::object();
  if (!tags.is_object()) return own;
  for (const auto& [name, value] : tags.items())
    if (!name.starts_with("radlc-") && !name.starts_with("hidden-") && value.is_string()) own[name] = value;
  return own;
}

Mark mark_in(const Json& item) {
  const Json& tags = member(item, "tags");
  return {text_of(tags, kInfrastructureTag), text_of(tags, kAddressTag), text_of(tags, kTokenTag)};
}

}  // namespace radl::azure
