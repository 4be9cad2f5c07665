// Converts editors' lines and characters to byte offsets and back.
//
// LSP counts a line's characters in a negotiated encoding: UTF-16 unless client and server agree on UTF-8 or
// UTF-32. Lines end in LF, CRLF or CR. Invalid UTF-8 counts one unit per byte, so every offset has a
// position, and every position maps to an offset inside the text.
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
  // Offset of the line's first byte; the text's length for a line after the last.
  size_t line_start(std::string_view text, uint32_t line) const;
  // Offset after the line's last byte, without its line end.
  size_t line_end(std::string_view text, uint32_t line) const;

  // An offset inside a multi-byte character maps to its start; one after the text, to the text's end.
  Position position(std::string_view text, size_t offset, Encoding encoding) const;
  // A character after the line's end maps to the line's end; a line after the last, to the text's end.
  size_t offset(std::string_view text, Position position, Encoding encoding) const;

 private:
  std::vector<uint32_t> starts_{0};
};

}  // namespace radl::lsp
