// From what was measured to the machine and the work of a question (forecast.h, WorkModel::profile_for).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "runtime/foresight/alike.h"
#include "runtime/foresight/forecast.h"

namespace radl::foresight {
namespace {

// Bands at 80% where no runs say better, as ratios: of what was measured on the same kind of machine, of what
// was scaled by cores from another, and of what was scaled by the arithmetic from other work.
constexpr double kMeasuredRatio = 1.15, kScaledRatio = 1.5, kSameKindRatio = 1.25, kOtherWorkRatio = 2;
constexpr double kDoublingRatio = 1.06;  // for each doubling of the cores between them, and of the batch
constexpr double kCoresHelp = 0.9;       // the power of the cores that a step gets quicker with
constexpr double kMostMemory = 0.9;      // of a machine's memory that a training can take
// How unlike another machine makes a profile of other work, as a factor e^x of the arithmetic does.
constexpr double kOtherMachine = 1, kOtherLayers = 6;
constexpr double kFarInCores = 100;  // where one of them is not known
// Of what the layers give for an image, the least that a step was seen to keep.
constexpr double kLeastKept = 0.7;
// Weights, gradients, momentum, and what is exchanged.
constexpr double kCopiesOfParameters = 4;

// Operations an image by parameters: convolutions use each many times, a matrix product once.
double reuse(double flop, double bytes) { return std::log(std::max(flop, 1.0) / std::max(bytes, 1.0)); }

double unlike(const Work& work, const MeasuredProfile& one) {
  return std::fabs(std::log(work.flop_per_image / one.flop_per_image)) +
         std::fabs(reuse(work.flop_per_image, work.parameter_bytes) -
                   reuse(one.flop_per_image, one.node.parameter_bytes)) /
             2 +
         kOtherLayers * std::fabs(work.convolved - one.convolved);
}

std::string cores_text(double cores) { return fmt::format("{:g} {}", cores, cores == 1 ? "core" : "cores"); }

bool spans(const MeasuredProfile& one, double batch) {
  const auto& points = one.node.steps.points;
  return !points.empty() && batch >= points.front().batch && batch <= points.back().batch;
}

// How many times the nearest measured batch it is, or a part of it.
double beyond(const NodeProfile& node, double batch) {
  const auto& points = node.steps.points;
  return std::max({batch / points.back().batch, points.front().batch / batch, 1.0});
}

double largest_batch(const MachineFacts& machine, int machines_on_it, double fixed, double each) {
  if (machine.memory_bytes <= 0 || each <= 0) return 0;
  const double room = kMostMemory * machine.memory_bytes / (machine.shared ? machines_on_it : 1) - fixed;
  return std::max(std::floor(room / each), 0.5);
}

}  // namespace

double both_ratios(double a, double b) {
  return std::exp(
      std::sqrt(std::pow(std::log(std::max(a, 1.0)), 2) + std::pow(std::log(std::max(b, 1.0)), 2)));
}

NodeProfile scaled_to(const Work& work, const MeasuredProfile& profile) {
  NodeProfile node = profile.node;
  for (StepLine::Point& point : node.steps.points)
    point.seconds *= work.flop_per_image / profile.flop_per_image;
  node.parameter_bytes = work.parameter_bytes;
  node.largest_batch = 0;
  return node;
}

const MeasuredProfile* WorkModel::nearest(const MachineFacts& machine, double cores, double batch) const {
  const MeasuredProfile* best = nullptr;
  // The same work counts before any other, then the same kind of machine and a batch within the measured
  // ones, then the most alike in cores; of other work the most alike in arithmetic. Of equals the last one
  // measured.
  auto key = [&](const MeasuredProfile& one) {
    const double away = cores > 0 && one.cores > 0 ? std::fabs(std::log(one.cores / cores)) : kFarInCores;
    const bool other_machine = one.machine != machine.kind;
    if (same_work(one)) return std::tuple(0, other_machine ? 1.0 : 0.0, spans(one, batch) ? 0 : 1, away);
    return std::tuple(1, unlike(work_, one) + (other_machine ? kOtherMachine : 0), 0, away);
  };
  for (const MeasuredProfile& one : profiles_) {
    if (one.node.steps.points.empty()) continue;
    if (!same_work(one) && (work_.flop_per_image <= 0 || one.flop_per_image <= 0)) continue;
    if (best == nullptr || key(one) <= key(*best)) best = &one;
  }
  return best;
}

std::optional<WorkModel::Scaled> WorkModel::profile_for(const MachineFacts& machine, double batch,
                                                        int machines_on_it) const {
  const double cores = machine.shared ? machine.cores / machines_on_it : machine.cores;
  const MeasuredProfile* best = nearest(machine, cores, batch);
  if (best == nullptr) return std::nullopt;
  const bool same = same_work(*best), same_machine = best->machine == machine.kind;
  Scaled scaled{same ? best->node : scaled_to(work_, *best), Source::Measured,
                "measured on " + best->machine + ", " + best->taken_at.substr(0, 10), kMeasuredRatio, ""};
  if (same) {
    if (best->memory_bytes_per_image > 0 && machine.memory_bytes > 0)
      scaled.node.largest_batch =
          largest_batch(machine, machines_on_it, best->memory_bytes, best->memory_bytes_per_image);
  } else {
    scaled.node.largest_batch =
        largest_batch(machine, machines_on_it, kCopiesOfParameters * work_.parameter_bytes,
                      kLeastKept * work_.activation_bytes);
  }
  if (!(same_machine && (cores <= 0 || std::fabs(cores - best->cores) < 0.5))) {
    if (cores <= 0 || best->cores <= 0) return std::nullopt;
    // More cores do not help in proportion, and how much one core does is another matter: a wider band the
    // further away.
    const double times = cores / best->cores;
    const double quicker = !same_machine && machine.core_peak > 0 && best->core_peak > 0
                               ? machine.core_peak / best->core_peak
                               : 1;
    for (StepLine::Point& point : scaled.node.steps.points)
      point.seconds /= quicker * std::pow(times, times > 1 ? kCoresHelp : 1);
    scaled.source = Source::Scaled;
    // The profiles that come with radlc are named "one core of ...".
    const bool says_cores = best->machine.find(" core") != std::string::npos;
    scaled.from =
        fmt::format("scaled from {}{} to {} ({})", best->machine,
                    says_cores ? "" : " (" + cores_text(best->cores) + ")", machine.kind, cores_text(cores));
    scaled.ratio = (same_machine ? kSameKindRatio : kScaledRatio) *
                   std::pow(kDoublingRatio, std::fabs(std::log2(times)));
  }
  if (best->busy_ratio > 1) {
    scaled.ratio = both_ratios(scaled.ratio, best->busy_ratio);
    scaled.from += ", which was busy with other work";
  }
  if (!same) {
    scaled.source = Source::Guessed;
    scaled.ratio = both_ratios(scaled.ratio, kOtherWorkRatio);
    scaled.from = fmt::format("not measured here; calculated from {}, {}", best->family, scaled.from);
    scaled.outside = family_ + " was never measured with images of this shape";
  }
  if (!spans(*best, batch)) {
    scaled.ratio *= std::pow(kDoublingRatio, std::log2(beyond(scaled.node, batch)));
    if (same)
      scaled.outside =
          fmt::format("a batch of {:g} was never measured, only {:g} to {:g}", batch,
                      best->node.steps.points.front().batch, best->node.steps.points.back().batch);
    if (scaled.source == Source::Measured) scaled.source = Source::Scaled;
  }
  return scaled;
}

}  // namespace radl::foresight
