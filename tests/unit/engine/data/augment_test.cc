// Each augmentation does what its name says, and nothing when it is off.
#include "engine/data/augment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace radl::engine::data {
namespace {

const Normalization kPlain{{0, 0, 0}, {1 / 255.f, 1 / 255.f, 1 / 255.f}};  // output = stored byte
constexpr InputShape kShape{8, 6, 3};

// Pixel (y, x) is (10 y + x, 100 + x, 200).
std::vector<uint8_t> ramp(InputShape s = kShape) {
  std::vector<uint8_t> p;
  for (int y = 0; y < s.height; ++y) {
    for (int x = 0; x < s.width; ++x) p.insert(p.end(), {uint8_t(10 * y + x), uint8_t(100 + x), 200});
  }
  return p;
}

std::vector<float> run(const Augment& a, uint64_t seed, uint64_t epoch, uint64_t index,
                       const Normalization& n = kPlain) {
  Transform t(kShape, a, n);
  Transform::Scratch scratch;
  std::vector<float> result(pixel_count(kShape));
  auto p = ramp();
  t.train(p.data(), seed, epoch, index, scratch, result);
  return result;
}

int at(const std::vector<float>& v, int y, int x, int c = 0, InputShape s = kShape) {
  return int(std::lround(v[size_t((y * s.width + x) * s.channels + c)]));
}

TEST(Augment, OffIsNormalisationOnly) {
  auto v = run({}, 1, 2, 3);
  auto p = ramp();
  for (size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(v[i], p[i], 1e-3);
  auto n = run({}, 1, 2, 3, {{0.5f, 0.25f, 0}, {0.5f, 0.25f, 1}});
  EXPECT_NEAR(n[0], (p[0] / 255.f - 0.5f) / 0.5f, 1e-6);
  EXPECT_NEAR(n[1], (p[1] / 255.f - 0.25f) / 0.25f, 1e-6);
}

TEST(Augment, FlipMirrorsHalfOfTheImages) {
  Augment a;
  a.flip = Augment::Flip::Random;
  int mirrored = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    auto v = run(a, 1, 0, i);
    bool m = at(v, 2, 0) == 25;
    ASSERT_TRUE(m || at(v, 2, 0) == 20);
    for (int x = 0; x < 6; ++x) ASSERT_EQ(at(v, 2, x), m ? 25 - x : 20 + x);
    mirrored += m;
  }
  EXPECT_NEAR(mirrored, 500, 60);
}

TEST(Augment, AlternateFlipShowsBothSidesInTwoEpochs) {
  Augment a;
  a.flip = Augment::Flip::Alternate;
  int first = 0;
  for (uint64_t i = 0; i < 400; ++i) {
    bool even = at(run(a, 1, 0, i), 0, 0) == 5, odd = at(run(a, 1, 1, i), 0, 0) == 5;
    EXPECT_NE(even, odd);
    EXPECT_EQ(even, at(run(a, 1, 2, i), 0, 0) == 5);
    first += even;
  }
  EXPECT_NEAR(first, 200, 50);
}

TEST(Augment, TranslationReachesEveryOffsetAndReflects) {
  Augment a;
  a.translate = 2;
  std::set<std::pair<int, int>> offsets;
  for (uint64_t i = 0; i < 800; ++i) {
    auto v = run(a, 1, 0, i);
    int centre = at(v, 4, 3);
    int dy = centre / 10 - 4, dx = centre % 10 - 3;
    offsets.insert({dy, dx});
    int y = dy, x = dx;  // of the output's corner
    EXPECT_EQ(at(v, 0, 0), 10 * std::abs(y) + std::abs(x));
  }
  EXPECT_EQ(offsets.size(), 25u);
}

TEST(Augment, ZeroPaddingShowsTheMean) {
  Augment a;
  a.translate = 3;
  a.padding = Augment::Padding::Zero;
  Normalization n{{51 / 255.f, 51 / 255.f, 51 / 255.f}, {1 / 255.f, 1 / 255.f, 1 / 255.f}};
  int zeros = 0;
  for (uint64_t i = 0; i < 50; ++i) {
    auto v = run(a, 1, 0, i, n);
    if (at(v, 0, 0, 2) == 0) {  // blue is 200 everywhere inside
      ++zeros;
      EXPECT_EQ(at(v, 0, 0, 1), 0);
    } else {
      EXPECT_EQ(at(v, 0, 0, 2), 149);
    }
  }
  EXPECT_GT(zeros, 10);
}

TEST(Augment, CutoutBlanksAtMostItsSquare) {
  Augment a;
  a.cutout = 3;
  bool full = false;
  for (uint64_t i = 0; i < 200; ++i) {
    auto v = run(a, 1, 0, i);
    int blank = 0;
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 6; ++x) blank += at(v, y, x, 2) == 0;
    }
    EXPECT_GE(blank, 4);
    EXPECT_LE(blank, 9);
    full |= blank == 9;
  }
  EXPECT_TRUE(full);
}

TEST(Augment, EvaluationIsTheImageItsMirrorOrItShifted) {
  Transform t(kShape, {}, kPlain);
  Transform::Scratch scratch;
  std::vector<float> v(pixel_count(kShape));
  auto p = ramp();
  t.evaluate(p.data(), scratch, v);
  EXPECT_EQ(at(v, 2, 2), 22);
  t.evaluate(p.data(), scratch, v, true);
  EXPECT_EQ(at(v, 2, 2), 23);
  t.evaluate(p.data(), scratch, v, false, -1, 1);
  EXPECT_EQ(at(v, 2, 2), 13);
}

TEST(Augment, ResizedCropStaysInsideTheImage) {
  Augment a;
  a.crop_area = 0.3f;
  for (uint64_t i = 0; i < 200; ++i) {
    auto v = run(a, 1, 0, i);
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 6; ++x) {
        EXPECT_EQ(at(v, y, x, 2), 200);  // blue is constant: resampling must keep it
        EXPECT_GE(at(v, y, x, 1), 100);
        EXPECT_LE(at(v, y, x, 1), 105);
        EXPECT_GE(at(v, y, x, 1), at(v, y, std::max(x - 1, 0), 1));  // no mirror
      }
    }
  }
}

TEST(Augment, ColourChangesStayInTheirRange) {
  Augment a;
  a.brightness = 0.2f;
  bool changed = false;
  for (uint64_t i = 0; i < 100; ++i) {
    int blue = at(run(a, 1, 0, i), 3, 3, 2);
    EXPECT_GE(blue, 160);
    EXPECT_LE(blue, 240);
    changed |= blue != 200;
  }
  EXPECT_TRUE(changed);
}

TEST(Transform, RefusesWhatDoesNotFit) {
  EXPECT_TRUE(Transform::check({8, 8, 3}, {}, kPlain).ok());
  EXPECT_FALSE(Transform::check({8, 0, 3}, {}, kPlain).ok());
  EXPECT_FALSE(Transform::check({8, 8, 1}, {}, kPlain).ok());
  EXPECT_FALSE(Transform::check({8, 8, 3}, {}, {{0, 0, 0}, {1, 0, 1}}).ok());
  Augment a;
  a.translate = 8;
  EXPECT_FALSE(Transform::check({8, 8, 3}, a, kPlain).ok());
}

}  // namespace
}  // namespace radl::engine::data
