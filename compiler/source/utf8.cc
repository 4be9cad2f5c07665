#include "compiler/source/utf8.h"

#include <re2/re2.h>

namespace radl {

CodePoint decode_utf8(std::string_view text) {
  if (text.empty()) return {};
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  uint32_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  uint32_t value = lead & (0x7Fu >> length);
  for (uint32_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  return {value, length};
}

void append_utf8(std::string& out, uint32_t c) {
  auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xE0 | c >> 12);
    } else {
      put(0xF0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3F));
    }
    put(0x80 | (c >> 6 & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

bool is_in_class(uint32_t c, const re2::RE2& cls) {
  std::string character;
  append_utf8(character, c);
  return re2::RE2::FullMatch(character, cls);
}

}  // namespace radl
