#include "compiler/syntax/scanner.h"

#include <algorithm>
#include <array>

#include "compiler/syntax/unicode.h"

// grammar/radl.ll: flex's function.
radl::RawToken radl_scan_token(void* flex);

namespace radl {

size_t name_length(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    CodePoint next = decode_utf8(text.substr(at));
    if (next.length == 0 || !is_word_character(next.value)) break;
    at += next.length;
  }
  return at;
}

Scanned scan_number(std::string_view rest) {
  size_t at = 0;
  bool point = false;
  while (at < rest.size()) {
    CodePoint next = decode_utf8(rest.substr(at));
    bool joins = next.length != 0 && digit_value(next.value) >= 0;
    if (!joins && next.value == '.' && at != 0 && !point) joins = point = true;
    if (!joins) break;
    at += next.length;
  }
  if (at == 0) return {RawKind::Junk, std::max(1u, decode_utf8(rest).length)};
  return {RawKind::Number, at};
}

namespace {

// 'random(D)' of one digit, or of several, which the reference cannot read.
RawKind classify_text(std::string_view text) {
  constexpr std::string_view kHead = "'random(", kTail = ")'";
  if (!text.starts_with(kHead) || !text.ends_with(kTail)) return RawKind::Text;
  std::string_view digits = text.substr(kHead.size(), text.size() - kHead.size() - kTail.size());
  bool all = std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits.empty() || !all) return RawKind::Text;
  return digits.size() == 1 ? RawKind::Random : RawKind::BadRandom;
}

// Quote, backslash and dollar: what a string must be looked at for.
constexpr std::array<bool, 256> kStops = [] {
  std::array<bool, 256> stops{};
  stops[static_cast<unsigned char>('\'')] = stops[static_cast<unsigned char>('\\')] = true;
  stops[static_cast<unsigned char>('$')] = true;
  return stops;
}();

Scanned begin_text(ScanState& state, OpenText::Kind kind) {
  state.begin_text({kind});
  return {RawKind::TextBegin, 1};
}

}  // namespace

Scanned scan_text(ScanState& state, std::string_view rest) {
  if (rest.data() < state.dead_quotes) return {RawKind::Junk, 1};
  bool interpolated = false;
  size_t at = 1;
  for (;;) {
    while (at < rest.size() && !kStops[static_cast<unsigned char>(rest[at])]) ++at;
    if (at >= rest.size()) break;
    if (rest[at] == '\'') {
      if (interpolated) return begin_text(state, OpenText::Kind::Single);
      return {classify_text(rest.substr(0, at + 1)), at + 1};
    }
    if (rest[at] == '\\') {
      if (at + 1 >= rest.size() || rest[at + 1] == '\n') break;
      at += 2;
    } else if (state.version2 && rest.substr(at).starts_with("$${")) {
      at += 3;
    } else {
      if (state.version2 && rest.substr(at).starts_with("${")) interpolated = true;
      ++at;
    }
  }
  if (interpolated) return begin_text(state, OpenText::Kind::Single);
  // Every quote up to here is an escaped one of this string, and scanning from it would end at the same
  // place.
  state.dead_quotes = at >= rest.size() ? state.limit : rest.data() + at;
  return {RawKind::Junk, 1};
}

Scanned scan_double_quoted(ScanState& state, std::string_view rest) {
  bool interpolated = false;
  for (size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] == '\\') {
      ++at;
    } else if (rest[at] == '"') {
      if (interpolated) break;
      return {RawKind::Text, at + 1};
    } else if (rest.substr(at).starts_with("$${")) {
      at += 2;
    } else if (rest.substr(at).starts_with("${")) {
      interpolated = true;
    }
  }
  if (interpolated) return begin_text(state, OpenText::Kind::Double);
  return {RawKind::Junk, 1};
}

