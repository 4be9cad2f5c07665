// The attributes of a job that expressions can read: `cifar.model_path`.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace radl {

struct JobProduct {
  std::string_view name, summary;
};

inline constexpr JobProduct kTrainingProducts[] = {
    {"model_path", "The trained model on this computer. Known after apply."},
    {"test_accuracy", "Share of the test examples that the model gets right. Known after apply."},
    {"test_accuracy_tta",
     "The same with test-time augmentation, if the training asks for it. Known after apply."},
    {"images_per_second", "Throughput of the training. Known after apply."},
    {"seconds", "Duration of the training. Known after apply."},
    {"events_path", "The file of events, for TensorBoard. Known after apply."},
    {"report_path", "The report. Known after apply."},
};

inline constexpr JobProduct kProgramProducts[] = {
    {"exit_status", "The chief's exit status. Known after apply."},
    {"seconds", "Duration of the program. Known after apply."},
    {"results_path", "The folder or place of its results. Known after apply."},
    {"log_path", "The folder or place of its members' logs. Known after apply."},
    {"metrics", "The last value of each number that it reported, as a map. Known after apply."},
    {"files", "Its output files, as an input of another program. Known after apply."},
    {"best", "The best trial of a farm that searches. Known after apply."},
};

inline std::span<const JobProduct> job_products(bool trains) {
  if (trains) return kTrainingProducts;
  return kProgramProducts;
}
inline bool is_product(std::string_view name, bool trains) {
  const auto all = job_products(trains);
  return std::any_of(all.begin(), all.end(), [&](const JobProduct& one) { return one.name == name; });
}

}  // namespace radl
