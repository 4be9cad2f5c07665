#include "runtime/clouds/gce/operations.h"

#include <fmt/format.h>

#include <set>

#include "runtime/clouds/gce/api.h"

namespace radl::gce {
namespace {

// More than so many are asked for in one list.
constexpr size_t kFewOperations = 4;
// For so long nobody asks again for what a zone has just said that it has not.
constexpr std::chrono::minutes kFullFor{2};

Status failure_of(const Json& operation) {
  const google::Said said = google::error_in(operation);
  if (said.message.empty()) return {};
  const int status = static_cast<int>(number_of(operation, "httpErrorStatusCode"));
  return {google::code_of(said.reason, status), said.reason.empty() || said.message == said.reason
                                                    ? said.message
                                                    : fmt::format("{}: {}", said.reason, said.message)};
}

}  // namespace

void Operations::began(const std::string& id, Operation operation) {
  std::lock_guard guard(mutex_);
  failed_.erase(id);
  if (!operation.path.empty()) pending_[id] = std::move(operation);
}

void Operations::done(const std::string& id, const std::string& path, const Json& operation) {
  std::lock_guard guard(mutex_);
  auto found = pending_.find(id);
  if (found == pending_.end() || found->second.path != path) return;  // another one has begun meanwhile
  Operation one = std::move(found->second);
  pending_.erase(found);
  one.failed = failure_of(operation);
  if (one.failed.ok()) return;
  if (one.failed.code() == Code::Quota && !one.place.empty())
    full_.insert_or_assign(one.place, std::pair(Clock::now() + kFullFor, one.failed));
  failed_[id] = std::move(one);
}

Status Operations::poll(Asking& call,
                        const std::function<bool(const std::string& id, const Operation&)>& wanted) {
  std::map<std::string, std::string> open;  // id -> path
  for (const auto& [id, one] : all(false))
    if (wanted(id, one)) open[id] = one.path;
  std::set<std::string> running;
  if (open.size() > kFewOperations) {
    Status listed = call.service.each(
        call.root() + "aggregated/operations", "operations", {{"filter", "status != \"DONE\""}},
        call.context.stop, [&](const Json& item) { running.insert(partial_of(text_of(item, "selfLink"))); });
    if (!listed.ok()) return listed;
  }
  for (const auto& [id, path] : open) {
    if (running.count(path)) continue;
    auto now = read(call, path);
    // Operations are kept for some days: one that is not there any more was done.
    if (!now.ok() && now.status().code() != Code::NotFound) return now.status();
    if (!now.ok() || text_of(*now, "status") == "DONE") done(id, path, now.ok() ? *now : Json());
  }
  return {};
}

std::optional<Operation> Operations::pending(const std::string& id) const {
  std::lock_guard guard(mutex_);
  auto found = pending_.find(id);
  return found == pending_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Operation> Operations::failed(const std::string& id) const {
  std::lock_guard guard(mutex_);
  auto found = failed_.find(id);
  return found == failed_.end() ? std::nullopt : std::optional(found->second);
}

void Operations::forget_failure(const std::string& id) {
  std::lock_guard guard(mutex_);
  failed_.erase(id);
}

std::map<std::string, Operation> Operations::all(bool failed) const {
  std::lock_guard guard(mutex_);
  return failed ? failed_ : pending_;
}

Status Operations::room_in(const std::string& place) const {
  std::lock_guard guard(mutex_);
  auto found = full_.find(place);
  return found == full_.end() || found->second.first < Clock::now() ? Status() : found->second.second;
}

}  // namespace radl::gce
