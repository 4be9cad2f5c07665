// docs/tour.md shows what each stage makes of one small program. Here the program is taken from the page,
// every stage is run, and what the page shows must be what came out. ACCEPT=1 writes the page anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "common/files.h"
#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "compiler/syntax/parser.h"
#include "runtime/clouds/local/local_cloud.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/render.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

const std::string kPage = test::source_dir() + "/docs/tour.md";

// <!-- tour NAME --> and the fenced block after it: begin and end of the text between the fences.
std::pair<size_t, size_t> block(const std::string& page, const std::string& name) {
  size_t mark = page.find("<!-- tour " + name + " -->");
  if (mark == std::string::npos) return {0, 0};
  size_t fence = page.find("```", mark);
  size_t begin = page.find('\n', fence) + 1;
  return {begin, page.find("```", begin)};
}

std::string block_text(const std::string& page, const std::string& name) {
  auto [begin, end] = block(page, name);
  return page.substr(begin, end - begin);
}

std::string_view class_name(TokenClass cls) {
  static constexpr std::string_view names[] = {"keyword",     "name",   "number",  "string", "operator",
                                               "parenthesis", "recipe", "comment", "junk"};
  return names[static_cast<size_t>(cls)];
}

std::string tokens_text(const SourceFile& file, int lines) {
  std::string text;
  for (const Token& token : tokenize(file)) {
    Position at = file.position(token.span.begin);
    if (at.line > lines) break;
    text +=
        fmt::format("{}:{:<4} {:<12} {}\n", at.line, at.column, class_name(token.cls), file.text(token.span));
  }
  return text;
}

class Tour : public testing::Test {
 protected:
  void SetUp() override {
    auto held = read_file(kPage);
    ASSERT_TRUE(held.ok()) << held.status().text();
    page = *held;
    before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    std::ofstream("hello.radl") << block_text(page, "hello.radl");
    std::ofstream("greeting.radl") << block_text(page, "greeting.radl");
  }
  void TearDown() override { std::filesystem::current_path(before); }

  test::TemporaryFolder folder;
  std::filesystem::path before;
  std::string page;
};

TEST_F(Tour, ShowsWhatTheStagesMake) {
  std::map<std::string, std::string> made;
  CompileOptions options;
  options.on_pass = [&](std::string_view pass, const std::string& dump) { made[std::string(pass)] = dump; };
  SourceMap sources;
  Diagnostics diagnostics;
  auto compiled = compile({"hello.radl"}, options, sources, diagnostics);
  ASSERT_TRUE(compiled) << render_text(diagnostics, sources);
  ASSERT_TRUE(diagnostics.all().empty()) << render_text(diagnostics, sources);
  made["tokens"] = tokens_text(*sources.find("hello.radl"), 3);
  const ir::Json program = ir::to_json(compiled->program);
  made["node"] = program["nodes"][0].dump(2) + "\n";
  made["step"] = program["steps"][0].dump(2) + "\n";
  made["sources"] = program["sources"].dump(2) + "\n";

  auto cloud = local::make_cloud({local::Isolation::Off});
  CloudSet clouds;
  clouds.add(*cloud);
  Snapshot nothing;
  Catalog catalog;
  Result<Plan> plan = make_plan({compiled->program, nothing, clouds, catalog, {}, nullptr, {}, {}});
  ASSERT_TRUE(plan.ok()) << plan.status().text();
  made["plan"] = render_text(*plan);

  std::string wanted = page;
  for (const auto& [name, text] : made) {
    auto [begin, end] = block(wanted, name);
    if (end != 0) wanted.replace(begin, end - begin, text);
  }
  if (std::getenv("ACCEPT") != nullptr) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "expectations are not rewritten by a machine";
    std::ofstream(kPage) << wanted;
    return;
  }
  EXPECT_EQ(page, wanted) << "docs/tour.md is out of date: run with ACCEPT=1";
  for (const char* name :
       {"tokens", "read", "modules", "inputs", "lower", "node", "items", "step", "order", "sources", "plan"})
    EXPECT_NE(block(page, name).second, 0u) << "the page does not show " << name;
}

TEST_F(Tour, NamesEveryPass) {
  for (const auto& [name, what] : compiler_passes())
    EXPECT_NE(page.find("`" + std::string(name) + "`"), std::string::npos) << name;
}

}  // namespace
}  // namespace radl
