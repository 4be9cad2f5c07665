// Amounts of money: exact, and never added across currencies.
#include "runtime/base/money.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace radl {
namespace {

TEST(MoneyText, IsExactWithTwoDecimalsAtLeast) {
  EXPECT_EQ(Money::of(0.1).text(), "0.10 USD");
  EXPECT_EQ(Money::of(0.0416, "EUR").text(), "0.0416 EUR");
  EXPECT_EQ(Money().text(), "0.00 USD");
  EXPECT_EQ((Money{-1500000, "USD"}).text(), "-1.50 USD");
  EXPECT_EQ((Money{1, "USD"}).text(), "0.000001 USD");
  EXPECT_EQ((Money{std::numeric_limits<int64_t>::min(), "USD"}).text(), "-9223372036854.775808 USD");
}

TEST(MoneyParse, TakesPricesAndNothingElse) {
  int64_t micros = 0;
  EXPECT_TRUE(Money::parse(0.0416, micros));
  EXPECT_EQ(micros, 41600);
  for (double wrong :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 1e300})
    EXPECT_FALSE(Money::parse(wrong, micros)) << wrong;
}

TEST(MoneySums, StandByCurrency) {
  MoneySum sum;
  for (int i = 0; i < 10; ++i) sum.add(Money::of(0.1));
  EXPECT_EQ(*sum.total(), Money::of(1));
  sum.add(Money::of(2, "EUR"));
  EXPECT_EQ(sum.total().status().message(), "amounts in EUR and USD cannot be added");
  sum.subtract(Money::of(1));
  EXPECT_EQ(*sum.total(), Money::of(2, "EUR")) << "what came to nothing is no currency of its own";
  MoneySum same;
  same.add(Money::of(2, "EUR"));
  EXPECT_EQ(sum, same);
  EXPECT_EQ(nlohmann::json(sum).get<MoneySum>(), sum);
}

TEST(MoneySums, StayAtTheEndOfTheirRange) {
  MoneySum sum;
  const int64_t most = std::numeric_limits<int64_t>::max();
  sum.add({most, "USD"});
  sum.add({most, "USD"});
  EXPECT_EQ(sum.total()->micros, most);
}

TEST(MoneyJson, TakesNoDecimals) {
  EXPECT_EQ(nlohmann::json(Money::of(0.1, "EUR")), nlohmann::json({{"micros", 100000}, {"currency", "EUR"}}));
  EXPECT_THROW((void)nlohmann::json({{"micros", 0.1}, {"currency", "EUR"}}).get<Money>(),
               nlohmann::json::exception);
}

}  // namespace
}  // namespace radl
