// After an error in a `radl 2` file: from where reading goes on, and what was left open.
#include <algorithm>

#include "common/text.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/radl2_tokens.h"
#include "compiler/syntax/unicode.h"
#include "compiler/syntax/words.h"

namespace radl {
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

// Reports it, and returns where parsing resumes: after the line meant to end it, if there is one.
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

// `x = max(1, 2` and on the next line `y = 3`: inside an expression a name before `=` can only be a named
// argument, which follows `(` or a comma. Before another comparator it follows a complete value, which
// is never right.
bool Radl2Tokens::expression_left_open(const Token& token) {
  if (level().inside != Inside::Expression || level().closer == RawKind::CloseInterpolation) return false;
  if (!token.new_line || token.kind != RawKind::Name || last_ == RADL2_LPAREN || last_ == RADL2_COMMA)
    return false;
  const RawKind behind = peek(1).kind;
  return (behind == RawKind::Eq || (is_comparator(behind) && value_complete())) && levels_.size() > 2;
}

// Whether the parentheses of the `each` that comes next hold blocks, not features.
bool Radl2Tokens::repeats_blocks() {
  constexpr size_t kMostLooked = 100;
  int depth = 0;
  for (size_t i = 1; i < kMostLooked && peek(i).kind != RawKind::End; ++i) {
    using enum RawKind;
    const Token token = peek(i);
    if (token.kind == Open && depth == 0 && !token.glued)
      return begins_radl2_block(text(peek(i + 1))) && is_among(peek(i + 2).kind, {Name, Text, TextBegin});
    depth += is_among(token.kind, {Open, OpenList, OpenMap, OpenInterpolation});
    depth -= is_among(token.kind, {Close, CloseList, CloseMap, CloseInterpolation});
  }
  return true;
}

// The file ends, or a block begins in the first column, inside of brackets.
bool Radl2Tokens::unclosed(const Token& token) {
  if (levels_.size() == 1) return false;
  if (token.kind == RawKind::End) return true;
  if (expression_left_open(token)) return true;
  if (!token.new_line || !first_column(token) || !texts_.empty()) return false;
  std::string_view word = text(token);
  if (!begins_radl2_block(word) || level().inside == Inside::Blocks) return false;
  if (word == "each" && (level().inside == Inside::Resources || level().inside == Inside::Items ||
                         (level().inside == Inside::Features && !repeats_blocks())))
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
  scan_from(end, open.end);
  resumed_at_ = end;
}

void Radl2Tokens::scan_from(uint32_t offset, uint32_t forget) {
  std::erase_if(junk_, [&](Span piece) { return piece.begin >= forget; });
  drop_trivia(forget);
  int depth = 0;
  for (const Level& each : levels_) depth += each.closer == RawKind::Close;
  ahead_.clear();
  scanner_.seek(offset, depth);
  scanned_to_ = offset;
}

bool Radl2Tokens::undo_last() {
  if (last_token_.kind == RawKind::Comment) return false;  // a separator, or what closes after an error
  if (end_ != nullptr) end_->symbols.pop_back();
  levels_ = saved_levels_;
  texts_ = saved_texts_;
  return true;
}

bool Radl2Tokens::unclosed_text(Span at, bool resumed) {
  if (!resumed && runaway_text(at)) {
    out_.push_front({RADL2_SYNC, {RawKind::Comment, here(last_token_.span.end)}});
    return true;
  }
  if (!interpolation_never_ends(at)) return false;
  queue_sync(at);
  return true;
}

bool Radl2Tokens::interpolation_never_ends(Span at) {
  const size_t inside = innermost_interpolation();
  if (inside == 0 || texts_.empty()) return false;
  const char mark = bytes_[texts_.back().begin];
  std::string_view rest = bytes_.substr(at.begin, line_end(at.begin) - at.begin);
  if (mark != '<') rest = rest.substr(0, rest.find(mark));
  if (rest.find('}') != rest.npos) return false;
  unclosed_interpolation(inside);
  return true;
}

bool Radl2Tokens::report_error(Span at, const Names& expected, bool written, bool resumed) {
  const Token& found = last_token_;
  if (resumed || (written ? junk_lines_.contains(line_end(at.begin)) : !at_line_end())) return false;
  if (known_mistake(found)) return false;
  bool ends = at_line_end() || (found.kind == RawKind::Comma && found.span.size() == 0);
  std::string what = ends ? "the line ends too early"
                     : found.kind == RawKind::End
                         ? "unexpected end of the file"
                         : "unexpected " + in_ticks(text(found).substr(0, text(found).find('\n')));
  if (found.kind == RawKind::Recipe) what = "unexpected recipe";
  Diagnostic& d = error(DiagCode::UnexpectedToken, at, std::move(what));
  if (std::string wanted = expectation(expected); !wanted.empty()) d.labelled("expected " + wanted);
  d.help = hint(found);
  return false;
}

bool Radl2Tokens::put_back_last(bool written, bool) {
  if (written) ahead_.push_front(last_token_);
  if (at_line_end()) out_.push_front({RADL2_SEP, {RawKind::Comment, last_token_.span}});
  return written;
}

void Radl2Tokens::queue_sync(Span at) { out_.push_front({RADL2_SYNC, {RawKind::Comment, here(at.begin)}}); }

// A string without its closing quote extends to the next quote in the file; the text right after that quote
// reveals it. The string is then assumed to end with its first line.
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
  junk_lines_.erase(junk_lines_.upper_bound(last), junk_lines_.end());
  out_.clear();
  scan_from(end, end);
  last_token_.span.end = end;
  skip_to_sync(false);
  return true;
}

// The next entry of the level at hand begins, or what closes it.
bool Radl2Tokens::at_sync(size_t depth, bool first) {
  const Token& ahead = peek();
  bool stop = ahead.kind == RawKind::End;
  if (!stop && depth == 0) {
    const bool list = level().inside != Inside::Expression && level().inside != Inside::Blocks;
    const bool block = level().inside == Inside::Blocks && ahead.new_line && begins_radl2_block(text(ahead));
    stop =
        (ahead.kind == level().closer && levels_.size() > 1) ||
        (!first && ((list && (ahead.kind == RawKind::Comma || ahead.new_line)) || block ||
                    (level().inside == Inside::Features && ahead.kind == RawKind::And) || unclosed(ahead)));
  }
  if (!stop) return false;
  last_ = RADL2_SYNC;
  level().words = 1;
  level().keyword = 0;
  level().compared = level().after = false;
  resumed_at_ = peek().span.begin;
  return true;
}

int Radl2Tokens::skip_token(size_t) {
  using enum RawKind;
  last_token_ = take();
  if (is_among(last_token_.kind, {Open, OpenList, OpenMap, OpenInterpolation, TextBegin})) return 1;
  return is_among(last_token_.kind, {Close, CloseList, CloseMap, CloseInterpolation, TextEnd}) ? -1 : 0;
}

}  // namespace radl
