// Trees on real nodes: only what has changed is sent, and what comes of it is what a whole tree would be.
#include "runtime/steps/jobs/tree.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <tuple>

#include "runtime/net/node_path.h"
#include "runtime/steps/jobs/tree_manifests.h"
#include "tests/support/test_nodes.h"

namespace radl::jobs {
namespace {

namespace fs = std::filesystem;
constexpr size_t kLarge = 2 << 20;

struct TreeTest : testing::Test {
  TreeTest() : node(nodes.handle("worker[0]")) {}

  void write(const std::string& name, const std::string& text, unsigned mode = 0644) {
    const std::string path = source + "/" + name;
    ASSERT_TRUE(make_directories(parent_path(path)).ok());
    ASSERT_TRUE(write_file_atomic(path, text, mode).ok());
  }
  Tree tree() const { return {Tree::Kind::Folder, source, *path_digest(source)}; }
  std::string home() const { return node.attributes.at("home"); }
  std::string on_node(const Tree& of) const { return home() + "/" + tree_folder(of).substr(2); }
  uint64_t place() {
    auto sent = place_tree(node, nodes.context, tree());
    EXPECT_TRUE(sent.ok()) << sent.status().text();
    return sent.ok() ? *sent : 0;
  }
  void expect_same() { EXPECT_EQ(*path_digest(on_node(tree())), tree().digest); }

  test::TestNodes nodes;
  NodeHandle node;
  const std::string source = nodes.folder.path("source");
};

TEST_F(TreeTest, OnlyFilesThatChangedAreSent) {
  write("large", random_bytes(kLarge));
  write("run.sh", "one", 0755);
  write("gone/old", "old");
  write("was-file", "text");
  ASSERT_EQ(::symlink("large", (source + "/link").c_str()), 0);
  fs::create_directories(source + "/empty");
  EXPECT_GE(place(), kLarge);
  expect_same();
  EXPECT_EQ(place(), 0u);
  write("run.sh", "two", 0755);
  write("new/deep/file", "new");
  fs::remove_all(source + "/gone");
  fs::remove(source + "/was-file");
  write("was-file/now", "a folder");
  fs::remove(source + "/link");
  ASSERT_EQ(::symlink("run.sh", (source + "/link").c_str()), 0);
  fs::create_directories(source + "/empty-too");
  const uint64_t sent = place();
  EXPECT_GT(sent, 0u);
  EXPECT_LT(sent, kLarge / 10);
  expect_same();
  EXPECT_FALSE(fs::exists(on_node(tree()) + "/gone"));
  EXPECT_TRUE(fs::is_directory(on_node(tree()) + "/empty"));
  EXPECT_TRUE(fs::is_directory(on_node(tree()) + "/empty-too"));
  EXPECT_EQ(fs::status(on_node(tree()) + "/run.sh").permissions() & fs::perms::owner_exec,
            fs::perms::owner_exec);
}

TEST_F(TreeTest, ATreeThatSomebodyHasChangedIsNoBaseForAnother) {
  write("large", random_bytes(kLarge));
  write("run.sh", "one");
  place();
  const std::string first = on_node(tree());
  // The kernel's clock ticks every few milliseconds: a program begins later than that.
  struct stat whole {
  }, large{};
  ASSERT_EQ(::stat((first + ".whole").c_str(), &whole), 0);
  do {
    std::ofstream changed(first + "/large", std::ios::binary | std::ios::in);
    changed << "by a program";
    changed.close();
    ASSERT_EQ(::stat((first + "/large").c_str(), &large), 0);
  } while (std::tie(large.st_ctim.tv_sec, large.st_ctim.tv_nsec) <=
           std::tie(whole.st_mtim.tv_sec, whole.st_mtim.tv_nsec));
  write("run.sh", "two");
  EXPECT_GE(place(), kLarge);
  expect_same();
}

TEST_F(TreeTest, WhatNoJobNamesIsRemoved) {
  write("run.sh", "one");
  place();
  const std::string first = on_node(tree());
  write("run.sh", "two");
  place();
  const std::string second = on_node(tree());
  auto clean = [&] {
    auto remote = node.connect();
    ASSERT_TRUE(remote.ok());
    auto done = (*remote)->exec(remove_unused_trees_script(), {});
    ASSERT_TRUE(done.ok());
    EXPECT_EQ(done->exit_status, 0) << done->err;
  };
  const std::string job = home() + "/.radl/jobs/p-1";
  ASSERT_TRUE(make_directories(job + "/inputs").ok());
  clean();
  EXPECT_TRUE(fs::exists(first)) << "an earlier radlc did not record what a job uses";
  ASSERT_TRUE(write_file_atomic(job + "/uses", second.substr(second.rfind('/') + 1) + "\n").ok());
  clean();
  EXPECT_FALSE(fs::exists(first));
  EXPECT_FALSE(fs::exists(first + ".whole"));
  EXPECT_TRUE(fs::exists(second));
}

TEST_F(TreeTest, AFileThatIsRenamedIsAnotherTree) {
  for (const char* name : {"first.sh", "second.sh"}) {
    write(name, "echo the same\n");
    const std::string path = source + "/" + name;
    const Tree one{Tree::Kind::File, path, *path_digest(path)};
    auto sent = place_tree(node, nodes.context, one);
    ASSERT_TRUE(sent.ok()) << sent.status().text();
    EXPECT_GT(*sent, 0u) << name;
    EXPECT_TRUE(fs::exists(on_node(one) + "/" + name));
  }
}

TEST_F(TreeTest, NoArchiveStaysOnThisComputerOrOnTheNode) {
  write("run.sh", "one");
  place();
  for (const std::string& folder : {nodes.context.work_directory + "/trees", home() + "/.radl/trees"}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      EXPECT_EQ(name.find(".tar"), name.npos) << name;
      EXPECT_EQ(name.find(".sent"), name.npos) << name;
    }
  }
  EXPECT_FALSE(fs::exists(home() + "/.radl/cache"));
}

TEST(TreeManifests, TellWhatHasChanged) {
  const std::vector<ManifestEntry> before = {
      {"0644", "1", "a", ""}, {"0644", "2", "b", ""}, {"0755", "3", "c", ""}};
  const std::vector<ManifestEntry> now = {
      {"0644", "1", "a", ""}, {"0644", "9", "b", ""}, {"0644", "3", "d", ""}};
  const TreeDifference made = difference(before, now);
  EXPECT_EQ(made.changed, (std::vector<std::string>{"b"}));
  EXPECT_EQ(made.added, (std::vector<std::string>{"d"}));
  EXPECT_EQ(made.removed, (std::vector<std::string>{"c"}));
  EXPECT_EQ(difference(before, {{"0600", "1", "a", ""}}).changed, (std::vector<std::string>{"a"}));
}

TEST(TreeManifests, AreRememberedUnlessDamaged) {
  test::TemporaryFolder folder;
  const std::vector<ManifestEntry> entries = {{"0644", std::string(64, '1'), "a b", ""},
                                              {"link", std::string(64, '2'), "c", "a b"}};
  const std::string key = tree_key(sha256_hex(manifest_text(entries)));
  ASSERT_TRUE(remember_manifest(folder.path(), key, entries).ok());
  EXPECT_EQ(known_trees(folder.path()), (std::vector<std::string>{key}));
  auto known = known_manifest(folder.path(), key);
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(manifest_text(*known), manifest_text(entries));
  ASSERT_TRUE(write_file_atomic(folder.path("trees/" + key + ".files"), "0644 1 a\n").ok());
  EXPECT_FALSE(known_manifest(folder.path(), key).has_value());
}

}  // namespace
}  // namespace radl::jobs
