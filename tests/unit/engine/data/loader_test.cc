// What a batch holds depends on seed and number only; errors name the image.
#include "engine/data/loader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "engine/data/shrink.h"

namespace radl::engine::data {
namespace {

// Image i is filled with byte i % 251.
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

// The images of an epoch's batches, told by their pixels.
std::vector<std::vector<size_t>> epoch_images(Loader& loader, uint64_t epoch) {
  std::vector<std::vector<size_t>> all;
  const uint64_t n = loader.batches_per_epoch();
  for (uint64_t t = epoch * n; t < (epoch + 1) * n; ++t) {
    auto b = loader.get(t);
    EXPECT_TRUE(b.ok());
    loader.hint(t + 1);
    auto& images = all.emplace_back();
    const size_t pixels = b->images.size() / size_t(b->size);
    for (size_t i = 0; i < size_t(b->size); ++i)
      images.push_back(size_t(std::lround(b->images[i * pixels] * 255)));
  }
  return all;
}

TEST(Loader, GivesEveryImageOnceWithItsLabelAndPixels) {
  auto loader = Loader::create(numbered(105), options(10));
  ASSERT_TRUE(loader.ok());
  EXPECT_EQ((*loader)->batches_per_epoch(), 10u) << "what does not fill a batch is left out";
  std::set<size_t> seen;
  for (uint64_t t = 0; t < 10; ++t) {
    auto b = (*loader)->get(t);
    ASSERT_TRUE(b.ok());
    ASSERT_EQ(b->size, 10);
    for (size_t i = 0; i < 10; ++i) {
      size_t index = size_t(std::lround(b->images[i * 192] * 255));
      EXPECT_TRUE(seen.insert(index).second);
      EXPECT_EQ(b->labels[i], int32_t(index % 10));
      EXPECT_FLOAT_EQ(b->images[i * 192 + 191], float(index) / 255);
    }
  }
}

TEST(Loader, EpochsDifferSeedsDifferRepeatsDoNot) {
  LoaderOptions o = options(10);
  auto a = Loader::create(numbered(100), o);
  o.threads = 4;
  auto b = Loader::create(numbered(100), o);
  o.seed = 2;
  auto c = Loader::create(numbered(100), o);
  auto first = epoch_images(**a, 0);
  EXPECT_EQ(first, epoch_images(**b, 0));
  EXPECT_NE(first, epoch_images(**a, 1));
  EXPECT_NE(first, epoch_images(**c, 0));
  EXPECT_EQ(first, epoch_images(**a, 0));
}

// As members of a cluster ask: any batch, in any order, hinted at or not.
TEST(Loader, ABatchIsTheSameBitsWhoeverAsksAndWhenever) {
  LoaderOptions o = options(10);
  o.augment.flip = Augment::Flip::Random;
  o.augment.translate = 2;
  o.augment.cutout = 3;
  o.augment.brightness = 0.3f;
  auto inorder = Loader::create(numbered(100), o);
  std::map<uint64_t, std::vector<float>> want;
  for (uint64_t t = 0; t < 60; ++t) {
    auto b = (*inorder)->get(t);
    (*inorder)->hint(t + 1);
    want[t].assign(b->images.begin(), b->images.end());
  }
  o.threads = 3;
  auto other = Loader::create(numbered(100), o);
  for (uint64_t t : {57u, 3u, 19u, 20u, 0u, 40u, 41u, 59u, 9u, 29u}) {
    (*other)->hint(t % 2 ? t : t + 20);  // a right one, and one of another epoch that is not asked for
    auto b = (*other)->get(t);
    ASSERT_TRUE(b.ok());
    EXPECT_TRUE(std::equal(b->images.begin(), b->images.end(), want[t].begin(), want[t].end())) << t;
  }
}

// Every output pixel is the mean of the area that it covers.
TEST(Shrink, KeepsMeansAndAreas) {
  const Shrink whole({4, 6, 2}, {4, 6, 2}), half({4, 6, 2}, {2, 3, 2}), uneven({4, 6, 2}, {3, 4, 2});
  std::vector<float> in(48), same(48), small(12), odd(24);
  for (size_t i = 0; i < in.size(); ++i) in[i] = float((i * 37) % 48);
  whole.apply(in, same);
  EXPECT_EQ(in, same);
  half.apply(in, small);
  const auto at = [&](int y, int x, int c) { return in[size_t((y * 6 + x) * 2 + c)]; };
  EXPECT_FLOAT_EQ(small[size_t(1 * 3 + 2) * 2 + 1],
                  (at(2, 4, 1) + at(2, 5, 1) + at(3, 4, 1) + at(3, 5, 1)) / 4);
  uneven.apply(in, odd);
  // Rows of 4/3, columns of 3/2: the first covers all of row 0 and a third of row 1, all of column 0, half
  // of 1.
  const float first = (at(0, 0, 0) + at(0, 1, 0) / 2 + (at(1, 0, 0) + at(1, 1, 0) / 2) / 3) / 2;
  EXPECT_NEAR(odd[0], first, 1e-4);
  double before = 0, after = 0;
  for (float v : in) before += v / 48;
  for (float v : odd) after += v / 24;
  EXPECT_NEAR(before, after, 1e-4);
}

TEST(Loader, EarlyBatchesAreScaledDown) {
  LoaderOptions o = options(10);
  o.stages = {{12, {4, 4, 3}}, {15, {6, 6, 3}}};
  auto scaled = Loader::create(numbered(100), o), plain = Loader::create(numbered(100), options(10));
  ASSERT_TRUE(scaled.ok()) << scaled.status().text();
  for (uint64_t t : {0u, 11u, 12u, 14u, 15u, 40u, 3u}) {
    (*scaled)->hint(t);
    auto a = (*scaled)->get(t), b = (*plain)->get(t);
    const size_t values = t < 12 ? 48 : t < 15 ? 108 : 192;
    ASSERT_EQ(a->images.size(), 10 * values) << t;
    for (size_t i = 0; i < 10; ++i) {
      EXPECT_NEAR(a->images[i * values + values - 1], b->images[i * 192], 1e-5) << t;
      EXPECT_EQ(a->labels[i], b->labels[i]);
    }
  }
  o.stages = {{12, {4, 9, 3}}};
  EXPECT_EQ(Loader::create(numbered(100), o).status().message(),
            "images of 8x8x3 cannot be scaled down to 4x9x3");
}

TEST(Loader, ABatchLargerThanTheDatasetIsAnErrorWithNumbers) {
  auto loader = Loader::create(numbered(100), options(101));
  ASSERT_FALSE(loader.ok());
  EXPECT_EQ(loader.status().message(), "batch_size: 101 is more than the 100 training images");
}

TEST(Loader, NormalisationOfAnotherChannelCountIsRefused) {
  LoaderOptions o = options(10);
  o.normalization = {{0.f}, {1.f}};
  EXPECT_EQ(Loader::create(numbered(100), o).status().code(), Code::Invalid);
}

// Every seventh image cannot be decoded.
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

TEST(Loader, CorruptImagesStopTheRunOrAreSkippedAndCounted) {
  LoaderOptions o = options(70);
  auto strict = Loader::create(std::make_shared<Broken>(), o);
  auto b = (*strict)->get(0);
  ASSERT_FALSE(b.ok());
  EXPECT_EQ(b.status().code(), Code::Corrupt);
  EXPECT_NE(b.status().message().find(".jpg: cut off"), std::string::npos);
  o.skip_corrupt = true;
  o.batch_size = 10;
  auto lenient = Loader::create(std::make_shared<Broken>(), o);
  std::set<size_t> given;
  for (auto& batch : epoch_images(**lenient, 0)) given.insert(batch.begin(), batch.end());
  EXPECT_EQ(given.size(), 60u);
  EXPECT_FALSE(given.contains(3));
  EXPECT_EQ((*lenient)->skipped(), 10u);
}

TEST(EpochOrder, IsAPermutation) {
  auto order = epoch_order(1000, 3, 9);
  std::set<uint32_t> all(order.begin(), order.end());
  EXPECT_EQ(all.size(), 1000u);
  EXPECT_EQ(*all.rbegin(), 999u);
  EXPECT_NE(order, epoch_order(1000, 3, 10));
}

}  // namespace
}  // namespace radl::engine::data
