#include "runtime/state/apply_change.h"

#include "common/digest.h"
#include "runtime/state/records.h"
#include "runtime/state/rows.h"

namespace radl {

namespace {

// The journal is for crashes and for looking back a little, not for ever.
constexpr int kClosedIntentsKept = 2000;

Json resource_of(const Intent& intent) {
  return intent.kind == Intent::Kind::Run ? Json::object() : row_json(intent.resource);
}

Status run(Database& db, const char* sql, const std::string& text) {
  Result<Statement> row = db.prepare(sql);
  if (!row.ok()) return row.status();
  return row->bind(1, text).run();
}

Status apply(Writing& writing, const state_change::Begin& begin) {
  const Intent& intent = begin.intent;
  const IntentRow row{std::string(intent_kind_name(intent.kind)),
                      intent.address,
                      intent.token,
                      resource_of(intent),
                      writing.now,
                      writing.lock_id};
  static const std::string sql = "INSERT" + insert_tail<IntentRow>();
  if (Status put = insert_by(writing.db, sql, row); !put.ok()) return put;
  writing.last_intent = writing.db.last_row_id();
  if (intent.kind != Intent::Kind::Destroy) return {};
  return run(writing.db, "UPDATE resources SET status = 'deleting' WHERE address = ?", intent.address);
}

Status apply(Writing& writing, const state_change::Close& close) {
  Result<Statement> row =
      writing.db.prepare("UPDATE journal SET closed_at = ?, outcome = ? WHERE id = ? AND closed_at IS NULL");
  if (!row.ok()) return row.status();
  Status closed = row->bind(1, writing.now).bind(2, close.outcome).bind(3, close.intent).run();
  if (!closed.ok()) return closed;
  Result<Statement> old = writing.db.prepare("DELETE FROM journal WHERE closed_at IS NOT NULL AND id <= ?");
  if (!old.ok()) return old.status();
  return old->bind(1, close.intent - kClosedIntentsKept).run();
}

Status apply(Writing& writing, const state_change::PutResource& put) {
  return put_row(writing.db, put.record);
}
Status apply(Writing& writing, const state_change::PutStep& put) {
  return write_step(writing.db, put.record);
}
Status apply(Writing& writing, const state_change::ForgetStep& forget) {
  return delete_step(writing.db, forget.id);
}
Status apply(Writing& writing, const state_change::Move& move) { return apply_move(writing, move); }
Status apply(Writing& writing, const state_change::Protect& protect) {
  Result<Statement> row = writing.db.prepare("UPDATE resources SET protected_by = ? WHERE address = ?");
  if (!row.ok()) return row.status();
  return row->bind(1, protect.by).bind(2, protect.address).run();
}
Status apply(Writing& writing, const state_change::PutScaling& put) {
  Result<Scalings> scaled = read_scalings(writing.db);
  if (!scaled.ok()) return scaled.status();
  if (put.chosen) {
    (*scaled)[put.system] = *put.chosen;
  } else {
    scaled->erase(put.system);
  }
  return write_scalings(writing.db, *scaled);
}
Status apply(Writing& writing, const state_change::PutOwner& put) {
  return put_row(writing.db, OwnerRow{put.cloud, put.owner});
}

Status apply(Writing& writing, const state_change::RemoveResource& remove) {
  if (remove.forget_begun) {
    // Otherwise the next run would continue its open intents: destroy it, or restore its record.
    Result<Statement> row = writing.db.prepare(
        "UPDATE journal SET closed_at = ?, outcome = 'forgotten' "
        "WHERE closed_at IS NULL AND address = ? AND kind IN ('update', 'destroy')");
    if (!row.ok()) return row.status();
    if (Status closed = row->bind(1, writing.now).bind(2, remove.address).run(); !closed.ok()) return closed;
  }
  return delete_resource(writing.db, remove.address, remove.keep_steps);
}

Status apply(Writing& writing, const state_change::Release& release) {
  Database& db = writing.db;
  Result<Snapshot> now = read_snapshot(db);
  if (!now.ok()) return now.status();
  auto known = now->resources.find(release.address);
  if (known == now->resources.end()) return not_found("the state has no " + release.address);
  const ResourceRecord& record = known->second;
  if (Status gone = apply(writing, state_change::RemoveResource{release.address, false, true}); !gone.ok())
    return gone;
  if (Status forgotten = forget_in_journal(db, {record.cloud, record.token, record.id}); !forgotten.ok())
    return forgotten;
  Released released{record.address, record.type, record.cloud, record.id, {}};
  for (const std::string& need : record.needs)
    if (auto used = now->resources.find(need); used != now->resources.end())
      released.needs.push_back(used->second.id);
  now->released.push_back(std::move(released));
  return write_released(db, now->released);
}

Status apply(Writing& writing, const state_change::DropReleased& drop) {
  Result<std::vector<Released>> released = read_released(writing.db);
  if (!released.ok()) return released.status();
  const size_t dropped = std::erase_if(
      *released, [&](const Released& one) { return one.cloud == drop.cloud && one.id == drop.id; });
  return dropped == 0 ? Status() : write_released(writing.db, *released);
}

Status apply(Writing& writing, const state_change::TakeLineage& take) {
  Result<long long> holds =
      writing.db.integer("SELECT (SELECT count(*) FROM resources) + (SELECT count(*) FROM journal)");
  if (!holds.ok()) return holds.status();
  if (*holds > 0) return Status(Code::Conflict, "the state holds resources of its own");
  return write_meta(writing.db, "lineage", take.lineage);
}

Status write_outputs(Database& db, const std::vector<OutputRecord>& outputs) {
  if (Status cleared = db.run("DELETE FROM outputs"); !cleared.ok()) return cleared;
  for (OutputRecord output : outputs) {
    if (output.sensitive) output.value = nullptr;
    if (Status put = put_row(db, output); !put.ok()) return put;
  }
  return {};
}

Status write_history(Writing& writing, const state_change::CloseRun& close) {
  Result<long long> serial = writing.db.integer("SELECT value FROM meta WHERE key = 'serial'");
  if (!serial.ok()) return serial.status();
  const HistoryEntry entry{*serial + 1,   writing.now,         close.command,
                           close.summary, close.source_digest, writing.principal};
  return put_row(writing.db, entry);
}

Status apply(Writing& writing, const state_change::CloseRun& close) {
  Database& db = writing.db;
  if (Status put = write_outputs(db, close.outputs); !put.ok()) return put;
  if (Status cleared = db.run("DELETE FROM secrets"); !cleared.ok()) return cleared;
  for (const auto& [name, fingerprint] : close.secrets) {
    if (Status put = put_row(db, SecretRow{name, fingerprint}); !put.ok()) return put;
  }
  if (Status put = write_meta(db, "source_digest", close.source_digest); !put.ok()) return put;
  if (Status put = write_meta(db, "source_paths", Json(close.source_paths).dump()); !put.ok()) return put;
  Status swept = db.exec("DELETE FROM definitions WHERE sha256 NOT IN (SELECT definition FROM steps)");
  return swept.ok() ? write_history(writing, close) : swept;
}

}  // namespace

Status apply_change(Writing& writing, const StateChange& change) {
  return std::visit([&](const auto& each) { return apply(writing, each); }, change);
}

Status write_step(Database& db, const StepRecord& record) {
  DefinitionRow definition{"", record.definition ? stored_text(*record.definition) : "null"};
  definition.sha256 = sha256_hex(definition.definition);
  if (Status kept = keep_row(db, definition); !kept.ok()) return kept;
  return put_row(db, StepRow{record, definition.sha256, record.nodes.size() > 1});
}

Status rewrite_intent(Database& db, const Intent& intent) {
  Result<Statement> row = db.prepare("UPDATE journal SET address = ?, resource = ? WHERE id = ?");
  if (!row.ok()) return row.status();
  return row->bind(1, intent.address).bind(2, stored_text(resource_of(intent))).bind(3, intent.id).run();
}

Status delete_resource(Database& db, const std::string& address, bool keep_steps) {
  Status gone = run(db, "DELETE FROM resources WHERE address = ?", address);
  if (!gone.ok() || keep_steps) return gone;
  gone = run(db, "DELETE FROM steps WHERE nodes = ?", Json::array({address}).dump());
  if (!gone.ok()) return gone;
  return db.run(
      "DELETE FROM steps WHERE wide = 1 AND NOT EXISTS "
      "(SELECT 1 FROM json_each(steps.nodes) JOIN resources ON address = json_each.value)");
}

Status delete_step(Database& db, const std::string& id) {
  return run(db, "DELETE FROM steps WHERE id = ?", id);
}

Status write_meta(Database& db, const std::string& key, const std::string& value) {
  return put_row(db, MetaRow{key, value});
}

}  // namespace radl
