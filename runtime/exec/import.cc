// Takes something that exists into the state, so that the next plan compares it with the file.
#include <algorithm>
#include <set>

#include "runtime/clouds/tags.h"
#include "runtime/clouds/takes_over.h"
#include "runtime/exec/actions.h"
#include "runtime/exec/asking.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/owners.h"

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
std::string what_could_be_meant(Execution& execution, Cloud& cloud, const Action& action) {
  Query query;
  query.everything = true;
  Result<std::vector<Seen>> seen =
      cloud.look(execution.context(action.id, execution.in(kOneLookToImport)), query);
  if (!seen.ok()) return "";
  std::set<std::string> known;
  execution.read([&](const Snapshot& snapshot) {
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
Result<std::string> id_of(Execution& execution, Cloud& cloud, const Action& action, const std::string& name) {
  auto* marking = dynamic_cast<TakesOver*>(&cloud);
  if (!marking) return name;
  return marking->id_named(execution.context(action.id, execution.in(kOneLookToImport)), action.type, name);
}

Status not_recorded_yet(const Snapshot& snapshot, const Action& action, const std::string& id) {
  for (const auto& [other, record] : snapshot.resources) {
    if (record.cloud == action.cloud && record.id == id)
      return Status(Code::Exists, id + " is in the state already, as " + other);
  }
  return {};
}

Result<Seen> one_with(Execution& execution, Cloud& cloud, const std::string& address, const std::string& id) {
  Query query;
  query.ids = {id};
  Result<std::vector<Seen>> seen =
      cloud.look(execution.context(address, execution.in(kOneLookToImport)), query);
  if (!seen.ok()) return seen.status();
  if (seen->empty() || seen->front().phase == ResourcePhase::Leaving)
    return Status(Code::NotFound, cloud.id().text() + " has nothing with the id " + id);
  return std::move(seen->front());
}

// What the action would create, as the cloud shows it.
ResourceRecord record_of(Execution& execution, const Action& action, const Seen& seen) {
  ResourceRecord record = wanted_record(execution, action, action.chosen);
  // It was created without resources that do not exist yet. Creating those does not require replacing it.
  std::erase_if(record.needs, [&](const std::string& need) { return !execution.resource(need); });
  record.id = seen.id;
  record.token = seen.token;
  record.spec = laid_over(record.spec, with_tags_of(record.spec, seen.spec));
  record.attributes = seen.attributes;
  record.created_at = execution.world().clock.wall_seconds();
  return record;
}

}  // namespace

Result<ResourceRecord> import_resource(const Run& run, const Plan& plan, const std::string& address,
                                       const std::string& name, const std::string& login_key) {
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  Result<const Action*> action = action_to_import(plan, *snapshot, address);
  if (!action.ok()) return action.status();
  Execution execution(run, std::move(*snapshot));
  Result<Cloud*> cloud = cloud_of(execution, (*action)->cloud);
  if (!cloud.ok()) return cloud.status();
  Result<std::string> id = id_of(execution, **cloud, **action, name);
  if (!id.ok()) return execution.events.mask(id.status());
  Status fresh;
  execution.read([&](const Snapshot& known) { fresh = not_recorded_yet(known, **action, *id); });
  if (!fresh.ok()) return fresh;
  Result<Seen> seen = one_with(execution, **cloud, address, *id);
  if (seen.status().code() == Code::NotFound)
    return execution.events.mask(
        Status(seen.status()).with_hint(what_could_be_meant(execution, **cloud, **action)));
  if (!seen.ok()) return execution.events.mask(seen.status());
  Seen found = std::move(*seen);
  if (found.type != (*action)->type)
    return invalid(*id + " is a " + found.type + ", and " + address + " is to be a " + (*action)->type);
  ResourceRecord record = record_of(execution, **action, found);
  if (!login_key.empty()) record.attributes["key"] = login_key;
  // Keep the token of an earlier import, because names contain it.
  if (record.token.empty()) record.token = random_token(execution.world().random);
  if (auto* marking = dynamic_cast<TakesOver*>(*cloud)) {
    Status marked = marking->take_over(execution.context(address, execution.in(kOneLookToImport)),
                                       order_for(execution, record));
    if (!marked.ok()) return execution.events.mask(marked);
    Result<Seen> again = one_with(execution, **cloud, address, *id);
    if (again.ok()) found = std::move(*again);
  }
  record.token = found.token;  // empty if the cloud stores none
  record.spec = laid_over(record.spec, with_tags_of(record.spec, found.spec));
  record.attributes = found.attributes;
  if (!login_key.empty()) record.attributes["key"] = login_key;  // a cloud may store none
  Result<std::vector<long long>> put = run.store->commit(
      {state_change::PutResource{record}, state_change::DropReleased{record.cloud, record.id}});
  if (!put.ok()) return put.status();
  return record;
}

Result<std::vector<Elsewhere>> existing_of(const CloudSet& clouds, const std::set<std::string>& ids,
                                           const Context& context, const std::string& name,
                                           std::map<std::string, std::string>& failed) {
  std::vector<Elsewhere> all;
  for (const std::string& id : ids) {
    Cloud* cloud = clouds.find(id);
    auto* marking = dynamic_cast<TakesOver*>(cloud);
    if (!marking) continue;
    auto tags = marking->infrastructures(context, name);
    if (tags.status().code() == Code::Cancelled) return tags.status();
    if (!tags.ok()) {
      failed[id] = tags.status().text();
      continue;
    }
    tags->erase(context.infrastructure);
    for (const std::string& tag : *tags) {
      Context theirs = context;
      theirs.infrastructure = tag;
      Query query;
      query.everything = true;
      auto seen = cloud->look(theirs, query);
      if (!seen.ok()) return seen.status();
      Elsewhere one{id, tag, {}};
      for (const Seen& each : *seen) {
        if (each.phase == ResourcePhase::Leaving) continue;
        one.resources.push_back((each.address.empty() ? each.type : each.address) + " (" + each.id + ")");
      }
      std::sort(one.resources.begin(), one.resources.end());
      if (!one.resources.empty()) all.push_back(std::move(one));
    }
  }
  return all;
}

Result<Imported> import_all(const Run& run, const Plan& plan) {
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  if (!snapshot->resources.empty())
    return Status(Code::Exists, "the state has resources already")
        .with_hint("`radlc import` adds one to them");
  Execution execution(run, std::move(*snapshot));
  std::set<std::string> clouds;
  for (const Action& action : plan.actions)
    if (!action.is_step) clouds.insert(action.cloud);
  if (Status ours = check_owners(execution, clouds, true); !ours.ok()) return ours;
  std::map<std::string, std::vector<Seen>> by_address;
  Imported imported;
  for (const std::string& id : clouds) {
    Result<Cloud*> cloud = cloud_of(execution, id);
    if (!cloud.ok()) return cloud.status();
    Query query;
    query.everything = true;
    Result<std::vector<Seen>> seen =
        (*cloud)->look(execution.context("", execution.in(kOneLookToImport)), query);
    if (!seen.ok()) return execution.events.mask(seen.status());
    for (Seen& one : *seen) {
      if (one.phase == ResourcePhase::Leaving) continue;
      const Action* action = plan.find(one.address);
      const bool declared = action && !action->is_step && action->cloud == id && action->type == one.type;
      if (declared && !one.token.empty())
        by_address[one.address].push_back(std::move(one));
      else
        imported.left.push_back({id, one.id, one.type, one.address, "the file declares no such resource"});
    }
  }
  std::vector<StateChange> changes;
  for (const Action& action : plan.actions) {  // in the order of dependencies
    auto found = by_address.find(action.id);
    if (found == by_address.end()) continue;
    if (found->second.size() > 1) {
      for (const Seen& one : found->second)
        imported.left.push_back(
            {action.cloud, one.id, one.type, one.address, "several resources carry this address"});
      continue;
    }
    ResourceRecord record = record_of(execution, action, found->second.front());
    execution.put(record);
    imported.addresses.push_back(record.address);
    changes.push_back(state_change::PutResource{std::move(record)});
  }
  if (changes.empty()) return imported;
  Result<std::vector<long long>> put = run.store->commit(changes);
  if (!put.ok()) return put.status();
  return imported;
}

}  // namespace radl
