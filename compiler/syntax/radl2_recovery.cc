// After an error in a `radl 2` file: what to say, and from where reading goes on.
#include <algorithm>

#include "common/text.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/radl2_tokens.h"
#include "compiler/syntax/unicode.h"

namespace radl {
namespace {

constexpr std::string_view kBlockWords[] = {"radl",  "description", "network",   "system", "ansible",
                                            "input", "output",      "let",       "assert", "moved",
                                            "use",   "each",        "configure", "deploy", "contextualize"};

bool is_block_word(std::string_view word) {
  return std::find(std::begin(kBlockWords), std::end(kBlockWords), word) != std::end(kBlockWords);
}

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
std::string_view block_here(std::string_view word) {
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
      {"resource",
       "`system NAME ( ... )` for machines; what is done on them stands in `configure NAME ( ... )`"},
      {"hosts", "`system NAME ( ... )`"},
      {"node", "`system NAME ( ... )`"},
      {"instance", "`system NAME ( ... )`"},
      {"tasks", "`configure NAME ( ... )`"},
      {"recipe", "`configure NAME ( ... )`"},
      {"role", "`configure NAME ( ... )`"},
      {"provider", "the cloud behind the number, `deploy worker 2 ec2`, or `--cloud`"},
      {"for", "`each NAME in LIST ( ... )`"},
      {"foreach", "`each NAME in LIST ( ... )`"},
      {"check", "`assert ( condition, 'message' )`"}};
  for (const auto& [other, ours] : kOthers)
    if (other == word) return ours;
  return {};
}

}  // namespace

bool Radl2Tokens::first_column(const Token& token) const {
  return token.span.begin == 0 || bytes_[token.span.begin - 1] == '\n';
}

// Characters that begin no token. A run of them is one mistake. True when what was skipped stands for a
// string.
bool Radl2Tokens::junk(const RawToken& raw) {
  Span piece = keep_junk(raw);
  if (!piece.known()) return false;
  std::string_view rest = bytes_.substr(piece.begin);
  if (!rest.starts_with("'") && !rest.starts_with("\"") && !rest.starts_with("<<")) {
    junk_.push_back(piece);
    junk_lines_.insert(line_end(piece.begin));
    return false;
  }
  Span shown = span(piece.begin, line_end(piece.begin));
  uint32_t end = shown.end;
  if (rest[0] == '<') {
    end = unclosed_block(shown);
  } else {
    error(DiagCode::UnclosedText, shown, "this string is never closed").labelled("no quote ends it");
    end = before_closers(shown);
  }
  resumed_at_ = end;
  scanner_.seek(end);
  scanned_to_ = end;
  return end > shown.end;
}

// Reports it. Where reading goes on: behind the line that was meant to end it, if there is one.
uint32_t Radl2Tokens::unclosed_block(Span begin) {
  Diagnostic& made = error(DiagCode::UnclosedText, begin, "this block of text never ends");
  made.with_help("it begins with `<<NAME` at the end of a line and ends with a line that holds NAME alone");
  std::string_view first = source_.text(begin);
  size_t from = std::min(first.find_first_not_of("<-~'"), first.size());
  std::string mark(first.substr(from, first.find_first_of("' \t", from) - from));
  for (uint32_t line = begin.end; !mark.empty() && line < bytes_.size(); line = line_end(line)) {
    size_t word = bytes_.find_first_not_of(" \t", ++line);
    if (word == bytes_.npos || !bytes_.substr(word).starts_with(mark)) continue;
    if (bytes_.find_first_of(" \t-.,;:)]}", word + mark.size()) != word + mark.size()) continue;
    made.note(span(static_cast<uint32_t>(word), line_end(line)),
              in_ticks(mark) + " is not alone on this line");
    return line_end(line);
  }
  return begin.end;
}

// Where the brackets at the end of a line begin, as many as are open.
uint32_t Radl2Tokens::before_closers(Span line) const {
  uint32_t end = line.end;
  size_t open = levels_.size() - 1;
  for (uint32_t at = line.end; at > line.begin + 1 && open > 0; --at) {
    char c = bytes_[at - 1];
    if (c == ')' || c == ']' || c == '}') {
      end = at - 1;
      --open;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      break;
    }
  }
  return end;
}

