// The AWS price list as the bulk API gives it, made into prices of the catalogue.
#include "runtime/catalog/price_list.h"

#include <gtest/gtest.h>

#include <memory>

#include "runtime/clouds/ec2/price_list.h"

namespace radl::catalog {
namespace {

std::string product(const std::string& sku, const std::string& type, const std::string& more) {
  return "\"" + sku + R"(":{"sku":")" + sku +
         R"(","productFamily":"Compute Instance","attributes":{"instanceType":")" + type +
         R"(","vcpu":"8","memory":"1,024 GiB","ecu":"NA","networkPerformance":"Up to 10 Gigabit",)"
         R"("physicalProcessor":"AWS Graviton4 Processor","regionCode":"eu-west-1","preInstalledSw":"NA",)" +
         more + "}}";
}
const std::string kPlain = R"("operatingSystem":"Linux","tenancy":"Shared","capacitystatus":"Used")";

std::string term(const std::string& sku, const std::string& price) {
  return "\"" + sku +
         R"(":{"T":{"priceDimensions":{"R":{"unit":"Hrs","appliesTo":[],"pricePerUnit":{"USD":")" + price +
         "\"}}}}}";
}
std::string list_of(const std::string& products, const std::string& terms) {
  return R"({"formatVersion":"v1.0","publicationDate":"2026-11-20T01:02:03Z","products":{)" + products +
         R"(},"terms":{"OnDemand":{)" + terms + R"(},"Reserved":{)" + term("A", "9") + "}}}";
}

Result<PriceList> read(const std::string& json) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  std::fwrite(json.data(), 1, json.size(), file.get());
  std::rewind(file.get());
  return ec2::read_price_list(file.get(), "list");
}

TEST(PriceList, PlainLinuxByTheHourIsTaken) {
  auto list = read(list_of(
      product("A", "m9.large", kPlain) + "," +
          product("B", "m5.large",
                  R"("operatingSystem":"Linux","tenancy":"Dedicated","capacitystatus":"Used")") +
          "," +
          product("C", "m5.large",
                  R"("operatingSystem":"Windows","tenancy":"Shared","capacitystatus":"Used")") +
          "," +
          product(
              "D", "m5.large",
              R"("operatingSystem":"Linux","tenancy":"Shared","capacitystatus":"AllocatedCapacityReservation")") +
          "," + product("E", "m5.large", kPlain + R"(,"marketoption":"CapacityBlock")") + "," +
          product("F", "m5.xlarge", kPlain),
      term("A", "0.1070000000") + "," + term("B", "5") + "," + term("C", "6") + "," + term("D", "7") + "," +
          term("E", "8")));
  ASSERT_TRUE(list.ok()) << list.status().text();
  EXPECT_EQ(list->region, "eu-west-1");
  EXPECT_EQ(list->as_of, "2026-11-20");
  ASSERT_EQ(list->types.size(), 1u);  // F has no price
  const InstanceType& type = list->types.at("m9.large");
  EXPECT_EQ(type.on_demand->per_hour.text(), "0.107 USD");
  EXPECT_EQ(type.cpu, 8);
  EXPECT_EQ(type.memory_bytes, 1024.0 * 1073741824);
  EXPECT_EQ(type.architectures, "arm64");
  EXPECT_EQ(type.network_peak, 10e9);
}

TEST(PriceList, AFileThatIsNotAListIsRejected) {
  for (const char* text : {"", "{", "[]", "{}", "<html>", R"({"publicationDate":"x"})"})
    EXPECT_FALSE(read(text).ok()) << text;
  std::string deep(100, '[');
  EXPECT_NE(read(deep).status().message().find("nested too deep"), std::string::npos);
}

TEST(PriceList, PricesOfARegionTakeThePlaceOfItsOlderOnes) {
  auto list = read(list_of(product("A", "m5.large", kPlain) + "," + product("B", "m99.large", kPlain),
                           term("A", "7") + "," + term("B", "8")));
  ASSERT_TRUE(list.ok()) << list.status().text();
  const Catalog built_in = built_in_catalog();
  auto first = with_prices("", *list, built_in);
  ASSERT_TRUE(first.ok()) << first.status().text();
  list->types.at("m5.large").on_demand->per_hour.micros = 9000000;
  auto second = with_prices(*first + "\n[spot eu-west-1 2026-01-01]\nm5 large 1\n", *list, built_in);
  ASSERT_TRUE(second.ok()) << second.status().text();
  const auto known = *built_in.type_names("ec2");
  EXPECT_TRUE(check_catalog(*second, "f", known).ok())
      << check_catalog(*second, "f", known).text() << *second;
  Catalog laid = built_in_catalog();
  ASSERT_TRUE(laid.add(*second, "f").ok());
  const InstanceType& type = **laid.find("ec2", "eu-west-1", "m5.large");
  EXPECT_EQ(type.on_demand->per_hour.text(), "9.00 USD");
  EXPECT_EQ(type.spot->per_hour.text(), "1.00 USD");
  EXPECT_EQ(type.memory_bytes, 8.0 * 1073741824);  // as the built-in catalogue has it
  EXPECT_EQ((*laid.find("ec2", "eu-west-1", "m99.large"))->cpu, 8);
  EXPECT_EQ((*laid.find("ec2", "us-east-1", "m5.large"))->on_demand->per_hour.text(), "0.096 USD");
}

const std::string kHead = "radl-catalog 2\ncloud ec2\ncurrency USD\n";

std::string prices_of(const std::string& section) { return kHead + "\n[types]\n\n" + section + "\n"; }

// What one file says of a region stays when another file is of another region, or older.
TEST(MergedCatalog, WhatANewFileDoesNotSayStays) {
  auto first = merged("", prices_of("[on-demand us-east-1 2026-11-01]\nm5.large 0.31"), "a", "2026-11-20");
  ASSERT_TRUE(first.ok()) << first.status().text();
  auto second =
      merged(*first, prices_of("[on-demand eu-west-1 2026-11-02]\nm5.large 0.41"), "b", "2026-11-20");
  ASSERT_TRUE(second.ok()) << second.status().text();
  EXPECT_NE(second->find("[on-demand us-east-1 2026-11-01]\nm5.large 0.31"), std::string::npos) << *second;
  EXPECT_NE(second->find("[on-demand eu-west-1 2026-11-02]\nm5.large 0.41"), std::string::npos) << *second;
  auto older =
      merged(*second, prices_of("[on-demand eu-west-1 2024-01-01]\nm5.large 0.99"), "c", "2026-11-20");
  ASSERT_TRUE(older.ok()) << older.status().text();
  EXPECT_EQ(older->find("0.99"), std::string::npos) << *older;
  auto again =
      merged(*older, prices_of("[on-demand eu-west-1 2026-11-02]\nm5.large 0.42"), "d", "2026-11-20");
  ASSERT_TRUE(again.ok());
  EXPECT_NE(again->find("0.42"), std::string::npos) << "of one day the new file's";
}

TEST(MergedCatalog, WhatCannotBeIsRefused) {
  const std::string kept = prices_of("[on-demand us-east-1 2026-11-01]\nm5.large 0.31");
  EXPECT_FALSE(merged(kept, prices_of("[spot us-east-1 2029-01-01]\nm5.large 0.1"), "f", "2026-11-20").ok());
  EXPECT_FALSE(merged(kept, "radl-catalog 2\ncloud ec2\ncurrency EUR\n", "f", "2026-11-20").ok());
}

}  // namespace
}  // namespace radl::catalog
