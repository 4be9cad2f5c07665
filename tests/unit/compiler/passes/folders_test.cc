// Files that files name, where folders are linked: what is meant is what the system would open.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

// project/shared is a link to elsewhere/shared: `../common` there is elsewhere/common.
TEST(Folders, AModuleBehindALinkedFolderUsesItsOwnNeighbours) {
  test::TemporaryFolder folder;
  fs::path root = folder.path();
  write(root / "elsewhere/shared/module.radl",
        "radl 2\nuse '../common' as common ()\noutput o ( value = '${common.where} ${file('../text')}' )\n");
  write(root / "elsewhere/common.radl", "radl 2\noutput where ( value = 'elsewhere' )\n");
  write(root / "elsewhere/text", "its text");
  write(root / "project/common.radl", "radl 2\noutput where ( value = 'project' )\n");
  write(root / "project/text", "another text");
  write(root / "project/main.radl", "radl 2\nuse './shared/module' as m ()\noutput o ( value = m.o )\n");
  fs::create_directory_symlink(root / "elsewhere/shared", root / "project/shared");
  SourceMap sources;
  Diagnostics diagnostics;
  auto compiled = compile({(root / "project/main.radl").string()}, {}, sources, diagnostics);
  ASSERT_TRUE(compiled) << render_text(diagnostics, sources);
  EXPECT_NE(ir::to_json(compiled->program).dump().find("elsewhere its text"), std::string::npos);
}

// What is not sent does not count: not in the digest, not in the figures of the plan.
TEST(Folders, WhatAProgramLeavesOutOfItsSourceIsNoPartOfIt) {
  test::TemporaryFolder folder;
  const fs::path root = folder.path();
  write(root / "own/.radlignore", "*.pt\n!keep.pt\n/data/\n");
  for (const char* name : {"train.py", "keep.pt", "last.pt", "data/big.csv", "old/notes.txt", ".git/index"})
    write(root / "own" / name, "text");
  auto source = [&](const std::string& exclude) {
    write(
        root / "main.radl",
        "radl 2\nsystem w ()\ndeploy w 1\nconfigure c ( program 'p' ( systems = system.w, source = './own', "
        "main = 'train.py'" +
            exclude + " ) )\n");
    SourceMap sources;
    Diagnostics diagnostics;
    auto compiled = compile({(root / "main.radl").string()}, {}, sources, diagnostics);
    EXPECT_TRUE(compiled) << render_text(diagnostics, sources);
    return compiled ? compiled->program.steps.at(0) : ir::Step();
  };
  const ir::Step first = source("");
  EXPECT_EQ(first.program["source"]["sent"], (ir::Json{{"files", 3},
                                                       {"bytes", 12},
                                                       {"exclude", {"*.pt", "!keep.pt", "/data/"}},
                                                       {"excluded_files", 1},
                                                       {"excluded_folders", 1}}));
  write(root / "own/last.pt", "another");
  write(root / "own/data/more.csv", "another");
  write(root / "own/more.pt", "another");
  const ir::Step second = source("");
  EXPECT_EQ(second.digest, first.digest);
  EXPECT_EQ(second.program["identity"], first.program["identity"]);
  const ir::Step third = source(", exclude = ['keep.pt']");
  EXPECT_NE(third.digest, first.digest);
  EXPECT_EQ(third.program["source"]["sent"]["files"], 2);
  write(root / "own/train.py", "another");
  EXPECT_NE(source("").digest, first.digest);
}

}  // namespace
}  // namespace radl
