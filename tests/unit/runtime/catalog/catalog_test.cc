#include "runtime/catalog/catalog.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

constexpr double kGiB = 1073741824.0;

TEST(Catalog, TheBuiltInOneIsDatedAndFindsTheCheapest) {
  Result<Catalog> catalog = built_in_catalog();
  ASSERT_TRUE(catalog.ok()) << catalog.status().text();
  EXPECT_EQ(catalog->as_of.size(), 10u);
  EXPECT_FALSE(catalog->source.empty());
  EXPECT_EQ(catalog->cheapest("ec2", "us-east-1", 2, 4 * kGiB, 0)->name, "t3.medium");
  EXPECT_EQ(catalog->cheapest("ec2", "us-east-1", 1, 1 * kGiB, 1)->name, "g4dn.xlarge");
  EXPECT_FALSE(catalog->cheapest("ec2", "us-east-1", 1000, 0, 0).has_value());
  EXPECT_EQ(catalog->cheapest("local", "", 0, 0, 0)->price_per_hour, 0);
}

TEST(Catalog, BadDataIsNamed) {
  std::string type =
      R"({"provider":"p","region":"","name":"x","cpu":1,"memory_mib":1,"gpu":0,"price_per_hour":1})";
  auto with = [](const std::string& types, int version = 1) {
    return R"({"catalog":)" + std::to_string(version) +
           R"(,"as_of":"d","source":"s","currency":"USD","types":[)" + types + "]}";
  };
  EXPECT_TRUE(parse_catalog(with(type)).ok());
  EXPECT_NE(parse_catalog(with(type + "," + type)).status().message().find("x twice"), std::string::npos);
  EXPECT_NE(parse_catalog(with(type, 2)).status().message().find("version 2"), std::string::npos);
  EXPECT_FALSE(parse_catalog(with(R"({"name":"x"})")).ok());
  EXPECT_FALSE(parse_catalog("no json").ok());
}

}  // namespace
}  // namespace radl
