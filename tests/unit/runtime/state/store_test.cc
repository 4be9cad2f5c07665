// The state: what is written is read again, and nothing is ever started over.
#include "runtime/state/store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "common/files.h"
#include "runtime/state/schema.h"
#include "tests/support/fake_world.h"
#include "tests/support/fault_vfs.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

using test::FakeWorld;
using test::TemporaryFolder;

class StoreTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Store>> open(OpenMode mode = OpenMode::Create, const std::string& name = "demo") {
    return Store::open(directory(), name, mode, fake.world);
  }
  std::unique_ptr<Store> locked() {
    Result<std::unique_ptr<Store>> store = open();
    EXPECT_TRUE(store.ok()) << store.status().text();
    EXPECT_TRUE((*store)->lock("test", std::chrono::milliseconds(0)).ok());
    return std::move(*store);
  }
  std::string directory() const { return folder.path() + "/.radl"; }
  std::string database() const { return directory() + "/demo/state.db"; }
  void sql(const char* text) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(database().c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }

  static ResourceRecord node(const std::string& address) {
    ResourceRecord record;
    record.address = address;
    record.type = "node";
    record.cloud = "local";
    record.id = "id-" + address;
    record.token = "token-" + address;
    record.spec = {{"memory", 1}};
    record.attributes = {{"host", "127.0.0.1"}, {"list", {1, 2}}};
    record.system = "worker";
    record.ordinal = 1;
    record.number = 4;
    record.reachable = true;
    record.price_per_hour = Money::of(0.25, "EUR");
    record.needs = {"key.local"};
    record.created_at = 12.5;
    return record;
  }
  static StepRecord step(const std::string& id, std::vector<std::string> nodes) {
    StepRecord record;
    record.id = id;
    record.recipe = "tools";
    record.kind = "native";
    record.nodes = std::move(nodes);
    record.made_on = {{"worker[1]", "id-1"}};
    record.digest = "d";
    record.revision = "r";
    record.definition = std::make_shared<const Json>(Json{{"recipe", "tools"}});
    record.inputs = {{"a.ip", "f"}};
    record.output = {{"model_path", "/m"}};
    record.seconds = 1.5;
    record.finished_at = 99;
    return record;
  }

  TemporaryFolder folder;
  FakeWorld fake;
};

TEST_F(StoreTest, ReadsBackEverything) {
  {
    std::unique_ptr<Store> store = locked();
    ASSERT_TRUE(store->put_resource(node("worker[1]")).ok());
    Intent intent = *store->begin_run(step("worker[1]/tools", {"worker[1]"}));
    EXPECT_EQ(store->snapshot()->steps.at("worker[1]/tools").status, StepStatus::Interrupted);
    ASSERT_TRUE(store->finish_run(intent, step("worker[1]/tools", {"worker[1]"})).ok());
    std::vector<OutputRecord> outputs{{"b", "x", "text", false}, {"a", "hidden", "", true}};
    ASSERT_TRUE(store->close_run({outputs, {{"s", "f"}}, "digest", {"a.radl"}, "apply", "1 done"}).ok());
  }
  Snapshot read = *(*open(OpenMode::Read))->snapshot();
  EXPECT_EQ(read.name, "demo");
  EXPECT_EQ(read.lineage.size(), 32u);
  EXPECT_EQ(read.serial, 4);
  EXPECT_EQ(read.source_paths, std::vector<std::string>{"a.radl"});
  ResourceRecord was = node("worker[1]"), now = read.resources.at("worker[1]");
  EXPECT_EQ(now.id, was.id);
  EXPECT_EQ(now.spec, was.spec);
  EXPECT_EQ(now.attributes, was.attributes);
  EXPECT_EQ(now.needs, was.needs);
  EXPECT_EQ(now.number, 4);
  EXPECT_TRUE(now.reachable);
  EXPECT_EQ(now.type, "node");
  EXPECT_EQ(now.cloud, "local");
  EXPECT_EQ(now.price_per_hour, Money::of(0.25, "EUR"));
  StepRecord done = read.steps.at("worker[1]/tools");
  EXPECT_EQ(done.status, StepStatus::Done);
  EXPECT_EQ(done.made_on.at("worker[1]"), "id-1");
  EXPECT_EQ(*done.definition, Json({{"recipe", "tools"}}));
  EXPECT_EQ(done.inputs.at("a.ip"), "f");
  EXPECT_EQ(done.revision, "r");
  ASSERT_EQ(read.outputs.size(), 2u);
  EXPECT_EQ(read.outputs[0].name, "b") << "outputs keep the order of the file";
  EXPECT_TRUE(read.outputs[1].value.is_null()) << "a sensitive value is not stored";
  EXPECT_EQ((*open(OpenMode::Read))->history(5)->at(0).summary, "1 done");
}