void Radl2Tokens::report_junk(uint32_t before) {
  size_t done = 0;
  while (done < junk_.size() && junk_[done].begin < before) report_junk(junk_[done++]);
  junk_.erase(junk_.begin(), junk_.begin() + static_cast<std::ptrdiff_t>(done));
}

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
                                  : "`${ }` stands inside of strings: 'node-${n}'");
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
  if (rest.starts_with(":")) return fixed(":", "=", "a value is given with `=`");
  if (rest.starts_with(";")) return fixed(";", ",", "entries are separated by a new line, a comma or `and`");
  if (rest.starts_with("@input.")) {
    error(DiagCode::UnexpectedToken, piece, "`@input.NAME@` is RADL 1's: write `input.NAME`");
    return;
  }
  error(DiagCode::UnexpectedToken, piece, in_ticks(source_.text(piece)) + " means nothing here");
}

// `x = max(1, 2` and on the next line `y = 3`: inside an expression a name before `=` can only be a named
// argument, which stands behind `(` or a comma.
bool Radl2Tokens::expression_left_open(const Token& token) {
  if (level().inside != Inside::Expression || level().closer == RawKind::CloseInterpolation) return false;
  if (!token.new_line || token.kind != RawKind::Name || last_ == RADL2_LPAREN || last_ == RADL2_COMMA)
    return false;
  return peek(1).kind == RawKind::Eq && levels_.size() > 2;
}

// The file ends, or a block begins in the first column, inside of brackets.
bool Radl2Tokens::unclosed(const Token& token) {
  if (levels_.size() == 1) return false;
  if (token.kind == RawKind::End) return true;
  if (expression_left_open(token)) return true;
  if (!token.new_line || !first_column(token) || !texts_.empty()) return false;
  std::string_view word = text(token);
  if (!is_block_word(word) || level().inside == Inside::Blocks) return false;
  if (word == "each" && (level().inside == Inside::Resources || level().inside == Inside::Items))
    return false;
  std::string_view behind = text(peek(1)), third = text(peek(2));
  if (word == "contextualize" || word == "assert" || word == "moved")
    return peek(1).kind == RawKind::Open && level().words == 0;
  if (peek(1).kind != RawKind::Name && peek(1).kind != RawKind::Text) return false;
  if (level().inside == Inside::Items && (third == "configure" || third == "[" || behind == "["))
    return false;
  if (level().inside == Inside::Resources && peek(1).kind == RawKind::Text) return word == "use";
  return third != "=" && third != "contains";
}

Diagnostic& Radl2Tokens::report_unclosed(bool on_its_line) {
  std::string closer = level().closer == RawKind::Close       ? ")"
                       : level().closer == RawKind::CloseList ? "]"
                                                              : "}";
  return error(DiagCode::UnclosedParenthesis, level().open,
               "this " + in_ticks(source_.text(level().open)) + " is never closed")
      .fix("insert `" + closer + "`", here(last_token_.span.end), on_its_line ? closer : "\n" + closer);
}

void Radl2Tokens::close_all(const Token& before) {
  bool part = before.kind != RawKind::End && expression_left_open(before);
  Diagnostic& d = report_unclosed(part);
  if (before.kind != RawKind::End)
    d.note(before.span, part ? "the next feature begins here" : "the next block begins here");
  if (stopped_) return;
  size_t keep = 1;
  if (part)
    for (keep = levels_.size(); keep > 1 && levels_[keep - 1].inside == Inside::Expression;) --keep;
  close_levels(keep, last_token_.span.end);
  resumed_at_ = before.span.begin;
  if (keep > 1) return;
  end_entry();
  scanner_.set_depth(0);
}

// What closes the levels above the first `keep`, innermost first.
void Radl2Tokens::close_levels(size_t keep, uint32_t at) {
  while (levels_.size() > keep) {
    Symbol symbol = level().closer == RawKind::Close       ? static_cast<Symbol>(RADL2_RPAREN)
                    : level().closer == RawKind::CloseList ? static_cast<Symbol>(RADL2_RBRACKET)
                    : level().closer == RawKind::CloseMap  ? static_cast<Symbol>(RADL2_RBRACE)
                                                           : static_cast<Symbol>(RADL2_INTERPOLATE_END);
    out_.push_back({symbol, {RawKind::Comment, here(at)}});
    if (symbol == RADL2_INTERPOLATE_END) {
      out_.push_back({RADL2_TEXT_END, {RawKind::Comment, here(at)}});
      uint32_t open = level().open.begin;
      while (!texts_.empty() && texts_.back().begin > open) texts_.pop_back();
      if (!texts_.empty()) texts_.pop_back();
    }
    levels_.pop_back();
  }
}

