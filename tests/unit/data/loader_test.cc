// What a batch holds depends on seed, epoch and position only; shards are disjoint; errors name the picture.
#include "engine/data/loader.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace radl::engine::data {
namespace {

// Picture i is filled with byte i % 251.
DatasetPtr numbered(size_t n, InputShape shape = {8, 8, 3}) {
  std::vector<uint8_t> pixels(n * pixel_count(shape));
  std::vector<int32_t> labels(n);
  for (size_t i = 0; i < n; ++i) {
    std::fill_n(pixels.begin() + long(i * pixel_count(shape)), pixel_count(shape), uint8_t(i % 251));
    labels[i] = int32_t(i % 10);
  }
  return std::make_shared<MemoryDataset>(shape, 10, std::vector<std::string>{}, std::move(pixels),
                                         std::move(labels));
}

LoaderOptions options(int batch) {
  LoaderOptions o;
  o.batch_size = batch;
  o.normalization = {{0, 0, 0}, {1, 1, 1}};
  return o;
}

std::vector<std::vector<size_t>> epoch_indices(Loader& loader, int epoch, size_t first = 0) {
  std::vector<std::vector<size_t>> all;
  loader.start_epoch(epoch, first);
  for (;;) {
    auto b = loader.next();
    EXPECT_TRUE(b.ok());
    if (!*b) return all;
    all.emplace_back((*b)->indices.begin(), (*b)->indices.end());
  }
}

TEST(Loader, GivesEveryPictureOnceWithItsLabelAndPixels) {
  auto loader = Loader::create(numbered(100), options(10));
  ASSERT_TRUE(loader.ok());
  (*loader)->start_epoch(0);
  std::set<size_t> seen;
  for (int k = 0; k < 10; ++k) {
    auto b = (*loader)->next();
    ASSERT_TRUE(b.ok());
    ASSERT_NE(*b, nullptr);
    for (size_t i = 0; i < 10; ++i) {
      size_t index = (*b)->indices[i];
      EXPECT_TRUE(seen.insert(index).second);
      EXPECT_EQ((*b)->batch.labels[i], int32_t(index % 10));
      EXPECT_FLOAT_EQ((*b)->batch.images[i * 192], float(index) / 255);
    }
  }
  auto end = (*loader)->next();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(*end, nullptr);
}

TEST(Loader, ShardsAreDisjointAndOfEqualSize) {
  std::set<size_t> seen;
  for (int w = 0; w < 3; ++w) {
    LoaderOptions o = options(11);
    o.worker = w;
    o.workers = 3;
    auto loader = Loader::create(numbered(101), o);
    ASSERT_TRUE(loader.ok());
    EXPECT_EQ((*loader)->batches_per_epoch(), 3u);
    for (auto& b : epoch_indices(**loader, 4)) {
      for (size_t i : b) EXPECT_TRUE(seen.insert(i).second) << i;
    }
  }
  EXPECT_EQ(seen.size(), 99u);
}

TEST(Loader, EvaluationShardsCoverEverythingOnce) {
  std::set<size_t> seen;
  for (int w = 0; w < 3; ++w) {
    LoaderOptions o = options(16);
    o.worker = w;
    o.workers = 3;
    o.drop_last = o.shuffle = o.training = false;
    auto loader = Loader::create(numbered(101), o);
    for (auto& b : epoch_indices(**loader, 0)) seen.insert(b.begin(), b.end());
  }
  EXPECT_EQ(seen.size(), 101u);
}

TEST(Loader, EpochsDifferSeedsDifferRepeatsDoNot) {
  LoaderOptions o = options(10);
  auto a = Loader::create(numbered(100), o);
  o.threads = 4;
  auto b = Loader::create(numbered(100), o);
  o.seed = 2;
  auto c = Loader::create(numbered(100), o);
  auto first = epoch_indices(**a, 0);
  EXPECT_EQ(first, epoch_indices(**b, 0));
  EXPECT_NE(first, epoch_indices(**a, 1));
  EXPECT_NE(first, epoch_indices(**c, 0));
  EXPECT_EQ(first, epoch_indices(**a, 0));
}

TEST(Loader, ResumingInTheMiddleGivesTheSameBatchesBitForBit) {
  LoaderOptions o = options(10);
  o.augment.flip = Augment::Flip::Random;
  o.augment.translate = 2;
  o.augment.cutout = 3;
  o.augment.brightness = 0.3f;
  auto whole = Loader::create(numbered(100), o);
  o.threads = 3;
  auto resumed = Loader::create(numbered(100), o);
  (*whole)->start_epoch(5);
  for (int k = 0; k < 7; ++k) ASSERT_TRUE((*whole)->next().ok());
  (*resumed)->start_epoch(5, 7);
  for (int k = 7; k < 10; ++k) {
    auto x = (*whole)->next(), y = (*resumed)->next();
    ASSERT_TRUE(*x && *y);
    EXPECT_TRUE(std::equal((*x)->batch.images.begin(), (*x)->batch.images.end(), (*y)->batch.images.begin()));
  }
}

TEST(Loader, AnEpochCanBeAbandoned) {
  auto loader = Loader::create(numbered(1000), options(10));
  for (int e = 0; e < 20; ++e) {
    (*loader)->start_epoch(e);
    auto b = (*loader)->next();
    ASSERT_TRUE(b.ok());
    EXPECT_EQ((*b)->epoch, e);
    EXPECT_EQ((*b)->number, 0u);
  }
}

TEST(Loader, ABatchLargerThanTheShardIsAnErrorWithNumbers) {
  LoaderOptions o = options(60);
  o.workers = 2;
  auto loader = Loader::create(numbered(100), o);
  ASSERT_FALSE(loader.ok());
  EXPECT_NE(loader.status().message().find("60"), std::string::npos);
  EXPECT_NE(loader.status().message().find("50 pictures of each of 2 workers"), std::string::npos);
}

TEST(Loader, NormalisationOfAnotherChannelCountIsRefused) {
  LoaderOptions o = options(10);
  o.normalization = {{0.f}, {1.f}};
  EXPECT_EQ(Loader::create(numbered(100), o).status().code(), Code::Invalid);
}

// Every seventh picture cannot be decoded.
class Broken : public Dataset {
 public:
  size_t size() const override { return 70; }
  InputShape shape() const override { return {4, 4, 3}; }
  int classes() const override { return 2; }
  const std::vector<std::string>& class_names() const override { return names_; }
  int32_t label(size_t i) const override { return int32_t(i % 2); }
  Status read(size_t i, std::span<uint8_t> out) const override {
    if (i % 7 == 3) return Status(Code::Corrupt, "p" + std::to_string(i) + ".jpg: cut off");
    std::fill(out.begin(), out.end(), uint8_t(i));
    return {};
  }

 private:
  std::vector<std::string> names_;
};

TEST(Loader, CorruptPicturesStopTheRunOrAreSkippedAndCounted) {
  LoaderOptions o = options(10);
  o.shuffle = false;
  auto strict = Loader::create(std::make_shared<Broken>(), o);
  (*strict)->start_epoch(0);
  auto b = (*strict)->next();
  ASSERT_FALSE(b.ok());
  EXPECT_EQ(b.status().message(), "p3.jpg: cut off");
  o.skip_corrupt = true;
  auto lenient = Loader::create(std::make_shared<Broken>(), o);
  size_t given = 0;
  for (auto& batch : epoch_indices(**lenient, 0)) given += batch.size();
  EXPECT_EQ(given, 60u);
  EXPECT_EQ((*lenient)->statistics().skipped, 10u);
}

TEST(EpochOrder, IsAPermutation) {
  auto order = epoch_order(1000, 3, 9, true);
  std::set<uint32_t> all(order.begin(), order.end());
  EXPECT_EQ(all.size(), 1000u);
  EXPECT_EQ(*all.rbegin(), 999u);
  EXPECT_NE(order, epoch_order(1000, 3, 10, true));
}

}  // namespace
}  // namespace radl::engine::data
