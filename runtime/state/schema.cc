#include "runtime/state/schema.h"

#include "runtime/state/job_migration.h"
#include "runtime/state/key_migration.h"
#include "runtime/state/records.h"

namespace radl {

namespace {

constexpr const char* kIndexes = R"sql(
CREATE INDEX steps_of_node ON steps (nodes);
CREATE INDEX steps_wide ON steps (id) WHERE wide = 1;
CREATE INDEX journal_open ON journal (id) WHERE closed_at IS NULL;
)sql";

// The columns of records are those of their descriptions (records.h).
std::string tables() {
  std::string sql;
  auto table = [&sql](const char* name, const std::string& columns, const char* end) {
    sql.append("CREATE TABLE ")
        .append(name)
        .append(" (")
        .append(columns)
        .append(")")
        .append(end)
        .append(";\n");
  };
  auto keyed = [](const std::string& columns) {  // by its first column
    const std::string type = " TEXT NOT NULL";
    return std::string(columns).replace(columns.find(type), type.size(), " TEXT PRIMARY KEY");
  };
  table("meta", keyed(column_definitions<MetaRow>()), " WITHOUT ROWID");
  table("resources", keyed(column_definitions<ResourceRecord>()), " WITHOUT ROWID");
  table("steps", keyed(column_definitions<StepRow>()), " WITHOUT ROWID");
  // The same for most nodes of a system, so kept once.
  table("definitions", keyed(column_definitions<DefinitionRow>()), " WITHOUT ROWID");
  table("outputs", "position INTEGER PRIMARY KEY, " + column_definitions<OutputRecord>(), "");
  table("secrets", keyed(column_definitions<SecretRow>()), " WITHOUT ROWID");
  table("owners", keyed(column_definitions<OwnerRow>()), " WITHOUT ROWID");
  table("journal",
        "id INTEGER PRIMARY KEY AUTOINCREMENT, " + column_definitions<IntentRow>() +
            ", closed_at REAL, outcome TEXT",
        "");
  table("history", "id INTEGER PRIMARY KEY AUTOINCREMENT, " + column_definitions<HistoryEntry>(), "");
  table("lock", "one INTEGER PRIMARY KEY CHECK (one = 1), " + column_definitions<LockInfo>(), "");
  return sql + kIndexes;
}

// Resources: renames `kind` and `provider` to `type` and `cloud`, and converts prices to whole millionths.
// The journal stores resources as JSON; damaged entries stay unchanged, and readers report them.
constexpr const char* kFrom1To2 = R"sql(
ALTER TABLE resources RENAME COLUMN kind TO type;
ALTER TABLE resources RENAME COLUMN provider TO cloud;
ALTER TABLE resources ADD COLUMN price_micros INTEGER NOT NULL DEFAULT 0;
UPDATE resources SET price_micros = CAST(round(price_per_hour * 1e6) AS INTEGER);
ALTER TABLE resources DROP COLUMN price_per_hour;

UPDATE journal SET resource = json_remove(
  json_set(resource,
    '$.type', json_extract(resource, '$.kind'),
    '$.cloud', json_extract(resource, '$.provider'),
    '$.price_micros', CAST(round(json_extract(resource, '$.price_per_hour') * 1e6) AS INTEGER)),
  '$.kind', '$.provider', '$.price_per_hour')
WHERE kind != 'run' AND json_valid(resource);
)sql";

// Whose accounts the clouds are, and keys by their fingerprints in place of files of one computer.
constexpr const char* kFrom2To3 =
    "CREATE TABLE owners (cloud TEXT PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;";

// Records prevent_destroy, so that it holds after the file no longer has it.
constexpr const char* kFrom3To4 = R"sql(
ALTER TABLE resources ADD COLUMN protected_by TEXT NOT NULL DEFAULT '';
UPDATE journal SET resource = json_set(resource, '$.protected_by', '')
WHERE kind != 'run' AND json_valid(resource);
)sql";

// Records the jobs' folders on nodes, and where processes may still run. An interrupted job's folder is the
// one from its definition.
constexpr const char* kFrom4To5 = R"sql(
ALTER TABLE steps ADD COLUMN jobs TEXT NOT NULL DEFAULT '[]';
)sql";

// The requesting user of a run.
constexpr const char* kFrom5To6 = R"sql(
ALTER TABLE lock ADD COLUMN principal TEXT NOT NULL DEFAULT '';
ALTER TABLE history ADD COLUMN principal TEXT NOT NULL DEFAULT '';
)sql";

constexpr Migration kMigrations[] = {{1, kFrom1To2},
                                     {2, kFrom2To3, &name_keys_by_fingerprint},
                                     {3, kFrom3To4},
                                     {4, kFrom4To5, &note_job_folders},
                                     {5, kFrom5To6}};

}  // namespace

Result<int> state_version(Database& db, int newest) {
  Result<long long> application = db.integer("PRAGMA application_id");
  if (!application.ok()) return application.status();
  Result<long long> version = db.integer("PRAGMA user_version");
  if (!version.ok()) return version.status();
  Result<long long> tables = db.integer("SELECT count(*) FROM sqlite_schema");
  if (!tables.ok()) return tables.status();
  if (*application == 0 && *version == 0 && *tables == 0) return 0;
  if (*application != kApplicationId || *version < 1) {
    return Status(Code::Corrupt, "a database of some other program, not a state of radlc");
  }
  if (*version > newest) {
    return Status(Code::Invalid, "the state was written by a newer radlc (state version " +
                                     std::to_string(*version) + ", this one knows up to " +
                                     std::to_string(newest) + ")")
        .with_hint("use that radlc or a newer one; the state was not touched");
  }
  return static_cast<int>(*version);
}

Status create_schema(Database& db) {
  if (Status set = db.exec(tables().c_str()); !set.ok()) return set;
  std::string marks = "PRAGMA application_id=" + std::to_string(kApplicationId) +
                      "; PRAGMA user_version=" + std::to_string(kStateVersion) + ";";
  return db.exec(marks.c_str());
}

Status migrate(Database& db, int from, int to, std::span<const Migration> steps) {
  while (from < to) {
    const Migration* step = nullptr;
    for (const Migration& candidate : steps) {
      if (candidate.from == from) step = &candidate;
    }
    if (!step) return internal_error("no way from state version " + std::to_string(from));
    Transaction transaction(db);
    if (Status begun = transaction.begin(); !begun.ok()) return begun;
    if (Status changed = db.exec(step->sql); !changed.ok()) return changed;
    if (step->change) {
      if (Status changed = step->change(db); !changed.ok()) return changed;
    }
    std::string mark = "PRAGMA user_version=" + std::to_string(from + 1);
    if (Status marked = db.exec(mark.c_str()); !marked.ok()) return marked;
    if (Status done = transaction.commit(); !done.ok()) return done;
    ++from;
  }
  return {};
}

// A new one goes at the end; its predecessor's tables stay in tests.
std::span<const Migration> migrations() { return kMigrations; }

}  // namespace radl