size_t Radl2Tokens::innermost_interpolation() const {
  for (size_t i = levels_.size(); i > 0; --i)
    if (levels_[i - 1].closer == RawKind::CloseInterpolation) return i;
  return 0;
}

// `${` ends on its line.
bool Radl2Tokens::interpolation_ends(const Token& token) {
  size_t level = innermost_interpolation();
  if (level == 0) return false;
  uint32_t begin = levels_[level - 1].open.end;
  if (token.kind != RawKind::End && token.span.end <= line_end(begin)) return false;
  unclosed_interpolation(level);
  return true;
}

// The string is taken to end at the next quote of its line, or with the line.
void Radl2Tokens::unclosed_interpolation(size_t level) {
  Span open = levels_[level - 1].open;
  error(DiagCode::UnclosedInterpolation, open, "this `${` is never closed")
      .with_help("end it with `}` on the same line");
  if (stopped_) return;
  uint32_t last = line_end(open.end);
  char mark = texts_.empty() ? '\'' : bytes_[texts_.back().begin];
  size_t quote = mark == '<' ? std::string_view::npos : bytes_.find(mark, open.end);
  uint32_t end = quote < last ? static_cast<uint32_t>(quote) + 1 : last;
  close_levels(level - 1, end);
  int depth = 0;
  for (const Level& each : levels_) depth += each.closer == RawKind::Close;
  ahead_.clear();
  std::erase_if(junk_, [&](Span piece) { return piece.begin >= open.end; });
  drop_trivia(open.end);
  scanner_.seek(end, depth);
  scanned_to_ = end;
  resumed_at_ = end;
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
  bool line_ends = found.kind == RawKind::Comma && found.span.size() == 0;
  bool deploy =
      level().inside == Inside::Blocks && level().keyword == RADL2_DEPLOY && before_last_ == RADL2_NAME;
  if (deploy && (line_ends || found.kind == RawKind::End || text(found) == "when")) {
    error(DiagCode::UnexpectedToken, here(before_last_token_.span.end),
          "`deploy` needs a number of nodes: `deploy " + std::string(text(before_last_token_)) + " 1`");
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
  if (found.kind == RawKind::EqEq && before_last_ == RADL2_NAME && level().inside != Inside::Expression) {
    error(DiagCode::ReversedOperator, found.span, "a feature takes `=`").fix("write `=`", found.span, "=");
    return true;
  }
  if (found.kind == RawKind::And && (before_last_ == RADL2_SEP || before_last_ == RADL2_BODY)) {
    error(DiagCode::TrailingAnd, found.span,
          before_last_ == RADL2_SEP ? "duplicate `and`" : "`and` with no feature in front of it")
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
  bool block = level().inside == Inside::Blocks && level().words <= 1 && last_ == RADL2_NAME;
  if (block && found.kind == RawKind::Name) {
    Diagnostic& d = unknown_block(text(found), found.span, {std::begin(kBlockWords), std::end(kBlockWords)});
    if (std::string_view ours = block_here(text(found)); !ours.empty()) {
      d.label.clear();
      d.fixes.clear();
      d.with_help("here it is " + std::string(ours));
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
    error(DiagCode::UnexpectedToken, found.span, in_ticks(word) + " needs a name");
    return true;
  }
  return false;
}

void Radl2Tokens::syntax_error(Place place, const std::vector<std::string_view>& expected) {
  if (stopped_) return;
  Span at = place.in(source_.id());
  if (!may_recover(at)) return;
  Token found = last_token_;
  bool made = found.kind == RawKind::Comment;  // a separator, or what closes after an error
  bool again = resumed_at_ == at.begin || (!made && junk_lines_.contains(line_end(at.begin)));
  bool line_end = made && last_ == RADL2_SEP;
  if (!made) {
    levels_ = saved_levels_;
    texts_ = saved_texts_;
  }
  if (!made && resumed_at_ != at.begin && runaway_text(at)) {
    out_.push_front({RADL2_SYNC, {RawKind::Comment, here(last_token_.span.end)}});
    return;
  }
  if (size_t inside = innermost_interpolation(); inside != 0 && !made && texts_.size() > 0) {
    char mark = bytes_[texts_.back().begin];
    std::string_view rest = bytes_.substr(at.begin);
    rest = rest.substr(0, rest.find('\n'));
    if (mark != '<') rest = rest.substr(0, rest.find(mark));
    if (rest.find('}') == std::string_view::npos) {
      unclosed_interpolation(inside);
      out_.push_front({RADL2_SYNC, {RawKind::Comment, here(at.begin)}});
      return;
    }
  }
  if (!again && (!made || line_end) && !known_mistake(found)) {
    bool ends = line_end || (found.kind == RawKind::Comma && found.span.size() == 0);
    std::string what = ends ? "the line ends too early"
                       : found.kind == RawKind::End
                           ? "unexpected end of the file"
                           : "unexpected " + in_ticks(text(found).substr(0, text(found).find('\n')));
    if (found.kind == RawKind::Recipe) what = "unexpected recipe";
    Diagnostic& d = error(DiagCode::UnexpectedToken, at, std::move(what));
    if (std::string wanted = expectation(expected); !wanted.empty()) d.labelled("expected " + wanted);
    d.help = hint(found);
  }
  if (stopped_) return;
  if (line_end) {
    out_.push_front({RADL2_SEP, {RawKind::Comment, at}});
  } else if (!made) {
    ahead_.push_front(found);
    skip_to_sync();
    last_ = RADL2_SYNC;
    level().words = 1;
    level().keyword = 0;
    level().compared = level().after = false;
    resumed_at_ = peek().span.begin;
  }
  out_.push_front({RADL2_SYNC, {RawKind::Comment, here(at.begin)}});
}

// A string without its closing quote swallows the file up to the next quote; what stands right behind that
// betrays it. It is taken to end with its first line.
bool Radl2Tokens::runaway_text(Span at) {
  Span text = text_;
  if ((before_last_ != RADL2_TEXT && before_last_ != RADL2_TEXT_END) ||
      before_last_token_.span.end != text.end)
    return false;
  bool junk = std::any_of(junk_.begin(), junk_.end(), [&](Span piece) { return piece.begin == text.end; });
  if ((at.begin != text.end && !junk) || bytes_[text.begin] == '<' || !texts_.empty()) return false;
  uint32_t last = line_end(text.begin);
  if (last >= text.end) return false;
  uint32_t end = before_closers(span(text.begin, last));
  error(DiagCode::UnclosedText, span(text.begin, end), "this string is never closed")
      .note(span(text.end - 1, text.end), "without its quote it would run to here")
      .fix("insert a quote", here(end), std::string(1, bytes_[text.begin]));
  if (stopped_) return true;
  std::erase_if(junk_, [&](Span piece) { return piece.begin >= end; });
  junk_lines_.erase(junk_lines_.upper_bound(last), junk_lines_.end());
  ahead_.clear();
  out_.clear();
  drop_trivia(end);
  int depth = 0;
  for (const Level& each : levels_) depth += each.closer == RawKind::Close;
  scanner_.seek(end, depth);
  scanned_to_ = end;
  last_token_.span.end = end;
  skip_to_sync(false);
  level().words = 1;
  level().keyword = 0;
  level().compared = level().after = false;
  resumed_at_ = peek().span.begin;
  return true;
}

// Skips to the next entry of the level at hand, or to what closes it.
void Radl2Tokens::skip_to_sync(bool behind_error) {
  int depth = 0, strings = 0;
  for (bool first = behind_error;; first = false) {
    const Token& ahead = peek();
    if (ahead.kind == RawKind::End) return;
    if (depth == 0 && strings == 0) {
      if (ahead.kind == level().closer && levels_.size() > 1) return;
      bool list = level().inside != Inside::Expression && level().inside != Inside::Blocks;
      if (!first && list && (ahead.kind == RawKind::Comma || ahead.new_line)) return;
      if (!first && level().inside == Inside::Features && ahead.kind == RawKind::And) return;
      if (!first && level().inside == Inside::Blocks && ahead.new_line && is_block_word(text(ahead))) return;
      if (!first && unclosed(ahead)) return;
    }
    Token token = take();
    switch (token.kind) {
      case RawKind::Open:
      case RawKind::OpenList:
      case RawKind::OpenMap:
      case RawKind::OpenInterpolation:
        ++depth;
        break;
      case RawKind::Close:
      case RawKind::CloseList:
      case RawKind::CloseMap:
      case RawKind::CloseInterpolation:
        depth -= depth > 0;
        break;
      case RawKind::TextBegin:
        ++strings;
        break;
      case RawKind::TextEnd:
        strings -= strings > 0;
        break;
      default:
        break;
    }
    last_token_ = token;
  }
}

}  // namespace radl
