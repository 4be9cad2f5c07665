// What to say about an error in a `radl 2` file: mistakes that have a message of their own, and what was
// expected.
#include <fmt/format.h>

#include "common/text.h"
#include "compiler/resources/resource_schema.h"
#include "compiler/syntax/radl2_tokens.h"
#include "compiler/syntax/words.h"

namespace radl {
namespace {

// Whether the line ends behind `x[` and what belongs to the index.
bool in_index(std::string_view line) {
  int closed = 0;
  for (size_t at = line.size(); at > 0; --at) {
    const char c = line[at - 1], before = at > 1 ? line[at - 2] : ' ';
    closed += c == ']';
    if (c != '[' || closed-- > 0) continue;
    return before == ']' || before == ')' || before == '_' || (before >= '0' && before <= '9') ||
           ((before | 32) >= 'a' && (before | 32) <= 'z');
  }
  return false;
}

// What other languages call a block.
std::string block_here(std::string_view word) {
  static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"variable", "`input NAME ( type = string, default = 'x' )`"},
      {"parameter", "`input NAME ( type = string, default = 'x' )`"},
      {"locals", "`let NAME = value`"},
      {"local", "`let NAME = value`"},
      {"var", "`let NAME = value`"},
      {"const", "`let NAME = value`"},
      {"def", "`let NAME = value`"},
      {"module", "`use 'PATH' as NAME ( input = value )`"},
      {"import", "`use 'PATH' as NAME ( input = value )`"},
      {"include", "`use 'PATH' as NAME ( input = value )`"},
      {"resource", "`system NAME ( ... )` for machines, and `configure NAME ( ... )` for what runs on them"},
      {"hosts", "`system NAME ( ... )`"},
      {"node", "`system NAME ( ... )`"},
      {"instance", "`system NAME ( ... )`"},
      {"tasks", "`configure NAME ( ... )`"},
      {"recipe", "`configure NAME ( ... )`"},
      {"role", "`configure NAME ( ... )`"},
      {"provider", "the cloud after the number, `deploy worker 2 ec2`, or `--cloud`"},
      {"for", "`each NAME in LIST ( ... )`"},
      {"foreach", "`each NAME in LIST ( ... )`"},
      {"check", "`assert ( condition, 'message' )`"},
      {"task", "`configure NAME ( program 'NAME' ( ... ) )`"},
      {"job", "`configure NAME ( program 'NAME' ( ... ) )`"},
      {"run", "`configure NAME ( command 'make install' )`"},
      {"setup", "`configure NAME ( command 'make install' )`"}};
  if (ir::find_resource_type(word) != nullptr)
    return fmt::format("a resource of a configure: `configure NAME ( {} 'NAME' ( ... ) )`", word);
  for (const auto& [other, ours] : kOthers)
    if (other == word) return std::string(ours);
  return {};
}

}  // namespace

void Radl2Tokens::report_junk(Span piece) {
  std::string_view rest = bytes_.substr(piece.begin);
  auto fixed = [&](std::string_view wrong, std::string_view right, std::string message) {
    Span whole = span(piece.begin, piece.begin + static_cast<uint32_t>(wrong.size()));
    error(DiagCode::UnexpectedToken, whole, std::move(message))
        .fix("write " + in_ticks(right), whole, std::string(right));
  };
  if (rest.starts_with("&&")) return fixed("&&", "and", "the operator is written `and`");
  if (rest.starts_with("||")) return fixed("||", "or", "the operator is written `or`");
  if (rest.starts_with("//")) return fixed("//", "#", "comments begin with `#`");
  if (rest.starts_with("!")) return fixed("!", "not ", "the operator is written `not`");
  if (rest.starts_with("?") || rest.starts_with("${")) {
    error(DiagCode::UnexpectedToken, piece, in_ticks(source_.text(piece)) + " means nothing here")
        .with_help(rest[0] == '?' ? "a choice is written `if condition then a else b`"
                                  : "`${ }` is allowed only inside strings: 'node-${n}'");
    return;
  }
  std::string_view line = bytes_.substr(0, piece.begin);
  bool behind_choice = line.substr(line.rfind('\n') + 1).find('?') != line.npos;
  if (rest.starts_with(":") && behind_choice) return;
  if (rest.starts_with(":") && in_index(line.substr(line.rfind('\n') + 1))) {
    error(DiagCode::UnexpectedToken, piece, "lists have no slices")
        .with_help("elements by their place: [x for i, x in LIST if i < 2]");
    return;
  }
  const std::string_view head = trim(line.substr(line.rfind('\n') + 1));
  const bool ends = trim(rest.substr(1, rest.find('\n') - 1)).empty();
  if (rest.starts_with(":") && ends && begins_radl2_block(head.substr(0, head.find(' ')))) {
    error(DiagCode::UnexpectedToken, piece, "a block has parentheses, no `:`")
        .with_help("the content of a block is in parentheses: `system worker ( ... )`");
    return;
  }
  if (rest.starts_with(":")) return fixed(":", "=", "a value is given with `=`");
  if (rest.starts_with(";")) {
    const std::string_view line_rest = trim(rest.substr(1, rest.find('\n') - 1));
    if (level().inside != Inside::Blocks && !line_rest.empty() && !line_rest.starts_with("#"))
      return fixed(";", ",", "entries are separated by a new line, a comma or `and`");
    const Span mark = span(piece.begin, piece.begin + 1);
    error(DiagCode::UnexpectedToken, mark, "lines do not end with `;`").fix("remove `;`", mark, "");
    return;
  }
  if (rest.starts_with("@input.")) {
    error(DiagCode::UnexpectedToken, piece, "`@input.NAME@` is RADL 1's: write `input.NAME`");
    return;
  }
  error(DiagCode::UnexpectedToken, piece, in_ticks(source_.text(piece)) + " means nothing here");
}

