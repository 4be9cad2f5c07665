#include "runtime/figures/calibration_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files.h"

namespace radl {
namespace {

using foresight::Calibration;
using foresight::MeasuredProfile;
using foresight::ProgramRun;
using foresight::StudyRow;
using foresight::TrainingRun;

constexpr long long kStoreVersion = 4;

constexpr const char* kSchema = R"sql(
CREATE TABLE IF NOT EXISTS profiles (family TEXT NOT NULL, work TEXT NOT NULL, batch REAL NOT NULL, machine TEXT NOT NULL,
  cores REAL NOT NULL, profile TEXT NOT NULL, PRIMARY KEY (family, work, batch, machine, cores));
CREATE TABLE IF NOT EXISTS runs (digest TEXT NOT NULL, family TEXT NOT NULL, machine TEXT NOT NULL, exchange TEXT NOT NULL,
  workers INTEGER NOT NULL, servers INTEGER NOT NULL, batch REAL NOT NULL, latency_ms REAL NOT NULL, bits_per_second REAL NOT NULL,
  epochs REAL NOT NULL, images REAL NOT NULL, analytic_seconds REAL NOT NULL, seconds REAL NOT NULL, cost REAL NOT NULL,
  currency TEXT NOT NULL, time REAL NOT NULL, version TEXT NOT NULL, sent_bytes REAL NOT NULL DEFAULT 0,
  received_bytes REAL NOT NULL DEFAULT 0, measured_bits_per_second REAL NOT NULL DEFAULT 0, work TEXT NOT NULL DEFAULT '',
  UNIQUE (digest, time, seconds, workers));
CREATE INDEX IF NOT EXISTS runs_by_work ON runs (work, time);
CREATE TABLE IF NOT EXISTS studies (study TEXT NOT NULL, machine TEXT NOT NULL, machines INTEGER NOT NULL, batch INTEGER NOT NULL,
  latency_ms REAL NOT NULL, seconds REAL, origin TEXT NOT NULL, UNIQUE (study, machine, machines, batch, latency_ms, origin));
CREATE TABLE IF NOT EXISTS programs (family TEXT NOT NULL, work TEXT NOT NULL, machine TEXT NOT NULL, cores REAL NOT NULL,
  gpus REAL NOT NULL, nodes INTEGER NOT NULL, kind INTEGER NOT NULL, seconds REAL NOT NULL, low REAL NOT NULL,
  high REAL NOT NULL, progress TEXT NOT NULL, time REAL NOT NULL, version TEXT NOT NULL,
  UNIQUE (work, machine, nodes, time, seconds));
CREATE INDEX IF NOT EXISTS programs_by_work ON programs (work, time);
)sql";

constexpr const char* kRunColumns =
    "digest, family, machine, exchange, workers, servers, batch, latency_ms, bits_per_second, epochs, "
    "images, "
    "analytic_seconds, seconds, cost, currency, time, version";
// Since versions 2 and 3.
constexpr const char* kMeasuredColumns = "sent_bytes, received_bytes, measured_bits_per_second";
constexpr const char* kWorkColumn = "work";
constexpr const char* kToVersion2 = R"sql(
ALTER TABLE runs ADD COLUMN sent_bytes REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN received_bytes REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN measured_bits_per_second REAL NOT NULL DEFAULT 0;
)sql";
// Profiles had the family alone as their key.
constexpr const char* kToVersion3 = R"sql(
ALTER TABLE runs ADD COLUMN work TEXT NOT NULL DEFAULT '';
DROP INDEX IF EXISTS runs_by_family;
ALTER TABLE profiles RENAME TO profiles_by_family;
CREATE TABLE profiles (family TEXT NOT NULL, work TEXT NOT NULL, batch REAL NOT NULL, machine TEXT NOT NULL,
  cores REAL NOT NULL, profile TEXT NOT NULL, PRIMARY KEY (family, work, batch, machine, cores));
INSERT INTO profiles SELECT family, '', 0, machine, cores, profile FROM profiles_by_family;
DROP TABLE profiles_by_family;
)sql";

Status damaged(const std::string& path, std::string why) {
  // The cover over SQLite speaks of what it is mostly used for.
  if (why.starts_with("state: ")) why.erase(0, 7);
  return Status(Code::Corrupt, path + ": " + why)
      .with_hint("remove it to start over; radlc then measures profiles and runs again");
}

