// What a hostile or mistaken file may cost is bounded: each limit gives one clear error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

class Limits : public testing::Test {
 protected:
  void SetUp() override {
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_.path());
  }
  void TearDown() override { std::filesystem::current_path(before_); }

  static void write(const std::string& name, const std::string& text) { std::ofstream(name) << text; }

  // Compiles p.radl, which must have exactly one error, of that code and with these words in it.
  static void expect_one(DiagCode code, const std::string& words, const CompileOptions& options = {}) {
    SourceMap sources;
    Diagnostics diagnostics;
    EXPECT_FALSE(compile({"p.radl"}, options, sources, diagnostics));
    std::string said = render_text(diagnostics, sources).substr(0, 2000);
    EXPECT_EQ(diagnostics.errors(), 1u) << said;
    EXPECT_TRUE(diagnostics.has(code)) << said;
    EXPECT_NE(said.find(words), std::string::npos) << said;
  }

  static std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; i++) all += text;
    return all;
  }

 private:
  test::TemporaryFolder folder_;
  std::filesystem::path before_;
};

TEST_F(Limits, FileSize) {
  write("p.radl", "network n ()\n");
  std::filesystem::resize_file("p.radl", (uintmax_t{256} << 20) + 1);  // a hole: takes no room
  expect_one(DiagCode::FileUnreadable, "larger than the limit of 268435456 bytes");
}

TEST_F(Limits, InputsWithinInputsOfAText) {
  write("p.radl", "system s ( note = '@input.a0@' )\n");
  CompileOptions options;
  for (int i = 0; i < 20; i++)
    options.inputs["a" + std::to_string(i)] = "@input.a" + std::to_string(i + 1) + "@";
  expect_one(DiagCode::ExpressionCost, "20 deep", options);
}

TEST_F(Limits, NestingOfGroups) {
  write("p.radl", "system s (" + repeated("a contains (", 300) + repeated(")", 300) + ")\n");
  expect_one(DiagCode::NestingTooDeep, "200");
}

TEST_F(Limits, RepetitionWithinRepetition) {
  const std::string ten = "in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] (\n";
  write("p.radl",
        "radl 2\n" + repeated("each x " + ten, 12) + "network lan\n" + repeated(")\n", 12) + "deploy a 1\n");
  SourceMap sources;
  Diagnostics diagnostics;
  EXPECT_FALSE(compile({"p.radl"}, {}, sources, diagnostics));
  EXPECT_TRUE(diagnostics.has(DiagCode::ExpressionCost));
}

TEST_F(Limits, ValuesThatDouble) {
  std::string text = "radl 2\nlet a0 = [1]\n";
  for (int i = 0; i < 60; i++)
    text += "let a" + std::to_string(i + 1) + " = [a" + std::to_string(i) + ", a" + std::to_string(i) + "]\n";
  write("p.radl", text + "output o ( value = a60 )\n");
  expect_one(DiagCode::ExpressionCost, "holds more than");
}

TEST_F(Limits, TemplatesThatUseThemselves) {
  write("t.txt", "${template('t.txt', {})}");
  write("p.radl", "radl 2\noutput o ( value = template('t.txt', {}) )\n");
  expect_one(DiagCode::FunctionFailed, "20 deep");
}

TEST_F(Limits, NestingOfExpressions) {
  write("p.radl",
        "radl 2\noutput o ( value = " + repeated("(", 100000) + "1" + repeated(")", 100000) + " )\n");
  expect_one(DiagCode::NestingTooDeep, "200");
}

TEST_F(Limits, NumberOfMachines) {
  write("p.radl", "network n ()\nsystem s ( net_interface.0.connection = 'n' )\ndeploy s 100001\n");
  expect_one(DiagCode::DeployCount, "100000");
}

TEST_F(Limits, NumberOfMachinesAcrossSentences) {
  write("p.radl", "system s ()\nsystem t ()\ndeploy s 60000\ndeploy t 60000\n");
  expect_one(DiagCode::DeployCount, "100000");
}

TEST_F(Limits, CostOfExpressions) {
  write("p.radl", "radl 2\noutput o ( value = count([" + repeated("range(100000), ", 600) + "1]) )\n");
  expect_one(DiagCode::ExpressionCost, "");
}

