// What to write instead, for what `radl 2` does not understand.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "compiler/syntax/parser.h"
#include "compiler/syntax/radl2_tokens.h"

namespace radl {
namespace {

// 1 and "e3" -> "1000", 2.5 and "e-2" -> "0.025"; "" for what is not an exponent of at most 15 digits.
std::string without_exponent(std::string_view number, std::string_view word) {
  if (word.size() < 2 || (word[0] | 32) != 'e') return {};
  int exponent = 0;
  const char* end = word.data() + word.size();
  if (auto read = std::from_chars(word.data() + 1, end, exponent); read.ptr != end || read.ec != std::errc())
    return {};
  const size_t dot = std::min(number.find('.'), number.size());
  std::string digits(number.substr(0, dot));
  if (dot < number.size()) digits += number.substr(dot + 1);
  int places = static_cast<int>(digits.size()) - static_cast<int>(dot) - exponent;
  if (std::abs(exponent) > 15 || digits.find_first_not_of("0123456789") != digits.npos) return {};
  if (places < 0) return digits.append(static_cast<size_t>(-places), '0');
  if (places == 0) return digits;
  if (static_cast<int>(digits.size()) <= places)
    digits.insert(0, static_cast<size_t>(places) + 1 - digits.size(), '0');
  return digits.insert(digits.size() - static_cast<size_t>(places), ".");
}

}  // namespace

std::string Radl2Tokens::hint(const Token& found) const {
  std::string_view word = text(found);
  if (found.glued && before_last_ == RADL2_NUMBER && found.kind == RawKind::Name) {
    if (std::string plain = without_exponent(text(before_last_token_), word); !plain.empty())
      return "numbers have no exponent: write " + plain;
    return "a number has one unit: 90m, 1.5h, 512M";
  }
  if (before_last_ == RADL2_PLUS && level().inside == Inside::Features && level().ranges)
    return "at least so many is `>=`: `cpu.count >= 8`";
  if (found.kind == RawKind::Open && before_last_ == RADL2_MEMBER) {
    std::string name(text(before_last_token_));
    return "functions take the value as an argument: `" + name.substr(name.starts_with(".") ? 1 : 0) +
           "(value)`";
  }
  if (word.starts_with('.') && word.size() > 1 && value_complete())
    return "functions take the value as an argument: `" + std::string(word.substr(1)) + "(value)`";
  if (found.kind == RawKind::CloseList && before_last_ == RADL2_LBRACKET)
    return "`[0]` is the first one, `[*]` all of them";
  const bool begins_value = found.kind == RawKind::Name || found.kind == RawKind::OpenMap ||
                            found.kind == RawKind::Text || found.kind == RawKind::TextBegin ||
                            found.kind == RawKind::Number;
  if (found.new_line && begins_value && level().inside == Inside::Expression &&
      (level().closer == RawKind::CloseList || level().closer == RawKind::Close))
    return level().closer == RawKind::CloseList ? "elements of a list are separated by commas"
                                                : "arguments are separated by commas";
  if (value_complete() && level().inside == Inside::Features && found.kind == RawKind::Name)
    return "a feature ends with its line or a comma";
  if (level().inside == Inside::Blocks && word == "(" && level().keyword == RADL2_DEPLOY)
    return "a deploy has no parentheses: `deploy worker 2 * input.n when = input.on`";
  if (found.kind == RawKind::Recipe) return "a recipe must be alone inside `configure NAME ( )`";
  return hint_of_form(word, found);
}

// For who writes it as another language has it.
std::string Radl2Tokens::hint_of_form(std::string_view word, const Token& found) const {
  const bool block = level().inside == Inside::Blocks;
  if (std::string_view here = bytes_.substr(found.span.begin, 2); here == "//" || here == "/*")
    return "a comment begins with `#` and ends with its line";
  if (block && (word == "if" || word == "when"))
    return "put a condition on the block that it decides: `deploy worker 2 when = condition`";
  if (word == "for" && (before_last_ == RADL2_LBRACKET || before_last_ == RADL2_LBRACE))
    return before_last_ == RADL2_LBRACKET ? "the element comes first: `[x.name for x in list]`"
                                          : "the entry comes first: `{ (x.name) = x for x in list }`";
  if (word == ">" && before_last_ == RADL2_EQ) return "an entry is written `KEY = value`";
  if (level().inside == Inside::Items && level().words <= 1 && found.kind == RawKind::Name)
    return "an item begins with `system`: `system worker configure base`";
  if (block && word == "{") return "the content of a block is in parentheses: `system worker ( ... )`";
  if (level().inside == Inside::Resources && (word == "{" || word == "="))
    return "the properties of a resource are in parentheses: `file '/etc/motd' ( ... )`";
  if (level().inside == Inside::Items && word == "," && level().keyword == RADL2_SYSTEM)
    return "several stand in brackets: `system [front, worker] configure [base, web]`";
  if (block && word == "=" && level().keyword == RADL2_OUTPUT)
    return "an output has a group: `output NAME ( value = ... )`";
  if (block && word == "=" && level().keyword == RADL2_INPUT)
    return "an input has a group: `input NAME ( type = string, default = ... )`";
  if (found.kind == RawKind::Close && levels_.size() > 1 &&
      levels_[levels_.size() - 2].keyword == RADL2_ASSERT)
    return "an assertion says what is wrong, too: `assert ( condition, 'message' )`";
  if (!value_complete() && (word == "/" || word == "." || word == "~"))
    return "strings, also paths and names, stand in quotes: '/etc/motd'";
  return {};
}

}  // namespace radl
