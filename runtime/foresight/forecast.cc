#include "runtime/foresight/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/human.h"
#include "runtime/foresight/epoch_model.h"

namespace radl::foresight {
namespace {

// Bands at 80% where no runs say better, as ratios: of what was measured on the same kind of machine, of what
// was scaled by cores from another.
constexpr double kMeasuredRatio = 1.15, kScaledRatio = 1.5, kSameKindRatio = 1.25;
constexpr double kDoublingRatio = 1.06;  // for each doubling of the cores between them
constexpr double kCoresHelp = 0.9;       // the power of the cores that a step gets quicker with
constexpr size_t kFewestResiduals = 4;
constexpr double kMostMemory = 0.9;  // of a machine's memory that a training can take
constexpr double kWorthSaying = 0.02;
constexpr size_t kNewestWays = 5;       // runs whose links count
constexpr double kFarFromSeen = 2;      // times, of a batch or a round trip
constexpr double kFarInSeconds = 1e-3;  // of a round trip: shorter ones are alike

Question question_of(int workers, double batch, double latency_ms, Exchange exchange) {
  return {{std::log2(workers + 1.0), std::log(std::max(batch, 1.0)) / 2, std::log1p(latency_ms),
           has_server(exchange) ? 1.0 : 0.0, exchange == Exchange::AsyncServer ? 1.0 : 0.0},
          0.5,
          0.5};
}

Exchange exchange_of(const TrainingRun& run) {
  return exchange_named(run.exchange).value_or(Exchange::Alone);
}

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

double band_width(double confidence) {
  // Winitzki's approximation of the error function's inverse (2008).
  const double a = 0.147, l = std::log(1 - confidence * confidence), b = 2 / (3.14159265358979 * a) + l / 2;
  return std::sqrt(2.0) * std::sqrt(std::sqrt(b * b - l / a) - b);
}

double ratio_at(double ratio_at_80, double confidence) {
  return std::pow(ratio_at_80, band_width(confidence) / band_width(0.8));
}

FamilyModel::FamilyModel(const Calibration& calibration, const std::string& family) {
  for (const MeasuredProfile& profile : calibration.profiles)
    if (profile.family == family) profiles_.push_back(profile);
  for (const TrainingRun& run : calibration.runs)
    if (run.family == family) runs_.push_back(run);
  learn_ways();
  std::vector<Learned> learned;
  for (const TrainingRun& run : runs_)
    if (run.analytic_seconds > 0 && run.seconds > 0) learned.push_back({&run, as_measured(run)});
  learn_factors(learned);
  learn_rest(learned);
}

MeasuredRun FamilyModel::as_measured(const TrainingRun& run) const {
  TrainingFacts facts;
  facts.exchange = exchange_of(run);
  facts.workers = run.workers;
  facts.servers = run.servers;
  facts.batch = run.batch;
  facts.images = 1;
  MachineFacts machine;
  machine.kind = run.machine;
  machine.bits_per_second = run.bits_per_second;
  machine.shared = run.bits_per_second <= 0;
  const auto round_trip = run.latency_ms > 0 ? std::optional(run.latency_ms / 1000) : std::nullopt;
  const Fabric fabric = fabric_of(facts, machine, round_trip);
  // Cores were not kept with the run, and its profile's parts are as good at any number of them.
  const auto same = std::find_if(profiles_.rbegin(), profiles_.rend(),
                                 [&](const MeasuredProfile& one) { return one.machine == run.machine; });
  const NodeProfile node = same != profiles_.rend() ? same->node
                           : profiles_.empty()      ? NodeProfile()
                                                    : profiles_.back().node;
  const auto plain = analytic_run(facts, node, fabric);
  const double kept = run.analytic_seconds;
  if (!plain) return {[kept](const ExchangeFactors& by) { return kept * by.compute; }, run.seconds, false};
  const double scale = kept / plain->train;
  return {[=](const ExchangeFactors& by) {
            return scale * analytic_run(facts, adjusted(node, by), adjusted(fabric, by))->train;
          },
          run.seconds, same != profiles_.rend() && !machine.shared};  // nodes on one computer share it
}

void FamilyModel::learn_factors(const std::vector<Learned>& runs) {
  std::array<std::vector<MeasuredRun>, kExchanges> by_exchange;
  for (const Learned& one : runs)
    by_exchange[static_cast<size_t>(exchange_of(*one.run))].push_back(one.measured);
  for (size_t i = 0; i < by_exchange.size(); ++i) factors_[i] = fit_factors(by_exchange[i]);
}

// What the factors leave.
void FamilyModel::learn_rest(const std::vector<Learned>& runs) {
  std::vector<Sample> samples;
  for (const auto& [run, measured] : runs) {
    const Exchange exchange = exchange_of(*run);
    samples.push_back({question_of(run->workers, run->batch, run->latency_ms, exchange),
                       std::log(run->seconds / measured.predicted(factors(exchange))), 0});
  }
  correction_ = Correction::fit(samples);
  const auto count = static_cast<double>(samples.size());
  double sum = 0;
  for (const Sample& sample : samples) sum += sample.log_ratio;
  if (correction_.empty() && !samples.empty()) few_ = sum / (count + 1);
  // The factors have seen the runs that they are judged by.
  const double seen = std::sqrt(count / std::max(count - 3, 1.0));
  for (size_t i = 0; i < samples.size(); ++i)
    residuals_.push_back(
        seen * std::fabs(correction_.empty() ? samples[i].log_ratio - few_ : correction_.residuals()[i]));
  std::sort(residuals_.begin(), residuals_.end());
}

std::optional<FamilyModel::Scaled> FamilyModel::profile_for(const MachineFacts& machine,
                                                            int machines_on_it) const {
  const double cores = machine.shared ? machine.cores / machines_on_it : machine.cores;
  const MeasuredProfile* best = nullptr;
  // The same kind counts before any other, then the most alike in cores; of equals the last one measured.
  auto key = [&](const MeasuredProfile& one) {
    const double away = cores > 0 && one.cores > 0 ? std::fabs(std::log(one.cores / cores)) : 100;
    return std::pair(one.machine == machine.kind ? 0 : 1, away);
  };
  for (const MeasuredProfile& one : profiles_)
    if (best == nullptr || key(one) <= key(*best)) best = &one;
  if (best == nullptr) return std::nullopt;
  Scaled scaled{best->node, Source::Measured,
                "measured on " + best->machine + ", " + best->taken_at.substr(0, 10), kMeasuredRatio};
  if (machine.memory_bytes > 0 && best->memory_bytes_per_image > 0) {
    const double room =
        kMostMemory * machine.memory_bytes / (machine.shared ? machines_on_it : 1) - best->memory_bytes;
    scaled.node.largest_batch = std::max(std::floor(room / best->memory_bytes_per_image), 0.5);
  }
  const bool as_measured =
      best->machine == machine.kind && (cores <= 0 || std::fabs(cores - best->cores) < 0.5);
  if (as_measured) return scaled;
  if (cores <= 0 || best->cores <= 0) return std::nullopt;
  // More cores do not help in proportion, and how much one core does is another matter: a wider band the
  // further away.
  const double times = cores / best->cores;
  for (StepLine::Point& point : scaled.node.steps.points)
    point.seconds /= std::pow(times, times > 1 ? kCoresHelp : 1);
  scaled.source = Source::Scaled;
  scaled.from = fmt::format("scaled by cores from {} ({:g}) to {} ({:g})", best->machine, best->cores,
                            machine.kind, cores);
  scaled.ratio = (best->machine == machine.kind ? kSameKindRatio : kScaledRatio) *
                 std::pow(kDoublingRatio, std::fabs(std::log2(times)));
  return scaled;
}

DataRates FamilyModel::data_rates(const std::string& kind) const {
  DataRates rates;
  std::string disk_at, source_at;
  for (const MeasuredProfile& one : profiles_) {
    if (one.machine == kind && one.rates.disk_write > 0 && one.taken_at >= disk_at) {
      rates.disk_write = one.rates.disk_write;
      rates.disk_read = one.rates.disk_read;
      disk_at = one.taken_at;
    }
    if (one.rates.source > 0 && one.taken_at >= source_at) {
      rates.source = one.rates.source;
      rates.dataset_bytes = one.rates.dataset_bytes;
      source_at = one.taken_at;
    }
  }
  return rates;
}

void FamilyModel::learn_ways() {
  struct Newest {
    std::vector<double> round_trips, rates;
  };
  std::map<std::string, Newest> newest;
  std::vector<double> sent, received;
  auto take = [](std::vector<double>& into, double value) {
    if (value > 0 && into.size() < kNewestWays) into.push_back(value);
  };
  auto middle = [](std::vector<double> of) {
    std::sort(of.begin(), of.end());
    return of.empty() ? 0 : of[of.size() / 2];
  };
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    Newest& its = newest[run->machine];
    take(its.round_trips, run->latency_ms / 1000);
    take(its.rates, run->measured_bits_per_second);
    if (!has_server(exchange_of(*run))) continue;
    take(sent, run->sent_bytes);
    take(received, run->received_bytes);
  }
  for (const auto& [kind, its] : newest) ways_[kind] = {middle(its.round_trips), middle(its.rates)};
  if (!sent.empty() && !received.empty()) counted_ = {middle(sent), middle(received)};
}

FamilyModel::Way FamilyModel::way_between(const std::string& kind) const {
  const auto found = ways_.find(kind);
  return found == ways_.end() ? Way() : found->second;
}

MachineFacts FamilyModel::with_network(MachineFacts machine) const {
  if (machine.bits_per_second <= 0 && !machine.shared)
    machine.bits_per_second = way_between(machine.kind).bits_per_second;
  return machine;
}

std::optional<double> FamilyModel::round_trip_between(const std::string& kind) const {
  const double measured = way_between(kind).round_trip_seconds;
  return measured > 0 ? std::optional(measured) : std::nullopt;
}

std::string FamilyModel::outside(const TrainingFacts& facts, const MachineFacts& machine,
                                 std::optional<double> round_trip_seconds) const {
  const auto profile = profile_for(machine, facts.workers);
  if (profile && !profile->node.steps.points.empty()) {
    const auto& points = profile->node.steps.points;
    if (facts.batch > kFarFromSeen * points.back().batch || facts.batch * kFarFromSeen < points.front().batch)
      return fmt::format("a batch of {:g} was never measured, only {:g} to {:g}", facts.batch,
                         points.front().batch, points.back().batch);
  }
  if (facts.exchange == Exchange::Alone) return "";
  const double asked = round_trip_seconds.value_or(
      round_trip_between(machine.kind).value_or(machine.shared ? kLoopbackRoundTrip : kGuessedRoundTrip));
  bool exchanged = false, sized = false, near = false;
  for (const TrainingRun& run : runs_) {
    if (exchange_of(run) != facts.exchange) continue;
    exchanged = true;
    if (run.workers != facts.workers) continue;
    sized = true;
    const double there = run.latency_ms > 0        ? run.latency_ms / 1000
                         : run.bits_per_second > 0 ? kGuessedRoundTrip
                                                   : kLoopbackRoundTrip;
    near |= std::max(asked, there) <=
            std::max(kFarFromSeen * std::min(asked, there), std::min(asked, there) + kFarInSeconds);
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

FamilyModel::Learnt FamilyModel::learnt(const TrainingFacts& facts, double round_trip_seconds,
                                        double confidence) const {
  if (correction_.empty() && residuals_.size() < kFewestResiduals) return {std::exp(few_), {}};
  const Question question =
      question_of(facts.workers, facts.batch, round_trip_seconds * 1000, facts.exchange);
  Learnt learnt{std::exp(correction_.empty() ? few_ : correction_.log_factor(question)), {}};
  if (residuals_.size() >= kFewestResiduals)
    learnt.ratio = std::exp(conformal_quantile(residuals_, confidence) * (1 + correction_.novelty(question)));
  return learnt;
}

double FamilyModel::ratio(const Scaled& profile, double base, const Learnt& learnt) {
  if (!learnt.ratio) return base;
  return profile.source == Source::Measured ? *learnt.ratio : std::max(base, *learnt.ratio);
}

TrainingForecast FamilyModel::forecast(const TrainingFacts& facts, const MachineFacts& of,
                                       std::optional<double> round_trip_seconds, double confidence) const {
  TrainingForecast forecast;
  const MachineFacts machine = with_network(of);
  if (!round_trip_seconds) round_trip_seconds = round_trip_between(machine.kind);
  const auto profile = profile_for(machine, facts.workers);
  if (!profile) {
    forecast.unknown = fmt::format("no profile of {} on {} or on anything that could be scaled to it",
                                   facts.family, machine.kind);
    return forecast;
  }
  if (facts.images <= 0) {
    forecast.unknown = "how many images the dataset has is not known";
    return forecast;
  }
  if (profile->node.largest_batch > 0 && facts.batch > profile->node.largest_batch) {
    forecast.unknown =
        fmt::format("a batch of {:g} does not fit into the memory of {}", facts.batch, machine.kind);
    forecast.memory = true;
    return forecast;
  }
  const Fabric fabric = fabric_of(facts, machine, round_trip_seconds);
  const auto whole = analytic_run(facts, profile->node, fabric);
  if (!whole) {
    forecast.unknown = "the bandwidth of " + machine.kind + " is not known";
    return forecast;
  }
  const ExchangeFactors& by = factors(facts.exchange);
  const NodeProfile node = adjusted(profile->node, by);
  const Fabric as_found = adjusted(fabric, by);
  const auto learned = analytic_run(facts, node, as_found);
  const Learnt taught = learnt(facts, fabric.round_trip_seconds, confidence);
  const double times = taught.factor, wide = ratio(*profile, ratio_at(profile->ratio, confidence), taught);
  std::string from = profile->from;
  if (!residuals_.empty())
    from += fmt::format("; corrected by {} run{}", residuals_.size(), residuals_.size() == 1 ? "" : "s");
  forecast.step = learned->step;
  forecast.factors = by;
  forecast.analytic_seconds = whole->train;
  forecast.epoch = banded(learned->epoch * times, wide, profile->source, from);
  forecast.train = banded(learned->train * times, wide, profile->source, from);
  forecast.outside = outside(facts, machine, round_trip_seconds);
  forecast.change_most = most_saving(facts, node, as_found, learned->train);
  return forecast;
}

}  // namespace radl::foresight
