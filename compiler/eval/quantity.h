// Numbers with units, as RADL counts them: exact for integers, binary64 for floats.
#pragma once

#include <string>
#include <string_view>

#include "compiler/syntax/ast.h"

namespace radl::sema {

// A number in its base unit. Integers have up to 38 digits (25 written, times 1024^4).
struct Quantity {
  bool is_float = false;
  __int128 integer = 0;
  double real = 0;

  static Quantity of(const ast::NumberValue& number);       // times its unit; one that is no size counts as 1
  static Quantity written(const ast::NumberValue& number);  // without
  // As the reference's JSON has it: 7, 1500000000.0, 1e-05.
  std::string json() const;
  bool operator==(const Quantity& other) const { return compare(other) == 0; }
  int compare(const Quantity& other) const;  // -1, 0, 1
};

// The shortest text that reads back as the same double, in Python's form.
std::string float_text(double value);

// A number as Python prints it, without its unit: 7, 2.5.
std::string number_text(const ast::NumberValue& number);

}  // namespace radl::sema
