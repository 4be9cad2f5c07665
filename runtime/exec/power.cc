#include "runtime/exec/power.h"

#include "runtime/exec/actions.h"
#include "runtime/exec/asking.h"
#include "runtime/exec/owners.h"
#include "runtime/exec/retry.h"

namespace radl {
namespace {

class Powering {
 public:
  explicit Powering(Execution& execution) : execution_(execution) {}

  Status ask(const std::string& address, PowerChange change) {
    auto cloud = find(address);
    if (!cloud.ok()) return cloud.status();
    const ResourceRecord record = *execution_.resource(address);
    return repeated(address, [&]() -> Status {
      const Order order = order_for(execution_, record);
      const Context context = asking(execution_, address);
      Asked asked = change == PowerChange::Start  ? (*cloud)->ask_update(context, order)
                    : change == PowerChange::Stop ? (*cloud)->ask_power(context, order, Power::Stop)
                                                  : (*cloud)->ask_power(context, order, Power::Reboot);
      // The cloud still works on an earlier request.
      if (asked.answer == Asked::Answer::Accepted && asked.again) {
        auto settled =
            wait(**cloud, record, [](ResourcePhase phase) { return phase != ResourcePhase::Pending; });
        if (!settled.ok()) return settled.status();
        return Status(Code::Retry, address + " is being changed");
      }
      return asked.answer == Asked::Answer::Accepted ? Status() : asked.status;
    });
  }

  // Waits until the cloud shows the requested state, and records what it shows.
  Status finish(const std::string& address, PowerChange change) {
    auto cloud = find(address);
    if (!cloud.ok()) return cloud.status();
    ResourceRecord record = *execution_.resource(address);
    const ResourcePhase wanted = change == PowerChange::Stop ? ResourcePhase::Stopped : ResourcePhase::Ready;
    auto seen = wait(**cloud, record, [&](ResourcePhase phase) {
      return phase == wanted || phase == ResourcePhase::Broken || phase == ResourcePhase::Leaving;
    });
    if (!seen.ok()) return seen.status();
    if (seen->phase != wanted) return Status(Code::Invalid, address + ": " + seen->detail);
    record.attributes = attributes_now(record, std::move(seen->attributes));
    return execution_.store().put_resource(record);
  }

  Result<std::string> image(const std::string& address, const std::string& name) {
    auto cloud = find(address);
    if (!cloud.ok()) return cloud.status();
    const ResourceRecord record = *execution_.resource(address);
    const Asked asked = (*cloud)->ask_image(asking(execution_, address), order_for(execution_, record), name);
    if (asked.answer != Asked::Answer::Accepted) return asked.status;
    return asked.id;
  }

 private:
  Result<Cloud*> find(const std::string& address) {
    const auto record = execution_.resource(address);
    if (!record || !record->is_node())
      return Status(Code::NotFound, address + " is not a machine of the state");
    return cloud_of(execution_, record->cloud);
  }

  Status repeated(const std::string& address, const std::function<Status()>& call) {
    RetryHooks hooks;
    hooks.stop = execution_.now();
    hooks.on_retry = [&](const Status& error, int, std::chrono::milliseconds) {
      tell(execution_, address, "tried again: " + error.message());
    };
    return with_retries(execution_.options(), execution_.world(), hooks, [&](int) { return call(); });
  }

  Result<Seen> wait(Cloud& cloud, const ResourceRecord& record,
                    const std::function<bool(ResourcePhase)>& is_over) {
    const auto end = execution_.in(std::max(execution_.options().create_deadline, cloud.settles_after()));
    const auto shows = shows_by(execution_, cloud, record);
    auto pace = cloud.pace().first;
    while (true) {
      Query query;
      query.ids = {record.id};
      query.names[record.id] = record.address;
      Result<std::vector<Seen>> seen = Status(Code::Internal, "");
      Status looked = repeated(record.address, [&] {
        seen = cloud.look(asking(execution_, record.address), query);
        return seen.status();
      });
      if (!looked.ok()) return looked;
      for (Seen& one : *seen)
        if (one.id == record.id && is_over(one.phase)) return std::move(one);
      const auto now = execution_.world().clock.now();
      if (seen->empty() && now >= shows) return Status(Code::NotFound, record.address + " is gone");
      if (now >= end) return Status(Code::Timeout, record.address + " does not show what was asked for");
      if (!sleep_unless(execution_.world().clock, pace, execution_.now())) return execution_.now().check();
      pace = std::min(pace * 2, cloud.pace().longest);
    }
  }

  Execution& execution_;
};

}  // namespace

std::vector<PowerOutcome> change_power(const Run& run, const std::vector<std::string>& addresses,
                                       PowerChange change) {
  std::vector<PowerOutcome> outcomes;
  for (const std::string& address : addresses) outcomes.push_back({address, {}});
  auto snapshot = run.store->snapshot();
  if (!snapshot.ok()) {
    for (PowerOutcome& one : outcomes) one.status = snapshot.status();
    return outcomes;
  }
  Execution execution(run, std::move(*snapshot));
  const Status ours = check_owners(execution, clouds_of(execution), false);
  Powering powering(execution);
  for (PowerOutcome& one : outcomes) {
    one.status = !ours.ok()                  ? ours
                 : execution.stop_starting() ? stopped_before_it_was_asked()
                                             : powering.ask(one.address, change);
  }
  for (PowerOutcome& one : outcomes)
    if (one.status.ok()) one.status = powering.finish(one.address, change);
  return outcomes;
}

Result<std::string> make_image(const Run& run, const std::string& address, const std::string& name) {
  auto snapshot = run.store->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  Execution execution(run, std::move(*snapshot));
  if (Status ours = check_owners(execution, clouds_of(execution), false); !ours.ok()) return ours;
  return Powering(execution).image(address, name);
}

}  // namespace radl
