// Folders of results: what is a user's in them stays, whatever a run brings.
#include "runtime/steps/training/result_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "tests/support/temporary_folder.h"

namespace radl::training {
namespace {

namespace fs = std::filesystem;

struct ResultFolderTest : testing::Test {
  std::string at(const std::string& name) const { return place + "/" + name; }
  std::string content(const std::string& name) const {
    auto text = read_file(at(name));
    return text ? *text : "(none)";
  }
  void user_writes(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(at(name)).parent_path());
    ASSERT_TRUE(write_file_atomic(at(name), text).ok());
  }
  // A run that brings these files; what it says.
  std::vector<std::string> bring(const std::map<std::string, std::string>& files,
                                 const ResultOwner& owner = {"program/p", "a"},
                                 const std::string& kept = "") {
    auto folder = ResultFolder::open(place, owner);
    EXPECT_TRUE(folder.ok()) << folder.status().text();
    ResultFolder::Files digests;
    for (const auto& [name, text] : files) digests[name] = sha256_hex(text);
    Status free = folder->make_way(digests);
    EXPECT_TRUE(free.ok()) << free.text();
    for (const auto& [name, text] : files) user_writes(name, text);
    EXPECT_TRUE(folder->close(kept).ok());
    return folder->moved();
  }

  test::TemporaryFolder folder;
  const std::string place = folder.path("results");
};

TEST_F(ResultFolderTest, WhatARunHasBroughtIsReplacedByTheNext) {
  EXPECT_TRUE(bring({{"model/weights", "one"}, {"report.json", "1"}}).empty());
  EXPECT_TRUE(bring({{"model/weights", "two"}, {"report.json", "2"}}).empty());
  EXPECT_EQ(content("model/weights"), "two");
  EXPECT_TRUE(users_files(place, {"report.json"}).empty());
}

TEST_F(ResultFolderTest, WhatOnlyAnEarlierRunHasBroughtIsRemovedByTheNext) {
  bring({{"model/weights", "one"}, {"model/changed", "one"}, {"report.json", "1"}});
  user_writes("model/changed", "the user's now");
  user_writes("notes", "mine");
  ASSERT_TRUE(bring({{"report.json", "2"}}, {"program/p", "b"}).empty());
  EXPECT_EQ(content("model/weights"), "(none)") << "yesterday's model beside today's report";
  EXPECT_EQ(content("model/changed"), "the user's now");
  EXPECT_EQ(content("notes"), "mine");
  EXPECT_EQ(content("report.json"), "2");
  // Nobody takes what is left there for a result any more.
  EXPECT_EQ(read_file(at(".radl-results"))->find("model/"), std::string::npos);
  fs::remove(at("model/changed"));
  fs::remove(at("model"));
  bring({{"deep/er/file", "x"}, {"report.json", "3"}});
  bring({{"report.json", "4"}});
  EXPECT_FALSE(fs::exists(at("deep"))) << "folders of results go with their files";
}

TEST_F(ResultFolderTest, LinksOfAnEarlierRunAreRemovedToo) {
  auto folder = ResultFolder::open(place, {"program/p", "a"});
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(folder->make_way({{"newest", ""}, {"one", sha256_hex("1")}}).ok());
  user_writes("one", "1");
  ASSERT_EQ(::symlink("one", at("newest").c_str()), 0);
  ASSERT_TRUE(folder->close().ok());
  bring({{"two", "2"}});
  EXPECT_FALSE(fs::is_symlink(fs::symlink_status(at("newest"))));
  EXPECT_EQ(content("two"), "2");
}

TEST_F(ResultFolderTest, ResultsOfAnotherJobInTheSameFolderStay) {
  bring({{"first", "1"}}, {"program/first", "a"});
  bring({{"second", "2"}}, {"program/second", "b"});
  EXPECT_EQ(content("first"), "1");
  bring({{"more", "3"}}, {"program/first", "a"});
  EXPECT_EQ(content("first"), "(none)");
  EXPECT_EQ(content("second"), "2");
}

TEST_F(ResultFolderTest, WhatIsKeptStaysWhileTheIdentityIsTheSame) {
  bring({{"events/one", "1"}, {"model/a", "1"}}, {"training/t", "a"}, "events");
  bring({{"events/two", "2"}, {"model/b", "2"}}, {"training/t", "a"}, "events");
  EXPECT_EQ(content("events/one"), "1");
  EXPECT_EQ(content("model/a"), "(none)");
  bring({{"events/three", "3"}}, {"training/t", "b"}, "events");
  EXPECT_EQ(content("events/one"), "(none)");
  EXPECT_EQ(content("events/two"), "(none)");
}

TEST_F(ResultFolderTest, WhatAUserPutOrChangedThereIsNamedAndKept) {
  bring({{"model/weights", "one"}, {"report.json", "1"}, {"gone", ""}});
  user_writes("report.json", "my report");
  user_writes("notes", "mine");
  fs::remove(at("gone"));
  EXPECT_EQ(users_files(place, {"notes", "nowhere"}), (std::vector<std::string>{"notes", "report.json"}));
  const auto moved = bring({{"model/weights", "two"}, {"report.json", "2"}, {"notes", "a result"}});
  EXPECT_EQ(moved.size(), 2u);
  EXPECT_EQ(moved[1], "'" + place + "/report.json' was not radlc's: it is called 'report.json.~1~' now");
  EXPECT_EQ(content("report.json"), "2");
  EXPECT_EQ(content("report.json.~1~"), "my report");
  EXPECT_EQ(content("notes.~1~"), "mine");
  EXPECT_EQ(content("model/weights"), "two");
  user_writes("report.json", "mine again");
  bring({{"report.json", "3"}});
  EXPECT_EQ(content("report.json.~1~"), "my report");
  EXPECT_EQ(content("report.json.~2~"), "mine again");
}

TEST_F(ResultFolderTest, WhatAUserHasInPlaceOfAFolderOrAFileIsKept) {
  bring({{"report.json", "1"}});
  user_writes("model", "a file");
  user_writes("report.json.d/x", "mine");
  fs::create_directories(at("events/run"));
  user_writes("elsewhere", "elsewhere");
  ASSERT_EQ(::symlink((place + "/../far").c_str(), at("link").c_str()), 0);
  bring({{"model/deep/weights", "w"}, {"events", "a file"}, {"link", "l"}});
  EXPECT_EQ(content("model.~1~"), "a file");
  EXPECT_EQ(content("model/deep/weights"), "w");
  EXPECT_TRUE(fs::is_directory(at("events.~1~/run")));
  EXPECT_TRUE(fs::is_symlink(at("link.~1~")));
  EXPECT_EQ(content("report.json.d/x"), "mine");
}

TEST_F(ResultFolderTest, ARunThatWasKilledInItsMidstLeavesNothingThatCountsAsTheUsers) {
  bring({{"report.json", "1"}, {"model/weights", "one"}});
  {
    auto begun = ResultFolder::open(place, {"program/p", "a"});
    ASSERT_TRUE(begun.ok());
    ASSERT_TRUE(
        begun->make_way({{"report.json", sha256_hex("2")}, {"model/weights", sha256_hex("two")}}).ok());
    user_writes("report.json", "2");  // the other has not been brought
  }
  EXPECT_TRUE(users_files(place, {"report.json"}).empty());
  EXPECT_TRUE(bring({{"report.json", "3"}, {"model/weights", "three"}}).empty());
}

TEST_F(ResultFolderTest, OfAVersionWithoutARecordAllIsOurs) {
  user_writes(".radl-results", "");
  user_writes("report.json", "1");
  EXPECT_TRUE(is_result_folder(place));
  EXPECT_TRUE(bring({{"report.json", "2"}}).empty());
  EXPECT_EQ(content("report.json"), "2");
  user_writes("report.json", "mine");
  EXPECT_EQ(bring({{"report.json", "3"}}).size(), 1u);
}

TEST_F(ResultFolderTest, ATrainingTakesNoFolderThatHoldsSomebodyElsesModel) {
  user_writes("thesis.txt", "in nobody's way");
  EXPECT_TRUE(check_training_folder(place).ok());
  for (const char* name : {"model/mine.bin", "events", "report.json"}) {
    user_writes(name, "mine");
    const Status said = check_training_folder(place);
    EXPECT_EQ(said.code(), Code::Conflict) << name;
    EXPECT_NE(said.message().find("which no training has put there"), std::string::npos) << said.text();
    fs::remove_all(at(std::string(name).substr(0, std::string(name).find('/'))));
  }
  user_writes("report.json", R"({"apply": {"phases": {}}})");  // of a version without a mark
  EXPECT_TRUE(check_training_folder(place).ok());
}

TEST_F(ResultFolderTest, NamesOfAnyKindAreKnownAgain) {
  const std::map<std::string, std::string> odd = {{"a b\n'\\c", "1"}, {"-x", "2"}, {"\xff", "3"}, {" ", "4"}};
  bring(odd);
  EXPECT_TRUE(users_files(place, {}).empty());
  std::map<std::string, std::string> next = odd;
  for (auto& [name, text] : next) text += " again";
  EXPECT_TRUE(bring(next).empty());
}

}  // namespace
}  // namespace radl::training
