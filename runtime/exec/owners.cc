#include "runtime/exec/owners.h"

#include "runtime/exec/actions.h"
#include "runtime/exec/retry.h"

namespace radl {

namespace {

constexpr std::chrono::milliseconds kAskOwner = std::chrono::minutes(1);

Status check_owner(Execution& execution, Cloud& cloud, bool keep) {
  const std::string id = cloud.id().text();
  std::string owner;
  Status asked =
      with_retries(execution.options(), execution.world(), retry_hooks(execution, id), [&](int) -> Status {
        // Nothing has started, so the first request to stop ends the call.
        Result<std::string> answer = cloud.owner(execution.context("", execution.in(kAskOwner), true));
        if (!answer.ok()) return answer.status();
        owner = *answer;
        return {};
      });
  if (!asked.ok()) return asked;
  if (owner.empty()) return {};
  const std::string known = execution.read([&](const Snapshot& snapshot) {
    auto found = snapshot.owners.find(id);
    return found == snapshot.owners.end() ? std::string() : found->second;
  });
  if (known.empty()) return keep ? execution.store().put_owner(id, owner) : Status();
  if (known == owner) return {};
  return Status(Code::Auth, id + ": this infrastructure is in account " + known +
                                ", and the credentials in use belong to account " + owner)
      .with_hint("use the credentials of account " + known + "; nothing was looked up or changed");
}

}  // namespace

std::set<std::string> clouds_of(Execution& execution, const Plan* plan) {
  std::set<std::string> clouds = execution.read([](const Snapshot& snapshot) {
    std::set<std::string> known;
    for (const auto& [address, record] : snapshot.resources) known.insert(record.cloud);
    return known;
  });
  if (!plan) return clouds;
  for (const Action& action : plan->actions)
    if (!action.is_step) clouds.insert(action.cloud);
  return clouds;
}

Status check_owners(Execution& execution, const std::set<std::string>& clouds, bool keep) {
  for (const std::string& id : clouds) {
    Cloud* cloud = execution.run.clouds->find(id);
    if (!cloud) continue;
    if (Status checked = check_owner(execution, *cloud, keep); !checked.ok())
      return execution.events.mask(checked);
  }
  return {};
}

}  // namespace radl
