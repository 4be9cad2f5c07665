// Properties of the formatter on every RADL file of this repository, and of the folders in RADL_CORPUS
// (separated by colons) where that is set: the tree stays, comments and recipes stay byte for byte, a second
// run changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/files.h"
#include "compiler/syntax/parser.h"
#include "tests/support/paths.h"
#include "tools/fmt/format.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> corpus() {
  std::string folders;
  for (const char* each : {"/examples", "/stdlib", "/tests"})
    folders += (folders.empty() ? "" : ":") + test::source_dir() + each;
  if (const char* more = std::getenv("RADL_CORPUS")) folders += ":" + std::string(more);
  std::vector<std::string> files;
  for (size_t at = 0; at < folders.size();) {
    size_t end = std::min(folders.find(':', at), folders.size());
    std::error_code error;
    for (fs::recursive_directory_iterator it(folders.substr(at, end - at), error), stop; !error && it != stop;
         it.increment(error)) {
      if (it->path().extension() == ".radl") files.push_back(it->path().string());
    }
    at = end + 1;
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Comments and recipes in order.
std::vector<std::string> kept(const ast::Tree& tree) {
  std::vector<std::string> texts;
  for (const ast::Trivia& trivia : tree.trivia) {
    if (trivia.kind == ast::TriviaKind::Comment) texts.emplace_back(tree.source->text(trivia.span));
  }
  for (const ast::Block* sentence : tree.blocks) {
    auto* configure = ast::as<ast::Configure>(sentence);
    if (configure && configure->recipe) texts.emplace_back(configure->recipe->text);
  }
  return texts;
}

TEST(FormatCorpus, MeaningCommentsAndRecipesStay) {
  size_t looked_at = 0;
  for (const std::string& path : corpus()) {
    auto bytes = read_file(path);
    ASSERT_TRUE(bytes.ok()) << path;
    Diagnostics diagnostics;
    SourceFile source(1, path, *bytes);
    auto tree = parse(source, diagnostics);
    auto once = formatter::format(source, diagnostics);
    if (tree->syntax_errors) {
      // Inputs that are filled in later are no reason to leave a file alone, all else is.
      Diagnostics found;
      parse(source, found);
      bool only_inputs = std::all_of(
          found.all().begin(), found.all().end(),
          [](const Diagnostic& diagnostic) { return diagnostic.code == DiagCode::UnreplacedInput; });
      EXPECT_EQ(once.ok(), only_inputs) << path;
      if (!once.ok()) continue;
      auto twice = formatter::format(SourceFile(2, path, *once), diagnostics);
      ASSERT_TRUE(twice.ok()) << path;
      EXPECT_EQ(*once, *twice) << path;
      continue;
    }
    ASSERT_TRUE(once.ok()) << path << ": " << once.status().message();
    SourceFile again(2, path, *once);
    auto tree_again = parse(again, diagnostics);
    EXPECT_TRUE(formatter::same_meaning(*tree, *tree_again)) << path;
    EXPECT_EQ(kept(*tree), kept(*tree_again)) << path;
    auto twice = formatter::format(again, diagnostics);
    ASSERT_TRUE(twice.ok()) << path;
    EXPECT_EQ(*once, *twice) << path;
    ++looked_at;
  }
  EXPECT_GT(looked_at, 0u);
}

// What we ship is in the formatter's own style.
TEST(FormatCorpus, ExamplesAndLibraryAreFormatted) {
  for (const char* folder : {"/examples", "/stdlib"}) {
    std::error_code error;
    for (fs::recursive_directory_iterator it(test::source_dir() + std::string(folder), error), stop;
         !error && it != stop; it.increment(error)) {
      if (it->path().extension() != ".radl") continue;
      auto bytes = read_file(it->path().string());
      ASSERT_TRUE(bytes.ok());
      Diagnostics diagnostics;
      auto formatted = formatter::format(SourceFile(1, it->path().string(), *bytes), diagnostics);
      ASSERT_TRUE(formatted.ok()) << it->path() << ": " << formatted.status().message();
      EXPECT_EQ(*formatted, *bytes) << it->path() << " is not formatted: radlc fmt it";
    }
  }
}

TEST(FormatCorpus, DamagedFilesAreFormattedOrLeftAlone) {
  // Every prefix of a file at a line end, and the file with one line missing: format either succeeds with the
  // checks that it makes itself, or says Invalid. Internal would be a fault of the formatter.
  size_t formatted = 0;
  for (const std::string& path : corpus()) {
    auto bytes = read_file(path);
    ASSERT_TRUE(bytes.ok());
    if (bytes->size() > 4000) continue;
    for (size_t at = bytes->find('\n'); at != std::string::npos; at = bytes->find('\n', at + 1)) {
      size_t next = std::min(bytes->find('\n', at + 1), bytes->size() - 1);
      for (const std::string& text : {bytes->substr(0, at), bytes->substr(0, at) + bytes->substr(next)}) {
        Diagnostics diagnostics;
        auto result = formatter::format(SourceFile(1, path, text), diagnostics);
        EXPECT_TRUE(result.ok() || result.status().code() == Code::Invalid) << path << ":\n" << text;
        formatted += result.ok() ? 1 : 0;
      }
    }
  }
  EXPECT_GT(formatted, 0u);
}

}  // namespace
}  // namespace radl
