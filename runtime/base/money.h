// Amounts of money as whole millionths of a currency's unit: sums are exact, whatever their order.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/status.h"

namespace radl {

struct Money {
  int64_t micros = 0;            // millionths: 0.0416 USD are 41,600
  std::string currency = "USD";  // ISO 4217

  // The nearest millionth of a decimal figure, as price lists give them. Not finite or too large: 0 micros
  // and false.
  static bool parse(double units, int64_t& micros);
  static Money of(double units, std::string currency = "USD");
  double units() const { return static_cast<double>(micros) / 1e6; }
  bool zero() const { return micros == 0; }
  std::string text() const;  // exact, with two decimals at least: "0.10 USD", "0.0416 EUR"
  bool operator==(const Money&) const = default;
};
// {"micros","currency"}. Reading throws nlohmann::json::exception on anything else.
void to_json(nlohmann::json& json, const Money& money);
void from_json(const nlohmann::json& json, Money& money);

// Amounts by currency, never added across: there is no rate that a plan could know.
class MoneySum {
 public:
  void add(const Money& money);
  void subtract(const Money& money);
  bool zero() const;
  const std::map<std::string, int64_t>& micros() const { return micros_; }
  // The one amount where all is of one currency (or nothing costs anything: 0 of `fallback`); Invalid names
  // the currencies that cannot be added.
  Result<Money> total(const std::string& fallback = "USD") const;
  // What is not zero, by currency.
  std::vector<Money> amounts() const;
  bool operator==(const MoneySum& other) const { return amounts() == other.amounts(); }

 private:
  std::map<std::string, int64_t> micros_;
};
// [{"micros","currency"}, ..] of amounts().
void to_json(nlohmann::json& json, const MoneySum& sum);
void from_json(const nlohmann::json& json, MoneySum& sum);

}  // namespace radl
