// What the compiler advises compiles. tests/lang/advice has a case for each help: a program that gets it, and
// the program of somebody who followed it. The fixes of all goldens are applied here and compiled.
//
// A case of tests/lang/advice/*.txt is `### HELP` (`*` stands for anything), a program, `---`, the program
// that follows the help. Lines before a program's own: `@input NAME=VALUE` and `@env NAME=VALUE` as the
// command line and the environment give them; `@lenient`: read as `radlc plan` does, not `radlc check`;
// `@utf16`: saved so. `@byte FF`: a byte.
// `@file PATH` begins another file of the program, `@also PATH` one that is compiled together with the first,
// `@golden PATH` compiles a file of tests/lang before it. `@left CODE`: an error that has another cause and
// stays.
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
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

const std::string kRoot = test::source_dir() + "/tests/lang/";

struct Files {
  std::vector<std::string> compiled = {"main.radl"};
  std::map<std::string, std::string> texts;  // by path
  CompileOptions options;
  std::set<std::string> left;  // codes of errors that stay
};

struct Case {
  std::string where;  // "blocks.txt:12"
  std::string help;
  Files before, after;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.where << " " << one.help; }

// `*` in the pattern stands for anything.
bool matches(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == text;
  // `[*]` is written in helps themselves.
  if (star > 0 && pattern[star - 1] == '[')
    return text.starts_with(pattern.substr(0, star + 1)) &&
           matches(pattern.substr(star + 1), text.substr(std::min(star + 1, text.size())));
  if (!text.starts_with(pattern.substr(0, star))) return false;
  for (size_t at = star; at <= text.size(); ++at)
    if (matches(pattern.substr(star + 1), text.substr(at))) return true;
  return false;
}

std::string utf16(const std::string& text) {
  std::string wide = "\xFF\xFE";
  for (char c : text) wide += std::string{c, '\0'};
  return wide;
}

void read_line(Files& files, std::string& at, bool& wide, const std::string& line) {
  const size_t space = std::min(line.find(' '), line.size());
  const std::string word = line.substr(0, space), rest = line.substr(std::min(space + 1, line.size()));
  const size_t equals = std::min(rest.find('='), rest.size());
  const std::string name = rest.substr(0, equals), value = rest.substr(std::min(equals + 1, rest.size()));
  if (word == "@input") {
    files.options.inputs[name] = value;
  } else if (word == "@env") {
    files.options.environment[name] = value;
  } else if (word == "@lenient") {
    files.options.lenient = true;
  } else if (word == "@utf16") {
    wide = true;
  } else if (word == "@byte") {
    files.texts[at] += static_cast<char>(std::stoi(rest, nullptr, 16));
  } else if (word == "@left") {
    files.left.insert(rest);
  } else if (word == "@golden") {
    const std::string path = fs::path(rest).filename().string();
    files.compiled.insert(files.compiled.end() - 1, path);
    files.texts[path] = *read_file(kRoot + rest);
  } else if (word == "@file" || word == "@also") {
    at = rest;
    if (word == "@also") files.compiled.push_back(rest);
  } else {
    files.texts[at] += line + "\n";
  }
}

Files read_files(const std::vector<std::string>& lines) {
  Files files;
  files.options.environment["RADL_STDLIB"] = test::source_dir() + "/stdlib";
  std::string at = "main.radl";
  bool wide = false;
  for (const std::string& line : lines) read_line(files, at, wide, line);
  if (wide) files.texts["main.radl"] = utf16(files.texts["main.radl"]);
  return files;
}

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  for (const auto& entry : fs::directory_iterator(kRoot + "advice")) {
    std::ifstream file(entry.path());
    std::vector<std::string> before, after;
    bool following = false;
    const auto finish = [&] {
      if (cases.empty() || before.empty()) return;
      cases.back().before = read_files(before);
      cases.back().after = read_files(after);
      before.clear();
      after.clear();
      following = false;
    };
    int number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      if (line.starts_with("### ")) {
        finish();
        cases.push_back(
            {entry.path().filename().string() + ":" + std::to_string(number), line.substr(4), {}, {}});
      } else if (line == "---") {
        following = true;
      } else {
        (following ? after : before).push_back(line);
      }
    }
    finish();
  }
  return cases;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = read_cases();
  return all;
}