TEST_F(StoreTest, IsPrivateToItsOwner) {
  std::unique_ptr<Store> store = locked();
  ASSERT_TRUE(store->put_resource(node("worker[1]")).ok());
  struct stat info;
  for (const char* name : {"state.db", "state.db-wal", "state.db-shm", "lock"}) {
    ASSERT_EQ(::stat((directory() + "/demo/" + name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 0777, 0600u) << name;
  }
  for (const std::string& path :
       {directory(), directory() + "/demo", store->work_directory(), store->log_directory()}) {
    ASSERT_EQ(::stat(path.c_str(), &info), 0) << path;
    EXPECT_EQ(info.st_mode & 0777, 0700u) << path;
  }
}

TEST_F(StoreTest, AnIntentStaysOpenUntilItIsClosed) {
  {
    std::unique_ptr<Store> store = locked();
    Intent intent;
    intent.address = "worker[1]";
    intent.token = "t1";
    intent.resource = node("worker[1]");
    ASSERT_TRUE(store->begin(intent).ok());
  }
  std::unique_ptr<Store> store = locked();
  std::vector<Intent> open = *store->open_intents();
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].token, "t1");
  EXPECT_EQ(open[0].resource.spec, node("").spec);
  EXPECT_EQ(store->snapshot()->open_intents, 1u);
  ResourceRecord made = node("worker[1]");
  ASSERT_TRUE(store->finish(open[0], &made).ok());
  EXPECT_TRUE(store->open_intents()->empty());
  EXPECT_EQ(store->snapshot()->resources.count("worker[1]"), 1u);
}

TEST_F(StoreTest, ADestroyTakesTheStepsThatHaveNoNodeLeft) {
  std::unique_ptr<Store> store = locked();
  for (const char* address : {"worker[0]", "worker[1]"}) ASSERT_TRUE(store->put_resource(node(address)).ok());
  for (const StepRecord& record :
       {step("worker[0]/tools", {"worker[0]"}), step("worker[1]/tools", {"worker[1]"}),
        step("training/x", {"worker[0]", "worker[1]"})}) {
    ASSERT_TRUE(store->finish_run(*store->begin_run(record), record).ok());
  }
  ASSERT_TRUE(store->remove_resource("worker[0]").ok());
  EXPECT_EQ(store->snapshot()->steps.count("worker[0]/tools"), 0u);
  EXPECT_EQ(store->snapshot()->steps.count("training/x"), 1u);
  ASSERT_TRUE(store->remove_resource("worker[1]").ok());
  EXPECT_TRUE(store->snapshot()->steps.empty());
}

TEST_F(StoreTest, MovesASystemWithItsSteps) {
  std::unique_ptr<Store> store = locked();
  ASSERT_TRUE(store->put_resource(node("worker[1]")).ok());
  StepRecord record = step("worker[1]/tools", {"worker[1]"});
  ASSERT_TRUE(store->finish_run(*store->begin_run(record), record).ok());
  ASSERT_TRUE(store->move("worker", "trainer").ok());
  Snapshot moved = *store->snapshot();
  ASSERT_EQ(moved.resources.count("trainer[1]"), 1u);
  EXPECT_EQ(moved.resources.at("trainer[1]").system, "trainer");
  EXPECT_EQ(moved.resources.at("trainer[1]").ordinal, 1);
  EXPECT_EQ(moved.steps.at("trainer[1]/tools").nodes[0], "trainer[1]");
  EXPECT_EQ(moved.resources.size() + moved.steps.size(), 2u);
  EXPECT_EQ(store->move("nobody", "x").code(), Code::NotFound);
}

