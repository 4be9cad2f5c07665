// What a region has on offer, by the built-in catalogue and by files that are laid over it.
#include "runtime/catalog/catalog.h"

#include <gtest/gtest.h>

#include <chrono>
#include <iterator>
#include <map>
#include <regex>
#include <thread>
#include <tuple>

#include "catalog/built_in.h"
#include "common/files.h"
#include "runtime/catalog/burstable.h"

namespace radl {
namespace {

constexpr double kGiB = 1073741824.0;
constexpr const char* kHead = "radl-catalog 2\ncloud ec2\ncurrency USD\n";
constexpr const char* kSmall = "m5.large 2 8192 0 - 0 750/10000 - x86_64 0\n";

std::vector<std::string> names(const std::vector<const InstanceType*>& types, size_t most = 100) {
  std::vector<std::string> names;
  for (const InstanceType* type : types)
    if (names.size() < most) names.push_back(type->name);
  return names;
}

std::string fault_of(const std::string& rest) { return check_catalog(kHead + rest, "f").message(); }

TEST(Catalog, TheBuiltInOneIsWholeAndDated) {
  const Catalog built_in = built_in_catalog();
  const std::map<std::string, size_t> least_regions = {{"ec2", 30}, {"gce", 43}, {"azure", 57}};
  ASSERT_EQ(std::size(catalog::kBuiltIn), least_regions.size());
  for (const auto& [cloud, text] : catalog::kBuiltIn) {
    Status right = check_catalog(text, cloud);
    EXPECT_TRUE(right.ok()) << right.text();
    EXPECT_EQ(built_in.as_of(cloud)->size(), 10u);
    EXPECT_FALSE(built_in.sources(cloud)->empty());
    EXPECT_GE(built_in.regions(cloud)->size(), least_regions.at(cloud)) << cloud;
  }
}

// The part of a region's types that has a price in a market.
double priced(const Catalog& catalog, const char* cloud, const std::string& region, Market market) {
  const auto types = *catalog.types(cloud, region);
  const auto known = std::count_if(types.begin(), types.end(),
                                   [&](const InstanceType* type) { return type->price(market).has_value(); });
  return types.empty() ? 0 : static_cast<double>(known) / static_cast<double>(types.size());
}

TEST(Catalog, GoogleAndAzureHaveTheirFamiliesInEachRegionWithPrices) {
  const Catalog catalog = built_in_catalog();
  for (const std::string& region : *catalog.regions("gce")) {
    EXPECT_GT(priced(catalog, "gce", region, Market::OnDemand), 0.6) << region;
    EXPECT_GT(priced(catalog, "gce", region, Market::Spot), 0.6) << region;
    EXPECT_NE(*catalog.find("gce", region, "c4-highmem-16"), nullptr) << region;
  }
  for (const std::string& region : *catalog.regions("azure")) {
    EXPECT_GT(priced(catalog, "azure", region, Market::OnDemand), 0.95) << region;
    EXPECT_NE(*catalog.find("azure", region, "Standard_D4s_v5"), nullptr) << region;
  }
  for (const char* name :
       {"e2-standard-4", "c3-standard-22", "c4-highmem-8", "n4-standard-2", "t2d-standard-4",
        "a2-ultragpu-1g", "a3-highgpu-8g", "g2-standard-4", "m3-ultramem-32",
        "n1-standard-4+1xnvidia-tesla-t4", "n1-standard-8+1xnvidia-tesla-v100"})
    for (Market market : {Market::OnDemand, Market::Spot})
      EXPECT_TRUE((*catalog.find("gce", "us-central1", name))->price(market)) << name;
  for (const char* name :
       {"Standard_B2s", "Standard_D4as_v6", "Standard_E8ds_v5", "Standard_F4s_v2", "Standard_L8s_v3",
        "Standard_NC4as_T4_v3", "Standard_NC24ads_A100_v4", "Standard_ND96isr_H100_v5"})
    EXPECT_TRUE((*catalog.find("azure", "eastus", name))->on_demand) << name;
  // What the source had for Windows is Linux's: the sizes of a family cost the same for each vCPU.
  const auto price = [&](const char* name) {
    return (*catalog.find("azure", "eastus", name))->on_demand->per_hour.micros;
  };
  EXPECT_EQ(price("Standard_D2as_v5") * 8, price("Standard_D16as_v5"));
  EXPECT_EQ((*catalog.find("gce", "us-central1", "e2-micro"))->cpu, 0.25) << "a part of a core is no core";
}

TEST(Catalog, AFamilyWithAStarHasTheSizeInItsPlace) {
  Catalog catalog;
  ASSERT_TRUE(
      catalog
          .add("radl-catalog 2\ncloud gce\ncurrency USD\n[types]\nn2-standard-8 8 1 0 - 0 0/0 - x86_64 0\n"
               "c3-standard-4-lssd 4 1 0 - 0 0/0 - x86_64 0\n[on-demand r 2026-01-01]\n"
               "n2-standard-* 8 0.5\nc3-standard-*-lssd 4 0.25\n",
               "f")
          .ok());
  EXPECT_EQ((*catalog.find("gce", "r", "n2-standard-8"))->on_demand->per_hour.text(), "0.50 USD");
  EXPECT_EQ((*catalog.find("gce", "r", "c3-standard-4-lssd"))->on_demand->per_hour.text(), "0.25 USD");
  EXPECT_EQ(fault_of("[on-demand r 2025-01-01]\nn2-* 2 x\n"), "f:5: the price of n2-2 is 'x'");
}

TEST(Catalog, ContainsEveryCommonFamily) {
  const Catalog catalog = built_in_catalog();
  // What old documents name, and what is current.
  for (const char* name : {"p2.xlarge",    "p3.2xlarge",  "g3.4xlarge",     "c4.large",     "m4.large",
                           "t2.micro",     "r4.large",    "m5.large",       "m6i.large",    "m7i.large",
                           "m7g.large",    "c5.large",    "c7i.large",      "r5.large",     "r7i.large",
                           "t3.medium",    "t4g.medium",  "g4dn.xlarge",    "g5.xlarge",    "g6.xlarge",
                           "p4d.24xlarge", "p5.48xlarge", "x2idn.16xlarge", "trn1.2xlarge", "inf2.xlarge"}) {
    auto type = catalog.find("ec2", "us-east-1", name);
    ASSERT_TRUE(type.ok()) << type.status().text();
    ASSERT_NE(*type, nullptr) << name;
    EXPECT_TRUE((*type)->on_demand) << name;
  }
  for (const char* region :
       {"us-east-2", "us-west-2", "eu-west-1", "eu-central-1", "ap-southeast-1", "sa-east-1"})
    EXPECT_GT(catalog.types("ec2", region)->size(), 400u) << region;
  EXPECT_TRUE(catalog.types("ec2", "mars-1")->empty());
}

TEST(Catalog, ATypeHasWhatAPlanAsksOf) {
  const Catalog catalog = built_in_catalog();
  const InstanceType& gpu = **catalog.find("ec2", "eu-west-1", "p3.2xlarge");
  EXPECT_EQ(gpu.cpu, 8);
  EXPECT_EQ(gpu.memory_bytes, 61 * kGiB);
  EXPECT_EQ(gpu.gpu, 1);
  EXPECT_EQ(gpu.gpu_vendor, "NVIDIA");
  EXPECT_EQ(gpu.gpu_model, "V100");
  EXPECT_EQ(gpu.gpu_memory_bytes, 16 * kGiB);
  EXPECT_EQ(gpu.on_demand->per_hour.text(), "3.305 USD");
  EXPECT_LT(gpu.spot->per_hour.micros, gpu.on_demand->per_hour.micros);
  EXPECT_EQ(gpu.network_peak, 10e9);
  const InstanceType& disk = **catalog.find("ec2", "us-east-1", "m5d.24xlarge");
  ASSERT_EQ(disk.disks.size(), 1u);
  EXPECT_EQ(disk.disks[0].count, 4);
  EXPECT_EQ(disk.disks[0].bytes, 900e9);
  EXPECT_EQ((*catalog.find("ec2", "us-east-1", "c4.large"))->ecu, 8);
  EXPECT_TRUE((*catalog.find("ec2", "us-east-1", "t4g.micro"))->runs("ARM64"));
  EXPECT_FALSE((*catalog.find("ec2", "us-east-1", "t4g.micro"))->runs("x86_64"));
}

TEST(Catalog, CandidatesAreInOrderOfPriceThenName) {
  Catalog catalog;
  ASSERT_TRUE(catalog
                  .add(std::string(kHead) + "[types]\n"
                                            "a.x 1 1 0 - 0 0/0 - x86_64 0\nb.x 1 1 0 - 0 0/0 - x86_64 0\n"
                                            "c.x 1 1 0 - 0 0/0 - x86_64 0\nd.x 9 1 0 - 0 0/0 - x86_64 0\n"
                                            "[on-demand r 2025-01-01]\na x -\nc x 0.2\nb x 0.2\nd x "
                                            "0.1\n[spot r 2025-01-01]\na x 0.01\n",
                       "f")
                  .ok());
  auto small = [](const InstanceType& type) { return type.cpu < 2; };
  EXPECT_EQ(names(*catalog.candidates("ec2", "r", Market::OnDemand, small)),
            (std::vector<std::string>{"b.x", "c.x", "a.x"}));
  EXPECT_EQ(names(*catalog.candidates("ec2", "r", Market::Spot, small))[0], "a.x");
}

TEST(Catalog, TheNewerPriceWinsInAnyOrder) {
  auto with = [](const char* date, const char* price) {
    return kHead + ("[types]\n" + std::string(kSmall)) + "[on-demand r " + date + "]\nm5 large " + price +
           "\n";
  };
  for (bool newer_last : {true, false}) {
    Catalog catalog;
    ASSERT_TRUE(catalog.add(newer_last ? with("2025-01-01", "1") : with("2026-01-01", "2"), "f").ok());
    ASSERT_TRUE(catalog.add(newer_last ? with("2026-01-01", "2") : with("2025-01-01", "1"), "g").ok());
    EXPECT_EQ((*catalog.find("ec2", "r", "m5.large"))->on_demand->per_hour.text(), "2.00 USD");
    EXPECT_EQ((*catalog.find("ec2", "r", "m5.large"))->on_demand->as_of, "2026-01-01");
    EXPECT_EQ(*catalog.as_of("ec2"), "2026-01-01");
  }
}

TEST(Catalog, AFileThatIsNotThereAddsNothingAndOneThatIsWrongIsNamed) {
  std::string path = testing::TempDir() + "radl-ec2.catalog";
  Catalog without = built_in_catalog();
  without.add_file(path + ".none", "ec2");
  EXPECT_TRUE(without.find("ec2", "eu-west-1", "m5.large").ok());
  ASSERT_TRUE(
      write_file_atomic(path, std::string(kHead) + "[on-demand eu-west-1 2026-12-01]\nm5 large much\n").ok());
  Catalog wrong = built_in_catalog();
  wrong.add_file(path, "ec2");
  auto asked = wrong.find("ec2", "eu-west-1", "m5.large");
  ASSERT_FALSE(asked.ok());
  EXPECT_NE(asked.status().message().find(path + ":5: the price of m5.large is 'much'"), std::string::npos)
      << asked.status().text();
  ASSERT_TRUE(
      write_file_atomic(path, std::string(kHead) + "[on-demand eu-west-1 2099-12-01]\nm5 large 7\n").ok());
  Catalog laid = built_in_catalog();
  laid.add_file(path, "ec2");
  EXPECT_EQ((*laid.find("ec2", "eu-west-1", "m5.large"))->on_demand->per_hour.text(), "7.00 USD");
  EXPECT_EQ((*laid.find("ec2", "eu-west-1", "m5.large"))->cpu, 2);
}

TEST(Catalog, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_TRUE(check_catalog(
                  std::string(kHead) + "[types]\n" + kSmall + "\n# x\n[spot r 2025-01-01]\nm5 large 1\n", "f")
                  .ok());
  EXPECT_EQ(check_catalog("radl-catalog 3\n", "f").message(), "f:1: it has version 3; this radlc reads 2");
  EXPECT_EQ(check_catalog("{}", "f").message(), "f:1: no catalogue: its first line is not 'radl-catalog 2'");
  EXPECT_EQ(check_catalog("\xEF\xBB\xBF" + std::string(kHead), "f").message(),
            check_catalog(kHead, "f").message());
  EXPECT_EQ(check_catalog("radl-catalog 2\n", "f").message(), "f:1: it names no cloud or no currency");
  EXPECT_EQ(fault_of("colour red\n"), "f:4: unknown field 'colour'");
  EXPECT_EQ(fault_of("[prices]\n"), "f:4: unknown section 'prices'; sections are types, on-demand and spot");
  EXPECT_NE(fault_of("[spot r 2025-02-30]\n").find("f:4: a section of prices has a region and a date"),
            std::string::npos);
  EXPECT_EQ(fault_of("[types]\nm5.large 2 -8192 0 - 0 1/1 - x86_64 0\n"),
            "f:5: m5.large: the memory is wrong");
  EXPECT_EQ(fault_of("[types]\nm5.large 2 8192 0 - 0 1/1 - x86_64 0 7\n"),
            "f:5: m5.large: the number of fields, which is 10, is wrong");
  EXPECT_EQ(fault_of(std::string("[types]\n") + kSmall + kSmall), "f: it lists m5.large twice");
  EXPECT_EQ(fault_of("[on-demand r 2025-01-01]\nm5 large 1\n"),
            "f: m5.large has a price and is not under [types]");
  EXPECT_EQ(fault_of("[on-demand r 2025-01-01]\n[on-demand r 2025-01-01]\n"),
            "f: it has two sections [on-demand r 2025-01-01]");
  EXPECT_EQ(fault_of("[on-demand r 2025-01-01]\nm5 large 1 xlarge\n"), "f:5: the price of m5.xlarge is ''");
}

TEST(Burstable, IsAsTheVendorsDocumentIt) {
  const Burstable* nano = burstable("ec2", "t3.nano");
  ASSERT_NE(nano, nullptr);
  EXPECT_EQ(nano->cores, 2);
  EXPECT_NEAR(nano->baseline * nano->cores * 60, 6, 1e-9) << "credits an hour";
  EXPECT_TRUE(nano->unlimited);
  EXPECT_EQ(nano->surplus_usd, 0.05);
  EXPECT_EQ(burstable("ec2", "t4g.micro")->surplus_usd, 0.04);
  const Burstable* large = burstable("ec2", "t2.2xlarge");
  ASSERT_NE(large, nullptr);
  EXPECT_NEAR(large->baseline * large->cores * 60, 81.6, 1e-9);
  EXPECT_EQ(large->launch_credits, 240);
  EXPECT_FALSE(large->unlimited);
  EXPECT_EQ(burstable("azure", "Standard_B4ms")->baseline, 0.225);
  EXPECT_EQ(burstable("gce", "e2-medium")->baseline, 0.5);
  EXPECT_EQ(burstable("ec2", "m5.large"), nullptr);
  EXPECT_EQ(burstable("gce", "t2.nano"), nullptr);
}

TEST(Burstable, EveryTypeOfTheCataloguesThatIsOneIsInTheTable) {
  const Catalog catalog = built_in_catalog();
  const std::regex burst(
      "t2\\..*|t3a?\\..*|t4g\\..*|Standard_B\\d.*|e2-(micro|small|medium)|f1-micro|g1-small");
  for (const char* cloud : {"ec2", "azure", "gce"}) {
    size_t found = 0;
    for (const std::string& name : *catalog.type_names(cloud)) {
      const bool is_one = std::regex_match(name, burst);
      EXPECT_EQ(burstable(cloud, name) != nullptr, is_one) << name;
      found += is_one ? 1 : 0;
    }
    EXPECT_GE(found, 5u) << cloud;
  }
}

TEST(Catalog, ManyThreadsMayAsk) {
  const Catalog catalog = built_in_catalog();
  std::vector<std::thread> threads;
  for (const char* region : {"us-east-1", "eu-west-1", "us-east-1", "sa-east-1"})
    threads.emplace_back([&catalog, region] { EXPECT_FALSE(catalog.types("ec2", region)->empty()); });
  for (std::thread& thread : threads) thread.join();
}

// As the vendors document them (tools/catalog/network.csv); what was not read stays unknown.
TEST(Catalog, TheNetworkOfComputeEngineAndAzureIsKnown) {
  const Catalog catalog = built_in_catalog();
  const std::tuple<const char*, const char*, const char*, double> types[] = {
      {"gce", "europe-west1", "n2-standard-8", 16e9},
      {"gce", "europe-west1", "e2-standard-2", 4e9},
      {"gce", "europe-west1", "e2-micro", 1e9},
      {"azure", "westeurope", "Standard_D16s_v5", 12.5e9},
      {"azure", "westeurope", "Standard_E20as_v5", 12.5e9},
      {"azure", "westeurope", "Standard_F72s_v2", 30e9},
      {"azure", "westeurope", "Standard_B2ms", 0}};
  for (const auto& [cloud, region, name, bits] : types) {
    auto type = catalog.find(cloud, region, name);
    ASSERT_TRUE(type.ok() && *type != nullptr) << name;
    EXPECT_EQ((*type)->network_peak, bits) << name;
    EXPECT_EQ((*type)->network_sustained, 0) << name;
  }
  for (const char* cloud : {"gce", "azure"}) {
    size_t known = 0, all = 0;
    auto regions = catalog.regions(cloud);
    ASSERT_TRUE(regions.ok());
    for (const std::string& region : *regions) {
      auto types_of_it = catalog.types(cloud, region);
      ASSERT_TRUE(types_of_it.ok());
      for (const InstanceType* type : *types_of_it) ++all, known += type->network_peak > 0;
    }
    EXPECT_GT(known, 0.75 * static_cast<double>(all)) << cloud;
  }
}

}  // namespace
}  // namespace radl
