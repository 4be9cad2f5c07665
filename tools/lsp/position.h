// Lines and characters as editors count them, from and to byte offsets.
//
// LSP counts a line's characters in units of a negotiated encoding: UTF-16 unless client and server agree on
// UTF-8 or UTF-32. Lines end in LF, CRLF or CR. Bytes that are no UTF-8 count one unit each, so every offset
// has a position and every position, however wild, an offset inside the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace radl::lsp {

enum class Encoding { Utf8, Utf16, Utf32 };

struct Position {
  uint32_t line = 0;       // from 0
  uint32_t character = 0;  // units of the encoding, from 0
  auto operator<=>(const Position&) const = default;
};

struct Range {
  Position start, end;
  auto operator<=>(const Range&) const = default;
};

class LineIndex {
 public:
  LineIndex() = default;
  explicit LineIndex(std::string_view text);

  size_t line_count() const { return starts_.size(); }
  // Offset of the line's first byte; the string's length for a line behind the last.
  size_t line_start(std::string_view text, uint32_t line) const;
  // Offset behind the line's last byte, its line ending not included.
  size_t line_end(std::string_view text, uint32_t line) const;

  // An offset inside a multi-byte character belongs to the character's start; behind the text, to its end.
  Position position(std::string_view text, size_t offset, Encoding encoding) const;
  // A character behind the line's end is the line's end, a line behind the last the string's end.
  size_t offset(std::string_view text, Position position, Encoding encoding) const;

 private:
  std::vector<uint32_t> starts_{0};
};

}  // namespace radl::lsp
