// PNG and JPEG: what is encoded is decoded; damage is an error wherever it is; sizes are bounded.
#include "engine/data/image.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "common/files.h"

#include "engine/data/random.h"
#include "tests/support/paths.h"

namespace radl::engine::data {
namespace {

std::vector<uint8_t> noise(size_t n) {
  std::vector<uint8_t> v(n);
  KeyedRandom r(1, 2, 3);
  for (auto& b : v) b = uint8_t(r.next());
  return v;
}

TEST(Png, RoundTripOfColourAndGrey) {
  auto colour = noise(7 * 5 * 3), grey = noise(7 * 5);
  auto a = encode_png(7, 5, 3, colour), b = encode_png(7, 5, 1, grey);
  ASSERT_TRUE(a.ok() && b.ok());
  auto pa = decode_image(*a);
  ASSERT_TRUE(pa.ok()) << pa.status().text();
  EXPECT_EQ(pa->height, 7);
  EXPECT_EQ(pa->width, 5);
  EXPECT_EQ(pa->pixels, colour);
  auto pb = decode_image(*b, {.channels = 1});
  ASSERT_TRUE(pb.ok());
  EXPECT_EQ(pb->pixels, grey);
  auto spread = decode_image(*b);  // grey to RGB
  ASSERT_TRUE(spread.ok());
  EXPECT_EQ(spread->pixels[3], grey[1]);
  EXPECT_EQ(spread->pixels[5], grey[1]);
}

TEST(Png, EveryCutAndEveryClaimIsAnError) {
  auto a = *encode_png(16, 16, 3, noise(768));
  for (size_t n = 0; n < a.size(); n += 7)
    EXPECT_FALSE(decode_png(std::string_view(a).substr(0, n)).ok()) << n;
  auto big = decode_png(a, {.largest = 255});
  ASSERT_FALSE(big.ok());
  EXPECT_NE(big.status().message().find("more pixels"), std::string::npos);
  EXPECT_EQ(decode_image("").status().code(), Code::Corrupt);
  EXPECT_EQ(decode_image("GIF89a").status().code(), Code::Corrupt);
  EXPECT_FALSE(encode_png(2, 2, 3, noise(11)).ok());
}

// Small files of another encoder (tests/fuzz/data/seeds), 9 x 8 pixels of one ramp.
std::string seed(const std::string& name) {
  auto bytes = read_file(test::source_dir() + "/tests/fuzz/data/seeds/images/" + name);
  EXPECT_TRUE(bytes.ok()) << name;
  return bytes.ok() ? *bytes : "";
}

TEST(Jpeg, BaselineProgressiveAndGreyShowTheSame) {
  auto base = decode_image(seed("base.jpg")), progressive = decode_image(seed("progressive.jpg"));
  ASSERT_TRUE(base.ok()) << base.status().text();
  ASSERT_TRUE(progressive.ok()) << progressive.status().text();
  EXPECT_EQ(std::tuple(base->height, base->width, base->channels), std::tuple(8, 9, 3));
  EXPECT_EQ(base->pixels, progressive->pixels);  // the same coefficients in another order
  double error = 0;
  for (size_t i = 0; i < base->pixels.size(); ++i)
    error += std::abs(double(base->pixels[i]) - double(i * 7 % 256));
  EXPECT_LT(error / double(base->pixels.size()), 40);  // a rough image of what went in, at quality 50
  auto grey = decode_image(seed("grey.jpg")), as_grey = decode_image(seed("base.jpg"), {.channels = 1});
  ASSERT_TRUE(grey.ok() && as_grey.ok());
  EXPECT_EQ(grey->channels, 3);
  EXPECT_EQ(as_grey->channels, 1);
  for (size_t i = 0; i < as_grey->pixels.size(); ++i) {
    EXPECT_EQ(grey->pixels[3 * i], grey->pixels[3 * i + 2]);
    EXPECT_NEAR(grey->pixels[3 * i], as_grey->pixels[i], 24);
  }
}

TEST(Jpeg, EveryCutIsCorrupt) {
  for (const char* name : {"base.jpg", "progressive.jpg"}) {
    const std::string whole = seed(name);
    for (size_t n = 3; n + 2 < whole.size(); n += 7) {
      auto cut = decode_image(whole.substr(0, n));
      ASSERT_FALSE(cut.ok()) << name << " cut at " << n;
      EXPECT_EQ(cut.status().code(), Code::Corrupt);
    }
  }
}

TEST(Jpeg, WhatItCannotReadIsNamed) {
  EXPECT_NE(decode_image(seed("base.jpg"), {.largest = 71}).status().message().find("pixels"),
            std::string::npos);
  EXPECT_NE(decode_image("GIF89a").status().message().find("neither"), std::string::npos);
}

// The seed's inks, 9 x 8: as light in each channel ink * key / 255, as Adobe's programs store them.
TEST(Jpeg, InksBecomeLight) {
  auto colour = decode_image(seed("cmyk.jpg")), grey = decode_image(seed("cmyk.jpg"), {.channels = 1});
  ASSERT_TRUE(colour.ok()) << colour.status().text();
  ASSERT_TRUE(grey.ok()) << grey.status().text();
  EXPECT_EQ(std::tuple(colour->height, colour->width, colour->channels),
            std::tuple(grey->height, grey->width, 3));
  for (size_t i = 0; i < grey->pixels.size(); ++i) {
    const uint8_t* p = &colour->pixels[3 * i];
    EXPECT_NEAR(grey->pixels[i], 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2], 1);
  }
}

// The seed with an EXIF block of one entry, the orientation, behind its first two bytes.
std::string turned(const std::string& jpeg, int orientation, bool big) {
  std::string tiff = big ? std::string("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0", 26)
                         : std::string("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\0\0\0\0\0\0\0\0", 26);
  tiff[big ? 19 : 18] = char(orientation);
  const std::string block = std::string("Exif\0\0", 6) + tiff;
  return jpeg.substr(0, 2) + "\xff\xe1" + std::string({char(0), char(block.size() + 2)}) + block +
         jpeg.substr(2);
}

TEST(Jpeg, IsTurnedAsItsExifBlockSays) {
  const std::string plain = seed("base.jpg");
  auto upright = decode_image(plain);
  ASSERT_TRUE(upright.ok());
  const int h = upright->height, w = upright->width;
  auto pixel = [](const Image& p, int y, int x) {
    return p.pixels[(size_t(y) * size_t(p.width) + size_t(x)) * 3];
  };
  // Where the stored pixel (1, 2) is shown (EXIF 2.3, "Orientation").
  const std::pair<int, int> shown[] = {{1, 2}, {1, w - 1 - 2}, {h - 1 - 1, w - 1 - 2}, {h - 1 - 1, 2},
                                       {2, 1}, {2, h - 1 - 1}, {w - 1 - 2, h - 1 - 1}, {w - 1 - 2, 1}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (bool big : {false, true}) {
      const std::string file = turned(plain, orientation, big);
      auto p = decode_image(file);
      ASSERT_TRUE(p.ok()) << p.status().text();
      EXPECT_EQ(p->height, orientation < 5 ? h : w) << orientation;
      auto [y, x] = shown[orientation - 1];
      EXPECT_EQ(pixel(*p, y, x), pixel(*upright, 1, 2)) << orientation << big;
      auto info = inspect_image(file);
      ASSERT_TRUE(info.ok());
      EXPECT_EQ(info->height, p->height);
      EXPECT_EQ(info->width, p->width);
    }
  }
  EXPECT_EQ(decode_image(turned(plain, 99, false))->pixels, upright->pixels);
}

TEST(Limits, OfPixelsHoldBeforeAnythingIsDecoded) {
  // A PNG that claims 8000 x 9000 pixels and holds a few bytes.
  std::string png = *encode_png(16, 16, 3, noise(768));
  const std::string size = {0, 0, 31, 64, 0, 0, 35, 40};
  png.replace(16, 8, size);
  auto info = inspect_image(png);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->width, 8000);
  EXPECT_EQ(info->height, 9000);
  EXPECT_FALSE(decode_image(png).ok());
  EXPECT_EQ(decode_denominator(8000, 9000, {.enough_height = 224, .enough_width = 224}), 8);
  EXPECT_EQ(decode_denominator(500, 900, {.enough_height = 224, .enough_width = 224}), 2);
  EXPECT_EQ(decode_denominator(300, 900, {.enough_height = 224, .enough_width = 224}), 1);
  EXPECT_EQ(decode_denominator(300, 900, {}), 1);
  EXPECT_LT(decoded_bytes({8000, 8000, false, true}, {.enough_height = 224, .enough_width = 224}),
            size_t{5} << 20);
  // No JPEG becomes smaller than what is enough.
  auto small = decode_image(seed("base.jpg"), {.enough_height = 4, .enough_width = 4});
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(std::tuple(small->height, small->width), std::tuple(4, 5));
}

