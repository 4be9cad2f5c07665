#include "runtime/foresight/gaussian_process.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace radl::foresight {
namespace {

constexpr size_t kMostSearched = 48;  // samples with which the likelihood is computed
constexpr int kSearches = 2;          // of the search through all figures
constexpr double kLeastShare = 1e-9;

struct Figures {
  double compute = 0.1, talk = 0.1, noise = 0.03;
  std::vector<double> lengths;
};

double covariance(const Question& a, const Question& b, const Figures& figures) {
  double distance = 0;
  for (size_t i = 0; i < figures.lengths.size(); ++i) {
    const double d = (a.features[i] - b.features[i]) / figures.lengths[i];
    distance += d * d;
  }
  const double near = std::exp(-0.5 * distance);
  return near * (figures.compute * figures.compute * a.compute_share * b.compute_share +
                 figures.talk * figures.talk * a.talk_share * b.talk_share);
}

Eigen::MatrixXd covariances(const std::vector<Sample>& samples, const Figures& figures) {
  const auto n = static_cast<Eigen::Index>(samples.size());
  Eigen::MatrixXd k(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Sample& a = samples[static_cast<size_t>(i)];
    for (Eigen::Index j = 0; j <= i; ++j)
      k(i, j) = k(j, i) = covariance(a.question, samples[static_cast<size_t>(j)].question, figures);
    k(i, i) += figures.noise * figures.noise + a.rounding * a.rounding;
  }
  return k;
}

Eigen::VectorXd targets(const std::vector<Sample>& samples) {
  Eigen::VectorXd z(static_cast<Eigen::Index>(samples.size()));
  for (Eigen::Index i = 0; i < z.size(); ++i) z(i) = samples[static_cast<size_t>(i)].log_ratio;
  return z;
}

// The search's figures, one changed at a time: what does not depend on the one that changes is kept.
class Likelihood {
 public:
  explicit Likelihood(const std::vector<Sample>& samples)
      : samples_(samples), z_(targets(samples)), features_(samples.front().question.features.size()) {
    const auto n = static_cast<Eigen::Index>(samples.size());
    for (size_t i = 0; i < features_; ++i) {
      Eigen::MatrixXd& squares = squares_.emplace_back(n, n);
      for (Eigen::Index a = 0; a < n; ++a)
        for (Eigen::Index b = 0; b < n; ++b) squares(a, b) = std::pow(feature(a, i) - feature(b, i), 2);
    }
    compute_ = shares(&Question::compute_share);
    talk_ = shares(&Question::talk_share);
  }

  // A feature that all samples share: its length changes nothing.
  bool constant(size_t i) const { return squares_[i].isZero(0); }

