#include "tools/lsp/position.h"

#include <algorithm>
#include <cstring>

#include "compiler/source/utf8.h"

namespace radl::lsp {
namespace {

// Length in bytes of the character at text[at]; 1 for a byte that begins no well-formed one.
size_t character_bytes(std::string_view text, size_t at) {
  return std::max(1u, decode_utf8(text.substr(at)).length);
}

uint32_t units(size_t bytes, Encoding encoding) {
  switch (encoding) {
    case Encoding::Utf8:
      return static_cast<uint32_t>(bytes);
    case Encoding::Utf16:
      return bytes == 4 ? 2 : 1;
    case Encoding::Utf32:
      return 1;
  }
  return 1;
}

}  // namespace

LineIndex::LineIndex(std::string_view text) {
  bool has_cr = !text.empty() && std::memchr(text.data(), '\r', text.size()) != nullptr;
  if (has_cr) {  // rare: look at every byte
    for (size_t i = 0; i < text.size(); ++i) {
      bool crlf = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
      if (text[i] == '\n' || (text[i] == '\r' && !crlf)) starts_.push_back(static_cast<uint32_t>(i + 1));
    }
    return;
  }
  const char* begin = text.data();
  const char* end = begin + text.size();
  for (const char* p = begin; p < end;) {
    p = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
    if (!p) break;
    ++p;
    starts_.push_back(static_cast<uint32_t>(p - begin));
  }
}

size_t LineIndex::line_start(std::string_view text, uint32_t line) const {
  return line < starts_.size() ? std::min<size_t>(starts_[line], text.size()) : text.size();
}

size_t LineIndex::line_end(std::string_view text, uint32_t line) const {
  size_t start = line_start(text, line);
  size_t end = line_start(text, line + 1);
  if (end > start && text[end - 1] == '\n') --end;
  if (end > start && text[end - 1] == '\r') --end;
  return end;
}

Position LineIndex::position(std::string_view text, size_t offset, Encoding encoding) const {
  offset = std::min(offset, text.size());
  auto behind = std::upper_bound(starts_.begin(), starts_.end(), offset);
  auto line = static_cast<uint32_t>(behind - starts_.begin() - 1);
  size_t at = starts_[line];
  size_t end = std::min(offset, line_end(text, line));
  Position position{line, 0};
  while (at < end) {
    size_t n = character_bytes(text, at);
    if (at + n > end) break;
    position.character += units(n, encoding);
    at += n;
  }
  return position;
}

size_t LineIndex::offset(std::string_view text, Position position, Encoding encoding) const {
  if (position.line >= starts_.size()) return text.size();
  size_t at = line_start(text, position.line);
  size_t end = line_end(text, position.line);
  uint64_t seen = 0;
  while (at < end && seen < position.character) {
    size_t n = character_bytes(text, at);
    uint32_t width = units(n, encoding);
    if (seen + width > position.character) break;  // inside a surrogate pair: its start
    seen += width;
    at += n;
  }
  return at;
}

}  // namespace radl::lsp
