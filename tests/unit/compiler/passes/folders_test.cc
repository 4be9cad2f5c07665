// Files that files name, where folders are linked: what is meant is what the system would open.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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

}  // namespace
}  // namespace radl
