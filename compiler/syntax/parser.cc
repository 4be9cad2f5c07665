#include "compiler/syntax/parser.h"

#include <algorithm>
#include <optional>

#include "compiler/syntax/allow.h"
#include "compiler/syntax/builder.h"
#include "compiler/syntax/older.h"
#include "compiler/syntax/radl2_builder.h"
#include "compiler/syntax/radl2_tokens.h"
#include "compiler/syntax/text_end.h"
#include "compiler/syntax/token_stream.h"
#include "compiler/syntax/version.h"
#include "compiler/syntax/words.h"

namespace radl {
namespace {

std::unique_ptr<ast::Tree> new_tree(const SourceFile& source, bool version2) {
  auto tree = std::make_unique<ast::Tree>();
  tree->source = &source;
  tree->dialect = version2 ? ast::Dialect::Radl2 : ast::Dialect::Radl1;
  return tree;
}

void check_encoding(const SourceFile& source, Diagnostics& diagnostics) {
  size_t at = source.invalid_utf8();
  if (at == std::string::npos) return;
  uint32_t begin = static_cast<uint32_t>(at);
  diagnostics.report(DiagCode::NotUtf8, {source.id(), begin, begin + 1}, "this byte is not UTF-8");
}

// UTF-16, programs and images are not text with errors, so one finding is enough. Control characters
// distinguish them from text in an older encoding, of which only the non-UTF-8 bytes are wrong. RADL 1 skips
// a stray NUL like its reference; no text of `radl 2` contains one.
bool report_not_text(const SourceFile& source, bool version2, Diagnostics& diagnostics) {
  constexpr size_t kLooked = 4096;
  std::string_view text = source.text(), head = text.substr(0, kLooked);
  bool mark = head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF");
  size_t controls = 0, nuls = 0, odd_nuls = 0, high = 0;
  for (size_t i = 0; i < head.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(head[i]);
    nuls += c == 0;
    odd_nuls += c == 0 && i % 2 == 1;
    controls += c < 0x20 && c != '\t' && c != '\n' && c != '\f' && c != '\v';
    high += c >= 0x80;
  }
  bool broken = source.invalid_utf8() < kLooked;
  bool binary = nuls * 10 > head.size() || (broken && controls > 0 && (controls + high) * 8 > head.size());
  if (size_t nul = text.find('\0'); version2 && !mark && !binary && nul != text.npos) {
    auto at = static_cast<uint32_t>(nul);
    diagnostics.report(DiagCode::NotUtf8, {source.id(), at, at + 1}, "this is not a text file: a NUL byte");
    return true;
  }
  if (!mark && !binary) return false;
  auto& report = diagnostics.report(DiagCode::NotUtf8, {source.id(), 0, 0}, "this is not a text file");
  size_t one_side = std::max(odd_nuls, nuls - odd_nuls);  // where UTF-16 has the upper half of a letter
  if (mark || (nuls * 3 > head.size() && one_side * 20 > nuls * 19))
    report.with_help("it looks like UTF-16: save it as UTF-8");
  return true;
}

// RADL-JSON is for `radlc convert`; the brackets, quotes and commas of which RADL 1 skips each would be a
// finding.
bool report_json(const SourceFile& source, Diagnostics& diagnostics) {
  std::string_view rest = source.text();
  auto skip = [&](std::string_view sign) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
    const bool there = rest.starts_with(sign);
    if (there) rest.remove_prefix(sign.size());
    return there;
  };
  skip("[");
  if (!skip("{") || !skip("\"")) return false;
  const size_t end = std::min(rest.find('"'), rest.size());
  const std::string_view key = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (!skip(":")) return false;
  // Behind skipped signs `network` would begin a block all the same.
  for (std::string_view word : radl1_blocks())
    if (key.find(word) != key.npos) return false;
  diagnostics
      .report(DiagCode::UnexpectedToken, {source.id(), 0, 0},
              "this is JSON, which only `radlc convert` reads")
      .with_help("`radlc convert` makes RADL of a document in RADL-JSON");
  return true;
}

std::unique_ptr<ast::Tree> read_radl2(const SourceFile& source, Diagnostics& diagnostics,
                                      Radl2Tokens::Entry entry = Radl2Tokens::Entry::Document) {
  auto tree = new_tree(source, true);
  Radl2Builder build(source, *tree, diagnostics);
  Radl2Tokens tokens(source, *tree, diagnostics, entry);
  if (radl2_grammar_parse(tokens, build) != 0) tree->syntax_errors = true;
  return tree;
}

std::unique_ptr<ast::Tree> read_radl1(const SourceFile& source, Diagnostics& diagnostics) {
  auto tree = new_tree(source, false);
  Builder build(source, *tree, diagnostics);
  TokenStream tokens(source, *tree, diagnostics, build);
  if (radl_grammar_parse(tokens, build) != 0) tree->syntax_errors = true;
  tokens.report_junk();
  return tree;
}

}  // namespace

