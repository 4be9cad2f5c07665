#include "runtime/foresight/epoch_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace radl::foresight {
namespace {

constexpr size_t kFolds = 10;
constexpr double kRoundingSeconds = 0.29;  // standard deviation of what rounding to whole seconds takes away
constexpr double kWhole = 1e-9;
// What a guess is off by at 80% where nothing held out can say: 2 up or down.
constexpr double kUnknownBand = 0.7;

Question question_of(int nodes, double batch, const EpochParts& parts) {
  const double all = std::max(parts.seconds(), 1e-9);
  return {{std::log2(nodes), std::log(batch) / 2}, (all - parts.latency) / all, parts.latency / all};
}

double rounding_of(double seconds) {
  return std::fabs(seconds - std::round(seconds)) < kWhole ? kRoundingSeconds / seconds : 0;
}

}  // namespace

double conformal_quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return kUnknownBand;
  const auto rank = static_cast<size_t>(std::ceil(static_cast<double>(sorted.size() + 1) * share));
  return sorted[std::min(std::max<size_t>(rank, 1), sorted.size()) - 1];
}

Result<EpochModel> EpochModel::fit_once(const std::vector<EpochTime>& rows) {
  auto table = ClusterTable::fit(rows);
  if (!table.ok()) return std::move(table).status();
  EpochModel model;
  model.table_ = std::move(*table);
  model.rows_ = rows;
  std::vector<Sample> samples;
  for (const EpochTime& row : rows) {
    const auto parts = model.table_->parts(row.nodes, row.batch, row.latency_ms);
    if (!parts || parts->seconds() <= 0) continue;
    samples.push_back({question_of(row.nodes, row.batch, *parts), std::log(row.seconds / parts->seconds()),
                       rounding_of(row.seconds)});
  }
  model.correction_ = Correction::fit(samples);
  return model;
}

std::optional<double> EpochModel::corrected(int nodes, double batch, double latency_ms) const {
  const auto parts = table_->parts(nodes, batch, latency_ms);
  if (!parts || parts->seconds() <= 0) return std::nullopt;
  return parts->seconds() * std::exp(correction_.log_factor(question_of(nodes, batch, *parts)));
}

Result<EpochModel> EpochModel::fit(const std::vector<EpochTime>& rows, const std::vector<EpochTime>& failed) {
  auto model = fit_once(rows);
  if (!model.ok()) return model;
  for (const EpochTime& row : failed) {
    const double share = row.batch / row.nodes;
    if (!model->failing_share_ || share < *model->failing_share_) model->failing_share_ = share;
  }
  auto hold_out = [&](std::vector<double>& into, const auto& is_held) {
    std::vector<EpochTime> rest, held;
    for (size_t i = 0; i < rows.size(); ++i) (is_held(i) ? held : rest).push_back(rows[i]);
    if (held.empty() || rest.empty()) return;
    auto other = fit_once(rest);
    if (!other.ok()) return;
    for (const EpochTime& row : held) {
      if (auto seconds = other->corrected(row.nodes, row.batch, row.latency_ms))
        into.push_back(std::fabs(std::log(row.seconds / *seconds)));
    }
  };
  for (size_t fold = 0; fold < std::min(kFolds, rows.size()); ++fold)
    hold_out(model->held_out_, [&](size_t i) { return i % kFolds == fold; });
  std::set<int> sizes;
  for (const EpochTime& row : rows) sizes.insert(row.nodes);
  if (sizes.size() > 2) {
    for (int size : sizes) hold_out(model->held_out_sizes_, [&](size_t i) { return rows[i].nodes == size; });
  }
  std::sort(model->held_out_.begin(), model->held_out_.end());
  std::sort(model->held_out_sizes_.begin(), model->held_out_sizes_.end());
  return model;
}

Result<EpochEstimate> EpochModel::predict(int nodes, double batch, double latency_ms,
                                          double confidence) const {
  const bool sound = nodes >= 1 && batch >= 1 && std::isfinite(batch) && latency_ms >= 0 &&
                     std::isfinite(latency_ms) && confidence > 0 && confidence < 1;
  if (!sound)
    return Status(Code::Invalid, fmt::format("{} nodes, batch {}, {} ms, confidence {}: no such question",
                                             nodes, batch, latency_ms, confidence));
  if (failing_share_ && batch / nodes >= *failing_share_)
    return Status(Code::Unsupported,
                  fmt::format("{:.0f} images a node do not fit into memory", batch / nodes));
  const auto parts = table_->parts(nodes, batch, latency_ms);
  if (!parts || parts->seconds() <= 0)
    return Status(Code::NotFound,
                  fmt::format("nothing like {} node{} was measured", nodes, nodes == 1 ? "" : "s"))
        .with_hint("a short run would tell: radlc profile FILE");
  EpochEstimate estimate;
  estimate.parts = *parts;
  const Question question = question_of(nodes, batch, *parts);
  estimate.factor = std::exp(correction_.log_factor(question));
  estimate.seconds = parts->seconds() * estimate.factor;
  estimate.outside = table_->outside(nodes, batch, latency_ms);
  estimate.measured = measured(nodes, batch, latency_ms);
  // Inside: what held-out rows were off by, and more where none is near. Outside: what whole sizes that were
  // held out were off by, at least twice that.
  double width = conformal_quantile(held_out_, confidence) * (1 + 0.25 * correction_.novelty(question));
  if (!estimate.outside.empty())
    width = std::max(2 * width, std::min(conformal_quantile(held_out_sizes_, confidence), 2.3));
  estimate.low = estimate.seconds * std::exp(-width);
  estimate.high = estimate.seconds * std::exp(width);
  if (const auto gap = table_->latency_gap(nodes, batch, latency_ms)) {
    const auto below = predict(nodes, batch, gap->first, confidence),
               above = predict(nodes, batch, gap->second, confidence);
    if (below.ok()) estimate.low = std::min(estimate.seconds, below->low);
    if (above.ok()) estimate.high = std::max(estimate.seconds, above->high);
  }
  return estimate;
}

std::optional<double> EpochModel::measured(int nodes, double batch, double latency_ms) const {
  double sum = 0;
  int count = 0;
  for (const EpochTime& row : rows_) {
    if (row.nodes != nodes || row.batch != batch || (nodes > 1 && row.latency_ms != latency_ms)) continue;
    sum += row.seconds;
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::optional<size_t> EpochModel::choose(const std::vector<SizedEstimate>& estimates) const {
  auto value = [&](size_t i) {
    return estimates[i].weight * estimates[i].estimate.measured.value_or(estimates[i].estimate.seconds);
  };
  std::optional<size_t> best, chosen;
  for (size_t i = 0; i < estimates.size(); ++i)
    if (!best || value(i) < value(*best)) best = i;
  const double margin = std::exp(conformal_quantile(held_out_, 0.8));
  for (size_t i = 0; i < estimates.size(); ++i) {
    const bool both_measured = estimates[i].estimate.measured && estimates[*best].estimate.measured;
    if (value(i) > value(*best) * (both_measured ? 1 : margin)) continue;
    if (!chosen || estimates[i].nodes < estimates[*chosen].nodes) chosen = i;
  }
  return chosen;
}

}  // namespace radl::foresight
