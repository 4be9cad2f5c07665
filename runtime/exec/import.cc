// Takes something that exists into the state, so that the next plan compares it with the file.
#include <set>

#include "runtime/clouds/tags.h"
#include "runtime/clouds/takes_over.h"
#include "runtime/exec/actions.h"
#include "runtime/exec/asking.h"
#include "runtime/exec/executor.h"

namespace radl {

namespace {

constexpr size_t kNamed = 20;
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

// What the infrastructure has there and the state does not know, as a hint: where an id is misspelled, or was
// forgotten with `state rm`. Empty: nothing, or that cannot be said.
std::string what_could_be_meant(Session& session, Cloud& cloud, const Action& action) {
  Query query;
  query.everything = true;
  Result<std::vector<Seen>> seen =
      cloud.look(session.context(action.id, session.in(kOneLookToImport)), query);
  if (!seen.ok()) return "";
  std::set<std::string> known;
  session.read([&](const Snapshot& snapshot) {
    for (const auto& [address, record] : snapshot.resources)
      if (record.cloud == action.cloud) known.insert(record.id);
  });
  std::string ids;
  size_t count = 0;
  for (const Seen& one : *seen) {
    if (one.type != action.type || known.count(one.id) || ++count > kNamed) continue;
    ids += (ids.empty() ? "" : ", ") + one.id + (one.address.empty() ? "" : " (made as " + one.address + ")");
  }
  if (count > kNamed) ids += ", and " + std::to_string(count - kNamed) + " more";
  return ids.empty() ? "" : "of this infrastructure, and not in the state: " + ids;
}

// What the user names, as the cloud's ids are.
Result<std::string> id_of(Session& session, Cloud& cloud, const Action& action, const std::string& name) {
  auto* marking = dynamic_cast<TakesOver*>(&cloud);
  if (!marking) return name;
  return marking->id_named(session.context(action.id, session.in(kOneLookToImport)), action.type, name);
}

Status not_recorded_yet(const Snapshot& snapshot, const Action& action, const std::string& id) {
  for (const auto& [other, record] : snapshot.resources) {
    if (record.cloud == action.cloud && record.id == id)
      return Status(Code::Exists, id + " is in the state already, as " + other);
  }
  return {};
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
                                       const std::string& name) {
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  Result<const Action*> action = action_to_import(plan, *snapshot, address);
  if (!action.ok()) return action.status();
  Session session(run, std::move(*snapshot));
  Result<Cloud*> cloud = cloud_of(session, (*action)->cloud);
  if (!cloud.ok()) return cloud.status();
  Result<std::string> id = id_of(session, **cloud, **action, name);
  if (!id.ok()) return session.events.mask(id.status());
  Status fresh;
  session.read([&](const Snapshot& known) { fresh = not_recorded_yet(known, **action, *id); });
  if (!fresh.ok()) return fresh;
  Result<Seen> seen = one_with(session, **cloud, address, *id);
  if (seen.status().code() == Code::NotFound)
    return session.events.mask(
        Status(seen.status()).with_hint(what_could_be_meant(session, **cloud, **action)));
  if (!seen.ok()) return session.events.mask(seen.status());
  Seen found = std::move(*seen);
  if (found.type != (*action)->type)
    return invalid(*id + " is a " + found.type + ", and " + address + " is to be a " + (*action)->type);
  ResourceRecord record = wanted_record(session, **action, (*action)->chosen);
  // It was made without what is not there yet: making that is no reason to make it anew.
  std::erase_if(record.needs, [&](const std::string& need) { return !session.resource(need); });
  record.id = found.id;
  // One of an earlier run of ours stays: names have it in them.
  record.token = found.token.empty() ? random_token(session.world().random) : found.token;
  if (auto* marking = dynamic_cast<TakesOver*>(*cloud)) {
    Status marked = marking->take_over(session.context(address, session.in(kOneLookToImport)),
                                       order_for(session, record));
    if (!marked.ok()) return session.events.mask(marked);
    Result<Seen> again = one_with(session, **cloud, address, *id);
    if (again.ok()) found = std::move(*again);
  }
  if (found.token.empty()) record.token.clear();  // the cloud keeps none
  record.spec = laid_over(record.spec, with_tags_of(record.spec, found.spec));
  record.attributes = found.attributes;
  record.created_at = run.world->clock.wall_seconds();
  if (Status put = run.store->put_resource(record); !put.ok()) return put;
  return record;
}

}  // namespace radl
