#include "tools/lsp/cursor.h"

#include <algorithm>

#include "compiler/syntax/version.h"
#include "tools/lsp/cursor_reader.h"

namespace radl::lsp {
namespace {

// Where the text in front of the cursor ends for the reader: at the word, text, recipe or comment that the
// cursor is in.
struct Tail {
  uint32_t stop = 0;   // tokens that end here or before are whole
  uint32_t quote = 0;  // in_text: of the innermost opening quote
  bool in_text = false, in_interpolation = false, in_comment = false, in_recipe = false;
};

bool is_word_character(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         c == '_' || c == '-' || c == '.';
}

uint32_t word_start(std::string_view text, uint32_t at) {
  while (at > 0 && is_word_character(text[at - 1])) --at;
  return at;
}

// A string that is open: 'text', "text" or <<MARK.
struct OpenString {
  uint32_t at = 0;
  char quote = 0;         // ' or " or <
  std::string_view mark;  // of a block of text
  bool raw = false;       // <<'MARK': it holds no expressions
  int braces = 0;         // of maps that are open in its ${ }
};

bool is_mark(char c) { return is_word_character(c) && c != '-' && c != '.' && (c & 0x80) == 0; }

// <<MARK with nothing behind it: goes to its first line.
bool begins_block_text(std::string_view text, uint32_t& i, OpenString& open) {
  if (text.substr(i, 2) != "<<") return false;
  size_t at = i + 2;
  if (at < text.size() && (text[at] == '-' || text[at] == '~')) ++at;
  open.raw = at < text.size() && text[at] == '\'';
  if (open.raw) ++at;
  size_t begin = at;
  while (at < text.size() && is_mark(text[at])) ++at;
  open.mark = text.substr(begin, at - begin);
  size_t newline = text.find('\n', at);
  if (open.mark.empty() || newline == std::string_view::npos) return false;
  if (text.substr(at, newline - at).find_first_not_of(open.raw ? "' \t" : " \t") != std::string_view::npos)
    return false;
  open.at = i;
  open.quote = '<';
  i = static_cast<uint32_t>(newline + 1);
  return true;
}

// Where the string ends that holds the byte at `i`: 0 when not here.
uint32_t end_of_text(std::string_view text, uint32_t i, const OpenString& open) {
  if (open.quote != '<') return text[i] == open.quote ? i + 1 : 0;
  if (text[i - 1] != '\n') return 0;
  size_t word = std::min(text.find_first_not_of(" \t", i), text.size());
  size_t behind = word + open.mark.size();
  bool ends = text.substr(word).starts_with(open.mark) && behind < text.size() && !is_mark(text[behind]);
  return ends ? static_cast<uint32_t>(behind) : 0;
}

// An open text, comment or recipe reaches to the end; where one begins can only be seen from the start. In
// radl 2 a string may hold expressions, which may hold strings.
Tail find_tail(std::string_view text) {
  const bool radl2 = begins_with_version(text);
  const auto size = static_cast<uint32_t>(text.size());
  std::vector<OpenString> texts;  // the strings that are open
  bool expression = true;         // between tokens, not inside a string
  uint32_t i = 0;
  while (i < size) {
    char c = text[i];
    OpenString block;
    if (!expression) {
      OpenString& open = texts.back();
      if (uint32_t end = end_of_text(text, i, open); end != 0) {
        texts.pop_back();
        expression = true;
        i = end;
      } else if (c == '\\' && open.quote != '<') {
        i += 2;
      } else if (radl2 && !open.raw && text.substr(i, 3) == "$${") {
        i += 3;
      } else if (radl2 && !open.raw && text.substr(i, 2) == "${") {
        expression = true;
        i += 2;
      } else {
        ++i;
      }
    } else if (c == '\'' || (radl2 && c == '"')) {
      texts.push_back({i++, c, {}, false, 0});
      expression = false;
    } else if (radl2 && begins_block_text(text, i, block)) {
      texts.push_back(block);
      expression = false;
    } else if (c == '{' && !texts.empty()) {
      ++texts.back().braces;
      ++i;
    } else if (c == '}' && !texts.empty()) {
      expression = texts.back().braces-- > 0;
      if (!expression) texts.back().braces = 0;
      ++i;
    } else if (c == '#') {
      size_t newline = text.find('\n', i);
      if (newline == std::string_view::npos) return {i, 0, false, false, true, false};
      i = static_cast<uint32_t>(newline);
    } else if (texts.empty() && text.substr(i, 6) == "@begin") {
      size_t end = text.find("\n@end", i);
      if (end == std::string_view::npos) return {i, 0, false, false, false, true};
      i = static_cast<uint32_t>(end + 5);
    } else {
      ++i;
    }
  }
  Tail tail;
  tail.in_text = !expression;
  tail.in_interpolation = expression && !texts.empty();
  tail.quote = texts.empty() ? 0 : texts.back().at;
  tail.stop = texts.empty() ? word_start(text, size) : texts.front().at;
  return tail;
}

}  // namespace

Cursor read_cursor(std::string_view text, uint32_t offset) {
  offset = std::min(offset, static_cast<uint32_t>(text.size()));
  std::string_view front = text.substr(0, offset);
  Tail tail = find_tail(front);
  if (tail.in_comment) return {};
  // Without its unfinished end the text in front tokenises as the whole one does.
  SourceFile whole_words(1, "", std::string(front.substr(0, tail.stop)));
  Cursor cursor = read_tokens(whole_words, tail.stop);
  cursor.radl2 = cursor.radl2 || begins_with_version(front);
  cursor.in_text = tail.in_text;
  cursor.in_interpolation = tail.in_interpolation;
  if (tail.in_recipe) cursor.place = Place::Recipe;
  if (tail.in_interpolation) cursor.place = Place::Value;
  char quote = tail.in_text ? text[tail.quote] : '\0';
  bool whole = quote == '\'' || quote == '"';  // a string on its own is replaced as a whole
  cursor.word_begin = whole ? tail.quote + 1 : word_start(front, offset);
  cursor.word = front.substr(cursor.word_begin);
  cursor.word_end = offset;
  while (cursor.word_end < text.size()) {
    char c = text[cursor.word_end];
    if (whole ? c == quote || c == '\n' : !is_word_character(c)) break;
    ++cursor.word_end;
  }
  return cursor;
}

}  // namespace radl::lsp
