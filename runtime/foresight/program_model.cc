#include "runtime/foresight/program_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "common/human.h"
#include "runtime/foresight/epoch_model.h"
#include "runtime/foresight/linear.h"

namespace radl::foresight {
namespace {

constexpr double kShare = 0.8;  // of every band
// Priors: of a time measured on the same nodes; of one by another version of the program.
constexpr double kSameRatio = 1.3, kOtherVersionRatio = 10;
constexpr size_t kNewest = 5;       // runs that count; machines and data change
constexpr size_t kFewestRuns = 4;   // that a band is learnt from
constexpr size_t kFewestSizes = 3;  // that show how time changes with the number of nodes

// Runs of one version on alike nodes.
struct Point {
  std::string machine;
  double cores = 0, gpus = 0;
  int nodes = 1;
  Banded time;
};

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// The median of the newest, with a band of `ratio`, or the one that their spread shows.
Banded of_ended(std::vector<double> seconds, double ratio, Source source, const std::string& from) {
  if (seconds.size() > kNewest) seconds.erase(seconds.begin(), seconds.end() - kNewest);
  const double middle = std::max(median_of(seconds), 1e-3);
  const Banded time = banded(middle, ratio, source, from);
  if (seconds.size() < kFewestRuns) return time;
  std::vector<double> errors;
  for (double one : seconds) errors.push_back(std::fabs(std::log(std::max(one, 1e-3) / middle)));
  std::sort(errors.begin(), errors.end());
  return learnt_band(time, std::exp(conformal_quantile(errors, kShare)), seconds.size());
}

// Runs to the end count before extrapolations, and of those the newest.
std::optional<Banded> time_of(const std::vector<const ProgramRun*>& runs) {
  std::vector<double> ended;
  const ProgramRun* extrapolated = nullptr;
  for (const ProgramRun* run : runs) {
    if (run->kind == ProgramRun::Kind::Ended) ended.push_back(run->seconds);
    if (run->kind == ProgramRun::Kind::Extrapolated) extrapolated = run;
  }
  if (!ended.empty())
    return of_ended(ended, kSameRatio, Source::Measured, counted(ended.size(), "run") + " on such nodes");
  if (extrapolated == nullptr) return std::nullopt;
  return Banded{extrapolated->seconds,
                extrapolated->low,
                extrapolated->high,
                Source::Scaled,
                "a short run, " + extrapolated->progress,
                0};
}

std::vector<Point> points_of(const std::vector<const ProgramRun*>& runs) {
  std::map<std::tuple<std::string, double, double, int>, std::vector<const ProgramRun*>> alike;
  for (const ProgramRun* run : runs) alike[{run->machine, run->cores, run->gpus, run->nodes}].push_back(run);
  std::vector<Point> points;
  for (const auto& [key, of] : alike)
    if (const auto time = time_of(of))
      points.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), *time});
  return points;
}

// Different computers may be called "local", so measurements of one are not exact for another.
bool same_machine(const Point& point, const ProgramQuestion& question) {
  return point.machine == question.machine && (point.machine != "local" || point.cores == question.cores);
}

// From no gain to a gain in proportion to `factor` times as much hardware.
Banded by_hardware(const Banded& time, double factor, const std::string& from) {
  const double low = std::min(time.low, time.low / factor), high = std::max(time.high, time.high / factor);
  Banded scaled = banded(std::sqrt(std::max(low * high, 1e-6)), 1, Source::Scaled, from);
  scaled.low = low;
  scaled.high = high;
  return scaled;
}

// seconds = a + b / nodes + c (nodes - 1), each at least 0, by relative error.
class SizeLine {
 public:
  explicit SizeLine(const std::vector<Point>& sizes) {
    Eigen::MatrixXd a(sizes.size(), 3);
    for (size_t i = 0; i < sizes.size(); ++i) {
      const double n = sizes[i].nodes, t = sizes[i].time.value;
      const auto row = static_cast<Eigen::Index>(i);
      a(row, 0) = 1 / t;
      a(row, 1) = 1 / (n * t);
      a(row, 2) = (n - 1) / t;
    }
    parts_ = non_negative_least_squares(a, Eigen::VectorXd::Ones(static_cast<Eigen::Index>(sizes.size())));
  }
  double at(int nodes) const { return parts_[0] + parts_[1] / nodes + parts_[2] * (nodes - 1); }

 private:
  Eigen::VectorXd parts_;
};

std::string sizes_text(const std::vector<Point>& sizes) {
  std::vector<std::string> all;
  for (const Point& point : sizes) all.push_back(std::to_string(point.nodes));
  return fmt::format("runs on {} nodes", fmt::join(all, ", "));
}

