// Which store it is, and the writes of a run, spelled as changes.
#include "runtime/state/store.h"

#include "runtime/state/bucket_store.h"
#include "runtime/state/sqlite_store.h"
#include "runtime/state/writes.h"

namespace radl {

namespace {

// Moved, not copied as an initializer list would: records are most of what a write costs.
template <class... Changes>
std::vector<StateChange> list_of(Changes... changes) {
  std::vector<StateChange> list;
  list.reserve(sizeof...(changes));
  (list.push_back(std::move(changes)), ...);
  return list;
}

Status only_status(const Result<std::vector<long long>>& committed) {
  return committed.ok() ? Status() : committed.status();
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::string& directory, const std::string& name,
                                           OpenMode mode, World& world, const Stop& stop) {
  return is_bucket_place(directory) ? BucketStore::open(directory, name, mode, world, stop)
                                    : SqliteStore::open(directory, name, mode, world);
}

std::vector<Result<std::vector<long long>>> Store::commit_each(
    const std::vector<std::vector<StateChange>>& lists) {
  std::vector<Result<std::vector<long long>>> results;
  results.reserve(lists.size());
  for (const std::vector<StateChange>& changes : lists) results.push_back(commit(changes));
  return results;
}

Result<Intent> Store::begin(Intent intent) {
  Result<std::vector<long long>> begun = commit(opening_of(intent));
  if (!begun.ok()) return begun.status();
  intent.id = begun->front();
  return intent;
}

Result<Intent> Store::begin_run(StepRecord record) {
  Intent intent;
  intent.kind = Intent::Kind::Run;
  intent.address = record.id;
  record.status = StepStatus::Interrupted;
  Result<std::vector<long long>> begun =
      commit(list_of(state_change::Begin{intent}, state_change::PutStep{std::move(record)}));
  if (!begun.ok()) return begun.status();
  intent.id = begun->front();
  return intent;
}

Status Store::finish(const Intent& intent, const ResourceRecord* made) {
  return only_status(commit(closing_of(intent.id, made)));
}

Status Store::finish_destroy(const Intent& intent, bool keep_steps) {
  return only_status(commit(closing_of_destroy(intent.id, intent.address, keep_steps)));
}

Status Store::finish_run(const Intent& intent, const StepRecord& record) {
  std::string outcome(step_status_name(record.status));
  return only_status(
      commit(list_of(state_change::PutStep{record}, state_change::Close{intent.id, std::move(outcome)})));
}

Status Store::put_resource(const ResourceRecord& record) { return only_status(commit(putting_of(record))); }

Status Store::remove_resource(const std::string& address) {
  return only_status(commit({state_change::RemoveResource{address, false, true}}));
}

Status Store::release(const std::string& address) {
  return only_status(commit({state_change::Release{address}}));
}

Status Store::forget_step(const std::string& id) {
  return only_status(commit({state_change::ForgetStep{id}}));
}

Status Store::move(const std::string& from, const std::string& to) {
  return only_status(commit({state_change::Move{from, to}}));
}

Status Store::put_owner(const std::string& cloud, const std::string& owner) {
  return only_status(commit({state_change::PutOwner{cloud, owner}}));
}

Status Store::close_run(state_change::CloseRun run) { return only_status(commit(list_of(std::move(run)))); }

}  // namespace radl
