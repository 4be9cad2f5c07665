// Takes something that exists into the state, so that the next plan compares it with the file.
#include "runtime/clouds/takes_over.h"
#include "runtime/exec/actions.h"
#include "runtime/exec/asking.h"
#include "runtime/exec/executor.h"

namespace radl {

namespace {

constexpr std::chrono::milliseconds kOneLookToImport = std::chrono::minutes(2);

Result<const Action*> action_to_import(const Plan& plan, const Snapshot& snapshot,
                                       const std::string& address) {
  if (snapshot.resources.count(address))
    return Status(Code::Exists, address + " is in the state already, as " + snapshot.resources.at(address).id)
        .with_hint("`radlc state rm " + address + "` forgets it");
  const Action* action = plan.find(address);
  if (!action || action->is_step || action->verb != Verb::Create)
    return Status(Code::NotFound, "the file declares no resource " + address);
  return action;
}

Result<Seen> one_with(Session& session, Cloud& cloud, const std::string& address, const std::string& id) {
  Query query;
  query.ids = {id};
  Result<std::vector<Seen>> seen = cloud.look(session.context(address, session.in(kOneLookToImport)), query);
  if (!seen.ok()) return seen.status();
  if (seen->empty() || seen->front().phase == ResourcePhase::Leaving)
    return Status(Code::NotFound, cloud.id().text() + " has nothing with the id " + id);
  return std::move(seen->front());
}

}  // namespace

Result<ResourceRecord> import_resource(const Run& run, const Plan& plan, const std::string& address,
                                       const std::string& id) {
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  Result<const Action*> action = action_to_import(plan, *snapshot, address);
  if (!action.ok()) return action.status();
  for (const auto& [other, record] : snapshot->resources) {
    if (record.cloud == (*action)->cloud && record.id == id)
      return Status(Code::Exists, id + " is in the state already, as " + other);
  }
  Session session(run, std::move(*snapshot));
  Result<Cloud*> cloud = cloud_of(session, (*action)->cloud);
  if (!cloud.ok()) return cloud.status();
  Result<Seen> seen = one_with(session, **cloud, address, id);
  if (!seen.ok()) return session.events.mask(seen.status());
  Seen found = std::move(*seen);
  if (found.type != (*action)->type)
    return invalid(id + " is a " + found.type + ", and " + address + " is to be a " + (*action)->type);
  ResourceRecord record = wanted_record(session, **action, (*action)->chosen);
  // It was made without what is not there yet: making that is no reason to make it anew.
  std::erase_if(record.needs, [&](const std::string& need) { return !session.resource(need); });
  record.id = found.id;
  if (auto* marking = dynamic_cast<TakesOver*>(*cloud)) {
    Status marked = marking->take_over(session.context(address, session.in(kOneLookToImport)),
                                       order_for(session, record));
    if (!marked.ok()) return session.events.mask(marked);
    Result<Seen> again = one_with(session, **cloud, address, id);
    if (again.ok()) found = std::move(*again);
  }
  record.token = found.token;
  record.spec = laid_over(record.spec, found.spec);
  record.attributes = found.attributes;
  record.created_at = run.world->clock.wall_seconds();
  if (Status put = run.store->put_resource(record); !put.ok()) return put;
  return record;
}

}  // namespace radl
