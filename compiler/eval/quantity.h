// Numbers with units by RADL's rules: exact for integers, binary64 for floats.
#pragma once

#include <string>
#include <string_view>

#include "compiler/syntax/ast.h"

namespace radl::sema {

// A number in its base unit. An integer has up to 38 digits (25 written digits times 1024^4).
struct Quantity {
  bool is_float = false;
  __int128 integer = 0;
  double real = 0;

  static Quantity of(const ast::NumberValue& number);       // times its unit; 1 for an unknown unit
  static Quantity written(const ast::NumberValue& number);  // without its unit
  // Formatted as in the reference's JSON: 7, 1500000000.0, 1e-05.
  std::string json() const;
  bool operator==(const Quantity& other) const { return compare(other) == 0; }
  int compare(const Quantity& other) const;  // -1, 0, 1
};

// The shortest text that parses to the same double, in Python's format.
std::string float_text(double value);

// Formats a number like Python, without its unit: 7, 2.5.
std::string number_text(const ast::NumberValue& number);

}  // namespace radl::sema
