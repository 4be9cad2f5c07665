// The Unicode properties that RADL needs: which characters may be part of a name.
#pragma once

#include <cstdint>

#include "compiler/source/utf8.h"

namespace radl {

// Unicode letters, digits and other numerals, and `_`: Python's `\w`. Uses RE2's tables.
bool is_word_character(uint32_t code_point);

// Spaces of all kinds and control characters. They are skipped without a report.
bool is_invisible(uint32_t code_point);

// An upper-case letter of any script (`str.isupper` in Python).
bool is_upper_case(uint32_t code_point);

// The value of a decimal digit of any script (Python's `\d`); -1 if it is not one.
int digit_value(uint32_t code_point);

}  // namespace radl
