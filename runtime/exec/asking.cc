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

void tell_phase(Execution& execution, const ResourceRecord& record, const char* phase) {
  if (record.is_node()) tell_node_phase(execution, record.address, phase);
}

void tell_node_phase(Execution& execution, const std::string& address, const char* phase) {
  Event event;
  event.kind = EventKind::NodePhase;
  event.id = address;
  event.node = address;
  event.data = {{"phase", phase}};
  execution.events.emit(std::move(event));
}

void tell(Execution& execution, const std::string& id, std::string message) {
  Event event;
  event.id = id;
  event.message = std::move(message);
  execution.events.emit(std::move(event));
}

Order order_for(Execution& execution, const ResourceRecord& record) {
  Order order;
  order.address = record.address;
  order.type = record.type;
  order.spec = record.spec;
  order.token = record.token;
  order.id = record.id;
  order.attributes = record.attributes;
  for (const std::string& need : record.needs) {
    if (std::optional<ResourceRecord> needed = execution.resource(need))
      order.references[need] = {needed->type, needed->id, needed->attributes};
  }
  return order;
}

Context asking(Execution& execution, const std::string& address) {
  return execution.context(address, execution.in(kAskDeadline));
}

Scheduler::TimePoint shows_by(Execution& execution, const Cloud& cloud, const ResourceRecord& record) {
  const milliseconds settles = cloud.settles_after();
  std::chrono::duration<double> age(execution.world().clock.wall_seconds() - record.created_at);
  // If the clock was set back, do not wait longer than the full time.
  if (age < age.zero() || age >= settles) return execution.in(age < age.zero() ? settles : milliseconds(0));
  return execution.in(settles - std::chrono::floor<milliseconds>(age));
}

std::optional<milliseconds> until_shown(Execution& execution, const Cloud& cloud,
                                        Scheduler::TimePoint shown) {
  const auto now = execution.world().clock.now();
  if (now >= shown) return std::nullopt;
  const auto then = std::min(shown, execution.in(cloud.pace().longest));
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

std::optional<milliseconds> next_attempt(Execution& execution, const std::string& id, const Status& error,
                                         int& attempt, double retry_after) {
  if (!may_work_later(error.code()) || attempt >= execution.options().attempts) return std::nullopt;
  const std::chrono::duration<double> asked_for(retry_after);
  const milliseconds own = backoff(execution.options(), attempt, execution.world().random);
  const milliseconds wait = std::max(
      own,
      std::chrono::ceil<milliseconds>(std::min<std::chrono::duration<double>>(asked_for, kLongestAskedFor)));
  tell_retry(execution, id, error, attempt, wait);
  ++attempt;
  return wait;
}

Async<bool> Attempts::again(Status error, double retry_after) {
  const std::optional<milliseconds> wait = next_attempt(execution_, id_, error, attempt_, retry_after);
  if (!wait) co_return false;
  bool waited = co_await park_.during(*wait);
  co_return waited;
}

Result<Cloud*> cloud_of(Execution& execution, const std::string& id) {
  if (Cloud* cloud = execution.run.clouds->find(id)) return cloud;
  return execution.run.clouds->why_not(id);
}

void tell_retry(Execution& execution, const std::string& id, const Status& error, int attempt,
                milliseconds wait) {
  Event event;
  event.kind = EventKind::ActionRetry;
  event.id = id;
  event.message = error.message();
  event.data = {{"attempt", attempt},
                {"wait_seconds", static_cast<double>(wait.count()) / 1000},
                {"code", code_name(error.code())}};
  execution.events.emit(std::move(event));
}

RetryHooks retry_hooks(Execution& execution, const std::string& id) {
  RetryHooks hooks;
  hooks.stop = execution.finishing();
  hooks.on_retry = [&execution, id](const Status& error, int attempt, milliseconds wait) {
    tell_retry(execution, id, error, attempt, wait);
  };
  return hooks;
}

Asked ask_to_destroy(Execution& execution, Cloud& cloud, const ResourceRecord& record) {
  if (Status held = execution.store().still_held(); !held.ok()) return Asked::refused(std::move(held));
  return cloud.ask_destroy(asking(execution, record.address), order_for(execution, record));
}

Async<std::unique_ptr<Sight>> look_for_gone(Execution& execution, Park& park, Cloud& cloud,
                                            const ResourceRecord& record) {
  Watch watch{Watch::For::Gone, "", record.id, record.address, {}, execution.in(kDestroyDeadline)};
  return park.sight(cloud, std::move(watch));
}

Status stopped_before_it_showed(const std::string& address) {
  return {Code::Cancelled, "stopped before " + address + " showed and could be removed"};
}

Status stopped_before_it_was_asked() { return {Code::Cancelled, "stopped before it was asked for"}; }

Async<Status> destroy_and_wait(Execution& execution, Park& park, Cloud& cloud, ResourceRecord record) {
  Attempts attempts(execution, park, record.address);
  const auto shown = shows_by(execution, cloud, record);
  while (true) {
    Asked asked = ask_to_destroy(execution, cloud, record);
    if (asked.answer == Asked::Answer::Accepted) {
      std::unique_ptr<Sight> sight = co_await look_for_gone(execution, park, cloud, record);
      co_return sight->status;
    }
    if (asked.status.code() == Code::NotFound) {
      const std::optional<milliseconds> wait = until_shown(execution, cloud, shown);
      if (!wait) co_return Status();
      bool waited = co_await park.during(*wait);
      if (!waited) co_return stopped_before_it_showed(record.address);
      continue;
    }
    bool again = co_await attempts.again(asked.status, asked.retry_after);
    if (!again) co_return asked.status;
  }
}

Async<Found> wait_for_made(Execution& execution, Park& park, Cloud& cloud, ResourceRecord record,
                           Watch watch) {
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
  record.created_at = execution.world().clock.wall_seconds();
  found.status = co_await destroy_and_wait(execution, park, cloud, record);
  co_return found;
}

bool is_made(const Seen& seen) {
  return seen.phase == ResourcePhase::Ready || seen.phase == ResourcePhase::Stopped;
}

std::string why_unfit(const Seen& seen) {
  return seen.detail.empty() ? "it is " + std::string(phase_name(seen.phase)) : seen.detail;
}

}  // namespace radl
