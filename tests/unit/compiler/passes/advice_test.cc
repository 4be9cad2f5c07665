// What the compiler advises compiles. tests/lang/advice has a case for each help: a program that gets it, and
// the program of somebody who followed it. The fixes of all goldens are applied here and compiled.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "common/files.h"
#include "common/text.h"
#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "compiler/source/source.h"
#include "tests/support/language_cases.h"
#include "tests/support/source_texts.h"

namespace radl {
namespace {

namespace fs = std::filesystem;
using test::arguments_at;
using test::Case;
using test::compile_files;
using test::Files;
using test::literals_in;
using test::longest_piece;
using test::matches;
using test::Outcome;

const std::vector<Case>& cases() {
  static const std::vector<Case> all = test::read_cases("advice");
  return all;
}

class Advice : public testing::TestWithParam<Case> {};

TEST_P(Advice, CompilesWhenFollowed) {
  Outcome before, after;
  compile_files(GetParam().before, before);
  const auto& found = before.diagnostics.all();
  const auto given = std::find_if(found.begin(), found.end(), [&](const Diagnostic& each) {
    return matches(GetParam().help, each.help);
  });
  ASSERT_TRUE(given != found.end()) << "nobody gives this help\n" << before.text();
  compile_files(GetParam().after, after);
  for (const Diagnostic& each : after.diagnostics.all()) {
    const bool left = GetParam().after.left.contains(std::string(code_info(each.code).id));
    EXPECT_TRUE(left || (each.severity != Severity::Error && each.code != given->code)) << after.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Lang, Advice, testing::ValuesIn(cases()), test::case_name);

// ---- no help without a case

// What no text of a program follows: advice about the installation and `radlc vendor`.
const std::set<std::string> kNotOfPrograms = {
    "the standard library is not installed beside this program; RADL_STDLIB can name its folder",
    "only one that came from this computer itself can, by a whole path",
    "`radlc vendor` downloads the locked one again; `radlc vendor --update` takes another version",
    "it holds no .radl file",
    "`chmod +x ",
    "it has '",
    " is not in ",
    "`radlc vendor` downloads it"};

// The rest of the statement from `at`.
std::string statement_at(const std::string& code, size_t at) {
  for (size_t i = at; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '"' || (c == '\'' && (code[i + 2] == c || code[i + 1] == '\\'))) {
      for (++i; i < code.size() && code[i] != c; ++i) i += code[i] == '\\';
      continue;
    }
    if (c == ';') return code.substr(at, i - at);
  }
  return code.substr(at);
}

// The functions of a file and of the headers that it includes which take a help: name -> which argument it
// is.
std::map<std::string, size_t> takers_of_help(const std::string& code) {
  std::string text = code;
  static const std::regex include(R"re(#include "(compiler/[^"]+)")re");
  for (std::sregex_iterator header(code.begin(), code.end(), include), end; header != end; ++header)
    if (auto read = read_file(test::source_dir() + "/" + (*header)[1].str()); read.ok()) text += *read;
  static const std::regex taker(
      R"((\w+)\s*(?:=\s*\[[^\]]*\]\s*)?\(([^()]*\b(?:std::)?string(?:_view)?&?\s+(?:help|hint)\b)[^()]*\))");
  std::map<std::string, size_t> found;
  for (std::sregex_iterator one(text.begin(), text.end(), taker), end; one != end; ++one) {
    const std::string before = (*one)[2].str();
    found[(*one)[1].str()] = static_cast<size_t>(std::count(before.begin(), before.end(), ','));
  }
  return found;
}

// The expressions of all helps that a file gives: to a diagnostic, to a status, and to functions that take
// one.
std::vector<std::string> help_expressions(const std::string& code) {
  std::vector<std::string> found;
  std::map<std::string, size_t> takers = takers_of_help(code);
  takers["with_help"] = takers["with_hint"] = 0;
  for (const auto& [name, which] : takers) {
    const std::regex call("\\b" + name + "(?=\\()");
    for (std::sregex_iterator site(code.begin(), code.end(), call), end; site != end; ++site) {
      const auto arguments = arguments_at(code, static_cast<size_t>(site->position() + site->length()));
      if (arguments.size() > which) found.push_back(arguments[which]);
    }
  }
  static const std::regex member(R"((?:\.|->)help\s*\+?=(?!=))");
  for (std::sregex_iterator site(code.begin(), code.end(), member), end; site != end; ++site)
    found.push_back(statement_at(code, static_cast<size_t>(site->position() + site->length())));
  return found;
}

// The names in an expression that stand for a whole text of it: `a + f(b)` has a and f, and neither has what
// is handed to a format.
std::set<std::string> texts_named_in(const std::string& expression) {
  std::set<std::string> found;
  static const std::regex word(R"(^[A-Za-z_]\w*)");
  int open = 0;
  for (size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c == '"' || c == '\'') {
      for (++i; i < expression.size() && expression[i] != c; ++i) i += expression[i] == '\\';
      continue;
    }
    std::smatch name;
    const std::string rest = expression.substr(i);
    if (std::regex_search(rest, name, word)) {
      const std::string text = name.str();
      const char before = i > 0 ? expression[i - 1] : ' ', after = rest[text.size()];
      i += text.size() - 1;
      const bool moved = rest.starts_with("move(");
      if (!moved &&
          (before == '.' || before == '>' || before == ':' || after == '.' || after == '-' || after == ':'))
        continue;
      if (moved) i += 1;
      if (open == 0 && !moved) found.insert(text);
      continue;
    }
    open += c == '(' || c == '[' || c == '{';
    open -= c == ')' || c == ']' || c == '}';
  }
  return found;
}

// The literals of an expression, of the variables of the file that it names, and of what its functions that
// it calls return.
void add_literals(const std::string& code, const std::string& expression, std::set<std::string>& seen,
                  std::vector<std::string>& found) {
  for (std::string& literal : literals_in(expression + ";", 0)) found.push_back(std::move(literal));
  for (const std::string& name : texts_named_in(expression)) {
    if (!seen.insert(name).second) continue;
    const std::regex assigned("\\b" + name + R"((?:\s*\+?=(?!=)|\.append(?=\()|\{(?=")))");
    for (std::sregex_iterator site(code.begin(), code.end(), assigned), end; site != end; ++site)
      add_literals(code, statement_at(code, static_cast<size_t>(site->position() + site->length())), seen,
                   found);
    const std::regex defined(
        R"(\n(?:static |inline )?(?:const )?(?:std::string(?:_view)?|Result<std::string>|const char\*) )" +
        name + R"(\([^;{]*\{)");
    std::smatch function;
    if (!std::regex_search(code, function, defined)) continue;
    const size_t begin = static_cast<size_t>(function.position() + function.length());
    const std::string body = code.substr(begin, code.find("\n}", begin) - begin);
    static const std::regex returned(R"(\breturn\b)");
    for (std::sregex_iterator site(body.begin(), body.end(), returned), end; site != end; ++site)
      add_literals(code, statement_at(body, static_cast<size_t>(site->position() + site->length())), seen,
                   found);
  }
}

// Each once, in order.
std::vector<std::string> helps_of(const std::string& code) {
  std::vector<std::string> found;
  std::set<std::string> seen;
  for (const std::string& expression : help_expressions(code)) add_literals(code, expression, seen, found);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

TEST(EveryHelp, IsFoundWhereAFunctionTakesIt) {
  const std::string code =
      "void wrong(Span at, std::string message, std::string help = \"\") {}\n"
      "auto refuse = [&](std::string_view help) {};\n"
      "f() { wrong(at, fmt::format(\"a, {} of ()\", ','), x ? \"write b, \" \"or c\" : \"\"); wrong(at, "
      "\"d\"); "
      "refuse(\"take e\"); }";
  EXPECT_EQ(helps_of(code), (std::vector<std::string>{"", "take e", "write b, or c"}));
}

TEST(EveryHelp, IsFoundWhereItIsBuiltBefore) {
  const std::string code =
      "\nstd::string advice(int n) {\n  if (n) return \"one\";\n  return \"two\" + more;\n}\n"
      "g() { std::string text = \"three\"; text += \"four\"; if (text == \"not\") d.help = std::move(text);\n"
      "  e->help = advice(2) + fmt::format(\"five {}\", other); other = \"not this\"; }";
  EXPECT_EQ(helps_of(code), (std::vector<std::string>{"five {}", "four", "one", "three", "two"}));
}

TEST(EveryHelp, HasACase) {
  std::vector<std::string> missing;
  for (const auto& entry : fs::recursive_directory_iterator(test::source_dir() + "/compiler")) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".cc" || path.find("/tools/") != path.npos ||
        path.find("/ir/") != path.npos)
      continue;
    const std::string code = *read_file(path);
    std::vector<std::string> helps = helps_of(code);
    if (path.ends_with("_hints.cc")) {  // of functions that make help, all that they return
      static const std::regex returned(R"(\breturn\b)");
      for (std::sregex_iterator site(code.begin(), code.end(), returned), end; site != end; ++site)
        for (std::string& literal : literals_in(code, static_cast<size_t>(site->position() + site->length())))
          helps.push_back(std::move(literal));
    }
    for (const std::string& literal : helps) {
      const std::string piece = longest_piece(literal);
      if (piece.size() < 8 || piece.find(' ') == piece.npos || kNotOfPrograms.contains(piece)) continue;
      const bool known = std::any_of(cases().begin(), cases().end(),
                                     [&](const Case& one) { return one.help.find(piece) != one.help.npos; });
      if (!known) missing.push_back(entry.path().filename().string() + ": " + piece);
    }
  }
  EXPECT_EQ(missing, std::vector<std::string>()) << "tests/lang/advice has no case";
}

