// Converts between UTF-8 and code points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace radl {

struct CodePoint {
  uint32_t value = 0;
  uint32_t length = 0;  // in bytes; 0 if it is not UTF-8
};
CodePoint decode_utf8(std::string_view text);
void append_utf8(std::string& out, uint32_t code_point);
// `cls`: a Unicode character class in RE2's syntax, such as \p{Lu}.
bool is_in_class(uint32_t code_point, const re2::RE2& cls);

}  // namespace radl
