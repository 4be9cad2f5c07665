// docs/diagnostics.md and docs/features.md equal the compiler's output. ACCEPT=1 rewrites them.
#include <gtest/gtest.h>

#include <cstdlib>

#include "common/files.h"
#include "compiler/diag/diagnostic.h"
#include "tests/support/paths.h"
#include "tools/doc/codes_page.h"
#include "tools/doc/features_page.h"

namespace radl {
namespace {

void expect_page(const std::string& path, const std::string& wanted, const char* table) {
  if (std::getenv("ACCEPT")) {
    ASSERT_TRUE(write_file_atomic(path, wanted).ok());
  }
  auto found = read_file(path);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(*found == wanted) << path << " differs from " << table << "; "
                                << "run this test once with ACCEPT=1 in the environment";
}

TEST(DiagnosticsPage, IsUpToDate) {
  expect_page(test::source_dir() + "/docs/diagnostics.md", diagnostics_page(), "compiler/diag/codes.def");
}

TEST(FeaturesPage, IsUpToDate) {
  std::string page = features_page();
  expect_page(test::source_dir() + "/docs/features.md", page, "compiler/check/features.def");
  EXPECT_NE(page.find("| `cpu.count` | a number | = < > <= >= | 1 |"), std::string::npos);
  EXPECT_NE(page.find("| `cpu.arch` | a string: i386, x86_64 | = | x86_64 |"), std::string::npos);
  EXPECT_NE(page.find("| `disk.N.applications` | a group, `contains (...)` | contains |"), std::string::npos);
}

TEST(DiagnosticsPage, EveryCodeIsExplained) {
  std::string page = diagnostics_page();
  for (const CodeInfo& code : all_codes()) {
    EXPECT_NE(page.find("### " + std::string(code.id) + ": "), std::string::npos);
    EXPECT_GT(code.explanation.size(), 20u) << code.id;
    EXPECT_EQ(code.id[0], code.severity == Severity::Error ? 'E' : 'W') << code.id;
  }
  EXPECT_EQ(page.find("## Others"), std::string::npos) << "a range of codes without a title";
}

}  // namespace
}  // namespace radl
