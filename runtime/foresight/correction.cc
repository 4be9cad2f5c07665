#include "runtime/foresight/correction.h"

#include <cmath>

namespace radl::foresight {
namespace {

constexpr double kLeastError = 1e-8;

// The mean square of what is left when `said` is taken off. Robust: one wild row counts as one wild row.
double left_over(const std::vector<Sample>& samples, const std::vector<double>& said) {
  double sum = 0;
  for (size_t i = 0; i < samples.size(); ++i) sum += std::fabs(samples[i].log_ratio - said[i]);
  const double mean = sum / static_cast<double>(samples.size());
  return std::max(mean * mean, kLeastError);
}

}  // namespace

Correction Correction::fit(const std::vector<Sample>& samples) {
  Correction correction;
  if (samples.size() < kFewestSamples) {
    for (const Sample& sample : samples) correction.residuals_.push_back(sample.log_ratio);
    return correction;
  }
  correction.samples_ = samples.size();
  correction.process_ = GaussianProcess::fit(samples);
  correction.forest_ = Forest::fit(samples);
  const std::vector<double>&process = correction.process_.held_out(), &forest = correction.forest_.held_out();
  // By the inverse square of the mean square: who is twice as wrong hardly counts.
  auto trust = [&](const std::vector<double>& said) { return std::pow(left_over(samples, said), -2); };
  const double of_process = trust(process), of_forest = trust(forest),
               of_none = trust(std::vector<double>(samples.size(), 0.0));
  const double all = of_process + of_forest + of_none;
  correction.process_weight_ = of_process / all;
  correction.forest_weight_ = of_forest / all;
  for (size_t i = 0; i < samples.size(); ++i)
    correction.residuals_.push_back(samples[i].log_ratio - correction.process_weight_ * process[i] -
                                    correction.forest_weight_ * forest[i]);
  return correction;
}

double Correction::log_factor(const Question& question) const {
  if (empty()) return 0;
  return process_weight_ * process_.mean(question) + forest_weight_ * forest_.mean(question);
}

double Correction::novelty(const Question& question) const {
  return empty() ? 1 : process_.novelty(question);
}

}  // namespace radl::foresight