TEST_F(Limits, LengthOfLists) {
  write("p.radl", "radl 2\noutput o ( value = count(range(100001)) )\n");
  expect_one(DiagCode::ExpressionCost, "100000");
}

// Twelve modules, each of which uses the next one twice: 4096 instances of the last.
TEST_F(Limits, InstancesOfModules) {
  write("p.radl", "radl 2\nuse './m0' as a ()\n");
  for (int i = 0; i < 12; i++) {
    std::string next = "m" + std::to_string(i + 1);
    write("m" + std::to_string(i) + ".radl",
          "radl 2\nuse './" + next + "' as a ()\nuse './" + next + "' as b ()\n");
  }
  write("m12.radl", "radl 2\noutput o ( value = 1 )\n");
  expect_one(DiagCode::ModuleCycle, "2000 instances");
}

TEST_F(Limits, ModulesThatUseEachOther) {
  write("p.radl", "radl 2\nuse './a' as a ()\n");
  write("a.radl", "radl 2\nuse './b' as b ()\n");
  write("b.radl", "radl 2\nuse './a' as a ()\n");
  expect_one(DiagCode::ModuleCycle, "");
}

// Each function calls itself 140 times and then needs the value of the one before.
TEST_F(Limits, FunctionsThatNeedValuesOfFunctions) {
  std::string text = "radl 2\nlet f0(n) = n\nlet v0 = 1\n";
  for (int i = 1; i <= 60; i++)
    text +=
        fmt::format("let f{0}(n) = if n == 0 then v{1} else f{0}(n - 1)\nlet v{0} = f{0}(140)\n", i, i - 1);
  write("p.radl", text + "output o ( value = v60 )\noutput z ( value = f0(1) )\n");
  SourceMap sources;
  Diagnostics diagnostics;
  EXPECT_FALSE(compile({"p.radl"}, {}, sources, diagnostics));
  EXPECT_TRUE(diagnostics.has(DiagCode::ExpressionCost)) << render_text(diagnostics, sources).substr(0, 2000);
}

// The last one first, so that each of them needs all of the others.
TEST_F(Limits, SystemsThatTakeEachOtherOver) {
  std::string text = "radl 2\n";
  for (int i = 3000; i > 0; i--) text += fmt::format("system s{} ( with = s{} )\n", i, i - 1);
  write("p.radl", text + "system s0 ( cpu.count >= 1 )\n");
  expect_one(DiagCode::ExpressionCost, "100 systems");
}

TEST_F(Limits, FeaturesThatAreTakenOverTwice) {
  std::string text = "radl 2\nsystem a0 ( cpu.count >= 1 )\n";
  for (int i = 1; i <= 40; i++) text += fmt::format("system a{0} ( with = [a{1}, a{1}] )\n", i, i - 1);
  write("p.radl", text);
  expect_one(DiagCode::ExpressionCost, "60000 features");
}

// The limit of operators is that of one value, not of a file.
TEST_F(Limits, OperatorsOfManyValues) {
  std::string text = "radl 2\n", sum = "0";
  for (int i = 0; i < 10; i++) {
    text += fmt::format("let a{} = 1{}\n", i, repeated(" + 1", 290));
    sum += fmt::format(" + a{}", i);
  }
  text += fmt::format("output o ( value = {} )\n", sum);
  write("p.radl", text);
  SourceMap sources;
  Diagnostics diagnostics;
  EXPECT_TRUE(compile({"p.radl"}, {}, sources, diagnostics))
      << render_text(diagnostics, sources).substr(0, 2000);
}

// Values that need values that need ...: 400 inputs in a row.
TEST_F(Limits, ValuesInARow) {
  std::string text = "radl 2\ninput i0 ( type = 'integer', default = 1 )\n";
  for (int i = 1; i < 400; i++)
    text += "input i" + std::to_string(i) + " ( type = 'integer', default = input.i" + std::to_string(i - 1) +
            " )\n";
  write("p.radl", text + "output o ( value = input.i399 )\n");
  SourceMap sources;
  Diagnostics diagnostics;
  compile({"p.radl"}, {}, sources, diagnostics);  // fine or refused, but it comes back
  EXPECT_LE(diagnostics.errors(), 1u) << render_text(diagnostics, sources).substr(0, 2000);
}