TEST_F(StoreTest, WhatWasMadeForANodeMovesWithIt) {
  std::unique_ptr<Store> store = locked();
  ResourceRecord volume, worker = node("worker[1]"), other = node("a.worker[1]");
  volume.address = "volume.worker[1].2";
  volume.type = "volume";
  worker.needs = {"key.local", "volume.worker[1].2"};
  worker.spec = {{"volumes", {"volume.worker[1].2"}}, {"note", "worker[1]"}};
  other.system = "a.worker";
  for (const ResourceRecord& record : {volume, worker, other}) ASSERT_TRUE(store->put_resource(record).ok());
  ASSERT_TRUE(store->move("worker", "trainer").ok());
  Snapshot moved = *store->snapshot();
  ASSERT_EQ(moved.resources.count("trainer[1]"), 1u);
  EXPECT_EQ(moved.resources.count("volume.trainer[1].2"), 1u);
  EXPECT_EQ(moved.resources.count("a.worker[1]"), 1u) << "another module's node has nothing to do with it";
  EXPECT_EQ(moved.resources.at("trainer[1]").needs[1], "volume.trainer[1].2");
  EXPECT_EQ(moved.resources.at("trainer[1]").spec,
            Json({{"volumes", {"volume.trainer[1].2"}}, {"note", "worker[1]"}}));
}

TEST_F(StoreTest, WhatIsNoNodeKeepsTheWordBeforeThePoint) {
  std::unique_ptr<Store> store = locked();
  ResourceRecord volume;
  volume.address = "volume.data";
  volume.type = "volume";
  ASSERT_TRUE(store->put_resource(volume).ok());
  ASSERT_TRUE(store->move("volume.data", "volume.old").ok());
  for (const char* wrong : {"network.old", "volume.", "old[0]"})
    EXPECT_EQ(store->move("volume.old", wrong).code(), Code::Invalid) << wrong;
  EXPECT_EQ(store->snapshot()->resources.count("volume.old"), 1u);
}

TEST_F(StoreTest, WritingNeedsTheLock) {
  Result<std::unique_ptr<Store>> store = open();
  EXPECT_EQ((*store)->put_resource(node("worker[1]")).code(), Code::Internal);
}

TEST_F(StoreTest, ANewerVersionIsAnErrorAndStaysUntouched) {
  locked().reset();
  sql("PRAGMA user_version=7");
  std::string before = *read_file(database());
  for (OpenMode mode : {OpenMode::Read, OpenMode::Write, OpenMode::Create}) {
    Status status = open(mode).status();
    EXPECT_EQ(status.code(), Code::Invalid);
    EXPECT_NE(status.message().find("newer radlc"), std::string::npos) << status.message();
  }
  EXPECT_EQ(*read_file(database()), before);
}

TEST_F(StoreTest, AForeignOrDamagedFileIsAnErrorAndStaysUntouched) {
  locked().reset();
  std::string whole = *read_file(database());
  std::string damaged = whole;
  damaged.replace(0, 100, 100, 'x');
  for (const std::string& bytes : {std::string("this is no database, but it is somebody's file"), damaged}) {
    ASSERT_TRUE(write_file_atomic(database(), bytes).ok());
    EXPECT_EQ(open().status().code(), Code::Corrupt);
    EXPECT_EQ(*read_file(database()), bytes);
  }
}

TEST_F(StoreTest, AnotherProgramsDatabaseIsNotTakenOver) {
  locked().reset();
  sql("PRAGMA application_id=4711");
  EXPECT_EQ(open().status().code(), Code::Corrupt);
}

TEST_F(StoreTest, WithoutAStateReadingSaysSo) {
  EXPECT_EQ(open(OpenMode::Read).status().code(), Code::NotFound);
  EXPECT_EQ(open(OpenMode::Write).status().code(), Code::NotFound);
  EXPECT_FALSE(real_world().files.exists(directory())) << "reading makes nothing";
}

TEST_F(StoreTest, ACrashBeforeTheTablesWereMadeIsNoState) {
  ASSERT_TRUE(make_directories(directory() + "/demo").ok());
  ASSERT_TRUE(write_file_atomic(database(), "").ok());
  EXPECT_EQ(open(OpenMode::Read).status().code(), Code::NotFound);
  EXPECT_TRUE(open(OpenMode::Create).ok());
}

