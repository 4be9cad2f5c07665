// The CIFAR reader: layout, and exact errors for files that are not what they must be.
#include "engine/data/cifar.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "common/digest.h"
#include "common/files.h"

namespace radl::engine::data {
namespace {

std::string record(int label, int red, int green, int blue) {
  std::string r(1, char(label));
  r += std::string(1024, char(red)) + std::string(1024, char(green)) + std::string(1024, char(blue));
  return r;
}

struct Folder {
  std::string path = testing::TempDir() + "cifar-" + to_hex(random_bytes(6));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  void put(const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories(std::filesystem::path(path + "/" + name).parent_path());
    ASSERT_TRUE(write_file_atomic(path + "/" + name, bytes).ok());
  }
};

TEST(Cifar, PlanesBecomeInterleavedPixelsInFileOrder) {
  Folder f;
  std::string one = record(7, 1, 2, 3);
  one[1 + 5] = 99;  // red of pixel (0, 5)
  f.put("data_batch_1.bin", one + record(2, 4, 5, 6));
  f.put("data_batch_2.bin", record(9, 7, 8, 9));
  auto d = read_cifar(f.path, true);
  ASSERT_TRUE(d.ok()) << d.status().text();
  ASSERT_EQ((*d)->size(), 3u);
  EXPECT_EQ((*d)->label(0), 7);
  EXPECT_EQ((*d)->label(1), 2);
  EXPECT_EQ((*d)->label(2), 9);
  const uint8_t* p = (*d)->pixels(0);
  EXPECT_EQ(p[0], 1);
  EXPECT_EQ(p[1], 2);
  EXPECT_EQ(p[2], 3);
  EXPECT_EQ(p[15], 99);
  EXPECT_EQ((*d)->pixels(2)[0], 7);
  EXPECT_EQ((*d)->class_names()[7], "horse");
}

TEST(Cifar, TheArchivesOwnSubfolderIsFound) {
  Folder f;
  f.put("cifar-10-batches-bin/test_batch.bin", record(1, 1, 1, 1));
  EXPECT_TRUE(read_cifar(f.path, false).ok());
}

TEST(Cifar, CutOffRecordNamesFileRecordAndBytes) {
  Folder f;
  f.put("test_batch.bin", record(1, 0, 0, 0) + record(1, 0, 0, 0).substr(0, 1200));
  auto d = read_cifar(f.path, false);
  ASSERT_FALSE(d.ok());
  EXPECT_EQ(d.status().code(), Code::Corrupt);
  EXPECT_NE(d.status().message().find("test_batch.bin: record 1 is cut off: 1200 of 3073 bytes"),
            std::string::npos)
      << d.status().message();
}

TEST(Cifar, LabelOutOfRangeNamesTheRecord) {
  Folder f;
  f.put("test_batch.bin", record(1, 0, 0, 0) + record(10, 0, 0, 0));
  auto d = read_cifar(f.path, false);
  ASSERT_FALSE(d.ok());
  EXPECT_NE(d.status().message().find("test_batch.bin: record 1: label 10 is not in 0..9"),
            std::string::npos);
}

TEST(Cifar, BadRecordsCanBeSkippedAndAreCounted) {
  Folder f;
  f.put("test_batch.bin", record(1, 0, 0, 0) + record(200, 0, 0, 0) + record(3, 0, 0, 0) + "x");
  auto d = read_cifar(f.path, false, {.skip_corrupt = true});
  ASSERT_TRUE(d.ok());
  EXPECT_EQ((*d)->size(), 2u);
  EXPECT_EQ((*d)->report().skipped, 2u);
  EXPECT_EQ((*d)->report().problems.size(), 2u);
  EXPECT_EQ((*d)->label(1), 3);
}

TEST(Cifar, EmptyAndMissingFilesAreDifferentErrors) {
  Folder f;
  EXPECT_EQ(read_cifar(f.path, true).status().code(), Code::NotFound);
  EXPECT_NE(read_cifar(f.path, true).status().hint().find("radl-train data cifar10"), std::string::npos);
  f.put("data_batch_1.bin", "");
  EXPECT_EQ(read_cifar(f.path, true).status().code(), Code::Corrupt);
}

TEST(Cifar, HundredClassesUseTheFineLabel) {
  Folder f;
  f.put("train.bin", std::string(1, char(19)) + record(99, 1, 2, 3));
  auto d = read_cifar(f.path, true, {.classes = 100});
  ASSERT_TRUE(d.ok()) << d.status().text();
  EXPECT_EQ((*d)->label(0), 99);
  EXPECT_EQ((*d)->pixels(0)[0], 1);
}

TEST(Normalization, IsExactOnKnownPixels) {
  MemoryDataset d({1, 2, 3}, 2, {}, {0, 10, 255, 255, 10, 255}, {0});
  auto n = measure_normalization(d);
  ASSERT_TRUE(n.ok());
  EXPECT_FLOAT_EQ(n->mean[0], 0.5f);
  EXPECT_FLOAT_EQ(n->deviation[0], 0.5f);
  EXPECT_FLOAT_EQ(n->mean[1], 10 / 255.f);
  EXPECT_FLOAT_EQ(n->deviation[1], 1.f);  // constant channel
}

}  // namespace
}  // namespace radl::engine::data