TrainingRun run_of(const Statement& row) {
  TrainingRun run;
  run.digest = row.text(0);
  run.family = row.text(1);
  run.machine = row.text(2);
  run.exchange = row.text(3);
  run.workers = static_cast<int>(row.integer(4));
  run.servers = static_cast<int>(row.integer(5));
  run.batch = row.real(6);
  run.latency_ms = row.real(7);
  run.bits_per_second = row.real(8);
  run.epochs = row.real(9);
  run.images = row.real(10);
  run.analytic_seconds = row.real(11);
  run.seconds = row.real(12);
  run.cost = row.real(13);
  run.currency = row.text(14);
  run.time = row.real(15);
  run.version = row.text(16);
  run.sent_bytes = row.real(17);
  run.received_bytes = row.real(18);
  run.measured_bits_per_second = row.real(19);
  run.work = row.text(20);
  return run;
}

Status read_profiles(Database& database, Calibration& into) {
  auto rows = database.prepare("SELECT profile FROM profiles ORDER BY family, machine, cores, rowid");
  if (!rows.ok()) return std::move(rows).status();
  for (;;) {
    auto there = rows->step();
    if (!there.ok()) return std::move(there).status();
    if (!*there) return {};
    auto profile = foresight::profile_from_json(nlohmann::json::parse(rows->text(0), nullptr, false));
    if (!profile.ok()) return std::move(profile).status();
    into.profiles.push_back(std::move(*profile));
  }
}

Status read_runs(Database& database, const CalibrationWanted& wanted, Calibration& into) {
  auto version = database.integer("PRAGMA user_version");
  if (!version.ok()) return std::move(version).status();
  auto rows = database.prepare(fmt::format(
      "SELECT {0}, {1}, {2} FROM runs WHERE ?1 IS NULL OR {2} = ?1 ORDER BY time DESC, rowid DESC LIMIT ?2",
      kRunColumns, *version < 2 ? "0, 0, 0" : kMeasuredColumns, *version < 3 ? "''" : kWorkColumn));
  if (!rows.ok()) return std::move(rows).status();
  if (wanted.work) rows->bind(1, *wanted.work);
  rows->bind(2, static_cast<long long>(wanted.newest_runs));
  for (;;) {
    auto there = rows->step();
    if (!there.ok()) return std::move(there).status();
    if (!*there) break;
    into.runs.push_back(run_of(*rows));
  }
  std::reverse(into.runs.begin(), into.runs.end());
  return {};
}

Status read_studies(Database& database, Calibration& into) {
  auto rows = database.prepare(
      "SELECT study, machine, machines, batch, latency_ms, seconds, origin FROM studies ORDER BY rowid");
  if (!rows.ok()) return std::move(rows).status();
  for (;;) {
    auto there = rows->step();
    if (!there.ok()) return std::move(there).status();
    if (!*there) return {};
    StudyRow row;
    row.study = rows->text(0);
    row.machine = rows->text(1);
    row.machines = static_cast<int>(rows->integer(2));
    row.batch = static_cast<int>(rows->integer(3));
    row.latency_ms = rows->real(4);
    if (!rows->is_null(5)) row.seconds = rows->real(5);
    row.where = rows->text(6);
    into.studies.push_back(std::move(row));
  }
}

constexpr long long kNewestPrograms = 1000;

Status read_programs(Database& database, const std::string& work, const std::string& family,
                     std::vector<ProgramRun>& into) {
  auto version = database.integer("PRAGMA user_version");
  if (!version.ok()) return std::move(version).status();
  if (*version < 4) return {};  // it has no such table
  auto rows = database.prepare(
      "SELECT family, work, machine, cores, gpus, nodes, kind, seconds, low, high, progress, time, version "
      "FROM programs WHERE (?1 = '' AND ?2 = '') OR (work = ?1 AND ?1 <> '') OR (family = ?2 AND ?2 <> '') "
      "ORDER BY time DESC, rowid DESC LIMIT ?3");
  if (!rows.ok()) return std::move(rows).status();
  rows->bind(1, work).bind(2, family).bind(3, kNewestPrograms);
  for (;;) {
    auto there = rows->step();
    if (!there.ok()) return std::move(there).status();
    if (!*there) break;
    ProgramRun run;
    run.family = rows->text(0);
    run.work = rows->text(1);
    run.machine = rows->text(2);
    run.cores = rows->real(3);
    run.gpus = rows->real(4);
    run.nodes = static_cast<int>(rows->integer(5));
    run.kind = static_cast<ProgramRun::Kind>(rows->integer(6));
    run.seconds = rows->real(7);
    run.low = rows->real(8);
    run.high = rows->real(9);
    run.progress = rows->text(10);
    run.time = rows->real(11);
    run.version = rows->text(12);
    into.push_back(std::move(run));
  }
  std::reverse(into.begin(), into.end());
  return {};
}

Status check_version(Database& database, const std::string& path) {
  auto version = database.integer("PRAGMA user_version");
  if (!version.ok()) return damaged(path, version.status().message());
  if (*version > kStoreVersion)
    return damaged(path, fmt::format("of version {}; this radlc reads {}", *version, kStoreVersion));
  return {};
}

