// The list of EC3 templates.
#include "tools/templates/templates.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "common/files.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

TEST(Templates, ListedByKindAndName) {
  fs::path folder = fs::path(::testing::TempDir()) / "radl-templates";
  fs::remove_all(folder);
  fs::create_directories(folder / "deep");
  auto write = [&](const char* name, const char* text) {
    ASSERT_TRUE(write_file_atomic((folder / name).string(), text).ok());
  };
  write("b.radl",
        "description nfs (kind = 'component' and short = 'Shares a folder.' and content = 'long')\nsystem "
        "front ()\n");
  write("a.radl",
        "description slurm (kind = 'main' and name = 'SLURM' and short = 'A queue.')\nsystem front "
        "()\ndeploy front 1\n");
  write("deep/c.radl", "description ubuntu (kind = 'images')\nsystem front ()\n");
  write("plain.radl", "system x ()\n");
  write("broken.radl", "system x (\n");
  write("notes.txt", "not one");
  auto list = list_templates({folder.string()});
  fs::remove_all(folder);
  ASSERT_EQ(list.size(), 5u);
  EXPECT_EQ(list[0].name, "SLURM");
  EXPECT_EQ(list[0].kind, "main");
  EXPECT_EQ(list[1].name, "nfs");
  EXPECT_EQ(list[1].summary, "Shares a folder.");
  EXPECT_EQ(list[1].content, "long");
  EXPECT_EQ(list[2].kind, "images");
  EXPECT_EQ(list[2].name, "ubuntu");
  EXPECT_EQ(list[3].name, "broken");
  EXPECT_FALSE(list[3].readable);
  EXPECT_EQ(list[4].name, "plain");
  EXPECT_TRUE(list[4].readable);
}

TEST(Templates, AMissingFileIsInTheList) {
  auto list = list_templates({"/nowhere/x.radl"});
  ASSERT_EQ(list.size(), 1u);
  EXPECT_FALSE(list[0].readable);
  EXPECT_EQ(list[0].name, "x");
}

}  // namespace
}  // namespace radl
