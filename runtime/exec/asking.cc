#include "runtime/exec/asking.h"

#include "runtime/exec/actions.h"
#include "runtime/exec/retry.h"
#include "runtime/plan/values.h"

namespace radl {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAskDeadline = std::chrono::minutes(2);
constexpr milliseconds kDestroyDeadline = std::chrono::minutes(10);
constexpr std::chrono::minutes kLongestAskedFor(10);

}  // namespace

void tell_phase(Session& session, const ResourceRecord& record, const char* phase) {
  if (record.is_node()) tell_node_phase(session, record.address, phase);
}

void tell_node_phase(Session& session, const std::string& address, const char* phase) {
  Event event;
  event.kind = EventKind::NodePhase;
  event.id = address;
  event.node = address;
  event.data = {{"phase", phase}};
  session.events.emit(std::move(event));
}

void tell(Session& session, const std::string& id, std::string message) {
  Event event;
  event.id = id;
  event.message = std::move(message);
  session.events.emit(std::move(event));
}

Order order_for(Session& session, const ResourceRecord& record) {
  Order order;
  order.address = record.address;
  order.type = record.type;
  order.spec = record.spec;
  order.token = record.token;
  order.id = record.id;
  order.attributes = record.attributes;
  for (const std::string& need : record.needs) {
    if (std::optional<ResourceRecord> needed = session.resource(need))
      order.references[need] = {needed->type, needed->id, needed->attributes};
  }
  return order;
}

Context asking(Session& session, const std::string& address) {
  return session.context(address, session.in(kAskDeadline));
}

Scheduler::TimePoint shows_by(Session& session, const Cloud& cloud, const ResourceRecord& record) {
  const milliseconds settles = cloud.settles_after();
  std::chrono::duration<double> age(session.world().clock.wall_seconds() - record.created_at);
  // A clock that was set back makes nothing younger than it can be.
  if (age < age.zero() || age >= settles) return session.in(age < age.zero() ? settles : milliseconds(0));
  return session.in(settles - std::chrono::floor<milliseconds>(age));
}

std::optional<milliseconds> until_shown(Session& session, const Cloud& cloud, Scheduler::TimePoint shown) {
  const auto now = session.world().clock.now();
  if (now >= shown) return std::nullopt;
  const auto then = std::min(shown, session.in(cloud.pace().longest));
  return std::chrono::ceil<milliseconds>(then - now);
}

Json attributes_now(const ResourceRecord& record, Json seen) {
  const bool told = seen.contains("host_key") && !seen["host_key"].is_null();
  if (told) return seen;
  for (const char* name : {"host_key", kHostKeyFrom})
    if (record.attributes.contains(name)) seen[name] = record.attributes[name];
  return seen;
}

Json with_marked_attributes(const Cloud& cloud, const Context& context, const Order& recorded, Json seen) {
  const Json marks = cloud.marks_of(context, recorded);
  for (const auto& [name, value] : recorded.attributes.items()) {
    Order other = recorded;
    if (value.is_string())
      other.attributes[name] = value.get<std::string>() + "-";
    else
      other.attributes.erase(name);
    if (cloud.marks_of(context, other) != marks) seen[name] = value;
  }
  return seen;
}

std::optional<milliseconds> next_attempt(Session& session, const std::string& id, const Status& error,
                                         int& attempt, double retry_after) {
  if (!may_work_later(error.code()) || attempt >= session.options().attempts) return std::nullopt;
  const std::chrono::duration<double> asked_for(retry_after);
  const milliseconds own = backoff(session.options(), attempt, session.world().random);
  const milliseconds wait = std::max(
      own,
      std::chrono::ceil<milliseconds>(std::min<std::chrono::duration<double>>(asked_for, kLongestAskedFor)));
  tell_retry(session, id, error, attempt, wait);
  ++attempt;
  return wait;
}

