#include "runtime/exec/asking.h"
#include "runtime/exec/disks.h"
#include "runtime/exec/jump.h"

#include "runtime/exec/actions.h"
#include "runtime/exec/retry.h"

namespace radl {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAskDeadline = std::chrono::minutes(2);
constexpr milliseconds kDestroyDeadline = std::chrono::minutes(10);
// Between two logins at a machine that boots.
constexpr milliseconds kFirstLogin{50}, kLongestLogin{2000};

}  // namespace

void tell_phase(Session& session, const ResourceRecord& record, const char* phase) {
  if (!record.is_node()) return;
  Event event;
  event.kind = EventKind::NodePhase;
  event.id = record.address;
  event.node = record.address;
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
  for (const std::string& need : record.needs) {
    if (std::optional<ResourceRecord> needed = session.resource(need))
      order.references[need] = {needed->type, needed->id, needed->attributes};
  }
  return order;
}

Context asking(Session& session, const std::string& address) {
  return session.context(address, session.in(kAskDeadline));
}

Json attributes_now(const ResourceRecord& record, Json seen) {
  const bool told = seen.contains("host_key") && !seen["host_key"].is_null();
  if (!told && record.attributes.contains("host_key")) seen["host_key"] = record.attributes["host_key"];
  return seen;
}

Scheduler::TimePoint shows_by(Session& session, const Cloud& cloud, const ResourceRecord& record) {
  const milliseconds settles = cloud.settles_after();
  std::chrono::duration<double> age(session.world().clock.wall_seconds() - record.created_at);
  // A clock that was set back makes nothing younger than it can be.
  if (age < age.zero() || age >= settles) return session.in(age < age.zero() ? settles : milliseconds(0));
  return session.in(settles - std::chrono::floor<milliseconds>(age));
}

Async<bool> Attempts::again(Status error) {
  if (!may_work_later(error.code()) || attempt_ >= session_.options().attempts) co_return false;
  milliseconds wait = backoff(session_.options(), attempt_, session_.world().random);
  tell_retry(session_, id_, error, attempt_, wait);
  ++attempt_;
  bool waited = co_await park_.during(wait);
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

Async<Status> wait_until_reachable(Session& session, Park& park, ResourceRecord record) {
  const ir::Node* node = session.node(record.address);
  bool wanted = node && node->configured && session.run.program->contextualize && session.run.connect;
  if (!record.is_node() || !wanted) co_return Status();
  tell_phase(session, record, "waiting");
  const auto end = session.in(session.options().boot_deadline);
  Status reached;
  std::string told;
  // Until something listens there a login is of no use, and would hold a thread until it is given up.
  bool answers = true;
  if (!is_private(record)) answers = co_await park.answers(record.attributes, end);
  if (!answers && session.stop_starting())
    co_return Status(Code::Cancelled, "stopped while waiting for " + record.address);
  for (milliseconds wait = kFirstLogin;; wait = std::min(wait * 2, kLongestLogin)) {
    reached = session.connect_once(record.address, end);
    if (reached.ok() || !(may_work_later(reached.code()) || reached.code() == Code::NotFound)) break;
    if (reached.message() != told) tell(session, record.address, reached.message());
    told = reached.message();
    if (session.world().clock.now() + wait >= end) {
      reached = Status(Code::Timeout, record.address + " did not become reachable: " + reached.message());
      break;
    }
    bool waited = co_await park.during(wait);
    if (!waited) co_return Status(Code::Cancelled, "stopped while waiting for " + record.address);
  }
  if (reached.ok()) reached = mount_disks(session, record.address, session.context(record.address, end));
  if (reached.code() == Code::Cancelled) co_return reached;
  // Its host key may have been learned meanwhile.
  record = session.resource(record.address).value_or(record);
  record.reachable = reached.ok();
  if (!reached.ok()) record.status = ResourceStatus::Tainted;
  if (Status put = session.store().put_resource(record); !put.ok()) co_return put;
  session.put(record);
  if (reached.ok()) tell_phase(session, record, "reachable");
  co_return reached;
}

Async<Status> destroy_and_wait(Session& session, Park& park, Cloud& cloud, ResourceRecord record) {
  Attempts attempts(session, park, record.address);
  const auto shown = shows_by(session, cloud, record);
  while (true) {
    Asked asked = cloud.ask_destroy(asking(session, record.address), order_for(session, record));
    Status why = asked.status;
    if (asked.answer == Asked::Answer::Accepted) {
      Watch watch{Watch::For::Gone, "", record.id, record.address, {}, session.in(kDestroyDeadline)};
      Sight sight = co_await park.sight(cloud, watch);
      co_return sight.status;
    }
    if (why.code() == Code::NotFound) {
      if (session.world().clock.now() >= shown) co_return Status();
      bool waited = co_await park.until(std::min(shown, session.in(cloud.pace().longest)));
      if (!waited)
        co_return Status(Code::Cancelled,
                         "stopped before " + record.address + " showed and could be removed");
      continue;
    }
    bool again = co_await attempts.again(why);
    if (!again) co_return why;
  }
}

Async<Found> wait_for_made(Session& session, Park& park, Cloud& cloud, ResourceRecord record, Watch watch) {
  Found found;
  Sight sight = co_await park.sight(cloud, watch);
  found.status = sight.status;
  if (!sight.status.ok() || !sight.seen) co_return found;
  ResourcePhase phase = sight.seen->phase;
  if (phase == ResourcePhase::Ready || phase == ResourcePhase::Stopped) {
    found.seen = std::move(sight.seen);
    co_return found;
  }
  found.why = sight.seen->detail.empty() ? "it is " + std::string(phase_name(phase)) : sight.seen->detail;
  record.id = sight.seen->id;
  record.created_at = session.world().clock.wall_seconds();
  found.status = co_await destroy_and_wait(session, park, cloud, record);
  co_return found;
}

}  // namespace radl
