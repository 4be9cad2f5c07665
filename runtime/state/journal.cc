// Intents: written before the world is asked, closed in the same transaction as what came of it.
#include <fmt/format.h>

#include "runtime/state/rows.h"
#include "runtime/state/sqlite_store.h"

namespace radl {

namespace {

constexpr int kClosedIntentsKept = 2000;

Result<Intent::Kind> intent_kind_from(const std::string& name) {
  for (auto kind : {Intent::Kind::Create, Intent::Kind::Update, Intent::Kind::Destroy, Intent::Kind::Run}) {
    if (name == intent_kind_name(kind)) return kind;
  }
  return Status(Code::Corrupt, "state: journal: unknown kind '" + name + "'");
}

std::string resource_text(const Intent& intent) {
  if (intent.kind == Intent::Kind::Run) return "{}";
  return resource_to_row_json(intent.resource).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Intent> read_intent(const Statement& row) {
  Intent intent;
  intent.id = row.integer(0);
  Result<Intent::Kind> kind = intent_kind_from(row.text(1));
  if (!kind.ok()) return kind.status();
  intent.kind = *kind;
  intent.address = row.text(2);
  intent.token = row.text(3);
  intent.opened_at = row.real(5);
  if (intent.kind == Intent::Kind::Run) return intent;
  Result<ResourceRecord> resource = resource_from_row_json(row.text(4));
  if (!resource.ok()) return resource.status();
  intent.resource = std::move(*resource);
  return intent;
}

}  // namespace

std::string_view intent_kind_name(Intent::Kind kind) {
  switch (kind) {
    case Intent::Kind::Create:
      return "create";
    case Intent::Kind::Update:
      return "update";
    case Intent::Kind::Destroy:
      return "destroy";
    case Intent::Kind::Run:
      return "run";
  }
  return "unknown";
}

Result<std::vector<Intent>> SqliteStore::open_intents() {
  std::lock_guard guard(mutex_);
  Result<Statement> rows = db_.prepare(
      "SELECT id, kind, address, token, resource, opened_at FROM journal WHERE closed_at IS NULL ORDER BY "
      "id");
  if (!rows.ok()) return rows.status();
  std::vector<Intent> intents;
  while (true) {
    Result<bool> row = rows->step();
    if (!row.ok()) return row.status();
    if (!*row) return intents;
    Result<Intent> intent = read_intent(*rows);
    if (!intent.ok()) return intent.status();
    intents.push_back(std::move(*intent));
  }
}

Status SqliteStore::insert_intent(Intent& intent) {
  intent.opened_at = world_.clock.wall_seconds();
  Result<Statement> row = db_.prepare(
      "INSERT INTO journal (kind, address, token, resource, opened_at, opened_by) VALUES (?, ?, ?, ?, ?, ?)");
  if (!row.ok()) return row.status();
  row->bind(1, intent_kind_name(intent.kind)).bind(2, intent.address).bind(3, intent.token);
  row->bind(4, resource_text(intent));
  if (Status run = row->bind(5, intent.opened_at).bind(6, lock_id_).run(); !run.ok()) return run;
  intent.id = db_.last_row_id();
  return {};
}

Status SqliteStore::rewrite_intent(const Intent& intent) {
  Result<Statement> row = db_.prepare("UPDATE journal SET address = ?, resource = ? WHERE id = ?");
  if (!row.ok()) return row.status();
  return row->bind(1, intent.address).bind(2, resource_text(intent)).bind(3, intent.id).run();
}

Result<Intent> SqliteStore::begin(Intent intent) {
  Status written = write([&]() -> Status {
    if (Status put = insert_intent(intent); !put.ok()) return put;
    if (intent.kind != Intent::Kind::Destroy) return {};
    Result<Statement> mark = db_.prepare("UPDATE resources SET status = 'deleting' WHERE address = ?");
    if (!mark.ok()) return mark.status();
    return mark->bind(1, intent.address).run();
  });
  if (!written.ok()) return written;
  return intent;
}

Result<Intent> SqliteStore::begin_run(StepRecord record) {
  Intent intent;
  intent.kind = Intent::Kind::Run;
  intent.address = record.id;
  record.status = StepStatus::Interrupted;
  Status written = write([&]() -> Status {
    if (Status put = insert_intent(intent); !put.ok()) return put;
    return write_step(db_, record);
  });
  if (!written.ok()) return written;
  return intent;
}

Status SqliteStore::close_intent(const Intent& intent, const char* outcome) {
  Result<Statement> row =
      db_.prepare("UPDATE journal SET closed_at = ?, outcome = ? WHERE id = ? AND closed_at IS NULL");
  if (!row.ok()) return row.status();
  if (Status run = row->bind(1, world_.clock.wall_seconds()).bind(2, outcome).bind(3, intent.id).run();
      !run.ok()) {
    return run;
  }
  // The journal is for crashes and for looking back a little, not for ever.
  return db_.exec(fmt::format("DELETE FROM journal WHERE closed_at IS NOT NULL AND id <= {}",
                              intent.id - kClosedIntentsKept)
                      .c_str());
}

Status SqliteStore::finish(const Intent& intent, const ResourceRecord* made) {
  return write([&]() -> Status {
    if (made) {
      if (Status put = write_resource(db_, *made); !put.ok()) return put;
    }
    return close_intent(intent, made ? "done" : "nothing");
  });
}

Status SqliteStore::finish_destroy(const Intent& intent, bool keep_steps) {
  return write([&]() -> Status {
    if (Status removed = remove_with_steps(intent.address, keep_steps); !removed.ok()) return removed;
    return close_intent(intent, "done");
  });
}

Status SqliteStore::finish_run(const Intent& intent, const StepRecord& record) {
  return write([&]() -> Status {
    if (Status put = write_step(db_, record); !put.ok()) return put;
    return close_intent(intent, step_status_name(record.status).data());
  });
}

}  // namespace radl
