#include "runtime/foresight/forest.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "common/split_mix.h"

namespace radl::foresight {
namespace {

constexpr int kTrees = 60, kDeepest = 8;
constexpr size_t kFewest = 2;      // samples of a leaf
constexpr size_t kWorthAScan = 6;  // sorting a row costs as much as looking at so many

class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}
  size_t below(size_t limit) { return static_cast<size_t>(next() % limit); }

 private:
  uint64_t next() {
    const uint64_t drawn = split_mix64(state_);
    state_ += kSplitMixStep;
    return drawn;
  }
  uint64_t state_;
};

std::vector<double> columns_of(const Question& question) {
  std::vector<double> columns = question.features;
  columns.push_back(question.talk_share);
  return columns;
}

std::vector<std::vector<size_t>> sorted_by_feature(const std::vector<std::vector<double>>& columns) {
  std::vector<std::vector<size_t>> sorted(columns.front().size());
  for (size_t feature = 0; feature < sorted.size(); ++feature) {
    std::vector<size_t> rows(columns.size());
    std::iota(rows.begin(), rows.end(), size_t{0});
    std::stable_sort(rows.begin(), rows.end(),
                     [&](size_t a, size_t b) { return columns[a][feature] < columns[b][feature]; });
    if (columns[rows.front()][feature] != columns[rows.back()][feature]) sorted[feature] = std::move(rows);
  }
  return sorted;
}

struct Split {
  int feature = -1;
  double threshold = 0;
  double gain = 0;  // what the sum of squares falls by
};

}  // namespace

struct Forest::Grower {
  const std::vector<std::vector<double>>& columns;  // of each sample
  const std::vector<double>& targets;
  const std::vector<std::vector<size_t>>& sorted;  // all samples by each feature; empty: all are alike in it
  Draws& draws;
  Tree tree;
  std::vector<size_t> times = std::vector<size_t>(targets.size(), 0);  // of each sample in a branch; else 0

  // Many rows are taken from the order of all samples, few are sorted.
  void sort_rows(std::vector<size_t>& rows, size_t feature) {
    if (rows.size() * kWorthAScan < sorted[feature].size()) {
      std::sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
        return std::pair(columns[a][feature], a) < std::pair(columns[b][feature], b);
      });
      return;
    }
    for (size_t row : rows) ++times[row];
    rows.clear();
    for (size_t row : sorted[feature])
      for (; times[row] > 0; --times[row]) rows.push_back(row);
  }

  // The best threshold of one feature for the samples of `rows`, which are sorted by it here.
  void try_feature(std::vector<size_t>& rows, size_t feature, Split& best) {
    if (sorted[feature].empty()) return;
    sort_rows(rows, feature);
    double left = 0, all = 0;
    for (size_t row : rows) all += targets[row];
    const auto n = static_cast<double>(rows.size());
    for (size_t i = 0; i + 1 < rows.size(); ++i) {
      left += targets[rows[i]];
      const double here = columns[rows[i]][feature], next = columns[rows[i + 1]][feature];
      if (here == next || i + 1 < kFewest || rows.size() - i - 1 < kFewest) continue;
      const auto k = static_cast<double>(i + 1);
      const double gain = left * left / k + (all - left) * (all - left) / (n - k) - all * all / n;
      if (gain > best.gain + 1e-12) best = {static_cast<int>(feature), (here + next) / 2, gain};
    }
  }

  int grow(std::vector<size_t> rows, int depth) {
    const int at = static_cast<int>(tree.size());
    tree.emplace_back();
    double sum = 0;
    for (size_t row : rows) sum += targets[row];
    tree.back().value = sum / static_cast<double>(rows.size());
    if (depth == kDeepest || rows.size() < 2 * kFewest) return at;
    const size_t features = columns.front().size(), tried = std::max<size_t>(1, (2 * features + 2) / 3);
    Split best;
    std::vector<bool> seen(features, false);
    for (size_t i = 0; i < tried; ++i) {
      const size_t feature = draws.below(features);
      if (!seen[feature]) try_feature(rows, feature, best);
      seen[feature] = true;
    }
    if (best.feature < 0) return at;
    std::vector<size_t> left, right;
    for (size_t row : rows)
      (columns[row][static_cast<size_t>(best.feature)] <= best.threshold ? left : right).push_back(row);
    const int on_left = grow(std::move(left), depth + 1), on_right = grow(std::move(right), depth + 1);
    Branch& branch = tree[static_cast<size_t>(at)];
    branch.feature = best.feature;
    branch.threshold = best.threshold;
    branch.left = on_left;
    branch.right = on_right;
    return at;
  }
};

double Forest::look_up(const Tree& tree, const std::vector<double>& columns) {
  size_t at = 0;
  while (tree[at].feature >= 0) {
    const Branch& branch = tree[at];
    at = static_cast<size_t>(columns[static_cast<size_t>(branch.feature)] <= branch.threshold ? branch.left
                                                                                              : branch.right);
  }
  return tree[at].value;
}

Forest Forest::fit(const std::vector<Sample>& all) {
  Forest forest;
  if (all.empty()) return forest;
  const size_t taken = std::min(all.size(), kMostSamples), first = all.size() - taken;
  std::vector<std::vector<double>> columns;
  std::vector<double> targets, sums(taken, 0), counts(taken, 0);
  for (size_t i = first; i < all.size(); ++i) {
    columns.push_back(columns_of(all[i].question));
    targets.push_back(all[i].log_ratio);
  }
  const std::vector<std::vector<size_t>> sorted = sorted_by_feature(columns);
  Draws draws(7);
  for (int t = 0; t < kTrees; ++t) {
    std::vector<size_t> rows(taken);
    std::vector<bool> seen(taken, false);
    for (size_t& row : rows) row = draws.below(taken), seen[row] = true;
    Grower grower{columns, targets, sorted, draws, {}};
    grower.grow(std::move(rows), 0);
    for (size_t i = 0; i < taken; ++i)
      if (!seen[i]) sums[i] += look_up(grower.tree, columns[i]), counts[i] += 1;
    forest.trees_.push_back(std::move(grower.tree));
  }
  for (size_t i = 0; i < first; ++i) forest.held_out_.push_back(forest.mean(all[i].question));
  for (size_t i = 0; i < taken; ++i) forest.held_out_.push_back(counts[i] > 0 ? sums[i] / counts[i] : 0);
  return forest;
}

double Forest::mean(const Question& question) const {
  if (trees_.empty()) return 0;
  const std::vector<double> columns = columns_of(question);
  double sum = 0;
  for (const Tree& tree : trees_) sum += look_up(tree, columns);
  return sum / static_cast<double>(trees_.size());
}

}  // namespace radl::foresight
