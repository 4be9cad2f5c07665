#include "runtime/clouds/gce/operations.h"

#include <fmt/format.h>

#include <set>

#include "common/google/errors.h"
#include "runtime/clouds/gce/api.h"

namespace radl::gce {
namespace {

// More than this many are requested in one list.
constexpr size_t kFewOperations = 4;

Status failure_of(const Json& operation) {
  const google::Said said = google::error_in(operation);
  if (said.message.empty()) return {};
  const int status = static_cast<int>(number_of(operation, "httpErrorStatusCode"));
  const Code code = google::code_of(said, status);
  const bool plain = said.reason.empty() || said.message == said.reason;
  return Status(code, plain ? said.message : fmt::format("{}: {}", said.reason, said.message))
      .with_hint(google::cure_of(said, code));
}

}  // namespace

Status poll_operations(Asking& call, const Operations::Wanted& wanted) {
  Operations& operations = call.memory.operations;
  const std::map<std::string, std::string> open = operations.open(wanted);
  std::set<std::string> running;
  if (open.size() > kFewOperations) {
    Status listed =
        call.service.each(call.root() + "aggregated/operations", {"operations", call.cloud.region},
                          {{"filter", "status != \"DONE\""}}, waits(call.context),
                          [&](const Json& item) { running.insert(partial_of(text_of(item, "selfLink"))); });
    if (!listed.ok()) return listed;
  }
  for (const auto& [id, path] : open) {
    if (running.count(path)) continue;
    auto now = read(call, path);
    // Operations are kept for some days: one that no longer exists was done.
    if (!now.ok() && now.status().code() != Code::NotFound) return now.status();
    if (!now.ok() || text_of(*now, "status") == "DONE")
      operations.done(id, path, now.ok() ? failure_of(*now) : Status());
  }
  return {};
}

}  // namespace radl::gce
