// Golden files of the compiler, in tests/lang: parse (sources with what is said about them, and the tree),
// check, mistakes and ext (with what is said about them), ir (with their IR) and ec3 (sets of EC3's
// templates, one a .args file, with their IR). The name of a case says what must happen: bad-* has errors,
// warn-* warnings only, all others neither. ACCEPT=1 writes the expectations anew; that is refused where CI
// is set.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "tests/support/image_schemes.h"
#include "tests/support/paths.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

const std::string kRoot = test::source_dir() + "/tests/lang/";

std::string content(const fs::path& path) {
  auto text = read_file(path.string());
  return text.ok() ? *text : std::string();
}

// Machine paths out of what is compared.
std::string portable(std::string text) {
  for (size_t at = text.find(test::source_dir()); at != text.npos; at = text.find(test::source_dir())) {
    text.replace(at, test::source_dir().size(), "SOURCE");
  }
  for (size_t at = text.find(test::build_dir()); at != text.npos; at = text.find(test::build_dir())) {
    text.replace(at, test::build_dir().size(), "BUILD");
  }
  return text;
}

// NAME.inputs: lines NAME=VALUE, given as --input.
CompileOptions options_for(const fs::path& source) {
  CompileOptions options;
  std::ifstream file(fs::path(source).replace_extension(".inputs"));
  for (std::string line; std::getline(file, line);) {
    if (size_t equals = line.find('='); equals != line.npos)
      options.inputs[line.substr(0, equals)] = line.substr(equals + 1);
  }
  options.environment = {{"RADL_STDLIB", test::source_dir() + "/stdlib"},
                         {"RADL_TEST_VARIABLE", "from outside"}};
  options.image_schemes = test::kImageSchemes;
  return options;
}

// What is compiled, relative, as a user names files: then the tree can stand anywhere. NAME.args names
// several.
std::vector<std::string> files_of(const fs::path& source) {
  if (source.extension() != ".args") return {source.filename().string()};
  std::vector<std::string> names;
  std::ifstream file(source);
  for (std::string line; std::getline(file, line);) names.push_back(line);
  return names;
}

struct Outcome {
  std::string text;
  bool errors = false, warnings = false;
};

Outcome compile_case(const fs::path& source) {
  std::string folder = source.parent_path().filename().string();
  bool show_ir = folder == "ir" || folder == "ec3";
  SourceMap sources;
  Diagnostics diagnostics;
  CompileOptions options = options_for(source);
  std::string tree;
  options.on_pass = [&](std::string_view pass, const std::string& dump) {
    tree = pass == "read" ? dump : tree;
  };
  auto compiled = compile(files_of(source), options, sources, diagnostics);
  Outcome outcome;
  outcome.errors = diagnostics.has_errors();
  outcome.warnings = diagnostics.warnings() > 0;
  outcome.text = render_text(diagnostics, sources);
  if (folder == "parse") outcome.text += tree;
  if (show_ir && compiled) outcome.text += ir::to_json(compiled->program).dump(2) + "\n";
  for (const auto& [name, value] : compiled ? compiled->secrets : ir::Secrets()) {
    EXPECT_EQ(outcome.text.find("\"" + value + "\""), std::string::npos)
        << "secret " << name << " stands in the IR";
  }
  outcome.text = portable(outcome.text);
  return outcome;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, SaysWhatIsExpected) {
  fs::path source = kRoot + GetParam();
  fs::current_path(source.parent_path());
  std::string name = source.stem().string();
  Outcome outcome = compile_case(source);
  EXPECT_EQ(outcome.errors, name.starts_with("bad-")) << outcome.text;
  if (!outcome.errors) {
    EXPECT_EQ(outcome.warnings, name.starts_with("warn-")) << outcome.text;
  }
  fs::path expected = fs::path(source).replace_extension(".exp");
  if (std::getenv("ACCEPT") != nullptr) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "expectations are not rewritten by a machine";
    std::ofstream(expected) << outcome.text;
    return;
  }
  EXPECT_EQ(outcome.text, content(expected))
      << "ACCEPT=1 " << testing::UnitTest::GetInstance()->current_test_info()->name();
}

// The IR of every good case reads back as itself.
TEST_P(Golden, RoundTripsAsJson) {
  fs::path source = kRoot + GetParam();
  fs::current_path(source.parent_path());
  SourceMap sources;
  Diagnostics diagnostics;
  auto compiled = compile(files_of(source), options_for(source), sources, diagnostics);
  if (!compiled) return;
  ir::Json json = ir::to_json(compiled->program);
  auto back = ir::parse_program(json.dump());
  ASSERT_TRUE(back.ok()) << back.status().text();
  EXPECT_EQ(ir::to_json(*back), json);
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const char* folder : {"parse", "check", "mistakes", "ext", "ir", "ec3"}) {
    const char* extension = std::string_view(folder) == "ec3" ? ".args" : ".radl";
    for (const auto& entry : fs::directory_iterator(kRoot + folder)) {
      if (entry.path().extension() == extension)
        names.push_back(std::string(folder) + "/" + entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Lang, Golden, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

}  // namespace
}  // namespace radl
