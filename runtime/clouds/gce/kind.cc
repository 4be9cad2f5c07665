#include "runtime/clouds/gce/kind.h"

#include <fmt/format.h>

#include "runtime/clouds/gce/operations.h"

namespace radl::gce {
namespace {

// A few resources with known ids are requested one by one.
constexpr size_t kFew = 2;

}  // namespace

std::string Kind::place(Asking& call, const Order& order) const {
  switch (scope()) {
    case Scope::Global:
      return std::string("global/") + collection();
    case Scope::Region:
      return fmt::format("regions/{}/{}", call.cloud.region, collection());
    case Scope::Zone:
      return fmt::format("zones/{}/{}", order.spec.value("zone", ""), collection());
  }
  return "";
}

std::string Kind::id_of(Asking& call, const Order& order) const {
  return place(call, order) + "/" + name_for(call.context, call.cloud, order);
}

bool Kind::has_id(const std::string& id) const {
  return id.find(fmt::format("/{}/", collection())) != id.npos;
}

Asked Kind::create(Asking& call, const Order& order) const {
  if (Status room = call.memory.operations.room_in(this->room(order)); !room.ok())
    return Asked::refused(room);
  auto body = this->body(call, order);
  if (!body.ok()) return Asked::refused(body.status());
  (*body)["name"] = name_for(call.context, call.cloud, order);
  (*body)["description"] = to_line(call.context, order);
  const std::string id = id_of(call, order);
  Posted posted = post(call, place(call, order), std::move(*body));
  // The name contains the token: an existing resource was created by an earlier request.
  if (!posted.accepted() && posted.asked.status.code() == Code::Exists) return Asked::accepted(id);
  if (!posted.accepted()) return posted.asked;
  call.memory.operations.began(id, {posted.operation,
                                    Effect::Makes,
                                    type(),
                                    call.context.infrastructure,
                                    order.address,
                                    order.token,
                                    room(order),
                                    {}});
  return Asked::accepted(id);
}

Asked Kind::update(Asking&, const Order& order) const {
  return Asked::refused(invalid(fmt::format("{}: a {} is never changed", order.address, type())));
}

Asked Kind::power(Asking&, const Order& order, Power) const {
  return Asked::refused(invalid(fmt::format("{}: a {} is not a machine", order.address, type())));
}

Asked Kind::destroy(Asking& call, const Order& order) const {
  Operations& operations = call.memory.operations;
  if (auto pending = operations.pending(order.id); pending && pending->effect == Effect::Removes)
    return Asked::accepted(order.id);
  Posted posted = remove(call, order.id);
  if (posted.asked.status.code() == Code::NotFound && operations.failed(order.id)) {
    operations.forget_failure(order.id);  // it never came to be
    return Asked::accepted(order.id);
  }
  if (!posted.accepted()) return posted.asked;
  operations.began(
      order.id,
      {posted.operation, Effect::Removes, type(), call.context.infrastructure, order.address, "", "", {}});
  return Asked::accepted(order.id);
}

Asked Kind::change(Asking& call, const Order& order, const std::string& action, Json body,
                   const std::string& method, Parameters query) const {
  return change_other(call, order, order.id + action, std::move(body), method, std::move(query));
}

Asked Kind::change_other(Asking& call, const Order& order, const std::string& path, Json body,
                         const std::string& method, Parameters query) const {
  Posted posted = post(call, path, std::move(body), method, std::move(query));
  if (!posted.accepted()) return posted.asked;
  call.memory.operations.began(
      order.id,
      {posted.operation, Effect::Changes, type(), call.context.infrastructure, order.address, "", "", {}});
  return Asked::accepted_so_far(order.id);
}

std::optional<Asked> Kind::earlier_change(Asking& call, const Order& order) const {
  Status polled =
      poll_operations(call, [&](const std::string& id, const Operation&) { return id == order.id; });
  if (!polled.ok()) return Asked::refused(polled);
  return call.memory.operations.earlier_change(order.id);
}

Impact Kind::impact(const Json& before, const Json& after) const {
  if (before == after) return {Impact::Kind::InPlace, ""};
  return replace(fmt::format("a {} is never changed", type()));
}

Status Kind::look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const {
  auto take = [&](const Json& item) {
    const Mark mark = mark_in(item);
    Seen one;
    one.id = partial_of(text_of(item, "selfLink"));
    if (one.id.empty() || !wish.wants(call.context, one.id, mark)) return;
    take_mark(call.context, mark, one);
    one.type = type();
    one.phase = ResourcePhase::Ready;
    if (fill(call, item, one)) seen.push_back(std::move(one));
  };
  // The list has those with our prefix; others (imported), and few, are requested by their ids.
  const std::string prefix = name_prefix(call.context, call.cloud);
  bool list = wish.everything || !wish.tokens.empty();
  size_t of_prefix = 0;
  for (const std::string& id : wish.ids) of_prefix += last_part(id).starts_with(prefix);
  list |= of_prefix > kFew;
  for (const std::string& id : wish.ids) {
    if (list && last_part(id).starts_with(prefix)) continue;
    auto one = read(call, id);
    if (one.ok())
      take(*one);
    else if (one.status().code() != Code::NotFound)
      return one.status();
  }
  if (!list) return {};
  const Parameters filter = {{"filter", fmt::format("name eq \"{}.*\"", prefix)}};
  const bool zonal = scope() == Scope::Zone;
  const std::string path = zonal ? fmt::format("aggregated/{}", collection())
                           : scope() == Scope::Global
                               ? fmt::format("global/{}", collection())
                               : fmt::format("regions/{}/{}", call.cloud.region, collection());
  return call.service.each(call.root() + path,
                           zonal ? google::Scopes{collection(), call.cloud.region} : google::Scopes{}, filter,
                           waits(call.context), take);
}

Result<std::string> id_of_reference(const Order& order, const std::string& address) {
  auto found = order.references.find(address);
  if (found == order.references.end())
    return invalid(fmt::format("{}: {} does not exist", order.address, address));
  return found->second.id;
}

Result<std::string> network_path(Asking& call, const Order& order, const Json& wanted) {
  if (const std::string made = text_of(wanted, "made"); !made.empty()) {
    auto id = id_of_reference(order, made);
    return id.ok() ? Result<std::string>(call.root() + *id) : id;
  }
  const std::string provider = text_of(wanted, "provider");
  if (provider.starts_with("projects/")) return provider;  // of a host project that shares it
  return call.root() + "global/networks/" + (provider.empty() ? "default" : provider);
}

}  // namespace radl::gce
