#include "compiler/compat/yaml/yaml_quotes.h"

#include <fmt/format.h>

#include <algorithm>

namespace radl::ec3 {
namespace {

constexpr size_t kWidth = 80;

std::u32string code_points(std::string_view text) {
  std::u32string out;
  for (size_t at = 0; at < text.size();) {
    auto lead = static_cast<unsigned char>(text[at]);
    size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t point = size == 1 ? lead : lead & (0x7F >> size);
    for (size_t i = 1; i < size && at + i < text.size(); ++i)
      point = point << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3F);
    out += point;
    at += size;
  }
  return out;
}

bool printable(char32_t c) { return c >= 0x20 && c <= 0x7E; }

std::string escaped(char32_t c) {
  static constexpr std::pair<char32_t, char> kShort[] = {
      {0, '0'},    {7, 'a'},   {8, 'b'},     {9, 't'},    {10, 'n'},   {11, 'v'},     {12, 'f'},    {13, 'r'},
      {0x1B, 'e'}, {'"', '"'}, {'\\', '\\'}, {0x85, 'N'}, {0xA0, '_'}, {0x2028, 'L'}, {0x2029, 'P'}};
  for (const auto& [point, letter] : kShort)
    if (point == c) return std::string("\\") + letter;
  auto number = static_cast<uint32_t>(c);
  if (number <= 0xFF) return fmt::format("\\x{:02X}", number);
  return number <= 0xFFFF ? fmt::format("\\u{:04X}", number) : fmt::format("\\U{:08X}", number);
}

std::string ascii(std::u32string_view text) { return std::string(text.begin(), text.end()); }

// The column at which continued lines begin: two after the key, or after the dashes of a list.
size_t indent_of(std::string_view line, size_t column) {
  size_t at = std::min(line.find_first_not_of(' '), line.size());
  while (line.substr(at).starts_with("- ")) at += 2;
  return at >= column ? column : at + 2;
}

}  // namespace

bool needs_double_quotes(std::string_view text) {
  char before = '\0';
  for (char c : text) {
    if (c != '\n' && !(c >= 0x20 && c <= 0x7E)) return true;
    if ((c == '\n' && before == ' ') || (c == ' ' && before == '\n')) return true;
    before = c;
  }
  return false;
}

std::string in_double_quotes(std::string_view utf8, size_t column, size_t indent) {
  std::u32string text = code_points(utf8);
  std::string out = "\"";
  ++column;
  auto put = [&](const std::string& piece) {
    out += piece;
    column += piece.size();
  };
  size_t start = 0;
  for (size_t end = 0; end <= text.size(); ++end) {
    bool last = end == text.size();
    bool special = last || text[end] == '"' || text[end] == '\\' || !printable(text[end]);
    if (special) {
      if (start < end) put(ascii(std::u32string_view(text).substr(start, end - start)));
      start = std::max(start, end);
      if (!last) {
        put(escaped(text[end]));
        start = end + 1;
      }
    }
    bool may_break = end > 0 && end + 1 < text.size() && (text[end] == ' ' || start >= end);
    size_t open = end > start ? end - start : 0;
    if (!may_break || column + open - (start > end ? start - end : 0) <= kWidth) continue;
    put(ascii(std::u32string_view(text).substr(std::min(start, end), open)) + "\\");
    start = std::max(start, end);
    out += "\n" + std::string(indent, ' ');
    column = indent;
    if (text[start] == ' ') put("\\");
  }
  return out + "\"";
}

std::string QuotedStrings::stand_in(std::string_view text) {
  texts_.emplace_back(text);
  return marker_ + std::to_string(texts_.size() - 1) + "q";
}

std::string QuotedStrings::put_back(const std::string& document) const {
  std::string out;
  size_t done = 0;
  for (size_t at = document.find(marker_); at != document.npos; at = document.find(marker_, done)) {
    size_t end = document.find('q', at + marker_.size());
    size_t number = std::stoul(document.substr(at + marker_.size(), end - at - marker_.size()));
    size_t line = at == 0 ? 0 : document.rfind('\n', at - 1) + 1;
    size_t column = at - line;
    out.append(document, done, at - done);
    out += in_double_quotes(texts_.at(number), column,
                            indent_of(std::string_view(document).substr(line, column), column));
    done = end + 1;
  }
  return out.append(document, done);
}

}  // namespace radl::ec3
