// A state through time: its runs, and radlc's own versions, older and newer.
#include <gtest/gtest.h>

#include "common/files.h"
#include "runtime/state/schema.h"
#include "tests/unit/runtime/state/state_case.h"

namespace radl {
namespace {

class StateHistory : public test::StateCase {};

TEST_F(StateHistory, TellsTheNewestRunsFirst) {
  std::unique_ptr<Store> store = locked();
  for (int i = 1; i <= 3; ++i)
    ASSERT_TRUE(store->close_run({{}, {}, "digest", {"a.radl"}, "apply", std::to_string(i) + " done"}).ok());
  std::vector<HistoryEntry> newest = *store->history(2);
  ASSERT_EQ(newest.size(), 2u);
  EXPECT_EQ(newest[0].summary, "3 done");
  EXPECT_EQ(newest[1].summary, "2 done");
  EXPECT_GT(newest[0].serial, newest[1].serial);
  EXPECT_EQ(newest[0].command, "apply");
}

TEST_F(StateHistory, ANewerVersionIsAnErrorAndStaysUntouched) {
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

TEST_F(StateHistory, AForeignOrDamagedFileIsAnErrorAndStaysUntouched) {
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

TEST_F(StateHistory, AnotherProgramsDatabaseIsNotTakenOver) {
  locked().reset();
  sql("PRAGMA application_id=4711");
  EXPECT_EQ(open().status().code(), Code::Corrupt);
}

TEST_F(StateHistory, MigrationsRunInOrderEachWhole) {
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
