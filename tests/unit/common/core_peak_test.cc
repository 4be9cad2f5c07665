// What a core can compute, by what kernels say of it.
#include "common/core_peak.h"

#include <gtest/gtest.h>

#include "common/files.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

double peak_of(const std::string& cpuinfo, const std::string& fastest = "") {
  test::TemporaryFolder root;
  const std::string clocks = root.path() + "/sys/devices/system/cpu/cpu0/cpufreq";
  if (!fastest.empty()) {
    EXPECT_TRUE(make_directories(clocks).ok());
    EXPECT_TRUE(write_file_atomic(clocks + "/cpuinfo_max_freq", fastest).ok());
  }
  EXPECT_TRUE(make_directories(root.path() + "/proc").ok());
  EXPECT_TRUE(write_file_atomic(root.path() + "/proc/cpuinfo", cpuinfo).ok());
  return core_peak(root.path());
}

TEST(MachinePeak, IsClockByWidthAndSharedByThreads) {
  const std::string intel = "vendor_id\t: GenuineIntel\ncpu MHz\t\t: 2500.0\nflags\t\t: fpu fma avx avx2";
  EXPECT_DOUBLE_EQ(peak_of(intel + "\n"), 2.5e9 * 32);
  EXPECT_DOUBLE_EQ(peak_of(intel + " avx512f\n"), 2.5e9 * 64);
  EXPECT_DOUBLE_EQ(peak_of("siblings : 8\ncpu cores : 4\n" + intel + "\n"), 2.5e9 * 16);
  EXPECT_DOUBLE_EQ(peak_of("processor : 0\nFeatures : fp asimd\n"), 2.5e9 * 16);
  EXPECT_DOUBLE_EQ(peak_of(intel + "\n", "3500000\n"), 3.5e9 * 32) << "whatever its clock is just now";
  EXPECT_EQ(peak_of(""), 0);
}

TEST(MachinePeak, OfThisComputerIsKnown) { EXPECT_GT(core_peak(), 1e9); }

}  // namespace
}  // namespace radl