struct Outcome {
  SourceMap sources;
  Diagnostics diagnostics;
  std::string text() const { return render_text(diagnostics, sources); }
};

void compile_files(const Files& files, Outcome& outcome) {
  test::TemporaryFolder folder;
  const fs::path was = fs::current_path();
  for (const auto& [path, text] : files.texts) {
    fs::create_directories((folder.path() / fs::path(path)).parent_path());
    std::ofstream(folder.path() / fs::path(path), std::ios::binary) << text;
  }
  fs::current_path(folder.path());
  compile(files.compiled, files.options, outcome.sources, outcome.diagnostics);
  fs::current_path(was);
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

INSTANTIATE_TEST_SUITE_P(Lang, Advice, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.where;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

// ---- no help without a case

// The longest piece of a text between `{}` and quotes: what a case's help must hold.
std::string longest_piece(std::string literal) {
  literal = std::regex_replace(literal, std::regex(R"(\{\{)"), "\x01");
  literal = std::regex_replace(literal, std::regex(R"(\}\})"), "\x02");
  std::string longest;
  static const std::regex holes(R"(\{[^{}]*\})");
  for (std::sregex_token_iterator piece(literal.begin(), literal.end(), holes, -1), end; piece != end;
       ++piece)
    if (piece->length() > static_cast<long>(longest.size())) longest = *piece;
  std::replace(longest.begin(), longest.end(), '\x01', '{');
  std::replace(longest.begin(), longest.end(), '\x02', '}');
  return longest;
}

// A C++ literal's text; adjacent ones are joined before.
std::string unescaped(const std::string& literal) {
  std::string text;
  for (size_t i = 0; i < literal.size(); ++i) {
    if (literal[i] != '\\' || i + 1 == literal.size()) {
      text += literal[i];
      continue;
    }
    text += literal[++i];
  }
  return text;
}

// The literals from `at` to the end of the statement, or of the call whose parenthesis opens at `at`.
std::vector<std::string> literals_in(const std::string& code, size_t at) {
  const bool call = code[at] == '(';
  std::vector<std::string> found;
  int open = 0;
  bool adjacent = false;
  for (size_t i = at; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '"') {
      std::string text;
      for (++i; i < code.size() && code[i] != '"'; ++i) {
        text += code[i];
        if (code[i] == '\\') text += code[++i];
      }
      if (adjacent)
        found.back() += text;
      else
        found.push_back(text);
      adjacent = true;
      continue;
    }
    if (c == '\'' && (code[i + 2] == c || code[i + 1] == '\\')) i += code[i + 1] == '\\' ? 3 : 2;
    if (std::isspace(static_cast<unsigned char>(c))) continue;
    adjacent = false;
    open += c == '(';
    open -= c == ')';
    if (c == ';' || (call && open == 0)) break;
  }
  for (std::string& each : found) each = unescaped(each);
  return found;
}

// What no text of a program follows: advice about the installation and `radlc vendor`.
const std::set<std::string> kNotOfPrograms = {
    "the standard library is not installed beside this program; RADL_STDLIB can name its folder",
    "only one that came from this computer itself can, by a whole path",
    "`radlc vendor` brings again what is locked; `radlc vendor --update` takes another version",
    "it holds no .radl file",
    "`chmod +x ",
    "it has '",
    " is not in ",
    "`radlc vendor` brings it"};

// The arguments of the call whose parenthesis opens at `at`.
std::vector<std::string> arguments_at(const std::string& code, size_t at) {
  std::vector<std::string> found;
  int open = 0;
  for (size_t i = at, begin = at + 1; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '"' || (c == '\'' && (code[i + 2] == c || code[i + 1] == '\\'))) {
      for (++i; i < code.size() && code[i] != c; ++i) i += code[i] == '\\';
      continue;
    }
    open += c == '(' || c == '[' || c == '{';
    open -= c == ')' || c == ']' || c == '}';
    if ((c == ',' && open == 1) || open == 0) {
      found.push_back(code.substr(begin, i - begin));
      begin = i + 1;
    }
    if (open == 0) break;
  }
  return found;
}

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
    for (const auto& entry : fs::directory_iterator(kRoot + folder))
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
