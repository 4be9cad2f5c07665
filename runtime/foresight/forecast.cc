#include "runtime/foresight/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/human.h"
#include "runtime/foresight/alike.h"

namespace radl::foresight {
namespace {

constexpr double kWorthSaying = 0.02;
constexpr size_t kFewestForBand = 4;    // runs: fewer say little of how far they lie apart
constexpr double kFarFromSeen = 2;      // times, of a round trip
constexpr double kFarInSeconds = 1e-3;  // of a round trip: shorter ones are alike

// Evaluation is the chief's alone: a forward pass over the test images after each epoch.
double evaluation_seconds(const TrainingFacts& facts, const NodeProfile& node) {
  if (facts.test_images <= 0 || facts.batch <= 0) return 0;
  const double batches = std::ceil(facts.test_images / facts.batch);
  return batches * node.steps.seconds(facts.batch) * (1 - node.backward_share);
}

// Which of four changes saves most.
std::string most_saving(const TrainingFacts& facts, const NodeProfile& node, const Fabric& fabric,
                        double seconds) {
  std::vector<std::pair<double, std::string>> saved;
  auto ask = [&](const std::string& what, const TrainingFacts& other, const NodeProfile& its,
                 const Fabric& by) {
    if (const auto whole = analytic_run(other, its, by)) saved.push_back({1 - whole->train / seconds, what});
  };
  if (facts.exchange != Exchange::Alone) {
    Fabric wide = fabric, near = fabric, more = fabric;
    wide.bits_per_second *= 2;
    wide.server_bits_per_second *= 2;
    near.round_trip_seconds /= 2;
    ask("twice the bandwidth", facts, node, wide);
    ask("half the latency", facts, node, near);
    if (facts.servers > 0) {
      more.servers *= 2;
      ask("twice the servers", facts, node, more);
    }
    TrainingFacts twice = facts;
    twice.workers *= 2;
    ask("twice the workers", twice, node, fabric);
  }
  NodeProfile fast = node;
  for (StepLine::Point& point : fast.steps.points) point.seconds /= 2;
  ask("processors twice as fast", facts, fast, fabric);
  auto best = std::max_element(saved.begin(), saved.end());
  if (best == saved.end() || best->first < kWorthSaying) return "";
  return fmt::format("{}: {:.0f}% less", best->second, 100 * best->first);
}

}  // namespace

std::optional<AnalyticRun> analytic_run(const TrainingFacts& facts, const NodeProfile& node,
                                        const Fabric& fabric) {
  StepQuestion asked;
  asked.exchange = facts.exchange;
  asked.workers = facts.workers;
  asked.batch = facts.batch;
  asked.local_steps = facts.local_steps;
  asked.delay = facts.delay;
  asked.exchanged_share = facts.exchanged_share;
  asked.server_round_trips = 1;  // the engine's servers answer a push by weights (docs/wire.md),
  asked.staggered = true;        // one worker after another
  asked.fabric = fabric;
  const auto step = step_anatomy(node, asked);
  if (!step || step->images_per_second <= 0) return std::nullopt;
  AnalyticRun run{*step, 0, 0};
  run.epoch = facts.images / step->images_per_second + evaluation_seconds(facts, node);
  run.train = run.epoch * facts.epochs;
  return run;
}

Fabric fabric_of(const TrainingFacts& facts, const MachineFacts& machine,
                 std::optional<double> round_trip_seconds) {
  const double bits = machine.bits_per_second > 0 ? machine.bits_per_second
                      : machine.shared            ? kLoopbackBits
                                                  : 0;
  return {bits, round_trip_seconds.value_or(machine.shared ? kLoopbackRoundTrip : kGuessedRoundTrip),
          machine.server_bits_per_second, std::max(facts.servers, 1), 0.95};
}

double with_credits(double seconds, const TrainingFacts& facts, const NodeProfile& node, const Fabric& fabric,
                    const MachineFacts& machine) {
  const CpuCredits& credits = machine.credits;
  if (!credits.burstable() || !credits.throttled || credits.baseline <= 0) return seconds;
  // Whatever else goes on, a core that computes all the time spends more than it earns.
  const double full = credits.launch_seconds / std::max(machine.cores * (1 - credits.baseline), 1e-9);
  if (seconds <= full) return seconds;
  NodeProfile slow = node;
  for (StepLine::Point& point : slow.steps.points) point.seconds /= credits.baseline;
  const auto run = analytic_run(facts, slow, fabric), quick = analytic_run(facts, node, fabric);
  if (!run || !quick || quick->train <= 0) return seconds;
  return full + (1 - full / seconds) * seconds * run->train / quick->train;
}

Exchange exchange_of(const TrainingRun& run) {
  return exchange_named(run.exchange).value_or(Exchange::Alone);
}

double round_trip_of(const TrainingRun& run) {
  return run.latency_ms > 0        ? run.latency_ms / 1000
         : run.bits_per_second > 0 ? kGuessedRoundTrip
                                   : kLoopbackRoundTrip;
}

bool alike_in_distance(double round_trip, double other) {
  const auto [near, far] = std::minmax(round_trip, other);
  return far <= std::max(kFarFromSeen * near, near + kFarInSeconds);
}

double band_width(double confidence) {
  // Winitzki's approximation of the error function's inverse (2008).
  const double a = 0.147, l = std::log(1 - confidence * confidence), b = 2 / (3.14159265358979 * a) + l / 2;
  return std::sqrt(2.0) * std::sqrt(std::sqrt(b * b - l / a) - b);
}

double ratio_at(double ratio_at_80, double confidence) {
  return std::pow(ratio_at_80, band_width(confidence) / band_width(0.8));
}

double WorkModel::asked_round_trip(const MachineFacts& machine,
                                   std::optional<double> round_trip_seconds) const {
  return round_trip_seconds.value_or(
      round_trip_between(machine.kind).value_or(machine.shared ? kLoopbackRoundTrip : kGuessedRoundTrip));
}

std::string WorkModel::outside(const TrainingFacts& facts, const MachineFacts& machine,
                               std::optional<double> round_trip_seconds) const {
  if (direct(facts, machine, round_trip_seconds)) return "";
  if (const auto profile = profile_for(machine, facts.batch, facts.workers);
      profile && !profile->outside.empty())
    return profile->outside;
  if (facts.exchange == Exchange::Alone) return "";
  const double asked = asked_round_trip(machine, round_trip_seconds);
  bool exchanged = false, sized = false, near = false;
  for (const TrainingRun& run : runs_) {
    if (exchange_of(run) != facts.exchange) continue;
    exchanged = true;
    if (run.workers != facts.workers) continue;
    sized = true;
    near |= alike_in_distance(asked, round_trip_of(run));
  }
  if (!exchanged) return fmt::format("no run has exchanged by {} yet", exchange_name(facts.exchange));
  if (!sized)
    return fmt::format("no run by {} had {} yet", exchange_name(facts.exchange),
                       counted(facts.workers, "worker"));
  if (!near)
    return fmt::format("no run of {} by {} was {:g} ms apart", counted(facts.workers, "worker"),
                       exchange_name(facts.exchange), asked * 1000);
  return "";
}

TrainingForecast WorkModel::forecast(const TrainingFacts& facts, const MachineFacts& of,
                                     std::optional<double> round_trip_seconds, double confidence) const {
  TrainingForecast forecast;
  const MachineFacts machine = with_network(of);
  if (!round_trip_seconds) round_trip_seconds = round_trip_between(machine.kind);
  const auto profile = profile_for(machine, facts.batch, facts.workers);
  const auto ran = direct(facts, machine, round_trip_seconds);
  if (facts.images <= 0) {
    forecast.unknown = "how many images the dataset has is not known";
    return forecast;
  }
  if (!ran && profile && profile->node.largest_batch > 0 && facts.batch > profile->node.largest_batch) {
    forecast.unknown =
        fmt::format("a batch of {:g} does not fit into the memory of {}", facts.batch, machine.kind);
    forecast.memory = true;
    return forecast;
  }
  if (profile) predict(*profile, facts, machine, round_trip_seconds, confidence, forecast);
  if (ran) {
    const double wide = ratio_at(ran->ratio, confidence);
    const std::string from = counted(ran->runs, "run") + " of it";
    const auto took = [&](double seconds) {
      return learnt_band(banded(seconds, wide, Source::Measured, from), wide,
                         ran->runs < kFewestForBand ? 0 : ran->runs);
    };
    forecast.epoch = took(ran->epoch_seconds);
    forecast.train = took(ran->epoch_seconds * facts.epochs);
    return forecast;
  }
  if (!profile)
    forecast.unknown =
        facts.work.digest.empty() && !facts.work_unknown.empty()
            ? fmt::format("what {} computes is not known: {}", facts.family, facts.work_unknown)
            : fmt::format("no profile of {} on {} or on anything that could be scaled to it", facts.family,
                          machine.kind);
  else if (!forecast.step)
    forecast.unknown = "the bandwidth of " + machine.kind + " is not known";
  forecast.outside = forecast.step ? outside(facts, machine, round_trip_seconds) : "";
  return forecast;
}

void WorkModel::predict(const Scaled& profile, const TrainingFacts& facts, const MachineFacts& machine,
                        std::optional<double> round_trip_seconds, double confidence,
                        TrainingForecast& forecast) const {
  const Fabric fabric = fabric_of(facts, machine, round_trip_seconds);
  const auto whole = analytic_run(facts, profile.node, fabric);
  if (!whole) return;
  const ExchangeFactors& by = factors(facts.exchange);
  const NodeProfile node = adjusted(profile.node, by);
  const Fabric as_found = adjusted(fabric, by);
  const auto learned = analytic_run(facts, node, as_found);
  const Learnt taught = learnt(facts, fabric.round_trip_seconds, confidence);
  const double wide = ratio(profile, ratio_at(profile.ratio, confidence), taught);
  std::string from = profile.from;
  if (!residuals_.empty()) from += "; corrected by " + counted(residuals_.size(), "run");
  const double train = with_credits(learned->train * taught.factor, facts, node, as_found, machine);
  forecast.step = learned->step;
  forecast.profile = profile.from;
  forecast.factors = by;
  forecast.same_work = profile.source != Source::Guessed;
  forecast.analytic_seconds = with_credits(whole->train, facts, profile.node, fabric, machine);
  forecast.train = banded(train, wide, profile.source, from);
  forecast.epoch = banded(facts.epochs > 0 ? train / facts.epochs : 0, wide, profile.source, from);
  if (taught.ratio) forecast.train.band_runs = forecast.epoch.band_runs = residuals_.size();
  forecast.change_most = most_saving(facts, node, as_found, learned->train);
}

}  // namespace radl::foresight