class LostState : public StoreTest {
 protected:
  LostState() {
    std::unique_ptr<Store> store = locked();
    EXPECT_TRUE(store->put_resource(node("worker[1]")).ok());
    tag = infrastructure_tag("demo", store->snapshot()->lineage);
  }
  void remove_database() {
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(database() + end);
  }
  void expect_refused() {
    for (OpenMode mode : {OpenMode::Read, OpenMode::Write, OpenMode::Create}) {
      Status status = open(mode).status();
      EXPECT_EQ(status.code(), Code::Corrupt) << static_cast<int>(mode) << ": " << status.text();
      EXPECT_NE(status.hint().find("backup"), std::string::npos) << status.text();
    }
    ASSERT_TRUE(sweep_unmade_states(directory()).ok());
    EXPECT_EQ(*list_states(directory()), std::vector<std::string>{"demo"})
        << "destroy finds it and says so too";
  }
  std::string tag;
};

TEST_F(LostState, AMissingDatabaseIsNotStartedOver) {
  remove_database();
  expect_refused();
  EXPECT_FALSE(std::filesystem::exists(database()));
  EXPECT_NE(open().status().message().find(tag), std::string::npos) << "what its clouds know it as";
}

TEST_F(LostState, AnEmptyDatabaseIsNotStartedOver) {
  remove_database();
  ASSERT_TRUE(write_file_atomic(database(), "").ok());
  expect_refused();
}

TEST_F(LostState, ADatabaseWithoutTablesIsNotStartedOver) {
  remove_database();
  sql("PRAGMA journal_mode=WAL; CREATE TABLE x (a); DROP TABLE x;");
  ASSERT_GT(std::filesystem::file_size(database()), 0u);
  expect_refused();
}

TEST_F(LostState, FilesOfNodesShowItAsWellAsTheIdDoes) {
  ASSERT_TRUE(make_directories(directory() + "/demo/work/nodes").ok());
  std::filesystem::remove(directory() + "/demo/id");
  remove_database();
  expect_refused();
  std::filesystem::remove(directory() + "/demo/lock");
  EXPECT_EQ(open().status().code(), Code::Corrupt);
}

TEST_F(LostState, TheDatabaseFromABackupIsAsGoodAsBefore) {
  std::string whole = *read_file(database());
  remove_database();
  EXPECT_FALSE(open().ok());
  ASSERT_TRUE(write_file_atomic(database(), whole, 0600).ok());
  EXPECT_EQ((*open())->snapshot()->resources.count("worker[1]"), 1u);
}

// As a kill between the tables and the id, or between the id's removal and the state's, leaves it.
TEST_F(LostState, AMissingIdIsWrittenAgain) {
  std::filesystem::remove(directory() + "/demo/id");
  ASSERT_TRUE(open(OpenMode::Read).ok());
  ASSERT_TRUE(open(OpenMode::Write).ok());
  EXPECT_EQ(*read_file(directory() + "/demo/id"), tag + "\n");
  remove_database();
  expect_refused();
}

