// Amounts of money in integer millionths of a currency unit, so that sums are exact in any order.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/status.h"

namespace radl {

struct Money {
  int64_t micros = 0;            // millionths: 0.0416 USD is 41,600
  std::string currency = "USD";  // ISO 4217

  // Rounds a decimal figure of a price list to millionths. If it is not finite or too large: 0 micros and
  // false.
  static bool parse(double units, int64_t& micros);
  static Money of(double units, std::string currency = "USD");
  double units() const { return static_cast<double>(micros) / 1e6; }
  bool zero() const { return micros == 0; }
  std::string text() const;  // exact, with at least two decimals: "0.10 USD", "0.0416 EUR"
  bool operator==(const Money&) const = default;
};
// {"micros","currency"}. Reading throws nlohmann::json::exception on anything else.
void to_json(nlohmann::json& json, const Money& money);
void from_json(const nlohmann::json& json, Money& money);

// Amounts by currency. Never converted, because a plan knows no exchange rates.
class MoneySum {
 public:
  void add(const Money& money);
  void subtract(const Money& money);
  bool zero() const;
  const std::map<std::string, int64_t>& micros() const { return micros_; }
  // The total if all amounts have one currency (0 of `fallback` if there are none). Invalid: several
  // currencies; names them.
  Result<Money> total(const std::string& fallback = "USD") const;
  // Non-zero amounts, by currency.
  std::vector<Money> amounts() const;
  bool operator==(const MoneySum& other) const { return amounts() == other.amounts(); }

 private:
  std::map<std::string, int64_t> micros_;
};
// [{"micros","currency"}, ..] of amounts().
void to_json(nlohmann::json& json, const MoneySum& sum);
void from_json(const nlohmann::json& json, MoneySum& sum);

}  // namespace radl