std::string Radl2Tokens::expectation(const std::vector<std::string_view>& expected) const {
  std::vector<std::string> words;
  bool value = has(expected, "number") && has(expected, "string") && has(expected, "[");
  bool block = has(expected, "system") && has(expected, "deploy");
  if (block) words.emplace_back("a block such as `system`");
  if (value) words.emplace_back("a value");
  if (has(expected, "=") && has(expected, "<"))
    words.emplace_back(level().ranges ? "`=`, `<=`, `>=`, `contains`" : "`=`");
  else if (has(expected, "="))
    words.emplace_back("`=`");
  if (!value && !block && has(expected, "name"))
    words.emplace_back(level().inside == Inside::Features    ? "a feature"
                       : level().inside == Inside::Resources ? "a resource"
                                                             : "a name");
  if (!value && has(expected, "string") && !has(expected, "name")) words.emplace_back("a string in quotes");
  if (has(expected, "+") && has(expected, "*")) words.emplace_back("an operator");
  if (has(expected, "end of the line")) words.emplace_back("a new line");
  if (has(expected, "( of a body")) words.emplace_back("`(`");
  for (std::string_view each :
       {")", "]", "}", ",", "as", "in", "then", "else", "configure", "recipe", "step"})
    if (has(expected, each) && words.size() < 5)
      words.push_back(each == "recipe" ? std::string("a recipe") : in_ticks(each));
  return one_of(words);
}

// Mistakes with a message of their own. True when that was all.
bool Radl2Tokens::known_mistake(const Token& found) {
  return mistake_of_head(found) || mistake_of_value(found) || mistake_of_block(found);
}

// In the text before a block's parentheses, and in conditions.
bool Radl2Tokens::mistake_of_head(const Token& found) {
  bool line_ends = found.kind == RawKind::Comma && found.span.size() == 0;
  bool deploy =
      level().inside == Inside::Blocks && level().keyword == RADL2_DEPLOY && before_last_ == RADL2_NAME;
  if (deploy && (line_ends || found.kind == RawKind::End || text(found) == "when")) {
    error(DiagCode::UnexpectedToken, here(before_last_token_.span.end),
          "`deploy` needs a number of nodes: `deploy " + std::string(text(before_last_token_)) + " 1`");
    return true;
  }
  if (deploy && found.kind == RawKind::Eq) {
    error(DiagCode::UnexpectedToken, found.span, "`deploy` has no `=`").fix("remove it", found.span, "");
    return true;
  }
  if (found.kind == RawKind::Minus && level().inside == Inside::Resources && before_last_ == RADL2_BODY) {
    const uint32_t from = before_last_token_.span.end;
    const uint32_t end = bare_recipe(from, found.span, false);
    if (end != 0) scan_from(end, from);
    return end != 0;
  }
  if (found.kind == RawKind::Open && level().inside == Inside::Resources && before_last_ == RADL2_NAME) {
    const std::string type(text(before_last_token_));
    error(DiagCode::UnexpectedToken, found.span, in_ticks(type) + " needs a name before its parentheses")
        .with_help("the name comes first: `package 'git' ( state = 'latest' )`");
    return true;
  }
  if (before_last_ == RADL2_RADL && found.span.size() == 0) {
    error(DiagCode::UnexpectedToken, before_last_token_.span,
          "`radl` and the version stand on one line: `radl 2`");
    return true;
  }
  if ((before_last_ == RADL2_ASSERT || before_last_ == RADL2_MOVED) && found.kind != RawKind::Open) {
    const bool asserts = before_last_ == RADL2_ASSERT;
    error(DiagCode::UnexpectedToken, found.span,
          asserts ? "a condition and its message stand in parentheses: `assert ( condition, 'message' )`"
                  : "two names stand in parentheses: `moved ( 'from', 'to' )`");
    return true;
  }
  if (before_last_ == RADL2_USE && found.kind != RawKind::Text && found.kind != RawKind::TextBegin) {
    error(DiagCode::UnexpectedToken, found.span, "a module is named by a string: `use './web' as web`");
    return true;
  }
  if (text(before_last_token_) == "when" && level().inside == Inside::Blocks &&
      level().keyword == RADL2_DEPLOY) {
    error(DiagCode::UnexpectedToken, found.span, "a condition is given with `=`")
        .fix("insert `=`", here(found.span.begin), "= ");
    return true;
  }
  bool condition = level().inside == Inside::Items || level().inside == Inside::Blocks;
  if (condition && text(found) == "when" && peek().kind != RawKind::Eq) {
    error(DiagCode::UnexpectedToken, found.span, "a condition is given with `=`")
        .fix("insert `=`", here(found.span.end), " =");
    return true;
  }
  return false;
}