TEST_F(LostState, AFolderThatMayNotBeReadIsNotTakenForNone) {
  if (::getuid() != 0) GTEST_SKIP() << "needs to become somebody else";
  ::chmod(folder.path().c_str(), 0755);
  ::chmod(directory().c_str(), 0755);
  pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(9);
    ::_exit(open(OpenMode::Read).status().code() == Code::Auth ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Another process that opens the database and closes it again when told to; as the last one that has it open
// it would remove the log. Begun before this process opens it: SQLite's own record of locks must not be
// inherited.
class OtherProcess {
 public:
  explicit OtherProcess(const std::string& path) {
    EXPECT_EQ(::pipe(pipe_), 0);
    child_ = ::fork();
    if (child_ != 0) return;
    char go = 0;
    if (::read(pipe_[0], &go, 1) != 1) ::_exit(9);
    sqlite3* db = nullptr;
    bool fine = sqlite3_open(path.c_str(), &db) == SQLITE_OK;
    auto count = [](void* rows, int, char** row, char**) {
      return *static_cast<int*>(rows) = std::atoi(row[0]), 0;
    };
    int rows = 0;
    fine = fine && sqlite3_exec(db, "SELECT count(*) FROM resources", count, &rows, nullptr) == SQLITE_OK;
    sqlite3_close(db);
    ::_exit(fine ? rows : 8);
  }
  // How many resources it saw.
  int run() {
    EXPECT_EQ(::write(pipe_[1], "g", 1), 1);
    int status = 0;
    ::waitpid(child_, &status, 0);
    return WEXITSTATUS(status);
  }
  ~OtherProcess() {
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }

 private:
  int pipe_[2] = {-1, -1};
  pid_t child_ = -1;
};

// POSIX locks of a process on a file are gone when it closes any of its descriptors of that file.
TEST_F(StoreTest, ASecondOpeningInOneProcessKeepsTheFirstOnesLocks) {
  OtherProcess one(database()), two(database());
  std::unique_ptr<Store> first = locked();
  ASSERT_TRUE(first->put_resource(node("worker[0]")).ok());
  ASSERT_TRUE(open().ok());
  EXPECT_EQ(one.run(), 1);
  EXPECT_TRUE(std::filesystem::exists(database() + "-wal")) << "another process took itself for the last one";
  ASSERT_TRUE(first->put_resource(node("worker[1]")).ok());
  EXPECT_EQ(two.run(), 2);
}

TEST_F(StoreTest, NamesThatLeaveTheFolderAreRefused) {
  for (const char* name : {"", ".", "..", "a/b", "../x"}) {
    EXPECT_EQ(open(OpenMode::Create, name).status().code(), Code::Invalid) << name;
  }
  EXPECT_TRUE(open(OpenMode::Create, "a name with spaces & ünicode").ok());
}

TEST_F(StoreTest, SeveralInfrastructuresLiveSideBySide) {
  ASSERT_TRUE(open(OpenMode::Create, "b").ok());
  ASSERT_TRUE(open(OpenMode::Create, "a").ok());
  EXPECT_EQ(*list_states(directory()), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(list_states(folder.path() + "/nowhere")->empty());
  EXPECT_EQ(default_state_directory("x/y.radl"), "x/.radl");
  EXPECT_EQ(default_state_directory("y.radl"), "./.radl");
}

TEST_F(StoreTest, AStateThatHoldsSomethingIsNotRemoved) {
  {
    std::unique_ptr<Store> store = locked();
    ASSERT_TRUE(store->put_resource(node("worker[1]")).ok());
  }
  EXPECT_EQ(remove_state(directory(), "demo", fake.world).code(), Code::Conflict);
  ASSERT_TRUE(locked()->remove_resource("worker[1]").ok());
  EXPECT_TRUE(remove_state(directory(), "demo", fake.world).ok());
  EXPECT_EQ(open(OpenMode::Read).status().code(), Code::NotFound);
}

TEST_F(StoreTest, TheFolderGoesWithItsLastStateAndNoOtherFolderDoes) {
  locked();
  ASSERT_TRUE(open(OpenMode::Create, "other").ok());
  ASSERT_TRUE(remove_state(directory(), "demo", fake.world).ok());
  EXPECT_FALSE(std::filesystem::exists(directory() + "/demo"));
  ASSERT_TRUE(remove_state(directory(), "other", fake.world).ok());
  EXPECT_FALSE(std::filesystem::exists(directory()));

  std::string named = folder.path() + "/mine";
  ASSERT_TRUE(Store::open(named, "demo", OpenMode::Create, fake.world).ok());
  ASSERT_TRUE(remove_state(named, "demo", fake.world).ok());
  EXPECT_TRUE(std::filesystem::is_empty(named)) << "who named it with --state may want to keep it";
}

TEST_F(StoreTest, WhatNeverBecameAStateIsSweptAndNothingElse) {
  locked();
  for (const char* below : {"/one/work", "/one/logs", "/two/work", "/kept/work", "/kept/notes"})
    std::filesystem::create_directories(directory() + below);
  ASSERT_TRUE(write_file_atomic(directory() + "/two/state.db", "").ok());
  ASSERT_TRUE(write_file_atomic(directory() + "/two/lock", "").ok());
  ASSERT_TRUE(write_file_atomic(directory() + "/file", "").ok());
  {  // A database in WAL mode, but without tables: killed before they were made.
    std::filesystem::create_directories(directory() + "/three");
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open((directory() + "/three/state.db").c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
  }
  ASSERT_TRUE(sweep_unmade_states(directory()).ok());
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(directory()))
    left.insert(entry.path().filename());
  EXPECT_EQ(left, (std::set<std::string>{"demo", "kept", "file"}));
  EXPECT_TRUE(open(OpenMode::Read).ok());
}

TEST_F(StoreTest, WhoWaitedForAStateThatIsRemovedDoesNotGoOnInIt) {
  std::unique_ptr<Store> waiting = std::move(*open());
  ASSERT_TRUE(remove_state(directory(), "demo", fake.world).ok());
  EXPECT_EQ(waiting->lock("apply", std::chrono::milliseconds(0)).code(), Code::Lost);
  EXPECT_TRUE(locked()->put_resource(node("worker[1]")).ok()) << "the new one is as good as any";
}

TEST_F(StoreTest, RecordsOfAnotherShapeAreDamage) {
  ASSERT_TRUE(locked()->put_resource(node("worker[1]")).ok());
  sql("UPDATE resources SET attributes = '[1]'");
  Result<Snapshot> read = (*open())->snapshot();
  EXPECT_EQ(read.status().code(), Code::Corrupt);
  EXPECT_NE(read.status().message().find("worker[1]"), std::string::npos);
}

TEST_F(StoreTest, AFullDiskIsQuotaAndLosesNothing) {
  test::FaultVfs vfs;
  std::unique_ptr<Store> store = locked();
  ASSERT_TRUE(store->put_resource(node("worker[0]")).ok());
  vfs.fail_writes(SQLITE_FULL);
  Status full = store->put_resource(node("worker[1]"));
  EXPECT_EQ(full.code(), Code::Quota) << full.text();
  EXPECT_FALSE(full.hint().empty());
  EXPECT_EQ(store->snapshot()->resources.size(), 1u);
  vfs.fail_writes(SQLITE_OK);
  EXPECT_TRUE(store->put_resource(node("worker[1]")).ok()) << "it goes on as soon as there is room";
  EXPECT_EQ(store->snapshot()->resources.size(), 2u);
}

// Eight threads that write at once: what waits while one write is made durable goes together with the next.
TEST_F(StoreTest, WhatIsWrittenAtOnceIsMadeDurableTogether) {
  constexpr int kThreads = 8, kEach = 10;
  test::FaultVfs vfs;
  std::unique_ptr<Store> store = locked();
  vfs.slow_syncs(std::chrono::milliseconds(5));
  const long long before = vfs.syncs();
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i)
        failed += !store->put_resource(node("worker[" + std::to_string(t * kEach + i) + "]")).ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_LT(vfs.syncs() - before, kThreads * kEach / 2);
  Snapshot snapshot = *store->snapshot();
  EXPECT_EQ(snapshot.resources.size(), size_t{kThreads * kEach});
  EXPECT_EQ(snapshot.serial, kThreads * kEach) << "each write is one, whoever it was written with";
}

// One of several that are written together is no good: it fails, and the others are written.
TEST_F(StoreTest, AWriteThatFailsTakesNoOtherAlong) {
  std::unique_ptr<Store> store = locked();
  ASSERT_TRUE(store->put_resource(node("worker[0]")).ok());
  std::atomic<int> written{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 1; t <= 8; ++t) {
    threads.emplace_back([&, t] {
      if (t % 2)
        written += store->put_resource(node("worker[" + std::to_string(t) + "]")).ok();
      else
        refused += store->move("nobody", "somebody").code() == Code::NotFound;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(written, 4);
  EXPECT_EQ(refused, 4);
  EXPECT_EQ(store->snapshot()->resources.size(), 5u);
}

TEST_F(StoreTest, AllChangesOfOneWriteOrNone) {
  std::unique_ptr<Store> store = locked();
  EXPECT_EQ(store->commit({state_change::PutResource{node("worker[0]")}, state_change::Move{"nobody", "x"}})
                .status()
                .code(),
            Code::NotFound);
  EXPECT_TRUE(store->snapshot()->resources.empty());
  auto begun = store->commit(
      {state_change::Begin{}, state_change::PutResource{node("worker[0]")}, state_change::Begin{}});
  ASSERT_TRUE(begun.ok()) << begun.status().text();
  EXPECT_EQ(begun->size(), 2u);
  EXPECT_NE(begun->front(), begun->back());
}

TEST_F(StoreTest, KeepsWhoseAccountACloudIs) {
  {
    std::unique_ptr<Store> store = locked();
    ASSERT_TRUE(store->put_owner("ec2:/eu-west-1", "111122223333").ok());
  }
  Snapshot snapshot = *(*open(OpenMode::Read))->snapshot();
  EXPECT_EQ(snapshot.owners, (std::map<std::string, std::string>{{"ec2:/eu-west-1", "111122223333"}}));
  EXPECT_EQ(to_json(snapshot)["owners"]["ec2:/eu-west-1"], "111122223333");
}

TEST_F(StoreTest, AFileThatMayNotBeWrittenCanStillBeRead) {
  {
    std::unique_ptr<Store> store = locked();
    ASSERT_TRUE(store->put_resource(node("worker[1]")).ok());
  }
  ::chmod(folder.path().c_str(), 0755);
  ::chmod(directory().c_str(), 0755);
  ::chmod((directory() + "/demo").c_str(), 0555);
  ::chmod(database().c_str(), 0444);
  pid_t child = ::fork();
  if (child == 0) {
    // Root may write everything; be somebody else.
    if (::getuid() == 0 && ::setuid(65534) != 0) ::_exit(9);
    Result<std::unique_ptr<Store>> read = open(OpenMode::Read);
    if (!read.ok() || (*read)->snapshot()->resources.size() != 1) ::_exit(1);
    Status write = open(OpenMode::Write).status();
    ::_exit(write.code() == Code::Auth ? 0 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ::chmod((directory() + "/demo").c_str(), 0755);
}

TEST_F(StoreTest, AnExportHasEveryRecordAndNoSalt) {
  std::unique_ptr<Store> store = locked();
  ASSERT_TRUE(store->put_resource(node("worker[1]")).ok());
  StepRecord record = step("worker[1]/tools", {"worker[1]"});
  ASSERT_TRUE(store->finish_run(*store->begin_run(record), record).ok());
  ASSERT_TRUE(store->close_run({{}, {{"password", "fingerprint"}}, "d", {}, "apply", ""}).ok());
  Snapshot snapshot = *store->snapshot();
  Json shown = to_json(snapshot), whole = whole_json(snapshot);
  EXPECT_EQ(shown["resources"][0]["price_per_hour"], Json({{"micros", 250000}, {"currency", "EUR"}}));
  EXPECT_EQ(shown["resources"][0]["type"], "node");
  EXPECT_FALSE(shown["resources"][0].contains("token"));
  EXPECT_EQ(whole["resources"][0]["token"], "token-worker[1]");
  EXPECT_EQ(whole["steps"][0]["definition"], Json({{"recipe", "tools"}}));
  EXPECT_EQ(whole["steps"][0]["inputs"], Json({{"a.ip", "f"}}));
  EXPECT_EQ(whole.dump().find(snapshot.salt), std::string::npos);
  EXPECT_EQ(whole.dump().find("fingerprint"), std::string::npos);
}

TEST_F(StoreTest, SecretsShowOnlyThatTheyChanged) {
  Snapshot one = *locked()->snapshot();
  Snapshot two = one;
  two.salt = "other";
  EXPECT_EQ(secret_fingerprint(one, "hunter2"), secret_fingerprint(one, "hunter2"));
  EXPECT_NE(secret_fingerprint(one, "hunter2"), secret_fingerprint(one, "hunter3"));
  EXPECT_NE(secret_fingerprint(one, "hunter2"), secret_fingerprint(two, "hunter2"));
  EXPECT_EQ(to_json(one).dump().find(one.salt), std::string::npos);
}

TEST_F(StoreTest, MigrationsRunInOrderEachWhole) {
  locked().reset();
  Database db = std::move(*Database::open(database(), Database::Access::ReadWrite));
  const Migration steps[] = {{4, "ALTER TABLE resources ADD COLUMN b TEXT"},
                             {3, "ALTER TABLE resources ADD COLUMN a TEXT"},
                             {5, "CREATE TABLE c (x); INSERT INTO nowhere VALUES (1)"}};
  EXPECT_TRUE(migrate(db, 3, 5, steps).ok());
  EXPECT_EQ(*state_version(db, 9), 5);
  EXPECT_TRUE(db.exec("SELECT a, b FROM resources").ok());
  EXPECT_FALSE(migrate(db, 5, 6, steps).ok());
  EXPECT_EQ(*state_version(db, 9), 5);
  EXPECT_FALSE(db.exec("SELECT * FROM c").ok()) << "a failed step leaves nothing";
}

}  // namespace
}  // namespace radl
