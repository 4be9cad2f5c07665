#include "common/shorten.h"

namespace radl {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string_view beginning_of(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  // A character has at most three bytes after its first.
  size_t end = most;
  while (end > 0 && most - end < 3 && continues_character(text[end])) --end;
  return text.substr(0, continues_character(text[end]) ? most : end);
}

std::string_view end_of(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  const size_t least = text.size() - most;
  size_t begin = least;
  while (begin < text.size() && begin - least < 3 && continues_character(text[begin])) ++begin;
  return text.substr(begin);
}

std::string shorten(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  return std::string(beginning_of(text, most - 3)) + "...";
}

}  // namespace radl