Async<bool> Attempts::again(Status error, double retry_after) {
  const std::optional<milliseconds> wait = next_attempt(session_, id_, error, attempt_, retry_after);
  if (!wait) co_return false;
  bool waited = co_await park_.during(*wait);
  co_return waited;
}

Result<Cloud*> cloud_of(Session& session, const std::string& id) {
  if (Cloud* cloud = session.run.clouds->find(id)) return cloud;
  return session.run.clouds->why_not(id);
}

void tell_retry(Session& session, const std::string& id, const Status& error, int attempt,
                milliseconds wait) {
  Event event;
  event.kind = EventKind::ActionRetry;
  event.id = id;
  event.message = error.message();
  event.data = {{"attempt", attempt},
                {"wait_seconds", static_cast<double>(wait.count()) / 1000},
                {"code", code_name(error.code())}};
  session.events.emit(std::move(event));
}

RetryHooks retry_hooks(Session& session, const std::string& id) {
  RetryHooks hooks;
  hooks.stop = session.finishing();
  hooks.on_retry = [&session, id](const Status& error, int attempt, milliseconds wait) {
    tell_retry(session, id, error, attempt, wait);
  };
  return hooks;
}

Asked ask_to_destroy(Session& session, Cloud& cloud, const ResourceRecord& record) {
  if (Status held = session.store().still_held(); !held.ok()) return Asked::refused(std::move(held));
  return cloud.ask_destroy(asking(session, record.address), order_for(session, record));
}

Async<std::unique_ptr<Sight>> look_for_gone(Session& session, Park& park, Cloud& cloud,
                                            const ResourceRecord& record) {
  Watch watch{Watch::For::Gone, "", record.id, record.address, {}, session.in(kDestroyDeadline)};
  return park.sight(cloud, std::move(watch));
}

Status stopped_before_it_showed(const std::string& address) {
  return {Code::Cancelled, "stopped before " + address + " showed and could be removed"};
}

Status stopped_before_it_was_asked() { return {Code::Cancelled, "stopped before it was asked for"}; }

Async<Status> destroy_and_wait(Session& session, Park& park, Cloud& cloud, ResourceRecord record) {
  Attempts attempts(session, park, record.address);
  const auto shown = shows_by(session, cloud, record);
  while (true) {
    Asked asked = ask_to_destroy(session, cloud, record);
    if (asked.answer == Asked::Answer::Accepted) {
      std::unique_ptr<Sight> sight = co_await look_for_gone(session, park, cloud, record);
      co_return sight->status;
    }
    if (asked.status.code() == Code::NotFound) {
      const std::optional<milliseconds> wait = until_shown(session, cloud, shown);
      if (!wait) co_return Status();
      bool waited = co_await park.during(*wait);
      if (!waited) co_return stopped_before_it_showed(record.address);
      continue;
    }
    bool again = co_await attempts.again(asked.status, asked.retry_after);
    if (!again) co_return asked.status;
  }
}

Async<Found> wait_for_made(Session& session, Park& park, Cloud& cloud, ResourceRecord record, Watch watch) {
  Found found;
  std::unique_ptr<Sight> sight = co_await park.sight(cloud, std::move(watch));
  found.status = sight->status;
  if (!sight->status.ok() || !sight->seen) co_return found;
  if (is_made(*sight->seen)) {
    found.seen = std::move(sight->seen);
    co_return found;
  }
  found.why = why_unfit(*sight->seen);
  record.id = sight->seen->id;
  record.created_at = session.world().clock.wall_seconds();
  found.status = co_await destroy_and_wait(session, park, cloud, record);
  co_return found;
}

bool is_made(const Seen& seen) {
  return seen.phase == ResourcePhase::Ready || seen.phase == ResourcePhase::Stopped;
}

std::string why_unfit(const Seen& seen) {
  return seen.detail.empty() ? "it is " + std::string(phase_name(seen.phase)) : seen.detail;
}

}  // namespace radl
