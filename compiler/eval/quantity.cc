#include "compiler/eval/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "compiler/eval/units.h"
#include "compiler/syntax/parser.h"

namespace radl::sema {

Quantity Quantity::written(const ast::NumberValue& number) {
  Quantity out;
  out.is_float = number.is_float;
  out.real = number.real;
  if (number.is_float) return out;
  if (!number.big) {
    out.integer = number.integer;
    return out;
  }
  for (char digit : number.digits.substr(0, kMaxNumberDigits)) out.integer = out.integer * 10 + (digit - '0');
  return out;
}

Quantity Quantity::of(const ast::NumberValue& number) {
  Quantity out = written(number);
  int64_t factor = expr::whole_size_factor(number.unit.text).value_or(1);
  out.real *= static_cast<double>(factor);
  if (__builtin_mul_overflow(out.integer, static_cast<__int128>(factor), &out.integer)) out.is_float = true;
  return out;
}

int Quantity::compare(const Quantity& other) const {
  if (!is_float && !other.is_float) return integer < other.integer ? -1 : integer > other.integer;
  long double a = is_float ? static_cast<long double>(real) : static_cast<long double>(integer);
  long double b =
      other.is_float ? static_cast<long double>(other.real) : static_cast<long double>(other.integer);
  return a < b ? -1 : a > b;
}

std::string float_text(double value) {
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  std::string out;
  if (text.starts_with('-')) out = "-", text.remove_prefix(1);
  size_t e = text.find('e');
  if (e == std::string_view::npos) return out + std::string(text);  // inf, nan
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  int exponent = 0;
  std::string_view power = text.substr(e + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (count > 1) out += "." + digits.substr(1);
    int size = std::abs(exponent);
    return out + (exponent < 0 ? "e-" : "e+") + (size < 10 ? "0" : "") + std::to_string(size);
  }
  if (exponent < 0) return out + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1)
    return out + digits + std::string(static_cast<size_t>(exponent + 1 - count), '0') + ".0";
  return out + digits.substr(0, static_cast<size_t>(exponent) + 1) + "." +
         digits.substr(static_cast<size_t>(exponent) + 1);
}

std::string Quantity::json() const {
  if (is_float) return float_text(real);
  if (integer == 0) return "0";
  std::string out;
  bool negative = integer < 0;
  for (__int128 rest = negative ? -integer : integer; rest != 0; rest /= 10)
    out += static_cast<char>('0' + static_cast<int>(rest % 10));
  if (negative) out += '-';
  std::reverse(out.begin(), out.end());
  return out;
}

std::string number_text(const ast::NumberValue& number) {
  if (number.is_float) return float_text(number.real);
  std::string_view digits = number.digits;
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  return std::string(digits);
}

}  // namespace radl::sema
