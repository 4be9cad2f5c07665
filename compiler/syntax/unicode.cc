#include "compiler/syntax/unicode.h"

#include <re2/re2.h>

namespace radl {

bool is_word_character(uint32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  static const re2::RE2 words(R"([\pL\pN])");
  return is_in_class(c, words);
}

// Beside capital letters, Python counts the numbers and circled, squared and parenthesized letters that
// Unicode lists as Other_Uppercase.
bool is_upper_case(uint32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z';
  static const re2::RE2 capitals(
      R"([\p{Lu}\x{2160}-\x{216F}\x{24B6}-\x{24CF}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}])");
  return is_in_class(c, capitals);
}

// The ten digits of a script follow each other, so those before a digit tell its value.
int digit_value(uint32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9' ? static_cast<int>(c - '0') : -1;
  static const re2::RE2 digits(R"(\p{Nd})");
  int before = -1;
  while (is_in_class(c, digits)) --c, ++before;
  return before < 0 ? -1 : before % 10;
}

bool is_invisible(uint32_t c) {
  return c <= 0x20 || c == 0x7F || c == 0xA0 || c == 0x85 || c == 0xFEFF || (c >= 0x2000 && c <= 0x200F) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x3000;
}

}  // namespace radl