  double of(const Figures& figures) {
    if (figures.lengths != lengths_) {
      Eigen::MatrixXd distance = Eigen::MatrixXd::Zero(z_.size(), z_.size());
      for (size_t i = 0; i < features_; ++i)
        if (!constant(i)) distance += squares_[i] / (figures.lengths[i] * figures.lengths[i]);
      near_ = (-0.5 * distance.array()).exp();
      lengths_ = figures.lengths;
    }
    Eigen::MatrixXd k = near_.cwiseProduct(figures.compute * figures.compute * compute_ +
                                           figures.talk * figures.talk * talk_);
    for (Eigen::Index i = 0; i < k.rows(); ++i) {
      const double rounding = samples_[static_cast<size_t>(i)].rounding;
      k(i, i) += figures.noise * figures.noise + rounding * rounding;
    }
    const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> cholesky(k);
    if (cholesky.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
    const Eigen::VectorXd u = cholesky.matrixL().solve(z_);
    return -0.5 * u.squaredNorm() - k.diagonal().array().log().sum();
  }

 private:
  double feature(Eigen::Index sample, size_t i) const {
    return samples_[static_cast<size_t>(sample)].question.features[i];
  }
  Eigen::MatrixXd shares(double Question::*share) const {
    Eigen::VectorXd of(z_.size());
    for (Eigen::Index i = 0; i < of.size(); ++i) of(i) = samples_[static_cast<size_t>(i)].question.*share;
    return of * of.transpose();
  }

  const std::vector<Sample>& samples_;
  Eigen::VectorXd z_;
  size_t features_;
  std::vector<Eigen::MatrixXd> squares_;
  Eigen::MatrixXd compute_, talk_, near_;
  std::vector<double> lengths_;  // that near_ is of
};

// The value among `choices` with the largest likelihood, with the others unchanged.
template <size_t N>
void search(Likelihood& likelihood, Figures& figures, double& figure, const std::array<double, N>& choices,
            double& best) {
  const double before = figure;
  double kept = before;
  for (double choice : choices) {
    if (choice == before) continue;  // `best` is of it, or better
    figure = choice;
    const double likely = likelihood.of(figures);
    if (likely > best) best = likely, kept = choice;
  }
  figure = kept;
}

Figures most_likely(const std::vector<Sample>& samples) {
  Figures figures;
  figures.lengths.assign(samples.front().question.features.size(), 1.0);
  const std::vector<Sample> few(samples.end() - static_cast<long>(std::min(samples.size(), kMostSearched)),
                                samples.end());
  Likelihood likelihood(few);
  double best = likelihood.of(figures);
  for (int round = 0; round < kSearches; ++round) {
    search(likelihood, figures, figures.noise, std::array{0.01, 0.03, 0.1, 0.3}, best);
    search(likelihood, figures, figures.compute, std::array{0.02, 0.1, 0.3, 1.0}, best);
    search(likelihood, figures, figures.talk, std::array{0.02, 0.1, 0.3, 1.0}, best);
    for (size_t i = 0; i < figures.lengths.size(); ++i)
      if (!likelihood.constant(i))
        search(likelihood, figures, figures.lengths[i], std::array{0.3, 1.0, 2.0, 5.0}, best);
  }
  return figures;
}

}  // namespace

struct GaussianProcess::Fitted {
  std::vector<Sample> samples;
  Figures figures;
  Eigen::VectorXd weights;  // K^-1 z
  Eigen::LLT<Eigen::MatrixXd> cholesky;

  Eigen::VectorXd covariance_with(const Question& question) const {
    Eigen::VectorXd k(static_cast<Eigen::Index>(samples.size()));
    for (Eigen::Index i = 0; i < k.size(); ++i)
      k(i) = covariance(question, samples[static_cast<size_t>(i)].question, figures);
    return k;
  }
};

GaussianProcess GaussianProcess::fit(const std::vector<Sample>& samples) {
  GaussianProcess process;
  if (samples.empty()) return process;
  auto fitted = std::make_shared<Fitted>();
  const size_t taken = std::min(samples.size(), kMostSamples), first = samples.size() - taken;
  fitted->samples.assign(samples.begin() + static_cast<long>(first), samples.end());
  fitted->figures = most_likely(fitted->samples);
  fitted->cholesky.compute(covariances(fitted->samples, fitted->figures));
  fitted->weights = fitted->cholesky.solve(targets(fitted->samples));
  process.fitted_ = fitted;
  // Sundararajan and Keerthi (2001): without sample i, K^-1 of all says what the rest would have.
  const auto n = static_cast<Eigen::Index>(taken);
  const Eigen::MatrixXd inverse = fitted->cholesky.solve(Eigen::MatrixXd::Identity(n, n));
  for (size_t i = 0; i < first; ++i) process.held_out_.push_back(process.mean(samples[i].question));
  for (Eigen::Index i = 0; i < n; ++i)
    process.held_out_.push_back(fitted->samples[static_cast<size_t>(i)].log_ratio -
                                fitted->weights(i) / inverse(i, i));
  return process;
}

double GaussianProcess::mean(const Question& question) const {
  return fitted_ ? fitted_->covariance_with(question).dot(fitted_->weights) : 0;
}

double GaussianProcess::novelty(const Question& question) const {
  if (!fitted_) return 1;
  const double prior = covariance(question, question, fitted_->figures);
  if (prior < kLeastShare) return 0;
  const Eigen::VectorXd u = fitted_->cholesky.matrixL().solve(fitted_->covariance_with(question));
  return std::clamp(1 - u.squaredNorm() / prior, 0.0, 1.0);
}

}  // namespace radl::foresight
