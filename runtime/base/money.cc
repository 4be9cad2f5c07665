#include "runtime/base/money.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace radl {

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();

// What is beyond nine million million units is no price; it stays at the end of the range.
int64_t saturated(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? kMost : kLeast;
}

}  // namespace

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

std::string Money::text() const {
  // The magnitude of the smallest number has no signed form.
  const uint64_t size = micros < 0 ? ~static_cast<uint64_t>(micros) + 1 : static_cast<uint64_t>(micros);
  std::string decimals = fmt::format("{:06}", size % 1000000);
  while (decimals.size() > 2 && decimals.back() == '0') decimals.pop_back();
  return fmt::format("{}{}.{} {}", micros < 0 ? "-" : "", size / 1000000, decimals, currency);
}

void to_json(nlohmann::json& json, const Money& money) {
  json = {{"micros", money.micros}, {"currency", money.currency}};
}

void from_json(const nlohmann::json& json, Money& money) {
  const nlohmann::json& micros = json.at("micros");
  // A number with a point would be cut, or not fit.
  if (!micros.is_number_integer())
    throw nlohmann::json::type_error::create(302, "micros is not an integer", &micros);
  money.micros = micros.get<int64_t>();
  money.currency = json.at("currency").get<std::string>();
}

void to_json(nlohmann::json& json, const MoneySum& sum) { json = sum.amounts(); }

void from_json(const nlohmann::json& json, MoneySum& sum) {
  sum = {};
  for (const Money& amount : json.get<std::vector<Money>>()) sum.add(amount);
}

void MoneySum::add(const Money& money) {
  if (money.zero()) return;
  int64_t& sum = micros_[money.currency];
  sum = saturated(sum, money.micros);
}

void MoneySum::subtract(const Money& money) {
  if (money.zero()) return;
  int64_t& sum = micros_[money.currency];
  sum = saturated(sum, money.micros == kLeast ? kMost : -money.micros);
}

bool MoneySum::zero() const {
  for (const auto& [currency, micros] : micros_) {
    if (micros != 0) return false;
  }
  return true;
}

std::vector<Money> MoneySum::amounts() const {
  std::vector<Money> amounts;
  for (const auto& [currency, micros] : micros_) {
    if (micros != 0) amounts.push_back({micros, currency});
  }
  return amounts;
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
