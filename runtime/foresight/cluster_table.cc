#include "runtime/foresight/cluster_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/foresight/linear.h"

namespace radl::foresight {
namespace {

constexpr int kRounds = 8;     // of reweighting
constexpr double kSoft = 0.1;  // relative errors beyond this count by their size, not its square
constexpr double kLeastSeconds = 1e-3;
constexpr double kAlike = 0.01;  // values that differ by less are the same question
constexpr size_t kEnoughForALine = 3;
constexpr Eigen::Index kShared = 4;  // columns before those of each size

// The columns of one row: one node's three, a cluster's rate, then fixed costs and latencies by size.
struct Layout {
  std::vector<int> sizes;
  double break_at = 0;

  Eigen::Index columns() const { return kShared + 2 * static_cast<Eigen::Index>(sizes.size()); }
  Eigen::MatrixXd design(const std::vector<EpochTime>& rows) const {
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(rows.size()), columns());
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      const EpochTime& row = rows[static_cast<size_t>(i)];
      if (row.nodes == 1) {
        a(i, 0) = 1;
        a(i, 1) = row.batch;
        a(i, 2) = std::max(row.batch - break_at, 0.0);
        continue;
      }
      a(i, 3) = row.batch / row.nodes;
      const auto at = std::find(sizes.begin(), sizes.end(), row.nodes) - sizes.begin();
      a(i, kShared + at) = 1;
      a(i, kShared + static_cast<Eigen::Index>(sizes.size()) + at) = row.latency_ms / 1000;
    }
    return a;
  }
};

struct Fit {
  Eigen::VectorXd figures;
  double loss = 0;
};

// Relative errors, reweighted so that a row that fits nothing does not bend the rest.
Fit fit_layout(const Layout& layout, const std::vector<EpochTime>& rows) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd a = layout.design(rows);
  Eigen::VectorXd seconds(n);
  for (Eigen::Index i = 0; i < n; ++i) seconds(i) = rows[static_cast<size_t>(i)].seconds;
  const Eigen::MatrixXd relative = a.array().colwise() / seconds.array();
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(n);
  Fit fit;
  for (int round = 0; round < kRounds; ++round) {
    const Eigen::VectorXd root = weights.cwiseSqrt();
    fit.figures = non_negative_least_squares(root.asDiagonal() * relative, root);
    const Eigen::VectorXd predicted = (a * fit.figures).cwiseMax(kLeastSeconds);
    const Eigen::VectorXd soft =
        (1 + ((predicted.array() / seconds.array()).log() / kSoft).square()).sqrt().matrix();
    fit.loss = (soft.array() - 1).sum();
    weights = soft.cwiseInverse();
  }
  return fit;
}

Status check_rows(const std::vector<EpochTime>& rows) {
  if (rows.empty()) return Status(Code::Invalid, "there are no epoch times to learn from");
  for (const EpochTime& row : rows) {
    const bool sound = row.nodes >= 1 && row.batch >= 1 && std::isfinite(row.batch) && row.latency_ms >= 0 &&
                       std::isfinite(row.latency_ms) && row.seconds > 0 && std::isfinite(row.seconds);
    if (!sound)
      return Status(Code::Invalid, fmt::format("{} nodes, batch {}, {} ms: {} s is not an epoch time",
                                               row.nodes, row.batch, row.latency_ms, row.seconds));
  }
  return {};
}

// Where one node's line may break: at a batch that it was measured at, but the largest.
std::set<double> breaks(const std::vector<EpochTime>& rows) {
  std::set<double> at;
  for (const EpochTime& row : rows)
    if (row.nodes == 1) at.insert(row.batch);
  if (!at.empty()) at.erase(std::prev(at.end()));
  if (at.empty()) at.insert(0);
  return at;
}

enum class Place { Inside, Gap, Beyond };

// Gap: between two values, and no third shows how time grows between them.
Place place_of(const std::set<double>& known, double value) {
  for (double one : known)
    if (std::fabs(value - one) <= kAlike * one) return Place::Inside;
  if (value < *known.begin() || value > *known.rbegin()) return Place::Beyond;
  return known.size() < kEnoughForALine ? Place::Gap : Place::Inside;
}

std::string measured_text(const std::set<double>& known, Place place, const char* before, const char* after) {
  if (known.size() == 1) return fmt::format("only {}{}{} was measured", before, *known.begin(), after);
  if (place == Place::Gap)
    return fmt::format("{} and {}{} were measured, nothing between them", *known.begin(), *known.rbegin(),
                       after);
  return fmt::format("{} to {}{} were measured", *known.begin(), *known.rbegin(), after);
}

}  // namespace

