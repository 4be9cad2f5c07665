#include "runtime/plan/wrap_columns.h"

#include <algorithm>
#include <vector>

#include "common/text_diff.h"

namespace radl {
namespace {

constexpr size_t kDiffIndent = 10;
constexpr size_t kNarrowest = 20;  // columns; a narrower terminal gets unwrapped lines
constexpr std::string_view kNote = "note: ";

// Length in bytes of the escape sequence at the start of `text`; 0: none.
size_t escape_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const size_t end = text.find('m');
  return end == std::string_view::npos ? 0 : end + 1;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    if (const size_t escape = escape_length(text.substr(at)); escape > 0) {
      at += escape;
      continue;
    }
    columns += continues_character(text[at]) ? 0 : 1;
    ++at;
  }
  return columns;
}

std::string without_escapes(std::string_view text) {
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    const size_t escape = escape_length(text.substr(at));
    if (escape == 0) plain += text[at];
    at += std::max<size_t>(escape, 1);
  }
  return plain;
}

// Where the rest of a line begins: below the text of its first column, or below its first word.
size_t indent_of(const std::string& plain, size_t width) {
  const size_t first = std::min(plain.find_first_not_of(' '), plain.size());
  if (plain.starts_with(kNote)) return kNote.size();
  size_t indent = first;
  if (const size_t gap = plain.find("  ", first); gap != std::string::npos) {
    const size_t text = plain.find_first_not_of(' ', gap);
    if (text != std::string::npos && text <= width / 2) indent = columns_of(plain.substr(0, text));
  }
  return indent == 0 ? 2 : indent;
}

std::string wrap_line(std::string_view line, size_t width) {
  const std::string plain = without_escapes(line);
  if (columns_of(plain) <= width || plain.starts_with(std::string(kDiffIndent, ' ')))
    return std::string(line);
  const std::string indent(indent_of(plain, width), ' ');
  std::string out;
  size_t column = 0;
  size_t at = 0;
  bool first = true;
  while (at < line.size()) {
    const size_t word = std::min(line.find_first_not_of(' ', at), line.size());
    const size_t end = std::min(line.find(' ', word), line.size());
    const std::string_view spaces = line.substr(at, word - at), text = line.substr(word, end - word);
    const size_t columns = columns_of(text);
    const bool fits = column + spaces.size() + columns <= width;
    if (fits || first || column <= indent.size()) {
      out.append(spaces).append(text);
      column += spaces.size() + columns;
    } else {
      out.append("\n").append(indent).append(text);
      column = indent.size() + columns;
    }
    first = first && text.empty();
    at = end;
  }
  return out;
}

}  // namespace

std::string wrap_columns(std::string_view text, size_t width) {
  if (width < kNarrowest) return std::string(text);
  std::string out;
  for (std::string_view line : split_lines(text)) {
    const bool ends = line.ends_with('\n');
    if (ends) line.remove_suffix(1);
    out += wrap_line(line, width);
    if (ends) out += '\n';
  }
  return out;
}

}  // namespace radl