TextEnd read_end(const SourceFile& source, bool radl2) {
  TextEnd end;
  Diagnostics ignored;
  auto tree = new_tree(source, radl2);
  if (radl2) {
    Radl2Builder build(source, *tree, ignored);
    Radl2Tokens tokens(source, *tree, ignored, Radl2Tokens::Entry::Document, &end);
    radl2_grammar_parse(tokens, build);
  } else {
    Builder build(source, *tree, ignored);
    TokenStream tokens(source, *tree, ignored, build, &end);
    radl_grammar_parse(tokens, build);
  }
  return end;
}

namespace {

std::unique_ptr<ast::Tree> read_as(const SourceFile& source, bool version2, Diagnostics& diagnostics) {
  return version2 ? read_radl2(source, diagnostics) : read_radl1(source, diagnostics);
}

// The line that begins the first conflict that a merge left in the text; nullopt when there is none.
std::optional<Span> merge_conflict(const SourceFile& source) {
  std::string_view text = source.text();
  auto line = [&](std::string_view mark, size_t from) {
    for (size_t at = text.find(mark, from); at != text.npos; at = text.find(mark, at + 1))
      if (at == 0 || text[at - 1] == '\n') return at;
    return text.npos;
  };
  size_t begin = line("<<<<<<< ", 0), middle = begin == text.npos ? begin : line("=======\n", begin);
  if (middle == text.npos || line(">>>>>>> ", middle) == text.npos) return std::nullopt;
  size_t end = text.find('\n', begin);
  return Span{source.id(), static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

// The word of the first block that RADL 1 does not have: nothing of RADL 1 looks like these.
std::optional<Span> word_of_radl2(const ast::Tree& tree) {
  for (const ast::Block* block : tree.blocks) {
    if (block->kind != ast::Kind::General) continue;
    const ast::Name& keyword = static_cast<const ast::FeatureBlock*>(block)->keyword;
    if (keyword.text == "input" || keyword.text == "output") return keyword.span;
  }
  std::string_view text = tree.source->text();
  for (const auto& [begin, inside] : {std::pair("use '", "' as "), std::pair("let ", " = ")})
    for (size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1))
      if ((at == 0 || text[at - 1] == '\n') &&
          text.substr(at, text.find('\n', at) - at).find(inside) != text.npos)
        return Span{tree.source->id(), static_cast<uint32_t>(at), static_cast<uint32_t>(at) + 3};
  return std::nullopt;
}

void needs_radl2(const SourceFile& source, Span word, Diagnostics& diagnostics) {
  diagnostics
      .report(DiagCode::NeedsRadl2, word,
              "`" + std::string(source.text(word)) + "` needs `radl 2` as the first line of the file")
      .fix("begin the file with `radl 2`", Span{source.id(), 0, 0}, "radl 2\n");
}

// What looks like a feature of a system that RADL 1 does not have. The text tells, because an error may have
// dropped the feature.
std::optional<Span> feature_of_radl2(const SourceFile& source) {
  const std::string_view text = source.text();
  for (std::string_view word : {"count", "cloud", "networks", "disks"})
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      const size_t behind = text.find_first_not_of(' ', at + word.size());
      const bool begins = at > 0 && std::string_view(" \t\n(,").find(text[at - 1]) != text.npos;
      if (begins && behind != text.npos && text[behind] == '=')
        return Span{source.id(), static_cast<uint32_t>(at), static_cast<uint32_t>(at + word.size())};
    }
  return std::nullopt;
}

std::unique_ptr<ast::Tree> read(const SourceFile& source, Diagnostics& diagnostics) {
  bool version2 = begins_with_version(source.text());
  if (report_not_text(source, version2, diagnostics) || report_json(source, diagnostics)) {
    auto tree = new_tree(source, version2);
    tree->syntax_errors = true;
    return tree;
  }
  find_allows(source, diagnostics);
  check_encoding(source, diagnostics);
  Diagnostics before = diagnostics;
  auto tree = read_as(source, version2, diagnostics);
  if (!tree->syntax_errors && tree->ec3_uses.empty()) return tree;
  // One mistake explains all that was found: it is reported alone, or with what is wrong apart from it.
  if (auto conflict = merge_conflict(source)) {
    diagnostics = before;
    tree = new_tree(source, version2);
    diagnostics.report(DiagCode::UnexpectedToken, *conflict, "a merge left its conflict here")
        .with_help("keep one of the two versions, and remove the lines <<<<<<<, ======= and >>>>>>>");
  } else if (!tree->syntax_errors) {
    return tree;
  } else if (auto word = version2 ? std::nullopt : word_of_radl2(*tree)) {
    diagnostics = before;
    tree = read_as(source, true, diagnostics);
    needs_radl2(source, *word, diagnostics);
  } else if (auto feature = version2 ? std::nullopt : feature_of_radl2(source)) {
    auto read = read_as(source, true, before);
    if (read->syntax_errors) return tree;
    tree = std::move(read);
    diagnostics = before;
    needs_radl2(source, *feature, diagnostics);
  }
  tree->syntax_errors = true;
  return tree;
}

// In a file that is not EC3's, each use of EC3's grammar is what the reference parser calls it: an error.
void refuse(const ast::Ec3Use& use, Diagnostics& diagnostics) {
  std::string word(use.word.text);
  switch (use.what) {
    case ast::Ec3Use::What::ContainsValue:
      diagnostics.report(DiagCode::Ec3Only, use.span,
                         "`contains` before a value is EC3's; here it takes a group in "
                         "parentheses");
      return;
    case ast::Ec3Use::What::ReferenceValue:
      diagnostics.report(DiagCode::Ec3Only, use.span, "a value such as `" + word + " name` is EC3's");
      return;
    case ast::Ec3Use::What::LateDescription:
      diagnostics.report(DiagCode::DescriptionPlace, use.span,
                         "`description` is allowed once, before all other blocks");
      return;
    case ast::Ec3Use::What::KeywordAsName:
      diagnostics.report(DiagCode::KeywordAsName, use.span,
                         "`" + word + "` is a reserved word and cannot be a name");
      return;
    case ast::Ec3Use::What::GeneralBlock:
      report_unknown_block(word, use.span, diagnostics);
      return;
  }
}

// A line of prose, or a comment of another language, is one mistake and not one for each word.
std::vector<ast::Ec3Use> one_a_line(const ast::Tree& tree, Diagnostics& diagnostics) {
  std::vector<ast::Ec3Use> out;
  int reported = 0;
  for (const ast::Ec3Use& use : tree.ec3_uses) {
    if (use.what != ast::Ec3Use::What::GeneralBlock) {
      out.push_back(use);
      continue;
    }
    int line = tree.source->line_of(use.span.begin);
    if (line == reported) continue;
    reported = line;
    const ast::Trivia* mark = nullptr;
    auto piece =
        std::lower_bound(tree.trivia.begin(), tree.trivia.end(), tree.source->line_begin(line),
                         [](const ast::Trivia& each, uint32_t begin) { return each.span.begin < begin; });
    for (; piece != tree.trivia.end() && piece->span.begin < use.span.begin; ++piece)
      if (piece->kind == ast::TriviaKind::Junk && foreign_comment_mark(tree.source->text(piece->span)))
        mark = &*piece;
    if (mark)
      diagnostics.report(DiagCode::UnexpectedToken, mark->span, "comments begin with `#`")
          .fix("write `#`", mark->span, "#");
    else
      out.push_back(use);
  }
  return out;
}

void settle_dialect(ast::Tree& tree, bool ec3, Diagnostics& diagnostics) {
  if (tree.dialect == ast::Dialect::Radl1 && ec3) {
    tree.dialect = ast::Dialect::Ec3;
    return;
  }
  for (const ast::Ec3Use& use : one_a_line(tree, diagnostics)) refuse(use, diagnostics);
  if (!tree.ec3_uses.empty()) tree.syntax_errors = true;
}

// Only spaces is a document; only comments, or only a description, is not.
void check_empty(const ast::Tree& tree, Diagnostics& diagnostics) {
  if (tree.dialect == ast::Dialect::Ec3 || tree.syntax_errors) return;
  bool any = false;
  for (const ast::Block* block : tree.blocks)
    any |= block->kind != ast::Kind::Description && block->kind != ast::Kind::Version;
  if (any || (tree.blocks.empty() && tree.trivia.empty())) return;
  diagnostics.report(DiagCode::EmptyDocument, tree.source->whole(), "the document has no block")
      .with_help(
          "a document needs at least one network, system, configure, deploy, contextualize or ansible");
}

}  // namespace

