#include "runtime/base/money.h"

#include <cmath>

namespace radl {

bool Money::parse(double units, int64_t& micros) {
  micros = 0;
  double scaled = std::round(units * 1e6);
  if (!std::isfinite(scaled) || std::fabs(scaled) > 9e18) return false;
  micros = static_cast<int64_t>(scaled);
  return true;
}

Money Money::of(double units, std::string currency) {
  Money money{0, std::move(currency)};
  (void)parse(units, money.micros);
  return money;
}

void MoneySum::add(const Money& money) {
  if (!money.zero()) micros_[money.currency] += money.micros;
}

void MoneySum::subtract(const Money& money) {
  if (!money.zero()) micros_[money.currency] -= money.micros;
}

bool MoneySum::zero() const {
  for (const auto& [currency, micros] : micros_) {
    if (micros != 0) return false;
  }
  return true;
}

Result<Money> MoneySum::total(const std::string& fallback) const {
  Money total{0, fallback};
  std::string names;
  size_t count = 0;
  for (const auto& [currency, micros] : micros_) {
    if (micros == 0) continue;
    names += (count++ ? " and " : "") + currency;
    total = {micros, currency};
  }
  if (count > 1) return Status(Code::Invalid, "amounts in " + names + " cannot be added");
  return total;
}

}  // namespace radl
