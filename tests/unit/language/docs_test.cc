// Pages that are made from the code are equal to what the code says. ACCEPT=1 writes them anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "common/files.h"
#include "compiler/expr/evaluate.h"
#include "compiler/ir/resource_schema.h"

namespace radl {
namespace {

const std::string kDocs = std::string(RADL_SOURCE_DIR) + "/docs/";

void expect_page(const std::string& name, const std::string& wanted) {
  auto held = read_file(kDocs + name);
  if (std::getenv("ACCEPT") != nullptr) {
    std::ofstream(kDocs + name) << wanted;
    return;
  }
  ASSERT_TRUE(held.ok()) << held.status().text();
  EXPECT_EQ(*held, wanted) << "docs/" << name << " is out of date: run with ACCEPT=1";
}

TEST(Docs, ResourceTypes) { expect_page("steps-schema.md", ir::resource_schema_markdown()); }

TEST(Docs, FunctionsOfTheLanguage) {
  auto page = read_file(kDocs + "language.md");
  ASSERT_TRUE(page.ok());
  size_t begin = page->find('\n', page->find("<!-- functions")) + 1, end = page->find("<!-- end -->");
  ASSERT_NE(end, std::string::npos);
  std::string table = "\n| function | gives | example |\n|---|---|---|\n";
  for (const expr::FunctionInfo& function : expr::functions()) {
    table += fmt::format("| `{}({})` | {} | {} |\n", function.name, function.parameters, function.doc,
                         function.example.empty() ? "" : fmt::format("`{}`", function.example));
  }
  expect_page("language.md", page->substr(0, begin) + table + "\n" + page->substr(end));
}

}  // namespace
}  // namespace radl