// In features and their values.
bool Radl2Tokens::mistake_of_value(const Token& found) {
  if (found.kind == RawKind::EqEq && before_last_ == RADL2_NAME && level().inside != Inside::Expression) {
    error(DiagCode::ReversedOperator, found.span, "a feature takes `=`").fix("write `=`", found.span, "=");
    return true;
  }
  const bool after_equals = level().inside == Inside::Features && before_last_ == RADL2_EQ &&
                            found.span.begin == before_last_token_.span.end;
  if (after_equals && (found.kind == RawKind::Gt || found.kind == RawKind::Lt)) {
    const std::string right = found.kind == RawKind::Gt ? ">=" : "<=";
    const Span both = cover(before_last_token_.span, found.span);
    error(DiagCode::ReversedOperator, both, "the operator is written " + in_ticks(right))
        .fix("write " + in_ticks(right), both, right);
    return true;
  }
  if (found.kind == RawKind::And && (before_last_ == RADL2_SEP || before_last_ == RADL2_BODY)) {
    error(DiagCode::TrailingAnd, found.span,
          before_last_ == RADL2_SEP ? "duplicate `and`" : "`and` without a feature before it")
        .fix("remove it", found.span, "");
    return true;
  }
  bool marks = before_last_ == RADL2_TEXT && text(before_last_token_) == "\"\"" &&
               text(found).starts_with("\"") && found.span.begin == before_last_token_.span.end;
  if (marks) {
    error(DiagCode::UnexpectedToken, cover(before_last_token_.span, here(found.span.begin + 1)),
          "a string over several lines is no `\"\"\"` here")
        .with_help("it begins with `<<END` at the end of a line and ends with a line that holds END alone");
    return true;
  }
  if (before_last_ == RADL2_CONTAINS) {
    error(DiagCode::Ec3Only, before_last_token_.span,
          "`contains` before a value is EC3's; here it takes a group in parentheses");
    return true;
  }
  std::string_view word_before = text(before_last_token_);
  bool reference = found.kind == RawKind::Name && before_last_ == RADL2_NAME &&
                   level().inside == Inside::Features &&
                   (word_before == "system" || word_before == "network" || word_before == "configure" ||
                    word_before == "ansible" || word_before == "description");
  if (reference) {
    error(DiagCode::Ec3Only, cover(before_last_token_.span, found.span),
          "a value such as `" + std::string(word_before) + " name` is EC3's");
    return true;
  }
  return false;
}

// A word that begins no block, a block without a name, a string that is never closed.
bool Radl2Tokens::mistake_of_block(const Token& found) {
  bool block = level().inside == Inside::Blocks && level().words <= 1 && last_ == RADL2_NAME;
  if (block && found.kind == RawKind::Name) {
    Diagnostic& d = unknown_block(text(found), found.span, radl2_blocks());
    if (std::string ours = block_here(text(found)); !ours.empty()) {
      d.label.clear();
      d.fixes.clear();
      d.with_help("here it is " + ours);
    }
    return true;
  }
  if (found.kind == RawKind::End && !texts_.empty()) {
    error(DiagCode::UnclosedText, texts_.back(), "this string is never closed");
    stopped_ = true;
    return true;
  }
  bool needs_name = before_last_ == RADL2_SYSTEM || before_last_ == RADL2_NETWORK ||
                    before_last_ == RADL2_CONFIGURE || before_last_ == RADL2_INPUT ||
                    before_last_ == RADL2_OUTPUT || before_last_ == RADL2_DEPLOY;
  if (needs_name && level().inside == Inside::Blocks) {
    const char* word = before_last_ == RADL2_SYSTEM      ? "system"
                       : before_last_ == RADL2_NETWORK   ? "network"
                       : before_last_ == RADL2_CONFIGURE ? "configure"
                       : before_last_ == RADL2_INPUT     ? "input"
                       : before_last_ == RADL2_OUTPUT    ? "output"
                                                         : "deploy";
    Diagnostic& d = error(DiagCode::UnexpectedToken, found.span, in_ticks(word) + " needs a name");
    if (before_last_ == RADL2_DEPLOY && found.kind == RawKind::Number)
      d.with_help("the number comes after the name: `deploy worker 2`");
    return true;
  }
  return false;
}

}  // namespace radl
