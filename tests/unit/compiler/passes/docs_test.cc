// Generated pages must equal the generator's output. ACCEPT=1 rewrites them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/files.h"
#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "compiler/eval/evaluate.h"
#include "compiler/resources/resource_schema.h"
#include "compiler/syntax/parser.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

const std::string kDocs = test::source_dir() + "/docs/";

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
  auto page = read_file(kDocs + "language/functions.md");
  ASSERT_TRUE(page.ok());
  size_t begin = page->find('\n', page->find("<!-- functions")) + 1, end = page->find("<!-- end -->");
  ASSERT_NE(end, std::string::npos);
  std::string table = "\n| function | gives | example |\n|---|---|---|\n";
  for (const expr::FunctionInfo& function : expr::functions()) {
    table += fmt::format("| `{}({})` | {} | {} |\n", function.name, function.parameters, function.doc,
                         function.example.empty() ? "" : fmt::format("`{}`", function.example));
  }
  expect_page("language/functions.md", page->substr(0, begin) + table + "\n" + page->substr(end));
}

// The files of the reader that examples name.
class ReadersFolder {
 public:
  ReadersFolder() : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder_.path());
    for (const char* folder : {"src", "photos", "cifar-result/model"})
      std::filesystem::create_directories(folder);
    std::ofstream("src/train.py") << "print()\n";
    std::ofstream("requirements.lock") << "";
  }
  ~ReadersFolder() { std::filesystem::current_path(before_); }

 private:
  test::TemporaryFolder folder_;
  std::filesystem::path before_;
};

// Whatever a page shows compiles. Declarations alone are taken as the beginning of a program.
void expect_examples_compile(const std::string& name, int least) {
  auto page = read_file(kDocs + name);
  ASSERT_TRUE(page.ok());
  ReadersFolder folder;
  const std::string fence = "```radl\n";
  int examples = 0;
  for (size_t at = page->find(fence); at != std::string::npos; at = page->find(fence, at)) {
    at += fence.size();
    std::string text = page->substr(at, page->find("```", at) - at);
    if (!text.starts_with("radl 2")) text = "radl 2\n" + text;
    SourceMap sources;
    Diagnostics diagnostics;
    sources.overlay("example.radl", text);
    CompileOptions options;
    options.environment = {{"RADL_STDLIB", test::source_dir() + "/stdlib"}};
    options.inputs_may_be_missing = true;
    auto compiled = compile({"example.radl"}, options, sources, diagnostics);
    EXPECT_TRUE(compiled) << text << render_text(diagnostics, sources);
    ++examples;
  }
  EXPECT_GE(examples, least);
}

// A user who knows one module can read the others.
TEST(StandardLibrary, AnInputOfOneNameHasOneTypeInAllModules) {
  std::map<std::string, std::pair<std::string, std::string>> first;  // name -> type, module
  size_t modules = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_dir() + "/stdlib")) {
    if (entry.path().extension() != ".radl") continue;
    auto text = read_file(entry.path().string());
    ASSERT_TRUE(text.ok()) << entry.path();
    Diagnostics found;
    const SourceFile source(1, entry.path().string(), *text);
    auto tree = parse(source, found);
    ++modules;
    for (const ast::Block* block : tree->blocks) {
      if (block->kind != ast::Kind::Input) continue;
      std::string type = "string";
      for (const ast::Feature* feature : ast::as<ast::FeatureBlock>(block)->body.items)
        if (feature->name.text == "type") type = source.text(feature->value->span);
      if (type.starts_with("options(")) type = "options";  // of a resource, which the module names
      const auto [known, fresh] =
          first.emplace(block->name.text, std::pair(type, entry.path().filename().string()));
      EXPECT_EQ(type, known->second.first)
          << block->name.text << " of " << entry.path() << " and of " << known->second.second;
    }
  }
  EXPECT_GT(modules, 15u);
}

TEST(Docs, ExamplesOfTheLanguageCompile) {
  expect_examples_compile("language.md", 9);
  expect_examples_compile("language/expressions.md", 1);
  expect_examples_compile("language/blocks.md", 3);
  expect_examples_compile("language/modules.md", 3);
}
TEST(Docs, ExamplesOfFarmsCompile) {
  expect_examples_compile("farm.md", 2);
  expect_examples_compile("search.md", 1);
}
TEST(Docs, ExamplesOfTrainingCompile) { expect_examples_compile("training.md", 1); }
TEST(Docs, ExamplesOfTheComparisonCompile) {
  expect_examples_compile("comparison.md", 1);
  expect_examples_compile("comparison/machines.md", 2);
  expect_examples_compile("comparison/values.md", 3);
}

}  // namespace
}  // namespace radl
