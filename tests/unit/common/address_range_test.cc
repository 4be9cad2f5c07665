// Ranges of addresses as whoever is given one shows it.
#include "common/address_range.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

TEST(AddressRange, HasNothingBehindItsPrefix) {
  EXPECT_EQ(address_range("10.0.0.0/8"), "10.0.0.0/8");
  EXPECT_EQ(address_range("10.1.2.3/8"), "10.0.0.0/8");
  EXPECT_EQ(address_range("192.0.2.129/25"), "192.0.2.128/25");
  EXPECT_EQ(address_range("203.0.113.7/32"), "203.0.113.7/32");
  EXPECT_EQ(address_range("203.0.113.7/0"), "0.0.0.0/0");
  EXPECT_EQ(address_range("2001:DB8:0:0::7/33"), "2001:db8::/33");
  EXPECT_EQ(address_range("::/0"), "::/0");
}

TEST(AddressRange, IsNoneOfAnythingElse) {
  for (const char* text : {"", "/8", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x",
                           "10.0.0.300/8", "10.0.0/8", "10x0x0x0/8", "::/129", "pl-1/8"})
    EXPECT_FALSE(address_range(text)) << text;
}

TEST(AddressRange, OverlapsWhereOneHoldsTheOther) {
  EXPECT_TRUE(ranges_overlap("10.0.0.0/8", "10.7.1.0/24"));
  EXPECT_TRUE(ranges_overlap("10.7.1.0/24", "10.0.0.0/8"));
  EXPECT_TRUE(ranges_overlap("10.7.1.9/24", "10.7.1.128/25"));
  EXPECT_FALSE(ranges_overlap("10.7.1.0/24", "10.7.2.0/24"));
  EXPECT_TRUE(ranges_overlap("0.0.0.0/0", "10.7.2.0/24"));
  EXPECT_FALSE(ranges_overlap("::/0", "10.7.2.0/24"));
  EXPECT_FALSE(ranges_overlap("", "10.7.2.0/24"));
}

}  // namespace
}  // namespace radl
