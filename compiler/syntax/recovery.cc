// After an error that no repair fits: says what was expected, and finds the place from which reading can go
// on.
#include <algorithm>
#include <array>

#include "common/text.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/token_stream.h"
#include "compiler/syntax/words.h"

namespace radl {
namespace {

void drop(std::vector<std::string_view>& names, std::initializer_list<std::string_view> which) {
  std::erase_if(names, [&](std::string_view name) {
    return std::find(which.begin(), which.end(), name) != which.end();
  });
}

}  // namespace

bool foreign_comment_mark(std::string_view junk) {
  return junk.starts_with("//") || junk.starts_with("/*") || junk == "--";
}

// Terminal names of the grammar, put in the user's words: whole groups (a value, a comparison, a block)
// first.
std::string TokenStream::expectation(const Names& expected) const {
  Names names = expected;
  std::vector<std::string> words;
  drop(names, {"SYNC", "member", "@input@"});
  if (has(names, "system") && has(names, "deploy")) {
    words.push_back("a block such as `system`");
    drop(names, {"system", "deploy", "network", "configure", "contextualize", "ansible", "description",
                 "block word", "end of file"});
  }
  if (has(names, "number") && has(names, "string")) {
    bool list = has(names, "[");
    words.insert(words.end(), {"a number", "a string in quotes"});
    if (list) words.push_back("a list");
    drop(names,
         {"number", "string", "[", "name", "(", "system", "network", "configure", "ansible", "description"});
  }
  if (has(names, "string")) {
    words.push_back("a string in quotes");
    drop(names, {"string"});
  }
  if (has(names, "=") && has(names, "<")) {
    words.insert(words.end(), {"`=`", "`<=`", "`>=`"});
    if (has(names, "contains")) words.push_back("`contains`");
    drop(names, {"=", "<", ">", "<=", ">=", "contains"});
  }
  if (has(names, "name") && has(names, "network")) {
    bool feature = inside() != Inside::Block;
    words.push_back(feature ? "a feature" : "a name");
    drop(names,
         {"name", "network", "description", "ansible", "with", "step", "soft", "and", "contains", "option"});
  }
  drop(names, {"block word"});
  static constexpr std::array<std::string_view, 6> kPlain = {"name",   "number",      "string",
                                                             "recipe", "end of file", "block word"};
  for (std::string_view name : names) {
    if (words.size() >= 5) break;
    if (std::find(kPlain.begin(), kPlain.end(), name) == kPlain.end())
      words.push_back("`" + std::string(name) + "`");
    else if (name == "end of file")
      words.push_back("the end of the file");
    else
      words.push_back("a " + std::string(name));
  }
  return one_of(words);
}

std::string TokenStream::hint(const Token& found) const {
  std::string_view between = bytes_.substr(before_last_.span.end, found.span.begin - before_last_.span.end);
  bool value = before_last_.kind >= RawKind::Eq && before_last_.kind <= RawKind::Ge;
  if (value && between.find('#') != std::string_view::npos)
    return "`#` begins a comment: the rest of that line was not read";
  if (before_last_.kind == RawKind::Deploy && found.kind == RawKind::Open)
    return "a deploy has no parentheses: `deploy worker 2`";
  if (inside() == Inside::Items && found.kind == RawKind::Name && before_last_.kind == RawKind::Open)
    return "an item begins with `system`: `system worker configure base`";
  if (before_last_.kind == RawKind::Ansible || block_ == RawKind::Ansible) return {};
  if (found.kind == RawKind::Recipe)
    return inside() == Inside::Resources ? "these parentheses may contain only the recipe"
                                         : "a recipe belongs inside `configure NAME ( )`";
  return {};
}

// A string without its closing quote swallows the file up to the next quote; the word behind that betrays it.
bool TokenStream::unclosed_text(Span at, bool) {
  if (before_last_.kind != RawKind::Text || last_.kind != RawKind::Name || before_last_.span.end != at.begin)
    return false;
  Span text = before_last_.span;
  size_t newline = source_.text(text).find('\n');
  if (newline == std::string_view::npos) return false;
  std::string_view line = source_.text(text).substr(0, newline);
  auto trim = [&] {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  };
  trim();
  if (line.ends_with(" and")) line.remove_suffix(4);
  trim();
  if (line.ends_with(")")) line.remove_suffix(1);
  Span shown = span(text.begin, text.begin + std::max<uint32_t>(1, static_cast<uint32_t>(line.size())));
  error(DiagCode::UnclosedText, shown, "this string is never closed")
      .note(span(text.end - 1, text.end), "without its quote it would run to here")
      .fix("insert `'`", span(shown.end, shown.end), "'");
  rewind(shown.end);
  if (stopped_) return true;
  if (out_.empty()) skip_to_sync();
  queue_sync(at);
  return true;
}

// The block began with a word that begins none: that is the mistake, not what comes behind it.
bool TokenStream::began_with_unknown_block() {
  static constexpr std::array<std::string_view, 3> kEc3 = {"include", "infrastructure", "file"};
  if (!levels_.empty() || block_ != RawKind::Name || !general_.known()) return false;
  std::string_view word = source_.text(general_);
  if (std::find(kEc3.begin(), kEc3.end(), word) != kEc3.end()) return false;
  Diagnostic& d = unknown_block(word, general_, radl1_blocks());
  if (d.fixes.empty() && word.find('.') != std::string_view::npos)
    d.help = "features belong inside the parentheses of a block: is a `)` too early?";
  general_ = {};
  return true;
}

bool TokenStream::is_sync(const Token& token) {
  switch (inside()) {
    case Inside::Block:
      switch (token.kind) {
        case RawKind::System:
        case RawKind::Network:
        case RawKind::Configure:
        case RawKind::Deploy:
        case RawKind::Ansible:
        case RawKind::Description:
          return at_line_start(token);
        case RawKind::Contextualize:
          return true;
        case RawKind::Name:
          return at_line_start(token) && word_like(peek(1)) && peek(2).kind == RawKind::Open;
        default:
          return false;
      }
    case Inside::Features:
      return token.kind == RawKind::And || token.kind == RawKind::Close;
    case Inside::Items:
      return token.kind == RawKind::Close || token.kind == RawKind::Option ||
             (token.kind == RawKind::System && (at_line_start(token) || peek(2).kind == RawKind::Configure));
    case Inside::Resources:
      return token.kind == RawKind::Close || (token.kind == RawKind::Name && peek(1).kind == RawKind::Text);
    case Inside::Value:
      return token.kind == RawKind::Close;
  }
  return true;
}

bool TokenStream::at_sync(size_t depth, bool) {
  const Token next = peek();
  const bool stop =
      next.kind == RawKind::End || (depth == 0 && is_sync(next)) || missing_close(next, 1, last_.kind);
  if (stop) levels_.resize(levels_.size() - depth);
  return stop;
}

int TokenStream::skip_token(size_t depth) {
  before_last_ = last_;
  last_ = take();
  if (last_.kind == RawKind::Open) levels_.push_back({Inside::Value, last_.span});
  if (last_.kind == RawKind::Close && depth > 0) levels_.pop_back();
  return last_.kind == RawKind::Open ? 1 : last_.kind == RawKind::Close ? -1 : 0;
}

bool TokenStream::undo_last() {
  if (end_ != nullptr) end_->symbols.pop_back();
  if (last_.kind == RawKind::Open) levels_.pop_back();
  if (last_.kind == RawKind::Close) levels_.push_back(closed_);
  if (levels_.empty() && block_tokens_ > 0) --block_tokens_;
  return last_.span.size() != 0 || last_.kind == RawKind::End;
}

bool TokenStream::report_error(Span at, const Names& expected, bool written, bool resumed) {
  if (!written || resumed) return false;
  const Token found = last_;
  if (out_.empty() && known_mistake(found, expected)) return true;
  if (began_with_unknown_block()) return false;
  std::string word = found.kind == RawKind::End ? "end of the file" : in_ticks(source_.text(at));
  if (found.kind == RawKind::Recipe) word = "recipe";
  if (size_t newline = word.find('\n'); newline != std::string::npos) word = word.substr(0, newline) + "...`";
  std::string piece = missing_piece(found), wanted = piece.empty() ? expectation(expected) : "";
  bool behind = found.kind == RawKind::End || (!piece.empty() && at_line_start(found));
  Diagnostic& d = error(DiagCode::UnexpectedToken, behind ? here(before_last_.span.end) : at,
                        piece.empty() ? "unexpected " + word : std::move(piece));
  if (!wanted.empty()) d.labelled("expected " + wanted);
  d.help = hint(found);
  return false;
}

// A token at which parsing resumed without success is dropped.
bool TokenStream::put_back_last(bool, bool resumed) {
  if (resumed) return out_.empty();
  Token found = last_;
  found.made = Made::No;
  if (!out_.empty()) {
    out_.push_front(found);
    return false;
  }
  put_back(found);
  return true;
}

void TokenStream::queue_sync(Span at) {
  if (levels_.empty()) block_tokens_ = 0;
  resumed_at_ = out_.empty() ? peek().span.begin : out_.front().span.begin;
  out_.push_front({RawKind::End, Made::Sync, here(at.begin)});
}

}  // namespace radl
