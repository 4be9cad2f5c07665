// docs/diagnostics.md says what the compiler says. RADL_ACCEPT=1 writes it anew.
#include <gtest/gtest.h>

#include <cstdlib>

#include "common/files.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/tools/doc/codes_page.h"

namespace radl {
namespace {

TEST(DiagnosticsPage, IsUpToDate) {
  const std::string path = RADL_SOURCE_DIR "/docs/diagnostics.md";
  std::string wanted = diagnostics_page();
  if (std::getenv("RADL_ACCEPT")) {
    ASSERT_TRUE(write_file_atomic(path, wanted).ok());
  }
  auto found = read_file(path);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(*found == wanted) << path << " differs from compiler/diag/codes.def; "
                                << "run this test once with RADL_ACCEPT=1 in the environment";
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