TEST_F(Limits, RecipesThatNestDeeply) {
  write("p.radl", "configure c (\n@begin\n" + repeated("[", 100000) + "\n@end\n)\n");
  SourceMap sources;
  Diagnostics diagnostics;
  EXPECT_FALSE(compile({"p.radl"}, {}, sources, diagnostics));
  EXPECT_TRUE(diagnostics.has(DiagCode::BadYaml));
}

TEST_F(Limits, PatternsThatNestDeeply) {
  std::string nested = repeated("(", 10000) + "a" + repeated(")", 10000);
  write("p.radl",
        "radl 2\ninput n ( pattern = '" + nested + "', default = 'a' )\noutput o ( value = input.n )\n");
  expect_one(DiagCode::InputDeclaration, "pattern");
}

// Exponential in an engine that tries one way after another: 2 to the power of 60000 here.
TEST_F(Limits, TextsThatAPatternIsTriedOnInManyWays) {
  write("p.radl", "radl 2\ninput n ( pattern = '(a+)+' )\noutput o ( value = input.n )\n");
  SourceMap sources;
  Diagnostics diagnostics;
  CompileOptions options;
  options.inputs["n"] = repeated("a", 60000) + "!";
  EXPECT_FALSE(compile({"p.radl"}, options, sources, diagnostics));
  EXPECT_TRUE(diagnostics.has(DiagCode::InputValue));
  options.inputs["n"].pop_back();
  Diagnostics again;
  EXPECT_TRUE(compile({"p.radl"}, options, sources, again)) << render_text(again, sources).substr(0, 2000);
}

TEST_F(Limits, PatternsThatNeedMoreThanLinearTimeSayWhatIsLeftOut) {
  write("p.radl", "radl 2\ninput n ( pattern = '(a)(?!b)', default = 'a' )\noutput o ( value = input.n )\n");
  expect_one(DiagCode::InputDeclaration, "lookahead and lookbehind are not supported");
  write("p.radl", "radl 2\ninput n ( pattern = '(a)\\1', default = 'a' )\noutput o ( value = input.n )\n");
  expect_one(DiagCode::InputDeclaration, "references to groups");
}

// As Notepad and PowerShell write files.
TEST_F(Limits, MarksOfEncodingsInInputFiles) {
  write("p.radl", "radl 2\ninput n ()\noutput o ( value = input.n )\n");
  for (const char* text : {"\xEF\xBB\xBFn = a\r\n", "\xEF\xBB\xBF{\"n\": \"a\"}"}) {
    write("in", text);
    SourceMap sources;
    Diagnostics diagnostics;
    CompileOptions options;
    options.input_files = {"in"};
    EXPECT_TRUE(compile({"p.radl"}, options, sources, diagnostics)) << render_text(diagnostics, sources);
  }
  write("in", std::string("\xFF\xFEn\0=\0a\0", 8));
  SourceMap sources;
  Diagnostics diagnostics;
  CompileOptions options;
  options.input_files = {"in"};
  EXPECT_FALSE(compile({"p.radl"}, options, sources, diagnostics));
  EXPECT_NE(render_text(diagnostics, sources).find("UTF-16"), std::string::npos);
}

TEST_F(Limits, NestingOfInputFiles) {
  write("p.radl", "radl 2\ninput n ( type = 'any' )\noutput o ( value = input.n )\n");
  write("in.json", "{\"n\": " + repeated("[", 400000) + repeated("]", 400000) + "}");
  SourceMap sources;
  Diagnostics diagnostics;
  CompileOptions options;
  options.input_files = {"in.json"};
  EXPECT_FALSE(compile({"p.radl"}, options, sources, diagnostics));
  EXPECT_TRUE(diagnostics.has(DiagCode::InputFile)) << render_text(diagnostics, sources).substr(0, 2000);
}

// Lists side by side are not nested; brackets in strings are none.
TEST_F(Limits, ManyListsInAListAreNoNesting) {
  write("p.radl", "radl 2\ninput n ( type = 'list' )\noutput o ( value = count(input.n) )\n");
  SourceMap sources;
  Diagnostics diagnostics;
  CompileOptions options;
  options.inputs["n"] = "[" + repeated("[1], ", 100) + "\"" + repeated("[", 100) + "\"]";
  auto compiled = compile({"p.radl"}, options, sources, diagnostics);
  ASSERT_TRUE(compiled) << render_text(diagnostics, sources).substr(0, 2000);
}

}  // namespace
}  // namespace radl