// Other numbers of nodes of the same machine type; `sizes` ascend and are not empty.
ProgramForecast by_sizes(const std::vector<Point>& sizes, int nodes) {
  ProgramForecast forecast;
  const auto above =
      std::find_if(sizes.begin(), sizes.end(), [&](const Point& point) { return point.nodes > nodes; });
  const bool between = above != sizes.begin() && above != sizes.end();
  if (between) {
    // The band reaches from the time at one end to that at the other.
    const Banded &below = std::prev(above)->time, &beyond = above->time;
    const SizeLine line(sizes);
    const double low = std::min(below.low, beyond.low), high = std::max(below.high, beyond.high);
    forecast.run = banded(std::clamp(line.at(nodes), low, high), 1, Source::Scaled, sizes_text(sizes));
    forecast.run.low = low;
    forecast.run.high = high;
    if (sizes.size() < kFewestSizes)
      forecast.outside = counted(static_cast<size_t>(nodes), "node") + " lie between only two measured sizes";
    return forecast;
  }
  const Point& nearest = above == sizes.end() ? sizes.back() : sizes.front();
  forecast.run = by_hardware(nearest.time, static_cast<double>(nodes) / nearest.nodes, sizes_text(sizes));
  if (sizes.size() > 1) {
    const double fitted = std::max(SizeLine(sizes).at(nodes), 1e-3);
    forecast.run.value = std::clamp(fitted, forecast.run.low, std::max(forecast.run.high, fitted));
    forecast.run.high = std::max(forecast.run.high, fitted);
  }
  forecast.outside = counted(static_cast<size_t>(nodes), "node") + " were never measured";
  return forecast;
}

// The nearest by cores in all, on other machine types. A type with GPUs tells nothing of one without, and the
// other way round.
std::optional<ProgramForecast> by_cores(const std::vector<Point>& points, const ProgramQuestion& question) {
  const Point* nearest = nullptr;
  const double asked = question.cores * question.nodes;
  const auto away = [&](const Point& of) { return std::fabs(std::log(of.cores * of.nodes / asked)); };
  for (const Point& point : points) {
    if (point.gpus > 0 || question.gpus > 0 || !(point.cores > 0) || !(asked > 0)) continue;
    if (nearest == nullptr || away(point) < away(*nearest)) nearest = &point;
  }
  if (nearest == nullptr) return std::nullopt;
  ProgramForecast forecast;
  forecast.run = by_hardware(
      nearest->time, asked / (nearest->cores * nearest->nodes),
      fmt::format("runs on {}{}, by cores", nearest->nodes > 1 ? fmt::format("{} x ", nearest->nodes) : "",
                  nearest->machine));
  forecast.outside = "it never ran on " + question.machine;
  return forecast;
}

ProgramForecast by_other_versions(const std::vector<const ProgramRun*>& others,
                                  const ProgramQuestion& question) {
  ProgramForecast forecast;
  std::vector<double> alike, all;
  for (const ProgramRun* run : others) {
    if (run->kind == ProgramRun::Kind::AtLeast) continue;
    all.push_back(run->seconds);
    if (run->machine == question.machine && run->nodes == question.nodes) alike.push_back(run->seconds);
  }
  const std::vector<double>& used = alike.empty() ? all : alike;
  if (used.empty()) return forecast;
  forecast.run = banded(std::max(median_of(used), 1e-3), kOtherVersionRatio, Source::Guessed,
                        counted(used.size(), "run") + " of other versions");
  forecast.by_other_version = true;
  forecast.outside = "this version has not run";
  return forecast;
}

}  // namespace

ProgramForecast ProgramModel::forecast(const ProgramQuestion& question) const {
  std::vector<const ProgramRun*> own, others;
  double at_least = 0;
  for (const ProgramRun& run : runs_) {
    if (run.work == question.work) own.push_back(&run);
    if (run.work != question.work && run.family == question.family) others.push_back(&run);
    if (run.work == question.work && run.kind == ProgramRun::Kind::AtLeast &&
        run.machine == question.machine && run.nodes == question.nodes)
      at_least = std::max(at_least, run.seconds);
  }
  const std::vector<Point> points = points_of(own);
  ProgramForecast forecast;
  std::vector<Point> sizes;
  for (const Point& point : points) {
    if (!same_machine(point, question)) continue;
    if (point.nodes == question.nodes) {
      forecast.run = point.time;
      return forecast;
    }
    sizes.push_back(point);
  }
  std::sort(sizes.begin(), sizes.end(), [](const Point& a, const Point& b) { return a.nodes < b.nodes; });
  if (!sizes.empty())
    forecast = by_sizes(sizes, question.nodes);
  else if (auto scaled = by_cores(points, question))
    forecast = std::move(*scaled);
  else if (at_least <= 0)
    forecast = by_other_versions(others, question);
  forecast.at_least = at_least;
  if (forecast.run.known()) {
    forecast.run.low = std::max(forecast.run.low, at_least);
    forecast.run.value = std::max(forecast.run.value, forecast.run.low);
    forecast.run.high = std::max(forecast.run.high, forecast.run.value);
    return forecast;
  }
  forecast.unknown =
      at_least > 0 ? fmt::format("it did not end within {} and printed no progress", duration_text(at_least))
      : points.empty() ? "it has not run yet"
                       : "it never ran on " + question.machine;
  return forecast;
}

std::vector<int> ProgramModel::sizes(std::string_view work, std::string_view machine) const {
  std::vector<int> all;
  for (const ProgramRun& run : runs_)
    if (run.work == work && run.machine == machine && run.kind != ProgramRun::Kind::AtLeast)
      all.push_back(run.nodes);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool ProgramModel::knows(std::string_view work) const {
  return std::any_of(runs_.begin(), runs_.end(), [&](const ProgramRun& run) {
    return run.work == work && run.kind != ProgramRun::Kind::AtLeast;
  });
}

}  // namespace radl::foresight
