#include "runtime/state/schema.h"

namespace radl {

namespace {

constexpr const char* kTables = R"sql(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE resources (
  address TEXT PRIMARY KEY,
  type TEXT NOT NULL, cloud TEXT NOT NULL, id TEXT NOT NULL, token TEXT NOT NULL, status TEXT NOT NULL,
  spec TEXT NOT NULL, attributes TEXT NOT NULL,
  system TEXT NOT NULL, ordinal INTEGER NOT NULL, number INTEGER NOT NULL, reachable INTEGER NOT NULL,
  price_micros INTEGER NOT NULL, currency TEXT NOT NULL, needs TEXT NOT NULL, created_at REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE steps (
  id TEXT PRIMARY KEY,
  recipe TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, digest TEXT NOT NULL, revision TEXT NOT NULL,
  nodes TEXT NOT NULL, wide INTEGER NOT NULL, made_on TEXT NOT NULL, definition TEXT NOT NULL, inputs TEXT NOT NULL, output TEXT NOT NULL,
  error TEXT NOT NULL, seconds REAL NOT NULL, finished_at REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX steps_of_node ON steps (nodes);
CREATE INDEX steps_wide ON steps (id) WHERE wide = 1;

-- The same for most nodes of a system, so kept once.
CREATE TABLE definitions (sha256 TEXT PRIMARY KEY, definition TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE outputs (
  position INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE, value TEXT NOT NULL, description TEXT NOT NULL, sensitive INTEGER NOT NULL
);

CREATE TABLE secrets (name TEXT PRIMARY KEY, fingerprint TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE journal (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL, address TEXT NOT NULL, token TEXT NOT NULL, resource TEXT NOT NULL,
  opened_at REAL NOT NULL, opened_by TEXT NOT NULL,
  closed_at REAL, outcome TEXT
);
CREATE INDEX journal_open ON journal (id) WHERE closed_at IS NULL;

CREATE TABLE history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  serial INTEGER NOT NULL, time REAL NOT NULL, command TEXT NOT NULL, summary TEXT NOT NULL, source_digest TEXT NOT NULL
);

CREATE TABLE lock (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id TEXT NOT NULL, owner TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, pid_start INTEGER NOT NULL,
  boot_id TEXT NOT NULL, command TEXT NOT NULL, since REAL NOT NULL
);
)sql";

// Of a resource: `type` and `cloud` for what was `kind` and `provider`, and its price in whole millionths.
// The journal keeps resources as JSON; an entry that is damaged stays as it is, for who reads it to say so.
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

constexpr Migration kMigrations[] = {{1, kFrom1To2}};

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
  if (Status set = db.exec(kTables); !set.ok()) return set;
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