Result<ClusterTable> ClusterTable::fit(const std::vector<EpochTime>& rows) {
  if (Status right = check_rows(rows); !right.ok()) return right;
  std::set<int> sizes;
  ClusterTable table;
  for (const EpochTime& row : rows) {
    if (row.nodes > 1) sizes.insert(row.nodes);
    table.measured_[row.nodes].batches.insert(row.batch);
    table.measured_[row.nodes].latencies.insert(row.latency_ms);
  }
  Layout layout{{sizes.begin(), sizes.end()}, 0};
  std::optional<Fit> best;
  for (double at : breaks(rows)) {
    Layout tried{layout.sizes, at};
    Fit fit = fit_layout(tried, rows);
    if (!best || fit.loss < best->loss - 1e-9) best = std::move(fit), layout.break_at = at;
  }
  const Eigen::VectorXd& figures = best->figures;
  table.alone_fixed_ = figures(0);
  table.alone_rate_ = figures(1);
  table.alone_more_ = figures(2);
  table.alone_break_ = layout.break_at;
  table.rate_ = figures(3);
  const auto count = static_cast<Eigen::Index>(layout.sizes.size());
  for (Eigen::Index i = 0; i < count; ++i) {
    const int nodes = layout.sizes[static_cast<size_t>(i)];
    Size size;
    size.fixed = figures(kShared + i);
    if (*table.measured_[nodes].latencies.rbegin() > 0) size.messages = figures(kShared + count + i);
    table.sizes_[nodes] = size;
  }
  return table;
}

// Between two sizes that were measured in a line, beyond them in proportion to n - 1, as rings and servers
// both grow.
ClusterTable::Size ClusterTable::size_of(int nodes) const {
  const auto above = sizes_.lower_bound(nodes);
  if (above != sizes_.end() && above->first == nodes) return above->second;
  auto scaled = [&](const std::pair<const int, Size>& from) {
    Size size = from.second;
    const double factor = static_cast<double>(nodes - 1) / (from.first - 1);
    size.fixed *= factor;
    if (size.messages) *size.messages *= factor;
    return size;
  };
  if (above == sizes_.begin()) return scaled(*above);
  const auto below = std::prev(above);
  if (above == sizes_.end()) return scaled(*below);
  const double share = static_cast<double>(nodes - below->first) / (above->first - below->first);
  Size size = below->second;
  size.fixed += share * (above->second.fixed - size.fixed);
  if (size.messages && above->second.messages)
    *size.messages += share * (*above->second.messages - *size.messages);
  return size;
}

std::optional<EpochParts> ClusterTable::parts(int nodes, double batch, double latency_ms) const {
  if (nodes == 1) {
    if (!measured_.contains(1)) return std::nullopt;
    return EpochParts{alone_rate_ * batch + alone_more_ * std::max(batch - alone_break_, 0.0), alone_fixed_,
                      0};
  }
  if (nodes < 1 || sizes_.empty()) return std::nullopt;
  const Size size = size_of(nodes);
  double messages = size.messages.value_or(0);
  // Never measured with a delay, as the nearest size that was.
  if (!size.messages) {
    for (const auto& [other, its] : sizes_)
      if (its.messages) messages = *its.messages * (nodes - 1) / (other - 1);
  }
  return EpochParts{rate_ * batch / nodes, size.fixed, messages * latency_ms / 1000};
}

std::vector<std::string> ClusterTable::outside(int nodes, double batch, double latency_ms) const {
  const std::string size = nodes == 1 ? "one node" : fmt::format("{} nodes", nodes);
  const auto found = measured_.find(nodes);
  if (found == measured_.end()) return {size + (nodes == 1 ? " was" : " were") + " never measured"};
  std::vector<std::string> reasons;
  auto check = [&](const std::set<double>& known, double value, const char* before, const char* after) {
    if (const Place place = place_of(known, value); place != Place::Inside)
      reasons.push_back(fmt::format("{}{}{} with {}: {}", before, value, after, size,
                                    measured_text(known, place, before, after)));
  };
  check(found->second.batches, batch, "batch ", "");
  if (nodes > 1) check(found->second.latencies, latency_ms, "", " ms");
  return reasons;
}

std::optional<std::pair<double, double>> ClusterTable::latency_gap(int nodes, double batch,
                                                                   double latency_ms) const {
  const auto found = measured_.find(nodes);
  if (nodes == 1 || found == measured_.end()) return std::nullopt;
  const auto& [batches, latencies] = found->second;
  if (place_of(batches, batch) != Place::Inside || place_of(latencies, latency_ms) != Place::Gap)
    return std::nullopt;
  return std::pair(*latencies.begin(), *latencies.rbegin());
}

}  // namespace radl::foresight
