// States that earlier versions wrote: opened, brought up, and read as what they were.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "common/files.h"
#include "runtime/state/schema.h"
#include "runtime/state/store.h"
#include "tests/support/fake_world.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

// As version 1 made them.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE resources (
  address TEXT PRIMARY KEY,
  kind TEXT NOT NULL, provider TEXT NOT NULL, id TEXT NOT NULL, token TEXT NOT NULL, status TEXT NOT NULL,
  spec TEXT NOT NULL, attributes TEXT NOT NULL,
  system TEXT NOT NULL, ordinal INTEGER NOT NULL, number INTEGER NOT NULL, reachable INTEGER NOT NULL,
  price_per_hour REAL NOT NULL, currency TEXT NOT NULL, needs TEXT NOT NULL, created_at REAL NOT NULL
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

PRAGMA application_id=1380009036;
PRAGMA user_version=1;

INSERT INTO meta VALUES ('name', 'demo'), ('lineage', '0123456789abcdef0123456789abcdef'), ('salt', 'fedcba'), ('serial', '7'),
  ('source_digest', 'sd'), ('source_paths', '["demo.radl"]');
INSERT INTO resources VALUES
  ('key.local', 'key', 'local', 'id-key', 'tk', 'ready', '{}',
   '{"public_key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINIRoFWoUBA3noHjA0ybuM++OtxDw+R2TUQmTD9StNKq demo","private_key_path":"/home/ana/id"}', '', 0, -1, 0, 0.0, 'USD', '[]', 10.5),
  ('network.lan', 'network', 'local', 'id-lan', 'tn', 'ready', '{"name":"lan"}', '{}', '', 0, -1, 0, 0.0, 'USD', '[]', 11.5),
  ('worker[0]', 'node', 'local', 'id-0', 't0', 'tainted', '{"cpu_count":2.0,"number":0}', '{"host":"127.0.0.1","private_key_path":"/home/ana/id"}', 'worker', 0, 3, 1,
   0.0416, 'EUR', '["key.local","network.lan"]', 12.5);
INSERT INTO definitions VALUES ('sha', '{"recipe":"tools"}'),
  ('job', '{"kind":"program","program":{"name":"a.work","identity":"0123456789abcdef","stop_signal":"INT","grace_seconds":3}}');
INSERT INTO steps VALUES ('worker[0]/tools', 'tools', 'native', 'done', 'd', 'r', '["worker[0]"]', 0, '{"worker[0]":"id-0"}', 'sha',
  '{"worker[0].private_ip":"f"}', '{"x":1}', '', 1.5, 99.0),
  ('program/a.work', 'a.work', 'program', 'interrupted', 'd', 'r', '["worker[0]"]', 0, '{"worker[0]":"id-0"}', 'job', '{}', '{}', '', 0, 0);
INSERT INTO outputs VALUES (0, 'ip', '"10.0.0.1"', 'where', 0);
INSERT INTO secrets VALUES ('password', 'print');
INSERT INTO journal (kind, address, token, resource, opened_at, opened_by, closed_at, outcome) VALUES
  ('create', 'worker[1]', 't1', '{"address":"worker[1]","attributes":{"private_key_path":"/home/ana/id"},"created_at":0.0,"currency":"EUR","id":"","kind":"node",'
   || '"needs":["key.local"],"number":4,"ordinal":1,"price_per_hour":0.0416,"provider":"local","reachable":false,'
   || '"spec":{"memory_bytes":1e9},"status":"ready","system":"worker","token":"t1"}', 20.0, 'lock', NULL, NULL),
  ('run', 'worker[0]/tools', '', '{}', 21.0, 'lock', NULL, NULL),
  ('create', 'worker[9]', 't9', 'damaged', 1.0, 'lock', 2.0, 'done');
INSERT INTO history (serial, time, command, summary, source_digest) VALUES (6, 30.0, 'apply', '3 created', 'sd');
)sql";

// Of the public key above, as ssh-keygen -l prints it.
constexpr const char* kFingerprint = "SHA256:bnu5Uk7DzszBJewzi1x0c1e5uEnxNAjPf5ZSt7SZxLk";

