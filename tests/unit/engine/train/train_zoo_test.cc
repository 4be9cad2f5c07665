// The models of the zoo end with the same bits whoever adds up their gradients.
#include <algorithm>
#include <cctype>

#include "engine/model/graph.h"
#include "tests/unit/engine/train/loops_case.h"

namespace radl::engine {
namespace {

constexpr size_t kLarge = 5000000;  // parameters; writing and reading these takes the time of the test

class ZooLoopsTest : public LoopsTest, public testing::WithParamInterface<std::string> {};

TEST_P(ZooLoopsTest, EndsWithTheSameBitsInEveryLoop) {
  Job j = small_job();
  j.model = GetParam();
  j.dataset.train = 12;
  j.dataset.test = 3;
  j.batch_size = 3;
  j.schedule.peak = 0.001;
  steps_ = 4;
  const Trained alone = run(j, kLocal);
  for (float v : alone.end.weights) ASSERT_TRUE(std::isfinite(v));
  const bool large = alone.end.weights.size() > kLarge;
  for (const Loop& loop : {kAsync, kSync, kServers, kStale}) {
    if (large && loop.servers != 2) continue;
    expect_same_bits(run(j, loop).end, alone.end, loop.name);
  }
  // It adds differences of statistics.
  if (!large) expect_equal_to_rounding(run(j, kRing).end, alone.end, kRing.name);
  for (const Loop& loop : {kRing2, kSync2}) {
    if (large && loop.mode != SyncMode::AllReduce) continue;
    expect_same_bits(run(j, loop).end, run(j, loop).end, loop.name);
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string out = info.param;
  std::replace_if(
      out.begin(), out.end(), [](char c) { return !std::isalnum(c); }, '_');
  return out;
}

std::vector<std::string> models() {
  std::vector<std::string> out = zoo_names();
  std::erase(out, "inception-resnet-v1");  // its windows do not fit into CIFAR's images
  return out;
}

INSTANTIATE_TEST_SUITE_P(Zoo, ZooLoopsTest, testing::ValuesIn(models()), test_name);

}  // namespace
}  // namespace radl::engine