TEST(Png, PalettesAlphaAndSixteenBitsAreRead) {
  auto rgb = decode_image(seed("rgb.png")), rgba = decode_image(seed("rgba.png"));
  ASSERT_TRUE(rgb.ok() && rgba.ok());
  EXPECT_EQ(rgb->pixels, rgba->pixels);  // opaque
  auto wide = decode_image(seed("wide.png"), {.channels = 1});
  ASSERT_TRUE(wide.ok()) << wide.status().text();
  EXPECT_EQ(wide->pixels, (std::vector<uint8_t>{1, 3, 5, 7}));  // 0x0100, 0x0302, ...
  EXPECT_TRUE(decode_image(seed("palette.png")).ok());
}

TEST(Fit, ShrinksAveragesAndCutsTheCentre) {
  Image p{4, 8, 1, {}};
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 8; ++x) p.pixels.push_back(x < 2 || x >= 6 ? 255 : 100);
  }
  Image same = fit_image(p, 4, 8);
  EXPECT_EQ(same.pixels, p.pixels);
  Image centre = fit_image(p, 4, 4);
  EXPECT_EQ(centre.pixels, std::vector<uint8_t>(16, 100));
  Image constant{9, 7, 3, std::vector<uint8_t>(9 * 7 * 3, 77)};
  for (auto [h, w] : {std::pair(3, 3), std::pair(20, 31), std::pair(1, 1)}) {
    Image f = fit_image(constant, h, w);
    EXPECT_EQ(f.pixels, std::vector<uint8_t>(size_t(h) * size_t(w) * 3, 77));
  }
}

}  // namespace
}  // namespace radl::engine::data
