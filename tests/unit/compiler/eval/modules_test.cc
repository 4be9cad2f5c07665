// Where modules are found, and how often their files are read.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "compiler/eval/library.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

class Modules : public testing::Test {
 protected:
  // A module below the folder that reports its own location.
  std::string module(const std::string& path, const std::string& text = "radl 2\n") {
    const fs::path file = folder.path(path);
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file.string();
  }
  std::string found(std::string_view name) const {
    auto path = find_module(name, main, search);
    return path.ok() ? *path : std::string();
  }
  Code refused(std::string_view name) const { return find_module(name, main, search).status().code(); }

  test::TemporaryFolder folder;
  const std::string main = folder.path("project/main.radl");
  SearchPath search{
      folder.path("project"), {folder.path("first"), folder.path("second")}, folder.path("std")};
};

TEST_F(Modules, TheProjectGoesBeforeTheModulePath) {
  const std::string second = module("second/a.radl");
  EXPECT_EQ(found("a"), second);
  const std::string first = module("first/a.radl");
  EXPECT_EQ(found("a"), first);
  const std::string own = module("project/modules/a.radl");
  EXPECT_EQ(found("a"), own);
}

TEST_F(Modules, TheStandardLibraryIsBelowStd) {
  const std::string ray = module("std/cluster/ray.radl");
  EXPECT_EQ(found("std/cluster/ray"), ray);
  EXPECT_EQ(refused("cluster/ray"), Code::NotFound);
  search.standard_library.clear();
  const Status status = find_module("std/cluster/ray", main, search).status();
  EXPECT_EQ(status.code(), Code::NotFound);
  EXPECT_NE(status.hint().find("RADL_STDLIB"), std::string::npos);
}

TEST_F(Modules, ARelativeNameStartsAtTheFileThatUsesIt) {
  const std::string beside = module("project/b.radl"), above = module("c.radl");
  module("project/modules/b.radl");
  EXPECT_EQ(found("./b"), beside);
  EXPECT_EQ(found("../c"), above);
  EXPECT_EQ(refused("./c"), Code::NotFound);
}

TEST_F(Modules, ANameLeavesNoFolder) {
  module("project/a.radl");
  for (const char* name : {"", "/etc/passwd", "a//b", "a/../b", "x/.", "a\\b"})
    EXPECT_EQ(refused(name), Code::Invalid) << name;
}

TEST_F(Modules, NotFoundSaysWhereItLooked) {
  const Status status = find_module("none", main, search).status();
  EXPECT_EQ(status.code(), Code::NotFound);
  for (const char* place : {"project/modules/none.radl", "first/none.radl", "second/none.radl"})
    EXPECT_NE(status.hint().find(place), std::string::npos) << status.hint();
}

TEST_F(Modules, AreListedOnceAndInOrder) {
  module("project/modules/z.radl");
  module("first/z.radl");
  module("second/deep/a.radl");
  module("std/data/shards.radl");
  module("first/notes.txt");
  EXPECT_EQ(list_modules(search), (std::vector<std::string>{"deep/a", "std/data/shards", "z"}));
}

class Library : public Modules {
 protected:
  const ast::Tree* load(std::string_view name) {
    ast::String written;
    written.kind = ast::Kind::String;
    written.span = {file.id(), 4, 5};
    written.text = name;
    return library.load(written, file);
  }

  SourceMap sources;
  Diagnostics diagnostics;
  const SourceFile& file = sources.add(main, "use 'a' as a ()\n");
  ModuleLibrary library{sources, diagnostics, search};
};

TEST_F(Library, AFileIsReadOnce) {
  module("first/a.radl");
  const ast::Tree* tree = load("a");
  ASSERT_NE(tree, nullptr);
  EXPECT_EQ(load("a"), tree);
  EXPECT_EQ(library.files().size(), 1u);
  EXPECT_TRUE(library.uses().empty()) << "of the user's own modules findings stay where they are";
}

TEST_F(Library, AFileWithErrorsIsReportedOnce) {
  module("first/a.radl", "radl 2\nsystem (\n");
  EXPECT_EQ(load("a"), nullptr);
  const size_t errors = diagnostics.errors();
  EXPECT_GT(errors, 0u);
  EXPECT_EQ(load("a"), nullptr);
  EXPECT_EQ(diagnostics.errors(), errors);
}

TEST_F(Library, AModuleIsRadl2) {
  module("first/a.radl", "system s (cpu.count >= 1)\n");
  EXPECT_EQ(load("a"), nullptr);
  EXPECT_TRUE(diagnostics.has(DiagCode::ModuleFile));
}

TEST_F(Library, AMisspeltNameHasAFix) {
  module("first/torch.radl");
  EXPECT_EQ(load("torhc"), nullptr);
  ASSERT_TRUE(diagnostics.has(DiagCode::ModuleNotFound));
  ASSERT_EQ(diagnostics.all()[0].fixes.size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].fixes[0].edits[0].replacement, "'torch'");
}

TEST_F(Library, FindingsOfTheStandardLibraryGoToTheUse) {
  module("std/a.radl");
  const ast::Tree* tree = load("std/a");
  ASSERT_NE(tree, nullptr);
  EXPECT_EQ(library.uses().at(tree->source->id()), (Span{file.id(), 4, 5}));
}

}  // namespace
}  // namespace radl