bool begins_with_version(std::string_view text) {
  for (;;) {
    size_t at = text.find_first_not_of(" \t\n");
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at);
    if (text[0] != '#') break;
    size_t line = text.find('\n');
    if (line == std::string_view::npos) return false;
    text.remove_prefix(line);
  }
  if (!text.starts_with("radl")) return false;
  text.remove_prefix(4);
  size_t at = text.find_first_not_of(" \t\n");
  return at != std::string_view::npos && at > 0 && text[at] >= '0' && text[at] <= '9';
}

std::vector<std::unique_ptr<ast::Tree>> parse_all(const std::vector<const SourceFile*>& sources,
                                                  Diagnostics& diagnostics, const ParseOptions& options) {
  std::vector<std::unique_ptr<ast::Tree>> trees;
  bool ec3 = options.dialect == DialectChoice::Ec3;
  for (const SourceFile* source : sources) {
    trees.push_back(read(*source, diagnostics));
    if (options.dialect == DialectChoice::Auto) ec3 |= trees.back()->ec3_mark;
  }
  for (auto& tree : trees) {
    settle_dialect(*tree, ec3, diagnostics);
    check_empty(*tree, diagnostics);
  }
  return trees;
}

std::unique_ptr<ast::Tree> parse(const SourceFile& source, Diagnostics& diagnostics,
                                 const ParseOptions& options) {
  return std::move(parse_all({&source}, diagnostics, options).front());
}