// ---- fixes

std::string with_edits(std::string text, std::vector<TextEdit> edits) {
  std::sort(edits.begin(), edits.end(),
            [](const TextEdit& a, const TextEdit& b) { return a.span.begin > b.span.begin; });
  for (const TextEdit& edit : edits) text.replace(edit.span.begin, edit.span.size(), edit.replacement);
  return text;
}

std::vector<fs::path> goldens() {
  std::vector<fs::path> all;
  for (const char* folder : {"parse", "check", "mistakes", "ext", "diagnostics"})
    for (const auto& entry : fs::directory_iterator(test::kLanguageTests + folder))
      if (entry.path().extension() == ".radl") all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

CompileOptions options_of(const fs::path& source) {
  CompileOptions options;
  std::ifstream file(fs::path(source).replace_extension(".inputs"));
  for (std::string line; std::getline(file, line);)
    if (size_t equals = line.find('='); equals != line.npos)
      options.inputs[line.substr(0, equals)] = line.substr(equals + 1);
  options.environment = {{"RADL_STDLIB", test::source_dir() + "/stdlib"},
                         {"RADL_TEST_VARIABLE", "from outside"}};
  return options;
}

// The first error of `after` that `before` has not, at the edit or without a place; null if there is none.
const Diagnostic* new_error(const Outcome& before, const Outcome& after, const TextEdit& edit) {
  std::multiset<std::string> known;
  for (const Diagnostic& each : before.diagnostics.all()) known.insert(each.message);
  const uint32_t begin = edit.span.begin, end = begin + static_cast<uint32_t>(edit.replacement.size());
  for (const Diagnostic& each : after.diagnostics.all()) {
    if (known.contains(each.message) || each.severity != Severity::Error) continue;
    if (!each.span.known() || (each.span.begin <= end && each.span.end >= begin)) return &each;
  }
  return nullptr;
}

// One golden, with edits of its own.
struct Edited {
  std::string name, text;
  CompileOptions options;

  void compile_into(Outcome& outcome) const {
    outcome.sources.overlay(name, text);
    compile({name}, options, outcome.sources, outcome.diagnostics);
  }
};

// Whether the fix removes its mistake and makes none. `steps`: fixes of what it makes that may follow: `(` is
// inserted, and then the `)` that closes it.
testing::AssertionResult works(const Edited& file, const Outcome& before, const Diagnostic& found,
                               const Fix& fix, int steps) {
  Edited edited = file;
  edited.text = with_edits(file.text, fix.edits);
  Outcome after;
  edited.compile_into(after);
  const auto same = [&](const Diagnostic& each) {
    return each.code == found.code && each.message == found.message && each.span.begin == found.span.begin;
  };
  const auto& all = after.diagnostics.all();
  const std::string shown = fix.title + " of\n" + render_text(found, before.sources, {});
  if (std::any_of(all.begin(), all.end(), same)) return testing::AssertionFailure() << "it stays: " << shown;
  const Diagnostic* fresh = new_error(before, after, fix.edits.front());
  if (fresh == nullptr) return testing::AssertionSuccess();
  // A module that is found wants its inputs: another mistake, which nobody could see before.
  if (found.code == DiagCode::ModuleNotFound && fresh->code == DiagCode::InputMissing)
    return testing::AssertionSuccess();
  // Help has cases of its own; a value of the wrong type is another mistake than one that is written wrongly.
  const bool another = code_info(found.code).phase == Phase::Parse && fresh->code == DiagCode::WrongType;
  if (another || !fresh->help.empty()) return testing::AssertionSuccess();
  if (fresh->fixes.empty() || steps == 0)
    return testing::AssertionFailure() << shown << "made\n" << render_text(*fresh, after.sources, {});
  return works(edited, after, *fresh, fresh->fixes.front(), steps - 1) << "after " << shown;
}

// Goldens with two mistakes at one place: a fix of one leaves the other.
const std::set<std::string> kTwoAtOnePlace = {"bad-cut-off2.radl", "bad-radl2-exprs.radl",
                                              "bad-recipe-in-braces.radl"};

class Fixes : public testing::TestWithParam<fs::path> {};

TEST_P(Fixes, RemoveTheirMistakeAndMakeNone) {
  const fs::path source = GetParam();
  fs::current_path(source.parent_path());
  const std::string name = source.filename().string();
  const Edited file{name, *read_file(name), options_of(source)};
  Outcome before;
  file.compile_into(before);
  for (const Diagnostic& found : before.diagnostics.all()) {
    if (kTwoAtOnePlace.contains(name)) continue;
    const SourceFile* place = before.sources.find(found.span.file);
    if (place == nullptr || place->path() != name) continue;
    for (const Fix& fix : found.fixes) EXPECT_TRUE(works(file, before, found, fix, 2));
  }
}

INSTANTIATE_TEST_SUITE_P(Lang, Fixes, testing::ValuesIn(goldens()), [](const auto& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

}  // namespace
}  // namespace radl
