// Least squares whose unknowns are times and so never negative. Internal to runtime/foresight.
#pragma once

#include <Eigen/Dense>

namespace radl::foresight {

// The x >= 0 with the least |a x - b|. Lawson and Hanson (1974), chapter 23. Deterministic.
Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace radl::foresight
