#include "runtime/foresight/exchange_factors.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace radl::foresight {
namespace {

constexpr double kTimesErr = 0.1, kFactorsErr = 0.4,
                 kMeasuredErr = 0.04;  // standard deviations of logarithms
constexpr double kMostLog = 3;         // of a factor: 20 times
constexpr int kSteps = 25;
constexpr double kNudge = 1e-4;
constexpr double kDamped = 1e-3, kMostDamped = 1e6;
constexpr double kSettled = 1e-6;  // of a logarithm: smaller steps change nothing that is shown

using Logs = Eigen::Vector3d;

ExchangeFactors factors_of(const Logs& logs) {
  return {std::exp(logs(0)), std::exp(logs(1)), std::exp(logs(2))};
}

// What is left of each run and of the prior, in standard deviations.
Eigen::VectorXd residuals(const std::vector<MeasuredRun>& runs, const Logs& logs) {
  const auto n = static_cast<Eigen::Index>(runs.size());
  Eigen::VectorXd left(n + 3);
  const ExchangeFactors factors = factors_of(logs);
  for (Eigen::Index i = 0; i < n; ++i) {
    const MeasuredRun& run = runs[static_cast<size_t>(i)];
    left(i) = std::log(run.predicted(factors) / run.seconds) / kTimesErr;
  }
  const bool measured =
      std::all_of(runs.begin(), runs.end(), [](const MeasuredRun& run) { return run.profiled; });
  left.tail<3>() = logs / kFactorsErr;
  if (measured) left(n) = logs(0) / kMeasuredErr;
  return left;
}

// One wild run counts as one wild run: beyond two deviations as its root (Huber 1964).
double loss(const Eigen::VectorXd& left) {
  double sum = 0;
  for (double one : left) sum += std::fabs(one) <= 2 ? one * one / 2 : 2 * (std::fabs(one) - 1);
  return sum;
}

Eigen::VectorXd weights(const Eigen::VectorXd& left) {
  return left.unaryExpr([](double one) { return std::fabs(one) <= 2 ? 1.0 : 2 / std::fabs(one); });
}

}  // namespace

NodeProfile adjusted(NodeProfile node, const ExchangeFactors& factors) {
  for (StepLine::Point& point : node.steps.points) point.seconds *= factors.compute;
  node.parameter_bytes *= factors.bytes;
  return node;
}

Fabric adjusted(Fabric fabric, const ExchangeFactors& factors) {
  fabric.round_trip_seconds *= factors.round_trips;
  return fabric;
}

ExchangeFactors fit_factors(const std::vector<MeasuredRun>& runs) {
  if (runs.empty()) return {};
  Logs logs = Logs::Zero();
  Eigen::VectorXd left = residuals(runs, logs);
  double damping = kDamped;
  for (int step = 0; step < kSteps && damping < kMostDamped; ++step) {
    Eigen::MatrixX3d slope(left.size(), 3);
    for (int i = 0; i < 3; ++i) {
      Logs nudged = logs;
      nudged(i) += kNudge;
      slope.col(i) = (residuals(runs, nudged) - left) / kNudge;
    }
    const Eigen::VectorXd weight = weights(left);
    Eigen::Matrix3d normal = slope.transpose() * weight.asDiagonal() * slope;
    normal.diagonal() *= 1 + damping;
    const Logs tried = (logs - normal.ldlt().solve(slope.transpose() * weight.cwiseProduct(left)))
                           .cwiseMax(-kMostLog)
                           .cwiseMin(kMostLog);
    if ((tried - logs).cwiseAbs().maxCoeff() < kSettled) break;
    const Eigen::VectorXd now = residuals(runs, tried);
    if (loss(now) < loss(left)) {
      logs = tried;
      left = now;
      damping /= 10;
    } else {
      damping *= 10;
    }
  }
  return factors_of(logs);
}

}  // namespace radl::foresight