// Of two processes one waits for the other, and finds it done.
Status bring_up_to_date(Database& database) {
  Transaction transaction(database);
  if (Status begun = transaction.begin(); !begun.ok()) return begun;
  auto version = database.integer("PRAGMA user_version");
  if (!version.ok()) return std::move(version).status();
  if (*version == 1)
    if (Status added = database.exec(kToVersion2); !added.ok()) return added;
  if (*version == 1 || *version == 2)
    if (Status added = database.exec(kToVersion3); !added.ok()) return added;
  if (*version < kStoreVersion) {
    if (Status made = database.exec(kSchema); !made.ok()) return made;
    Status marked = database.run(fmt::format("PRAGMA user_version = {}", kStoreVersion));
    if (!marked.ok()) return marked;
  }
  return transaction.commit();
}

}  // namespace

Result<Calibration> load_calibration(const std::string& path, const CalibrationWanted& wanted) {
  Calibration calibration;
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return calibration;
  auto database = Database::open(path, Database::Access::Read);
  if (!database.ok()) return damaged(path, database.status().message());
  if (Status right = check_version(*database, path); !right.ok()) return right;
  for (Status read : {read_profiles(*database, calibration), read_runs(*database, wanted, calibration),
                      read_studies(*database, calibration),
                      wanted.work ? Status() : read_programs(*database, "", "", calibration.programs)}) {
    if (!read.ok()) return damaged(path, read.message());
  }
  return calibration;
}

Result<std::vector<ProgramRun>> load_program_runs(const std::string& path, const std::string& work,
                                                  const std::string& family) {
  std::vector<ProgramRun> runs;
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return runs;
  auto database = Database::open(path, Database::Access::Read);
  if (!database.ok()) return damaged(path, database.status().message());
  if (Status right = check_version(*database, path); !right.ok()) return right;
  if (Status read = read_programs(*database, work, family, runs); !read.ok())
    return damaged(path, read.message());
  return runs;
}

Result<CalibrationStore> CalibrationStore::open(const std::string& path) {
  if (path.empty()) return Status(Code::NotFound, "there is no home folder in which to keep measurements");
  if (Status made = make_directories(std::filesystem::path(path).parent_path().string(), 0700); !made.ok())
    return made;
  const int made_file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (made_file < 0) return Status(Code::Auth, path + ": " + std::strerror(errno));
  ::close(made_file);
  auto database = Database::open(path, Database::Access::ReadWrite);
  if (!database.ok()) return damaged(path, database.status().message());
  if (Status right = check_version(*database, path); !right.ok()) return right;
  if (Status made = bring_up_to_date(*database); !made.ok()) return damaged(path, made.message());
  if (auto most = database->integer(fmt::format("PRAGMA max_page_count = {}", kMostPages)); !most.ok())
    return damaged(path, most.status().message());
  return CalibrationStore(std::move(*database));
}

Result<long long> CalibrationStore::changes() { return database_.integer("SELECT changes()"); }

