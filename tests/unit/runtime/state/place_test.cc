// The files of a state: private, never started over when they are lost, and gone with it.
#include <gtest/gtest.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <set>

#include "common/files.h"
#include "tests/unit/runtime/state/state_case.h"

namespace radl {
namespace {

class StatePlace : public test::StateCase {};

TEST_F(StatePlace, IsPrivateToItsOwner) {
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

TEST_F(StatePlace, WithoutAStateReadingSaysSo) {
  EXPECT_EQ(open(OpenMode::Read).status().code(), Code::NotFound);
  EXPECT_EQ(open(OpenMode::Write).status().code(), Code::NotFound);
  EXPECT_FALSE(real_world().files.exists(directory())) << "reading makes nothing";
}

TEST_F(StatePlace, ACrashBeforeTheTablesWereMadeIsNoState) {
  ASSERT_TRUE(make_directories(directory() + "/demo").ok());
  ASSERT_TRUE(write_file_atomic(database(), "").ok());
  EXPECT_EQ(open(OpenMode::Read).status().code(), Code::NotFound);
  EXPECT_TRUE(open(OpenMode::Create).ok());
}

class LostState : public StatePlace {
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
    EXPECT_EQ(*list_states(directory(), environment_of_process()), std::vector<std::string>{"demo"})
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

TEST_F(StatePlace, NamesThatLeaveTheFolderAreRefused) {
  for (const char* name : {"", ".", "..", "a/b", "../x"}) {
    EXPECT_EQ(open(OpenMode::Create, name).status().code(), Code::Invalid) << name;
  }
  EXPECT_TRUE(open(OpenMode::Create, "a name with spaces & ünicode").ok());
}

TEST_F(StatePlace, SeveralInfrastructuresLiveSideBySide) {
  ASSERT_TRUE(open(OpenMode::Create, "b").ok());
  ASSERT_TRUE(open(OpenMode::Create, "a").ok());
  EXPECT_EQ(*list_states(directory(), environment_of_process()), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(list_states(folder.path() + "/nowhere", environment_of_process())->empty());
  EXPECT_EQ(default_state_directory("x/y.radl"), "x/.radl");
  EXPECT_EQ(default_state_directory("y.radl"), "./.radl");
}

TEST_F(StatePlace, AStateThatHoldsSomethingIsNotRemoved) {
  {
    std::unique_ptr<Store> store = locked();
    ASSERT_TRUE(store->put_resource(node("worker[1]")).ok());
  }
  EXPECT_EQ(remove_state(directory(), "demo", fake.world).code(), Code::Conflict);
  ASSERT_TRUE(locked()->remove_resource("worker[1]").ok());
  EXPECT_TRUE(remove_state(directory(), "demo", fake.world).ok());
  EXPECT_EQ(open(OpenMode::Read).status().code(), Code::NotFound);
}

TEST_F(StatePlace, TheFolderGoesWithItsLastStateAndNoOtherFolderDoes) {
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

TEST_F(StatePlace, WhatNeverBecameAStateIsSweptAndNothingElse) {
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

TEST_F(StatePlace, AFileThatMayNotBeWrittenCanStillBeRead) {
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
    ::_exit(write.code() == Code::Auth && write.hint() == "check its owner and mode" ? 0 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ::chmod((directory() + "/demo").c_str(), 0755);
}

TEST_F(StatePlace, AReadOnlyFileSystemIsNamedAsWhatItIs) {
  {
    std::unique_ptr<Store> store = locked();
    ASSERT_TRUE(store->put_resource(node("worker[1]")).ok());
  }
  constexpr int kNoNamespace = 9;
  pid_t child = ::fork();
  if (child == 0) {
    const int apart = ::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    const char* place = folder.path().c_str();
    if (::unshare(apart) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(place, place, nullptr, MS_BIND, nullptr) != 0 ||
        ::mount(nullptr, place, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr) !=
            0)
      ::_exit(kNoNamespace);
    Result<std::unique_ptr<Store>> read = open(OpenMode::Read);
    if (!read.ok() || (*read)->snapshot()->resources.size() != 1) ::_exit(1);
    for (OpenMode mode : {OpenMode::Write, OpenMode::Create}) {
      const std::string said = open(mode).status().text();
      if (said.find("Read-only file system") == said.npos || said.find("mounted read-only") == said.npos) {
        std::fprintf(stderr, "%s\n", said.c_str());
        ::_exit(2);
      }
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << "it ended by signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == kNoNamespace) GTEST_SKIP() << "no mount namespace to be had here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace radl
