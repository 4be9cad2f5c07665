#include "runtime/foresight/linear.h"

#include <algorithm>
#include <vector>

namespace radl::foresight {
namespace {

// The least squares of the columns that are free; the others are 0.
Eigen::VectorXd solve_free(const Eigen::MatrixXd& normal, const Eigen::VectorXd& right,
                           const std::vector<bool>& free) {
  std::vector<Eigen::Index> columns;
  for (size_t i = 0; i < free.size(); ++i)
    if (free[i]) columns.push_back(static_cast<Eigen::Index>(i));
  const Eigen::VectorXd part = normal(columns, columns).ldlt().solve(right(columns));
  Eigen::VectorXd x = Eigen::VectorXd::Zero(right.size());
  x(columns) = part;
  return x;
}

// Steps from x towards `wanted` as far as nothing becomes negative; what reaches 0 is no longer free.
void step_back(Eigen::VectorXd& x, const Eigen::VectorXd& wanted, std::vector<bool>& free) {
  double share = 1;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    if (free[static_cast<size_t>(i)] && wanted(i) <= 0) share = std::min(share, x(i) / (x(i) - wanted(i)));
  }
  x += share * (wanted - x);
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    if (free[static_cast<size_t>(i)] && x(i) <= 1e-12) x(i) = 0, free[static_cast<size_t>(i)] = false;
  }
}

}  // namespace

Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& unscaled, const Eigen::VectorXd& b) {
  // Columns of one length, so that seconds per image and seconds per message are alike.
  Eigen::VectorXd lengths = unscaled.colwise().norm();
  for (double& length : lengths) length = length > 0 ? length : 1;
  const Eigen::MatrixXd a = unscaled * lengths.cwiseInverse().asDiagonal();
  Eigen::MatrixXd normal = a.transpose() * a;
  // Columns that nothing was measured of would make it singular.
  normal.diagonal().array() += 1e-12;
  const Eigen::VectorXd right = a.transpose() * b;
  const auto columns = static_cast<size_t>(a.cols());
  std::vector<bool> free(columns, false);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
  const double tolerance = 1e-10 * (right.cwiseAbs().maxCoeff() + 1e-300);
  for (size_t round = 0; round < 3 * columns; ++round) {
    const Eigen::VectorXd gain = right - normal * x;
    Eigen::Index best = -1;
    for (Eigen::Index i = 0; i < gain.size(); ++i) {
      if (!free[static_cast<size_t>(i)] && gain(i) > tolerance && (best < 0 || gain(i) > gain(best)))
        best = i;
    }
    if (best < 0) break;
    free[static_cast<size_t>(best)] = true;
    for (size_t inner = 0; inner < columns; ++inner) {
      const Eigen::VectorXd wanted = solve_free(normal, right, free);
      bool negative = false;
      for (size_t i = 0; i < columns; ++i) negative |= free[i] && wanted(static_cast<Eigen::Index>(i)) <= 0;
      if (!negative) {
        x = wanted;
        break;
      }
      step_back(x, wanted, free);
    }
  }
  return x.cwiseQuotient(lengths);
}

}  // namespace radl::foresight