Status CalibrationStore::add(const MeasuredProfile& profile) {
  auto statement = database_.prepare("INSERT OR REPLACE INTO profiles VALUES (?, ?, ?, ?, ?, ?)");
  if (!statement.ok()) return std::move(statement).status();
  return statement->bind(1, profile.family)
      .bind(2, profile.work)
      .bind(3, profile.batch)
      .bind(4, profile.machine)
      .bind(5, profile.cores)
      .bind(6, foresight::to_json(profile).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
      .run();
}

Result<bool> CalibrationStore::add_run(const TrainingRun& run) {
  auto statement =
      database_.prepare(fmt::format("INSERT OR IGNORE INTO runs ({}, {}, {}) VALUES "
                                    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                    kRunColumns, kMeasuredColumns, kWorkColumn));
  if (!statement.ok()) return std::move(statement).status();
  statement->bind(1, run.digest).bind(2, run.family).bind(3, run.machine).bind(4, run.exchange);
  statement->bind(5, run.workers).bind(6, run.servers).bind(7, run.batch).bind(8, run.latency_ms);
  statement->bind(9, run.bits_per_second).bind(10, run.epochs).bind(11, run.images);
  statement->bind(12, run.analytic_seconds).bind(13, run.seconds).bind(14, run.cost);
  statement->bind(15, run.currency).bind(16, run.time).bind(17, run.version);
  statement->bind(18, run.sent_bytes).bind(19, run.received_bytes).bind(20, run.measured_bits_per_second);
  statement->bind(21, run.work);
  if (Status added = statement->run(); !added.ok()) return added;
  auto changed = changes();
  if (!changed.ok()) return std::move(changed).status();
  return *changed > 0;
}

Status CalibrationStore::drop_oldest() {
  constexpr std::pair<const char*, const char*> kTables[] = {
      {"profiles", "rowid"}, {"runs", "time"}, {"programs", "time"}, {"studies", "rowid"}};
  for (const auto& [table, age] : kTables) {
    auto statement = database_.prepare(fmt::format(
        "DELETE FROM {0} WHERE rowid IN (SELECT rowid FROM {0} ORDER BY {1} DESC, rowid DESC LIMIT -1 "
        "OFFSET ?)",
        table, age));
    if (!statement.ok()) return std::move(statement).status();
    if (Status done = statement->bind(1, kMostRows).run(); !done.ok()) return done;
  }
  return {};
}

Status CalibrationStore::add(const TrainingRun& run) {
  auto added = add_run(run);
  return added.ok() ? drop_oldest() : std::move(added).status();
}

Result<bool> CalibrationStore::add_program(const ProgramRun& run) {
  auto statement =
      database_.prepare("INSERT OR IGNORE INTO programs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!statement.ok()) return std::move(statement).status();
  statement->bind(1, run.family).bind(2, run.work).bind(3, run.machine).bind(4, run.cores);
  statement->bind(5, run.gpus).bind(6, run.nodes).bind(7, static_cast<int>(run.kind));
  statement->bind(8, run.seconds).bind(9, run.low).bind(10, run.high).bind(11, run.progress);
  statement->bind(12, run.time).bind(13, run.version);
  if (Status added = statement->run(); !added.ok()) return added;
  auto changed = changes();
  if (!changed.ok()) return std::move(changed).status();
  return *changed > 0;
}

Status CalibrationStore::add(const ProgramRun& run) {
  auto added = add_program(run);
  return added.ok() ? drop_oldest() : std::move(added).status();
}

Result<bool> CalibrationStore::add_study(const StudyRow& row) {
  auto statement = database_.prepare("INSERT OR IGNORE INTO studies VALUES (?, ?, ?, ?, ?, ?, ?)");
  if (!statement.ok()) return std::move(statement).status();
  statement->bind(1, row.study)
      .bind(2, row.machine)
      .bind(3, row.machines)
      .bind(4, row.batch)
      .bind(5, row.latency_ms);
  if (row.seconds) statement->bind(6, *row.seconds);
  statement->bind(7, row.where);
  if (Status added = statement->run(); !added.ok()) return added;
  auto changed = changes();
  if (!changed.ok()) return std::move(changed).status();
  return *changed > 0;
}

Result<size_t> CalibrationStore::add(const Calibration& calibration) {
  Transaction transaction(database_);
  if (Status begun = transaction.begin(); !begun.ok()) return begun;
  size_t added = calibration.profiles.size();
  for (const MeasuredProfile& profile : calibration.profiles)
    if (Status kept = add(profile); !kept.ok()) return kept;
  for (const TrainingRun& run : calibration.runs) {
    auto is_new = add_run(run);
    if (!is_new.ok()) return std::move(is_new).status();
    added += *is_new ? 1 : 0;
  }
  for (const StudyRow& row : calibration.studies) {
    auto is_new = add_study(row);
    if (!is_new.ok()) return std::move(is_new).status();
    added += *is_new ? 1 : 0;
  }
  for (const ProgramRun& run : calibration.programs) {
    auto is_new = add_program(run);
    if (!is_new.ok()) return std::move(is_new).status();
    added += *is_new ? 1 : 0;
  }
  if (Status kept = drop_oldest(); !kept.ok()) return kept;
  if (Status done = transaction.commit(); !done.ok()) return done;
  return added;
}

Result<size_t> CalibrationStore::forget(const std::optional<std::string>& what) {
  Transaction transaction(database_);
  if (Status begun = transaction.begin(); !begun.ok()) return begun;
  size_t removed = 0;
  for (const char* from : {"DELETE FROM profiles WHERE ?1 IS NULL OR family = ?1",
                           "DELETE FROM runs WHERE ?1 IS NULL OR family = ?1",
                           "DELETE FROM programs WHERE ?1 IS NULL OR family = ?1",
                           "DELETE FROM studies WHERE ?1 IS NULL OR study = ?1"}) {
    auto statement = database_.prepare(from);
    if (!statement.ok()) return std::move(statement).status();
    if (what) statement->bind(1, *what);
    if (Status done = statement->run(); !done.ok()) return done;
    auto changed = changes();
    if (!changed.ok()) return std::move(changed).status();
    removed += static_cast<size_t>(*changed);
  }
  if (Status done = transaction.commit(); !done.ok()) return done;
  return removed;
}

}  // namespace radl
