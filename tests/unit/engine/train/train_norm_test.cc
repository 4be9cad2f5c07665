// Batch normalisation with many asynchronous workers: running statistics stay those of the batches.
#include <cmath>
#include <cstring>
#include <map>

#include "engine/model/graph.h"
#include "tests/unit/engine/train/train_case.h"

namespace radl::engine {
namespace {

struct Norm {
  const char* model;
  size_t workers;
  double rate;
};

class NormTrainTest : public ClusterTest, public testing::WithParamInterface<Norm> {
 protected:
  Job norm_job(const std::string& name, size_t workers) {
    Job j = cluster_job(name, SyncMode::Async, 1, workers);
    j.model = *zoo_text(GetParam().model);
    const std::string layer =
        ": batchnorm";  // with the fastest of running means, which is the first to diverge
    for (size_t at = 0; (at = j.model.find(layer, at)) != std::string::npos; at += layer.size())
      j.model.insert(at + layer.size(), " momentum=0.4");
    j.dataset.train = 100;  // few, so that much is learned of them in little time
    j.dataset.test = 100;
    j.batch_size = 10;
    j.epochs = 16;
    j.evaluate.every_epochs = 8;
    j.optimizer.momentum = 0;
    j.optimizer.nesterov = false;
    j.schedule.peak = GetParam().rate;
    j.augment = {};
    j.peer_timeout_seconds = 60;
    j.start_timeout_seconds = 120;
    return j;
  }
  // The mean of all running variances, and of the sizes of all running means.
  std::pair<double, double> statistics(const std::string& name) {
    std::string bytes = *read_file(folder_ + "/" + name + "/model/model.safetensors");
    uint64_t header = 0;
    std::memcpy(&header, bytes.data(), 8);
    double sums[2] = {}, counts[2] = {};
    const nlohmann::json tensors = nlohmann::json::parse(bytes.substr(8, header));
    for (const auto& [key, value] : tensors.items()) {
      const bool mean = key.ends_with("running_mean"), variance = key.ends_with("running_var");
      if (!mean && !variance) continue;
      std::vector<float> numbers(
          (value["data_offsets"][1].get<size_t>() - value["data_offsets"][0].get<size_t>()) / 4);
      std::memcpy(numbers.data(), bytes.data() + 8 + header + value["data_offsets"][0].get<size_t>(),
                  numbers.size() * 4);
      for (float v : numbers) {
        EXPECT_TRUE(std::isfinite(v)) << key;
        EXPECT_TRUE(mean || v >= 0) << key << ": " << v;
        sums[mean] += std::fabs(v);
        ++counts[mean];
      }
    }
    EXPECT_GT(counts[0], 0);
    return {sums[0] / counts[0], sums[1] / counts[1]};
  }
};

TEST_P(NormTrainTest, ManyAsynchronousWorkersLearnAndKeepTheStatistics) {
  Result<RunSummary> many = run_all(norm_job("many", GetParam().workers));
  ASSERT_TRUE(many.ok()) << many.status().text();
  Result<RunSummary> one = run_all(norm_job("one", 1));
  ASSERT_TRUE(one.ok()) << one.status().text();
  EXPECT_LT(many->train_loss, std::log(10.0) - 0.05) << "ten classes, guessed";
  EXPECT_TRUE(std::isfinite(many->test_loss));
  EXPECT_LT(many->test_loss, 1.3 * one->test_loss + 0.3) << "computed with the running statistics";
  const auto [variance_alone, mean_alone] = statistics("one");
  const auto [variance, mean] = statistics("many");
  EXPECT_LT(std::fabs(std::log(variance / variance_alone)), std::log(2.0))
      << variance << " and " << variance_alone;
  EXPECT_LT(std::fabs(std::log(mean / mean_alone)), std::log(2.0)) << mean << " and " << mean_alone;
}

INSTANTIATE_TEST_SUITE_P(Models, NormTrainTest,
                         testing::Values(Norm{"fastcifar-s", 8, 0.05}, Norm{"fastcifar-s", 24, 0.05},
                                         Norm{"resnet20", 8, 0.01}, Norm{"resnet20", 24, 0.005}),
                         [](const auto& info) {
                           std::string model = info.param.model;
                           return model.substr(0, model.find('-')) + "_" + std::to_string(info.param.workers);
                         });

}  // namespace
}  // namespace radl::engine