namespace {

bool is_mark(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

bool may_follow_mark(std::string_view rest) {
  size_t other = rest.find_first_not_of(" \t()]},");
  return other == rest.npos || rest[other] == '\n';
}

Scanned scan_block_text(ScanState& state, std::string_view rest) {
  size_t at = 2;
  if (at < rest.size() && (rest[at] == '-' || rest[at] == '~')) ++at;
  bool raw = at < rest.size() && rest[at] == '\'';
  if (raw) ++at;
  size_t begin = at;
  while (at < rest.size() && is_mark(rest[at])) ++at;
  std::string_view mark = rest.substr(begin, at - begin);
  if (mark.empty() || (raw && (at >= rest.size() || rest[at] != '\''))) return {RawKind::Junk, 2};
  if (raw) ++at;
  while (at < rest.size() && (rest[at] == ' ' || rest[at] == '\t')) ++at;
  if (at >= rest.size() || rest[at] != '\n') return {RawKind::Junk, 2};
  size_t content = at + 1;
  for (size_t line = content; line < rest.size();) {
    size_t word = line;
    while (word < rest.size() && (rest[word] == ' ' || rest[word] == '\t')) ++word;
    size_t behind = word + mark.size();
    if (rest.substr(word).starts_with(mark) && may_follow_mark(rest.substr(behind))) {
      auto kind = raw ? OpenText::Kind::RawBlock : OpenText::Kind::Block;
      state.begin_text({kind, rest.data() + line, behind - line});
      return {RawKind::TextBegin, content};
    }
    size_t newline = rest.find('\n', line);
    if (newline == rest.npos) break;
    line = newline + 1;
  }
  if (!state.blocks_may_be_open) return {RawKind::Junk, 2};
  state.begin_text({raw ? OpenText::Kind::RawBlock : OpenText::Kind::Block, state.limit});
  return {RawKind::TextBegin, content};
}

namespace {

bool ends_text(const OpenText& text, const char* at) {
  switch (text.kind) {
    case OpenText::Kind::Single:
      return *at == '\'';
    case OpenText::Kind::Double:
      return *at == '"';
    case OpenText::Kind::Template:
      return false;
    default:
      return at == text.end;
  }
}

}  // namespace

Scanned scan_text_part(ScanState& state, std::string_view rest) {
  const OpenText text = state.texts.empty() ? OpenText{OpenText::Kind::Template} : state.texts.back();
  if (ends_text(text, rest.data())) {
    state.texts.pop_back();
    state.in_text = false;
    return {RawKind::TextEnd, text.closing};
  }
  bool raw = text.kind == OpenText::Kind::RawBlock;
  if (!raw && rest.starts_with("${")) {
    state.open_interpolation();
    return {RawKind::OpenInterpolation, 2};
  }
  bool quoted = text.kind == OpenText::Kind::Single || text.kind == OpenText::Kind::Double;
  size_t at = 0;
  while (at < rest.size() && !ends_text(text, rest.data() + at)) {
    if (quoted && rest[at] == '\\' && at + 1 < rest.size()) {
      at += 2;
    } else if (!raw && rest.substr(at).starts_with("$${")) {
      at += 3;
    } else if (!raw && rest.substr(at).starts_with("${")) {
      break;
    } else {
      ++at;
    }
  }
  return {RawKind::TextPart, std::max<size_t>(at, 1)};
}

Scanned scan_recipe(std::string_view rest) {
  constexpr std::string_view kBegin = "@begin", kEnd = "@end";
  if (rest.substr(kBegin.size()).starts_with(kEnd))
    return {RawKind::EmptyRecipe, kBegin.size() + kEnd.size()};
  size_t at = rest.find("\n@end", kBegin.size());
  if (at == std::string_view::npos) return {RawKind::OpenRecipe, rest.size()};
  return {RawKind::Recipe, at + 1 + kEnd.size()};
}

RawToken Scanner::next() { return radl_scan_token(flex_); }

void Scanner::seek(uint32_t offset, int depth) {
  if (depth >= 0) {
    state_.braces.clear();
    state_.texts.clear();
    state_.dead_quotes = nullptr;
    state_.in_text = false;
    state_.depth = depth;
  }
  go_to(offset);
}

}  // namespace radl
