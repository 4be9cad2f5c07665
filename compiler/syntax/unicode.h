// Just enough Unicode for RADL: which characters may be part of a name.
#pragma once

#include <cstdint>

#include "compiler/source/utf8.h"

namespace radl {

// Letters, digits and other numerals of Unicode, and `_`: what `\w` is in Python. RE2 has the tables.
bool is_word_character(uint32_t code_point);

// Spaces of all kinds and control characters: skipped without a word.
bool is_invisible(uint32_t code_point);

// An upper-case letter of any script (`str.isupper` in Python).
bool is_upper_case(uint32_t code_point);

// The value of a decimal digit of any script (`\d` in Python); -1: it is none.
int digit_value(uint32_t code_point);

}  // namespace radl
