#include "runtime/state/job_migration.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/json_values.h"
#include "runtime/base/job_folder.h"
#include "runtime/state/snapshot.h"

namespace radl {

namespace {

// null where the definition does not tell.
Json folders_of(const Statement& row) {
  const std::string kind = row.text(1);
  const Json definition = Json::parse(row.text(2), nullptr, false);
  const Json nodes = Json::parse(row.text(3), nullptr, false);
  if (!definition.is_object() || !definition.contains(kind) || !nodes.is_object()) return {};
  const Json& job = definition[kind];
  if (!job.is_object() || !job.contains("identity")) return {};
  JobFolder folder;
  folder.name = job_folder_name(json::text_of(job, "name"), json::text_of(job, "identity"));
  for (const auto& [address, id] : nodes.items()) {
    folder.nodes[address] = id.is_string() ? id.get<std::string>() : "";
    if (row.text(4) == step_status_name(StepStatus::Interrupted)) folder.may_run.push_back(address);
  }
  if (std::string signal = json::text_of(job, "stop_signal"); !signal.empty())
    folder.signal = std::move(signal);
  folder.grace_seconds = json::number_of(job, "grace_seconds", folder.grace_seconds);
  return Json::array({folder});
}

}  // namespace

Status note_job_folders(Database& db) {
  std::vector<std::pair<std::string, Json>> found;  // by the step's id
  {
    Result<Statement> rows = db.prepare(
        "SELECT id, kind, definitions.definition, made_on, status FROM steps "
        "JOIN definitions ON sha256 = steps.definition WHERE kind IN ('training', 'program')");
    if (!rows.ok()) return rows.status();
    while (true) {
      Result<bool> row = rows->step();
      if (!row.ok()) return row.status();
      if (!*row) break;
      if (Json folders = folders_of(*rows); !folders.is_null())
        found.emplace_back(rows->text(0), std::move(folders));
    }
  }
  for (const auto& [id, folders] : found) {
    Result<Statement> put = db.prepare("UPDATE steps SET jobs = ? WHERE id = ?");
    if (!put.ok()) return put.status();
    if (Status done = put->bind(1, folders.dump()).bind(2, id).run(); !done.ok()) return done;
  }
  return {};
}

}  // namespace radl
