// tests/lang/diagnostics holds a case for every code of the compiler, CODE.radl (or .json: RADL-JSON, .args:
// names of files to compile), and CODE.exp, what the compiler says about it. CODE.inputs is given as input
// file. A case that begins with `# lenient` is read as `plan` does, not as `check`. A code without a case, or
// that its case does not make the compiler report, fails here. ACCEPT=1 writes the expectations anew; that is
// refused where CI is set.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/files.h"
#include "common/text.h"
#include "compiler/check/check.h"
#include "compiler/compat/json/radl_json.h"
#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "compiler/syntax/parser.h"
#include "tests/support/image_schemes.h"
#include "tests/support/paths.h"

namespace radl {

// For GoogleTest.
void PrintTo(const CodeInfo& code, std::ostream* out) { *out << code.id; }

namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(test::source_dir()) / "tests/lang/diagnostics";

// The case of a code: CODE.radl, CODE.json or CODE.args; empty when there is none.
fs::path case_of(const CodeInfo& code) {
  for (const char* extension : {".radl", ".json", ".args"}) {
    fs::path path = kFolder / (std::string(code.id) + extension);
    if (fs::exists(path)) return path;
  }
  return {};
}

// Codes of the extensions and of EC3's clusters may stand in the goldens that golden_test compares.
bool in_other_goldens(const CodeInfo& code) {
  std::string mark = "[" + std::string(code.id) + "]";
  for (const char* folder : {"ext", "ec3"}) {
    for (const auto& entry : fs::directory_iterator(kFolder.parent_path() / folder)) {
      if (entry.path().extension() != ".exp") continue;
      auto text = read_file(entry.path().string());
      if (text.ok() && text->find(mark) != std::string::npos) return true;
    }
  }
  return false;
}

CompileOptions options() {
  CompileOptions made;
  made.environment = {{"RADL_STDLIB", test::source_dir() + "/stdlib"}};
  made.image_schemes = test::kImageSchemes;
  return made;
}

void look_at(const fs::path& path, SourceMap& sources, Diagnostics& diagnostics) {
  std::string name = path.filename().string();
  if (path.extension() == ".args") {
    std::ifstream file(path);
    std::vector<std::string> names;
    for (std::string line; std::getline(file, line);) names.push_back(line);
    compile(names, options(), sources, diagnostics);
    return;
  }
  auto file = sources.load(name);
  ASSERT_TRUE(file.ok()) << file.status().text();
  if (path.extension() == ".json") {
    sema::from_radl_json(**file, diagnostics);
    return;
  }
  if (trim((*file)->text()).starts_with("radl ")) {
    SourceMap own;
    sources = std::move(own);
    CompileOptions given = options();
    fs::path inputs = fs::path(name).replace_extension(".inputs");
    if (fs::exists(inputs)) given.input_files = {inputs.string()};
    compile({name}, given, sources, diagnostics);
    return;
  }
  auto tree = parse(**file, diagnostics);
  sema::Document document = sema::build_document({tree.get()}, diagnostics);
  bool broken = diagnostics.has_errors();
  const bool lenient = (*file)->text().starts_with("# lenient");
  sema::check_document(document, diagnostics,
                       {.lenient = lenient, .unused = !broken, .image_schemes = test::kImageSchemes});
}

class EveryCode : public testing::TestWithParam<CodeInfo> {};

TEST_P(EveryCode, HasACaseThatReportsIt) {
  const CodeInfo& code = GetParam();
  fs::path path = case_of(code);
  if (path.empty() && in_other_goldens(code)) return;
  ASSERT_FALSE(path.empty()) << "no case for " << code.id << " (" << code.name
                             << ") in tests/lang/diagnostics";
  fs::current_path(kFolder);
  SourceMap sources;
  Diagnostics diagnostics;
  look_at(path, sources, diagnostics);
  diagnostics.sort();
  EXPECT_TRUE(diagnostics.has(code.code)) << code.id << " was not reported";
  std::string text = render_text(diagnostics, sources);
  fs::path expected = kFolder / (std::string(code.id) + ".exp");
  if (std::getenv("ACCEPT") != nullptr) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "expectations are not rewritten by a machine";
    std::ofstream(expected) << text;
    return;
  }
  auto wanted = read_file(expected.string());
  ASSERT_TRUE(wanted.ok()) << "run with ACCEPT=1";
  EXPECT_EQ(text, *wanted);
}

INSTANTIATE_TEST_SUITE_P(Diagnostics, EveryCode, testing::ValuesIn(all_codes()),
                         [](const auto& info) { return std::string(info.param.id); });

TEST(Codes, AreUniqueAndExplained) {
  std::set<std::string_view> ids;
  for (const CodeInfo& code : all_codes()) {
    EXPECT_TRUE(ids.insert(code.id).second) << code.id;
    EXPECT_EQ(code.id[0], code.severity == Severity::Error ? 'E' : 'W') << code.id;
    EXPECT_GT(code.explanation.size(), 20u) << code.id;
    EXPECT_NE(explain(code).find(code.title), std::string::npos);
    EXPECT_EQ(find_code(code.id), &code);
  }
}

// A case for a code that is no more.
TEST(Codes, HaveNoOrphanedCases) {
  for (const auto& entry : fs::directory_iterator(kFolder))
    EXPECT_NE(find_code(entry.path().stem().string()), nullptr) << entry.path();
}

}  // namespace
}  // namespace radl
