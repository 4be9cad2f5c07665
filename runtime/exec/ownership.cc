#include "runtime/exec/ownership.h"

#include "runtime/clouds/takes_over.h"
#include "runtime/exec/actions.h"
#include "runtime/exec/asking.h"
#include "runtime/exec/owners.h"
#include "runtime/exec/retry.h"

namespace radl {

namespace {

constexpr std::chrono::milliseconds kLookForOthers = std::chrono::minutes(2);

Result<std::vector<Seen>> look(Execution& execution, Cloud& cloud, const Query& query) {
  std::vector<Seen> seen;
  Status asked = with_retries(
      execution.options(), execution.world(), retry_hooks(execution, cloud.id().text()), [&](int) -> Status {
        auto answer = cloud.look(execution.context("", execution.in(kLookForOthers)), query);
        if (!answer.ok()) return answer.status();
        seen = std::move(*answer);
        return {};
      });
  if (!asked.ok()) return asked;
  return seen;
}

// The clouds that something was ever created or released in, as far as this run can reach them.
std::set<std::string> clouds_to_ask(Execution& execution) {
  std::set<std::string> clouds = clouds_of(execution);
  for (const std::string& id : execution.run.clouds->ids()) clouds.insert(id);
  execution.read([&](const Snapshot& snapshot) {
    for (const Released& one : snapshot.released) clouds.insert(one.cloud);
  });
  return clouds;
}

// What was released and is gone keeps nothing from being removed any more.
Status drop_what_is_gone(Execution& execution, const Cloud& cloud, const std::vector<Seen>& seen) {
  std::vector<StateChange> changes;
  execution.read([&](const Snapshot& snapshot) {
    for (const Released& one : snapshot.released) {
      if (one.cloud != cloud.id().text()) continue;
      const bool there = std::any_of(seen.begin(), seen.end(), [&](const Seen& each) {
        return each.id == one.id && each.phase != ResourcePhase::Leaving;
      });
      if (!there) changes.push_back(state_change::DropReleased{one.cloud, one.id});
    }
  });
  return changes.empty() ? Status() : execution.store().commit(changes).status();
}

// Unsupported: its mark stays, and no sweep goes by it any more.
Status take_tags_off(Execution& execution, const std::string& id, const Order& order) {
  Result<Cloud*> cloud = cloud_of(execution, id);
  if (!cloud.ok()) return cloud.status();
  auto* marking = dynamic_cast<TakesOver*>(*cloud);
  if (!marking) return {};
  Status released =
      with_retries(execution.options(), execution.world(), retry_hooks(execution, order.address),
                   [&](int) -> Status { return marking->release(asking(execution, order.address), order); });
  return released.code() == Code::NotFound ? Status() : released;  // a missing resource counts as released
}

// "volume.worker[0].1", "address.worker[0]" of "worker[0]" (part_address()).
bool is_part_of(const std::string& address, const std::string& node) {
  const size_t kind = address.find('.');
  if (kind == address.npos) return false;
  const std::string_view of = std::string_view(address).substr(kind + 1);
  return of == node || of.starts_with(node + ".");
}

}  // namespace

Result<Ownership> Ownership::of(Execution& execution) {
  Result<std::vector<Owned>> owned = execution.store().owned();
  if (!owned.ok()) return owned.status();
  Ownership ownership;
  for (const Owned& one : *owned) {
    OfCloud& of_cloud = ownership.clouds_[one.cloud];
    if (!one.id.empty()) of_cloud.ids.insert(one.id);
    if (one.token.empty()) continue;
    std::set<std::string>& ids = of_cloud.by_token[one.token];
    if (!one.id.empty()) ids.insert(one.id);
  }
  execution.read([&](const Snapshot& snapshot) {
    for (const auto& [address, record] : snapshot.resources)
      ownership.clouds_[record.cloud].recorded.insert(record.id);
    for (const Released& one : snapshot.released) ownership.clouds_[one.cloud].released.insert(one.id);
  });
  return ownership;
}

bool Ownership::is_released(const std::string& cloud, const std::string& id) const {
  const auto of_cloud = clouds_.find(cloud);
  return of_cloud != clouds_.end() && of_cloud->second.released.count(id) != 0;
}

bool Ownership::is_kept(const std::string& cloud, const std::string& id) const {
  const auto of_cloud = clouds_.find(cloud);
  return of_cloud != clouds_.end() && of_cloud->second.kept.count(id) != 0;
}

std::set<std::string> Ownership::clouds() const {
  std::set<std::string> ids;
  for (const auto& [id, of_cloud] : clouds_) ids.insert(id);
  return ids;
}

void Ownership::keep(const std::string& cloud, const std::string& id) { clouds_[cloud].kept.insert(id); }

std::string Ownership::why_foreign(const Cloud& cloud, const Seen& seen) const {
  const auto* marking = dynamic_cast<const TakesOver*>(&cloud);
  if (marking && marking->is_in_work_directory()) return "";
  const auto of_cloud = clouds_.find(cloud.id().text());
  if (of_cloud == clouds_.end()) return "this state has created nothing there";
  if (of_cloud->second.ids.count(seen.id)) return "";
  if (seen.token.empty()) return "its radlc tags are not complete";
  const auto token = of_cloud->second.by_token.find(seen.token);
  if (token == of_cloud->second.by_token.end()) return "this state did not create it";
  if (token->second.empty()) return "";
  return "its tags are a copy of those of " + *token->second.begin();
}

Query Ownership::everything_of(const std::string& cloud) const {
  Query query;
  query.everything = true;
  const auto of_cloud = clouds_.find(cloud);
  if (of_cloud == clouds_.end()) return query;
  query.ids.assign(of_cloud->second.recorded.begin(), of_cloud->second.recorded.end());
  for (const auto& [token, ids] : of_cloud->second.by_token)
    if (ids.empty()) query.tokens.push_back(token);
  return query;
}

Result<Others> look_for_others(const Run& run, bool forget) {
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  Execution execution(run, std::move(*snapshot));
  // With other credentials, all its resources would seem to be missing.
  if (Status ours = check_owners(execution, clouds_of(execution), false); !ours.ok()) return ours;
  Result<Ownership> ownership = Ownership::of(execution);
  if (!ownership.ok()) return ownership.status();
  Others others;
  std::set<std::string> clouds = clouds_to_ask(execution);
  // Nothing is recorded any longer, but resources that were kept before must still be found.
  const bool empty = execution.read([](const Snapshot& now) { return now.resources.empty(); });
  if (empty) clouds.merge(ownership->clouds());
  for (const std::string& id : clouds) {
    Cloud* cloud = run.clouds->find(id);
    if (!cloud) continue;  // a destroy reports that
    Query query = ownership->everything_of(id);
    execution.read([&](const Snapshot& now) {
      for (const Released& one : now.released)
        if (one.cloud == id) query.ids.push_back(one.id);
    });
    Result<std::vector<Seen>> seen = look(execution, *cloud, query);
    if (seen.status().code() == Code::Cancelled) return seen.status();
    if (!seen.ok()) {
      others.unseen[id] = execution.events.mask(seen.status().text());
      continue;
    }
    if (forget) {
      if (Status dropped = drop_what_is_gone(execution, *cloud, *seen); !dropped.ok()) return dropped;
    }
    for (const Seen& one : *seen) {
      if (one.phase == ResourcePhase::Leaving || ownership->is_released(id, one.id)) continue;
      if (std::string why = ownership->why_foreign(*cloud, one); !why.empty())
        others.unowned.push_back({id, one.id, one.type, one.address, std::move(why)});
    }
  }
  return others;
}

// With what was created for it alone: its volumes, its address, its interface. The state first: cut short in
// between, what is still tagged is listed by a destroy, and left alone.
Result<std::vector<StillMarked>> release_resource(const Run& run, const std::string& address,
                                                  bool keep_tags) {
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  Execution execution(run, std::move(*snapshot));
  std::optional<ResourceRecord> record = execution.resource(address);
  if (!record) return not_found("the state has no " + address);
  if (!keep_tags) {
    if (Status ours = check_owners(execution, {record->cloud}, false); !ours.ok()) return ours;
  }
  std::vector<std::pair<std::string, Order>> released = {{record->cloud, order_for(execution, *record)}};
  std::vector<StateChange> changes = {state_change::Release{address}};
  for (const std::string& need : record->needs) {
    std::optional<ResourceRecord> part = execution.resource(need);
    if (!part || !is_part_of(need, address)) continue;
    released.emplace_back(part->cloud, order_for(execution, *part));
    changes.push_back(state_change::Release{need});
  }
  std::vector<StillMarked> marked;
  if (Status done = execution.store().commit(changes).status(); !done.ok()) return done;
  if (keep_tags) return marked;
  for (const auto& [cloud, order] : released) {
    Status untagged = take_tags_off(execution, cloud, order);
    if (untagged.ok()) continue;
    if (untagged.code() == Code::Unsupported) {
      marked.push_back({order.address, order.id, cloud});
      continue;
    }
    return execution.events.mask(
        std::move(untagged).at(order.address + " is released, but its radlc tags could not be removed"));
  }
  return marked;
}

}  // namespace radl