std::unique_ptr<ast::Tree> parse_older(const SourceFile& source, Diagnostics& diagnostics) {
  return read_radl2(source, diagnostics, Radl2Tokens::Entry::OlderDocument);
}

namespace {

ParsedExpression parse_value(const SourceFile& source, Diagnostics& diagnostics, Radl2Tokens::Entry entry) {
  ParsedExpression out;
  out.tree = new_tree(source, true);
  check_encoding(source, diagnostics);
  Radl2Builder build(source, *out.tree, diagnostics);
  Radl2Tokens tokens(source, *out.tree, diagnostics, entry);
  if (radl2_grammar_parse(tokens, build) != 0) out.tree->syntax_errors = true;
  for (const ast::Ec3Use& use : out.tree->ec3_uses) refuse(use, diagnostics);
  out.value = build.expression();
  if (!out.value || out.tree->syntax_errors) out.value = build.error_value(source.whole());
  return out;
}

}  // namespace

ParsedExpression parse_expression(const SourceFile& source, Diagnostics& diagnostics) {
  return parse_value(source, diagnostics, Radl2Tokens::Entry::Expression);
}

ParsedExpression parse_template(const SourceFile& source, Diagnostics& diagnostics) {
  return parse_value(source, diagnostics, Radl2Tokens::Entry::Template);
}

}  // namespace radl
