// Non-negative least squares, for unknowns that are times. Internal to runtime/foresight.
#pragma once

#include <Eigen/Dense>

namespace radl::foresight {

// The x >= 0 that minimizes |a x - b|. Lawson and Hanson (1974), chapter 23. Deterministic.
Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace radl::foresight
