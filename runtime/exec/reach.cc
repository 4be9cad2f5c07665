// From made to reachable.
#include "runtime/exec/actions.h"
#include "runtime/exec/asking.h"
#include "runtime/exec/disks.h"
#include "runtime/exec/jump.h"
#include "runtime/exec/retry.h"
#include "runtime/state/writes.h"

namespace radl {

namespace {

using std::chrono::milliseconds;

// Between two logins at a machine that boots.
constexpr milliseconds kFirstLogin{50}, kLongestLogin{2000};
// A machine that is silent for so long is looked at: it may have been taken back. A look ends in that time.
constexpr milliseconds kSilence{15000}, kLook{15000};
// Between two looks at a machine that has no address yet.
constexpr milliseconds kNoAddress{2000};

bool is_to_be_reached(Execution& execution, const std::string& address) {
  const ir::Node* node = execution.node(address);
  return node && node->configured && execution.run.program->contextualize && execution.run.connect &&
         execution.read([&](const Snapshot& known) {
           auto record = known.resources.find(address);
           return record != known.resources.end() && record->second.is_node();
         });
}

bool is_reached_directly(Execution& execution, const std::string& address) {
  std::optional<ResourceRecord> record = execution.resource(address);
  return !record || !is_private(*record);
}

Status stopped_waiting(const std::string& address) {
  return {Code::Cancelled, "stopped while waiting for " + address};
}

// One login, and what is said of it; `told` is what was said last. Nothing: another one may work.
std::optional<Status> log_in(Execution& execution, const std::string& address, Scheduler::TimePoint end,
                             milliseconds wait, std::string& told) {
  Status reached = execution.connect_once(address, end);
  if (reached.ok() || !(may_work_later(reached.code()) || reached.code() == Code::NotFound)) return reached;
  if (reached.message() != told) tell(execution, address, reached.message());
  told = reached.message();
  if (execution.world().clock.now() + wait < end) return std::nullopt;
  return Status(Code::Timeout, address + " did not become reachable: " + reached.message());
}

Async<Status> record_reached(Execution& execution, Park& park, const std::string& address, Status reached,
                             Scheduler::TimePoint end) {
  if (reached.ok()) reached = mount_disks(execution, address, execution.context(address, end));
  if (reached.code() == Code::Cancelled) co_return reached;
  // Read again: its host key may have been learned meanwhile.
  std::optional<ResourceRecord> record = execution.resource(address);
  if (!record) co_return reached;
  record->reachable = reached.ok();
  if (!reached.ok()) {
    record->status = ResourceStatus::Tainted;
  } else if (record->status == ResourceStatus::Tainted) {
    record->status =
        ResourceStatus::Ready;  // by an attempt of this run: a plan replaces what was tainted before
  }
  Async<Status> writing = park.write([&record] { return putting_of(*record); });
  co_await writing.finished();
  if (Status put = writing.take(); !put.ok()) co_return put;
  execution.put(*record);
  if (reached.ok()) tell_phase(execution, *record, "reachable");
  co_return reached;
}

// Why a silent machine will never answer; ok where it may, or where that is not known.
Status why_silent(const std::string& address, const Sight& sight) {
  if (!sight.status.ok()) return {};
  const std::string detail = sight.seen && !sight.seen->detail.empty() ? ": " + sight.seen->detail : "";
  if (!sight.seen || sight.seen->phase == ResourcePhase::Leaving)
    return {Code::Conflict, address + " was preempted or deleted before it became reachable" + detail};
  if (sight.seen->phase == ResourcePhase::Stopped)
    return {Code::Conflict, address + " was stopped before it became reachable" + detail};
  if (sight.seen->phase == ResourcePhase::Broken)
    return {Code::Conflict, address + " failed before it became reachable" + detail};
  return {};
}

// Empty: it has none yet. Nothing: its cloud tells no address.
std::optional<std::string> host_of(const ResourceRecord& record) {
  auto host = record.attributes.find("host");
  if (host == record.attributes.end()) return std::nullopt;
  return host->is_string() ? host->get<std::string>() : "";
}

// Its address, which may come, or become another one, after the machine is there.
Async<Status> record_address(Execution& execution, Park& park, ResourceRecord record, const Sight& sight) {
  if (!sight.status.ok() || !sight.seen) co_return Status();
  const std::optional<std::string> before = host_of(record);
  record.attributes = attributes_now(record, sight.seen->attributes);
  const std::optional<std::string> now = host_of(record);
  if (!now || now->empty() || now == before) co_return Status();
  Async<Status> writing = park.write([&record] { return putting_of(record); });
  co_await writing.finished();
  Status put = writing.take();
  if (put.ok()) execution.put(record);
  co_return put;
}

// True as soon as it takes connections. `lost` says why it never will.
Async<bool> wait_for_answer(Execution& execution, Park& park, const std::string& address,
                            Scheduler::TimePoint end, Status& lost) {
  for (bool told = false;;) {
    std::optional<ResourceRecord> record = execution.resource(address);
    Cloud* cloud = record ? execution.run.clouds->find(record->cloud) : nullptr;
    bool answers = false;
    if (cloud && host_of(*record) == "") {
      if (!told) tell(execution, address, "it has no address yet");
      told = true;
      (void)co_await park.during(kNoAddress);
    } else {
      answers = co_await park.answers(address, std::min(end, execution.in(kSilence)));
    }
    if (answers || execution.stop_starting() || execution.world().clock.now() >= end) co_return answers;
    if (!cloud) continue;
    Watch watch{Watch::For::Settled, "",   record->id, address, shows_by(execution, *cloud, *record),
                execution.in(kLook), false};
    std::unique_ptr<Sight> sight = co_await park.sight(*cloud, std::move(watch));
    lost = why_silent(address, *sight);
    if (lost.ok()) {
      Async<Status> recording = record_address(execution, park, std::move(*record), *sight);
      co_await recording.finished();
      lost = recording.take();
    }
    if (!lost.ok()) co_return false;
  }
}

}  // namespace

Async<Status> wait_until_reachable(Execution& execution, Park& park, const std::string& address) {
  if (!is_to_be_reached(execution, address)) co_return Status();
  tell_node_phase(execution, address, "waiting");
  const auto end = execution.in(execution.options().boot_deadline);
  // Until the machine listens, a login is useless and would block a thread until its timeout.
  bool answers = true;
  Status lost;
  if (is_reached_directly(execution, address)) {
    answers = co_await wait_for_answer(execution, park, address, end, lost);
  }
  if (!answers && execution.stop_starting()) co_return stopped_waiting(address);
  if (!lost.ok()) {
    Async<Status> recording = record_reached(execution, park, address, std::move(lost), end);
    co_await recording.finished();
    co_return recording.take();
  }
  std::string told;
  for (milliseconds wait = kFirstLogin;; wait = std::min(wait * 2, kLongestLogin)) {
    std::optional<Status> over = log_in(execution, address, end, wait, told);
    if (over) {
      Async<Status> recording = record_reached(execution, park, address, std::move(*over), end);
      co_await recording.finished();
      co_return recording.take();
    }
    bool waited = co_await park.during(wait);
    if (!waited) co_return stopped_waiting(address);
  }
}

}  // namespace radl