class MigrationTest : public testing::Test {
 protected:
  MigrationTest() {
    EXPECT_TRUE(make_directories(directory() + "/demo", 0700).ok());
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(database().c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, kVersion1, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  Result<std::unique_ptr<Store>> open(OpenMode mode) {
    return Store::open(directory(), "demo", mode, fake.world);
  }
  std::string directory() const { return folder.path() + "/.radl"; }
  std::string database() const { return directory() + "/demo/state.db"; }

  static void expect_what_version_1_held(Store& store) {
    Result<Snapshot> snapshot = store.snapshot();
    ASSERT_TRUE(snapshot.ok()) << snapshot.status().text();
    EXPECT_EQ(snapshot->serial, 7);
    ASSERT_EQ(snapshot->resources.size(), 3u);
    const ResourceRecord& key = snapshot->resources.at("key.local");
    EXPECT_EQ(key.type, "key");
    EXPECT_FALSE(key.is_node());
    const ResourceRecord& lan = snapshot->resources.at("network.lan");
    EXPECT_EQ(lan.type, "network");
    EXPECT_EQ(lan.spec, Json({{"name", "lan"}}));
    const ResourceRecord& worker = snapshot->resources.at("worker[0]");
    EXPECT_EQ(worker.type, "node");
    EXPECT_EQ(worker.cloud, "local");
    EXPECT_TRUE(worker.is_node());
    EXPECT_EQ(worker.status, ResourceStatus::Tainted);
    EXPECT_EQ(worker.price_per_hour, (Money{41600, "EUR"}));
    EXPECT_EQ(worker.number, 3);
    EXPECT_TRUE(worker.reachable);
    EXPECT_EQ(worker.protected_by, "");
    EXPECT_EQ(worker.attributes, Json({{"host", "127.0.0.1"}, {"key", kFingerprint}}));
    EXPECT_EQ(key.attributes.at("key"), kFingerprint);
    EXPECT_FALSE(key.attributes.contains("private_key_path")) << "a file of one person's computer";
    EXPECT_TRUE(snapshot->owners.empty());
    EXPECT_EQ(worker.needs, (std::vector<std::string>{"key.local", "network.lan"}));
    const StepRecord& step = snapshot->steps.at("worker[0]/tools");
    EXPECT_EQ(step.status, StepStatus::Done);
    EXPECT_EQ(step.revision, "r");
    EXPECT_EQ(*step.definition, Json({{"recipe", "tools"}}));
    EXPECT_EQ(step.made_on.at("worker[0]"), "id-0");
    EXPECT_TRUE(step.jobs.empty());
    JobFolder job;
    job.name = "a-work-0123456789ab";
    job.nodes = {{"worker[0]", "id-0"}};
    job.may_run = {"worker[0]"};
    job.signal = "INT";
    job.grace_seconds = 3;
    EXPECT_EQ(snapshot->steps.at("program/a.work").jobs, (std::vector<JobFolder>{job}));
    EXPECT_EQ(snapshot->outputs.at(0).value, "10.0.0.1");
    EXPECT_EQ(snapshot->secrets.at("password"), "print");

    Result<std::vector<Intent>> intents = store.open_intents();
    ASSERT_TRUE(intents.ok()) << intents.status().text();
    ASSERT_EQ(intents->size(), 2u);
    const ResourceRecord& begun = intents->at(0).resource;
    EXPECT_EQ(begun.type, "node");
    EXPECT_EQ(begun.cloud, "local");
    EXPECT_EQ(begun.price_per_hour, (Money{41600, "EUR"}));
    EXPECT_EQ(begun.spec, Json({{"memory_bytes", 1e9}}));
    EXPECT_FALSE(begun.reachable);
    EXPECT_EQ(begun.attributes, Json({{"key", kFingerprint}}));
    EXPECT_EQ(intents->at(1).kind, Intent::Kind::Run);
    EXPECT_EQ(store.history(1)->at(0).summary, "3 created");
  }

  test::TemporaryFolder folder;
  test::FakeWorld fake;
};

TEST_F(MigrationTest, AStateOfVersion1IsReadWithoutChangingIt) {
  const std::string before = *read_file(database());
  Result<std::unique_ptr<Store>> store = open(OpenMode::Read);
  ASSERT_TRUE(store.ok()) << store.status().text();
  expect_what_version_1_held(**store);
  store->reset();
  EXPECT_EQ(*read_file(database()), before);
}

TEST_F(MigrationTest, AStateOfVersion1IsBroughtUpOnceAndGoesOn) {
  {
    Result<std::unique_ptr<Store>> store = open(OpenMode::Write);
    ASSERT_TRUE(store.ok()) << store.status().text();
    expect_what_version_1_held(**store);
    ASSERT_TRUE((*store)->lock("test", std::chrono::milliseconds(0)).ok());
    ResourceRecord node = (*store)->snapshot()->resources.at("worker[0]");
    node.status = ResourceStatus::Ready;
    node.price_per_hour = Money{50000, "EUR"};
    ASSERT_TRUE((*store)->put_resource(node).ok());
  }
  Database db = std::move(*Database::open(database(), Database::Access::Read));
  EXPECT_EQ(*state_version(db), kStateVersion);
  Result<Snapshot> read = (*open(OpenMode::Read))->snapshot();
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(read->resources.at("worker[0]").price_per_hour, (Money{50000, "EUR"}));
  EXPECT_EQ(read->resources.at("worker[0]").status, ResourceStatus::Ready);
}

}  // namespace
}  // namespace radl
