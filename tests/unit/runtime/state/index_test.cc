// Where this user's infrastructures are: never more than a help, so what is wrong with it is said and left.
#include "runtime/state/index.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "common/files.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

class IndexTest : public testing::Test {
 protected:
  KnownState make(const std::string& name) {
    const std::string directory = folder.path() + "/project/.radl";
    EXPECT_TRUE(make_directories(directory + "/" + name).ok());
    EXPECT_TRUE(write_file_atomic(directory + "/" + name + "/state.db", "x").ok());
    return {directory, name};
  }
  void remove(const KnownState& state) { std::filesystem::remove_all(state.directory + "/" + state.name); }

  test::TemporaryFolder folder;
  std::string index = folder.path() + "/user/radlc/infrastructures.json";
};

TEST_F(IndexTest, KnowsWhatWasRememberedUntilItIsGone) {
  EXPECT_TRUE(known_states(index)->empty()) << "there is no index yet";
  const KnownState b = make("b"), a = make("a");
  ASSERT_TRUE(remember_state(index, b).ok());
  ASSERT_TRUE(remember_state(index, a).ok());
  ASSERT_TRUE(remember_state(index, b).ok());
  EXPECT_EQ(*known_states(index), (std::vector<KnownState>{a, b}));
  struct stat info;
  ASSERT_EQ(::stat(index.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  remove(a);
  EXPECT_EQ(*known_states(index), std::vector<KnownState>{b});
  EXPECT_NE(read_file(index)->find("\"a\""), std::string::npos) << "reading changes nothing";
  ASSERT_TRUE(tidy_known_states(index).ok());
  EXPECT_EQ(read_file(index)->find("\"a\""), std::string::npos);
}

TEST_F(IndexTest, ADamagedOneIsNamedAndLeftAsItIs) {
  ASSERT_TRUE(make_directories(folder.path() + "/user/radlc").ok());
  for (const char* bytes : {"", "{", "[1]", "{\"infrastructures_index\": 9, \"infrastructures\": []}",
                            "{\"infrastructures_index\": 1, \"infrastructures\": [{\"name\": 1}]}"}) {
    ASSERT_TRUE(write_file_atomic(index, bytes).ok());
    EXPECT_EQ(known_states(index).status().code(), Code::Corrupt) << bytes;
    EXPECT_EQ(remember_state(index, make("a")).code(), Code::Corrupt) << bytes;
    EXPECT_EQ(*read_file(index), bytes);
  }
}

TEST_F(IndexTest, SeveralRunsAtOnceForgetNobody) {
  std::vector<KnownState> all;
  for (int i = 0; i < 8; ++i) all.push_back(make("s" + std::to_string(i)));
  std::vector<std::thread> runs;
  for (const KnownState& state : all) {
    runs.emplace_back([&] { EXPECT_TRUE(remember_state(index, state).ok()); });
  }
  for (std::thread& run : runs) run.join();
  EXPECT_EQ(*known_states(index), all);
}

}  // namespace
}  // namespace radl
