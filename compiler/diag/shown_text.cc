#include "compiler/diag/shown_text.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "compiler/source/utf8.h"

namespace radl {
namespace {

struct CodePointRange {
  uint32_t first, last;
};
constexpr CodePointRange kWide[] = {
#include "compiler/diag/wide.inc"
};

size_t columns_of(uint32_t c) {
  if (c < 0x80) return 1;
  static const re2::RE2 zero_width(R"([\p{Mn}\p{Me}\x{200B}-\x{200D}\x{2060}\x{FEFF}])");
  if (is_in_class(c, zero_width)) return 0;
  auto after = std::find_if(std::begin(kWide), std::end(kWide),
                            [&](const CodePointRange& range) { return c <= range.last; });
  return after != std::end(kWide) && c >= after->first ? 2 : 1;
}

// Control characters, and those that turn the direction of writing: text would not look like what it is.
bool is_unprintable(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x2028 || c == 0x2029 ||
         c == 0x61C;
}

// One displayed character. Invalid UTF-8 bytes are displayed one by one.
struct Shown {
  std::string text;
  size_t bytes = 1, columns = 1;
};

Shown next_character(std::string_view text) {
  CodePoint c = decode_utf8(text);
  if (c.length == 0) return {"\xEF\xBF\xBD", 1, 1};
  if (c.value < 0x20 || c.value == 0x7F) return {"?", 1, 1};
  if (is_unprintable(c.value)) return {"\xEF\xBF\xBD", c.length, 1};
  return {std::string(text.substr(0, c.length)), c.length, columns_of(c.value)};
}

// Columns [start, start + kWidth) of a line of `columns`; where each of its characters begins is in `starts`.
constexpr size_t kWidth = 160, kBefore = 60;

struct Cell {
  size_t column, begin;  // in the line as shown: column, byte
};

void cut(ShownLine& shown, const std::vector<Cell>& cells, size_t columns) {
  if (columns <= kWidth) return;
  auto at = [&](size_t column) {
    return std::lower_bound(cells.begin(), cells.end(), column,
                            [](const Cell& cell, size_t value) { return cell.column < value; });
  };
  auto first = at(shown.from > kBefore ? shown.from - kBefore : 0);
  auto last = at(first->column + kWidth);
  bool before = first->begin > 0, after = last != cells.end();
  size_t end = after ? last->begin : shown.text.size(), end_column = after ? last->column : columns;
  size_t dots = before ? 3 : 0;
  shown.text =
      (before ? "..." : "") + shown.text.substr(first->begin, end - first->begin) + (after ? "..." : "");
  shown.to = std::min(shown.to, end_column) - first->column + dots;
  shown.from = shown.from - first->column + dots;
}

}  // namespace

ShownLine show_line(std::string_view line, size_t from, size_t to, int tab_width) {
  // Of a line of megabytes only what is near can come into the window.
  constexpr size_t kNear = 4096;
  if (line.size() > 4 * kNear) {
    auto inside = [&](size_t at) { return (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80; };
    from = std::min(from, line.size());
    size_t begin = from - std::min(from, kNear), end = std::min(line.size(), from + kNear);
    for (int i = 0; i < 3 && begin > 0 && inside(begin); ++i) --begin;
    for (int i = 0; i < 3 && end < line.size() && inside(end); ++i) ++end;
    return show_line(line.substr(begin, end - begin), from - begin, std::clamp(to, begin, end) - begin,
                     tab_width);
  }
  ShownLine shown;
  size_t column = 0;
  bool begun = false, ended = false;
  std::vector<Cell> cells;
  auto mark = [&](size_t at) {
    if (!begun && at >= from) shown.from = column, begun = true;
    if (!ended && at >= to) shown.to = column, ended = true;
  };
  for (size_t at = 0; at < line.size();) {
    mark(at);
    cells.push_back({column, shown.text.size()});
    if (line[at] == '\t') {
      size_t width = static_cast<size_t>(tab_width) - column % static_cast<size_t>(tab_width);
      shown.text.append(width, ' ');
      column += width;
      ++at;
      continue;
    }
    Shown c = next_character(line.substr(at));
    shown.text += c.text;
    column += c.columns;
    at += c.bytes;
  }
  mark(line.size());
  if (!begun) shown.from = column;
  if (!ended) shown.to = column;
  cut(shown, cells, column);
  return shown;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  auto is_plain = [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; };
  while (true) {
    // Nearly all of any text is plain.
    const auto end = std::find_if_not(text.begin(), text.end(), is_plain);
    out.append(text.begin(), end);
    text.remove_prefix(static_cast<size_t>(end - text.begin()));
    if (text.empty()) return out;
    Shown c = next_character(text);
    out += c.text;
    text.remove_prefix(c.bytes);
  }
}

std::string shortened(std::string text) {
  constexpr size_t kMost = 1000, kHead = 600, kTail = 300;
  if (text.size() <= kMost) return text;
  auto inside = [&](size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  size_t head = kHead, tail = text.size() - kTail;
  while (head > 0 && inside(head)) --head;
  while (tail < text.size() && inside(tail)) ++tail;
  return text.substr(0, head) + " ... " + text.substr(tail);
}

}  // namespace radl
