#include "runtime/clouds/azure/kind.h"

#include <fmt/format.h>

namespace radl::azure {

std::string Kind::folder(Asking& call) const {
  return fmt::format("{}/providers/{}/{}", group_id(call.context, call.cloud), provider(), collection());
}

std::string Kind::id_of(Asking& call, const Order& order) const {
  return folder(call) + "/" + name_for(call.context, call.cloud, order);
}

bool Kind::has_id(const std::string& id) const {
  return id.find(fmt::format("/providers/{}/{}/", provider(), collection())) != id.npos;
}

// The name contains the token, so an existing resource was created by an earlier request, possibly one of
// this call whose response was lost and which Azure is still processing.
Asked Kind::made_before(Asking& call, const std::string& id, const Order& order, Asked refused) const {
  const Code code = refused.status.code();
  const bool may_be = refused.answer == Asked::Answer::Refused &&
                      (code == Code::Exists || code == Code::Retry || code == Code::Conflict);
  if (!may_be) return refused;
  auto there = read(call, id, version());
  if (there.ok()) return mark_in(*there).token == order.token ? Asked::accepted(id) : refused;
  return there.status().code() == Code::NotFound ? refused : Asked::unknown(there.status());
}

Asked Kind::create(Asking& call, const Order& order) const {
  const std::string place = room(call, order);
  if (Status has = call.memory.operations.room_in(place); !has.ok()) return Asked::refused(has);
  auto body = this->body(call, order);
  if (!body.ok()) return Asked::refused(body.status());
  (*body)["location"] = call.cloud.region;
  Json tags = body->value("tags", Json::object());
  tags.update(tags_for(call.context, order));
  (*body)["tags"] = std::move(tags);
  const std::string id = id_of(call, order);
  Posted posted = send(call, "PUT", id, version(), std::move(*body), create_headers());
  if (!posted.accepted()) return made_before(call, id, order, std::move(posted.asked));
  call.memory.operations.began(id,
                               {posted.accepted_as.operation,
                                Effect::Makes,
                                type(),
                                call.context.infrastructure,
                                order.address,
                                order.token,
                                place,
                                {}},
                               posted.accepted_as.retry_after);
  return Asked::accepted(id);
}

Asked Kind::update(Asking&, const Order& order) const {
  return Asked::refused(invalid(fmt::format("{}: a {} is never changed", order.address, type())));
}

Asked Kind::destroy(Asking& call, const Order& order) const {
  Operations& operations = call.memory.operations;
  if (auto pending = operations.pending(order.id); pending && pending->effect == Effect::Removes)
    return Asked::accepted(order.id);
  Posted posted = send(call, "DELETE", order.id, version(), nullptr);
  const bool gone = posted.asked.status.code() == Code::NotFound;
  if (gone) operations.forget_failure(order.id);
  // Without its resource group nothing exists, and a failed resource was never created.
  if (gone) return Asked::accepted(order.id);
  if (!posted.accepted()) return posted.asked;
  operations.began(order.id,
                   {posted.accepted_as.operation,
                    Effect::Removes,
                    type(),
                    call.context.infrastructure,
                    order.address,
                    "",
                    "",
                    {}},
                   posted.accepted_as.retry_after);
  return Asked::accepted(order.id);
}

Asked Kind::change(Asking& call, const Order& order, const std::string& method, const std::string& action,
                   Json body, Parameters headers) const {
  Posted posted = send(call, method, order.id + action, version(), std::move(body), std::move(headers));
  // Another client changed it meanwhile: the next look shows the current version.
  if (!posted.accepted() && posted.asked.status.code() == Code::Exists)
    return Asked::refused({Code::Retry, posted.asked.status.message()});
  if (!posted.accepted()) return posted.asked;
  call.memory.operations.began(order.id,
                               {posted.accepted_as.operation,
                                Effect::Changes,
                                type(),
                                call.context.infrastructure,
                                order.address,
                                "",
                                "",
                                {}},
                               posted.accepted_as.retry_after);
  return Asked::accepted_so_far(order.id);
}

std::optional<Asked> Kind::earlier_change(Asking& call, const Order& order) const {
  Status polled =
      poll_operations(call, [&](const std::string& id, const Operation&) { return id == order.id; });
  if (!polled.ok()) return Asked::refused(polled);
  return call.memory.operations.earlier_change(order.id);
}

Asked Kind::put_again(Asking& call, const Order& order) const {
  if (auto earlier = earlier_change(call, order)) return std::move(*earlier);
  auto now = read(call, order.id, version());
  if (!now.ok()) return Asked::refused(now.status());
  auto body = this->body(call, order);
  if (!body.ok()) return Asked::refused(body.status());
  (*body)["location"] = text_of(*now, "location");
  (*body)["tags"] = member(*now, "tags");
  if ((*body)["tags"].is_null()) (*body)["tags"] = Json::object();
  // They may have been written a moment ago, and not show yet.
  if (!order.token.empty()) (*body)["tags"].update(marks_of(call.context, order));
  Asked asked = change(call, order, "PUT", "", std::move(*body));
  asked.again = false;
  return asked;
}

Impact Kind::impact(const Json& before, const Json& after) const {
  if (before == after) return {Impact::Kind::InPlace, ""};
  return replace(fmt::format("a {} is never changed", type()));
}

Asked Kind::power(Asking&, const Order& order, Power) const {
  return Asked::refused(invalid(fmt::format("{}: a {} is not a machine", order.address, type())));
}

Status Kind::look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const {
  auto take = [&](const Json& item) -> Status {
    const Mark mark = mark_in(item);
    Seen one;
    one.id = id_in(text_of(item, "id"));
    if (one.id.empty() || !wish.wants(call.context, one.id, mark)) return {};
    take_mark(call.context, mark, one);
    one.marks = member(item, "tags");
    one.type = type();
    one.phase = phase_of(text_of(member(item, "properties"), "provisioningState"));
    if (Status filled = fill(call, item, one); !filled.ok()) return filled;
    seen.push_back(std::move(one));
    return {};
  };
  // The list has our own; others (imported) are requested by their ids.
  const std::string ours = folder(call) + "/";
  for (const std::string& id : wish.ids) {
    if (id.starts_with(ours)) continue;
    auto one = read(call, id, version());
    if (!one.ok() && one.status().code() != Code::NotFound) return one.status();
    if (!one.ok()) continue;
    if (Status taken = take(*one); !taken.ok()) return taken;
  }
  auto listed = list(call, folder(call), version(), list_query());
  if (!listed.ok()) return listed.status();
  for (const Json& item : **listed)
    if (Status taken = take(item); !taken.ok()) return taken;
  return {};
}

ResourcePhase phase_of(const std::string& state) {
  if (state == "Succeeded" || state.empty()) return ResourcePhase::Ready;
  if (state == "Failed" || state == "Canceled") return ResourcePhase::Broken;
  return state == "Deleting" ? ResourcePhase::Leaving : ResourcePhase::Pending;
}

Result<std::string> id_of_reference(const Order& order, const std::string& address) {
  auto found = order.references.find(address);
  if (found == order.references.end())
    return invalid(fmt::format("{}: {} does not exist", order.address, address));
  return found->second.id;
}

Result<Json> link_to(Asking& call, const Order& order, const std::string& address) {
  auto id = id_of_reference(order, address);
  if (!id.ok()) return id.status();
  return Json{{"id", call.full(*id)}};
}

}  // namespace radl::azure
