// The GPUs of this computer, which local nodes share.
#include <gtest/gtest.h>

#include "runtime/clouds/local/gpus.h"

namespace radl::local {
namespace {

using Json = nlohmann::json;

ir::Node node_with(const std::string& feature, double least) {
  ir::Node node;
  node.address = "worker[0]";
  node.requirements[feature].min = least;
  return node;
}

TEST(LocalGpus, AreThoseThatNvidiaSmiShows) {
  EXPECT_EQ(gpus_in("81559, NVIDIA H100 80GB HBM3\n15360, Tesla T4\n"),
            Json({{"gpu_count", 2},
                  {"gpu_memory_bytes", 15360.0 * 1024 * 1024},
                  {"gpu_vendor", "NVIDIA"},
                  {"gpu_model", "NVIDIA H100 80GB HBM3"}}));
  EXPECT_EQ(gpus_in(""), Json({{"gpu_count", 0}}));
  EXPECT_EQ(gpus_in("No devices were found\n"),
            Json({{"gpu_count", 0}, {"trouble", "No devices were found"}}));
}

TEST(LocalGpus, AreComparedWithWhatANodeAsksFor) {
  const Json one = gpus_in("81559, NVIDIA H100 80GB HBM3\n"), none = gpus_in("No devices were found\n");
  EXPECT_TRUE(check_gpus(node_with("gpu.count", 1), one).ok());
  EXPECT_TRUE(check_gpus(node_with("gpu.memory", 80e9), one).ok());
  EXPECT_TRUE(check_gpus(node_with("cpu.count", 4000), none).ok()) << "that is not looked at here";
  EXPECT_EQ(check_gpus(node_with("gpu.count", 2), one).message(), "worker[0]: gpu.count >= 2: it has 1");
  EXPECT_EQ(check_gpus(node_with("gpu.count", 1), none).message(),
            "worker[0]: gpu.count >= 1: it has 0; nvidia-smi says: No devices were found");
  EXPECT_NE(check_gpus(node_with("gpu.memory", 1e9), none).message().find("gpu.memory >= 1 GB: it has none"),
            std::string::npos);
  EXPECT_FALSE(asks_for_gpus(node_with("cpu.count", 1)));
  EXPECT_TRUE(asks_for_gpus(node_with("gpu.memory", 1e9)));
}

}  // namespace
}  // namespace radl::local
