// Cases of the language in tests/lang/FOLDER/*.txt: what is expected, and a program that gets it.
//
// A case is `### EXPECTED` (`*` stands for anything), a program, and after a line `---`, if there is one, a
// second program. Lines before a program's own: `@input NAME=VALUE` and `@env NAME=VALUE` as the command line
// and the environment give them; `@lenient`: read as `radlc plan` does, not `radlc check`; `@utf16`: saved
// so; `@byte FF`: a byte. `@file PATH` begins another file of the program, `@also PATH` one that is compiled
// together with the first, `@golden PATH` compiles a file of tests/lang before it. `@left CODE`: an error
// that has another cause and stays.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/files.h"
#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "compiler/source/source.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {

inline const std::string kLanguageTests = source_dir() + "/tests/lang/";

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
inline bool matches(std::string_view pattern, std::string_view text) {
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

inline std::string utf16(const std::string& text) {
  std::string wide = "\xFF\xFE";
  for (char c : text) wide += std::string{c, '\0'};
  return wide;
}

inline void read_line(Files& files, std::string& at, bool& wide, const std::string& line) {
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
    const std::string path = std::filesystem::path(rest).filename().string();
    files.compiled.insert(files.compiled.end() - 1, path);
    files.texts[path] = *read_file(kLanguageTests + rest);
  } else if (word == "@file" || word == "@also") {
    at = rest;
    if (word == "@also") files.compiled.push_back(rest);
  } else {
    files.texts[at] += line + "\n";
  }
}

inline Files read_files(const std::vector<std::string>& lines) {
  Files files;
  files.options.environment["RADL_STDLIB"] = source_dir() + "/stdlib";
  std::string at = "main.radl";
  bool wide = false;
  for (const std::string& line : lines) read_line(files, at, wide, line);
  if (wide) files.texts["main.radl"] = utf16(files.texts["main.radl"]);
  return files;
}

inline std::vector<Case> read_cases(const std::string& folder) {
  std::vector<Case> cases;
  for (const auto& entry : std::filesystem::directory_iterator(kLanguageTests + folder)) {
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

struct Outcome {
  SourceMap sources;
  Diagnostics diagnostics;
  std::string text() const { return render_text(diagnostics, sources); }
};

inline void compile_files(const Files& files, Outcome& outcome) {
  TemporaryFolder folder;
  const std::filesystem::path was = std::filesystem::current_path();
  for (const auto& [path, text] : files.texts) {
    std::filesystem::create_directories((folder.path() / std::filesystem::path(path)).parent_path());
    std::ofstream(folder.path() / std::filesystem::path(path), std::ios::binary) << text;
  }
  std::filesystem::current_path(folder.path());
  compile(files.compiled, files.options, outcome.sources, outcome.diagnostics);
  std::filesystem::current_path(was);
}

// The name of a case for GoogleTest.
inline std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.where;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

}  // namespace radl::test
