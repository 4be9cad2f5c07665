// PNG and JPEG: what is encoded is decoded; damage is an error wherever it is; sizes are bounded.
#include "engine/data/picture.h"

#include <gtest/gtest.h>

#include "engine/data/random.h"

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
  auto pa = decode_picture(*a);
  ASSERT_TRUE(pa.ok()) << pa.status().text();
  EXPECT_EQ(pa->height, 7);
  EXPECT_EQ(pa->width, 5);
  EXPECT_EQ(pa->pixels, colour);
  auto pb = decode_picture(*b, {.channels = 1});
  ASSERT_TRUE(pb.ok());
  EXPECT_EQ(pb->pixels, grey);
  auto spread = decode_picture(*b);  // grey to RGB
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
  EXPECT_EQ(decode_picture("").status().code(), Code::Corrupt);
  EXPECT_EQ(decode_picture("GIF89a").status().code(), Code::Corrupt);
  EXPECT_FALSE(encode_png(2, 2, 3, noise(11)).ok());
}

TEST(Fit, ShrinksAveragesAndCutsTheCentre) {
  Picture p{4, 8, 1, {}};
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 8; ++x) p.pixels.push_back(x < 2 || x >= 6 ? 255 : 100);
  }
  Picture same = fit_picture(p, 4, 8);
  EXPECT_EQ(same.pixels, p.pixels);
  Picture centre = fit_picture(p, 4, 4);
  EXPECT_EQ(centre.pixels, std::vector<uint8_t>(16, 100));
  Picture constant{9, 7, 3, std::vector<uint8_t>(9 * 7 * 3, 77)};
  for (auto [h, w] : {std::pair(3, 3), std::pair(20, 31), std::pair(1, 1)}) {
    Picture f = fit_picture(constant, h, w);
    EXPECT_EQ(f.pixels, std::vector<uint8_t>(size_t(h) * size_t(w) * 3, 77));
  }
}

}  // namespace
}  // namespace radl::engine::data
