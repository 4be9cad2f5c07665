// Mistakes with words: a keyword misspelt or where a name belongs, a name that begins with a digit, a word
// where a number belongs.
#include <algorithm>

#include "common/text.h"
#include "compiler/syntax/token_stream.h"

namespace radl {
namespace {

bool is_keyword(RawKind kind) { return kind >= RawKind::Network && kind <= RawKind::Description; }

bool names_something(RawKind kind) {
  return kind == RawKind::Network || kind == RawKind::Ansible || kind == RawKind::System ||
         kind == RawKind::Configure || kind == RawKind::Deploy || kind == RawKind::Description;
}

}  // namespace

// `AND`, `configur`: a keyword that could stand here, in capitals or misspelt.
bool TokenStream::keyword_mistake(const Token& found, const Names& expected) {
  if (found.kind != RawKind::Name) return false;
  std::string_view word = source_.text(found.span);
  std::string lower = to_lower(word);
  std::string_view meant;
  if (word == "or" && inside() == Inside::Features && has(expected, "and")) {
    error(DiagCode::MissingAnd, found.span, "features are joined by `and`, not by `or`")
        .fix("write `and`", found.span, "and");
    resume(found.span.end, true);
    return true;
  }
  for (std::string_view name : expected) {
    if (name.size() < 3 || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz") != name.npos ||
        name == "name")
      continue;
    bool near = edit_distance(lower, name, 3) <= (name.size() > 4 ? 2 : 1);
    near |= lower.size() >= 4 && name.starts_with(lower);
    if (lower == name || near) meant = name;
  }
  if (meant.empty()) return false;
  error(DiagCode::UnexpectedToken, found.span, "unexpected " + in_ticks(word))
      .labelled("did you mean " + in_ticks(meant) + "?")
      .fix("write " + in_ticks(meant), found.span, std::string(meant));
  resume(meant == "and" ? found.span.end : found.span.begin, meant == "and");
  return true;
}

// `step = 1` among features, `network system ( ... )`.
bool TokenStream::reserved_mistake(const Token& found) {
  if (!is_keyword(found.kind)) return false;
  if (found.kind == RawKind::Ansible && before_last_.kind == RawKind::With) {
    error(DiagCode::UnexpectedToken, found.span, "unexpected `ansible`")
        .labelled("did you mean `Ansible`?")
        .fix("write `Ansible`", found.span, "Ansible");
    resume(found.span.end, false);
    return true;
  }
  bool feature = inside() == Inside::Features && is_comparator(peek().kind);
  bool id = levels_.empty() && names_something(before_last_.kind) && peek().kind == RawKind::Open;
  if (!feature && !id) return false;
  error(DiagCode::KeywordAsName, found.span,
        in_ticks(source_.text(found.span)) + " is a reserved word and cannot be a name");
  resume(found.span.end, false);
  return true;
}

// `network 2nd ( ... )`: digits and the word behind them are taken for one name.
void TokenStream::name_with_digit(Token& token) {
  if (!names_something(last_.kind) || inside() != Inside::Block) return;
  const Token& behind = peek();
  if (behind.kind != RawKind::Name || behind.span.begin != token.span.end) return;
  token = {RawKind::Name, Made::No, span(token.span.begin, take().span.end)};
  if (last_.kind == RawKind::Deploy)
    return;  // there is no such system, or it was reported where it is defined
  error(DiagCode::UnexpectedToken, token.span, "a name begins with a letter or `_`, not with a digit");
}

// `contextualize 10m (`
bool TokenStream::unit_of_time(const Token& token) {
  bool here = last_.kind == RawKind::Number && before_last_.kind == RawKind::Contextualize &&
              peek().kind == RawKind::Open;
  if (!here) return false;
  error(DiagCode::UnexpectedToken, token.span, "the time limit has no unit")
      .with_help("it is an integer number of seconds: `contextualize 600 ( ... )`");
  return true;
}

// `deploy front` and then the next block.
bool TokenStream::ends_block_early(const Token& found) const {
  if (before_last_.kind != RawKind::Name || !is_keyword(found.kind) || !at_line_start(found)) return false;
  std::string_view before = bytes_.substr(0, before_last_.span.begin);
  size_t newline = before.rfind('\n');
  return trim(before.substr(newline == before.npos ? 0 : newline + 1)) == "deploy";
}

// `deploy front two`
void TokenStream::word_for_count(Token& token) {
  bool here = levels_.empty() && block_ == RawKind::Deploy && block_tokens_ == 2;
  if (!here || token.made == Made::Placeholder) return;
  error(DiagCode::UnexpectedToken, token.span,
        "`deploy` needs a number of nodes, not " + in_ticks(source_.text(token.span)));
  token.made = Made::Placeholder;
}

// What a word needs behind it, in a user's words; empty when there is nothing special to say.
std::string TokenStream::missing_piece(const Token& found) const {
  std::string_view word = source_.text(before_last_.span);
  switch (before_last_.kind) {
    case RawKind::Step:
      return "`step` needs a number";
    case RawKind::Soft:
      return "`soft` needs a weight: `soft 10 ( ... )`";
    case RawKind::Deploy:
      return found.kind == RawKind::Number ? "`deploy` needs the name of a system before the number"
                                           : "`deploy` needs the name of a system, and a number";
    case RawKind::Network:
    case RawKind::System:
    case RawKind::Configure:
    case RawKind::Ansible:
      return levels_.empty() && found.kind == RawKind::Open ? in_ticks(word) + " needs a name" : "";
    default:
      if (word == "." && at_line_start(found)) return "a block does not end with `.`";
      if (ends_block_early(found))
        return "`deploy` needs a number of nodes: `deploy " + std::string(word) + " 1`";
      if (levels_.empty() && block_ == RawKind::Deploy && block_tokens_ == 2)
        return "`deploy` needs a number of nodes: `deploy " + std::string(word) + " 1`";
      return {};
  }
}

}  // namespace radl
